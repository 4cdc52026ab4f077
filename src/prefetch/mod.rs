//! Filling the kernel's page cache ahead of readers.
//!
//! Reading a small file through FUSE costs a request and its answer, which is
//! more than decoding the file. Most programs read whole trees in a predictable
//! order. So the prefetch follows these readers, and stores the files that come
//! next in the kernel's page cache; the reader finds them there, and the kernel
//! sends no request. Step by step:
//!
//! 1. **A directory is listed.** When the kernel has read the last entry,
//!    `fuse.rs` calls [`Prefetch::note_listed`]. The kernel knows the inodes of
//!    this directory from now on, and accepts pages for them.
//! 2. **A read arrives.** Before it is answered, `fuse.rs` calls
//!    [`Prefetch::note`]. The state finds the reader that the read belongs to: a
//!    `Run`, which is the list of files that this reader is expected to
//!    read next. If no run expects the file, a new run begins there. The kernel
//!    does not name the process, so two readers differ only by their files.
//! 3. **The run learns how the program reads.** The second file in the order of
//!    the listing makes the run active. If the second file is in front of the
//!    first one, the program reads each directory from its end, as `rg` does, and
//!    the run turns around (`walk` knows both orders). If the program goes on to
//!    the next file after the first few kilobytes, as file managers and `file`
//!    do, only the heads of files are pushed from then on (`head`).
//! 4. **The read is answered** by the thread that received it, which asks
//!    [`content`](crate::content) for the bytes. [`Access`] tells it how the
//!    program reads, so that it does not cache blocks that are read only once. A
//!    single small read is decoded only as far as it goes, if another core is
//!    there for the rest of the block.
//! 5. **The thread of the prefetch wakes up.** Small reads come first: the rest of
//!    their block is pushed ([`Noted::answered`]), since programs that read a part
//!    of a block often read more of it. Stored files have no blocks: there, the
//!    128 KiB around a small read are pushed at the second read in them. Then the
//!    thread takes the next bytes of the run that was seen last, decodes them, and
//!    pushes them. It stops after a window of 2 MiB, so that a program that ends
//!    early costs no more than that.
//! 6. **The reader comes to the pushed files.** The kernel sends no requests for
//!    them, so the run would lose sight of the reader. Therefore about one page in
//!    each MiB is left out. When the kernel requests this page, the run knows the
//!    reader's position, and the window moves on.
//! 7. **The run comes to the end of a directory.** The next directory is usually
//!    not listed yet, so the kernel would refuse its pages. The files there are
//!    decoded into the cache of this process, up to 1 MiB. When the directory has
//!    been listed (step 1), they are pushed from there. Blocks that were decoded
//!    but not read leave the cache after 4 MiB.
//! 8. **A large file is read.** The kernel's own read-ahead requests it in pieces
//!    of 128 KiB. While one piece is answered, the next blocks are decoded, but
//!    not pushed.
//!
//! For sources on servers, the prefetch also announces the next files
//! (`announce`), so that several of them are fetched at a time. Files of converted trees
//! are made ahead (`conversions`).

mod conversions;
#[cfg(test)]
mod conversions_tests;
mod head;
mod run;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lru::LruCache;

use self::conversions::{Conversions, Taken};
use self::head::Head;
use self::run::{Push, Run};
use crate::content::{Access, File, Key};
use crate::memory::latest::Latest;
use crate::mount::{Ino, Node, Vfs};
use crate::namespace::tree::InodeKind;
use crate::sync::awaited::Awaited;

/// Maximum number of directories in front of the first file of a directory for
/// it to be treated as the first one.
const MAX_DIRECTORIES: usize = 256;

/// Maximum number of readers in the list.
const MAX_RUNS: usize = 16;

/// Reads below this length have the rest of their block pushed. The kernel's
/// read-ahead requests more.
const SMALL: u32 = 16 << 10;

/// Maximum length in bytes of a block whose rest is pushed. Images have longer
/// blocks.
const MAX_BLOCK: u64 = 256 << 10;

/// Length in bytes of the parts of stored files that are pushed. The kernel's
/// read-ahead requests as much at a time.
const STORED_PART: u64 = 128 << 10;

/// Maximum number of parts in the list of those with a small read.
const MAX_PARTS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Maximum number of blocks that wait to be pushed.
const MAX_BLOCKS: usize = 64;

/// Small reads are answered early, before their block is decoded to the end, only while
/// at most this many blocks are queued. Pushing the block decodes it a second time, on
/// a core that is idle otherwise.
const MAX_BEHIND: usize = 4;

/// Maximum number of directories in the list of those that the kernel has
/// listed.
const MAX_LISTED: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Maximum number of files that are announced to a source on a server.
const MAX_ANNOUNCED: usize = 16;

/// Bytes of a file that are announced to a source on a server.
const ANNOUNCED: u64 = 512 << 10;

