//! `.hpimount/changes.tsv`: what became of the files of DIR.

use std::fmt::Write as _;

use super::folder::split;
use super::inodes::Note;
use super::names::is_converted;
use super::plan::State;
use super::{EditedMount, at};
use crate::printable::printable;
use crate::sync::lock;
use hpimount_containers::changes::{Action, Change, is_litter};

/// The directory that describes the mount.
pub(super) const CONTROL: &str = ".hpimount";

/// The table in it.
pub(super) const CHANGES: &str = "changes.tsv";

/// A row of the table.
struct Row {
    path: String,
    state: &'static str,
    bytes: Option<u64>,
    note: String,
}

impl EditedMount {
    /// Returns the table of the changes, one row for each entry of DIR.
    pub(super) fn changes(&self) -> String {
        let version = self.newest();
        let mut rows = Vec::new();
        version.edits.each(&mut |path, change| {
            let (state, bytes) = match change {
                Change::Deleted => ("deleted", None),
                Change::File(file) if is_converted(path) => {
                    let is_slot = at(&version.vfs, path, |_| ()).is_ok_and(|found| found.is_some());
                    (
                        if is_slot { "edited" } else { "unchanged" },
                        Some(file.len()),
                    )
                }
                Change::File(file) => {
                    let state = match version.vfs.applied_action(path) {
                        Some(Action::Add) => "added",
                        Some(Action::Replace) => "replaced",
                        _ if path.split('/').any(is_litter) => return,
                        _ => "unchanged",
                    };
                    (state, Some(file.len()))
                }
                Change::Directory(_) | Change::Link | Change::Unusable(_) => ("unchanged", None),
            };
            rows.push(Row {
                path: path.to_owned(),
                state,
                bytes,
                note: String::new(),
            });
        });
        for (path, kept) in &version.kept {
            let (state, note) = match &kept.state {
                // It is among the changes.
                State::Edited => continue,
                State::Empty => ("empty", "is being written".to_owned()),
                State::Refused(reason) => ("refused", reason.clone()),
            };
            rows.push(Row {
                path: path.clone(),
                state,
                bytes: Some(kept.file.len()),
                note,
            });
        }
        for (path, reason) in &version.refused {
            rows.push(Row {
                path: path.clone(),
                state: "refused",
                bytes: None,
                note: reason.clone(),
            });
        }
        let inodes = lock(&self.inodes);
        for (number, _, own) in inodes.owned().filter(|(_, inode, _)| !inode.is_gone) {
            let (state, note) = match &own.note {
                Some(Note::Scratch) => ("scratch", "has the name of a temporary file".to_owned()),
                Some(Note::Empty) => ("empty", "is being written".to_owned()),
                Some(Note::Refused(reason)) => ("refused", reason.clone()),
                None => continue,
            };
            let bytes = own.bytes.attributes().ok().map(|(size, _)| size);
            rows.push(Row {
                path: inodes.path(number).unwrap_or_default(),
                state,
                bytes,
                note,
            });
        }
        drop(inodes);
        if let (Some(problem), _) = self.planner.problem() {
            rows.push(Row {
                path: String::new(),
                state: "image",
                bytes: None,
                note: problem,
            });
        }
        rows.sort_by(|one, other| (&one.path, one.state).cmp(&(&other.path, other.state)));
        table(&rows)
    }

    /// Returns why a file is refused, if it is.
    pub(super) fn refusal(&self, path: &str) -> Option<String> {
        let remembered = lock(&self.refusals).get(path).cloned();
        remembered.or_else(|| match &self.current().kept.get(path)?.state {
            State::Refused(reason) => Some(reason.clone()),
            State::Edited | State::Empty => None,
        })
    }

    /// Returns the names of the files in a directory that have been refused.
    pub(super) fn refused_in(&self, directory: &str) -> Vec<String> {
        let refusals = lock(&self.refusals);
        let paths = refusals.keys().map(|path| split(path));
        let inside = paths.filter(|(parent, _)| *parent == directory);
        inside.map(|(_, name)| name.to_owned()).collect()
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = "path\tstate\tbytes\tnote\n".to_owned();
    for row in rows {
        let bytes = row
            .bytes
            .map_or_else(String::new, |bytes| bytes.to_string());
        let (path, note) = (printable(&row.path), printable(&row.note));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{path}\t{}\t{bytes}\t{note}", row.state);
    }
    text
}
