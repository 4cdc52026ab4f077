//! Converting files ahead of readers.
//!
//! A file of a converted tree is made when its size or its bytes are requested, which
//! takes longer than all other requests. If a program takes the files of a directory in
//! their order, as `cp -r` and thumbnailers do, the other cores make the next ones
//! meanwhile. They begin with the farthest one, since the reader makes the nearest ones
//! itself, instead of waiting for them. If each asset has a directory, the files of the
//! next directories are made before the reader lists them: the listing gives the kernel
//! their sizes, and saves a request for each file. Files are kept as if they had been
//! requested. If the reader reads bytes, they are also pushed.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use crate::memory::latest::Latest;
use crate::mount::{Access, Ino, Node, Vfs};
use crate::namespace::companion::Shows;
use crate::namespace::tree::{Index, InodeKind};

/// Maximum number of readers in the list.
const MAX_RUNS: usize = 16;

/// Files that a reader must take in order until more are made.
const MIN_FILES: u32 = 2;

/// Entries of a directory between two that are taken in succession.
const GAP: usize = 8;

/// Files, and directories of assets, that each thread makes ahead of a reader.
const AHEAD: usize = 4;

/// Maximum number of inodes of the directory of an asset whose files are made before it is
/// read.
const MAX_PARTS: Index = 64;

/// Maximum length in bytes of a file that is pushed.
const MAX_PUSHED: u64 = 128 << 10;

/// Minimum memory budget: with less, files would be evicted before they are read.
pub(super) const MIN_BUDGET: usize = 16 << 20;

/// The readers of converted files, and what to make for them.
pub(super) struct Conversions {
    runs: Latest<Run>,
    files: VecDeque<QueuedFile>,
    parts: VecDeque<Parts>,
    /// True if the last directory of an asset was not made before it was listed.
    is_late: bool,
}

/// A converted file whose attributes or bytes are requested.
pub(super) struct Taken<'a> {
    /// The file.
    pub(super) node: &'a Node<'a>,
    /// The directory of its asset, as an entry of the directory around it.
    pub(super) parts: Option<Node<'a>>,
    /// True if its bytes are requested.
    pub(super) is_read: bool,
}

/// Something to make ahead of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Job {
    /// A file.
    File(QueuedFile),
    /// The files of an asset.
    Parts(Parts),
}

/// A file to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueuedFile {
    pub(super) ino: Ino,
    at: Entry,
    is_pushed: bool,
}

/// The files of an asset that has a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) directory: Ino,
    at: Entry,
    /// The first inode in it that may have to be made.
    from: Index,
}

/// A directory, and the number of an entry in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    directory: Ino,
    number: usize,
}

/// A reader that takes the entries of a directory in their order.
struct Run {
    /// The entry that was taken last.
    last: Entry,
    /// Number of entries that were taken in order.
    count: u32,
    /// Entries before this number were queued or passed.
    queued: usize,
    /// True if it reads files; for directories, if it takes more than one file of each.
    reads: bool,
}

impl Default for Conversions {
    fn default() -> Self {
        Self {
            runs: Latest::new(MAX_RUNS),
            files: VecDeque::new(),
            parts: VecDeque::new(),
            is_late: false,
        }
    }
}

