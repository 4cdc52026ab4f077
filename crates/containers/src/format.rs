//! Container formats: their detection and opening.

use std::sync::Arc;

use crate::changes::OpenForChanges;
use crate::file_type::FileType;
pub use crate::input::{Encoding, Input, Options};
use crate::io::{Error, ReadAt, Result};
use crate::text::has_extension;
use crate::volume::{Content, FileId, Sink, Volume};

/// Number of bytes that determine the format of a file with an ambiguous
/// extension.
pub const HEAD: u64 = 16;

/// Returns whether a stored file of `size` bytes with ambiguous extensions is an
/// archive; false for other files, and if it cannot be read.
pub fn is_archive(
    volume: &dyn Volume,
    file: FileId,
    size: u64,
    extensions: &mut dyn Iterator<Item = &Ambiguous>,
) -> bool {
    let mut extensions = extensions.peekable();
    if extensions.peek().is_none() {
        return false;
    }
    let Ok(Content::Extent { source, offset }) = volume.content(file) else {
        return false;
    };
    let stored = Stored {
        source,
        offset,
        size,
    };
    // Most of them are determined by the same bytes.
    let mut last: Option<(u64, Option<Vec<u8>>)> = None;
    extensions.any(|known| {
        let (at, bytes) = match last.take() {
            Some((at, bytes)) if at == known.at => (at, bytes),
            _ => (known.at, stored.head(known.at)),
        };
        let begins = bytes.as_ref().is_some_and(|bytes| (known.begins)(bytes));
        last = Some((at, bytes));
        begins && known.confirms.is_none_or(|confirms| confirms(&stored))
    })
}

/// A stored file of a volume.
struct Stored<'a> {
    source: &'a dyn ReadAt,
    /// Offset in the source of the first byte.
    offset: u64,
    size: u64,
}

impl Stored<'_> {
    /// Returns at most [`HEAD`] bytes; `None` if they cannot be read.
    fn head(&self, at: u64) -> Option<Vec<u8>> {
        let mut head = vec![0; self.size.saturating_sub(at).min(HEAD) as usize];
        self.read_exact_at(&mut head, at).ok()?;
        Some(head)
    }
}

impl ReadAt for Stored<'_> {
    fn len(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        self.source
            .read_exact_at(buf, self.offset.saturating_add(offset))
    }
}

/// The extensions of the two files of a format, in lower case, without the dot.
/// They have the same name otherwise, ignoring ASCII case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Of the file with the data, which has the companion.
    pub data: &'static str,
    /// Of the file with the directory.
    pub directory: &'static str,
}

/// The two files of a [`Pair`].
pub struct PairedFiles {
    /// The one with the data.
    pub data: Arc<dyn ReadAt>,
    /// The one with the directory.
    pub directory: Arc<dyn ReadAt>,
}

impl Pair {
    /// Returns the extension of the other file, given the extension of one.
    pub fn other_extension(&self, extension: &str) -> Option<&'static str> {
        match extension {
            _ if extension.eq_ignore_ascii_case(self.data) => Some(self.directory),
            _ if extension.eq_ignore_ascii_case(self.directory) => Some(self.data),
            _ => None,
        }
    }

    /// Returns the name of the other file, given the name of one.
    pub fn other(&self, name: &str) -> Option<String> {
        let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
        Some(format!("{stem}.{}", self.other_extension(extension)?))
    }

    /// Returns the name of the file with the directory, given the name of the
    /// file with the data.
    pub fn directory_of(&self, name: &str) -> Option<String> {
        Some(format!("{}.{}", stem(name, self.data)?, self.directory))
    }

    /// Returns the source of `input`, which may be either file, and its
    /// partner; `None` if it is neither or there is no partner.
    pub fn find(&self, input: &Input<'_>) -> Option<PairedFiles> {
        let name = &input.options.name;
        let partner = (input.partner)(&self.other(name)?)?;
        let source = input.source.clone();
        Some(match stem(name, self.data) {
            Some(_) => PairedFiles {
                data: source,
                directory: partner,
            },
            None => PairedFiles {
                data: partner,
                directory: source,
            },
        })
    }
}

