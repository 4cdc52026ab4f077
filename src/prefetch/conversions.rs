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
use std::path::Path;

use crate::memory::latest::Latest;
use crate::mount::{Access, Bytes, Ino, Node, Vfs};
use crate::namespace::companion::Shows;
use crate::namespace::tree::{Index, InodeKind};
use crate::sync::awaited::Awaited;

/// Maximum number of readers in a list.
const MAX_RUNS: usize = 16;

/// Files that a reader must take in order until more are made.
const MIN_FILES: u32 = 2;

/// Entries of a directory between two that are taken in succession.
const GAP: usize = 8;

/// Files, and directories of assets, that are made ahead of a reader, in addition to one
/// for each thread.
const AHEAD: usize = 3;

/// Maximum number of inodes of an asset's directory whose files are made before it is
/// listed.
const MAX_PARTS: Index = 64;

/// Bytes of an asset's files after which no more are made before its directory is listed.
const MAX_PARTS_BYTES: u64 = 1 << 20;

/// Maximum length in bytes of a file that is pushed.
const MAX_PUSHED: u64 = 128 << 10;

/// Bytes of files that are pushed ahead of a reader.
const WINDOW: u64 = 2 << 20;

/// Minimum memory budget: with less, files would be evicted before they are read.
pub(super) const MIN_BUDGET: usize = 16 << 20;

/// The readers of converted files, and what to make for them.
pub(super) struct Conversions {
    files: Latest<Run>,
    assets: Latest<Run>,
    /// Files that were made, in the order of their readers.
    pushes: VecDeque<QueuedFile>,
    /// Files to make, in the order of their readers.
    unmade: VecDeque<QueuedFile>,
    /// Directories of assets, in the order of their readers.
    parts: VecDeque<Parts>,
    /// Number of the next run.
    next_run: u64,
    /// True if the next job is preferably a directory.
    prefers_parts: bool,
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
    /// The next file of an asset.
    Parts(Parts),
}

/// A file to make or to push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueuedFile {
    pub(super) ino: Ino,
    place: Place,
    is_pushed: bool,
}

/// The files of an asset that has a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) directory: Ino,
    place: Place,
    /// The first inode in it that may have to be made.
    from: Index,
    /// Bytes of the files that were made.
    made: u64,
    /// True if a thread makes one of them.
    is_busy: bool,
}

/// The run that something is made for, and the number of the entry in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    run: u64,
    entry: usize,
}

/// A reader that takes the entries of a directory in their order.
struct Run {
    /// Its own number.
    number: u64,
    directory: Ino,
    /// The entry that was taken last.
    last: usize,
    /// Number of entries that were taken in order.
    count: u32,
    /// Entries before this one were queued, or need not be.
    queued: usize,
    /// True if it reads bytes.
    reads: bool,
    /// True if it passes files with other extensions; for assets, if it takes a single file
    /// of each.
    is_selective: bool,
    /// True if the last asset was not made before its reader came to it.
    is_late: bool,
    /// The run of assets that the directory of its files belongs to.
    around: Option<u64>,
}

impl Default for Conversions {
    fn default() -> Self {
        Self {
            files: Latest::new(MAX_RUNS),
            assets: Latest::new(MAX_RUNS),
            pushes: VecDeque::new(),
            unmade: VecDeque::new(),
            parts: VecDeque::new(),
            next_run: 0,
            prefers_parts: false,
        }
    }
}

