//! The walk that finds what to index in a source: its entries, and the
//! directories with reports.

use std::sync::atomic::{AtomicBool, Ordering};

use super::EntryRow;
use crate::inspect::Role;
use crate::inspect::walk::{Missed, Step, Walk, file_of};
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
    /// Send the row of a directory that cannot be listed.
    Unlisted(Box<EntryRow>),
    /// Read the references in the reports about a directory.
    References { archive: String, directory: HeldIno },
}

/// Queues the jobs of everything that a walk comes to, or until `is_over` is set.
///
/// # Errors
/// Returns a message if something was left out because it exceeds the bounds.
pub(super) fn queue(
    vfs: &Vfs,
    mut walk: Walk,
    push: &mut dyn FnMut(Job),
    is_over: &AtomicBool,
) -> Result<(), String> {
    let mut left_out = Ok(());
    push(Job::References {
        archive: String::new(),
        directory: HeldIno::kept(Ino::ROOT),
    });
    while !is_over.load(Ordering::Relaxed)
        && let Some(step) = walk.next(vfs)
    {
        let archive = walk.archive().to_owned();
        let step = match step {
            Ok(step) => step,
            Err(Missed::LeftOut(problem)) => {
                left_out = Err(problem);
                continue;
            }
            Err(missed @ Missed::Unlisted(..)) => {
                let (path, cause) = missed.explained();
                push(Job::Unlisted(Box::new(EntryRow {
                    archive,
                    path,
                    kind: "directory",
                    error: Some(cause),
                    ..EntryRow::default()
                })));
                continue;
            }
        };
        let directory = step.entry.ino.clone();
        let kind = match step.entry.role {
            Role::Inside => {
                let archive = file_of(&step.path).to_owned();
                walk.enter(vfs, step);
                push(Job::References { archive, directory });
                continue;
            }
            Role::Directory => {
                walk.enter(vfs, step.clone());
                if vfs.assets().has_references(*directory) == Ok(true) {
                    let archive = archive.clone();
                    push(Job::References { archive, directory });
                }
                "directory"
            }
            Role::Link { is_stored: true } => "link",
            Role::File { .. } if walk.is_first_link(&step.entry) => "file",
            Role::File { .. } | Role::AssetDirectory | Role::Generated | Role::Link { .. } => {
                continue;
            }
        };
        push(Job::Entry {
            archive,
            step,
            kind,
        });
    }
    left_out
}
