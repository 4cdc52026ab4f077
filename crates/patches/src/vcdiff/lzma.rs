//! Sections compressed by LZMA: pieces of an xz stream without an end.

use hpimount_containers::io::{Error, Result};
use lzma_rust2::{Action, Lzma2Stream};

use super::layout::PIECE;
use crate::stream::Stream;

/// The start of an xz stream.
const XZ: &[u8; 6] = b"\xFD7zXZ\0";

/// Identifier of LZMA2, and the length of its properties.
const LZMA2: [u8; 2] = [0x21, 1];

/// Length of the header of the single block that xdelta3 writes, in bytes: one filter,
/// no sizes.
const BLOCK_HEADER: usize = 12;

/// Maximum supported dictionary size in bytes, the size of `xdelta3 -9`.
const MAX_DICTIONARY: u32 = 64 << 20;

/// Memory of a decoder without its dictionary, in bytes.
const DECODER: usize = 64 << 10;

/// The stream of one kind of section.
pub(super) struct Lzma {
    /// Begun by the first section.
    stream: Option<Lzma2Stream>,
    /// Total decoded length in bytes.
    total: u64,
    /// Memory limit of the decoder in bytes.
    limit: usize,
}

impl Lzma {
    /// Creates a stream of `total` bytes, whose decoder may take `limit` bytes of
    /// memory.
    pub(super) fn new(total: u64, limit: usize) -> Self {
        Self {
            stream: None,
            total,
            limit,
        }
    }

    /// Decodes the next section to exactly `length` bytes.
    pub(super) fn decode(
        &mut self,
        section: &mut Stream,
        length: u64,
        append: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let start = section.offset();
        let decoder = match &mut self.stream {
            Some(decoder) => decoder,
            None => {
                let dictionary = read_headers(section)?;
                // The size in the header is only a maximum.
                let dictionary = u64::from(dictionary).min(self.total).max(4 << 10) as u32;
                let needed = dictionary as usize + DECODER;
                if needed > self.limit {
                    return Err(Error::no_memory("LZMA", needed, self.limit));
                }
                self.stream.insert(Lzma2Stream::new(dictionary))
            }
        };
        let damaged = |problem: String| Error::damaged(start, "LZMA", problem);
        let (mut input, mut output) = (vec![0; PIECE], vec![0; PIECE]);
        let mut left = length;
        while section.left() > 0 {
            let now = section.left().min(PIECE as u64) as usize;
            section.fill(&mut input[..now], "LZMA")?;
            let mut rest = &input[..now];
            loop {
                // One extra byte detects a surplus.
                let most = (left + 1).min(PIECE as u64) as usize;
                let step = decoder.process(rest, &mut output[..most], Action::Run);
                let step = step.map_err(|error| damaged(error.to_string()))?;
                let produced = step.bytes_produced;
                left = left
                    .checked_sub(produced as u64)
                    .ok_or_else(|| damaged(format!("decodes to more than {length} bytes")))?;
                append(&output[..produced])?;
                rest = &rest[step.bytes_consumed..];
                if produced == 0 && step.bytes_consumed == 0 {
                    break;
                }
            }
            if !rest.is_empty() {
                return Err(damaged(format!("{} bytes are left over", rest.len())));
            }
        }
        match left {
            0 => Ok(()),
            _ => Err(damaged(format!("{left} of {length} bytes are missing"))),
        }
    }
}

/// Reads the headers of the stream and of its block, and returns the dictionary size.
fn read_headers(section: &mut Stream) -> Result<u32> {
    let start = section.offset();
    let damaged = |problem: &str| Error::damaged(start, "LZMA", problem);
    let header = section.array::<12>("header of the xz stream")?;
    // The second byte of the flags is the type of the check, which is none.
    if header[..6] != *XZ || header[6..8] != [0, 0] {
        return Err(damaged("has no xz stream without checksums"));
    }
    let block = section.array::<BLOCK_HEADER>("header of the xz block")?;
    let is_one_filter = usize::from(block[0]) == BLOCK_HEADER / 4 - 1 && block[1] == 0;
    if !is_one_filter || block[2..4] != LZMA2 {
        return Err(damaged("has no block of LZMA2"));
    }
    for (bytes, sum) in [(&header[6..8], &header[8..]), (&block[..8], &block[8..])] {
        if crc32fast::hash(bytes).to_le_bytes() != *sum {
            return Err(damaged("has a header with a wrong CRC-32"));
        }
    }
    let bits = block[4];
    let size = match bits {
        0..40 => (2 | u64::from(bits & 1)) << (bits / 2 + 11),
        40 => u64::from(u32::MAX),
        _ => return Err(damaged("has a dictionary of an unknown size")),
    };
    u32::try_from(size)
        .ok()
        .filter(|&size| size <= MAX_DICTIONARY)
        .ok_or_else(|| {
            let problem = format!("uses LZMA with a dictionary of {size} bytes");
            Error::Unsupported(format!("{problem}, more than {MAX_DICTIONARY}"))
        })
}
