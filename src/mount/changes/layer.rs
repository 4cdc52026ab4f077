//! Effects of changes on the entries of directories.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::sync::Arc;

use crate::mount::merge::Whiteouts;
use crate::namespace::companion::Companions;
use crate::namespace::tree::TreeBuilder;
use hpimount_containers::changes::{self, Fate, Kind, NewFile};
use hpimount_containers::io::{ReadAt, Result};
use hpimount_containers::volume::{Entry, FileId, Name, NodeId, Sink, Sources};

/// Effects of changes on the entries of a directory, by their names in the mount.
#[derive(Default)]
pub(in crate::mount) struct Layer {
    pub(super) entries: BTreeMap<Box<str>, LayerEntry>,
}

/// Effect of changes on an entry.
pub(super) enum LayerEntry {
    /// It is deleted.
    Whiteout,
    /// It is a file.
    File {
        /// Its contents.
        new: NewFile,
        /// The modification time of the original, in seconds since 1970 UTC.
        original: Option<i64>,
    },
    /// It is a directory.
    Directory {
        layer: Arc<Layer>,
        /// True if an entry below is hidden instead of merged with it.
        is_opaque: bool,
    },
}

impl Layer {
    /// Collects what becomes of the entries of a tree.
    pub(super) fn of(tree: &changes::Tree) -> Self {
        let nodes: Vec<_> = tree.nodes().collect();
        let mut layers: Vec<Self> = nodes.iter().map(|_| Self::default()).collect();
        // The entries of a directory come after it, and added ones after all others.
        for &(node, entry) in nodes.iter().skip(1).rev() {
            let layer = std::mem::take(&mut layers[node.0 as usize]);
            let change = match (&entry.fate, entry.kind) {
                (Fate::Deleted, _) if entry.is_added || tree.is_deleted(tree.parent(node)) => {
                    continue;
                }
                (Fate::Deleted, _) => LayerEntry::Whiteout,
                (Fate::New(new), kind) => LayerEntry::File {
                    new: new.clone(),
                    original: match kind {
                        Kind::File(Some(original)) => original.modified,
                        _ => None,
                    },
                },
                (Fate::Kept, _) if entry.is_added || !layer.entries.is_empty() => {
                    LayerEntry::Directory {
                        layer: Arc::new(layer),
                        is_opaque: entry.is_added,
                    }
                }
                (Fate::Kept, _) => continue,
            };
            let siblings = &mut layers[tree.parent(node).0 as usize].entries;
            // An entry in place of a deleted one hides it.
            if let MapEntry::Vacant(free) = siblings.entry(entry.name.into()) {
                free.insert(change);
            }
        }
        layers.swap_remove(0)
    }

    /// Returns the memory of the lists, in bytes.
    pub(super) fn memory(&self) -> usize {
        let entries = self.entries.iter().map(|(name, entry)| {
            let inner = match entry {
                LayerEntry::Directory { layer, .. } => layer.memory(),
                LayerEntry::File { .. } | LayerEntry::Whiteout => 0,
            };
            name.len() + size_of::<(Box<str>, LayerEntry)>() + inner
        });
        size_of::<Self>() + entries.sum::<usize>()
    }

    /// Returns the layer as the highest one of a merge: its entries, its files, and what
    /// it deletes from lower layers. `modified` is the time of its directories.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub(in crate::mount) fn lay_out(
        &self,
        modified: i64,
    ) -> Result<(TreeBuilder, Sources, Whiteouts)> {
        let mut laid_out = Highest {
            builder: TreeBuilder::new(0, modified, Companions::NONE),
            files: Vec::new(),
            whiteouts: Whiteouts::new(),
        };
        let root = laid_out.builder.root();
        laid_out.directory(self, root)?;
        let Highest {
            builder,
            files,
            whiteouts,
        } = laid_out;
        Ok((builder, Sources(files), whiteouts))
    }
}

/// A layer that is laid out as the highest one of a merge.
struct Highest {
    builder: TreeBuilder,
    files: Vec<Arc<dyn ReadAt>>,
    whiteouts: Whiteouts,
}

impl Highest {
    /// Adds the entries of a directory, which has the number `at`.
    fn directory(&mut self, layer: &Layer, at: NodeId) -> Result<()> {
        for (name, entry) in &layer.entries {
            let hides = match entry {
                LayerEntry::Whiteout => true,
                LayerEntry::File { new, original } => {
                    let file = FileId(self.files.len() as u32);
                    let declared = entry_of(new, *original, file);
                    self.builder.file(at, Name::utf_8(name), declared)?;
                    self.files.push(Arc::new(new.clone()));
                    false
                }
                LayerEntry::Directory { layer, is_opaque } => {
                    let node = self.builder.dir(at, Name::utf_8(name), None)?;
                    self.directory(layer, node)?;
                    *is_opaque
                }
            };
            if hides {
                let names = self.whiteouts.entry(at.0).or_default();
                names.insert(name.to_ascii_lowercase());
            }
        }
        Ok(())
    }
}

/// Returns the declaration of a new file. `original` is the time of the one that it
/// replaces.
pub(super) fn entry_of(new: &NewFile, original: Option<i64>, file: FileId) -> Entry {
    Entry {
        file,
        size: Some(new.len()),
        modified: new.modified().or(original),
        asset: None,
    }
}
