//! Walking everything below a directory, depth first, with little memory.

use std::collections::VecDeque;

use crate::inspect::{Contents, Entry, Role};
use crate::mount::{self, HeldIno, Vfs};
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
    /// Number of archives around it below the start of the walk.
    archives: usize,
}

/// A walk through a tree.
pub(crate) struct Walk {
    levels: Vec<Level>,
    /// Path of the innermost directory.
    path: String,
}

/// An entry of a walk.
#[derive(Clone)]
pub(crate) struct Step {
    /// Its path from the root of the mount.
    pub(crate) path: String,
    pub(crate) entry: Entry,
}

impl Walk {
    /// Creates a walk of everything below a directory with this path.
    pub(crate) fn new(directory: HeldIno, path: String) -> Self {
        let mut walk = Self {
            levels: Vec::new(),
            path,
        };
        walk.push(directory, 0, 0);
        walk
    }

    fn push(&mut self, directory: HeldIno, outer: usize, archives: usize) {
        self.levels.push(Level {
            entries: Listing::of(directory),
            outer,
            archives,
        });
    }

    /// Returns the next entry. A directory that cannot be listed is an error,
    /// with its path, after which the walk continues.
    pub(crate) fn next(&mut self, vfs: &Vfs) -> Option<Result<Step, (String, mount::Error)>> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(entry) = level.entries.next(vfs) else {
                self.path.truncate(level.outer);
                self.levels.pop();
                continue;
            };
            let step = entry.map(|entry| Step {
                path: joined(&self.path, &entry.name),
                entry,
            });
            return Some(step.map_err(|error| (self.path.clone(), error)));
        }
    }

    /// Enters the directory that was just returned.
    pub(crate) fn enter(&mut self, step: Step) {
        let outer = self.path.len();
        let archives = self.archives() + usize::from(step.entry.role == Role::Inside);
        self.path = step.path;
        self.push(step.entry.ino, outer, archives);
    }

    /// Returns the number of archives, below the start of the walk, around the
    /// entry that was just returned.
    pub(crate) fn archives(&self) -> usize {
        self.levels.last().map_or(0, |level| level.archives)
    }
}
