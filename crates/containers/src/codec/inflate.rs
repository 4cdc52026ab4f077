//! Deflate (RFC 1951), raw or in the zlib format (RFC 1950).

use std::ops::Range;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_COMPUTE_ADLER32, TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::{Codec, Packed};
use crate::io::Result;

/// Maximum distance of a match.
const WINDOW: usize = 32 << 10;

/// Decodes the beginning of zlib data, until `out` is full. Returns whether that
/// succeeded; what follows is not verified.
pub(crate) fn inflate_start(packed: &[u8], out: &mut [u8]) -> bool {
    let mut decoder = fdeflate::Decompressor::new();
    decoder.ignore_adler32();
    let decoded = decoder.read(packed, out, 0, true);
    decoded.is_ok_and(|(_, written)| written == out.len())
}

/// The container of a deflate stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// Nothing.
    None,
    /// A zlib header and an Adler-32.
    Zlib,
}

/// The state of decoding a deflate stream.
#[derive(Clone)]
pub(crate) struct Inflate {
    state: Box<DecompressorOxide>,
    /// The last decoded bytes, as a ring.
    window: Box<[u8]>,
    /// The part of them that has not been returned yet.
    pending: Range<usize>,
    flags: u32,
    has_ended: bool,
}

impl Inflate {
    /// Creates the state at the start of a stream.
    pub(crate) fn new(wrapping: Wrapping) -> Self {
        Self {
            state: Box::default(),
            window: vec![0; WINDOW].into(),
            pending: 0..0,
            flags: match wrapping {
                Wrapping::None => 0,
                Wrapping::Zlib => TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_COMPUTE_ADLER32,
            },
            has_ended: false,
        }
    }

    /// Decodes into the window until bytes are pending or the stream has ended.
    fn step(&mut self, packed: &mut Packed) -> Result<()> {
        while self.pending.is_empty() && !self.has_ended {
            let at = self.pending.end % WINDOW;
            packed.fill()?;
            let more = match packed.is_last() {
                true => 0,
                false => TINFL_FLAG_HAS_MORE_INPUT,
            };
            let input = packed.fill()?;
            let (status, consumed, written) = decompress(
                &mut self.state,
                input,
                &mut self.window,
                at,
                self.flags | more,
            );
            packed.consume(consumed);
            self.pending = at..at + written;
            match status {
                TINFLStatus::Done => self.has_ended = true,
                TINFLStatus::HasMoreOutput | TINFLStatus::NeedsMoreInput => {}
                TINFLStatus::FailedCannotMakeProgress => {
                    return Err(packed.problem("deflate stream has no end"));
                }
                TINFLStatus::Adler32Mismatch => {
                    return Err(packed.problem("Adler-32 of the deflate stream is wrong"));
                }
                _ => return Err(packed.problem("deflate stream is damaged")),
            }
        }
        Ok(())
    }
}

impl Codec for Inflate {
    const RUNS_ON: bool = false;

    fn decode(&mut self, packed: &mut Packed, out: &mut [u8]) -> Result<usize> {
        self.step(packed)?;
        let length = self.pending.len().min(out.len());
        let start = self.pending.start;
        out[..length].copy_from_slice(&self.window[start..start + length]);
        self.pending.start += length;
        Ok(length)
    }

    fn memory(&self) -> usize {
        size_of::<DecompressorOxide>() + WINDOW
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use proptest::prelude::*;

    fn zlib(bytes: &[u8], level: u32) -> Vec<u8> {
        let level = flate2::Compression::new(level);
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    proptest! {
        /// Level 0 has stored blocks only.
        #[test]
        fn the_start_of_a_stream_decodes_to_the_start_of_its_bytes(
            bytes in prop::collection::vec(0..8_u8, 1..3000),
            level in 0..10_u32,
            length in any::<prop::sample::Index>(),
        ) {
            let mut start = vec![0; length.index(bytes.len()) + 1];
            prop_assert!(inflate_start(&zlib(&bytes, level), &mut start));
            prop_assert_eq!(&start[..], &bytes[..start.len()]);
        }

        #[test]
        fn a_damaged_or_short_stream_does_not_panic(
            bytes in prop::collection::vec(0..8_u8, 1..3000),
            level in 0..10_u32,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut packed = zlib(&bytes, level);
            for (at, value) in damage {
                let at = at.index(packed.len());
                packed[at] = value;
            }
            packed.truncate(cut.index(packed.len()) + 1);
            inflate_start(&packed, &mut vec![0; bytes.len()]);
            prop_assert!(!inflate_start(&packed, &mut vec![0; 1 << 20]), "it has no such length");
        }
    }
}
