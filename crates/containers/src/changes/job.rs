//! An archive with its changes: what becomes of each entry, and the notes about it.

use std::sync::Arc;

use super::member::member;
use super::new_file::NewFile;
use super::report::{Action, Applied, Report, Weight};
use super::tree::{Fate, Kind, Tree};
use crate::io::{Compact, ReadAt, Result, read_vec, undamaged};
use crate::volume::{Entry, FileId, NodeId, Volume};

/// Number of bytes that are compared at a time.
const PIECE: u64 = 64 << 10;

/// An archive with the changes that a format applies.
pub struct Job<'a> {
    /// Its entries, with the fate of each.
    pub tree: Tree,
    /// The opened original.
    pub volume: Arc<dyn Volume>,
    /// The report on the changes.
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

    /// Returns the added entries, each after its parent. Unlike the iterator of the tree,
    /// the list does not borrow the job.
    pub(crate) fn added(&self) -> Vec<NodeId> {
        self.tree.added().map(|(node, _)| node).collect()
    }

    /// Returns the added files with their contents, in the same way.
    pub(crate) fn added_files(&self) -> Vec<(NodeId, NewFile)> {
        let files = self.tree.added_files();
        files.map(|(node, new)| (node, new.clone())).collect()
    }

    /// Returns a file of the original with its new contents, if it is replaced.
    pub(crate) fn replaced(&self, file: FileId) -> Option<(NodeId, NewFile)> {
        let node = self.tree.node_of(file)?;
        Some((node, self.tree.new_at(node)?.clone()))
    }

    /// Reports that the change at a node cannot be applied.
    pub(crate) fn refuse(&mut self, node: NodeId, reason: impl Into<String>) {
        let path = match self.tree.new_at(node) {
            Some(new) => new.path().to_owned(),
            None => self.path(node),
        };
        self.report.refuse(path, reason);
    }

    /// Refuses to delete the last file of an archive that has no magic: without
    /// files it would not be recognized.
    pub(crate) fn refuse_to_empty(&mut self) {
        let reason = "would have no files, and would not be recognized any more";
        self.refuse(NodeId(0), reason);
    }

    /// Refuses to make the original longer than it is while files that stay point
    /// past its end: they would show the new data.
    pub(crate) fn refuse_to_extend(&mut self, cut: &[FileId]) {
        for &file in cut {
            let node = self.tree.node_of(file).unwrap_or(NodeId(0));
            let reason = "ends past the end of the original, where new data would have to \
                          be: replace or delete it";
            self.refuse(node, reason);
        }
    }

    /// Returns the files that stay and end past the end of the original, from the
    /// end of each file, in the unit of `length`.
    pub(crate) fn cut(&self, ends: impl Iterator<Item = u64>, length: u64) -> Vec<FileId> {
        let cut = (0..).map(FileId).zip(ends).filter(|&(_, end)| end > length);
        let files = cut.map(|(file, _)| file);
        let stays =
            |&file: &FileId| !self.tree.is_file_deleted(file) && self.tree.new_of(file).is_none();
        files.filter(stays).collect()
    }

    /// Adds a note about a node.
    pub(crate) fn note(&mut self, weight: Weight, node: NodeId, text: impl Into<String>) {
        let path = self.path(node);
        self.report.note(weight, path, text);
    }

    /// Gives a file of the original new contents, unless they are the old ones.
    ///
    /// # Errors
    /// Returns an error if the original or the new file cannot be read.
    pub(crate) fn replace(&mut self, node: NodeId, new: NewFile) -> Result<()> {
        let node = self.tree.resolve(node);
        if let Some(other) = self.tree.new_at(node) {
            if !are_equal(other, &new)? {
                let reason = format!("is changed differently by {}", other.path());
                let rivals = [&new, other];
                self.report.refuse_rivals(new.path(), reason, rivals);
            }
            return Ok(());
        }
        if let Kind::File(Some(entry)) = self.tree.node(node).kind
            && self.is_original(entry, &new)?
        {
            self.report.ignored += 1;
            return Ok(());
        }
        self.tree.set(node, Fate::New(new.clone()));
        self.applied(Action::Replace, node, Some(new));
        Ok(())
    }

    /// Adds a file that is not in the original.
    pub(super) fn add_file(&mut self, parent: NodeId, name: &str, new: NewFile) {
        let node = self.tree.add_file(parent, name, new.clone());
        self.applied(Action::Add, node, Some(new));
    }

    /// Adds a directory that is not in the original.
    pub(super) fn add_directory(&mut self, parent: NodeId, name: &str) -> NodeId {
        let node = self.tree.add_directory(parent, name);
        self.applied(Action::Add, node, None);
        node
    }

    /// Deletes an entry with everything in it.
    pub(super) fn delete(&mut self, node: NodeId) {
        if self.tree.delete(node) > 0 {
            self.applied(Action::Delete, node, None);
        }
    }

    /// Notes what becomes of an entry.
    fn applied(&mut self, action: Action, node: NodeId, new: Option<NewFile>) {
        let applied = Applied::new(action, self.path(node), new);
        self.report.applied.make_room(1);
        self.report.applied.push(applied);
    }

    /// Returns whether a file has the bytes of an entry of the original. One that
    /// cannot be decoded has other bytes.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read.
    pub(crate) fn is_original(&self, entry: Entry, new: &NewFile) -> Result<bool> {
        if entry.size.is_some_and(|size| size != new.len()) {
            return Ok(false);
        }
        match undamaged(member(&self.volume, entry))? {
            Some(original) => are_equal(&*original, new),
            None => Ok(false),
        }
    }
}

/// Returns whether two sources have the same bytes.
///
/// # Errors
/// Returns an error if one of them cannot be read.
pub fn are_equal(one: &dyn ReadAt, other: &dyn ReadAt) -> Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let mut offset = 0;
    while offset < one.len() {
        let length = (one.len() - offset).min(PIECE);
        let left = read_vec(one, offset, length, "original")?;
        if left != read_vec(other, offset, length, "new file")? {
            return Ok(false);
        }
        offset += length;
    }
    Ok(true)
}
