//! The outcome of a folder of changes: counts, notes and refusals.

use std::fmt;
use std::sync::Arc;

use super::new_file::{NewFile, NewFiles};

/// The severity of a note.
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
    /// The message about it.
    pub text: String,
    /// The two files, if it is about files that contradict each other.
    pub rivals: Option<Rivals>,
}

/// Two files of changes that say different things about one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rivals {
    /// Their paths in the folder of changes.
    pub paths: [Box<str>; 2],
    /// The path of the value that they disagree about; none if they do as a whole.
    pub value: Option<Box<str>>,
}

impl Notice {
    /// Creates a notice about one path.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            rivals: None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => formatter.write_str(&self.text),
            false => write!(formatter, "{}: {}", self.path, self.text),
        }
    }
}

/// The effect of changes on an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A file has new contents.
    Replace,
    /// A file or a directory is new.
    Add,
    /// A file or a directory is gone.
    Delete,
}

impl Action {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Add => "add",
            Self::Delete => "delete",
        }
    }
}

/// A change that is applied. There may be hundreds of thousands.
#[derive(Debug, Clone)]
pub struct Applied(Entry);

/// The entry that a change is of.
#[derive(Debug, Clone)]
enum Entry {
    /// It has the same path in a mount as its contents, a file with a number, have in the
    /// folder of changes.
    Same(Action, Arc<NewFiles>, u32),
    Other(Box<Other>),
}

/// An entry with a path in a mount.
#[derive(Debug, Clone)]
struct Other {
    action: Action,
    path: Box<str>,
    new: Option<NewFile>,
}

impl Applied {
    /// Creates a change of the entry at `path` in a mount.
    pub(super) fn new(action: Action, path: String, new: Option<NewFile>) -> Self {
        let same = new.as_ref().filter(|new| *new.path() == *path);
        Self(match same.and_then(NewFile::row) {
            Some((files, number)) => Entry::Same(action, files.clone(), number),
            None => Entry::Other(Box::new(Other {
                action,
                path: path.into(),
                new,
            })),
        })
    }

    /// Returns what becomes of the entry.
    pub fn action(&self) -> Action {
        match &self.0 {
            Entry::Same(action, ..) => *action,
            Entry::Other(other) => other.action,
        }
    }

    /// Returns the path of the entry in a mount.
    pub fn path(&self) -> &str {
        match &self.0 {
            Entry::Same(_, files, number) => files.path(*number),
            Entry::Other(other) => &other.path,
        }
    }

    /// Returns its contents; `None` for a directory and for a deleted entry.
    pub fn new_file(&self) -> Option<NewFile> {
        match &self.0 {
            Entry::Same(_, files, number) => Some(NewFile::of(files, *number)),
            Entry::Other(other) => other.new.clone(),
        }
    }

    /// Returns its memory on the heap, in bytes.
    fn heap_size(&self) -> usize {
        match &self.0 {
            Entry::Same(..) => 0,
            Entry::Other(other) => size_of::<Other>() + other.path.len(),
        }
    }
}

/// Maximum number of refusals that a message lists.
const MAX_LISTED: usize = 50;

/// Returns refusals, one per line.
pub fn listed(refusals: &[Notice]) -> String {
    lines(refusals).join("\n")
}

/// Returns the first refusals, and how many there are more.
pub fn lines(refusals: &[Notice]) -> Vec<String> {
    let shown = refusals.iter().take(MAX_LISTED);
    let mut lines: Vec<String> = shown.map(Notice::to_string).collect();
    if refusals.len() > MAX_LISTED {
        lines.push(format!("and {} more", refusals.len() - MAX_LISTED));
    }
    lines
}

/// Maximum number of notes of a weight that are kept: an archive may have a million
/// files.
const MAX_NOTES: usize = 1000;

/// A patch that was applied to the whole file.
#[derive(Debug, Clone)]
pub struct AppliedPatch {
    /// The name of its file.
    pub name: String,
    /// Its format.
    pub format: String,
    /// The part of the original that was compared.
    pub checked: &'static str,
    /// The words of its author, escaped; or how much it changes.
    pub description: String,
}

/// The outcome of a folder of changes.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Everything that cannot be applied. If there is anything, nothing is.
    pub refusals: Vec<Notice>,
    /// Notes, such as files that were moved: of each weight the first [`MAX_NOTES`].
    notes: Vec<(Weight, Notice)>,
    /// Number of all notes, by weight.
    counts: [usize; 3],
    /// Everything that is applied.
    pub applied: Vec<Applied>,
    /// Number of files that are equal to the original, or are not applied.
    pub ignored: usize,
    /// Memory of the archives that are changed inside, in bytes: those that were
    /// decoded into memory, and the tables of the changed ones.
    pub inside: usize,
    /// The patches of the whole file.
    pub patches: Vec<AppliedPatch>,
}

