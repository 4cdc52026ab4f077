//! The walk that finds what to index in a source: its entries, and the
//! directories with reports.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::inspect::bounds::Bounds;
use crate::inspect::walk::{Step, Walk};
use crate::inspect::{Contents, Entry, Role};
use crate::mount::{HeldIno, Ino, Vfs};

/// A job of a thread. `archive` is the path of the archive around it, empty for
/// the source itself.
pub(super) enum Job {
    /// Read an entry.
    Entry {
        archive: String,
        step: Step,
        /// `file`, `directory` or `link`.
        kind: &'static str,
    },
    /// Report a directory that cannot be listed.
    Unlisted {
        archive: String,
        path: String,
        cause: String,
    },
    /// Read the references in the reports about a directory.
    References { archive: String, directory: HeldIno },
}

/// An archive around the entries of a walk.
struct Around {
    /// The path of its file.
    archive: String,
    /// The path of its contents.
    contents: String,
}

/// A walk of a source that queues jobs.
pub(super) struct Jobs<'a> {
    vfs: &'a Vfs,
    push: &'a mut dyn FnMut(Job),
    walk: Walk,
    bounds: Bounds,
    /// Maximum number of bytes of the rows.
    most: &'a AtomicU64,
    /// The archives on the current path, from the outermost.
    around: Vec<Around>,
    /// Files with several names that were queued.
    linked: HashSet<Ino>,
    /// The reason why further archives in archives are not entered.
    left_out: Option<String>,
}

impl<'a> Jobs<'a> {
    /// Begins a walk within these bounds, and keeps `most` at the number of bytes
    /// that the rows may have.
    pub(super) fn new(
        vfs: &'a Vfs,
        bounds: Bounds,
        most: &'a AtomicU64,
        push: &'a mut dyn FnMut(Job),
    ) -> Self {
        most.store(bounds.rows(), Ordering::Relaxed);
        Self {
            vfs,
            push,
            walk: Walk::new(HeldIno::kept(Ino::ROOT), String::new()),
            bounds,
            most,
            around: Vec::new(),
            linked: HashSet::new(),
            left_out: None,
        }
    }

    /// Queues the jobs of the whole source, or until `is_over` is set.
    ///
    /// # Errors
    /// Returns a message if something was left out because it exceeds the bounds.
    pub(super) fn queue(mut self, is_over: &AtomicBool) -> Result<(), String> {
        self.push_references(String::new(), HeldIno::kept(Ino::ROOT));
        while !is_over.load(Ordering::Relaxed) {
            match self.walk.next(self.vfs) {
                None => break,
                Some(Ok(step)) => self.step(step)?,
                Some(Err((path, error))) => {
                    self.leave_archives(&path);
                    let archive = self.archive();
                    let cause = error.to_string();
                    (self.push)(Job::Unlisted {
                        archive,
                        path,
                        cause,
                    });
                }
            }
        }
        self.left_out.map_or(Ok(()), Err)
    }

    fn step(&mut self, mut step: Step) -> Result<(), String> {
        Contents(self.vfs).measure(&mut step.entry);
        self.leave_archives(&step.path);
        self.bounds.read(self.walk.archives(), step.entry.size)?;
        match step.entry.role {
            Role::Inside => {
                if self.may_enter(*step.entry.ino) {
                    self.enter_archive(step);
                }
            }
            Role::Directory => {
                if self
                    .vfs
                    .assets()
                    .has_references(*step.entry.ino)
                    .unwrap_or_default()
                {
                    self.push_references(self.archive(), step.entry.ino.clone());
                }
                self.push_entry(&step, "directory");
                self.walk.enter(step);
            }
            Role::Link { is_stored: true } => self.push_entry(&step, "link"),
            Role::File { .. } => {
                if self.is_first_name(&step.entry) {
                    self.push_entry(&step, "file");
                }
            }
            Role::AssetDirectory | Role::Generated | Role::Link { is_stored: false } => {}
        }
        Ok(())
    }

    /// Forgets the archives that a path is not in.
    fn leave_archives(&mut self, path: &str) {
        while let Some(around) = self.around.last()
            && !is_below(path, &around.contents)
        {
            self.around.pop();
        }
    }

    /// Returns the path of the innermost archive.
    fn archive(&self) -> String {
        let innermost = self.around.last();
        innermost.map_or_else(String::new, |around| around.archive.clone())
    }

    /// Counts an archive, and returns whether it may be entered. If one exceeds the
    /// bounds, none after it may.
    fn may_enter(&mut self, contents: Ino) -> bool {
        if self.left_out.is_some() {
            return false;
        }
        let archives = self.walk.archives();
        self.left_out = self.bounds.enter(archives).err();
        let archive = || Contents(self.vfs).archive(contents).unwrap_or_default();
        self.bounds.store(archives, || archive().stored);
        self.most.store(self.bounds.rows(), Ordering::Relaxed);
        self.left_out.is_none()
    }

    fn enter_archive(&mut self, step: Step) {
        let archive = step.path.strip_suffix(".d").unwrap_or(&step.path);
        self.push_references(archive.to_owned(), step.entry.ino.clone());
        self.around.push(Around {
            archive: archive.to_owned(),
            contents: step.path.clone(),
        });
        self.walk.enter(step);
    }

    /// Returns whether no other name of a file was queued.
    fn is_first_name(&mut self, entry: &Entry) -> bool {
        entry.links == 1 || self.linked.insert(*entry.ino)
    }

    fn push_entry(&mut self, step: &Step, kind: &'static str) {
        let (archive, step) = (self.archive(), step.clone());
        (self.push)(Job::Entry {
            archive,
            step,
            kind,
        });
    }

    fn push_references(&mut self, archive: String, directory: HeldIno) {
        (self.push)(Job::References { archive, directory });
    }
}

/// Returns whether a path is below a directory.
fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}
