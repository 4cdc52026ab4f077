//! The contents of a GameCube disc, for comparison with another disc or a mod.

use std::ops::Range;
use std::sync::Arc;

use super::FORMAT;
use crate::extract::Listing;
use crate::format::{Input, Options};
use crate::io::{Error, ReadAt, Result, read_vec};
use crate::text;
use crate::volume::Content;

/// The identity of a GameCube disc, and the positions of its contents.
pub struct Contents {
    /// The game and its publisher, such as `GXXE01`.
    pub id: String,
    /// The number among the discs of the game.
    pub number: u8,
    /// The version.
    pub version: u8,
    /// The files by their paths, in the order of the disc.
    pub files: Vec<(String, Place)>,
    /// The paths of the directories, without a slash at the end.
    pub directories: Vec<String>,
}

/// The position of a file in the image.
pub struct Place {
    /// All of it.
    pub range: Range<u64>,
    /// The part of the file that says where files are.
    pub layout: Range<u64>,
}

impl Contents {
    /// Reads the tables of a disc.
    ///
    /// # Errors
    /// Returns [`Error::UnknownFormat`] if it is no GameCube disc, or an error if it is
    /// damaged or cannot be read.
    pub fn read(image: &Arc<dyn ReadAt>) -> Result<Self> {
        let input = Input::alone(image.clone(), Options::default());
        if !(FORMAT.matches)(&input)? {
            return Err(Error::UnknownFormat);
        }
        let mut listing = Listing::default();
        let volume = (FORMAT.open)(input, &mut listing)?;
        let head = read_vec(&**image, 0, 8, "head of the disc")?;
        let [id @ .., number, version] = &head[..] else {
            return Err(Error::UnknownFormat);
        };
        let mut files = Vec::new();
        for (path, entry) in listing.files() {
            let Content::Extent { offset, .. } = volume.content(entry.file)? else {
                continue;
            };
            let range = offset..offset.saturating_add(entry.size.unwrap_or(0));
            let layout = volume.layout(entry.file);
            files.push((path.to_owned(), Place { range, layout }));
        }
        let paths = listing.paths().into_iter();
        Ok(Self {
            id: text::windows_1252(id).into_owned(),
            number: *number,
            version: *version,
            files,
            directories: paths
                .filter_map(|path| Some(path.strip_suffix('/')?.to_owned()))
                .collect(),
        })
    }
}
