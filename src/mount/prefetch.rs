//! Filling the kernel's page cache ahead of readers.
//!
//! Sequential reads of the files of a directory are prefetched: the next ones
//! are decoded by a thread of their own and pushed into the kernel's page
//! cache, so that reading them takes no request at all. The kernel then no
//! longer says how far the reader has come. So only a window of files is
//! pushed, and one in its middle is omitted: when that is read, the window
//! moves on. A reader that stops costs one window.
//!
//! Where little of a packed block is read, the rest of it is pushed as well:
//! it is decoded already, and the kernel keeps it more cheaply.
//!
//! The numbers here are round ones: with a window of half or four times the
//! size, a quarter of a file's head, or a second thread, the cold greps of
//! `scripts/bench` changed by less than 2 % on two cores.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use super::subtree::Node;
use super::{FileKind, Ino, Vfs};
use crate::content::BLOCK_SIZE;
use crate::io::awaited::Awaited;
use crate::namespace::tree::Kind;
use crate::volume::Content;

/// Bytes of files that are pushed before the reader is seen again.
const WINDOW: u64 = 2 << 20;

/// Bytes of one file that are pushed; with more the kernel's own read-ahead
/// does as well.
const HEAD: u64 = 512 << 10;

/// Bytes that an entry counts for at least.
const ENTRY_COST: u64 = 1 << 10;

/// Files read in order from which on more are expected.
const ROW: u32 = 2;

/// Entries that a reader may omit in succession: directories, mostly.
const GAP: usize = 2;

/// Maximum number of directories in front of the first file of a directory for
/// it to be treated as the first one.
const MAX_DIRECTORIES: usize = 256;

/// Directories in which readers are remembered.
const MAX_RUNS: usize = 8;

/// Maximum length of the read of which the rest of the block is pushed. The
/// kernel's read-ahead requests more.
const SMALL: u32 = 16 << 10;

/// Maximum number of blocks that wait to be pushed.
const MAX_BLOCKS: usize = 64;

/// Files that are declared to a source on a server.
const MAX_ANNOUNCED: usize = 16;

/// Threads that push.
const THREADS: usize = 1;

/// Watches reads, and pushes what will be read next.
#[derive(Default)]
pub struct Prefetch(Arc<Awaited<State>>);

#[derive(Default)]
struct State {
    /// Blocks to push: their file and where they begin.
    blocks: VecDeque<(Ino, u64)>,
    /// Directories that are being read, the latest one last.
    runs: Vec<Run>,
}

/// A reader who goes through the files of a directory.
struct Run {
    directory: Ino,
    /// Number in the directory of the file that was read last.
    last: usize,
    /// Files that were read sequentially.
    row: u32,
    /// Number of the next entry to push.
    next: usize,
    /// Bytes that may still be pushed.
    budget: u64,
    /// Whether a file was omitted since the reader was last seen.
    marked: bool,
}

/// Something to push.
enum Job {
    Block(Ino, u64),
    /// The next file of a directory, or none if that was the last.
    Entry(Ino, usize),
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

