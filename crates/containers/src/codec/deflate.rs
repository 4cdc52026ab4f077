//! Deflate (RFC 1951), raw or in the zlib format (RFC 1950).
//!
//! Three crates are used:
//!
//! * libdeflater decodes a whole buffer into another ([`inflate`]): chunks of HPI
//!   archives, blocks of images, and files of zip archives that fit in memory. It
//!   is two to three times as fast as the others, but can neither stop nor
//!   continue.
//! * miniz_oxide decodes longer files piece by piece ([`Inflate`]). Its state
//!   between two deflate blocks is a few bytes beside the window, so checkpoints
//!   are small.
//! * flate2 is an ordinary reader and writer: for streams inside chains of other
//!   coders (7z), for long and for damaged chunks (HPI), and for packing.

use std::cell::Cell;
use std::ops::Range;

use libdeflater::{DecompressionError, Decompressor};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_COMPUTE_ADLER32, TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_PARSE_ZLIB_HEADER,
    TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY,
};
use miniz_oxide::inflate::core::{BlockBoundaryState, DecompressorOxide, decompress};

use super::{Codec, Packed, PackedFile};
use crate::io::{Result, read_vec};

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

thread_local! {
    /// The decoder of each thread. It is taken out while it is in use.
    static WHOLE: Cell<Option<Box<Decompressor>>> = const { Cell::new(None) };
}

/// Decodes a whole stream into `out`, and returns how much of that it fills.
///
/// # Errors
/// Returns a message if the stream is damaged or does not fit.
pub(crate) fn inflate(
    packed: &[u8],
    out: &mut [u8],
    wrapping: Wrapping,
) -> std::result::Result<usize, String> {
    let mut decoder = WHOLE
        .take()
        .unwrap_or_else(|| Box::new(Decompressor::new()));
    let decoded = match wrapping {
        Wrapping::None => decoder.deflate_decompress(packed, out),
        Wrapping::Zlib => decoder.zlib_decompress(packed, out),
    };
    WHOLE.set(Some(decoder));
    decoded.map_err(|error| match error {
        DecompressionError::BadData => match wrapping {
            Wrapping::None => "deflate stream is damaged".to_owned(),
            Wrapping::Zlib => "zlib stream is damaged".to_owned(),
        },
        DecompressionError::InsufficientSpace => {
            format!("decodes to more than {} bytes", out.len())
        }
    })
}

impl PackedFile {
    /// Decodes all of it at once, which takes memory for all packed and all
    /// decoded bytes. `None` if anything is wrong with it: then [`Inflate`] decodes
    /// the bytes before the damage, and returns the error.
    pub(crate) fn inflate_whole(&self, wrapping: Wrapping) -> Option<Vec<u8>> {
        let packed = read_vec(&*self.source, self.offset, self.stored, "packed data").ok()?;
        let mut out = vec![0; usize::try_from(self.size).ok()?];
        let length = inflate(&packed, &mut out, wrapping).ok()?;
        let is_right = |crc| crc32fast::hash(&out) == crc;
        (length == out.len() && self.crc.is_none_or(is_right)).then_some(out)
    }
}

/// The state of decoding a deflate stream.
///
/// A copy begins between two deflate blocks before the next byte, decodes from
/// there, and skips what the original has returned.
pub(crate) struct Inflate {
    /// `None` until something is decoded.
    state: Option<Box<DecompressorOxide>>,
    /// The last decoded bytes, as a ring.
    window: Box<[u8]>,
    /// The part of them that has not been returned yet.
    pending: Range<usize>,
    /// Number of bytes that were decoded, up to the end of `pending`.
    decoded: u64,
    /// Number of decoded bytes before the first one to return.
    skipped: u64,
    wrapping: Wrapping,
    /// True if the decoder has stopped after a deflate block.
    is_between_blocks: bool,
    has_ended: bool,
    /// The block boundary where a copy begins.
    boundary: Boundary,
}

/// The state between two deflate blocks.
#[derive(Clone)]
struct Boundary {
    /// `None` at the start of the stream.
    state: Option<BlockBoundaryState>,
    /// The ring at this point; empty at the start of the stream.
    window: Box<[u8]>,
    /// The position in the ring of the next byte.
    at: usize,
    /// Number of bytes that were decoded.
    decoded: u64,
    /// Absolute offset of the next packed byte; `None` at the start of the stream.
    packed: Option<u64>,
}

