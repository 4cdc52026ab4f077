//! Decoding of a block from its start.

use std::io::BufReader;
use std::sync::Arc;

use flate2::read::DeflateDecoder;
use lzma_rust2::filter::bcj::BcjReader;
use lzma_rust2::filter::bcj2::Bcj2Reader;
use lzma_rust2::filter::delta::DeltaReader;

use super::block::{Block, Coder, Method, Processor};
use super::keys::Keys;
use crate::codec::{ByteStream as Stream, Restart, SolidDecoder};
use crate::io::{Error, ReadAt, Result, SourceReader};
use crate::volume::Decoder;

/// Number of packed bytes read at a time.
const PIECE: usize = 32 << 10;

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
        let packed = SourceReader::new(decrypted, 0, length);
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
        let start = end.min(offset.saturating_add(self.packed_start));
        let packed = SourceReader::new(self.source.clone(), start, end - start);
        Ok(Box::new(BufReader::with_capacity(PIECE, packed)))
    }
}

/// Opens a block at a restart.
pub(super) fn open(
    source: &Arc<dyn ReadAt>,
    block: &Arc<Block>,
    keys: &Keys,
    restart: Restart,
) -> Result<Box<dyn Decoder>> {
    let reader = reader(source, block, keys, restart)?;
    Ok(Box::new(SolidDecoder::new(reader, block, restart.decoded)))
}
