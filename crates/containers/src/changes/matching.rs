//! Matching a folder of changes against the entries of an original.

use std::collections::btree_map::Entry as MapEntry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::ENTERED;
use super::converted::{CONVERTED, Edited, enter_archives};
use super::folder::{Change, Folder, NewFile, is_litter};
use super::member::member;
use super::report::{Action, Applied, Report, Weight};
use super::tree::{Fate, Kind, Tree};
use crate::io::{ReadAt, Result};
use crate::volume::{Entry, MAX_DEPTH, NodeId, Volume};

/// Number of bytes that are compared at a time.
const PIECE: u64 = 64 << 10;

/// Suffix of the directory with the metadata of an asset.
const META: &str = ".meta";

/// Changes of the entries inside a file.
pub(crate) struct Inside {
    /// The file.
    pub(crate) node: NodeId,
    /// The changes.
    pub(crate) folder: Folder,
    /// Path of these in the folder of changes, without a slash at the end.
    pub(crate) path: String,
}

/// The changes of a folder that are not files of the original.
pub(crate) struct Matched {
    /// Changes inside of files.
    pub(crate) inside: Vec<Inside>,
    /// Edited files of the converted tree.
    pub(crate) edited: Option<Edited>,
}

/// Sets what becomes of the nodes of `tree`, and returns the other changes.
/// `prefix` is the path of `folder` in the whole folder of changes; it is empty
/// or ends in a slash.
///
/// # Errors
/// Returns an error if the original or a file of the folder cannot be read.
pub(crate) fn match_folder(
    folder: Folder,
    prefix: &str,
    tree: &mut Tree,
    volume: &Arc<dyn Volume>,
    report: &mut Report,
) -> Result<Matched> {
    let mut matching = Matching {
        prefix,
        tree,
        volume,
        report,
        inside: Vec::new(),
        edited: None,
    };
    matching.directory(folder, NodeId(0), prefix, 0)?;
    let Matching {
        mut inside,
        mut edited,
        ..
    } = matching;
    if let Some(Edited { folder, path }) = &mut edited {
        enter_archives(folder, NodeId(0), path, tree, &mut inside, report);
    }
    Ok(Matched { inside, edited })
}

struct Matching<'a> {
    /// Path of the root of the tree in the mount.
    prefix: &'a str,
    tree: &'a mut Tree,
    volume: &'a Arc<dyn Volume>,
    report: &'a mut Report,
    inside: Vec<Inside>,
    edited: Option<Edited>,
}

