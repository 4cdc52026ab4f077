//! The trees of the opened sources: one as the root, several merged or side by
//! side.

use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::MountTree;
use super::control::{self, ControlInodes, ControlTree, Images, Info};
use super::merge::{self, MergedLayers, Rule, Whiteouts};
use crate::content::OpenVolume;
use crate::mount::error::OpenError;
use crate::mount::{Ino, Options};
use crate::namespace::companion::{Companions, Shows};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{InodeKind, Label, NewInode, ROOT, Tree, TreeBuilder};
use hpimount_containers::changes::Report;
use hpimount_containers::volume::{Name, NodeId};

/// An opened source: its unfinished tree, and the volume of its files.
pub(crate) struct OpenedSource {
    pub(crate) builder: TreeBuilder,
    pub(crate) volume: OpenVolume,
    /// True if it can be merged with others.
    pub(crate) is_layered: bool,
    /// The source as plain files.
    pub(crate) images: Images,
    /// Outcome of the changes to it.
    pub(crate) applied: Option<Report>,
    pub(crate) path: PathBuf,
}

/// The layers above the archives of a merge.
pub(crate) struct Above {
    /// Loose files, and then the changes that are applied; the last one on top.
    pub(crate) layers: Vec<OpenedSource>,
    /// Entries that the last one deletes.
    pub(crate) whiteouts: Whiteouts,
}

impl Above {
    /// Returns layers that delete nothing.
    pub(crate) fn of(layers: Vec<OpenedSource>) -> Self {
        Self {
            layers,
            whiteouts: Whiteouts::new(),
        }
    }
}

/// The trees of all sources before they have inode numbers.
pub(crate) struct SourceTrees {
    /// The tree of the root, and the volumes of its files.
    tree: Tree,
    volumes: Vec<OpenVolume>,
    /// Trees that are grafted at directories of `tree`.
    grafted: Vec<(NodeId, Tree, OpenVolume)>,
    layers: MergedLayers,
    /// The `order` of `info.json`.
    order: Value,
    /// The only source as plain files.
    images: Images,
    /// Outcome of the changes that are applied.
    pub(crate) applied: Option<Report>,
    /// Warnings about the merge.
    pub(crate) warnings: Vec<String>,
}

impl SourceTrees {
    /// Uses one source as the root.
    pub(crate) fn single(opened: OpenedSource) -> Self {
        let volumes = vec![opened.volume];
        Self {
            tree: opened.builder.finish(),
            layers: MergedLayers::none(names(&volumes)),
            volumes,
            grafted: Vec::new(),
            order: Value::Null,
            images: opened.images,
            applied: opened.applied,
            warnings: Vec::new(),
        }
    }

    /// Returns the names of the directories that show the sources, if they are side by
    /// side.
    pub(crate) fn directories(&self) -> Option<Vec<String>> {
        let names = self
            .grafted
            .iter()
            .map(|(_, _, volume)| volume.name.clone());
        (!self.grafted.is_empty()).then(|| names.collect())
    }

    /// Shows each source in a directory that is named after its file.
    ///
    /// # Errors
    /// Returns an error if there are too many sources.
    pub(crate) fn side_by_side(
        sources: Vec<OpenedSource>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let now = seconds(SystemTime::now());
        let mut builder = TreeBuilder::new(0, now, options.companions_in(0, true));
        let mut grafted = Vec::with_capacity(sources.len());
        let mut applied: Option<Report> = None;
        for opened in sources {
            if let Some(report) = opened.applied {
                applied.get_or_insert_default().extend(report);
            }
            let tree = opened.builder.finish();
            let inode = NewInode {
                kind: InodeKind::Grafted,
                modified: tree.inode(ROOT).map(|root| root.modified),
                ..NewInode::DIR
            };
            let label = Label::new(Name::utf_8(&opened.volume.name));
            let node = builder
                .add(NodeId(ROOT), &label, inode)
                .map_err(|error| OpenError::new(opened.path.to_string_lossy(), error))?;
            grafted.push((node, tree, opened.volume));
        }
        Ok(Self {
            tree: builder.finish(),
            volumes: Vec::new(),
            grafted,
            layers: MergedLayers::none(Vec::new()),
            order: Value::Null,
            images: Images::new(),
            applied,
            warnings: Vec::new(),
        })
    }

    /// Merges sources, the last one on top, by a rule that has this `description`.
    ///
    /// # Errors
    /// Returns an error if there are too many entries.
    pub(crate) fn merged(
        mut sources: Vec<OpenedSource>,
        above: Above,
        (rule, companions): (Rule, Companions),
        mut description: Value,
        warnings: Vec<String>,
    ) -> Result<Self, OpenError> {
        sources.extend(above.layers);
        let applied = sources.last_mut().and_then(|top| top.applied.take());
        let mut trees = Vec::with_capacity(sources.len());
        let mut volumes = Vec::with_capacity(sources.len());
        for opened in sources {
            // The merged tree has companions instead.
            trees.push(opened.builder.without_companions().finish());
            volumes.push(opened.volume);
        }
        let names = names(&volumes);
        description["lowest_to_highest"] = json!(names);
        description["warnings"] = json!(warnings);
        let merged = merge::merge(&trees, rule, companions, &above.whiteouts).map_err(|error| {
            let first = volumes.first().map_or("", |volume| &volume.location);
            OpenError::new(first, error)
        })?;
        Ok(Self {
            tree: merged.tree.finish(),
            volumes,
            grafted: Vec::new(),
            layers: MergedLayers {
                names,
                trees,
                shadowed: merged.shadowed,
            },
            order: description,
            images: Images::new(),
            applied,
            warnings,
        })
    }

    /// Returns the volumes of all sources.
    pub(crate) fn volumes(&self) -> impl Iterator<Item = &OpenVolume> {
        let grafted = self.grafted.iter().map(|(_, _, volume)| volume);
        self.volumes.iter().chain(grafted)
    }

    /// Assigns inode numbers to the trees, and adds the control directory, whose
    /// `info.json` names the sources, the skipped ones, and the `applied` changes.
    /// The directory is missing if there are too many entries for it, which is logged.
    pub(crate) fn graft(
        self,
        mount: &MountTree,
        skipped: &[OpenError],
        applied: Option<Value>,
    ) -> Option<ControlInodes> {
        let (grafts, options) = (&mount.grafts, &mount.options);
        let modified = self.tree.inode(ROOT).map_or(0, |root| root.modified);
        let control = ControlTree::new(modified, &self.layers, &self.images);
        let files = options.root_of_files();
        let mut origin = Origin::Root;
        if options.converted {
            let mut builder = TreeBuilder::new(0, modified, Companions::NONE);
            builder.root_shows(files, Shows::Converted);
            grafts.add(Origin::Root, builder.finish(), Vec::new());
            origin = Origin::Files;
        }
        let volumes = grafts.add(origin, self.tree, self.volumes);
        let mut sources = volumes.clone();
        for (node, tree, volume) in self.grafted {
            let directory = Origin::Directory(Ino(files.0 + u64::from(node.0)));
            sources.extend(grafts.add(directory, tree, vec![volume]));
        }
        let info = Info::new(sources, skipped, self.order, options, applied);
        match control {
            Ok(control) => Some(ControlInodes::graft(grafts, control, info, volumes)),
            Err(error) => {
                log::error!("{} is not available: it {error}", control::NAME);
                None
            }
        }
    }
}

fn names(volumes: &[OpenVolume]) -> Vec<String> {
    volumes.iter().map(|volume| volume.name.clone()).collect()
}

/// Returns whole seconds since 1970 UTC, negative before.
pub(crate) fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs() as i64),
    }
}