/// Returns a name without this extension. A file called `.img` has none.
fn stem<'a>(name: &'a str, extension: &str) -> Option<&'a str> {
    let is_named = has_extension(name.as_bytes(), extension) && name.len() > extension.len() + 1;
    is_named.then(|| &name[..name.len() - extension.len() - 1])
}

/// An extension that files of other formats have too. A few bytes of a file
/// decide whether it is an archive.
pub struct Ambiguous {
    /// The extension, in lower case, without the dot.
    pub extension: &'static str,
    /// Offset in the file of the bytes that decide.
    pub at: u64,
    /// Returns whether an archive may have these [`HEAD`] bytes there.
    pub begins: fn(&[u8]) -> bool,
    /// Returns whether a file with these bytes is an archive, after reading a few
    /// more; `None` if these bytes alone decide.
    pub confirms: Option<fn(&dyn ReadAt) -> bool>,
    /// Returns whether a file of this size in bytes is worth the reading of these
    /// bytes; `None` if all are. If set, files in block images and on
    /// servers are not read, because most with the extension are not archives.
    pub may_have: Option<fn(u64) -> bool>,
    /// Extension of a file with the same name that has the companion instead,
    /// if it exists.
    pub sheet: Option<&'static str>,
}

impl Ambiguous {
    /// Returns whether a file has the extension.
    pub fn is_of(&self, name: &str) -> bool {
        stem(name, self.extension).is_some()
    }

    /// Returns the name of the file that has the companion instead.
    pub fn sheet_of(&self, name: &str) -> Option<String> {
        Some(format!("{}.{}", stem(name, self.extension)?, self.sheet?))
    }
}

/// Returns the names of the other files that a source refers to, given all of
/// its bytes.
pub type SheetFiles = fn(&[u8]) -> Vec<String>;

/// Maximum length in bytes of a source that refers to other files.
pub const MAX_SHEET: u64 = 64 << 10;

/// A container format, with its detection and opening.
///
/// The extensions, the pair and the sheet of all formats determine which files have a
/// companion, and which files belong together.
pub struct Format {
    /// Short name, as shown in `info.json`.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Extensions that files of other formats have too.
    pub ambiguous: &'static [Ambiguous],
    /// The extensions of its two files, if it consists of two. They are
    /// ambiguous: only together the files are an archive.
    pub pair: Option<Pair>,
    /// Finds the files that an archive refers to by name, if it can.
    pub sheet: Option<SheetFiles>,
    /// Types of its files on desktops; none if other programs open them.
    pub types: &'static [FileType],
    /// Returns whether a source has the format. It may read a few bytes
    /// anywhere in the source.
    pub matches: fn(&Input<'_>) -> Result<bool>,
    /// Reads the directory of a source, declares it to the sink, and returns
    /// the volume.
    pub open: fn(Input<'_>, &mut dyn Sink) -> Result<Box<dyn Volume>>,
    /// Opens an archive to be written with changes; `None` if the format cannot be
    /// written.
    pub change: Option<OpenForChanges>,
    /// True if companions of assets are listed in it, as in a folder.
    pub is_plain_folder: bool,
    /// True if games merge several of them.
    pub is_layered: bool,
}

impl Format {
    /// The defaults of most formats: a plain folder in one file, which cannot be
    /// written. It is never detected.
    pub const PLAIN: Self = Self {
        name: "",
        extensions: &[],
        ambiguous: &[],
        pair: None,
        sheet: None,
        types: &[],
        matches: |_| Ok(false),
        open: |_, _| Err(Error::UnknownFormat),
        change: None,
        is_plain_folder: true,
        is_layered: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_file_of_a_pair_names_the_other() {
        let pair = Pair {
            data: "wad",
            directory: "hed",
        };
        assert_eq!(pair.other("CD.WAD").as_deref(), Some("CD.hed"));
        assert_eq!(pair.other("CD.hed").as_deref(), Some("CD.wad"));
        assert_eq!(pair.directory_of("CD.wad").as_deref(), Some("CD.hed"));
        assert_eq!(pair.directory_of("CD.hed"), None);
        for name in [".wad", "wad", "CD.wad.txt", ""] {
            assert_eq!(pair.other(name), None, "{name}");
        }
    }
}