/// Maximum number of bytes that are decoded ahead of readers but not read yet.
const MAX_UNREAD: u64 = 4 << 20;

/// Minimum memory budget for decoding files that cannot be pushed yet.
const MIN_CACHE: usize = 4 << 20;

/// Threads that push: with a second one, cold greps on two cores took longer.
const THREADS: usize = 1;

/// Maximum number of threads that convert files ahead of readers.
const MAX_CONVERTERS: usize = 8;

/// Watches reads, and pushes what will be read next.
pub struct Prefetch {
    state: Arc<Awaited<State>>,
    conversions: Arc<Awaited<Conversions>>,
    /// Number of reads that are being answered.
    answering: AtomicUsize,
    /// Number of cores for decoding and converting while a read is answered: on a single
    /// core that would only delay the next read.
    other_cores: usize,
}

impl Default for Prefetch {
    fn default() -> Self {
        let cores = thread::available_parallelism();
        Self {
            state: Arc::default(),
            conversions: Arc::default(),
            answering: AtomicUsize::new(0),
            other_cores: cores.map_or(0, |cores| cores.get() - 1),
        }
    }
}

struct State {
    /// Blocks after small reads in them.
    blocks: VecDeque<Push>,
    /// Parts of stored files that had a small read lately.
    parts: LruCache<(Ino, u64), ()>,
    /// True if something is being pushed.
    is_pushing: bool,
    /// Readers that read files in order.
    runs: Latest<Run>,
    /// Blocks that were decoded ahead of readers, the oldest one first.
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
            parts: LruCache::new(MAX_PARTS),
            is_pushing: false,
            runs: Latest::new(MAX_RUNS),
            decoded: VecDeque::new(),
            decoded_bytes: 0,
            listed: LruCache::new(MAX_LISTED),
        }
    }
}

/// A read that is being answered.
pub struct Noted<'a> {
    prefetch: &'a Prefetch,
    node: &'a Node<'a>,
    offset: u64,
    size: u32,
    /// Access pattern of the reader.
    pub access: Access,
    /// True if there is something to prefetch when the read is answered.
    has_more: bool,
}

