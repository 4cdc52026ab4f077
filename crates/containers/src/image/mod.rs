//! Block images: sources that contain another source in blocks, most of them
//! compressed (GCZ, CISO, WBFS, WIA, RVZ, CSO, ZSO, CHD, DAX, ECM, PBP).
//!
//! Each format is a module here and a line in [`IMAGES`]. A format reads its
//! tables once; then every block decodes independently. Caching of decoded
//! blocks is left to the caller.
//!
//! The formats are described in `docs/formats/images.md`. All numbers are
//! checked against the length of the source, or that length times the maximum
//! compression ratio, before memory is allocated for them.

mod chd;
mod ciso;
mod contents;
mod cso;
mod dax;
mod ecm;
mod gcz;
mod padding;
mod pbp;
mod wbfs;
mod wia;

use std::sync::Arc;

pub use self::contents::{MAX_NESTED, unwrap};
use crate::file_type::FileType;
use crate::io::{Error, ReadAt, Result, read_vec, undamaged};

/// Largest block that is decoded, in bytes.
pub const MAX_BLOCK: u32 = 64 << 20;

/// A source whose data is stored in blocks.
pub trait BlockImage: Send + Sync {
    /// Returns the length of the contained source, in bytes.
    fn len(&self) -> u64;

    /// Returns the length in bytes of every block except the last; at most
    /// [`MAX_BLOCK`], and not 0.
    fn block_size(&self) -> u32;

    /// Decodes the block with this number, which is below
    /// `len.div_ceil(block_size)`: the whole block, or for the last one the
    /// part before the end.
    ///
    /// # Errors
    /// Returns an error if the block is damaged or the source cannot be read.
    fn decode(&self, block: u64) -> Result<Vec<u8>>;

    /// Returns the memory of the tables, in bytes.
    fn memory(&self) -> usize;

    /// Returns the warnings about the image, one sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Returns the tracks of a CD, in order; empty if the image does not
    /// describe them.
    fn tracks(&self) -> &[CdTrack] {
        &[]
    }

    /// Returns whether the length is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Length in bytes of the frames of a [`CdTrack`]: a sector of up to 2352 bytes
/// at the start, and its subchannels in the last 96 bytes.
pub const FRAME: u64 = 2448;

/// A track of a CD in a block image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdTrack {
    /// Number on the disc.
    pub number: u8,
    /// True if its sectors are samples: 16 bits, stereo.
    pub is_audio: bool,
    /// True if samples are big-endian.
    pub is_big_endian: bool,
    /// True if its sectors are of Mode 2.
    pub is_mode_2: bool,
    /// Number of sectors of a pregap that the image does not have.
    pub silence: u64,
    /// Number of its first sector on a Dreamcast disc, whose tracks do not follow
    /// one another; `None` on other discs.
    pub place: Option<u64>,
    /// Length of its sectors in bytes, at most 2352.
    pub sector: u16,
    /// Offset in the image of its first frame: the pregap, if the image has it.
    pub first: u64,
    /// Offset in the image of its first frame after the pregap.
    pub start: u64,
    /// Offset in the image of the end of its last frame.
    pub end: u64,
}

/// Returns the length of block `block` of an image of `len` bytes.
pub fn block_length(len: u64, block_size: u32, block: u64) -> usize {
    let start = block.saturating_mul(block_size.into());
    len.saturating_sub(start).min(block_size.into()) as usize
}

/// A function that reads the tables of a block image.
pub type OpenImage = fn(Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>>;

/// A format of block images: how it is detected and how it is opened.
pub struct ImageFormat {
    /// Short name, as shown in `info.json`.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Types of its files on desktops.
    pub types: &'static [FileType],
    /// Returns whether a source has the format.
    pub matches: fn(&dyn ReadAt) -> Result<bool>,
    /// Reads the tables of a source.
    pub open: OpenImage,
}

/// The type of compressed GameCube images on desktops.
const GAMECUBE: FileType = FileType::new(
    "application/x-gamecube-image",
    Some("compressed GameCube disc image"),
);

/// The formats. Detection tries them in this order.
pub const IMAGES: &[ImageFormat] = &[
    wia::RVZ,
    wia::WIA,
    gcz::FORMAT,
    ciso::FORMAT,
    wbfs::FORMAT,
    cso::CSO,
    cso::ZSO,
    chd::FORMAT,
    dax::FORMAT,
    ecm::FORMAT,
    pbp::FORMAT,
];

/// Detects the format of a block image from its content. Returns `None` if the
/// source is not one.
///
/// # Errors
/// Returns [`Error::Read`] if the source cannot be read.
pub fn detect(source: &dyn ReadAt) -> Result<Option<&'static ImageFormat>> {
    for format in IMAGES {
        // A source that contradicts a format has another one.
        if undamaged((format.matches)(source))? == Some(true) {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

/// Returns the first `length` bytes of a source; fewer if it ends earlier.
fn head(source: &dyn ReadAt, length: u64) -> Result<Vec<u8>> {
    read_vec(source, 0, length.min(source.len()), "header")
}

/// Returns whether a source begins with `magic`.
fn starts_with(source: &dyn ReadAt, magic: &[u8]) -> Result<bool> {
    Ok(head(source, magic.len() as u64)? == magic)
}

/// Returns an error about one block.
fn block_error(block: u64, offset: u64, problem: impl Into<String>) -> Error {
    Error::damaged(offset, format!("block {block}"), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_ends_with_the_image() {
        assert_eq!(block_length(100, 64, 0), 64);
        assert_eq!(block_length(100, 64, 1), 36);
        assert_eq!(block_length(100, 64, 2), 0);
        assert_eq!(block_length(u64::MAX, u32::MAX, u64::MAX), 0);
    }

    #[test]
    fn other_data_has_no_format() {
        assert!(detect(&Vec::new()).unwrap().is_none());
        assert!(detect(&b"CIS".to_vec()).unwrap().is_none());
    }
}
