//! The table of container formats, and detection of a source's format.

use std::sync::Arc;

use super::{
    Content, FileId, Sink, Volume, gcm, hip, hpi, img, iso, pkr, pre, refused, seven_zip, wad,
    xdvdfs, zip,
};
use crate::io::{Error, ReadAt, Result, read_vec};
use crate::source::image::CdTrack;

/// Options for opening a volume.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Name of the volume's file, as users know it.
    pub name: String,
    /// Mount and read past damage as far as possible (`-o force`).
    pub force: bool,
    /// Compute checksums for listings as well, not only on request (`-o
    /// verify`).
    pub verify: bool,
}

/// A source to be detected or opened.
pub struct Input<'a> {
    /// The source.
    pub source: Arc<dyn ReadAt>,
    /// Finds another file beside the source by name, ignoring ASCII case: the
    /// second file of a pair.
    pub partner: &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>,
    /// The tracks, if the source is a CD in frames of 2448 bytes; empty if it
    /// is not or they are unknown.
    pub tracks: &'a [CdTrack],
    /// The options.
    pub options: Options,
}

impl Input<'_> {
    /// Creates an input without other files.
    pub fn alone(source: Arc<dyn ReadAt>, options: Options) -> Self {
        Self {
            source,
            partner: &|_| None,
            tracks: &[],
            options,
        }
    }

    /// Returns the bytes at `offset` of the source; fewer at its end.
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

/// Extensions of formats that consist of two files: that of the data, and that
/// of the directory.
pub const PAIRS: &[(&str, &str)] = &[("img", "dir"), ("wad", "hed")];

/// Number of first bytes that determine the format of a file with an ambiguous
/// extension.
pub const HEAD: u64 = 16;

/// Returns the first bytes of a stored file of `size` bytes; `None` for other
/// files, or if they cannot be read.
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
    /// Short name, as shown in `info.json`.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Returns whether a source has the format. It may read a few bytes
    /// anywhere in the source.
    pub matches: fn(&Input<'_>) -> Result<bool>,
    /// Reads the directory of a source, declares it to the sink, and returns
    /// the volume.
    pub open: fn(Input<'_>, &mut dyn Sink) -> Result<Box<dyn Volume>>,
    /// Whether companions of assets are listed in it, as in a folder.
    pub is_plain_folder: bool,
    /// Whether games merge several of them.
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
    // Before ISO 9660: an Xbox disc may start with a file system for DVD
    // players.
    xdvdfs::FORMAT,
    iso::FORMAT,
    iso::CUE,
    // These are detected by a second file or by scanning the whole source.
    img::FORMAT,
    wad::FORMAT,
    pre::FLAT_FORMAT,
    refused::FORMAT,
];

/// Detects the format of a source from its content.
///
/// # Errors
/// Returns [`Error::UnknownFormat`] if no format matches, or [`Error::Read`] if
/// the source, or a part of it that detection needs, cannot be read.
pub fn detect(input: &Input<'_>) -> Result<&'static Format> {
    let mut unreadable = None;
    for format in FORMATS {
        match (format.matches)(input) {
            Ok(true) => return Ok(format),
            Err(error) if error.is_fault() => return Err(error),
            // A part of the source is unreadable; another format may still
            // match.
            Err(error @ Error::Read { .. }) => unreadable = unreadable.or(Some(error)),
            // A source that contradicts a format has another one.
            Ok(false) | Err(_) => {}
        }
    }
    Err(unreadable.unwrap_or(Error::UnknownFormat))
}