    /// Takes note of a read, of `size` bytes as the kernel requested them.
    pub fn note(&self, vfs: &Vfs, ino: Ino, offset: u64, size: u32) {
        let Ok(node) = vfs.node(ino) else {
            return;
        };
        // What is made of assets is not pushed, nor is a thread woken for it.
        if node.file().is_none() {
            return;
        }
        let Some((parent, entry_number)) = node.tree().position(node.index) else {
            return;
        };
        let directory = node.other(parent);
        self.0.change(|state| {
            state.note_file(&directory, entry_number) | state.note_block(&node, offset, size)
        });
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl State {
    /// Notes that a file is being read; tells whether there is more to push.
    fn note_file(&mut self, directory: &Node<'_>, entry_number: usize) -> bool {
        let ino = directory.ino();
        let known = self.runs.iter().position(|run| run.directory == ino);
        let mut run = match known {
            Some(known) => self.runs.remove(known),
            None => Run {
                directory: ino,
                last: entry_number,
                // Who has read the files of one directory in succession, and
                // begins another one, goes through a whole tree.
                row: match self.runs.last() {
                    Some(run) if run.row >= ROW && is_first_file(directory, entry_number) => {
                        ROW - 1
                    }
                    _ => 0,
                },
                next: entry_number,
                budget: 0,
                marked: false,
            },
        };
        if known.is_none() && self.runs.len() == MAX_RUNS {
            self.runs.remove(0);
        }
        run.read(entry_number, known.is_none());
        let wakes = run.budget > 0;
        self.runs.push(run);
        wakes
    }

    /// Has the block of a small read pushed.
    fn note_block(&mut self, node: &Node<'_>, offset: u64, size: u32) -> bool {
        let file_size = node.tree().inode(node.index).and_then(|inode| inode.size());
        let ends_inside = file_size.is_some_and(|end| offset + u64::from(size) < end);
        if size >= SMALL || !ends_inside || self.blocks.len() == MAX_BLOCKS {
            return false;
        }
        let start = offset - offset % u64::from(BLOCK_SIZE);
        self.blocks.push_back((node.ino(), start));
        true
    }

    fn take(&mut self) -> Option<Job> {
        if let Some((ino, start)) = self.blocks.pop_front() {
            return Some(Job::Block(ino, start));
        }
        let run = self.runs.iter_mut().rev().find(|run| run.budget > 0)?;
        // The reader is at the file after its last one by now.
        let entry_number = run.next.max(run.last + 2);
        run.next = entry_number + 1;
        Some(Job::Entry(run.directory, entry_number))
    }

    /// Takes `bytes` from what may be pushed of a directory; false if that file
    /// is to be omitted.
    fn spend(&mut self, directory: Ino, bytes: Option<u64>) -> bool {
        let Some(run) = self.runs.iter_mut().find(|run| run.directory == directory) else {
            return false;
        };
        let Some(bytes) = bytes else {
            // That was the last entry.
            run.budget = 0;
            return false;
        };
        run.budget = run.budget.saturating_sub(bytes.max(ENTRY_COST));
        if bytes > 0 && !run.marked && run.budget <= WINDOW / 2 {
            run.marked = true;
            return false;
        }
        true
    }
}

impl Run {
    /// The reader is at the file with number `entry_number`.
    fn read(&mut self, entry_number: usize, first: bool) {
        let expected = if self.row >= ROW {
            self.last..=self.next.max(self.last) + GAP
        } else {
            self.last..=self.last + GAP
        };
        if !expected.contains(&entry_number) {
            self.row = 0;
            self.budget = 0;
            self.next = entry_number;
        } else if entry_number > self.last || first {
            self.row += 1;
        }
        self.last = entry_number;
        if self.row >= ROW {
            self.budget = WINDOW;
            self.marked = false;
        }
    }
}

/// Returns whether no file comes before the entry with number `entry_number`.
fn is_first_file(directory: &Node<'_>, entry_number: usize) -> bool {
    let mut before = directory
        .tree()
        .entries(directory.index, 0)
        .take(entry_number);
    entry_number <= MAX_DIRECTORIES
        && before.all(|(_, index)| {
            let kind = directory.other(index).kind();
            kind.is_some_and(|kind| kind.file_kind() == FileKind::Directory)
        })
}

/// Pushes until there is nothing more to wait for. A panic costs what it
/// happened in, as in the threads that answer.
fn work(state: &Awaited<State>, vfs: &Vfs, store: &dyn Fn(Ino, u64, &[u8])) {
    while let Some(job) = state.wait_for(State::take) {
        let guarded = AssertUnwindSafe(|| finish(job, state, vfs, store));
        if catch_unwind(guarded).is_err() {
            log::error!("prefetch: internal error, something is left out");
        }
    }
}

fn finish(job: Job, state: &Awaited<State>, vfs: &Vfs, store: &dyn Fn(Ino, u64, &[u8])) {
    match job {
        Job::Block(ino, start) => {
            if let Ok(node) = vfs.node(ino)
                && is_packed(&node)
            {
                push(vfs, &node, start, store);
            }
        }
        Job::Entry(directory, entry_number) => {
            push_entry(state, vfs, directory, entry_number, store)
        }
    }
}

fn push_entry(
    state: &Awaited<State>,
    vfs: &Vfs,
    directory: Ino,
    entry_number: usize,
    store: &dyn Fn(Ino, u64, &[u8]),
) {
    let Ok(directory) = vfs.node(directory) else {
        return;
    };
    let entry = directory
        .tree()
        .entries(directory.index, entry_number)
        .next();
    let node = entry.map(|(_, index)| directory.other(index));
    let bytes = node
        .as_ref()
        .map(|node| match node.tree().inode(node.index) {
            Some(inode) if matches!(inode.kind, Kind::File { .. }) => {
                inode.size().unwrap_or(0).min(HEAD)
            }
            _ => 0,
        });
    let pushes = state.with(|state| state.spend(directory.ino(), bytes));
    let (Some(node), Some(bytes), true) = (node, bytes, pushes) else {
        return;
    };
    if vfs.remote.get().is_some() {
        announce(vfs, &directory, entry_number);
    }
    let mut start = 0;
    while start < bytes && push(vfs, &node, start, store) {
        start += u64::from(BLOCK_SIZE);
    }
}

/// Announces to the sources of the files from the entry `entry_number` on what
/// will be read of them, so that requests to servers overlap.
fn announce(vfs: &Vfs, directory: &Node<'_>, entry_number: usize) {
    let entries = directory.tree().entries(directory.index, entry_number);
    for (_, index) in entries.take(MAX_ANNOUNCED) {
        let node = directory.other(index);
        let size = node.tree().inode(index).and_then(|inode| inode.size());
        if let (Some(file), Some(size)) = (node.file(), size) {
            vfs.reader.will_need(file, size.min(HEAD));
        }
    }
}

fn is_packed(node: &Node<'_>) -> bool {
    let content = node
        .file()
        .map(|file| file.volume.volume.content(file.file));
    matches!(content, Some(Ok(Content::Chunks(_) | Content::Stream(_))))
}

/// Pushes the block of a file that begins at `start`. Whatever goes wrong,
/// reading the file shows it.
///
/// No lock is held meanwhile: the kernel may wait with the bytes until a
/// request for the same page is answered, by a thread that needs the lock.
fn push(vfs: &Vfs, node: &Node<'_>, start: u64, store: &dyn Fn(Ino, u64, &[u8])) -> bool {
    let size = node.tree().inode(node.index).and_then(|inode| inode.size());
    let (Some(size), Some(file)) = (size, node.file()) else {
        return false;
    };
    let end = size.min(start + u64::from(BLOCK_SIZE));
    let bytes = vfs.reader.read(file, start..end);
    if let Ok(bytes) = &bytes {
        store(node.ino(), start, bytes);
    }
    bytes.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::Sources;
    use crate::pack::hpi::v1;
    use crate::pack::hpi::{Directory, File, Node, Source};
    use crate::volume::hpi::chunk::Method;
    use std::cell::RefCell;

    /// Returns a mount of files with these sizes, and their inodes.
    fn mounted(sizes: &[usize]) -> (Arc<Vfs>, Vec<Ino>) {
        let file = |(number, &size): (usize, &usize)| {
            let file = File {
                source: Source::Bytes(vec![7; size]),
                modified: 0,
            };
            (format!("{number:05}"), Node::File(file))
        };
        let entries = sizes.iter().enumerate().map(file).collect();
        let options = v1::Options {
            method: Method::Zlib,
            key: 0,
        };
        let mut archive = tempfile::NamedTempFile::new().unwrap();
        v1::write(&Directory { entries }, options, &mut archive, &mut |_| {}).unwrap();
        let vfs = Vfs::open(
            &Sources::Given {
                locations: vec![archive.path().to_owned().into()],
                order: None,
                separate: false,
            },
            crate::mount::Options::default(),
        );
        let (vfs, mut files) = (vfs.unwrap(), Vec::new());
        let mut add = |_: &str, ino, _, _| {
            files.push(ino);
            false
        };
        vfs.readdir(Ino::ROOT, 0, &mut add).unwrap();
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

    #[test]
    fn files_read_in_a_row_bring_those_behind_them() {
        let (vfs, files) = mounted(&[1000; 6]);
        let prefetch = Prefetch::default();
        prefetch.note(&vfs, files[0], 0, 4096);
        assert_eq!(pushed(&prefetch, &vfs), []);
        prefetch.note(&vfs, files[1], 0, 4096);
        // The reader is at number 2 already.
        let behind = files[3..].iter().map(|&file| (file, 0, 1000));
        assert_eq!(pushed(&prefetch, &vfs), Vec::from_iter(behind));
    }

    #[test]
    fn files_read_here_and_there_bring_nothing() {
        let (vfs, files) = mounted(&[1000; 50]);
        let prefetch = Prefetch::default();
        for entry_number in [7, 20, 3, 40, 12, 30, 0, 49] {
            prefetch.note(&vfs, files[entry_number], 0, 4096);
        }
        assert_eq!(pushed(&prefetch, &vfs), []);
    }

    #[test]
    fn nobody_reading_on_costs_one_window_and_reading_on_moves_it() {
        let (vfs, files) = mounted(&[100_000; 100]);
        let prefetch = Prefetch::default();
        prefetch.note(&vfs, files[0], 0, 65_536);
        prefetch.note(&vfs, files[1], 0, 65_536);
        let first = pushed(&prefetch, &vfs);
        let bytes: u64 = first.iter().map(|(_, _, length)| *length as u64).sum();
        assert!((WINDOW / 2..=WINDOW + HEAD).contains(&bytes), "{bytes}");

        // The reader does not request what was pushed, except for what was not.
        let last = first.iter().map(|(ino, ..)| *ino).max().unwrap();
        let left_out = files[3..]
            .iter()
            .find(|file| first.iter().all(|(ino, ..)| ino != *file));
        let left_out = *left_out.unwrap();
        assert!(left_out < last);
        prefetch.note(&vfs, left_out, 0, 65_536);
        let second = pushed(&prefetch, &vfs);
        assert!(second.iter().all(|(ino, ..)| *ino > last), "nothing twice");
        assert!(!second.is_empty());
    }

    #[test]
    fn what_is_made_of_assets_wakes_no_thread() {
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
            prefetch.note(&vfs, file, 0, 4096);
        }
        assert!(prefetch.0.with(State::take).is_none());
    }

    #[test]
    fn a_small_read_brings_its_block() {
        let (vfs, files) = mounted(&[200_000]);
        let prefetch = Prefetch::default();
        prefetch.note(&vfs, files[0], 70_000, 4096);
        assert_eq!(pushed(&prefetch, &vfs), [(files[0], 65_536, 65_536)]);
        prefetch.note(&vfs, files[0], 131_072, 131_072);
        assert_eq!(pushed(&prefetch, &vfs), []);
    }
}
