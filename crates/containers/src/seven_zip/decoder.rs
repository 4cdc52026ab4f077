//! Decoding of a block from its start.

use std::io::{BufReader, Read};
use std::sync::Arc;

use crc32fast::Hasher;
use flate2::read::DeflateDecoder;
use lzma_rust2::filter::bcj::BcjReader;
use lzma_rust2::filter::bcj2::Bcj2Reader;
use lzma_rust2::filter::delta::DeltaReader;
use lzma_rust2::{Lzma2Reader, LzmaReader};

use super::block::{Block, Coder, Method, Processor};
use super::keys::Keys;
use super::restarts::Restart;
use crate::io::{Error, ReadAt, Result, read_error};
use crate::volume::Decoder;

/// Number of packed bytes read at a time.
const PIECE: usize = 32 << 10;

/// Memory of a decoder in bytes, in addition to the memory of its methods.
const BUFFERS: usize = 2 * PIECE;

/// The input or the output of a coder.
type Stream = Box<dyn Read + Send + Sync>;

/// A packed stream of a source.
struct Packed {
    source: Arc<dyn ReadAt>,
    next: u64,
    end: u64,
}

impl Read for Packed {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        let length = buf.len().min(left);
        let read = self.source.read_exact_at(&mut buf[..length], self.next);
        // Wrapped, so that `Error::of_reader` can return the error of the
        // source.
        read.map_err(|cause| std::io::Error::other(read_error(self.next, length as u64, cause)))?;
        self.next += length as u64;
        Ok(length)
    }
}

/// Returns a reader of the decoded bytes of a block, from a restart on.
///
/// # Errors
/// Returns an error if its coders do not form a chain, or if its packed data is
/// outside the source.
pub(super) fn reader(
    source: &Arc<dyn ReadAt>,
    block: &Block,
    keys: &Keys,
    restart: Restart,
) -> Result<Stream> {
    if let Some(problem) = block.problem() {
        return Err(problem.error());
    }
    let mut chain = Chain {
        source,
        block,
        packed_start: restart.packed,
        keys,
        used: vec![false; block.coders.len()],
    };
    match block.last_coder() {
        Some(last) => chain.coder(last),
        None => Err(chain.broken()),
    }
}

/// The coders of a block. Each can be used once.
struct Chain<'a> {
    source: &'a Arc<dyn ReadAt>,
    block: &'a Block,
    /// Offset in the packed stream of the first byte to decode; 0 if there are
    /// several streams.
    packed_start: u64,
    keys: &'a Keys,
    used: Vec<bool>,
}

impl Chain<'_> {
    fn broken(&self) -> Error {
        let problem = "its coders do not form a chain";
        Error::damaged(self.block.offset(), "block", problem)
    }

    /// Returns the output of a coder.
    fn coder(&mut self, number: usize) -> Result<Stream> {
        let block = self.block;
        let (Some(coder), Some(used)) = (block.coders.get(number), self.used.get_mut(number))
        else {
            return Err(self.broken());
        };
        if std::mem::replace(used, true) {
            return Err(self.broken());
        }
        let method = coder.method().map_err(|problem| problem.error())?;
        if method == Method::Aes {
            return self.decrypted(coder);
        }
        let inputs = coder.first_input..coder.first_input + coder.inputs;
        let mut inputs = inputs
            .map(|input| self.input(input))
            .collect::<Result<Vec<_>>>()?;
        if method == Method::Bcj2 {
            return Ok(Box::new(Bcj2Reader::new(inputs, coder.size)));
        }
        let Some(input) = inputs.pop() else {
            return Err(self.broken());
        };
        Ok(match method {
            Method::Copy | Method::Bcj2 | Method::Aes => input,
            Method::Lzma {
                properties,
                dictionary,
            } => {
                let reader =
                    LzmaReader::new_with_props(input, coder.size, properties, dictionary, None);
                Box::new(reader.map_err(|error| {
                    Error::damaged(block.offset(), "LZMA properties", error.to_string())
                })?)
            }
            Method::Lzma2 { dictionary } => Box::new(Lzma2Reader::new(input, dictionary, None)),
            Method::Reader(method) => {
                let input = BufReader::with_capacity(PIECE, input);
                let reader = method.reader(input, coder.size);
                reader
                    .map_err(|error| Error::damaged(block.offset(), "block", error.to_string()))?
            }
            Method::Deflate => Box::new(DeflateDecoder::new(input)),
            Method::Delta { distance } => Box::new(DeltaReader::new(input, distance)),
            Method::Branches(processor) => Box::new(match processor {
                Processor::X86 => BcjReader::new_x86(input, 0),
                Processor::PowerPc => BcjReader::new_ppc(input, 0),
                Processor::Ia64 => BcjReader::new_ia64(input, 0),
                Processor::Arm => BcjReader::new_arm(input, 0),
                Processor::ArmThumb => BcjReader::new_arm_thumb(input, 0),
                Processor::Sparc => BcjReader::new_sparc(input, 0),
                Processor::Arm64 => BcjReader::new_arm64(input, 0),
                Processor::RiscV => BcjReader::new_riscv(input, 0),
            }),
        })
    }

    /// Returns the output of a coder that decrypts a packed stream.
    fn decrypted(&self, coder: &Coder) -> Result<Stream> {
        let place = self.block.packed_at(coder.first_input);
        let (Some(place), Some(parameters)) = (place, coder.encryption()) else {
            return Err(self.broken());
        };
        let key = self.keys.of(&parameters)?;
        let (_, end) = self.packed(place)?;
        let decrypted: Arc<dyn ReadAt> = Arc::new(parameters.open(self.source, place, &key));
        let length = decrypted.len().min(end - place.0).min(coder.size);
        let packed = Packed {
            source: decrypted,
            next: 0,
            end: length,
        };
        Ok(Box::new(BufReader::with_capacity(PIECE, packed)))
    }

    /// Returns the offsets of the start and of the end of a packed stream.
    fn packed(&self, (offset, length): (u64, u64)) -> Result<(u64, u64)> {
        let end = offset.checked_add(length);
        let end = end.filter(|&end| end <= self.source.len());
        let end = end.ok_or_else(|| {
            let problem = format!("its {length} bytes extend past the end of the archive");
            Error::damaged(offset, "packed stream", problem)
        })?;
        Ok((offset, end))
    }

    /// Returns the input of a coder: a packed stream, or the output of another
    /// coder.
    fn input(&mut self, input: usize) -> Result<Stream> {
        if let Some(before) = self.block.coder_before(input) {
            return self.coder(before);
        }
        let place = self.block.packed_at(input).ok_or_else(|| self.broken())?;
        let (offset, end) = self.packed(place)?;
        let packed = Packed {
            source: self.source.clone(),
            next: end.min(offset.saturating_add(self.packed_start)),
            end,
        };
        Ok(Box::new(BufReader::with_capacity(PIECE, packed)))
    }
}