impl Matching<'_> {
    /// Applies a folder to the directory `at`.
    fn directory(&mut self, folder: Folder, at: NodeId, path: &str, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            let reason = format!("is nested deeper than {MAX_DEPTH} directories");
            self.report.refuse(path.trim_end_matches('/'), reason);
            return Ok(());
        }
        let is_opaque = folder.is_opaque;
        let mut named = HashSet::new();
        for (name, change) in self.merged(folder, path) {
            let full = format!("{path}{name}");
            match self.tree.find(at, &name) {
                Ok(Some(node)) => {
                    named.insert(node);
                    self.present(node, change, full, depth)?;
                }
                Ok(None) => self.absent(at, &name, change, full, depth)?,
                Err(names) => {
                    let reason = format!("may be any of {}", names.join(", "));
                    self.report.refuse(full, reason);
                }
            }
        }
        if is_opaque {
            let unnamed: Vec<NodeId> = self.tree.children(at).collect();
            let unnamed = unnamed.into_iter().filter(|node| !named.contains(node));
            for node in unnamed {
                if !self.tree.node(node).is_added {
                    self.delete(node);
                }
            }
        }
        Ok(())
    }

    /// Returns the changes of a folder, with directories merged whose names
    /// differ only in case.
    fn merged(&mut self, folder: Folder, path: &str) -> Vec<(String, Change)> {
        let mut merged: BTreeMap<String, (String, Change)> = BTreeMap::new();
        for (name, change) in folder.entries {
            match merged.entry(name.to_ascii_lowercase()) {
                MapEntry::Vacant(free) => {
                    free.insert((name, change));
                }
                MapEntry::Occupied(mut taken) => {
                    let (first, known) = taken.get_mut();
                    let other = format!("{path}{name}");
                    match (known, change) {
                        (Change::Directory(one), Change::Directory(two)) => {
                            for twice in one.absorb(two) {
                                let reason = format!("has the same name as {other}/{twice}");
                                self.report.refuse(format!("{path}{first}/{twice}"), reason);
                            }
                        }
                        _ => {
                            let reason = format!("has the same name as {other}");
                            self.report.refuse(format!("{path}{first}"), reason);
                        }
                    }
                }
            }
        }
        merged.into_values().collect()
    }

    /// Applies a change to an entry of the original.
    fn present(&mut self, node: NodeId, change: Change, path: String, depth: usize) -> Result<()> {
        let is_directory = matches!(self.tree.node(node).kind, Kind::Directory);
        match change {
            Change::Unusable(reason) => self.report.refuse(path, reason),
            Change::Deleted => self.delete(node),
            Change::Link if matches!(self.tree.node(node).kind, Kind::Link(_)) => {
                self.report.ignored += 1;
            }
            Change::Link => self.report.refuse(path, "is a symbolic link"),
            Change::Directory(folder) if is_directory => {
                self.directory(folder, node, &format!("{path}/"), depth + 1)?;
            }
            Change::Directory(_) | Change::File(_)
                if is_directory || self.is_directory(&change) =>
            {
                self.delete(node);
                let (parent, name) = (self.tree.parent(node), self.tree.node(node).name.clone());
                self.add(parent, &name, change, path, depth)?;
            }
            Change::Directory(_) => {}
            Change::File(new) => {
                replace(self.tree, self.volume, self.report, self.prefix, node, new)?
            }
        }
        Ok(())
    }

    fn is_directory(&self, change: &Change) -> bool {
        matches!(change, Change::Directory(_))
    }

    /// Applies a change of a name that the original does not have.
    fn absent(
        &mut self,
        parent: NodeId,
        name: &str,
        change: Change,
        path: String,
        depth: usize,
    ) -> Result<()> {
        let is_root = parent == NodeId(0);
        let is_image = || {
            let files = self.volume.plain_files("disc");
            files.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        match change {
            Change::Deleted => self.report.ignored += 1,
            _ if is_litter(name) => {
                self.report.ignored += 1;
                self.report.note(Weight::Information, path, "is skipped");
            }
            Change::Unusable(reason) => self.report.refuse(path, reason),
            Change::Link => self.report.refuse(path, "is a symbolic link"),
            Change::Directory(_) if is_root && name == ".hpimount" => {
                self.report.refuse(path, "is generated");
            }
            Change::File(_) if is_root && is_image() => {
                self.report.refuse(path, "is generated");
            }
            Change::Directory(folder) if is_root && name.eq_ignore_ascii_case(CONVERTED) => {
                self.edited = Some(Edited { folder, path });
            }
            Change::Directory(folder)
                if let Some(node) = companion(self.tree, parent, name, ENTERED) =>
            {
                self.inside.push(Inside { node, folder, path });
            }
            Change::Directory(_) if companion(self.tree, parent, name, META).is_some() => {
                let asset = &name[..name.len() - META.len()];
                let reason = format!("is generated: change {asset} itself");
                self.report.refuse(path, reason);
            }
            change => self.add(parent, name, change, path, depth)?,
        }
        Ok(())
    }

    /// Deletes an entry with everything in it.
    fn delete(&mut self, node: NodeId) {
        if self.tree.delete(node) > 0 {
            self.applied(Action::Delete, node, None);
        }
    }

    fn applied(&mut self, action: Action, node: NodeId, contents: Option<(String, u64)>) {
        applied(self.tree, self.report, self.prefix, action, node, contents);
    }

    /// Adds a file or a directory.
    fn add(
        &mut self,
        parent: NodeId,
        name: &str,
        change: Change,
        path: String,
        depth: usize,
    ) -> Result<()> {
        match change {
            Change::File(new) => {
                let contents = Some((new.path.to_string(), new.len()));
                let node = self
                    .tree
                    .add(parent, name, Kind::File(None), Fate::New(new));
                self.applied(Action::Add, node, contents);
            }
            Change::Directory(folder) => {
                let node = self.tree.add(parent, name, Kind::Directory, Fate::Kept);
                self.applied(Action::Add, node, None);
                self.directory(folder, node, &format!("{path}/"), depth + 1)?;
            }
            Change::Deleted | Change::Link | Change::Unusable(_) => {}
        }
        Ok(())
    }
}

