//! What became of a folder of changes: counts, notes and refusals.

use std::fmt;

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// For information.
    Information,
    /// Something is likely not as expected.
    Warning,
    /// The game may read the old data, for example because it has positions of
    /// files compiled in.
    Risk,
}

/// A note or a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Path in the folder of changes, or in the original.
    pub path: String,
    /// What is said about it.
    pub text: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => formatter.write_str(&self.text),
            false => write!(formatter, "{}: {}", self.path, self.text),
        }
    }
}

/// Maximum number of refusals that a message lists.
const MAX_LISTED: usize = 50;

/// Returns refusals, one per line.
pub fn listed(refusals: &[Notice]) -> String {
    let shown = refusals.iter().take(MAX_LISTED);
    let mut lines: Vec<String> = shown.map(Notice::to_string).collect();
    if refusals.len() > MAX_LISTED {
        lines.push(format!("and {} more", refusals.len() - MAX_LISTED));
    }
    lines.join("\n")
}

/// What became of a folder of changes.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Everything that cannot be applied. If there is anything, nothing is.
    pub refusals: Vec<Notice>,
    /// Notes, such as files that were moved.
    pub notes: Vec<(Weight, Notice)>,
    /// Number of replaced files.
    pub replaced: usize,
    /// Number of added files and directories.
    pub added: usize,
    /// Number of deleted files and directories.
    pub deleted: usize,
    /// Number of files that are equal to the original, or are not applied.
    pub ignored: usize,
}

impl Report {
    /// Refuses the change at `path`.
    pub fn refuse(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.refusals.push(Notice {
            path: path.into(),
            text: reason.into(),
        });
    }

    /// Refuses everything that is a risk.
    pub fn refuse_risks(&mut self) {
        let risks = self.notes.iter();
        let risks = risks.filter(|(weight, _)| *weight == Weight::Risk);
        self.refusals
            .extend(risks.map(|(_, notice)| notice.clone()));
    }

    /// Returns the notes that are worth telling, one sentence each.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.told(|weight| weight != Weight::Information)
    }

    /// Returns the other notes, one sentence each.
    pub fn information(&self) -> impl Iterator<Item = String> {
        self.told(|weight| weight == Weight::Information)
    }

    fn told(&self, is_told: fn(Weight) -> bool) -> impl Iterator<Item = String> {
        let notes = self.notes.iter();
        let notes = notes.filter(move |(weight, _)| is_told(*weight));
        notes.map(|(_, notice)| notice.to_string())
    }

    /// Adds a note about `path`.
    pub fn note(&mut self, weight: Weight, path: impl Into<String>, text: impl Into<String>) {
        let notice = Notice {
            path: path.into(),
            text: text.into(),
        };
        self.notes.push((weight, notice));
    }
}
