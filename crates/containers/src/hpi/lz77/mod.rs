//! The games' own LZ77 (FORMATS, HPI 5).
//!
//! Data consists of groups: a tag byte and, for each of its bits from the
//! lowest up, an item. A 0 is a literal byte. A 1 is a little-endian 16-bit
//! pair: its upper twelve bits are a position in a window of 4096 bytes, its
//! lower four are the length of a match, less two. Every decoded byte is also
//! written to the window, whose cursor starts at 1 and whose bytes are 0 at
//! first. Position 0 is the end mark.

mod decode;
mod encode;

pub use decode::{Decoder, Reader};
pub use encode::encode;

/// Bytes in the window.
const WINDOW: usize = 4096;

/// Initial position of the window's cursor.
const START: usize = 1;

/// Shortest match.
const MIN_MATCH: usize = 2;

/// Maximum length of a match.
const MAX_MATCH: usize = 17;

/// Number of items in a group: the bits of its tag.
const GROUP: usize = 8;

/// A decoding error. Positions are byte offsets in the packed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lz77Error {
    /// The data ends before the end mark.
    #[error("LZ77 data ends at byte {position} without an end mark")]
    Truncated {
        /// Length of the data.
        position: u64,
    },
    /// The data decodes to more bytes than declared.
    #[error("LZ77 item at byte {position} exceeds the declared {length} bytes")]
    TooLong {
        /// Start of the first item that is too much.
        position: u64,
        /// The declared length.
        length: u64,
    },
    /// The end mark comes too early.
    #[error("LZ77 end mark at byte {position} after {produced} of {length} bytes")]
    TooShort {
        /// Start of the end mark.
        position: u64,
        /// Number of decoded bytes.
        produced: u64,
        /// The declared length.
        length: u64,
    },
}

/// The meaning of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    /// Absolute position in the window; 0 is the end mark.
    position: usize,
    /// Length of the match in bytes.
    length: usize,
}

impl Pair {
    fn from_bits(bits: u16) -> Self {
        Self {
            position: usize::from(bits >> 4),
            length: usize::from(bits & 15) + MIN_MATCH,
        }
    }

    fn bits(self) -> u16 {
        ((self.position << 4) | (self.length - MIN_MATCH)) as u16
    }
}

/// Returns the window position of the byte that is decoded after `produced`
/// others.
fn window_position(produced: usize) -> usize {
    (produced + START) % WINDOW
}

#[cfg(test)]
mod tests;
