//! The types of files on desktops, as the shared MIME database describes them.
//!
//! A format declares its types beside its extensions. The files that tell
//! desktops about them follow from the lists of formats.

/// A type of files on desktops.
///
/// Two formats may declare parts of the same type: their patterns and magic
/// bytes are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// Its MIME type, such as `application/x-hpi-archive`.
    pub name: &'static str,
    /// The description of such files in file managers. None for a type that the shared
    /// MIME database already has: it keeps its name, and gets the other properties in
    /// addition.
    pub comment: Option<&'static str>,
    /// True if such files are plain texts.
    pub is_text: bool,
    /// First bytes of such files; one of them is enough.
    pub magic: &'static [Magic],
    /// Priority of the magic bytes, from 0 to 100; 50 is the usual one.
    pub priority: u8,
    /// Patterns of names, in lower case, that almost no other files have.
    pub patterns: &'static [&'static str],
    /// Patterns of names that other programs use too. The first bytes decide
    /// about these files.
    pub shared_patterns: &'static [&'static str],
    /// True if file managers show such a file with the icon of this program, as an archive.
    pub has_icon: bool,
    /// True if file managers offer to open such a file with this program.
    pub is_opened: bool,
    /// True if the thumbnail of such an archive shows its pictures. An asset has a
    /// thumbnail if its format has a preview.
    pub has_thumbnail: bool,
}

impl FileType {
    /// Creates a type without patterns and magic bytes.
    pub const fn new(name: &'static str, comment: Option<&'static str>) -> Self {
        Self {
            name,
            comment,
            is_text: false,
            magic: &[],
            priority: 60,
            patterns: &[],
            shared_patterns: &[],
            has_icon: false,
            is_opened: false,
            has_thumbnail: false,
        }
    }

    /// Creates the type of an archive that is opened by double click.
    pub const fn archive(name: &'static str, comment: &'static str) -> Self {
        Self {
            has_icon: true,
            is_opened: true,
            ..Self::new(name, Some(comment))
        }
    }
}

/// Bytes at a fixed offset of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Magic {
    /// Their offset.
    pub offset: u32,
    /// The bytes.
    pub bytes: &'static [u8],
    /// Further conditions: the file must meet at least one of them as well.
    /// Empty for no further condition.
    pub and: &'static [Magic],
}

impl Magic {
    /// Creates a condition on the bytes at `offset` alone.
    pub const fn at(offset: u32, bytes: &'static [u8]) -> Self {
        Self {
            offset,
            bytes,
            and: &[],
        }
    }
}