/// Returns the file that a directory of this name would be a companion of.
pub(crate) fn companion(tree: &Tree, parent: NodeId, name: &str, suffix: &str) -> Option<NodeId> {
    let split = name.len().checked_sub(suffix.len())?;
    let (stem, end) = (name.get(..split)?, name.get(split..)?);
    if !end.eq_ignore_ascii_case(suffix) {
        return None;
    }
    let node = tree.resolve(tree.find(parent, stem).ok()??);
    let is_file = matches!(tree.node(node).kind, Kind::File(_));
    (is_file && !tree.is_deleted(node)).then_some(node)
}

/// Gives a file of the original new contents, unless they are the old ones.
pub(crate) fn replace(
    tree: &mut Tree,
    volume: &Arc<dyn Volume>,
    report: &mut Report,
    prefix: &str,
    node: NodeId,
    new: NewFile,
) -> Result<()> {
    let node = tree.resolve(node);
    if let Fate::New(other) = &tree.node(node).fate {
        if !are_equal(&*other.bytes, &*new.bytes)? {
            let reason = format!("is changed differently by {}", other.path);
            report.refuse(&*new.path, reason);
        }
        return Ok(());
    }
    if let Kind::File(Some(entry)) = tree.node(node).kind
        && is_original(volume, entry, &new)?
    {
        report.ignored += 1;
        return Ok(());
    }
    let contents = Some((new.path.to_string(), new.len()));
    tree.set(node, Fate::New(new));
    applied(tree, report, prefix, Action::Replace, node, contents);
    Ok(())
}

/// Notes what becomes of an entry; `prefix` is the path of the root of the tree in
/// the mount.
fn applied(
    tree: &Tree,
    report: &mut Report,
    prefix: &str,
    action: Action,
    node: NodeId,
    contents: Option<(String, u64)>,
) {
    let (from, bytes) = contents.unzip();
    report.applied.push(Applied {
        action,
        path: format!("{prefix}{}", tree.path(node)),
        from,
        bytes,
    });
}

/// Returns whether a file has the bytes of an entry of a volume. One that cannot
/// be decoded has other bytes.
pub(crate) fn is_original(volume: &Arc<dyn Volume>, entry: Entry, new: &NewFile) -> Result<bool> {
    if entry.size.is_some_and(|size| size != new.len()) {
        return Ok(false);
    }
    match member(volume, entry) {
        Ok(original) => are_equal(&*original, &*new.bytes),
        Err(error) if error.is_fault() => Err(error),
        Err(_) => Ok(false),
    }
}

/// Returns whether two sources have the same bytes.
pub(crate) fn are_equal(one: &dyn ReadAt, other: &dyn ReadAt) -> Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let mut offset = 0;
    while offset < one.len() {
        let length = (one.len() - offset).min(PIECE);
        let left = crate::io::read_vec(one, offset, length, "original")?;
        if left != crate::io::read_vec(other, offset, length, "new file")? {
            return Ok(false);
        }
        offset += length;
    }
    Ok(true)
}