impl Conversions {
    /// Notes that the size or the bytes of a rendered file are requested. Returns whether
    /// there is something to make for its reader, on `threads` threads, and the files to
    /// push. Files that `is_known` accepts need not be made for their attributes.
    pub(super) fn note(
        &mut self,
        taken: &Taken<'_>,
        threads: usize,
        is_known: impl Fn(&Node<'_>) -> bool,
    ) -> (bool, Vec<Ino>) {
        let Some((mut run, at)) = self.take_run(taken.node) else {
            return (false, Vec::new());
        };
        let around = taken.parts.as_ref();
        let mut around = around.and_then(|node| Some((node, self.take_run(node)?)));
        if let Some((_, (directories, _))) = &around
            && directories.is_active()
            && directories.reads
        {
            run.count = run.count.max(MIN_FILES);
        }
        let begins = run.queued == 0 || taken.is_read && !run.reads;
        run.reads |= taken.is_read;
        let passed = run.last.number + 1..at.number;
        let advances = run.advance(at);
        self.files.retain(|file| !run.has_passed(file.at));
        let pushes = match run.is_active() && (begins || advances) {
            true => self.queue_files(&mut run, taken.node, passed, threads * AHEAD, is_known),
            false => Vec::new(),
        };
        if let Some((node, (directories, at))) = &mut around {
            directories.reads |= run.is_active();
            if directories.advance(*at) {
                // The kernel would not request sizes that the listing gave.
                self.is_late = !taken.is_read;
            }
            self.parts.retain(|parts| !directories.has_passed(parts.at));
            if directories.is_active() && directories.reads {
                self.queue_parts(directories, node, threads * AHEAD);
            }
        }
        self.runs.put(run);
        if let Some((_, (directories, _))) = around {
            self.runs.put(directories);
        }
        let has_jobs = !self.files.is_empty() || !self.parts.is_empty();
        (has_jobs, pushes)
    }

    /// Takes the run that an entry belongs to out of the list.
    fn take_run(&mut self, node: &Node<'_>) -> Option<(Run, Entry)> {
        let (directory, number) = node.tree().position(node.index)?;
        let at = Entry {
            directory: node.ino_of(directory),
            number,
        };
        let run = self.runs.take(|run| run.expects(at)).unwrap_or(Run {
            last: at,
            count: 1,
            queued: 0,
            reads: false,
        });
        Some((run, at))
    }

    /// Queues the files after the one that a reader has come to, as long as at most `count`
    /// of them have yet to be made. If it has `passed` some, it takes only those with
    /// the same extension. Returns the files to push.
    fn queue_files(
        &mut self,
        run: &mut Run,
        node: &Node<'_>,
        passed: Range<usize>,
        count: usize,
        is_known: impl Fn(&Node<'_>) -> bool,
    ) -> Vec<Ino> {
        let between = entries(node, passed.start).take_while(|(at, _)| at.number < passed.end);
        let has_passed = between
            .map(|(_, file)| file)
            .any(|file| file.rendered().is_some());
        let taken = extension(node);
        let mut pushes = Vec::new();
        let mut unmade = 0;
        for (at, file) in entries(node, run.last.number + 1).take(count * GAP) {
            if has_passed && extension(&file) != taken || file.rendered().is_none() {
                continue;
            }
            let is_made = is_known(&file);
            unmade += usize::from(!is_made);
            if at.number >= run.queued && (run.reads || !is_made) {
                run.queued = at.number + 1;
                match is_made {
                    true => pushes.push(file.ino()),
                    false => self.files.push_back(QueuedFile {
                        ino: file.ino(),
                        at,
                        is_pushed: run.reads,
                    }),
                }
            }
            if unmade == count {
                break;
            }
        }
        pushes
    }

    /// Queues the directories of assets after the one that a reader has come to.
    fn queue_parts(&mut self, run: &mut Run, node: &Node<'_>, count: usize) {
        let next = entries(node, run.last.number + 1).take(count * GAP);
        let next = next.filter(|(_, node)| has_parts(node)).take(count);
        let queued = run.queued;
        for (at, directory) in next.filter(|(at, _)| at.number >= queued) {
            run.queued = at.number + 1;
            self.parts.push_back(Parts {
                directory: directory.ino(),
                at,
                from: 0,
            });
        }
    }

    /// Takes the next thing to make: the farthest file, or the nearest directory that is
    /// not too late for its reader.
    pub(super) fn take(&mut self) -> Option<Job> {
        let parts = match self.is_late {
            true => self.parts.pop_back(),
            false => self.parts.pop_front(),
        };
        let parts = parts.map(Job::Parts);
        parts.or_else(|| self.files.pop_back().map(Job::File))
    }

    /// Queues the rest of a directory as the next one, unless its reader has come to it.
    pub(super) fn put_back(&mut self, rest: Parts) {
        if !self.runs.iter().any(|run| run.has_passed(rest.at)) {
            match self.is_late {
                true => self.parts.push_back(rest),
                false => self.parts.push_front(rest),
            }
        }
    }
}

impl Run {
    /// Returns whether an entry is probably taken by this reader.
    fn expects(&self, at: Entry) -> bool {
        let end = self.queued.max(self.last.number + 1) + GAP;
        at.directory == self.last.directory && (self.last.number..end).contains(&at.number)
    }

    /// Notes an entry, and returns whether it is another one than the last.
    fn advance(&mut self, at: Entry) -> bool {
        let is_next = at.number > self.last.number;
        if is_next {
            self.last = at;
            self.count = self.count.saturating_add(1);
        }
        is_next
    }

    fn is_active(&self) -> bool {
        self.count >= MIN_FILES
    }

    fn has_passed(&self, at: Entry) -> bool {
        at.directory == self.last.directory && at.number <= self.last.number
    }
}

/// Makes something before it is requested, and pushes it by means of `store`, if its reader
/// reads bytes. Returns the rest of a directory: another job may be the next one. Errors are
/// left to the reader.
pub(super) fn make(job: Job, vfs: &Vfs, store: &dyn Fn(Ino, u64, &[u8])) -> Option<Parts> {
    match job {
        Job::File(file) => {
            let node = vfs.node(file.ino).ok()?;
            vfs.assets().render_ahead(&node);
            if file.is_pushed {
                push(&node, vfs, store);
            }
            None
        }
        Job::Parts(parts) => {
            let (directory, _) = vfs.directory(parts.directory).ok()?;
            let end = directory.tree().inodes().min(MAX_PARTS);
            let mut nodes = (parts.from..end).map(|index| directory.other(index));
            let unmade = nodes.find(|node| {
                node.rendered().is_some() && vfs.assets().known_size(node).is_none()
            })?;
            vfs.assets().render_ahead(&unmade);
            let from = unmade.index + 1;
            Some(Parts { from, ..parts })
        }
    }
}

/// Pushes a converted file by means of `store`, unless the kernel's read-ahead would request
/// it in several pieces. Errors are left to the reader.
pub(super) fn push(file: &Node<'_>, vfs: &Vfs, store: &dyn Fn(Ino, u64, &[u8])) {
    let range = 0..MAX_PUSHED + 1;
    if let Ok(Ok(bytes)) = vfs.assets().bytes(file, range, Access::Unknown)
        && bytes.len() as u64 <= MAX_PUSHED
    {
        store(file.ino(), 0, &bytes);
    }
}

/// Returns the entries of the directory of `node` from a number on.
fn entries<'a>(node: &'a Node<'a>, from: usize) -> impl Iterator<Item = (Entry, Node<'a>)> {
    let position = node.tree().position(node.index);
    position.into_iter().flat_map(move |(directory, _)| {
        let entries = (from..).zip(node.tree().entries(directory, from));
        entries.map(move |(number, (_, index))| {
            let directory = node.ino_of(directory);
            (Entry { directory, number }, node.other(index))
        })
    })
}

/// Returns whether a directory shows the files of an asset.
fn has_parts(node: &Node<'_>) -> bool {
    match node.kind() {
        Some(InodeKind::Companion { shows, .. } | InodeKind::ForeignCompanion { shows, .. }) => {
            matches!(shows, Shows::Meta(_))
        }
        _ => false,
    }
}

fn extension<'a>(file: &'a Node<'_>) -> Option<&'a OsStr> {
    Path::new(file.tree().name(file.index)).extension()
}
