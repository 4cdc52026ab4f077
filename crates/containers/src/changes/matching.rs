//! Matching a folder of changes against the entries of an original.

use std::collections::HashSet;

use super::folder::{Change, Folder, is_litter};
use super::job::Job;
use super::report::Weight;
use super::tree::{Kind, folded};
use crate::io::Result;
use crate::volume::{FileId, MAX_DEPTH, NodeId};

/// Suffix of the directory with the entries of an archive.
pub(super) const ENTERED: &str = ".d";

/// Suffix of the directory with the metadata of an asset.
const META: &str = ".meta";

/// The directory with the edited files of an archive, in its root.
pub(super) const CONVERTED: &str = "converted";

/// Changes of the entries inside a file.
pub(crate) struct Inside {
    /// The file.
    pub(crate) node: NodeId,
    /// The changes.
    pub(crate) folder: Folder,
    /// Path of these in the folder of changes, without a slash at the end.
    pub(crate) path: String,
}

/// The edited files that show assets of an archive.
#[derive(Default)]
pub struct Edited {
    /// The files in its converted tree.
    pub converted: Option<EditedFolder>,
    /// The files in the metadata directories of assets, each with its asset.
    pub views: Vec<(FileId, EditedFolder)>,
}

impl Edited {
    /// Returns all directories with edited files.
    pub fn folders(&self) -> impl Iterator<Item = &EditedFolder> {
        let views = self.views.iter().map(|(_, folder)| folder);
        self.converted.iter().chain(views)
    }

    /// Returns whether there are no edited files.
    pub fn is_empty(&self) -> bool {
        self.folders()
            .all(|edited| edited.folder.entries.is_empty())
    }
}

/// A directory with edited files.
pub struct EditedFolder {
    /// Its entries.
    pub folder: Folder,
    /// Its path in the folder of changes, without a slash at the end.
    pub path: String,
}

/// The changes of a folder that are not files of the original.
#[derive(Default)]
pub(crate) struct Matched {
    /// Changes inside of files.
    pub(crate) inside: Vec<Inside>,
    /// Edited files that show assets.
    pub(crate) edited: Edited,
}

/// Sets what becomes of the nodes of an archive's tree, and returns the other
/// changes of `folder`. `is_archive` tells by their names which files are archives.
///
/// # Errors
/// Returns an error if the original or a file of the folder cannot be read.
pub(crate) fn match_folder(
    folder: Folder,
    is_archive: fn(&str) -> bool,
    job: &mut Job<'_>,
) -> Result<Matched> {
    let prefix = job.prefix;
    let mut matching = Matching {
        job,
        is_archive,
        matched: Matched::default(),
    };
    matching.directory(folder, NodeId(0), prefix, 0)?;
    Ok(matching.matched)
}

/// Adds a directory to the tree of an archive, and returns the changes of `folder` that are
/// inside of files.
///
/// # Errors
/// Returns an error under the same conditions as [`match_folder`].
pub(crate) fn add_folder(
    folder: Folder,
    parent: NodeId,
    path: String,
    is_archive: fn(&str) -> bool,
    job: &mut Job<'_>,
) -> Result<Matched> {
    let mut matching = Matching {
        job,
        is_archive,
        matched: Matched::default(),
    };
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let change = Change::Directory(Box::new(folder));
    matching.add(parent, &name, change, path, 0)?;
    Ok(matching.matched)
}

struct Matching<'j, 'a> {
    job: &'j mut Job<'a>,
    is_archive: fn(&str) -> bool,
    matched: Matched,
}

