//! Decompression of blocks with bounded output.
//!
//! The output always has the requested length; memory is used only for decoded
//! bytes, and a dictionary is never larger than the output.

use std::cell::Cell;
use std::io::{self, Read};

use bzip2::bufread::BzDecoder;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

use super::lzma;
use super::reader::lzma2_dictionary;

/// Largest window of Zstandard that is always accepted, in bytes: what every
/// decoder must support (RFC 8878, 3.1.1.1.2).
const ZSTD_WINDOW: usize = 8 << 20;

/// Largest decoder of Zstandard that is kept for the next block, in bytes: one
/// that decodes in place has 95 KiB, and a block of input beside that.
const MAX_DECODER: usize = 512 << 10;

/// Decoded data, or a message.
pub(crate) type Decoded<T> = Result<T, String>;

/// The compression of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Bzip2,
    /// Byte of properties (lc, lp, pb) and size of the dictionary.
    Lzma {
        properties: u8,
        dictionary: u32,
    },
    /// Size of the dictionary.
    Lzma2 {
        dictionary: u32,
    },
    Zstandard,
}

impl Codec {
    /// Returns LZMA with these 5 bytes of properties.
    pub(crate) fn lzma(properties: &[u8]) -> Option<Self> {
        let (&first, dictionary) = properties.split_first()?;
        Some(Self::Lzma {
            properties: first,
            dictionary: u32::from_le_bytes(*dictionary.first_chunk()?),
        })
    }

    /// Returns LZMA2 with this byte of properties.
    pub(crate) fn lzma2(properties: &[u8]) -> Option<Self> {
        let dictionary = lzma2_dictionary(*properties.first()?)?;
        Some(Self::Lzma2 { dictionary })
    }

    /// Decodes the first `wanted` bytes.
    ///
    /// # Errors
    /// Returns a message if the bytes are damaged or too few.
    pub(crate) fn decode(self, packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
        let window = |dictionary: u32| {
            let useful = u32::try_from(wanted).unwrap_or(u32::MAX);
            dictionary.min(useful)
        };
        let bytes = match self {
            Self::Bzip2 => read(Ok(BzDecoder::new(packed)), wanted)?,
            Self::Lzma {
                properties,
                dictionary,
            } => {
                let size = wanted as u64;
                let reader = lzma::lzma(packed, size, properties, window(dictionary));
                read(reader, wanted)?
            }
            Self::Lzma2 { dictionary } => read(lzma::lzma2(packed, window(dictionary)), wanted)?,
            Self::Zstandard => zstandard(packed, wanted)?,
        };
        if bytes.len() < wanted {
            let length = bytes.len();
            return Err(format!("decodes to {length} bytes, should be {wanted}"));
        }
        Ok(bytes)
    }
}

thread_local! {
    /// The decoder of each thread, without what belongs to a frame.
    static ZSTANDARD: Cell<Option<DCtx<'static>>> = const { Cell::new(None) };
}

/// Decodes up to `wanted` bytes of a frame.
fn zstandard(packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
    let decoder = ZSTANDARD.take().or_else(DCtx::try_create);
    let mut decoder = decoder.ok_or("there is no memory to decode it")?;
    let decoded = zstandard_with(&mut decoder, packed, wanted);
    // A window of its own is not kept.
    if decoder.sizeof() <= MAX_DECODER
        && decoder.reset(ResetDirective::SessionAndParameters).is_ok()
    {
        ZSTANDARD.set(Some(decoder));
    }
    decoded
}

/// Decodes up to `wanted` bytes of a frame.
///
/// A frame that declares a length of at most `wanted` is decoded in place; for
/// others the decoder allocates a window of at most the limit.
fn zstandard_with(decoder: &mut DCtx<'_>, packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
    let message = |code| get_error_name(code).to_owned();
    let window = ZSTD_WINDOW.max(wanted.next_power_of_two());
    decoder
        .set_parameter(DParameter::WindowLogMax(window.ilog2()))
        .map_err(message)?;
    // Memory is touched only as bytes are decoded.
    let mut bytes = Vec::with_capacity(wanted);
    let mut output = OutBuffer::around(&mut bytes);
    let mut input = InBuffer::around(packed);
    loop {
        let before = (input.pos(), output.pos());
        let left = decoder
            .decompress_stream(&mut output, &mut input)
            .map_err(message)?;
        if left == 0 || output.pos() >= wanted || before == (input.pos(), output.pos()) {
            break;
        }
    }
    bytes.truncate(wanted);
    Ok(bytes)
}

/// Reads up to `wanted` bytes.
fn read(reader: io::Result<impl Read>, wanted: usize) -> Decoded<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .and_then(|reader| reader.take(wanted as u64).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    bytes.shrink_to_fit();
    Ok(bytes)
}
