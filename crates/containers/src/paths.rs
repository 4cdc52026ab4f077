//! Paths of entries, and common code of volumes with plain files.

use std::collections::{HashMap, HashSet};

use crate::io::{Error, ReadAt, Result};
use crate::text::Charset;
use crate::volume::{Content, Entry, FileId, MAX_DEPTH, Name, NodeId, Sink, no_such_file};

/// Declaration of files by their paths; directories are added as they occur.
///
/// Empty components and `.` are dropped, so that absolute paths are relative to
/// the root of the volume. A component `..` is an ordinary name, which the sink
/// escapes: no path leads out of the volume.
pub(super) struct Paths<'a> {
    sink: &'a mut dyn Sink,
    directories: HashMap<(NodeId, Box<[u8]>), NodeId>,
    ignores_case: bool,
}

impl<'a> Paths<'a> {
    /// Creates a set without directories.
    pub(super) fn new(sink: &'a mut dyn Sink) -> Self {
        Self {
            sink,
            directories: HashMap::new(),
            ignores_case: false,
        }
    }

    /// Creates a set in which names of directories in UTF-8 that differ only in case are
    /// one directory, in the first spelling.
    pub(super) fn ignoring_case(sink: &'a mut dyn Sink) -> Self {
        Self {
            ignores_case: true,
            ..Self::new(sink)
        }
    }

    /// Returns the directory at `path`, whose components are separated by any
    /// of `separators`.
    ///
    /// # Errors
    /// Returns an error if it is nested too deep, or the errors of the sink.
    pub(super) fn directory(
        &mut self,
        path: &[u8],
        separators: &[u8],
        charset: Charset,
    ) -> Result<NodeId> {
        self.directory_of(path, separators, charset, None)
    }

    /// Does the same for a directory that the archive declares itself, which
    /// has this modification time unless it is known already.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Paths::directory`].
    pub(super) fn directory_of(
        &mut self,
        path: &[u8],
        separators: &[u8],
        charset: Charset,
        modified: Option<i64>,
    ) -> Result<NodeId> {
        let mut node = self.sink.root();
        let mut components = components(path, separators).enumerate().peekable();
        while let Some((depth, component)) = components.next() {
            let modified = modified.filter(|_| components.peek().is_none());
            if depth >= MAX_DEPTH {
                return Err(Error::Unsupported(format!(
                    "has directories that are nested deeper than {MAX_DEPTH}"
                )));
            }
            let key = match self.ignores_case {
                true => String::from_utf8_lossy(component)
                    .to_lowercase()
                    .into_bytes(),
                false => component.to_vec(),
            };
            let key = (node, key.into());
            node = match self.directories.get(&key) {
                Some(&known) => known,
                None => {
                    let new =
                        self.sink
                            .dir(node, Name::in_charset(component, charset), modified)?;
                    self.directories.insert(key, new);
                    new
                }
            };
        }
        Ok(node)
    }

    /// Declares the file at `path`. If its last component is dropped, its name
    /// is empty.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Paths::directory`].
    pub(super) fn file(
        &mut self,
        path: &[u8],
        separators: &[u8],
        charset: Charset,
        entry: Entry,
    ) -> Result<NodeId> {
        let (parent, name) = self.place(path, separators, charset)?;
        self.sink.file(parent, name, entry)
    }

    /// Returns the directory of the entry at `path`, and its name there.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Paths::directory`].
    pub(super) fn place<'p>(
        &mut self,
        path: &'p [u8],
        separators: &[u8],
        charset: Charset,
    ) -> Result<(NodeId, Name<'p>)> {
        let (directory, name) = split(path, separators);
        let parent = self.directory(directory, separators, charset)?;
        Ok((parent, Name::in_charset(name, charset)))
    }

    /// Returns the sink.
    pub(super) fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }
}

/// Returns the effective components of a path.
pub(super) fn components<'p>(path: &'p [u8], separators: &[u8]) -> impl Iterator<Item = &'p [u8]> {
    path.split(|byte| separators.contains(byte))
        .filter(|component| !matches!(*component, b"" | b"."))
}

/// Splits a path into the directory and the name.
fn split<'p>(path: &'p [u8], separators: &[u8]) -> (&'p [u8], &'p [u8]) {
    match path.iter().rposition(|byte| separators.contains(byte)) {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// Returns an order of declaring files that gives the plain name to the first
/// of equal names. The others come before all files, since the sink gives the
/// plain name to the last one.
pub(super) fn first_wins<'n>(names: impl Iterator<Item = &'n [u8]> + Clone) -> Vec<u32> {
    // Ascending names are distinct, so no table is needed.
    if names.clone().is_sorted_by(|one, next| one < next) {
        return (0..).zip(names).map(|(number, _)| number).collect();
    }
    let mut seen = HashSet::with_capacity(names.size_hint().0);
    let (first, mut order): (Vec<_>, Vec<_>) =
        (0..).zip(names).partition(|&(_, name)| seen.insert(name));
    order.extend(first);
    order.into_iter().map(|(number, _)| number).collect()
}

/// The extent of a stored file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// Absolute offset in the source of the first byte.
    pub(super) offset: u64,
    /// Number of bytes.
    pub(super) size: u64,
}

