//! The disc of a mod, and the SD card with the mod's files.

/// A disc.
#[derive(Debug, Clone, Copy)]
pub struct Disc<'a> {
    /// The ID, such as `GXXE01`.
    pub id: &'a str,
    /// Number of the disc, from 0.
    pub number: u8,
    /// Version of the disc.
    pub version: u8,
    /// Paths and sizes of the files in table order: `files/…` and `sys/main.dol`.
    pub files: &'a [(String, u64)],
}

/// The files of the SD card. Paths are relative to its root, without leading slash, `.`
/// and `..`.
pub trait Card {
    /// Returns the size of a file, or `None` for missing files and links.
    fn size(&self, path: &str) -> Option<u64>;

    /// Returns the files and folders in a folder, or `None` for missing folders and
    /// links.
    fn entries(&self, folder: &str) -> Option<Vec<Entry>>;
}

/// A file or folder of the card.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// True if it is a folder.
    pub is_folder: bool,
}

impl<'a> Disc<'a> {
    /// Creates a disc.
    pub fn new(id: &'a str, number: u8, version: u8, files: &'a [(String, u64)]) -> Self {
        Self {
            id,
            number,
            version,
            files,
        }
    }
}
