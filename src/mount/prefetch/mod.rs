//! Filling the kernel's page cache ahead of readers.
//!
//! Programs that read files in order are recognized by their reads, and the
//! files that they will read next are decoded by a separate thread and pushed
//! into the kernel's page cache: reading them then takes no request at all. The
//! order is that of `find` and `grep -r`, or the reverse of it ([`walk`]), across
//! directories. What the kernel does not know yet, because nobody has listed it,
//! is only decoded.
//!
//! The kernel does not report how far the reader has come in pushed files. So
//! only a window is pushed, and something is omitted from time to time: when it
//! is read, the window moves on. A reader that stops costs one window. [`run`]
//! has the details.
//!
//! If a small part of a packed block is read, the rest of it is pushed as well:
//! it is decoded already, or soon will be, and the kernel keeps it more cheaply.

mod head;
mod run;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lru::LruCache;

use self::head::Head;
use self::run::{Push, Run};
use super::subtree::Node;
use super::{Ino, Vfs};
use crate::content::{Access, File, Key};
use crate::namespace::tree::InodeKind;
use crate::sync::awaited::Awaited;

/// Maximum number of directories in front of the first file of a directory for
/// it to be treated as the first one.
const MAX_DIRECTORIES: usize = 256;

/// Maximum number of readers that are remembered.
const MAX_RUNS: usize = 16;

/// Maximum length of the read of which the rest of the block is pushed. The
/// kernel's read-ahead requests more.
const SMALL: u32 = 16 << 10;

/// Maximum length of a block of which the rest is pushed, in bytes. Images have
/// longer ones.
const MAX_BLOCK: u64 = 256 << 10;

/// Maximum number of blocks that wait to be pushed.
const MAX_BLOCKS: usize = 64;

/// Maximum number of blocks that are waiting or being pushed for which a small
/// read is answered before its block is decoded to the end: the block is decoded
/// once more for that, by a core that is idle otherwise.
const MAX_BEHIND: usize = 4;

/// Maximum number of directories of which is remembered that they were listed.
const MAX_LISTED: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Maximum number of files that are announced to a source on a server.
const MAX_ANNOUNCED: usize = 16;

/// Bytes of a file that are announced to a source on a server.
const ANNOUNCED: u64 = 512 << 10;

/// Maximum number of bytes that are decoded ahead of readers but not read yet.
const MAX_UNREAD: u64 = 4 << 20;

/// Minimum memory budget for which files that cannot be pushed yet are decoded.
const MIN_CACHE: usize = 4 << 20;

/// Threads that push: with a second one, cold greps on two cores took longer.
const THREADS: usize = 1;

/// Watches reads, and pushes what will be read next.
pub struct Prefetch {
    state: Arc<Awaited<State>>,
    /// Number of reads that are being answered.
    answering: AtomicUsize,
    /// Whether blocks can be decoded while a read is answered: on a single core
    /// that would only delay the next read.
    has_other_core: bool,
}

impl Default for Prefetch {
    fn default() -> Self {
        let cores = thread::available_parallelism();
        Self {
            state: Arc::default(),
            answering: AtomicUsize::new(0),
            has_other_core: cores.is_ok_and(|cores| cores.get() > 1),
        }
    }
}

struct State {
    /// Blocks of which a part was read.
    blocks: VecDeque<Push>,
    /// Whether something is being pushed.
    is_pushing: bool,
    /// Readers that read files in order, the latest one last.
    runs: Vec<Run>,
    /// What was decoded ahead of readers lately.
    decoded: VecDeque<(Key, Push)>,
    /// The sum of their costs, in bytes.
    decoded_bytes: u64,
    /// Directories that were listed lately: the kernel knows their files.
    listed: LruCache<Ino, ()>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            blocks: VecDeque::new(),
            is_pushing: false,
            runs: Vec::new(),
            decoded: VecDeque::new(),
            decoded_bytes: 0,
            listed: LruCache::new(MAX_LISTED),
        }
    }
}

/// A read that is being answered.
pub struct Noted<'a> {
    prefetch: &'a Prefetch,
    /// How the reader reads the file.
    pub access: Access,
    /// Whether there is something to prefetch when the read is answered.
    has_more: bool,
}

/// Something to push.
enum Job {
    /// A block of which a part was read.
    Block(Push),
    /// Bytes that a reader is expected to read.
    Ahead(Push),
}

impl Prefetch {
    /// Starts to push, by means of `store`, which is given an inode, an offset
    /// and the bytes there. Ends when `self` is dropped.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn start<S>(&self, vfs: &Arc<Vfs>, store: S) -> std::io::Result<()>
    where
        S: Fn(Ino, u64, &[u8]) + Clone + Send + 'static,
    {
        for number in 0..THREADS {
            let (state, vfs, store) = (self.state.clone(), vfs.clone(), store.clone());
            thread::Builder::new()
                .name(format!("prefetch-{number}"))
                .spawn(move || work(&state, &vfs, &store))?;
        }
        Ok(())
    }

