//! Reading the files of a tree in order and packing their chunks.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use super::pack;
use super::prepare::Input;
use crate::hpi::chunk::{CHUNK_SIZE, Method};
use crate::hpi::file_sum::FileSum;
use crate::write::{Error, Result, Source};

/// The packing of the data of files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// [`Method::Stored`] means data without chunks.
    pub(super) method: Method,
    pub(super) scrambled: bool,
}

/// A piece of a file that is to become a chunk.
#[derive(Debug)]
pub struct ChunkJob {
    plain: Vec<u8>,
    packing: Packing,
}

impl ChunkJob {
    /// Creates a job for at most 64 KiB of a file.
    pub(crate) fn new(plain: Vec<u8>, method: Method, scrambled: bool) -> Self {
        let packing = Packing { method, scrambled };
        Self { plain, packing }
    }

    /// Packs the piece, and returns the chunk with its header.
    pub fn pack(&self) -> Vec<u8> {
        pack::chunk(&self.plain, self.packing.method, self.packing.scrambled)
    }
}

/// Packs the chunks of an archive. An implementation may pack several at once;
/// the archive does not depend on that.
pub trait ChunkPacker {
    /// Returns how many chunks may be in progress at a time. Each takes up to
    /// 192 KiB of memory.
    fn capacity(&self) -> usize;

    /// Begins to pack a chunk.
    fn begin(&mut self, job: ChunkJob);

    /// Returns the chunk that was begun first of those that were not returned.
    /// There is at least one.
    fn finish(&mut self) -> Vec<u8>;
}

/// A [`ChunkPacker`] that packs on the calling thread.
#[derive(Debug, Default)]
pub struct Serial(VecDeque<Vec<u8>>);

impl ChunkPacker for Serial {
    fn capacity(&self) -> usize {
        1
    }

    fn begin(&mut self, job: ChunkJob) {
        self.0.push_back(job.pack());
    }

    fn finish(&mut self) -> Vec<u8> {
        self.0.pop_front().expect("a chunk was begun")
    }
}

/// A step of writing an archive, in order.
pub(super) enum Step {
    /// The data of the next file begins; it has this decoded size.
    Begin { size: u32 },
    /// The next 64 KiB of the file in archived form: a chunk with its header,
    /// or the bytes themselves.
    Data(Vec<u8>),
    /// The file is complete.
    End { checksum: u32 },
}

/// A step that may not be finished.
enum Pending {
    Ready(Step),
    Packing,
}

/// Reads `inputs` in order and passes their packed data to `consume`, in order.
/// `progress` is called with the number of bytes that have been read.
pub(super) fn run(
    inputs: &[&Input],
    packing: Packing,
    packer: &mut dyn ChunkPacker,
    progress: &mut dyn FnMut(u64),
    consume: &mut dyn FnMut(Step) -> Result<()>,
) -> Result<()> {
    let mut feeder = Feeder {
        packing,
        pending: VecDeque::new(),
        limit: packer.capacity(),
        packer,
        progress,
        consume,
    };
    for input in inputs {
        feeder.file(input)?;
    }
    feeder.drain(0)
}

/// The reading side, which also passes on finished steps.
struct Feeder<'a> {
    packing: Packing,
    pending: VecDeque<Pending>,
    /// Maximum number of pending steps.
    limit: usize,
    packer: &'a mut dyn ChunkPacker,
    progress: &'a mut dyn FnMut(u64),
    consume: &'a mut dyn FnMut(Step) -> Result<()>,
}

impl Feeder<'_> {
    /// Passes on the oldest steps until at most `most` are pending.
    fn drain(&mut self, most: usize) -> Result<()> {
        while self.pending.len() > most {
            let step = match self.pending.pop_front() {
                Some(Pending::Ready(step)) => step,
                Some(Pending::Packing) => Step::Data(self.packer.finish()),
                None => break,
            };
            (self.consume)(step)?;
        }
        Ok(())
    }

    fn push(&mut self, step: Pending) -> Result<()> {
        self.pending.push_back(step);
        self.drain(self.limit)
    }

    /// Reads a file and queues its chunks.
    fn file(&mut self, input: &Input) -> Result<()> {
        let source = &input.file.source;
        let (mut bytes, length) = source.open()?;
        let size = u32::try_from(length).map_err(|_| Error::FileTooLarge {
            path: input.path.clone(),
            size: length,
        })?;
        self.push(Pending::Ready(Step::Begin { size }))?;
        let mut sum = FileSum::default();
        let mut left = size as usize;
        while left > 0 {
            let mut plain = vec![0; left.min(CHUNK_SIZE)];
            bytes
                .read_exact(&mut plain)
                .map_err(|cause| source.error(cause))?;
            sum.update(&plain);
            left -= plain.len();
            (self.progress)(plain.len() as u64);
            self.piece(plain)?;
        }
        if bytes.read(&mut [0]).map_err(|cause| source.error(cause))? > 0 {
            return Err(source.error(ErrorKind::UnexpectedEof.into()));
        }
        let checksum = sum.value();
        self.push(Pending::Ready(Step::End { checksum }))
    }

    /// Queues a piece of a file.
    fn piece(&mut self, plain: Vec<u8>) -> Result<()> {
        if self.packing.method == Method::Stored {
            return self.push(Pending::Ready(Step::Data(plain)));
        }
        let packing = self.packing;
        self.packer.begin(ChunkJob { plain, packing });
        self.push(Pending::Packing)
    }
}

impl Source {
    /// Opens the file for reading, and returns its length as well.
    pub(crate) fn open(&self) -> Result<(Box<dyn Read + '_>, u64)> {
        match self {
            Self::Bytes(bytes) => Ok((Box::new(bytes.as_slice()), bytes.len() as u64)),
            Self::Path(path) => {
                let open = || {
                    let file = std::fs::File::open(path)?;
                    let length = file.metadata()?.len();
                    Ok((Box::new(file) as Box<dyn Read>, length))
                };
                open().map_err(|cause| self.error(cause))
            }
        }
    }

    /// Returns the error for a failed read.
    pub(crate) fn error(&self, cause: io::Error) -> Error {
        let file = match self {
            Self::Bytes(_) => PathBuf::new(),
            Self::Path(path) => path.clone(),
        };
        match cause.kind() {
            ErrorKind::UnexpectedEof => Error::Changed { file },
            _ => Error::Source { file, cause },
        }
    }
}
