//! Block images: sources that hold another source in blocks, most of them
//! compressed (GCZ, CISO, WIA, RVZ, CSO, CHD).
//!
//! Each format is one module here and one line in [`IMAGES`]. A format reads
//! its tables once; from then on every block decodes on its own. What is kept
//! of the decoded blocks is not decided here.
//!
//! The facts are those of `docs/formats/images.md`. All numbers are checked
//! against the length of the source, or that length times the greatest ratio of
//! the compression, before memory is treated as them.

mod bits;
mod bzip2;
mod chd;
mod ciso;
mod codec;
mod cso;
mod gcz;
mod padding;
mod wia;

use std::sync::Arc;

use crate::io::{Error, ReadAt, Result, read_vec};

/// Largest block that is decoded, in bytes.
pub const MAX_BLOCK: u32 = 64 << 20;

/// A source whose bytes stand in blocks.
pub trait BlockImage: Send + Sync {
    /// Returns the length in bytes of what the image holds.
    fn len(&self) -> u64;

    /// Returns the length in bytes of every block but the last one; at most
    /// [`MAX_BLOCK`], and not 0.
    fn block_size(&self) -> u32;

    /// Decodes the block with this number, which is below
    /// `len.div_ceil(block_size)`: the whole block, or of the last one as much
    /// as lies before the end.
    ///
    /// # Errors
    /// Returns an error if the block is damaged or the source cannot be read.
    fn decode(&self, block: u64) -> Result<Vec<u8>>;

    /// Returns the memory that is kept for the tables, in bytes.
    fn memory(&self) -> usize;

    /// Warnings about the image, one sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Returns the tracks of a CD, in their order; none where the image does
    /// not say them.
    fn tracks(&self) -> &[CdTrack] {
        &[]
    }

    /// Returns whether the image holds no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Length in bytes of the frames of a [`CdTrack`]: a sector of up to 2352 bytes
/// at the start, its subchannels in the last 96 bytes.
pub const FRAME: u64 = 2448;

/// A track of a CD in a block image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdTrack {
    /// Number on the disc.
    pub number: u8,
    /// Whether its sectors are samples: 16 bits, stereo, big-endian.
    pub is_audio: bool,
    /// Offset in the image of its first frame, after the pause before it.
    pub start: u64,
    /// Offset in the image after its last frame.
    pub end: u64,
}

/// Returns the number of bytes that block `block` of an image of `len` bytes
/// has.
pub fn block_length(len: u64, block_size: u32, block: u64) -> usize {
    let start = block.saturating_mul(block_size.into());
    len.saturating_sub(start).min(block_size.into()) as usize
}

/// Reads the tables of a block image.
pub type OpenImage = fn(Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>>;

/// A format of block images: how it is detected and how it is opened.
pub struct ImageFormat {
    /// Short name, as `info.json` shows it.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether a source is of the format.
    pub matches: fn(&dyn ReadAt) -> Result<bool>,
    /// Reads the tables of a source.
    pub open: OpenImage,
}

/// The formats, in the order in which they are tried.
pub const IMAGES: &[ImageFormat] = &[
    wia::RVZ,
    wia::WIA,
    gcz::FORMAT,
    ciso::FORMAT,
    cso::CSO,
    cso::ZSO,
    chd::FORMAT,
];

/// Returns the format of a block image, by its content; `None` where the source
/// is none.
///
/// # Errors
/// Returns [`Error::Read`] if the source cannot be read.
pub fn detect(source: &dyn ReadAt) -> Result<Option<&'static ImageFormat>> {
    for format in IMAGES {
        match (format.matches)(source) {
            Ok(true) => return Ok(Some(format)),
            Err(error) if error.is_fault() => return Err(error),
            // What contradicts a format is not of the format.
            Ok(false) | Err(_) => {}
        }
    }
    Ok(None)
}

/// Returns the first `length` bytes of a source; fewer where it ends before.
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
    fn what_is_no_image_has_no_format() {
        assert!(detect(&Vec::new()).unwrap().is_none());
        assert!(detect(&b"CIS".to_vec()).unwrap().is_none());
    }
}