    /// Notes that a directory was listed to its end, with the attributes of its
    /// entries: the kernel knows them now.
    pub fn note_listed(&self, directory: Ino) {
        self.state.change(|state| {
            state.listed.put(directory, ());
            let noted = state.runs.iter_mut().map(|run| run.note_listed(directory));
            noted.fold(false, |any, is_ahead| any | is_ahead)
        });
    }

    /// Notes a read before it is answered, so that something else is prefetched
    /// meanwhile.
    pub fn note(&self, vfs: &Vfs, ino: Ino, offset: u64, size: u32) -> Noted<'_> {
        let is_alone = self.answering.fetch_add(1, Ordering::Relaxed) == 0;
        let mut noted = Noted {
            prefetch: self,
            access: Access::Unknown,
            has_more: false,
        };
        // Generated files are not pushed.
        let Some(node) = vfs.node(ino).ok().filter(|node| node.file().is_some()) else {
            return noted;
        };
        self.state.change(|state| {
            (noted.access, noted.has_more) = state.note_read(&node, offset, size);
            let is_lone = is_alone && self.has_other_core && size < SMALL;
            if noted.access == Access::Unknown && is_lone && state.keeps_up() {
                noted.access = Access::Part;
            }
            // The blocks after these are decoded while this thread decodes
            // these.
            state.runs.last().is_some_and(Run::reads_on)
        });
        noted
    }
}

impl Noted<'_> {
    /// Wakes a thread if there is something to prefetch, now that the read is
    /// answered, and has the rest of the block of a small read pushed.
    pub fn answered(self, vfs: &Vfs, ino: Ino, offset: u64, size: u32) {
        let needs_block = size < SMALL && self.access != Access::Head;
        let node = needs_block.then(|| vfs.node(ino).ok()).flatten();
        if !self.has_more && node.is_none() {
            return;
        }
        self.prefetch.state.change(|state| {
            self.has_more | node.is_some_and(|node| state.note_block(&node, offset, size))
        });
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.prefetch.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.state.close();
    }
}

impl State {
    /// Notes a read by the reader that it belongs to. Returns how that reads the
    /// file, and whether there is something to prefetch for it.
    fn note_read(&mut self, node: &Node<'_>, offset: u64, size: u32) -> (Access, bool) {
        let mut run = self.take_run(node, offset).unwrap_or_else(|| {
            if self.runs.len() == MAX_RUNS {
                self.runs.remove(0);
            }
            let run = self.new_run(node, offset);
            if offset == 0 {
                for run in &mut self.runs {
                    run.end_before(node.ino());
                }
            }
            run
        });
        let access = run.note_read(node, offset, size.into(), |file| {
            self.runs.iter().any(|run| run.first_file() == file)
        });
        let has_more = run.is_active() || run.reads_on();
        self.runs.push(run);
        (access, has_more)
    }

    /// Takes the run that a read belongs to out of the list.
    fn take_run(&mut self, node: &Node<'_>, offset: u64) -> Option<Run> {
        let ino = node.ino();
        if let Some(number) = self.runs.iter().rposition(|run| run.expects(ino, offset)) {
            return Some(self.runs.remove(number));
        }
        let mut runs = self.runs.iter();
        let number = runs.rposition(|run| offset == 0 && run.turns_to(node))?;
        let mut run = self.runs.remove(number);
        run.turn(node);
        Some(run)
    }

    /// Returns the run of a reader that begins with this read.
    fn new_run(&self, node: &Node<'_>, offset: u64) -> Run {
        let before = self.run_before(node, offset);
        let mut others = before.into_iter().chain(self.active_runs());
        let head = others.find_map(Run::inherited_head);
        Run::new(node, head.unwrap_or(Head::UNKNOWN), before.is_some())
    }

    /// Returns the run that a reader continues which begins with this read: it
    /// reads the files that the run was expected to read, as the next process of
    /// `xargs` does, or begins another directory.
    fn run_before(&self, node: &Node<'_>, offset: u64) -> Option<&Run> {
        if offset > 0 {
            return None;
        }
        let expects = |run: &&Run| run.is_ahead(node.ino());
        let last = || self.runs.last().filter(|run| run.is_active());
        let begins_directory = || last().filter(|_| is_first_file(node));
        self.active_runs().find(expects).or_else(begins_directory)
    }

