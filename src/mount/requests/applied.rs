//! Files of folders of changes that a mount shows.

use serde_json::{Value, json};

use hpimount_containers::changes::{Action, Applied, AppliedPatch, NewFile, Report};

/// Returns the `applied` of `info.json`.
pub(crate) fn info(report: &Report) -> Value {
    json!({
        "replaced": report.count(Action::Replace),
        "added": report.count(Action::Add),
        "deleted": report.count(Action::Delete),
        "ignored": report.ignored,
        "notes": report.notes().collect::<Vec<_>>(),
        "patches": report.patches.iter().map(patch).collect::<Vec<_>>(),
    })
}

fn patch(patch: &AppliedPatch) -> Value {
    json!({
        "name": patch.name,
        "format": patch.format,
        "checked": patch.checked,
        "description": patch.description,
    })
}

/// The files of a folder of changes that a mount shows, by their paths in the mount.
#[derive(Default)]
pub(crate) struct AppliedFiles {
    files: Vec<Applied>,
    /// True if the source has patches, which may have changed every file.
    is_patched: bool,
}

impl AppliedFiles {
    /// Takes the files of a report.
    pub(crate) fn of(report: Report) -> Self {
        let mut applied = report.applied;
        applied.retain(|applied| applied.new_file().is_some());
        applied.sort_by(|one, other| one.path().cmp(other.path()));
        applied.shrink_to_fit();
        Self {
            files: applied,
            is_patched: !report.patches.is_empty(),
        }
    }

    /// Returns whether the mount shows nothing from a folder or a patch.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.is_patched
    }

    /// Returns the file at a path in the mount.
    pub(crate) fn get(&self, path: &str) -> Option<NewFile> {
        self.find(path)?.new_file()
    }

    /// Returns what became of the file at a path in the mount.
    pub(crate) fn action(&self, path: &str) -> Option<Action> {
        self.find(path).map(Applied::action)
    }

    fn find(&self, path: &str) -> Option<&Applied> {
        let found = self
            .files
            .binary_search_by(|applied| applied.path().cmp(path));
        Some(&self.files[found.ok()?])
    }

    /// Returns whether a path in the mount begins with `prefix`.
    pub(crate) fn begins(&self, prefix: &str) -> bool {
        let first = self
            .files
            .partition_point(|applied| applied.path() < prefix);
        let first = self.files.get(first);
        first.is_some_and(|applied| applied.path().starts_with(prefix))
    }

    /// Returns all files with their paths in the mount, sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, NewFile)> {
        let files = self.files.iter();
        files.filter_map(|applied| Some((applied.path(), applied.new_file()?)))
    }
}
