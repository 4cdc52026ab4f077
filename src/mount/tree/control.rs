//! `.hpimount/`, the directory that describes the mount itself.
//!
//! It can be looked up but is never listed, like `.zfs`.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::grafts::Grafts;
use super::merge::{self, MergedLayers};
use super::subtree::{Node, volume_id};
use crate::content::OpenVolume;
use crate::mount::error::OpenError;
use crate::mount::{Ino, Meta, Options};
use crate::namespace::companion::Companions;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Index, Label, NewInode, ROOT, Tree, TreeBuilder};
use hpimount_assets::view::json;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{
    Content, Entry, FileId, Generate, Mountable, Name, NodeId, Sink, Volume,
};

/// Name of the directory in the root of the mount.
pub(crate) const NAME: &str = ".hpimount";

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
pub(crate) type Images = Vec<(String, Arc<dyn ReadAt>)>;

/// The inodes of the directory.
#[derive(Debug)]
pub(crate) struct ControlInodes {
    /// The directory.
    root: Ino,
    /// `stats.json` in listings; a lookup returns a snapshot instead.
    stats: Ino,
}

impl ControlInodes {
    /// Adds the directory to a mount, with the facts of its `info.json`. `layers`
    /// are the volumes of the merged archives, which hold the files of its
    /// subdirectories.
    pub(crate) fn graft(
        grafts: &Grafts,
        directory: ControlTree,
        info: Info,
        mut layers: Vec<Arc<OpenVolume>>,
    ) -> Self {
        let ControlTree { tree, stats, files } = directory;
        let subtree = grafts.add_with(Origin::Control, tree, |range| {
            let volume = Box::new(ControlVolume { info, files });
            let volume = OpenVolume::new(NAME, "control", volume);
            layers.push(volume.numbered(volume_id(range, 0)));
            layers
        });
        Self {
            root: subtree.range.ino(ROOT),
            stats: subtree.range.ino(stats),
        }
    }

    /// Returns the directory if it is the entry `name` of `parent`.
    pub(crate) fn find(&self, parent: Ino, name: &str) -> Option<Ino> {
        (parent == Ino::ROOT && name == NAME).then_some(self.root)
    }

    /// Returns whether a node is `stats.json` as it is listed.
    pub(crate) fn is_stats(&self, node: &Node<'_>) -> bool {
        node.ino() == self.stats
    }
}

/// The directory before it has inode numbers.
pub(crate) struct ControlTree {
    tree: Tree,
    /// The index of `stats.json`.
    stats: Index,
    /// The source as plain files, in the order of their numbers.
    files: Vec<Arc<dyn ReadAt>>,
}

impl ControlTree {
    /// Creates the directory, with the files that merging has hidden in directories
    /// named after their archives. Its own files are in a volume after the `layers`
    /// of the merged archives.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub(crate) fn new(modified: i64, layers: &MergedLayers, images: &Images) -> io::Result<Self> {
        let own_volume = layers.names.len() as u32;
        let mut builder = TreeBuilder::new(own_volume, modified, Companions::NONE);
        let root = builder.root();
        let entry = |file, size| Entry {
            file,
            size,
            modified: None,
            asset: None,
        };
        builder.file(root, Name::utf_8("info.json"), entry(INFO, None))?;
        let stats = builder.file(root, Name::utf_8("stats.json"), entry(STATS, Some(0)))?;
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
                let entry = entry(number, Some(source.len()));
                builder.file(directory, Name::utf_8(name), entry)?;
            }
        }
        Ok(Self {
            tree: builder.finish(),
            stats: stats.0,
            files: images.iter().map(|(_, source)| source.clone()).collect(),
        })
    }
}

fn add_dir(builder: &mut TreeBuilder, parent: NodeId, name: &str) -> io::Result<NodeId> {
    builder.add(parent, &Label::new(Name::utf_8(name)), NewInode::DIR)
}

/// The facts of `info.json`. Its text is generated when it is first needed: few mounts
/// need it, and describing a large archive takes a fifth as long as opening it.
pub(crate) struct Info {
    sources: Vec<Arc<OpenVolume>>,
    /// The fields after `sources`.
    rest: Map<String, Value>,
}

impl Info {
    /// Creates the facts about a mount of these sources in this order. `skipped` are
    /// those that could not be opened, `applied` describes the changes.
    pub(crate) fn new(
        sources: Vec<Arc<OpenVolume>>,
        skipped: &[OpenError],
        order: Value,
        options: &Options,
        applied: Option<Value>,
    ) -> Self {
        let skipped = skipped.iter().map(ToString::to_string);
        let fields = [
            ("skipped", skipped.collect()),
            ("order", order),
            ("case_sensitive", options.case_sensitive.into()),
            ("cache_size", options.cache_size.into()),
            ("meta", (options.meta != Meta::Off).into()),
            ("force", options.force.into()),
            ("verify", options.verify.into()),
        ];
        let applied = applied.map(|applied| ("applied", applied));
        let rest = fields.into_iter().chain(applied);
        Self {
            sources,
            rest: rest.map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    fn text(&self) -> Vec<u8> {
        let source = |volume: &Arc<OpenVolume>| {
            json!({
                "path": volume.location,
                "name": volume.name,
                "format": volume.format,
                "images": volume.images.formats,
                "archive": volume.volume.info(),
                "warnings": volume.warnings().collect::<Vec<_>>(),
            })
        };
        let mut info = Map::new();
        info.insert("hpimount".to_owned(), env!("CARGO_PKG_VERSION").into());
        info.insert(
            "sources".to_owned(),
            self.sources.iter().map(source).collect(),
        );
        info.extend(self.rest.clone());
        json::pretty(&info)
    }
}

/// The files of the directory: `info.json`, `stats.json` as it is listed, which is
/// empty, and the source as plain files.
struct ControlVolume {
    info: Info,
    files: Vec<Arc<dyn ReadAt>>,
}

impl Generate for ControlVolume {
    fn generate(&self, file: FileId, out: &mut dyn Write) -> io::Result<()> {
        let text = match file {
            INFO => self.info.text(),
            _ => Vec::new(),
        };
        out.write_all(&text)
            .map_err(|error| io::Error::of_output(&error))
    }
}

impl Volume for ControlVolume {
    fn content(&self, file: FileId) -> io::Result<Content<'_>> {
        let number = file.0.checked_sub(FIRST_FILE);
        let plain = number.and_then(|number| self.files.get(number as usize));
        Ok(match plain {
            Some(source) => Content::Extent {
                source: &**source,
                offset: 0,
            },
            None => Content::Generated(self),
        })
    }
}

impl Mountable for ControlVolume {
    fn memory(&self) -> usize {
        self.info.sources.capacity() * size_of::<Arc<OpenVolume>>()
            + self.files.capacity() * size_of::<Arc<dyn ReadAt>>()
    }
}
