//! What a mount shows of folders of changes.

use std::collections::HashMap;

use serde_json::{Value, json};

use hpimount_containers::changes::{Action, Report};

/// Returns the `applied` of `info.json`.
pub(super) fn info(report: &Report) -> Value {
    let notes = report.notes.iter().map(|(_, notice)| notice.to_string());
    json!({
        "replaced": report.count(Action::Replace),
        "added": report.count(Action::Add),
        "deleted": report.count(Action::Delete),
        "ignored": report.ignored,
        "notes": notes.collect::<Vec<_>>(),
    })
}

/// The paths in a folder of changes of what a mount shows from there.
#[derive(Default)]
pub(super) struct AppliedPaths(HashMap<String, String>);

impl AppliedPaths {
    /// Returns the paths in a report.
    pub(super) fn of(report: &Report) -> Self {
        let applied = report.applied.iter();
        let paths =
            applied.filter_map(|applied| Some((applied.path.clone(), applied.from.clone()?)));
        Self(paths.collect())
    }

    /// Returns whether the mount shows nothing from a folder.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path in the folder of the file at a path in the mount.
    pub(super) fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Returns all pairs of paths, in the mount and in the folder.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(path, from)| (path.as_str(), from.as_str()))
    }
}
