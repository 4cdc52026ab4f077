//! Methods of zip and 7z whose decoders are readers, which cannot be copied.

use std::io::{BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use crc32fast::Hasher;
use deflate64::Deflate64Decoder;
use ppmd_rust::{Ppmd7Decoder, Ppmd8Decoder, RestoreMethod};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use super::{PIECE, PackedFile, lzma};
use crate::io::{Error, Result, SourceReader};
use crate::volume::Decoder;

/// Memory of a decoder of bzip2 with the largest blocks, in bytes.
const BZIP2: usize = 4 << 20;

/// Window of Deflate64, in bytes, and what its decoder needs beside that.
const DEFLATE64: usize = (256 << 10) + (64 << 10);

/// Window of Zstandard that every decoder must support, in bytes (RFC 8878,
/// 3.1.1.1.2).
pub(crate) const ZSTANDARD_WINDOW: u32 = 8 << 20;

/// Memory of a decoder of xz beside its dictionary, in bytes.
const XZ: u32 = 1 << 20;

/// Largest dictionary that is supported, in bytes.
pub(crate) const MAX_DICTIONARY: u32 = 256 << 20;

/// The output of a decoder.
pub(crate) type Stream = Box<dyn Read + Send + Sync>;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Bzip2,
    Deflate64,
    Lzma {
        /// Byte of properties (lc, lp, pb).
        properties: u8,
        /// Size of the dictionary in bytes.
        dictionary: u32,
    },
    Lzma2 {
        /// Size of the dictionary in bytes.
        dictionary: u32,
    },
    /// PPMd, variant H.
    PpmdH {
        order: u32,
        /// Size of the model in bytes.
        memory: u32,
    },
    /// PPMd, variant I.
    PpmdI {
        order: u32,
        /// Size of the model in bytes.
        memory: u32,
        /// True if a full model is cut off instead of being discarded.
        cuts_off: bool,
    },
    Xz {
        /// Size of the largest dictionary in bytes.
        dictionary: u32,
    },
    Zstandard {
        /// Size of the largest window in bytes.
        window: u32,
    },
}

impl Method {
    /// Returns the memory of a decoder, in bytes.
    pub(crate) fn memory(self) -> usize {
        match self {
            Self::Bzip2 => BZIP2,
            Self::Deflate64 => DEFLATE64,
            Self::Lzma {
                properties,
                dictionary,
            } => {
                let literals = u32::from(properties % 9 + properties / 9 % 5);
                dictionary as usize + (0x600 << literals)
            }
            Self::Lzma2 { dictionary } => dictionary as usize + (0x600 << 4),
            Self::PpmdH { memory, .. } | Self::PpmdI { memory, .. } => memory as usize,
            Self::Xz { dictionary } => (dictionary + XZ) as usize,
            // The window, a block of input and one of output.
            Self::Zstandard { window } => window as usize + (512 << 10),
        }
    }

    /// Returns a reader of the `size` bytes that `packed` decodes to.
    ///
    /// # Errors
    /// Returns an error if the parameters are not valid.
    pub(crate) fn reader<R>(self, packed: R, size: u64) -> std::io::Result<Stream>
    where
        R: BufRead + Send + Sync + 'static,
    {
        let invalid = |error: &dyn std::fmt::Display| {
            std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string())
        };
        Ok(match self {
            Self::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Self::Deflate64 => Box::new(Deflate64Decoder::with_buffer(packed)),
            Self::Lzma {
                properties,
                dictionary,
            } => lzma::lzma(packed, size, properties, dictionary)?,
            Self::Lzma2 { dictionary } => Box::new(lzma::lzma2(packed, dictionary)?),
            Self::PpmdH { order, memory } => {
                Box::new(Ppmd7Decoder::new(packed, order, memory).map_err(|error| invalid(&error))?)
            }
            Self::PpmdI {
                order,
                memory,
                cuts_off,
            } => {
                let restore = match cuts_off {
                    true => RestoreMethod::CutOff,
                    false => RestoreMethod::Restart,
                };
                let decoder = Ppmd8Decoder::new(packed, order, memory, restore);
                Box::new(decoder.map_err(|error| invalid(&error))?)
            }
            Self::Xz { dictionary } => {
                let memory = dictionary.saturating_add(XZ);
                Box::new(lzma::xz(packed, memory.into())?)
            }
            Self::Zstandard { window } => Box::new(Zstandard::new(packed, window)?),
        })
    }
}

