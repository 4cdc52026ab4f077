//! Compression methods of CHD hunks. Those for CDs store the 2352 bytes of all
//! frames first, and the subchannels of all frames after them.

use super::{flac, huffman};
use crate::codec::block::{Codec, Decoded};
use crate::codec::{Wrapping, ecc, inflate};
use crate::io::{Error, Result};

/// Bytes per frame: of the sector, and of its subchannels.
const SECTOR: usize = 2352;
const SUBCHANNELS: usize = 96;
const FRAME: usize = SECTOR + SUBCHANNELS;

/// Properties of all LZMA streams: lc 3, lp 0, pb 2.
const LZMA_PROPERTIES: u8 = 0x5D;

/// A method with its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Any bytes.
    Plain(Packing),
    /// Samples, preceded by a byte for the byte order.
    Flac,
    Huffman,
    /// The frames of a CD.
    Cd(Packing),
    /// The frames of a CD as samples.
    CdFlac,
}

/// The compression of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Deflate,
    Lzma,
    Zstandard,
}

impl Method {
    /// Returns the method with this tag.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if it is unknown or not supported.
    pub(super) fn of(tag: [u8; 4]) -> Result<Self> {
        Ok(match &tag {
            b"zlib" => Self::Plain(Packing::Deflate),
            b"lzma" => Self::Plain(Packing::Lzma),
            b"zstd" => Self::Plain(Packing::Zstandard),
            b"huff" => Self::Huffman,
            b"flac" => Self::Flac,
            b"cdzl" => Self::Cd(Packing::Deflate),
            b"cdlz" => Self::Cd(Packing::Lzma),
            b"cdzs" => Self::Cd(Packing::Zstandard),
            b"cdfl" => Self::CdFlac,
            b"avhu" => {
                let text = "is a CHD of a laser disc (codec avhu), which is not supported";
                return Err(Error::Unsupported(text.into()));
            }
            other => {
                let text = format!("is a CHD with the unknown codec {}", other.escape_ascii());
                return Err(Error::Unsupported(text));
            }
        })
    }

    /// Returns its tag.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain(Packing::Deflate) => "zlib",
            Self::Plain(Packing::Lzma) => "lzma",
            Self::Plain(Packing::Zstandard) => "zstd",
            Self::Huffman => "huff",
            Self::Flac => "flac",
            Self::Cd(Packing::Deflate) => "cdzl",
            Self::Cd(Packing::Lzma) => "cdlz",
            Self::Cd(Packing::Zstandard) => "cdzs",
            Self::CdFlac => "cdfl",
        }
    }

    /// Decodes a hunk of `wanted` bytes.
    ///
    /// # Errors
    /// Returns a message if the bytes are damaged.
    pub(super) fn decode(self, packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
        match self {
            Self::Plain(packing) => packing.decode(packed, wanted),
            Self::Huffman => huffman::decode(packed, wanted),
            Self::Flac => {
                let (order, packed) = packed.split_first().ok_or("is empty")?;
                let is_big = match order {
                    b'L' => false,
                    b'B' => true,
                    other => return Err(format!("has samples of byte order {other:#x}")),
                };
                let mut out = vec![0; wanted];
                flac::decode(packed, is_big, &mut out)?;
                Ok(out)
            }
            Self::Cd(packing) => {
                let frames = frames(wanted)?;
                let restored = frames.div_ceil(8);
                let width = if wanted < 65_536 { 2 } else { 3 };
                let (restored, packed) = packed.split_at_checked(restored).ok_or("is too short")?;
                let (length, packed) = packed.split_at_checked(width).ok_or("is too short")?;
                let length = length
                    .iter()
                    .fold(0, |sum, &byte| sum << 8 | usize::from(byte));
                let parts = packed.split_at_checked(length);
                let (sectors, subchannels) = parts.ok_or("is shorter than declared")?;
                let sectors = packing.decode(sectors, frames * SECTOR)?;
                let subchannels = packing
                    .of_subchannels()
                    .decode(subchannels, frames * SUBCHANNELS)?;
                let mut out = join(&sectors, &subchannels);
                for (number, frame) in out.chunks_exact_mut(FRAME).enumerate() {
                    if restored[number / 8] >> (number % 8) & 1 == 1 {
                        ecc::restore(&mut frame[..SECTOR]);
                    }
                }
                Ok(out)
            }
            Self::CdFlac => {
                let frames = frames(wanted)?;
                let mut sectors = vec![0; frames * SECTOR];
                let taken = flac::decode(packed, true, &mut sectors)?;
                let subchannels = packed.get(taken..).unwrap_or_default();
                let subchannels = Packing::Deflate.decode(subchannels, frames * SUBCHANNELS)?;
                Ok(join(&sectors, &subchannels))
            }
        }
    }
}

/// Returns the number of frames in a hunk of a CD.
fn frames(wanted: usize) -> Decoded<usize> {
    match wanted.is_multiple_of(FRAME) {
        true => Ok(wanted / FRAME),
        false => Err("is not a whole number of frames".into()),
    }
}

/// Joins the sectors and the subchannels of frames.
fn join(sectors: &[u8], subchannels: &[u8]) -> Vec<u8> {
    let parts = sectors
        .chunks_exact(SECTOR)
        .zip(subchannels.chunks_exact(SUBCHANNELS));
    let mut frames = Vec::with_capacity(sectors.len() + subchannels.len());
    for (sector, subchannels) in parts {
        frames.extend_from_slice(sector);
        frames.extend_from_slice(subchannels);
    }
    frames
}

impl Packing {
    /// Returns how subchannels are packed if the sectors are packed like this.
    fn of_subchannels(self) -> Self {
        match self {
            Self::Lzma => Self::Deflate,
            other => other,
        }
    }

    fn decode(self, packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
        let codec = match self {
            Self::Deflate => {
                let mut out = vec![0; wanted];
                return match inflate(packed, &mut out, Wrapping::None) {
                    Ok(length) if length == wanted => Ok(out),
                    Ok(length) => Err(format!("decodes to {length} bytes, should be {wanted}")),
                    Err(error) => Err(error),
                };
            }
            Self::Lzma => Codec::Lzma {
                properties: LZMA_PROPERTIES,
                dictionary: u32::MAX,
            },
            Self::Zstandard => Codec::Zstandard,
        };
        codec.decode(packed, wanted)
    }
}