impl Report {
    /// Refuses the change at `path`.
    pub fn refuse(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.refusals.push(Notice::new(path, reason));
    }

    /// Refuses what two files say differently about the entry at `path`.
    pub(crate) fn refuse_rivals(
        &mut self,
        path: impl Into<String>,
        reason: impl Into<String>,
        rivals: [&NewFile; 2],
    ) {
        self.refusals.push(Notice {
            rivals: Some(Rivals {
                paths: rivals.map(|file| file.path().into()),
                value: None,
            }),
            ..Notice::new(path, reason)
        });
    }

    /// Refuses what two files say differently about a value, which has a path in the entry at
    /// `path`.
    pub fn refuse_values(
        &mut self,
        path: impl Into<String>,
        reason: impl Into<String>,
        files: [&NewFile; 2],
        value: &str,
    ) {
        self.refusals.push(Notice {
            rivals: Some(Rivals {
                paths: files.map(|file| file.path().into()),
                value: Some(value.into()),
            }),
            ..Notice::new(path, reason)
        });
    }

    /// Returns how many entries this is done to.
    pub fn count(&self, action: Action) -> usize {
        self.applied
            .iter()
            .filter(|applied| applied.action() == action)
            .count()
    }

    /// Returns the memory of the list of applied changes and of archives that are
    /// changed inside, in bytes.
    pub fn memory(&self) -> usize {
        let others = self.applied.iter().map(Applied::heap_size);
        self.applied.capacity() * size_of::<Applied>() + others.sum::<usize>() + self.inside
    }

    /// Adds what another report says.
    pub fn extend(&mut self, other: Self) {
        self.refusals.extend(other.refusals);
        self.notes.extend(other.notes);
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.applied.extend(other.applied);
        self.ignored += other.ignored;
        self.inside += other.inside;
        self.patches.extend(other.patches);
    }

    /// Returns one line of how much is applied.
    pub fn summary(&self) -> String {
        format!(
            "{} replaced, {} added, {} deleted, {} ignored",
            self.count(Action::Replace),
            self.count(Action::Add),
            self.count(Action::Delete),
            self.ignored
        )
    }

    /// Refuses everything that is a risk.
    pub fn refuse_risks(&mut self) {
        let risks = self.notes.iter();
        let risks = risks.filter(|(weight, _)| *weight == Weight::Risk);
        self.refusals
            .extend(risks.map(|(_, notice)| notice.clone()));
    }

    /// Returns all notes, one sentence each.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.told(|_| true)
    }

    /// Returns the notes that are worth telling, one sentence each.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.told(|weight| weight != Weight::Information)
    }

    /// Returns the other notes, one sentence each.
    pub fn information(&self) -> impl Iterator<Item = String> {
        self.told(|weight| weight == Weight::Information)
    }

    /// Returns notes, and how many there are more of each weight.
    fn told(&self, is_told: fn(Weight) -> bool) -> impl Iterator<Item = String> {
        let told = move |weight: &Weight| is_told(*weight);
        let notes = self.notes.iter().filter(move |(weight, _)| told(weight));
        let weights = [Weight::Information, Weight::Warning, Weight::Risk];
        let more = weights.into_iter().filter(told).filter_map(|weight| {
            let kept = self.notes.iter().filter(|note| note.0 == weight).count();
            let more = self.counts[weight as usize] - kept;
            let kind = match weight {
                Weight::Information => "notes",
                Weight::Warning => "warnings",
                Weight::Risk => "risks",
            };
            (more > 0).then(|| format!("{more} more of the {kind}"))
        });
        notes.map(|(_, notice)| notice.to_string()).chain(more)
    }

    /// Adds a note about `path`.
    pub fn note(&mut self, weight: Weight, path: impl Into<String>, text: impl Into<String>) {
        let count = &mut self.counts[weight as usize];
        *count += 1;
        if *count <= MAX_NOTES {
            self.notes.push((weight, Notice::new(path, text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_beyond_the_first_thousand_of_a_weight_are_counted() {
        let mut report = Report::default();
        for number in 0..MAX_NOTES + 2 {
            report.note(Weight::Information, number.to_string(), "is moved");
        }
        report.note(Weight::Risk, "a", "is moved");
        assert_eq!(report.information().last().unwrap(), "2 more of the notes");
        assert_eq!(report.warnings().collect::<Vec<_>>(), ["a: is moved"]);
        assert_eq!(report.notes().count(), MAX_NOTES + 2);
        for number in 0..MAX_NOTES {
            report.note(Weight::Risk, number.to_string(), "is moved");
        }
        let notes: Vec<_> = report.notes().collect();
        assert_eq!(
            notes[notes.len() - 2..],
            ["2 more of the notes", "1 more of the risks"]
        );
    }
}
