//! Packing chunks on all cores.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use hpimount_containers::hpi::write::{ChunkJob, ChunkPacker};

/// Chunks in progress for each thread.
const JOBS_PER_THREAD: usize = 4;

/// A piece to be packed, and the channel for its chunk.
type Job = (ChunkJob, Sender<Vec<u8>>);

/// A [`ChunkPacker`] with a thread for each core. The threads end when it is
/// dropped.
pub struct Threads {
    /// `None` only while the threads are ended.
    jobs: Option<Sender<Job>>,
    chunks: VecDeque<Receiver<Vec<u8>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Starts the threads.
    pub fn start() -> Self {
        let count = thread::available_parallelism().map_or(1, |count| count.get());
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let start = |_| {
            let queue = queue.clone();
            thread::spawn(move || work(&queue))
        };
        Self {
            jobs: Some(jobs),
            chunks: VecDeque::new(),
            threads: (0..count).map(start).collect(),
        }
    }
}

impl ChunkPacker for Threads {
    fn capacity(&self) -> usize {
        JOBS_PER_THREAD * self.threads.len()
    }

    fn begin(&mut self, job: ChunkJob) {
        let (reply, chunk) = channel();
        let jobs = self.jobs.as_ref().expect("the threads have not ended");
        jobs.send((job, reply)).expect("a packing thread runs");
        self.chunks.push_back(chunk);
    }

    fn finish(&mut self) -> Vec<u8> {
        let chunk = self.chunks.pop_front().expect("a chunk was begun");
        chunk.recv().expect("a packing thread panicked")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A panic was reported when the chunk was missing.
            let _ = thread.join();
        }
    }
}

/// Packs pieces from the queue until it is closed.
fn work(queue: &Mutex<Receiver<Job>>) {
    loop {
        // A separate statement, so that the lock is not held while packing.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((job, reply)) = job else { return };
        // The receiver is gone if writing has failed.
        let _ = reply.send(job.pack());
    }
}
