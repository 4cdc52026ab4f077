//! Filling the kernel's page cache ahead of readers.
//!
//! Programs that read files in order are recognised by their reads, and the
//! files that they will read next are decoded by a separate thread and pushed
//! into the kernel's page cache: reading them then takes no request at all. The
//! order is that of `find` and `grep -r` ([`walk`]), across directories. What
//! the kernel does not know yet, because the reader has not listed it, is only
//! decoded.
//!
//! The kernel does not report how far the reader has come in pushed files. So
//! only a window is pushed, and something is omitted from time to time: when it
//! is read, the window moves on. A reader that stops costs one window. [`run`]
//! has the details.
//!
//! If a small part of a packed block is read, the rest of it is pushed as well:
//! it is decoded already, and the kernel keeps it more cheaply.

mod run;
mod walk;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use self::run::{Push, Run};
use super::subtree::Node;
use super::{Ino, Vfs};
use crate::content::{BLOCK_SIZE, File};
use crate::io::awaited::Awaited;
use crate::namespace::tree::Kind;
use crate::volume::Content;

/// Maximum number of directories in front of the first file of a directory for
/// it to be treated as the first one.
const MAX_DIRECTORIES: usize = 256;

/// Maximum number of readers that are remembered.
const MAX_RUNS: usize = 16;

/// Maximum length of the read of which the rest of the block is pushed. The
/// kernel's read-ahead requests more.
const SMALL: u32 = 16 << 10;

/// Maximum number of blocks that wait to be pushed.
const MAX_BLOCKS: usize = 64;

/// Maximum number of files that are announced to a source on a server.
const MAX_ANNOUNCED: usize = 16;

/// Bytes of a file that are announced to a source on a server.
const ANNOUNCED: u64 = 512 << 10;

/// Minimum memory budget for which files that cannot be pushed yet are decoded.
const MIN_CACHE: usize = 4 << 20;

/// Threads that push: with a second one, cold greps on two cores took longer.
const THREADS: usize = 1;

/// Watches reads, and pushes what will be read next.
#[derive(Default)]
pub struct Prefetch(Arc<Awaited<State>>);