/// Opens a block at a restart.
pub(super) fn open(
    source: &Arc<dyn ReadAt>,
    block: &Arc<Block>,
    keys: &Keys,
    restart: Restart,
    force: bool,
) -> Result<Box<dyn Decoder>> {
    let file = block.first_file_from(restart.decoded);
    let start = block.file(file).map_or(block.size(), |(start, _)| start);
    Ok(Box::new(Solid {
        reader: reader(source, block, keys, restart)?,
        block: block.clone(),
        position: restart.decoded,
        unsummed: start.saturating_sub(restart.decoded),
        file,
        hasher: Hasher::new(),
        force,
    }))
}

/// A decoder of a block.
struct Solid {
    reader: Stream,
    block: Arc<Block>,
    /// Offset in the decoded block of the next byte.
    position: u64,
    /// Number of bytes before the first file whose checksum can be computed.
    unsummed: u64,
    /// The file at that position, or the first one after it whose checksum can be
    /// computed, and its checksum so far.
    file: usize,
    hasher: Hasher,
    force: bool,
}

impl Solid {
    /// Adds decoded bytes to the checksums of their files.
    fn sum(&mut self, bytes: &[u8]) {
        let unsummed = usize::try_from(self.unsummed).unwrap_or(usize::MAX);
        let (before, mut bytes) = bytes.split_at(unsummed.min(bytes.len()));
        self.unsummed -= before.len() as u64;
        self.position += before.len() as u64;
        while let Some(end) = self.block.file_end(self.file) {
            let left = usize::try_from(end - self.position).unwrap_or(usize::MAX);
            let (of_file, rest) = bytes.split_at(left.min(bytes.len()));
            self.hasher.update(of_file);
            self.position += of_file.len() as u64;
            if self.position < end {
                return;
            }
            let hasher = std::mem::take(&mut self.hasher);
            self.block
                .found_sum(self.file, hasher.finalize(), self.force);
            self.file += 1;
            bytes = rest;
        }
        self.position += bytes.len() as u64;
    }
}

impl Decoder for Solid {
    fn left(&self) -> u64 {
        self.block.size() - self.position
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        self.reader.read_exact(out).map_err(|error| {
            Error::of_reader(&error, |text| {
                let position = self.position;
                let hint = match self.block.is_encrypted() {
                    true => "; the password may be wrong",
                    false => "",
                };
                let problem = format!("after byte {position} of the block: {text}{hint}");
                Error::damaged(self.block.offset(), "packed stream", problem)
            })
        })?;
        self.sum(out);
        Ok(())
    }

    /// Not supported, because a copy would use as much memory again.
    fn fork(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + BUFFERS + self.block.decoder_memory()
    }
}
