//! Layout of the opened sources: one as the root, several merged or side by
//! side, and the control directory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::control::{self, Texts};
use super::enter::NewVolume;
use super::error::OpenError;
use super::image::Images;
use super::merge::{self, Shadow};
use super::order::Order;
use super::subtree::{Rendered, Subtree};
use super::{ControlInodes, Ino, Options, Vfs};
use crate::content::OpenVolume;
use crate::namespace::companion::{Companions, Meta, Shows};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Kind, Label, NewInode, ROOT, Tree, TreeBuilder};
use hpimount_containers::volume::{Name, NodeId};

/// An opened source: its unfinished tree, and the volume of its files.
pub(super) struct Opened {
    pub(super) builder: TreeBuilder,
    pub(super) volume: NewVolume,
    /// Whether it can be merged with others.
    pub(super) is_layered: bool,
    pub(super) path: PathBuf,
}

/// The parts of a mount before they have inode numbers.
pub(super) struct Layout {
    pub(super) tree: Tree,
    pub(super) volumes: Vec<NewVolume>,
    /// Trees that are grafted at directories of `tree`.
    pub(super) grafted: Vec<(NodeId, Tree, NewVolume)>,
    /// The trees of the merged archives and their hidden files.
    pub(super) layers: Vec<Tree>,
    pub(super) shadowed: Vec<Shadow>,
    /// The `order` of `info.json`.
    pub(super) order: Value,
}

impl Layout {
    /// Lays out one source as the root.
    pub(super) fn single(opened: Vec<Opened>) -> Self {
        let mut layout = Self {
            tree: TreeBuilder::new(0, 0, Companions::NONE).finish(),
            volumes: Vec::new(),
            grafted: Vec::new(),
            layers: Vec::new(),
            shadowed: Vec::new(),
            order: Value::Null,
        };
        for Opened {
            builder, volume, ..
        } in opened
        {
            layout.tree = builder.finish();
            layout.volumes = vec![volume];
        }
        layout
    }

    /// Lays out each source in a directory that is named after its file.
    pub(super) fn side_by_side(sources: Vec<Opened>, options: &Options) -> Result<Self, OpenError> {
        let now = seconds(SystemTime::now());
        let companions = Vfs::companions(options, 0, true);
        let mut builder = TreeBuilder::new(0, now, companions);
        let mut grafted = Vec::with_capacity(sources.len());
        for opened in sources {
            let tree = opened.builder.finish();
            let inode = NewInode {
                kind: Kind::Grafted,
                modified: tree.inode(ROOT).map(|root| root.modified),
                ..NewInode::DIR
            };
            let path = &opened.path;
            let name = path.file_name().unwrap_or(path.as_os_str());
            let node = builder
                .add(NodeId(ROOT), &Label::new(Name::host(name)), inode)
                .map_err(|error| OpenError::new(path.to_string_lossy(), error))?;
            grafted.push((node, tree, opened.volume));
        }
        Ok(Self {
            tree: builder.finish(),
            volumes: Vec::new(),
            grafted,
            layers: Vec::new(),
            shadowed: Vec::new(),
            order: Value::Null,
        })
    }

    /// Merges sources, the last one on top, loose files above all.
    pub(super) fn merged(
        mut sources: Vec<Opened>,
        order: Order,
        why: &str,
        loose: Option<Opened>,
        mut warnings: Vec<String>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let rule = order.rule(sources.len());
        let paths: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
        warnings.extend(order.beyond_the_limit(&paths));
        for warning in &warnings {
            log::warn!("{warning}");
        }
        sources.extend(loose);
        let names = sources.iter().map(|source| source.volume.name.clone());
        let order = json!({
            "rule": order,
            "why": why,
            "lowest_to_highest": names.collect::<Vec<_>>(),
            "warnings": warnings,
        });
        let mut layers = Vec::with_capacity(sources.len());
        let mut volumes = Vec::with_capacity(sources.len());
        for opened in sources {
            // The merged tree has companions instead.
            layers.push(opened.builder.without_companions().finish());
            volumes.push(opened.volume);
        }
        let companions = Vfs::companions(options, 0, false);
        let merged = merge::merge(&layers, rule, companions).map_err(|error| {
            let first = volumes.first().map_or("", |volume| &volume.location);
            OpenError::new(first, error)
        })?;
        Ok(Self {
            tree: merged.tree.finish(),
            volumes,
            grafted: Vec::new(),
            layers,
            shadowed: merged.shadowed,
            order,
        })
    }
}

