//! The walk that finds what to index in a source: its entries, and the
//! directories with reports.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::inspect::Role;
use crate::inspect::walk::{Missed, Step, Walk};
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

/// A walk of a source that queues jobs.
pub(super) struct Jobs<'a> {
    vfs: &'a Vfs,
    push: &'a mut dyn FnMut(Job),
    walk: Walk,
    /// Maximum number of bytes of the rows.
    most: &'a AtomicU64,
    /// The paths of the archives on the current path, from the outermost.
    around: Vec<String>,
}

impl<'a> Jobs<'a> {
    /// Begins a walk that reads at most `expansion` bytes for each byte of the source,
    /// and keeps `most` at the number of bytes that the rows may have.
    pub(super) fn new(
        vfs: &'a Vfs,
        expansion: u64,
        most: &'a AtomicU64,
        push: &'a mut dyn FnMut(Job),
    ) -> Self {
        let root = HeldIno::kept(Ino::ROOT);
        let walk = Walk::within(vfs, root, String::new(), expansion);
        most.store(walk.bounds.rows(), Ordering::Relaxed);
        Self {
            vfs,
            push,
            walk,
            most,
            around: Vec::new(),
        }
    }

    /// Queues the jobs of the whole source, or until `is_over` is set.
    ///
    /// # Errors
    /// Returns a message if something was left out because it exceeds the bounds.
    pub(super) fn queue(mut self, is_over: &AtomicBool) -> Result<(), String> {
        self.push_references(String::new(), HeldIno::kept(Ino::ROOT));
        let mut left_out = Ok(());
        while !is_over.load(Ordering::Relaxed)
            && let Some(step) = self.walk.next(self.vfs)
        {
            self.around.truncate(self.walk.archives());
            match step {
                Ok(step) => self.step(step),
                Err(Missed::LeftOut(problem)) => left_out = Err(problem),
                Err(Missed::Unlisted(path, error)) => {
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
        left_out
    }

    fn step(&mut self, step: Step) {
        match step.entry.role {
            Role::Inside => self.enter_archive(step),
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
                self.walk.enter(self.vfs, step);
            }
            Role::Link { is_stored: true } => self.push_entry(&step, "link"),
            Role::File { .. } => {
                if self.walk.is_first_link(&step.entry) {
                    self.push_entry(&step, "file");
                }
            }
            Role::AssetDirectory | Role::Generated | Role::Link { is_stored: false } => {}
        }
    }

    /// Returns the path of the innermost archive.
    fn archive(&self) -> String {
        self.around.last().cloned().unwrap_or_default()
    }

    fn enter_archive(&mut self, step: Step) {
        let archive = step.path.strip_suffix(".d").unwrap_or(&step.path);
        let (archive, directory) = (archive.to_owned(), step.entry.ino.clone());
        self.walk.enter(self.vfs, step);
        self.most.store(self.walk.bounds.rows(), Ordering::Relaxed);
        self.push_references(archive.clone(), directory);
        self.around.push(archive);
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