impl Inflate {
    /// Creates the state at the start of a stream.
    pub(crate) fn new(wrapping: Wrapping) -> Self {
        let start = Boundary {
            state: None,
            window: Box::default(),
            at: 0,
            decoded: 0,
            packed: None,
        };
        Self::at(start, 0, wrapping)
    }

    /// Creates the state at a boundary. The first `skipped` bytes of the whole
    /// stream are not returned.
    fn at(boundary: Boundary, skipped: u64, wrapping: Wrapping) -> Self {
        Self {
            state: None,
            window: Box::default(),
            pending: boundary.at..boundary.at,
            decoded: boundary.decoded,
            skipped,
            wrapping,
            is_between_blocks: false,
            has_ended: false,
            boundary,
        }
    }

    /// Sets up the decoder at the boundary.
    fn begin(&mut self, packed: &Packed) -> Box<DecompressorOxide> {
        let boundary = &mut self.boundary;
        boundary.packed.get_or_insert(packed.position());
        self.window = match boundary.window.is_empty() {
            true => vec![0; WINDOW].into(),
            false => boundary.window.clone(),
        };
        Box::new(match &boundary.state {
            Some(state) => DecompressorOxide::from_block_boundary_state(state),
            None => DecompressorOxide::default(),
        })
    }

    /// Moves the boundary here if copies then have less to decode again. All
    /// decoded bytes have been returned.
    fn move_boundary(&mut self, state: &DecompressorOxide, packed: &Packed) {
        let is_far = self.decoded - self.boundary.decoded >= WINDOW as u64;
        if !self.is_between_blocks || !is_far {
            return;
        }
        let mut window = std::mem::take(&mut self.boundary.window);
        match window.len() == self.window.len() {
            true => window.copy_from_slice(&self.window),
            false => window = self.window.clone(),
        }
        self.boundary = Boundary {
            state: state.block_boundary_state(),
            window,
            at: self.pending.end % WINDOW,
            decoded: self.decoded,
            packed: Some(packed.position()),
        };
    }

    /// Decodes into the window until bytes are pending or the stream has ended.
    fn step(&mut self, packed: &mut Packed) -> Result<()> {
        let mut state = match self.state.take() {
            Some(state) => state,
            None => self.begin(packed),
        };
        let wrapping = match self.wrapping {
            Wrapping::None => 0,
            Wrapping::Zlib => TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_COMPUTE_ADLER32,
        };
        while self.pending.is_empty() && !self.has_ended {
            self.move_boundary(&state, packed);
            let at = self.pending.end % WINDOW;
            packed.fill()?;
            let more = match packed.is_last() {
                true => 0,
                false => TINFL_FLAG_HAS_MORE_INPUT,
            };
            let input = packed.fill()?;
            let (status, consumed, written) = decompress(
                &mut state,
                input,
                &mut self.window,
                at,
                wrapping | more | TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY,
            );
            packed.consume(consumed);
            let skipped = self.skipped.saturating_sub(self.decoded);
            let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(written);
            self.pending = at + skipped..at + written;
            self.decoded += written as u64;
            self.is_between_blocks = status == TINFLStatus::BlockBoundary;
            match status {
                TINFLStatus::Done => self.has_ended = true,
                TINFLStatus::HasMoreOutput
                | TINFLStatus::NeedsMoreInput
                | TINFLStatus::BlockBoundary => {}
                TINFLStatus::FailedCannotMakeProgress => {
                    return Err(packed.problem("deflate stream has no end"));
                }
                TINFLStatus::Adler32Mismatch => {
                    return Err(packed.problem("Adler-32 of the deflate stream is wrong"));
                }
                _ => return Err(packed.problem("deflate stream is damaged")),
            }
        }
        self.state = Some(state);
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

    fn fork(&self, packed: &Packed) -> (Self, u64) {
        let returned = self.decoded - self.pending.len() as u64;
        let skipped = returned.max(self.skipped);
        let offset = self.boundary.packed.unwrap_or(packed.position());
        let copy = Self::at(self.boundary.clone(), skipped, self.wrapping);
        (copy, offset)
    }

    fn take_window(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.boundary.window)
    }

    fn set_window(&mut self, window: Box<[u8]>) {
        self.boundary.window = window;
    }

    fn memory(&self) -> usize {
        let state = match self.state {
            Some(_) => size_of::<DecompressorOxide>(),
            None => 0,
        };
        state + self.window.len() + self.boundary.window.len()
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