impl Vfs {
    /// Assigns inode numbers to the trees of a layout, and adds the control
    /// directory with `info` as its `info.json`.
    pub(super) fn graft_layout(&self, layout: Layout, info: &Value) {
        let modified = layout.tree.inode(ROOT).map_or(0, |root| root.modified);
        let info = hpimount_assets::view::json::pretty(info);
        let names = layout.volumes.iter().map(|volume| volume.name.clone());
        let names: Vec<String> = names.collect();
        let control_tree = control::tree(
            info.len() as u64,
            layout.volumes.len() as u32,
            modified,
            &layout.layers,
            &names,
            &layout.shadowed,
        );
        let files = self.root_of_files();
        if self.options.converted {
            let mut builder = TreeBuilder::new(0, modified, Companions::NONE);
            builder.root_shows(files, Shows::Converted);
            self.add_fixed(Origin::Root, builder.finish(), Vec::new());
        }
        let origin = match self.options.converted {
            true => Origin::Files,
            false => Origin::Root,
        };
        let volumes = self.add_fixed(origin, layout.tree, layout.volumes);
        for (node, tree, volume) in layout.grafted {
            let directory = Ino(files.0 + node.0);
            self.add_fixed(Origin::Directory(directory), tree, vec![volume]);
        }
        match control_tree {
            Ok((tree, stats)) => self.add_control(tree, stats, volumes, info),
            Err(error) => log::error!("{} is not available: it {error}", control::NAME),
        }
    }

    /// Returns the root of the files: the root of the mount, or the mirrored
    /// directory if the root is a converted tree.
    pub(super) fn root_of_files(&self) -> Ino {
        Ino(Ino::ROOT.0 + u32::from(self.options.converted))
    }

    /// Adds a subtree that is never evicted and returns its volumes.
    pub(super) fn add_fixed(
        &self,
        origin: Origin,
        tree: Tree,
        volumes: Vec<NewVolume>,
    ) -> Vec<Arc<OpenVolume>> {
        let assigned = self.numbers.assign(origin, tree.inodes(), 0);
        let Some((range, _)) = assigned else {
            log::error!("there are no inode numbers left");
            return Vec::new();
        };
        let volumes = volumes.into_iter().enumerate();
        let volumes: Vec<_> = volumes
            .map(|(number, volume)| Arc::new(volume.open(range, number)))
            .collect();
        self.fixed.push(Subtree {
            range,
            tree,
            volumes: volumes.clone(),
            rendered: Rendered::No,
            problem: None,
            _charge: None,
        });
        volumes
    }

    /// Adds the control directory, whose files are in the merged volumes and in
    /// one with its texts.
    fn add_control(
        &self,
        tree: Tree,
        stats: u32,
        mut volumes: Vec<Arc<OpenVolume>>,
        info: Vec<u8>,
    ) {
        let Some((range, _)) = self.numbers.assign(Origin::Control, tree.inodes(), 0) else {
            return;
        };
        let texts = NewVolume {
            name: control::NAME.to_owned(),
            location: String::new(),
            format: "control",
            is_plain_folder: false,
            nesting: 0,
            images: Images::default(),
            volume: Box::new(Texts::new(vec![info])),
        };
        volumes.push(Arc::new(texts.open(range, 0)));
        self.fixed.push(Subtree {
            range,
            tree,
            volumes,
            rendered: Rendered::No,
            problem: None,
            _charge: None,
        });
        // Cannot fail: the mount is new.
        let _ = self.control.set(ControlInodes {
            root: range.ino(ROOT),
            stats: range.ino(stats),
        });
    }
}

/// Returns the contents of `.hpimount/info.json`.
pub(super) fn describe(
    volumes: &[&NewVolume],
    skipped: &[OpenError],
    order: Value,
    options: &Options,
) -> Value {
    let source = |volume: &&NewVolume| {
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
        "sources": volumes.iter().map(source).collect::<Vec<_>>(),
        "skipped": skipped.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "order": order,
        "case_sensitive": options.case_sensitive,
        "cache_size": options.cache_size,
        "meta": options.meta != Meta::Off,
        "force": options.force,
        "verify": options.verify,
    })
}

/// Returns whole seconds since 1970 UTC, negative before.
pub(super) fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs() as i64),
    }
}