impl Span {
    /// Returns whether it is inside a source of `length` bytes.
    pub(super) fn is_inside(self, length: u64) -> bool {
        let end = self.offset.checked_add(self.size);
        end.is_some_and(|end| end <= length)
    }

    /// Returns the extent as content. With `force`, an extent that is cut off
    /// by the end of the source can be read up to there.
    ///
    /// # Errors
    /// Returns an error if it extends past the end of the source, or of all offsets.
    pub(super) fn content(self, source: &dyn ReadAt, force: bool) -> Result<Content<'_>> {
        let length = if force { u64::MAX } else { source.len() };
        if !self.is_inside(length) {
            return Err(self.outside(source.len()));
        }
        Ok(Content::Extent {
            source,
            offset: self.offset,
        })
    }

    /// Returns the error for an extent past the end of a source.
    pub(super) fn outside(self, length: u64) -> Error {
        let Self { offset, size } = self;
        Error::damaged(
            offset,
            "file",
            format!("its {size} bytes extend past the end at {length:#x}"),
        )
    }
}

/// Returns the record of a file in a volume's list.
pub(super) fn record<T>(files: &[T], file: FileId) -> Result<&T> {
    files.get(file.0 as usize).ok_or_else(|| no_such_file(file))
}

/// Returns the entry of a file of known size without further metadata.
pub(super) fn plain_entry(number: usize, size: u64) -> Entry {
    Entry {
        // No list is longer than the source divided by the size of a record,
        // or than `MAX_ENTRIES`.
        file: FileId(number as u32),
        size: Some(size),
        modified: None,
        asset: None,
    }
}

/// Returns the bytes of a fixed field up to the first NUL.
pub(super) fn until_nul(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&byte| byte == 0);
    &field[..end.unwrap_or(field.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::Listing;

    fn announce(paths: &[&str]) -> Vec<String> {
        let mut listing = Listing::default();
        let mut builder = Paths::new(&mut listing);
        for (number, path) in paths.iter().enumerate() {
            let entry = plain_entry(number, 0);
            builder
                .file(path.as_bytes(), b"/\\", Charset::Windows1252, entry)
                .unwrap();
        }
        listing.paths()
    }

    #[test]
    fn a_directory_is_declared_once_for_all_separators() {
        let found = announce(&["a\\b\\c.txt", "/a/b//d.txt", "./e.txt"]);
        assert_eq!(found, ["a/", "a/b/", "a/b/c.txt", "a/b/d.txt", "e.txt"]);
    }

    #[test]
    fn directories_in_several_spellings_are_one_in_the_first() {
        let mut listing = Listing::default();
        let mut builder = Paths::ignoring_case(&mut listing);
        for (number, path) in ["Maps/É/a", "maps/é/A", "MAPS/b"].iter().enumerate() {
            let entry = plain_entry(number, 0);
            builder
                .file(path.as_bytes(), b"/", Charset::Utf8, entry)
                .unwrap();
        }
        assert_eq!(
            listing.paths(),
            ["Maps/", "Maps/É/", "Maps/É/a", "Maps/É/A", "Maps/b"]
        );
    }

    #[test]
    fn no_path_leads_out_of_the_volume() {
        let found = announce(&["..\\..\\x", ".."]);
        assert_eq!(
            found,
            ["%2E%2E/", "%2E%2E/%2E%2E/", "%2E%2E/%2E%2E/x", "%2E%2E"]
        );
    }

    #[test]
    fn nesting_has_a_limit() {
        let mut listing = Listing::default();
        let deep = "d/".repeat(MAX_DEPTH + 1);
        let entered =
            Paths::new(&mut listing).directory(deep.as_bytes(), b"/", Charset::Windows1252);
        assert!(entered.is_err());
    }

    #[test]
    fn the_first_of_equal_names_is_declared_last() {
        let names: [&[u8]; 5] = [b"a", b"b", b"a", b"c", b"a"];
        assert_eq!(first_wins(names.into_iter()), [2, 4, 0, 1, 3]);
    }

    #[test]
    fn a_span_past_the_end_is_damage_without_overflow() {
        let source = vec![0; 10];
        let span = |offset, size| Span { offset, size };
        assert!(span(4, 6).content(&source, false).is_ok());
        assert!(span(4, 7).content(&source, false).is_err());
        assert!(span(u64::MAX, 2).content(&source, false).is_err());
        assert!(span(4, 7).content(&source, true).is_ok());
        assert!(span(u64::MAX, 2).content(&source, true).is_err());
    }
}