#[derive(Default)]
struct State {
    /// Blocks of which a part was read.
    blocks: VecDeque<Push>,
    /// Readers that read files in order, the latest one last.
    runs: Vec<Run>,
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
            let (state, vfs, store) = (self.0.clone(), vfs.clone(), store.clone());
            thread::Builder::new()
                .name(format!("prefetch-{number}"))
                .spawn(move || work(&state, &vfs, &store))?;
        }
        Ok(())
    }

    /// Notes a read before it is answered, so that something else is prefetched
    /// meanwhile. Returns whether there is something to prefetch.
    pub fn note(&self, vfs: &Vfs, ino: Ino, offset: u64, size: u32) -> bool {
        // Generated files are not pushed.
        let Some(node) = vfs.node(ino).ok().filter(|node| node.file().is_some()) else {
            return false;
        };
        let mut has_more = false;
        self.0.change(|state| {
            has_more = state.note_read(&node, offset, size);
            // The blocks after these are decoded while this thread decodes
            // these.
            state.runs.last().is_some_and(Run::reads_on)
        });
        has_more
    }

    /// Wakes a thread if there is something to prefetch, now that the read is
    /// answered, and has the rest of the block of a small read pushed.
    pub fn note_answered(&self, vfs: &Vfs, ino: Ino, offset: u64, size: u32, has_more: bool) {
        let node = (size < SMALL).then(|| vfs.node(ino).ok()).flatten();
        if !has_more && node.is_none() {
            return;
        }
        self.0.change(|state| {
            has_more | node.is_some_and(|node| state.note_block(&node, offset, size))
        });
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl State {
    /// Notes a read by the reader that it belongs to. Returns whether there is
    /// something to push.
    fn note_read(&mut self, node: &Node<'_>, offset: u64, size: u32) -> bool {
        let ino = node.ino();
        let known = self.runs.iter().rposition(|run| run.expects(ino, offset));
        let mut run = match known {
            Some(number) => self.runs.remove(number),
            None => {
                if self.runs.len() == MAX_RUNS {
                    self.runs.remove(0);
                }
                // A reader that has read files in order and begins another
                // directory walks a whole tree.
                let walks = self.runs.last().is_some_and(Run::is_active);
                Run::new(node, walks && is_first_file(node))
            }
        };
        run.note_read(node, offset, size.into(), |file| {
            self.runs.iter().any(|run| run.first_file() == file)
        });
        let has_more = run.is_active() || run.reads_on();
        self.runs.push(run);
        has_more
    }

    /// Has the block of a small read pushed. Returns whether there is something
    /// to push.
    fn note_block(&mut self, node: &Node<'_>, offset: u64, size: u32) -> bool {
        let Some(file_size) = node.size().filter(|_| node.file().is_some_and(is_packed)) else {
            return false;
        };
        if offset + u64::from(size) >= file_size || self.blocks.len() == MAX_BLOCKS {
            return false;
        }
        let start = offset - offset % u64::from(BLOCK_SIZE);
        self.blocks.push_back(Push {
            ino: node.ino(),
            start,
            length: u64::from(BLOCK_SIZE).min(file_size - start),
            is_decoded_only: false,
        });
        true
    }

    fn take(&mut self) -> Option<Job> {
        if let Some(block) = self.blocks.pop_front() {
            return Some(Job::Block(block));
        }
        let mut runs = self.runs.iter_mut().rev();
        runs.find_map(Run::take).map(Job::Ahead)
    }

    /// Returns whether a reader has yet to come to these bytes.
    fn is_ahead(&self, push: Push) -> bool {
        self.runs.iter().any(|run| run.is_ahead(push))
    }
}

/// Returns whether no file comes before this one in its directory.
fn is_first_file(node: &Node<'_>) -> bool {
    let tree = node.tree();
    let Some((directory, number)) = tree.position(node.index) else {
        return false;
    };
    let is_directory = |index| matches!(node.other(index).kind(), Some(Kind::Dir { .. }));
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
    let (Some(file), Some(size)) = (node.file(), node.size()) else {
        return;
    };
    if matches!(job, Job::Ahead(_)) && push.start == 0 && vfs.remote.get().is_some() {
        announce(vfs, &node);
    }
    // Errors are left to the reader.
    if push.is_decoded_only {
        // Without room in the cache, it would be decoded twice.
        if vfs.reader.budget().limit() >= MIN_CACHE {
            let _ = vfs.reader.load(file, push.start);
        }
        return;
    }
    let range = push.start..push.start + push.length;
    let Ok(bytes) = vfs.reader.read_to_push(file, range, size) else {
        return;
    };
    // No lock is held while the kernel stores them: it may wait until a request
    // for the same page is answered, by a thread that needs the lock.
    if matches!(job, Job::Block(_)) || state.with(|state| state.is_ahead(push)) {
        store(push.ino, push.start, &bytes);
    }
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

fn is_packed(file: File<'_>) -> bool {
    let content = file.volume.volume.content(file.file);
    matches!(content, Ok(Content::Chunks(_) | Content::Stream(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::Sources;
    use crate::pack::hpi::v1;
    use crate::pack::hpi::{Directory, File, Node, Source};
    use crate::volume::hpi::chunk::Method;
    use std::cell::RefCell;

    const CACHE_SIZE: usize = 64 << 20;

    /// Returns a directory of files with these sizes.
    fn directory(sizes: &[usize]) -> Directory {
        let file = |(number, &size): (usize, &usize)| {
            let file = File {
                source: Source::Bytes(vec![7; size]),
                modified: 0,
            };
            (format!("{number:05}"), Node::File(file))
        };
        let entries = sizes.iter().enumerate().map(file).collect();
        Directory { entries }
    }

    /// Packs a directory and mounts it with this memory budget.
    fn mount(root: Directory, cache_size: usize) -> Arc<Vfs> {
        let options = v1::Options {
            method: Method::Lz77,
            key: 0,
        };
        let mut archive = tempfile::NamedTempFile::new().unwrap();
        v1::write(&root, options, &mut archive, &mut |_| {}).unwrap();
        let sources = Sources::Given {
            locations: vec![archive.path().to_owned().into()],
            order: None,
            separate: false,
        };
        let options = crate::mount::Options {
            cache_size,
            ..Default::default()
        };
        Vfs::open(&sources, options).unwrap()
    }

    fn files_in(vfs: &Vfs, directory: Ino) -> Vec<Ino> {
        let mut files = Vec::new();
        let mut add = |_: &str, ino, _, _| {
            files.push(ino);
            false
        };
        vfs.readdir(directory, 0, &mut add).unwrap();
        files
    }

    /// Returns a mount of files with these sizes, and their inodes.
    fn mounted(sizes: &[usize]) -> (Arc<Vfs>, Vec<Ino>) {
        let vfs = mount(directory(sizes), CACHE_SIZE);
        let files = files_in(&vfs, Ino::ROOT);
        (vfs, files)
    }

    /// Returns a mount of two directories of four files, and these files.
    fn two_directories(cache_size: usize) -> (Arc<Vfs>, [Vec<Ino>; 2]) {
        let names = ["a", "b"];
        let entries = names.map(|name| (name.to_owned(), Node::Directory(directory(&[1000; 4]))));
        let root = Directory {
            entries: entries.into(),
        };
        let vfs = mount(root, cache_size);
        let directories = names.map(|name| vfs.lookup(Ino::ROOT, name).unwrap().ino);
        let files = directories.map(|directory| files_in(&vfs, directory));
        (vfs, files)
    }

    /// Returns what is pushed when all work is done: inodes, offsets and
    /// lengths.
    fn pushed(prefetch: &Prefetch, vfs: &Vfs) -> Vec<(Ino, u64, usize)> {
        let all = RefCell::new(Vec::new());
        let store = |ino, offset, bytes: &[u8]| all.borrow_mut().push((ino, offset, bytes.len()));
        while let Some(job) = prefetch.0.with(State::take) {
            finish(job, &prefetch.0, vfs, &store);
        }
        all.into_inner()
    }

    /// Notes a read and its answer.
    fn read(prefetch: &Prefetch, vfs: &Vfs, ino: Ino, offset: u64, size: u32) {
        let has_more = prefetch.note(vfs, ino, offset, size);
        prefetch.note_answered(vfs, ino, offset, size, has_more);
    }

    #[test]
    fn files_read_in_order_have_the_next_ones_pushed() {
        let (vfs, files) = mounted(&[1000; 6]);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, files[0], 0, 4096);
        assert_eq!(pushed(&prefetch, &vfs), []);
        read(&prefetch, &vfs, files[1], 0, 4096);
        let next = files[2..].iter().map(|&file| (file, 0, 1000));
        assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(next));
    }

    #[test]
    fn files_read_in_no_order_have_nothing_pushed() {
        let (vfs, files) = mounted(&[1000; 50]);
        let prefetch = Prefetch::default();
        for number in [7, 20, 3, 40, 12, 30, 0, 49] {
            read(&prefetch, &vfs, files[number], 0, 4096);
        }
        assert_eq!(pushed(&prefetch, &vfs), []);
    }

    #[test]
    fn random_reads_of_neighbouring_files_have_only_their_blocks_pushed() {
        let (vfs, files) = mounted(&[200_000; 6]);
        let prefetch = Prefetch::default();
        for (number, &file) in files.iter().enumerate() {
            read(&prefetch, &vfs, file, 70_000, 4096);
            assert_eq!(
                pushed(&prefetch, &vfs),
                [(file, 65_536, 65_536)],
                "{number}"
            );
        }
    }

    #[test]
    fn a_reader_that_stops_costs_one_window_and_one_that_reads_on_moves_it() {
        let (vfs, files) = mounted(&[100_000; 100]);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, files[0], 0, 131_072);
        read(&prefetch, &vfs, files[1], 0, 131_072);
        let first = pushed(&prefetch, &vfs);
        let bytes: usize = first.iter().map(|(_, _, length)| length).sum();
        let limit = (2 << 20) + BLOCK_SIZE as usize;
        assert!((1 << 20..=limit).contains(&bytes), "{bytes}");

        // The reader requests what was omitted: the last page of a file.
        let last = first.iter().map(|(ino, ..)| *ino).max().unwrap();
        let is_marked = |&&(ino, start, length): &&(Ino, u64, usize)| {
            ino != last && start == 65_536 && length < 100_000 - 65_536
        };
        let (marked, start, length) = *first.iter().find(is_marked).unwrap();
        read(&prefetch, &vfs, marked, start + length as u64, 4096);
        let second = pushed(&prefetch, &vfs);
        let ahead = second.iter().filter(|(ino, ..)| *ino != marked);
        assert!(ahead.clone().all(|(ino, ..)| *ino >= last), "nothing twice");
        assert!(ahead.count() > 0);
    }

    #[test]
    fn a_reader_of_beginnings_has_only_beginnings_pushed() {
        let (vfs, files) = mounted(&[200_000; 200]);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, files[0], 0, 16_384);
        pushed(&prefetch, &vfs);
        read(&prefetch, &vfs, files[1], 0, 16_384);
        let all = pushed(&prefetch, &vfs);
        let next: Vec<_> = all.iter().filter(|(ino, ..)| *ino != files[1]).collect();
        assert!(next.len() > 10);
        assert!(
            next.iter()
                .all(|&&(_, start, length)| (start, length) == (0, 16_384))
        );

        // Only their chunk tables are in the cache.
        let cached = vfs.reader.cache_json()["bytes"].as_u64().unwrap();
        assert!(cached < 65_536, "{cached}");

        // Once more of a file is read, so are the next ones.
        read(&prefetch, &vfs, files[1], 16_384, 131_072);
        let all = pushed(&prefetch, &vfs);
        assert!(all.iter().any(|(_, start, _)| *start > 16_384));
    }

    #[test]
    fn files_of_the_next_directory_are_pushed_when_the_reader_is_there() {
        let (vfs, [a, b]) = two_directories(CACHE_SIZE);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, a[0], 0, 4096);
        read(&prefetch, &vfs, a[1], 0, 4096);
        let here = a[2..].iter().map(|&file| (file, 0, 1000));
        assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(here));
        assert_eq!(vfs.reader.stats.to_json()["bytes_decoded"], 6000);

        read(&prefetch, &vfs, b[0], 0, 4096);
        let there = b[1..].iter().map(|&file| (file, 0, 1000));
        assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(there));
        assert_eq!(
            vfs.reader.stats.to_json()["bytes_decoded"],
            6000,
            "nothing twice"
        );
    }

    #[test]
    fn files_of_the_next_directory_are_not_decoded_without_a_cache() {
        let (vfs, [a, _]) = two_directories(0);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, a[0], 0, 4096);
        read(&prefetch, &vfs, a[1], 0, 4096);
        assert_eq!(pushed(&prefetch, &vfs).len(), 2);
        assert_eq!(vfs.reader.stats.to_json()["bytes_decoded"], 2000);
    }

    #[test]
    fn a_run_ends_where_another_one_began() {
        let (vfs, files) = mounted(&[1000; 12]);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, files[8], 0, 4096);
        read(&prefetch, &vfs, files[0], 0, 4096);
        read(&prefetch, &vfs, files[1], 0, 4096);
        let next = files[2..8].iter().map(|&file| (file, 0, 1000));
        assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(next));
    }

    #[test]
    fn reads_of_generated_files_wake_no_thread() {
        let source = tempfile::tempdir().unwrap();
        std::fs::write(source.path().join("a.tdf"), "[UNIT]{Name=a;}").unwrap();
        let sources = Sources::Given {
            locations: vec![source.path().to_owned().into()],
            order: None,
            separate: false,
        };
        let vfs = Vfs::open(&sources, crate::mount::Options::default()).unwrap();
        let directory = vfs.lookup(Ino::ROOT, "a.tdf.meta").unwrap().ino;
        let prefetch = Prefetch::default();
        for name in ["info.json", "info.txt"] {
            let file = vfs.lookup(directory, name).unwrap().ino;
            read(&prefetch, &vfs, file, 0, 4096);
        }
        assert!(prefetch.0.with(State::take).is_none());
    }

    #[test]
    fn a_file_read_sequentially_has_its_next_blocks_decoded_and_kept_until_read() {
        const READ: u64 = 131_072;
        const SIZE: u64 = 1_000_000;
        let (vfs, files) = mounted(&[SIZE as usize]);
        let prefetch = Prefetch::default();
        let decoded = || vfs.reader.stats.to_json()["bytes_decoded"].as_u64();
        for offset in (0..SIZE).step_by(READ as usize) {
            let has_more = prefetch.note(&vfs, files[0], offset, READ as u32);
            vfs.read(files[0], offset, READ as u32).unwrap();
            prefetch.note_answered(&vfs, files[0], offset, READ as u32, has_more);
            assert_eq!(pushed(&prefetch, &vfs), []);
            assert_eq!(
                decoded(),
                Some(SIZE.min(offset + 3 * READ)),
                "nothing twice"
            );
        }
        assert_eq!(vfs.reader.cache_json()["misses"], SIZE.div_ceil(65_536));
        let table = vfs.reader.cache_json()["bytes"].as_u64().unwrap();
        assert!(table < 1000, "the kernel has the blocks: {table}");
    }

    #[test]
    fn a_file_read_at_random_has_no_blocks_decoded() {
        let (vfs, files) = mounted(&[1_000_000]);
        let prefetch = Prefetch::default();
        for offset in [262_144, 0, 524_288, 131_072] {
            read(&prefetch, &vfs, files[0], offset, 65_536);
            prefetch
                .0
                .with(|state| assert!(state.take().is_none(), "{offset}"));
        }
    }

    #[test]
    fn a_small_read_has_its_block_pushed() {
        let (vfs, files) = mounted(&[200_000]);
        let prefetch = Prefetch::default();
        read(&prefetch, &vfs, files[0], 70_000, 4096);
        assert_eq!(pushed(&prefetch, &vfs), [(files[0], 65_536, 65_536)]);
        read(&prefetch, &vfs, files[0], 131_072, 131_072);
        assert_eq!(pushed(&prefetch, &vfs), []);
    }
}