    /// Returns the runs of readers that have read files in order, the latest one
    /// first.
    fn active_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().rev().filter(|run| run.is_active())
    }

    /// Has the block of a small read pushed. Returns whether there is something
    /// to push.
    fn note_block(&mut self, node: &Node<'_>, offset: u64, size: u32) -> bool {
        let block = node.file().and_then(|file| file.unit_at(offset));
        let (Some(block), Some(file_size)) = (block, node.size()) else {
            return false;
        };
        let end = block.end.min(file_size);
        let read_end = offset + u64::from(size);
        let is_rest_read = read_end >= file_size || offset <= block.start && read_end >= end;
        if is_rest_read || end - block.start > MAX_BLOCK || self.blocks.len() == MAX_BLOCKS {
            return false;
        }
        self.blocks.push_back(Push {
            ino: node.ino(),
            start: block.start,
            length: end - block.start,
            access: Access::Sequential,
            is_decoded_only: false,
        });
        true
    }

    /// Returns whether few enough blocks wait to be pushed that one more is soon.
    fn keeps_up(&self) -> bool {
        self.blocks.len() + usize::from(self.is_pushing) <= MAX_BEHIND
    }

    fn take(&mut self) -> Option<Job> {
        let job = self.next_job();
        self.is_pushing = job.is_some();
        job
    }

    fn next_job(&mut self) -> Option<Job> {
        if let Some(block) = self.blocks.pop_front() {
            return Some(Job::Block(block));
        }
        let is_listed = |directory| self.listed.contains(&directory);
        let mut runs = self.runs.iter_mut().rev();
        let push = runs.find_map(|run| run.take(is_listed));
        push.map(Job::Ahead)
    }

    fn note_decoded(&mut self, key: Key, push: Push) {
        self.decoded.push_back((key, push));
        self.decoded_bytes += push.cost();
    }

    /// Returns the file and the offset of something that was decoded so long ago
    /// that its reader has read it or will not.
    fn take_unread(&mut self) -> Option<(Key, u64)> {
        if self.decoded_bytes <= MAX_UNREAD {
            return None;
        }
        let (key, oldest) = self.decoded.pop_front()?;
        self.decoded_bytes -= oldest.cost();
        Some((key, oldest.start))
    }

    /// Returns whether a reader has yet to come to a file.
    fn is_ahead(&self, ino: Ino) -> bool {
        self.runs.iter().any(|run| run.is_ahead(ino))
    }
}

/// Returns whether no file comes before this one in its directory.
fn is_first_file(node: &Node<'_>) -> bool {
    let tree = node.tree();
    let Some((directory, number)) = tree.position(node.index) else {
        return false;
    };
    let is_directory = |index| matches!(node.other(index).kind(), Some(InodeKind::Dir { .. }));
    let mut before = tree.entries(directory, 0).take(number);
    number <= MAX_DIRECTORIES && before.all(|(_, index)| is_directory(index))
}

/// Pushes until there is nothing more to wait for. A panic costs what it
/// happened in, as in the threads that answer.
fn work(state: &Awaited<State>, vfs: &Vfs, store: &dyn Fn(Ino, u64, &[u8])) {
    while let Some(job) = state.wait_for(State::take) {
        let guarded = AssertUnwindSafe(|| finish(job, state, vfs, store));
        if catch_unwind(guarded).is_err() {
            log::error!("prefetch: internal error, something is skipped");
        }
    }
}

fn finish(job: Job, state: &Awaited<State>, vfs: &Vfs, store: &dyn Fn(Ino, u64, &[u8])) {
    let (Job::Block(push) | Job::Ahead(push)) = job;
    let Ok(node) = vfs.node(push.ino) else {
        return;
    };
    let Some(file) = node.file() else {
        return;
    };
    if matches!(job, Job::Ahead(_)) && push.start == 0 && vfs.remote.get().is_some() {
        announce(vfs, &node);
    }
    if push.is_decoded_only {
        return decode(push, file, state, vfs);
    }
    // What the reader requests itself meanwhile is left to it.
    let is_wanted = || matches!(job, Job::Block(_)) || state.with(|state| state.is_ahead(push.ino));
    let range = push.start..push.start + push.length;
    // Errors are left to the reader.
    let Ok(bytes) = vfs.reader.read(file, range, push.access) else {
        return;
    };
    // No lock is held while the kernel stores them: it may wait until a request
    // for the same page is answered, by a thread that needs the lock.
    if is_wanted() {
        store(push.ino, push.start, &bytes);
    }
}

/// Decodes something that cannot be pushed yet, and drops what was decoded long
/// before it.
fn decode(push: Push, file: File<'_>, state: &Awaited<State>, vfs: &Vfs) {
    // Without room in the cache, it would be decoded twice.
    if vfs.reader.budget().limit() < MIN_CACHE || vfs.reader.load(file, push.start).is_err() {
        return;
    }
    state.with(|state| state.note_decoded(file.key(), push));
    while let Some((key, start)) = state.with(State::take_unread) {
        vfs.reader.forget(key, start);
    }
    // A thread that answers may have been woken on this core although the
    // reader's is about to be idle. It would wait until several blocks are
    // decoded.
    thread::yield_now();
}

/// Announces to the sources of a file and of those after it in its directory
/// what will be read of them, so that servers are not asked for one after the
/// other.
fn announce(vfs: &Vfs, node: &Node<'_>) {
    let Some((directory, number)) = node.tree().position(node.index) else {
        return;
    };
    let entries = node.tree().entries(directory, number);
    for (_, index) in entries.take(MAX_ANNOUNCED) {
        let node = node.other(index);
        if let (Some(file), Some(size)) = (node.file(), node.size()) {
            vfs.reader.will_need(file, size.min(ANNOUNCED));
        }
    }
}
