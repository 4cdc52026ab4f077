//! Reading the files of a tree in order and packing their chunks on all cores.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::pack;
use super::tree::{Input, Source};
use super::{Error, Result};
use crate::volume::hpi::chunk::{CHUNK_SIZE, Method};
use crate::volume::hpi::file_sum::FileSum;

/// How the data of files is packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// [`Method::Stored`] means data without chunks.
    pub(super) method: Method,
    pub(super) scrambled: bool,
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
    Packing(Receiver<Vec<u8>>),
}

/// A piece of a file to be packed, and the channel for the chunk.
type Job = (Vec<u8>, Sender<Vec<u8>>);

/// Reads `inputs` in order and passes their packed data to `consume`, in order.
/// `progress` is called with the number of bytes that have been read.
///
/// Only a few chunks per core are in progress at a time.
pub(super) fn run(
    inputs: &[&Input],
    packing: Packing,
    progress: &mut dyn FnMut(u64),
    consume: &mut dyn FnMut(Step) -> Result<()>,
) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get());
    let (jobs, queue) = channel::<Job>();
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        if packing.method != Method::Stored {
            for _ in 0..threads {
                scope.spawn(|| work(&queue, packing));
            }
        }
        let mut feeder = Feeder {
            jobs,
            packing,
            pending: VecDeque::new(),
            limit: 4 * threads,
            progress,
            consume,
        };
        for input in inputs {
            feeder.file(input)?;
        }
        feeder.drain(0)
    })
}

/// Packs pieces from the queue until it is closed.
fn work(queue: &Mutex<Receiver<Job>>, packing: Packing) {
    loop {
        // A separate statement, so that the lock is not held while packing.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((plain, reply)) = job else { return };
        // The receiver is gone if writing has failed.
        let _ = reply.send(pack::chunk(&plain, packing.method, packing.scrambled));
    }
}

/// The reading side, which also passes on finished steps.
struct Feeder<'a> {
    jobs: Sender<Job>,
    packing: Packing,
    pending: VecDeque<Pending>,
    /// Maximum number of pending steps.
    limit: usize,
    progress: &'a mut dyn FnMut(u64),
    consume: &'a mut dyn FnMut(Step) -> Result<()>,
}

impl Feeder<'_> {
    /// Passes on the oldest steps until at most `most` are pending.
    fn drain(&mut self, most: usize) -> Result<()> {
        while self.pending.len() > most {
            let step = match self.pending.pop_front() {
                Some(Pending::Ready(step)) => step,
                Some(Pending::Packing(chunk)) => {
                    Step::Data(chunk.recv().expect("a packing thread panicked"))
                }
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
        let (reply, chunk) = channel();
        self.jobs
            .send((plain, reply))
            .expect("the queue is open as long as this is running");
        self.push(Pending::Packing(chunk))
    }
}

impl Source {
    /// Opens the file for reading, and returns its length as well.
    fn open(&self) -> Result<(Box<dyn Read + '_>, u64)> {
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
    fn error(&self, cause: io::Error) -> Error {
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
