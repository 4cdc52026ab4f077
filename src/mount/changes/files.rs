//! Changes of files that are not in one archive.

use std::collections::HashMap;
use std::sync::Arc;

use super::layer::Layer;
use crate::formats::REPORTS;
use crate::memory::budget::Charge;
use crate::mount::edited;
use crate::mount::subtree::Node;
use crate::mount::{Error, Ino, OpenCause, Vfs};
use crate::namespace::companion::CONVERTED;
use crate::namespace::tree::InodeKind;
use hpimount_assets::view::report::Report;
use hpimount_containers::apply::{self, Tools, apply_to_files};
use hpimount_containers::changes::{self, Change, Edited, Folder, Tree};
use hpimount_containers::io::ReadAt;
use hpimount_containers::volume::{Entry, FileId, Name, NodeId, Sink, Sources};

/// The files of a mount, in the directories that changes have. Other directories are
/// not listed, unless a table is edited, which can change files of all of them.
pub(super) struct Files<'v> {
    vfs: &'v Arc<Vfs>,
    tree: Tree,
    sources: Vec<Arc<dyn ReadAt>>,
    /// The index of each file in `sources`.
    numbers: HashMap<Ino, FileId>,
    is_whole: bool,
    memory: Charge,
}

/// The memory of an entry until the changes are applied, in bytes, on average.
const MEMORY_OF_ENTRY: usize = 256;

impl<'v> Files<'v> {
    /// Declares the files of a mount.
    ///
    /// # Errors
    /// Returns an error if a directory cannot be listed, or if there are too many
    /// entries.
    pub(super) fn declare(vfs: &'v Arc<Vfs>, changes: &Folder) -> Result<Self, OpenCause> {
        let converted = match find(changes, CONVERTED) {
            Some(Change::Directory(folder)) => Some(&**folder),
            _ => None,
        };
        let is_edited = |report: &Report| {
            let found = converted.and_then(|folder| find(folder, report.path));
            matches!(found, Some(Change::File(_)))
        };
        let mut files = Self {
            vfs,
            tree: Tree::default(),
            sources: Vec::new(),
            numbers: HashMap::new(),
            is_whole: REPORTS.iter().copied().flatten().any(is_edited),
            memory: vfs
                .reader()
                .budget()
                .empty_charge("the files of the source"),
        };
        let all: Vec<&Folder> = converted.into_iter().chain([changes]).collect();
        let root = vfs.node(Ino::ROOT).map_err(unlisted)?;
        let at = files.tree.root();
        files.directory(root, at, &all)?;
        Ok(files)
    }

    /// Declares the entries of a directory, and of those in it that `changes` have.
    fn directory(
        &mut self,
        directory: Node<'v>,
        at: NodeId,
        changes: &[&Folder],
    ) -> Result<(), OpenCause> {
        let mut below: HashMap<String, Vec<&Folder>> = HashMap::new();
        for (name, change) in changes.iter().flat_map(|folder| &folder.entries) {
            if let Change::Directory(folder) = change {
                below
                    .entry(name.to_ascii_lowercase())
                    .or_default()
                    .push(folder);
            }
        }
        let vfs = self.vfs;
        let directory = match vfs.mount.enter(directory) {
            // Only a table could change something in it.
            Err(error) if changes.is_empty() && !matches!(error, Error::NoMemory) => return Ok(()),
            entered => entered.map_err(unlisted)?,
        };
        for (name, index) in directory.tree().entries(directory.index, 0) {
            let node = directory.other(index);
            let label = Name::utf_8(name);
            self.memory.grow_to(self.memory.bytes() + MEMORY_OF_ENTRY)?;
            match node.kind() {
                Some(InodeKind::Dir { .. } | InodeKind::Deferred { .. }) => {
                    let inner = self.tree.dir(at, label, None)?;
                    let changes = below.get(&name.to_ascii_lowercase());
                    if self.is_whole || changes.is_some() {
                        self.directory(node, inner, changes.map_or(&[], Vec::as_slice))?;
                    }
                }
                Some(InodeKind::File { .. }) => self.file(&node, at, label)?,
                Some(InodeKind::Verbatim { .. } | InodeKind::StoredLink { .. }) => {
                    self.tree.symbolic_link(at, label)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, node: &Node<'_>, at: NodeId, name: Name<'_>) -> Result<(), OpenCause> {
        let file = FileId(self.sources.len() as u32);
        let source = self.vfs.mount.source_at(node).map_err(unlisted)?;
        let entry = Entry {
            file,
            size: Some(source.len()),
            modified: node.tree().inode(node.index).map(|inode| inode.modified),
            asset: None,
        };
        self.tree.file(at, name, entry)?;
        self.sources.push(source);
        self.numbers.insert(node.ino(), file);
        Ok(())
    }

    /// Applies changes, and returns what they do; `None` if anything is refused, which
    /// is then in the report. `prefix` is the path of the files in the mount.
    pub(super) fn apply(
        self,
        folder: Folder,
        prefix: &str,
        tools: Tools<'_>,
        report: &mut changes::Report,
    ) -> Option<Layer> {
        let (vfs, numbers) = (self.vfs, self.numbers);
        let convert = |edited: Edited, report: &mut changes::Report| {
            let asset = |wanted| {
                let mut all = numbers.iter();
                all.find_map(|(ino, file)| (*file == wanted).then_some(*ino))
            };
            let assets = edited::assets(vfs, edited, &asset, vfs.reader(), report)?;
            let mut files = Vec::with_capacity(assets.len());
            for (ino, new) in assets {
                match numbers.get(&ino) {
                    Some(&file) => files.push((file, new)),
                    None => report.refuse(new.path(), "changes an asset of another directory"),
                }
            }
            Ok(files)
        };
        let files = apply::Files {
            tree: self.tree,
            volume: Arc::new(Sources(self.sources)),
            convert: &convert,
        };
        let tree = apply_to_files(files, folder, prefix, tools, report)?;
        Some(Layer::of(&tree))
    }
}

/// Returns the change at a path.
fn find<'f>(folder: &'f Folder, path: &str) -> Option<&'f Change> {
    let (name, rest) = path.split_once('/').unwrap_or((path, ""));
    let mut entries = folder.entries.iter();
    let (_, change) = entries.find(|(other, _)| other.eq_ignore_ascii_case(name))?;
    match (change, rest) {
        (change, "") => Some(change),
        (Change::Directory(folder), rest) => find(folder, rest),
        _ => None,
    }
}

/// Converts an error of the mount without changes.
fn unlisted(error: Error) -> OpenCause {
    OpenCause::Unreadable(std::io::Error::other(error.to_string()))
}
