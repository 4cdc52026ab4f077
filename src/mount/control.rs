//! `.hpimount/`, the directory that describes the mount itself.
//!
//! It can be looked up but is never listed, like `.zfs`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::OpenError;
use super::grafts::Grafts;
use super::merge::{self, MergedLayers};
use super::subtree::Node;
use super::volume::NewVolume;
use super::{Ino, Meta, Options};
use crate::content::OpenVolume;
use crate::namespace::companion::Companions;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Index, Label, NewInode, ROOT, Tree, TreeBuilder};
use hpimount_assets::view::json;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{Entry, FileId, Name, NodeId, Sink};

/// Name of the directory in the root of the mount.
pub(super) const NAME: &str = ".hpimount";

/// The file with everything that does not change: sources, formats, warnings.
const INFO: FileId = FileId(0);

/// The file with the counters, generated again for each lookup.
const STATS: FileId = FileId(1);

/// The number of the first plain file.
const FIRST_FILE: u32 = 2;

/// The directory of the source as plain files.
const IMAGES: &str = "image";

/// The source as plain files, with their names: the tracks of a disc without the
/// compression around it, or an archive or a disc with changes.
pub(super) type Images = Vec<(String, Arc<dyn ReadAt>)>;

/// The inodes of the directory.
#[derive(Debug)]
pub(super) struct ControlInodes {
    /// The directory.
    root: Ino,
    /// `stats.json` in listings; a lookup returns a snapshot instead.
    stats: Ino,
}

impl ControlInodes {
    /// Adds the directory to a mount. `layers` are the volumes of the merged
    /// archives, which hold the files of its subdirectories. Returns `None` if
    /// there are no inode numbers left, which is logged.
    pub(super) fn graft(
        grafts: &Grafts,
        directory: ControlTree,
        mut layers: Vec<Arc<OpenVolume>>,
    ) -> Option<Self> {
        let ControlTree {
            tree,
            stats,
            info,
            files,
        } = directory;
        let subtree = grafts.add_with(Origin::Control, tree, |range| {
            let texts = NewVolume::texts(NAME, "control", info, files);
            layers.push(Arc::new(texts.open(range, 0)));
            layers
        })?;
        Some(Self {
            root: subtree.range.ino(ROOT),
            stats: subtree.range.ino(stats),
        })
    }

    /// Returns the directory if it is the entry `name` of `parent`.
    pub(super) fn find(&self, parent: Ino, name: &str) -> Option<Ino> {
        (parent == Ino::ROOT && name == NAME).then_some(self.root)
    }

    /// Returns whether a node is `stats.json` as it is listed.
    pub(super) fn is_stats(&self, node: &Node<'_>) -> bool {
        node.ino() == self.stats
    }
}

/// The directory before it has inode numbers.
pub(super) struct ControlTree {
    tree: Tree,
    /// The index of `stats.json`.
    stats: Index,
    /// The text of `info.json`.
    info: Vec<u8>,
    /// The source as plain files, in the order of their numbers.
    files: Vec<Arc<dyn ReadAt>>,
}

impl ControlTree {
    /// Creates the directory with the text of `info.json`, and with the files
    /// that merging has hidden, in directories named after their archives. Its
    /// own files are in a volume after the `layers` of the merged archives.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub(super) fn new(
        info: &Value,
        modified: i64,
        layers: &MergedLayers,
        images: &Images,
    ) -> io::Result<Self> {
        let info = json::pretty(info);
        let own_volume = layers.names.len() as u32;
        let mut builder = TreeBuilder::new(own_volume, modified, Companions::NONE);
        let root = builder.root();
        let entry = |file, size| Entry {
            file,
            size: Some(size),
            modified: None,
            asset: None,
        };
        let info_size = info.len() as u64;
        builder.file(root, Name::utf_8("info.json"), entry(INFO, info_size))?;
        let stats = builder.file(root, Name::utf_8("stats.json"), entry(STATS, 0))?;
        if !layers.trees.is_empty() {
            let directory = builder.dir(root, Name::utf_8("shadowed"), None)?;
            for shadow in &layers.shadowed {
                let name = layers.names.get(shadow.layer).map_or("", String::as_str);
                let archive = add_dir(&mut builder, directory, name)?;
                merge::add_shadow(&mut builder, archive, &layers.trees[shadow.layer], shadow)?;
            }
        }
        if !images.is_empty() {
            let directory = builder.dir(root, Name::utf_8(IMAGES), None)?;
            for (number, (name, source)) in (FIRST_FILE..).map(FileId).zip(images) {
                builder.file(directory, Name::utf_8(name), entry(number, source.len()))?;
            }
        }
        Ok(Self {
            tree: builder.finish(),
            stats: stats.0,
            info,
            files: images.iter().map(|(_, source)| source.clone()).collect(),
        })
    }
}

fn add_dir(builder: &mut TreeBuilder, parent: NodeId, name: &str) -> io::Result<NodeId> {
    builder.add(parent, &Label::new(Name::utf_8(name)), NewInode::DIR)
}

/// Returns the contents of `info.json` for sources in their order.
pub(super) fn info<'a>(
    volumes: impl Iterator<Item = &'a NewVolume>,
    skipped: &[OpenError],
    order: &Value,
    options: &Options,
) -> Value {
    let source = |volume: &NewVolume| {
        json!({
            "path": volume.location,
            "name": volume.name,
            "format": volume.format,
            "images": volume.images.formats,
            "archive": volume.volume.info(),
            "warnings": volume.warnings().collect::<Vec<_>>(),
        })
    };
    json!({
        "hpimount": env!("CARGO_PKG_VERSION"),
        "sources": volumes.map(source).collect::<Vec<_>>(),
        "skipped": skipped.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "order": order,
        "case_sensitive": options.case_sensitive,
        "cache_size": options.cache_size,
        "meta": options.meta != Meta::Off,
        "force": options.force,
        "verify": options.verify,
    })
}