impl Conversions {
    /// Notes that the size or the bytes of a rendered file are requested. Returns whether
    /// there is something to make or to push, which `threads` do. `known_size` returns
    /// the size of a file that need not be made for its attributes.
    pub(super) fn note(
        &mut self,
        taken: &Taken<'_>,
        threads: usize,
        known_size: impl Fn(&Node<'_>) -> Option<u64>,
    ) -> bool {
        let Some((directory, entry)) = position(taken.node) else {
            return false;
        };
        let ahead = threads + AHEAD;
        let assets = taken.parts.as_ref();
        let mut assets = assets.and_then(|node| Some((node, self.take_assets(node)?)));
        let known = self.files.take(|run| run.expects(directory, entry));
        let is_first = known.is_none();
        let mut run = known.unwrap_or_else(|| self.new_run(directory, entry));
        if let Some((_, assets)) = &assets {
            run.around = Some(assets.number);
            if assets.is_active() && !assets.is_selective {
                run.count = run.count.max(MIN_FILES);
            }
        }
        let begins_to_read = taken.is_read && !run.reads;
        if begins_to_read {
            run.reads = true;
            run.queued = 0;
            self.unmade.retain(|file| file.place.run != run.number);
        }
        run.note_passed(taken.node, entry, &known_size);
        if run.advance(entry) || begins_to_read || is_first {
            self.queue_files(&mut run, taken.node, ahead, known_size);
        }
        if let Some((node, assets)) = &mut assets {
            assets.is_selective &= !run.is_active();
            self.queue_parts(assets, node, ahead);
        }
        self.files.put(run);
        if let Some((_, assets)) = assets {
            self.assets.put(assets);
        }
        self.drop_unwanted();
        self.has_jobs()
    }

    fn new_run(&mut self, directory: Ino, entry: usize) -> Run {
        self.next_run += 1;
        Run {
            number: self.next_run,
            directory,
            last: entry,
            count: 1,
            queued: 0,
            reads: false,
            is_selective: false,
            is_late: false,
            around: None,
        }
    }

    /// Takes the run of assets that has come to the directory of one out of the list.
    fn take_assets(&mut self, node: &Node<'_>) -> Option<Run> {
        let (directory, entry) = position(node)?;
        let Some(mut run) = self.assets.take(|run| run.expects(directory, entry)) else {
            return Some(Run {
                is_selective: true,
                ..self.new_run(directory, entry)
            });
        };
        if run.advance(entry) {
            let ino = node.ino();
            run.is_late = self.parts.iter().any(|parts| parts.directory == ino);
            // The files of the asset before have all been taken.
            let is_before = |files: &Run| files.around == Some(run.number);
            while self.files.take(is_before).is_some() {}
        }
        Some(run)
    }

    /// Queues the files after the one that a reader has come to, as long as at most `ahead`
    /// of them have yet to be made.
    fn queue_files(
        &mut self,
        run: &mut Run,
        node: &Node<'_>,
        ahead: usize,
        known_size: impl Fn(&Node<'_>) -> Option<u64>,
    ) {
        if !run.is_active() {
            return;
        }
        let taken = extension(node);
        let (mut unmade, mut bytes) = (0, 0);
        for (entry, file) in entries(node, run.last + 1).take(ahead * GAP) {
            if file.rendered().is_none() || run.is_selective && extension(&file) != taken {
                continue;
            }
            let size = known_size(&file);
            unmade += usize::from(size.is_none());
            bytes += size.unwrap_or(0);
            if unmade > ahead || bytes > WINDOW {
                break;
            }
            if entry < run.queued {
                continue;
            }
            run.queued = entry + 1;
            let queued = QueuedFile {
                ino: file.ino(),
                place: run.place(entry),
                is_pushed: run.reads,
            };
            match size {
                None => self.unmade.push_back(queued),
                Some(1..=MAX_PUSHED) if run.reads => self.pushes.push_back(queued),
                Some(_) => {}
            }
        }
    }

    /// Queues the directories of assets after the one that a reader has come to.
    fn queue_parts(&mut self, run: &mut Run, node: &Node<'_>, ahead: usize) {
        if !run.is_active() || run.is_selective {
            return;
        }
        let next = entries(node, run.last + 1).take(ahead * GAP);
        for (entry, directory) in next.filter(|(_, node)| has_parts(node)).take(ahead) {
            if entry >= run.queued {
                run.queued = entry + 1;
                self.parts.push_back(Parts {
                    directory: directory.ino(),
                    place: run.place(entry),
                    from: 0,
                    made: 0,
                    is_busy: false,
                });
            }
        }
    }

    /// Drops what the readers have come to.
    fn drop_unwanted(&mut self) {
        let (files, assets) = (&self.files, &self.assets);
        self.pushes.retain(|file| is_ahead(files, file.place));
        self.unmade.retain(|file| is_ahead(files, file.place));
        self.parts.retain(|parts| is_ahead(assets, parts.place));
    }

    fn has_jobs(&self) -> bool {
        let has_files = !self.pushes.is_empty() || !self.unmade.is_empty();
        has_files || self.parts.iter().any(|parts| !parts.is_busy)
    }

    /// Takes the next thing to make or to push.
    pub(super) fn take(&mut self) -> Option<Job> {
        if let Some(file) = self.pushes.pop_front() {
            return Some(Job::File(file));
        }
        self.prefers_parts = !self.prefers_parts;
        match self.prefers_parts {
            true => self.take_parts().or_else(|| self.take_unmade()),
            false => self.take_unmade().or_else(|| self.take_parts()),
        }
    }

    fn take_unmade(&mut self) -> Option<Job> {
        self.unmade.pop_back().map(Job::File)
    }

    /// Takes the nearest directory, or the farthest one if the reader is so fast that it would
    /// have to wait for the nearest.
    fn take_parts(&mut self) -> Option<Job> {
        let run = self.parts.iter().find(|parts| !parts.is_busy)?.place.run;
        let is_late = self
            .assets
            .iter()
            .any(|assets| assets.number == run && assets.is_late);
        let of_run = |parts: &&mut Parts| !parts.is_busy && parts.place.run == run;
        let mut of_run = self.parts.iter_mut().filter(of_run);
        let parts = match is_late {
            true => of_run.next_back()?,
            false => of_run.next()?,
        };
        parts.is_busy = true;
        Some(Job::Parts(*parts))
    }

    /// Notes that a file of an asset was made. Without a `rest`, it was the last one.
    fn note_made(&mut self, made: Parts, rest: Option<Parts>) {
        let is_it = |parts: &Parts| parts.place == made.place;
        match rest {
            None => self.parts.retain(|parts| !is_it(parts)),
            Some(rest) => {
                if let Some(parts) = self.parts.iter_mut().find(|parts| is_it(parts)) {
                    *parts = rest;
                }
            }
        }
    }
}

impl Run {
    /// Returns whether an entry is probably taken by this reader.
    fn expects(&self, directory: Ino, entry: usize) -> bool {
        let end = self.queued.max(self.last + 1) + GAP;
        self.directory == directory && (self.last..end).contains(&entry)
    }

    fn is_active(&self) -> bool {
        self.count >= MIN_FILES
    }

    fn place(&self, entry: usize) -> Place {
        Place {
            run: self.number,
            entry,
        }
    }

    /// Notes an entry, and returns whether it is another one than the last.
    fn advance(&mut self, entry: usize) -> bool {
        let is_next = entry > self.last;
        if is_next {
            self.last = entry;
            self.count = self.count.saturating_add(1);
        }
        is_next
    }

    /// Notes whether the reader has passed files on the way to an entry: files of unknown
    /// size, since it may have taken the others without a request.
    fn note_passed(
        &mut self,
        node: &Node<'_>,
        entry: usize,
        known_size: &impl Fn(&Node<'_>) -> Option<u64>,
    ) {
        let between = entries(node, self.last + 1).take_while(|&(at, _)| at < entry);
        let mut between = between.map(|(_, file)| file);
        if between.any(|file| file.rendered().is_some() && known_size(&file).is_none()) {
            self.is_selective = true;
        } else if self.is_selective {
            let last = entries(node, self.last).next();
            self.is_selective = last.is_some_and(|(_, last)| extension(&last) == extension(node));
        }
    }
}

/// Returns whether the reader of a run has yet to come to an entry.
fn is_ahead(runs: &Latest<Run>, place: Place) -> bool {
    let mut runs = runs.iter();
    runs.any(|run| run.number == place.run && run.last < place.entry)
}

/// Does a job, and pushes what its reader has yet to read by means of `store`. Files that
/// cannot be made are left to the reader.
pub(super) fn work_on(
    job: Job,
    conversions: &Awaited<Conversions>,
    vfs: &Vfs,
    store: &dyn Fn(Ino, u64, &[u8]),
) {
    // Each thread wakes the next one.
    conversions.change(|state| state.has_jobs());
    match job {
        Job::File(file) => {
            let is_wanted = || conversions.with(|state| is_ahead(&state.files, file.place));
            if let Some(bytes) = make_file(file, vfs).filter(|_| is_wanted()) {
                store(file.ino, 0, &bytes);
            }
        }
        Job::Parts(parts) => {
            let rest = make_part(parts, vfs);
            conversions.change(|state| {
                state.note_made(parts, rest);
                state.has_jobs()
            });
        }
    }
}

/// Makes a file, and returns its bytes if they are to be pushed.
fn make_file(file: QueuedFile, vfs: &Vfs) -> Option<Bytes> {
    let node = vfs.node(file.ino).ok()?;
    let size = vfs.assets().size_of(&node).ok()?;
    if !file.is_pushed || !(1..=MAX_PUSHED).contains(&size) {
        return None;
    }
    let bytes = vfs.assets().bytes(&node, 0..size, Access::Unknown);
    bytes.ok()?.ok()
}

/// Makes the next file of an asset, and returns the others.
fn make_part(parts: Parts, vfs: &Vfs) -> Option<Parts> {
    let (directory, _) = vfs.directory(parts.directory).ok()?;
    let end = directory.tree().inodes().min(MAX_PARTS);
    let mut nodes = (parts.from..end).map(|index| directory.other(index));
    let is_unmade =
        |node: &Node<'_>| node.rendered().is_some() && vfs.assets().known_size(node).is_none();
    let unmade = nodes.find(is_unmade)?;
    let made = parts.made + vfs.assets().size_of(&unmade).unwrap_or(0);
    (made <= MAX_PARTS_BYTES).then_some(Parts {
        from: unmade.index + 1,
        made,
        is_busy: false,
        ..parts
    })
}

/// Returns the directory of a node and the number of its entry there; `None` for the root of
/// a subtree.
fn position(node: &Node<'_>) -> Option<(Ino, usize)> {
    let (directory, entry) = node.tree().position(node.index)?;
    Some((node.ino_of(directory), entry))
}

/// Returns the entries of the directory of a node from a number on.
fn entries<'a>(node: &'a Node<'a>, from: usize) -> impl Iterator<Item = (usize, Node<'a>)> {
    let position = node.tree().position(node.index);
    position.into_iter().flat_map(move |(directory, _)| {
        let entries = (from..).zip(node.tree().entries(directory, from));
        entries.map(|(entry, (_, index))| (entry, node.other(index)))
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