/// Returns the size of the dictionary that a byte of properties of LZMA2 gives, in
/// bytes; `None` if it is not valid.
pub(crate) fn lzma2_dictionary(byte: u8) -> Option<u32> {
    let byte = u32::from(byte);
    match byte {
        0..40 => Some((2 | byte & 1) << (byte / 2 + 11)),
        40 => Some(u32::MAX),
        _ => None,
    }
}

/// A reader of Zstandard frames.
struct Zstandard<R> {
    packed: R,
    decoder: DCtx<'static>,
}

impl<R: BufRead> Zstandard<R> {
    fn new(packed: R, window: u32) -> std::io::Result<Self> {
        let decoder = DCtx::try_create().ok_or(std::io::ErrorKind::OutOfMemory)?;
        let mut new = Self { packed, decoder };
        let limit = DParameter::WindowLogMax(window.next_power_of_two().ilog2());
        new.decoder.set_parameter(limit).map_err(zstandard_error)?;
        Ok(new)
    }
}

fn zstandard_error(code: usize) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, get_error_name(code))
}

impl<R: BufRead> Read for Zstandard<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            let packed = self.packed.fill_buf()?;
            let is_last = packed.is_empty();
            let mut input = InBuffer::around(packed);
            let mut output = OutBuffer::around(&mut *buf);
            let decoded = self.decoder.decompress_stream(&mut output, &mut input);
            let (taken, filled) = (input.pos(), output.pos());
            self.packed.consume(taken);
            decoded.map_err(zstandard_error)?;
            if filled > 0 || is_last {
                return Ok(filled);
            }
        }
    }
}

impl PackedFile {
    /// Returns a reader of what it decodes to by a method of readers.
    ///
    /// # Errors
    /// Returns an error if the parameters of the method are not valid.
    pub(crate) fn stream(&self, method: Method, skipped: u64) -> Result<Stream> {
        let stored = self.stored.saturating_sub(skipped);
        let start = self.offset.saturating_add(skipped);
        let packed = SourceReader::new(self.source.clone(), start, stored);
        let packed = BufReader::with_capacity(PIECE as usize, packed);
        let reader = method.reader(packed, self.size);
        reader.map_err(|error| Error::damaged(self.offset, "packed data", error.to_string()))
    }

    /// Returns a decoder for it by a method of readers.
    ///
    /// # Errors
    /// Returns an error if the parameters of the method are not valid.
    pub(crate) fn reader(self, method: Method, skipped: u64) -> Result<Box<dyn Decoder>> {
        Ok(Box::new(Reading {
            reader: self.stream(method, skipped)?,
            offset: self.offset,
            left: self.size,
            sum: self.crc.map(|crc| (Hasher::new(), crc)),
            force: self.force,
            memory: method.memory(),
        }))
    }
}

/// A file that is being decoded by a reader.
struct Reading {
    reader: Stream,
    /// Absolute offset of the packed data.
    offset: u64,
    /// Number of decoded bytes that remain.
    left: u64,
    /// The checksum so far, and its expected final value.
    sum: Option<(Hasher, u32)>,
    force: bool,
    memory: usize,
}

impl Reading {
    fn problem(&self, problem: impl Into<String>) -> Error {
        Error::damaged(self.offset, "packed data", problem)
    }

    /// Compares the checksum after the last byte. Without one, the method's own
    /// is compared when the decoder finds its end.
    fn finish(&mut self) -> Result<()> {
        if let Some((hasher, should_be)) = &self.sum {
            let sum = hasher.clone().finalize();
            return super::compare_sums(sum, *should_be, self.force, |problem| {
                self.problem(problem)
            });
        }
        let end = self.reader.read(&mut [0]);
        let end = end.map_err(|error| Error::of_reader(&error, |text| self.problem(text)));
        super::check_end(end, self.force, || self.problem(super::RUNS_ON))
    }
}

impl Decoder for Reading {
    fn left(&self) -> u64 {
        self.left
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        let read = self.reader.read_exact(out);
        read.map_err(|error| Error::of_reader(&error, |text| self.problem(text)))?;
        self.left -= out.len() as u64;
        if let Some((hasher, _)) = &mut self.sum {
            hasher.update(out);
        }
        match self.left {
            0 => self.finish(),
            _ => Ok(()),
        }
    }

    /// Not supported by the decoders.
    fn fork(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + 2 * PIECE as usize + self.memory
    }
}
