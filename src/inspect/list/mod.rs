//! `hpi list`: one line per entry.

mod line;
mod sorted;

use std::io::Write;

use self::line::Line;
use self::sorted::Sorted;
use super::bounds::Bounds;
use super::hash::sha256;
use super::path::find;
use super::walk::{Missed, Walk};
use super::{Contents, Error};
use crate::inspect::Role;
use crate::mount::{Attr, FileKind, HeldIno, Vfs};

/// Options of a list of entries.
#[derive(Debug, Clone)]
pub struct ListStyle {
    /// JSON, one object per line.
    pub json: bool,
    /// Permission bits to remove from all modes.
    pub umask: u16,
    /// The order; `None` for the order of the source.
    pub sort: Option<SortKey>,
    /// The type of the entries to list, in lower case; `None` for all.
    pub only: Option<String>,
    /// The SHA-256 and the path of each file instead of a line.
    pub sha256: bool,
    /// Paths without attributes, each with a NUL after it.
    pub null: bool,
    /// Number of bytes that are read for checksums, for each byte of the source, at
    /// most.
    pub expansion: u64,
}

/// Sort key of a list; equal entries are in the order of their paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// The path.
    Name,
    /// The size, largest first.
    Size,
    /// The modification time, newest first.
    Time,
    /// The type of a file (see [`Contents::type_of`]), after entries without.
    Type,
}

impl SortKey {
    /// All keys, with their names on the command line.
    pub const NAMES: [(&str, Self); 4] = [
        ("name", Self::Name),
        ("size", Self::Size),
        ("time", Self::Time),
        ("type", Self::Type),
    ];
}

/// Lists a path and everything below it. Entries that a mount adds to a source,
/// such as `X.d` and `X.meta`, are listed only if the path leads to them. With
/// `is_terminal`, control characters are escaped. A file whose checksum cannot
/// be computed is reported to `trouble`, and the others are listed.
///
/// # Errors
/// Returns an error if there is no such entry, if one of the directories cannot
/// be listed, if the list does not fit in memory, or if writing fails. If checksums
/// exceed the expansion, the list ends there with an error.
pub fn list(
    vfs: &Vfs,
    path: &str,
    style: &ListStyle,
    is_terminal: bool,
    out: &mut dyn Write,
    trouble: &mut dyn FnMut(Error),
) -> Result<(), Error> {
    let lister = Lister {
        vfs,
        style,
        is_terminal,
    };
    let mut sorted = style.sort.map(|key| Sorted::new(vfs, key));
    let found = find(vfs, path)?;
    let mut left_out = Ok(());
    let mut add = |path: &str, attr: Attr, ino: &HeldIno| {
        if !lister.is_wanted(attr) {
            return Ok(());
        }
        match &mut sorted {
            Some(sorted) => sorted.add(path, attr, ino),
            None => lister.write(path, attr, out, trouble),
        }
    };
    let root = HeldIno::kept(found.attr.ino);
    if !found.path.is_empty() {
        add(&found.path, found.attr, &root)?;
    }
    if found.attr.kind == FileKind::Directory {
        let mut walk = match style.sha256 {
            true => Walk::within(Bounds::of(vfs, *root, style.expansion), root, found.path),
            false => Walk::new(root, found.path),
        };
        walk.shows_archives = false;
        while let Some(step) = walk.next(vfs) {
            let step = match step {
                Ok(step) if step.entry.role == Role::AssetDirectory => continue,
                Ok(step) => step,
                Err(missed @ Missed::LeftOut(_)) => {
                    left_out = Err(Error::missed(missed, path));
                    break;
                }
                Err(missed) => return Err(Error::missed(missed, path)),
            };
            let attr = match step.entry.is_unmeasured && !style.sha256 {
                true => vfs.attr_without_size(*step.entry.ino),
                false => vfs.getattr(*step.entry.ino),
            };
            let attr = attr.map_err(|error| Error::path(&step.path, error))?;
            add(&step.path, attr, &step.entry.ino)?;
            if step.entry.role == Role::Directory {
                walk.enter(vfs, step);
            }
        }
    }
    for kept in sorted.map(Sorted::finish).unwrap_or_default() {
        lister.write(&kept.path, kept.attr, out, trouble)?;
    }
    left_out
}

struct Lister<'a> {
    vfs: &'a Vfs,
    style: &'a ListStyle,
    is_terminal: bool,
}

impl Lister<'_> {
    /// Returns whether an entry has the type that is listed.
    fn is_wanted(&self, attr: Attr) -> bool {
        let is_file = attr.kind == FileKind::File;
        // A directory has no checksum.
        if self.style.sha256 && !self.style.json && !is_file {
            return false;
        }
        let Some(only) = &self.style.only else {
            return true;
        };
        match only.as_str() {
            "file" => is_file,
            "directory" => attr.kind == FileKind::Directory,
            "link" => attr.kind == FileKind::Symlink,
            _ if !is_file => false,
            "archive" => Contents(self.vfs).inside(attr.ino).is_some(),
            "asset" => Contents(self.vfs).view_format(attr.ino).is_some(),
            _ => {
                let known = Contents(self.vfs).type_of(attr.ino);
                known.is_some_and(|known| known.eq_ignore_ascii_case(only))
            }
        }
    }

    fn write(
        &self,
        path: &str,
        attr: Attr,
        out: &mut dyn Write,
        trouble: &mut dyn FnMut(Error),
    ) -> Result<(), Error> {
        let mut line = Line::new(self.vfs, path, attr, self.style.umask);
        if self.style.sha256 && attr.kind == FileKind::File {
            match sha256(self.vfs, attr.ino) {
                Ok(sum) => line.set_sha256(&sum),
                Err(error) => trouble(Error::path(path, error)),
            }
            // Without a checksum, there is nothing to print.
            if !self.style.json && line.sha256().is_none() {
                return Ok(());
            }
        }
        let text = match self.style {
            ListStyle { json: true, .. } => line.json(),
            ListStyle { null: true, .. } => line.null(),
            ListStyle { sha256: true, .. } => line.summed(self.is_terminal),
            _ => line.text(self.is_terminal),
        };
        let end: &[u8] = if self.style.null { b"\0" } else { b"\n" };
        out.write_all(text.as_bytes())
            .and_then(|()| out.write_all(end))
            .map_err(Error::Output)
    }
}
