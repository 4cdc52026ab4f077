//! The table of container formats, and which of them a source has.

use std::sync::Arc;

use super::{
    Content, FileId, Sink, Volume, gcm, hip, hpi, img, iso, pkr, pre, refused, seven_zip, wad,
    xdvdfs, zip,
};
use crate::io::{Error, ReadAt, Result, read_vec};
use crate::source::image::CdTrack;

/// How a volume is opened.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Name of the volume's file, as users know it.
    pub name: String,
    /// Mount and read past damage as far as possible (`-o force`).
    pub force: bool,
    /// Compute checksums for listings as well, not only when one is requested
    /// (`-o verify`).
    pub verify: bool,
}

/// A source whose format is to be detected, or that is to be opened.
pub struct Input<'a> {
    /// The source.
    pub source: Arc<dyn ReadAt>,
    /// Finds another file beside the source by its name, ignoring ASCII case:
    /// the second file of a format that consists of two.
    pub partner: &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>,
    /// The tracks of the CD that the source is, in frames of 2448 bytes; none
    /// where it is no CD, or they are not known.
    pub tracks: &'a [CdTrack],
    /// How it is opened.
    pub options: Options,
}

impl Input<'_> {
    /// Creates a source that stands alone.
    pub fn alone(source: Arc<dyn ReadAt>, options: Options) -> Self {
        Self {
            source,
            partner: &|_| None,
            tracks: &[],
            options,
        }
    }

    /// Returns the bytes at `offset` of the source; fewer where it ends before.
    ///
    /// # Errors
    /// Returns [`Error::Read`] if the source cannot be read.
    pub fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let left = self.source.len().saturating_sub(offset);
        read_vec(
            &*self.source,
            offset.min(self.source.len()),
            length.min(left),
            "header",
        )
    }
}

/// Extensions of formats that consist of two files: of the one with the
/// bytes, and of the one with the directory.
pub const PAIRS: &[(&str, &str)] = &[("img", "dir"), ("wad", "hed")];

/// Bytes by which a file is detected whose extension is ambiguous.
pub const HEAD: u64 = 16;

/// Returns the first bytes of a file of `size` bytes that is not packed; `None`
/// for any other, and where they cannot be read.
pub fn head(volume: &dyn Volume, file: FileId, size: u64) -> Option<Vec<u8>> {
    let Ok(Content::Extent { source, offset }) = volume.content(file) else {
        return None;
    };
    let mut head = vec![0; size.min(HEAD) as usize];
    source.read_exact_at(&mut head, offset).ok()?;
    Some(head)
}

/// A container format: how it is detected and how it is opened.
pub struct Format {
    /// Short name, as `info.json` shows it.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a source is of the format. It may read anywhere in the source,
    /// a few bytes.
    pub matches: fn(&Input<'_>) -> Result<bool>,
    /// Reads the directory of a source and declares it to the sink; what comes
    /// back can read the files.
    pub open: fn(Input<'_>, &mut dyn Sink) -> Result<Box<dyn Volume>>,
    /// Whether it is a folder in all but name, in which the companions of
    /// assets are listed.
    pub is_plain_folder: bool,
    /// Whether games lay several of them over each other.
    pub is_layered: bool,
}

/// The formats, in the order in which they are tried.
pub const FORMATS: &[Format] = &[
    hpi::FORMAT,
    hip::FORMAT,
    pkr::FORMAT,
    zip::FORMAT,
    seven_zip::FORMAT,
    pre::PACKED_FORMAT,
    gcm::FORMAT,
    // Before ISO 9660: a disc for the Xbox may have a file system for players
    // of films in front.
    xdvdfs::FORMAT,
    iso::FORMAT,
    iso::CUE,
    // These are detected by a second file or by a walk through the whole.
    img::FORMAT,
    wad::FORMAT,
    pre::FLAT_FORMAT,
    refused::FORMAT,
];

/// Returns the format of a source, by its content.
///
/// # Errors
/// Returns [`Error::UnknownFormat`] if no format recognises it, [`Error::Read`]
/// if the source cannot be read, or a part of it by which no format recognises
/// it.
pub fn detect(input: &Input<'_>) -> Result<&'static Format> {
    let mut unreadable = None;
    for format in FORMATS {
        match (format.matches)(input) {
            Ok(true) => return Ok(format),
            Err(error) if error.is_fault() => return Err(error),
            // A part of the source is damaged, not what is detected by it.
            Err(error @ Error::Read { .. }) => unreadable = unreadable.or(Some(error)),
            // What contradicts a format is not of the format.
            Ok(false) | Err(_) => {}
        }
    }
    Err(unreadable.unwrap_or(Error::UnknownFormat))
}
