//! `.hpimount/changes.tsv`, which tells what became of the files of DIR, and what
//! `.hpimount/info.json` says about it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::folder::split;
use super::inode::Note;
use super::names::{CONTROL, may_be_in_view};
use super::version::{State, Version, time_of};
use super::{EditedMount, at};
use crate::mount::{FileKind, Ino};
use crate::namespace::joined;
use crate::printable::printable;
use crate::sync::lock;
use hpimount_assets::view::json::pretty;
use hpimount_containers::changes::{Action, Change, NewFile, is_litter};

/// The table in the directory that describes the mount.
pub(super) const CHANGES: &str = "changes.tsv";

/// The facts in it.
pub(super) const INFO: &str = "info.json";

/// A row of the table.
#[derive(Default)]
struct Row {
    path: String,
    state: &'static str,
    /// The asset that a converted file shows.
    asset: Option<String>,
    bytes: Option<u64>,
    /// Size of what it replaces.
    original_bytes: Option<u64>,
    modified: Option<SystemTime>,
    note: String,
}

impl Row {
    fn of_file(path: &str, state: &'static str, file: &NewFile) -> Self {
        Self {
            path: path.to_owned(),
            state,
            bytes: Some(file.len()),
            modified: time_of(file),
            ..Self::default()
        }
    }
}

impl EditedMount {
    /// Returns the table of the changes of a version, one row for each entry of DIR.
    pub(super) fn changes(&self, version: &Version) -> String {
        table(&self.rows(version))
    }

    /// Returns the facts about the mount, with those about the changes of a version.
    pub(super) fn info(&self, version: &Version) -> Option<String> {
        let read = |ino: Ino| {
            let size = version.vfs.getattr(ino).ok()?.size;
            version.vfs.read(ino, 0, u32::try_from(size).ok()?).ok()
        };
        let info = at(&version.vfs, &joined(CONTROL, INFO), read).ok()??;
        let mut info: Map<String, Value> = serde_json::from_slice(&info?).ok()?;
        let mut states = BTreeMap::new();
        for row in self.rows(version) {
            *states.entry(row.state).or_insert(0) += 1;
        }
        let (problem, took) = self.planner.state();
        let edit = json!({
            "folder": self.path.to_string_lossy(),
            "version": version.number,
            "planned_ms": took.as_millis() as u64,
            "problem": problem,
            "entries": states,
        });
        info.insert("edit".to_owned(), edit);
        String::from_utf8(pretty(&info)).ok()
    }

    fn rows(&self, version: &Version) -> Vec<Row> {
        let mut rows = Vec::new();
        version
            .edits
            .each(&mut |path, change| rows.extend(self.row(version, path, change)));
        for (path, kept) in &version.kept {
            let (state, note) = match &kept.state {
                // It is among the changes.
                State::Edited => continue,
                State::Empty => ("empty", "is being written".to_owned()),
                State::Refused(reason) => ("refused", reason.clone()),
            };
            rows.push(Row {
                note,
                ..Row::of_file(path, state, &kept.file)
            });
        }
        rows.extend(version.refused.iter().map(|(path, reason)| Row {
            path: path.clone(),
            state: "refused",
            note: reason.clone(),
            ..Row::default()
        }));
        let inodes = lock(&self.inodes);
        for (number, _, own) in inodes.owned().filter(|(_, inode, _)| !inode.is_gone) {
            let (state, note) = match &own.note {
                Some(Note::Scratch) => ("scratch", "has the name of a temporary file".to_owned()),
                Some(Note::Empty) => ("empty", "is being written".to_owned()),
                Some(Note::Refused(reason)) => ("refused", reason.clone()),
                None => continue,
            };
            let attributes = own.bytes.attributes().ok();
            rows.push(Row {
                path: inodes.path(number).unwrap_or_default(),
                state,
                bytes: attributes.map(|(size, _)| size),
                modified: attributes.map(|(_, modified)| modified),
                note,
                ..Row::default()
            });
        }
        drop(inodes);
        if let (Some(problem), _) = self.planner.state() {
            rows.push(Row {
                state: "image",
                note: problem,
                ..Row::default()
            });
        }
        rows.sort_by(|one, other| (&one.path, one.state).cmp(&(&other.path, other.state)));
        rows
    }

    /// Returns the row of what a version has from DIR at a path.
    fn row(&self, version: &Version, path: &str, change: &Change) -> Option<Row> {
        let mut asset = None;
        let state = match (change, version.vfs.applied_action(path)) {
            (Change::Deleted, _) => "deleted",
            (Change::File(_), None) if may_be_in_view(path) => {
                match at(&version.vfs, path, |ino| version.vfs.shown_asset(ino)) {
                    Ok(Some(shown)) => {
                        asset = shown;
                        "edited"
                    }
                    _ => "unchanged",
                }
            }
            (Change::File(_), Some(Action::Add)) => "added",
            (Change::File(_), Some(Action::Replace)) => "replaced",
            (Change::File(_), _) if path.split('/').any(is_litter) => return None,
            _ => "unchanged",
        };
        let superseded = lock(&self.superseded).get(path).cloned();
        let note = superseded.map_or_else(String::new, |values| format!("superseded: {values}"));
        let row = match change {
            Change::File(file) => Row {
                note,
                ..Row::of_file(path, state, file)
            },
            _ => Row {
                path: path.to_owned(),
                state,
                ..Row::default()
            },
        };
        Some(Row {
            asset,
            original_bytes: self.original_size(path),
            ..row
        })
    }

    /// Returns the size of the file that the sources have at a path without DIR, unless it
    /// is generated.
    fn original_size(&self, path: &str) -> Option<u64> {
        let original = self.original().ok()?;
        let size = |ino| {
            let attr = original.getattr(ino).ok()?;
            (attr.kind == FileKind::File).then_some(attr.size)
        };
        let plain = |ino| (!original.is_generated(ino)).then(|| size(ino)).flatten();
        at(original, path, plain).ok()??
    }

    /// Returns why a file is refused, if it is.
    pub(super) fn refusal(&self, path: &str) -> Option<String> {
        let remembered = lock(&self.refusals).get(path).cloned();
        remembered.or_else(|| {
            let version = self.current();
            let reason = match &version.kept.get(path)?.state {
                State::Refused(reason) => reason.clone(),
                State::Edited | State::Empty => return None,
            };
            let is_behind = lock(&self.inodes).is_behind(version.number, path);
            (!is_behind).then_some(reason)
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
    let mut text = "path\tstate\tasset\tbytes\toriginal_bytes\tmodified\tnote\n".to_owned();
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    for row in rows {
        let asset = row.asset.as_deref().map(printable).unwrap_or_default();
        let modified = row.modified.and_then(|time| Timestamp::try_from(time).ok());
        let modified = modified.map_or_else(String::new, |time| format!("{time:.0}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}\t{}\t{asset}\t{}\t{}\t{modified}\t{}",
            printable(&row.path),
            row.state,
            number(row.bytes),
            number(row.original_bytes),
            printable(&row.note)
        );
    }
    text
}
