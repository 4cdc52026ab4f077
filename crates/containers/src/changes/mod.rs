//! What the formats need to apply changes: the [`Folder`] of changes, the [`Tree`]
//! of an original's entries with what becomes of each, the [`Spliced`] source that
//! results, and the [`Report`].
//!
//! Each format declares how it is written in
//! [`Format::apply`](crate::format::Format::apply): it gets a [`Job`] with the
//! tree, and places the new data. [`apply`](mod@crate::apply) goes through
//! archives in archives.

pub(crate) mod converted;
mod folder;
pub(crate) mod matching;
pub(crate) mod member;
mod occupied;
mod report;
mod spliced;
mod tree;

use std::sync::Arc;

pub use self::converted::{Convert, Edited};
pub use self::folder::{Change, Folder, NewFile, is_litter};
pub(crate) use self::matching::are_equal;
pub(crate) use self::occupied::Occupied;
pub use self::report::{Action, Applied, Notice, Report, Weight, listed};
pub use self::spliced::{Patch, Spliced};
pub(crate) use self::tree::Directories;
pub use self::tree::{Fate, Kind, Node, Tree};
use crate::input::Input;
use crate::io::{ReadAt, Result};
use crate::volume::{Entry, NodeId, Volume};

/// Suffix of the directory with the entries of an archive.
const ENTERED: &str = ".d";

/// Finds another file beside a source by name, ignoring ASCII case.
pub type FindPartner<'a> = &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>;

/// Writes an archive with changes.
///
/// # Errors
/// Returns an error if the original or a file of the folder cannot be read, or
/// if the original is damaged. Changes that the format cannot express are
/// refused in the report instead.
pub type Apply = fn(&mut Job<'_>) -> Result<Written>;

/// An archive or a disc that is changed.
pub struct Original<'a> {
    /// Its bytes.
    pub source: Arc<dyn ReadAt>,
    /// The name of its file.
    pub name: &'a str,
    /// Finds the other files that it consists of.
    pub partner: FindPartner<'a>,
}

/// A changed archive.
pub struct Written {
    /// The archive, or the file with the data of a pair.
    pub data: Spliced,
    /// The file with the directory of a pair.
    pub directory: Option<Spliced>,
    /// The files that a sheet refers to, by their names there.
    pub files: Vec<(String, Spliced)>,
}

impl Written {
    /// Creates an archive of one file.
    pub(crate) fn alone(data: Spliced) -> Self {
        Self {
            data,
            directory: None,
            files: Vec::new(),
        }
    }
}

/// An archive with the changes that a format applies.
pub struct Job<'a> {
    /// The original.
    pub input: Input<'a>,
    /// Its entries, and what becomes of each.
    pub tree: Tree,
    /// The opened original.
    pub volume: Arc<dyn Volume>,
    /// What became of the changes.
    pub report: &'a mut Report,
    /// The path of the original's entries in the folder of changes: empty, or
    /// with a slash at the end.
    pub(crate) prefix: &'a str,
}

impl Job<'_> {
    /// Returns the path of a node for messages.
    pub(crate) fn path(&self, node: NodeId) -> String {
        format!("{}{}", self.prefix, self.tree.path(node))
    }

    /// Refuses what is to become of a node.
    pub(crate) fn refuse(&mut self, node: NodeId, reason: impl Into<String>) {
        let path = match self.tree.new_at(node) {
            Some(new) => new.path.to_string(),
            None => self.path(node),
        };
        self.report.refuse(path, reason);
    }

    /// Returns whether a file has the bytes of an entry of the original.
    pub(crate) fn is_original(&self, entry: Entry, new: &NewFile) -> Result<bool> {
        matching::is_original(&self.volume, entry, new)
    }

    /// Refuses to delete the last file of an archive that has no magic: without
    /// files it would not be recognized.
    pub(crate) fn refuse_to_empty(&mut self) {
        let reason = "would have no files, and would not be recognized any more";
        self.refuse(NodeId(0), reason);
    }

    /// Adds a note about a node.
    pub(crate) fn note(&mut self, weight: Weight, node: NodeId, text: impl Into<String>) {
        let path = self.path(node);
        self.report.note(weight, path, text);
    }
}