impl Matching<'_, '_> {
    /// Applies a folder to the directory `at`.
    fn directory(&mut self, folder: Folder, at: NodeId, path: &str, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            let reason = format!("is nested deeper than {MAX_DEPTH} directories");
            self.job.report.refuse(path.trim_end_matches('/'), reason);
            return Ok(());
        }
        let is_opaque = folder.is_opaque;
        let mut named = HashSet::new();
        for (name, mut change) in self.merged(folder, path) {
            let full = format!("{path}{name}");
            match self.job.tree.find(at, &name) {
                Ok(Some(node)) => {
                    // Entries that it does not have are deleted at any depth.
                    if is_opaque {
                        named.insert(node);
                        if let Change::Directory(inner) = &mut change {
                            inner.is_opaque = true;
                        }
                    }
                    self.present(node, change, full, depth)?;
                }
                Ok(None) => self.absent(at, &name, change, full, depth)?,
                Err(names) => {
                    let reason = format!("may be any of {}", names.join(", "));
                    self.job.report.refuse(full, reason);
                }
            }
        }
        if is_opaque {
            let unnamed: Vec<NodeId> = self.job.tree.children(at).collect();
            let unnamed = unnamed.into_iter().filter(|node| !named.contains(node));
            for node in unnamed {
                if !self.job.tree.node(node).is_added {
                    self.job.delete(node);
                }
            }
        }
        Ok(())
    }

    /// Returns the changes of a folder in the order of their names without case, with
    /// directories merged whose names differ only in case.
    fn merged(&mut self, folder: Folder, path: &str) -> Vec<(Box<str>, Change)> {
        let mut merged: Vec<_> = folder.entries.into_iter().collect();
        merged.sort_by(|(one, _), (other, _)| folded(one).cmp(folded(other)));
        let report = &mut *self.job.report;
        merged.dedup_by(|(name, change), (first, known)| {
            if !name.eq_ignore_ascii_case(first) {
                return false;
            }
            let mut refuse = |inner: &str| {
                let reason = format!("has the same name as {path}{name}{inner}");
                report.refuse(format!("{path}{first}{inner}"), reason);
            };
            match (known, change) {
                (Change::Directory(one), Change::Directory(two)) => {
                    for twice in one.absorb(std::mem::take(&mut **two)) {
                        refuse(&format!("/{twice}"));
                    }
                }
                _ => refuse(""),
            }
            true
        });
        merged
    }

    /// Applies a change to an entry of the original.
    fn present(&mut self, node: NodeId, change: Change, path: String, depth: usize) -> Result<()> {
        let is_directory = matches!(self.job.tree.node(node).kind, Kind::Directory);
        match change {
            Change::Unusable(reason) => self.job.report.refuse(path, reason),
            Change::Deleted => self.job.delete(node),
            Change::Link if matches!(self.job.tree.node(node).kind, Kind::Link(_)) => {
                self.job.report.ignored += 1;
            }
            Change::Link => self.job.report.refuse(path, "is a symbolic link"),
            Change::Directory(folder) if is_directory => {
                self.directory(*folder, node, &format!("{path}/"), depth + 1)?;
            }
            Change::File(new) if !is_directory => self.job.replace(node, new)?,
            Change::Directory(folder) if !folder.is_opaque => {
                let name = self.job.tree.node(node).name;
                let reason = match (self.is_archive)(name) {
                    true => format!("is an archive: name the folder {name}{ENTERED}"),
                    false => "is a file: mark the folder as opaque if it replaces the file".into(),
                };
                self.job.report.refuse(path, reason);
            }
            Change::Directory(_) | Change::File(_) => {
                self.job.delete(node);
                let tree = &self.job.tree;
                let (parent, name) = (tree.parent(node), tree.node(node).name.to_owned());
                self.add(parent, &name, change, path, depth)?;
            }
        }
        Ok(())
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
            let files = self.job.volume.plain_files("disc");
            files.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        match change {
            Change::Deleted => self.job.report.ignored += 1,
            _ if is_litter(name) => {
                self.job.report.ignored += 1;
                self.job
                    .report
                    .note(Weight::Information, path, "is skipped");
            }
            Change::Unusable(reason) => self.job.report.refuse(path, reason),
            Change::Link => self.job.report.refuse(path, "is a symbolic link"),
            Change::Directory(_) if is_root && name == ".hpimount" => {
                self.job.report.refuse(path, "is generated");
            }
            Change::File(_) if is_root && is_image() => {
                self.job.report.refuse(path, "is generated");
            }
            Change::Directory(folder) if is_root && name.eq_ignore_ascii_case(CONVERTED) => {
                let folder = *folder;
                self.matched.edited.converted = Some(EditedFolder { folder, path });
            }
            Change::Directory(folder)
                if let Some(node) = self.job.tree.companion(parent, name, ENTERED) =>
            {
                let folder = *folder;
                self.matched.inside.push(Inside { node, folder, path });
            }
            Change::Directory(folder)
                if let Some(node) = self.job.tree.companion(parent, name, META) =>
            {
                match self.job.tree.node(node).kind {
                    Kind::File(Some(asset)) => {
                        let folder = *folder;
                        let edited = EditedFolder { folder, path };
                        self.matched.edited.views.push((asset.file, edited));
                    }
                    _ => {
                        let asset = &name[..name.len() - META.len()];
                        let reason = format!("is generated: change {asset} itself");
                        self.job.report.refuse(path, reason);
                    }
                }
            }
            Change::Directory(folder)
                if !folder.is_opaque
                    && let Some(archive) = name.strip_suffix(ENTERED)
                    && (self.is_archive)(archive) =>
            {
                let reason = format!("is for changes inside {archive}, which does not exist");
                self.job.report.refuse(path, reason);
            }
            change => self.add(parent, name, change, path, depth)?,
        }
        Ok(())
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
            Change::File(new) => self.job.add_file(parent, name, new),
            Change::Directory(folder) => {
                let node = self.job.add_directory(parent, name);
                self.directory(*folder, node, &format!("{path}/"), depth + 1)?;
            }
            Change::Deleted | Change::Link | Change::Unusable(_) => {}
        }
        Ok(())
    }
}
