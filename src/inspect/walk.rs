//! Walking everything below a directory, depth first, with little memory and within
//! bounds.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::bounds::Bounds;
use crate::inspect::{Contents, Entry, Role};
use crate::mount::{self, HeldIno, Ino, Vfs};
use crate::namespace::joined;

/// Number of entries listed at a time.
const BATCH: usize = 256;

/// The entries of a directory, listed a few at a time.
pub(crate) struct Listing {
    directory: HeldIno,
    /// Entries that were listed and not returned yet.
    listed: VecDeque<Entry>,
    /// Number of the first entry that was not listed; `None` after the last.
    next: Option<usize>,
}

impl Listing {
    /// Begins to list a directory.
    pub(crate) fn of(directory: HeldIno) -> Self {
        Self {
            directory,
            listed: VecDeque::new(),
            next: Some(0),
        }
    }

    /// Returns the next entry. A directory that cannot be listed has an error at its end.
    pub(crate) fn next(&mut self, vfs: &Vfs) -> Option<mount::Result<Entry>> {
        if self.listed.is_empty() {
            let next = self.next.take()?;
            match Contents(vfs).entries(*self.directory, next, BATCH) {
                Ok(entries) => {
                    self.next = (entries.len() == BATCH).then_some(next + BATCH);
                    self.listed = entries.into();
                }
                Err(error) => return Some(Err(error)),
            }
        }
        self.listed.pop_front().map(Ok)
    }
}

/// A directory on the current path.
struct Level {
    entries: Listing,
    /// Length of the path of its parent.
    outer: usize,
    /// Number of archives around it below the start of the walk, and length of the path
    /// of the innermost of them.
    archives: usize,
    archive: usize,
}

/// A walk through a tree.
pub(crate) struct Walk {
    levels: Vec<Level>,
    /// Path of the innermost directory.
    path: String,
    bounds: Arc<Bounds>,
    /// True if the sizes of files count, and are determined.
    pub(crate) counts_sizes: bool,
    /// True if it comes to the directories that show archives; false after one that exceeds
    /// the bounds.
    pub(crate) shows_archives: bool,
    /// Files with several names that it has come to.
    linked: HashSet<Ino>,
}

/// An entry of a walk.
#[derive(Clone)]
pub(crate) struct Step {
    /// Its path from the root of the mount.
    pub(crate) path: String,
    pub(crate) entry: Entry,
}

/// What a walk does not come to.
pub(crate) enum Missed {
    /// The entries of a directory that cannot be listed, with its path.
    Unlisted(String, mount::Error),
    /// What exceeds the bounds: everything after this, or all archives in archives.
    LeftOut(String),
}

impl Missed {
    /// Returns the path, empty for the source, and the reason.
    pub(crate) fn explained(self) -> (String, String) {
        match self {
            Self::Unlisted(path, error) => (path, error.to_string()),
            Self::LeftOut(problem) => (String::new(), problem),
        }
    }
}

impl Walk {
    /// Creates a walk of everything below a directory with this path.
    pub(crate) fn new(directory: HeldIno, path: String) -> Self {
        Self {
            levels: vec![Level {
                entries: Listing::of(directory),
                outer: 0,
                archives: 0,
                archive: 0,
            }],
            path,
            bounds: Bounds::none(),
            counts_sizes: false,
            shows_archives: true,
            linked: HashSet::new(),
        }
    }

    /// Creates a walk that ends when it exceeds bounds.
    pub(crate) fn within(bounds: Arc<Bounds>, directory: HeldIno, path: String) -> Self {
        Self {
            bounds,
            counts_sizes: true,
            ..Self::new(directory, path)
        }
    }

    /// Creates a walk that counts as one in this many archives.
    pub(super) fn inside(mut self, archives: usize) -> Self {
        self.levels[0].archives = archives;
        self
    }

    /// Returns the next entry. After a directory that cannot be listed, and after the first
    /// archive that exceeds the bounds, the walk continues without these; it ends with an
    /// entry that exceeds them.
    pub(crate) fn next(&mut self, vfs: &Vfs) -> Option<Result<Step, Missed>> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(listed) = level.entries.next(vfs) else {
                self.path.truncate(level.outer);
                self.levels.pop();
                continue;
            };
            let step = self.step(vfs, listed);
            let is_archive = |step: &Step| step.entry.role == Role::Inside;
            if self.shows_archives || !step.as_ref().is_ok_and(is_archive) {
                return Some(step);
            }
        }
    }

    /// Counts an entry that was listed.
    fn step(&mut self, vfs: &Vfs, listed: mount::Result<Entry>) -> Result<Step, Missed> {
        let mut entry = listed.map_err(|error| Missed::Unlisted(self.path.clone(), error))?;
        if self.counts_sizes {
            Contents(vfs).measure(&mut entry);
        }
        let size = if self.counts_sizes { entry.size } else { 0 };
        self.read(size).inspect_err(|_| self.levels.clear())?;
        if entry.role == Role::Inside && self.shows_archives {
            let entered = self.bounds.enter(self.archives());
            let left_out = entered.inspect_err(|_| self.shows_archives = false);
            left_out.map_err(Missed::LeftOut)?;
        }
        Ok(Step {
            path: joined(&self.path, &entry.name),
            entry,
        })
    }

    /// Counts bytes, or more bytes, of the entry that was just returned.
    pub(crate) fn read(&mut self, bytes: u64) -> Result<(), Missed> {
        let read = self.bounds.read(self.archives(), bytes);
        read.map_err(Missed::LeftOut)
    }

    /// Enters the directory that was just returned.
    pub(crate) fn enter(&mut self, vfs: &Vfs, step: Step) {
        let Entry { ino, role, .. } = step.entry;
        let (mut archives, mut archive) = (self.archives(), self.archive().len());
        if role == Role::Inside {
            let entered = || Contents(vfs).archive(*ino).unwrap_or_default();
            self.bounds.store(archives, || entered().stored);
            archives += 1;
            archive = file_of(&step.path).len();
        }
        self.levels.push(Level {
            entries: Listing::of(ino),
            outer: self.path.len(),
            archives,
            archive,
        });
        self.path = step.path;
    }

    /// Returns the number of archives, below the start of the walk, around the
    /// entry that was just returned.
    pub(crate) fn archives(&self) -> usize {
        self.levels.last().map_or(0, |level| level.archives)
    }

    /// Returns the path of the innermost of these archives, empty for the start.
    pub(super) fn archive(&self) -> &str {
        let innermost = self.levels.last();
        innermost.map_or("", |level| &self.path[..level.archive])
    }

    /// Returns whether the walk comes to a file for the first time, and not to another
    /// name of one.
    pub(crate) fn is_first_link(&mut self, entry: &Entry) -> bool {
        entry.links == 1 || self.linked.insert(*entry.ino)
    }
}

/// Returns the path of the archive that a directory shows.
pub(super) fn file_of(inside: &str) -> &str {
    inside.strip_suffix(".d").unwrap_or(inside)
}