/// Something to push.
enum Job {
    /// A block after a small read in it.
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
            let finish = move |job| finish(job, &state, &vfs, &store);
            let state = self.state.clone();
            thread::Builder::new()
                .name(format!("prefetch-{number}"))
                .spawn(move || work(&state, State::take, finish))?;
        }
        for number in 0..self.converters(vfs) {
            let (state, vfs, store) = (self.conversions.clone(), vfs.clone(), store.clone());
            let work_on = move |job| conversions::work_on(job, &state, &vfs, &store);
            let state = self.conversions.clone();
            thread::Builder::new()
                .name(format!("convert-{number}"))
                .spawn(move || work(&state, Conversions::take, work_on))?;
        }
        Ok(())
    }

    /// Returns the number of threads that convert files ahead of readers.
    fn converters(&self, vfs: &Vfs) -> usize {
        match vfs.reader().budget().limit() {
            0..conversions::MIN_BUDGET => 0,
            _ => self.other_cores.min(MAX_CONVERTERS),
        }
    }

    /// Notes a request of the attributes of a file. A converted file is made for its size,
    /// before it is read, and its reader has the next ones made meanwhile.
    pub fn note_taken(&self, vfs: &Vfs, ino: Ino) {
        if self.converters(vfs) > 0
            && let Ok(node) = vfs.node(ino)
        {
            self.note_conversion(vfs, &node, false);
        }
    }

    /// Notes a request of the first bytes of a file: the converted files after it are also
    /// pushed.
    pub fn note_opened(&self, vfs: &Vfs, node: &Node<'_>) {
        self.note_conversion(vfs, node, true);
    }

    fn note_conversion(&self, vfs: &Vfs, node: &Node<'_>, is_read: bool) {
        let threads = self.converters(vfs);
        if threads == 0 || node.rendered().is_none() {
            return;
        }
        let taken = Taken {
            node,
            parts: vfs.directory_of_asset(node),
            is_read,
        };
        let known_size = |node: &Node<'_>| vfs.assets().known_size(node);
        self.conversions
            .change(|state| state.note(&taken, threads, known_size));
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
    pub fn note<'a>(&'a self, node: &'a Node<'a>, offset: u64, size: u32) -> Noted<'a> {
        let is_alone = self.answering.fetch_add(1, Ordering::Relaxed) == 0;
        let mut noted = Noted {
            prefetch: self,
            node,
            offset,
            size,
            access: Access::Unknown,
            has_more: false,
        };
        // Generated files are pushed by `conversions`.
        if node.file().is_none() {
            return noted;
        }
        self.state.change(|state| {
            (noted.access, noted.has_more) = state.note_read(node, offset, size);
            let is_lone = is_alone && self.other_cores > 0 && size < SMALL;
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
    pub fn answered(self) {
        let reads_part = self.size < SMALL && self.access != Access::Head;
        if !self.has_more && !reads_part {
            return;
        }
        self.prefetch.state.change(|state| {
            self.has_more | (reads_part && state.note_block(self.node, self.offset, self.size))
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
        self.conversions.close();
    }
}

impl State {
    /// Notes a read by the reader that it belongs to. Returns how that reads the
    /// file, and whether there is something to prefetch for it.
    fn note_read(&mut self, node: &Node<'_>, offset: u64, size: u32) -> (Access, bool) {
        let mut run = self.take_run(node, offset).unwrap_or_else(|| {
            let run = self.new_run(node, offset);
            if offset == 0 {
                for run in self.runs.iter_mut() {
                    run.end_before(node.ino());
                }
            }
            run
        });
        let access = run.note_read(node, offset, size.into(), |file| {
            self.runs.iter().any(|run| run.first_file() == file)
        });
        let has_more = run.is_active() || run.reads_on();
        self.runs.put(run);
        (access, has_more)
    }

    /// Takes the run that a read belongs to out of the list.
    fn take_run(&mut self, node: &Node<'_>, offset: u64) -> Option<Run> {
        let ino = node.ino();
        if let Some(run) = self.runs.take(|run| run.expects(ino, offset)) {
            return Some(run);
        }
        let mut run = self.runs.take(|run| offset == 0 && run.turns_to(node))?;
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

    /// Returns an earlier run that this first read of a new process seems to continue.
    /// The process reads the files that the run was expected to read, like the next one
    /// of `xargs`, or begins another directory.
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
        self.runs.iter().filter(|run| run.is_active())
    }

    /// Has the block of a small read pushed. Returns whether there is something
    /// to push.
    fn note_block(&mut self, node: &Node<'_>, offset: u64, size: u32) -> bool {
        let (Some(block), Some(file_size)) = (self.block_at(node, offset), node.size()) else {
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

    /// Returns the block that a small read is in. A part of a stored file is one at
    /// the second small read in it.
    fn block_at(&mut self, node: &Node<'_>, offset: u64) -> Option<Range<u64>> {
        let block = node.file()?.unit_at(offset);
        block.or_else(|| {
            let start = offset - offset % STORED_PART;
            let is_second = self.parts.put((node.ino(), start), ()).is_some();
            is_second.then_some(start..start + STORED_PART)
        })
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
        let mut runs = self.runs.iter_mut();
        let push = runs.find_map(|run| run.take(is_listed));
        push.map(Job::Ahead)
    }

    fn note_decoded(&mut self, key: Key, push: Push) {
        self.decoded.push_back((key, push));
        self.decoded_bytes += push.cost();
    }

    /// Returns the file and the offset of the oldest block that was decoded
    /// ahead, if [`MAX_UNREAD`] bytes were decoded after it: its reader has
    /// read it, or never will.
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

/// Does the jobs that `take` finds until the state is closed. After a panic, the thread
/// skips the current job and continues, as the threads that answer requests do.
fn work<S, J>(state: &Awaited<S>, take: impl Fn(&mut S) -> Option<J>, finish: impl Fn(J)) {
    while let Some(job) = state.wait_for(&take) {
        if catch_unwind(AssertUnwindSafe(|| finish(job))).is_err() {
            log::error!("prefetch: internal error; the files in question are not prefetched");
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
    if matches!(job, Job::Ahead(_)) && push.start == 0 && vfs.has_servers() {
        announce(vfs, &node);
    }
    if push.is_decoded_only {
        return decode(push, file, state, vfs);
    }
    // Bytes that the reader requests itself meanwhile are left to it.
    let is_wanted = || matches!(job, Job::Block(_)) || state.with(|state| state.is_ahead(push.ino));
    let range = push.start..push.start + push.length;
    // Errors are left to the reader.
    let Ok(bytes) = vfs.reader().read(file, range, push.access) else {
        return;
    };
    // No lock is held while the kernel stores them: it may wait until a request
    // for the same page is answered, by a thread that needs the lock.
    if is_wanted() {
        store(push.ino, push.start, &bytes);
    }
}

/// Decodes a block that cannot be pushed yet, and drops blocks that were
/// decoded long before it.
fn decode(push: Push, file: File<'_>, state: &Awaited<State>, vfs: &Vfs) {
    // Without room in the cache, it would be decoded twice.
    if vfs.reader().budget().limit() < MIN_CACHE || vfs.reader().load(file, push.start).is_err() {
        return;
    }
    state.with(|state| state.note_decoded(file.key(), push));
    while let Some((key, start)) = state.with(State::take_unread) {
        vfs.reader().forget(key, start);
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
            vfs.reader().will_need(file, size.min(ANNOUNCED));
        }
    }
}
