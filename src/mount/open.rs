//! From sources on disk to a mount.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::companion::{self, Companions, Shows};
use super::control::Control;
use super::enter::{MAX_ASSET, file_name, folder_volume};
use super::error::{OpenCause, OpenError};
use super::game::{self, GameFolder, Order};
use super::merge::{self, Rule, Shadow};
use super::volumes::{Content, Volume};
use super::{Ino, Options, Vfs};
use crate::io::{self, ReadAt};
use crate::namespace::tree::{Kind, Label, NewInode, ROOT, Tree, TreeBuilder};
use crate::source::FileSource;
use crate::view::{VIEW_FORMATS, ViewFormat};
use crate::volume::folder::{Disk, Folder};
use crate::volume::{self, NodeId};

/// What to mount.
#[derive(Debug, Clone)]
pub enum Sources {
    /// Archives, folders and lone assets. Several HPI archives are merged,
    /// unless `separate`; anything else stands side by side.
    Given {
        /// In their order, the last one on top.
        paths: Vec<PathBuf>,
        /// How to order them instead.
        order: Option<Order>,
        /// Merge nothing.
        separate: bool,
    },
    /// A game's folder: its archives and loose files, merged as the game
    /// does.
    Game {
        /// The folder.
        folder: PathBuf,
        /// How to order them; `None` for as the game does whose archives
        /// these are.
        order: Option<Order>,
    },
}

impl Sources {
    /// All that is read from disk: files, and directories with what is below
    /// them. Links lead out of them by none but these paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Given { paths, .. } => paths.clone(),
            Self::Game { folder, .. } => {
                let mut paths = vec![folder.clone()];
                // A link can be an archive of the game.
                if let Ok(found) = GameFolder::look(folder) {
                    let links = found.archives.into_iter();
                    paths.extend(links.filter(|path| path.is_symlink()));
                }
                paths
            }
        }
    }
}

/// A source that was opened: its tree in the making, and what its files are
/// read from.
struct Opened {
    builder: TreeBuilder,
    volume: Volume,
}

/// The parts of a mount before they are planted.
struct Layout {
    tree: Tree,
    volumes: Vec<Volume>,
    /// Trees that take places in the root of `tree`, by the places' indices.
    placed: Vec<(NodeId, Tree, Volume)>,
    /// The trees of the merged archives and what of them is hidden.
    layers: Vec<Tree>,
    shadowed: Vec<Shadow>,
    /// What `info.json` says about the order.
    order: Value,
}

impl Vfs {
    /// Opens the sources and lays out their trees.
    ///
    /// # Errors
    /// The first source that cannot be mounted, and why. Of several sources
    /// those that can be are mounted, unless `options.strict`; then the
    /// others are in the log and in `info.json`.
    pub fn open(sources: &Sources, options: Options) -> Result<Arc<Self>, OpenError> {
        let disk = Arc::new(Disk::around(options.mount_point.as_deref())?);
        let mut opener = Opener {
            disk: &disk,
            options: &options,
            skipped: Vec::new(),
        };
        let layout = opener.layout(sources)?;
        let skipped = opener.skipped;

        let all = layout.placed.iter().map(|(_, _, volume)| volume);
        let all: Vec<&Volume> = layout.volumes.iter().chain(all).collect();
        for volume in &all {
            for warning in volume.warnings() {
                log::warn!("{}: {warning}", volume.name);
            }
        }
        let info = describe(&all, &skipped, layout.order.clone(), &options);
        let vfs = Self::empty(options.clone());
        vfs.plant_layout(layout, &info);
        Ok(vfs)
    }

    fn plant_layout(&self, layout: Layout, info: &Value) {
        let modified = layout.tree.inode(ROOT).map_or(0, |root| root.modified);
        let mut volumes = layout.volumes;
        let names = volumes.iter().map(|volume| volume.name.clone()).collect();
        let control = Control::new(info, names);
        let control_number = volumes.len() as u32;
        let control_tree = control.tree(control_number, modified, &layout.layers, &layout.shadowed);
        volumes.push(Volume {
            name: super::control::NAME.to_owned(),
            path: PathBuf::new(),
            format: "control",
            content: Content::Archive(Box::new(control)),
            nesting: 0,
        });
        let root = self.plant(layout.tree, volumes);
        debug_assert_eq!(root, Some(Ino::ROOT));
        for (place, mut tree, volume) in layout.placed {
            let place = Ino(Ino::ROOT.0 + place.0);
            tree.origin = Some(place);
            let planted = self.plant(tree, vec![volume]);
            let entrance = Arc::new(Mutex::new(planted));
            super::lock(&self.entrances).insert(place, entrance);
        }
        let (tree, stats) = match control_tree {
            Ok(control) => control,
            Err(error) => {
                log::error!("there is no {}: it {error}", super::control::NAME);
                return;
            }
        };
        // Its files belong to the volumes of the first tree.
        if let Some(root) = self.forest.plant(tree) {
            // The mount is new: nobody has set it before.
            let _ = self.control.set(super::ControlInodes {
                root,
                stats: Ino(root.0 + stats),
            });
        }
    }
}

/// Opens sources one after the other.
struct Opener<'a> {
    disk: &'a Arc<Disk>,
    options: &'a Options,
    /// Sources that could not be opened.
    skipped: Vec<OpenError>,
}

impl Opener<'_> {
    fn layout(&mut self, sources: &Sources) -> Result<Layout, OpenError> {
        match sources {
            Sources::Game { folder, order } => self.game(folder, *order),
            Sources::Given {
                paths,
                order,
                separate,
            } => {
                let mut opened = self.open_all(paths, Self::open)?;
                if opened.len() == 1 && paths.len() == 1 {
                    return Ok(Layout::single(opened.remove(0)));
                }
                if *separate || !opened.iter().all(is_hpi) {
                    return Layout::side_by_side(opened, self.options);
                }
                let order = order.unwrap_or(Order::Cli);
                order.sort(&mut opened, |opened| &opened.volume.path);
                let why = match order {
                    Order::Cli => "as given, the last one on top",
                    _ => "as --order says",
                };
                self.merged(opened, order, why, None, Vec::new())
            }
        }
    }

    /// Opens all of several sources, or one, each by `open`.
    fn open_all(
        &mut self,
        paths: &[PathBuf],
        open: fn(&Self, &Path) -> Result<Opened, OpenError>,
    ) -> Result<Vec<Opened>, OpenError> {
        let mut opened = Vec::with_capacity(paths.len());
        for path in paths {
            match open(self, path) {
                Ok(source) => opened.push(source),
                Err(error) if paths.len() == 1 || self.options.strict => return Err(error),
                Err(error) => {
                    log::error!("left out: {error}");
                    self.skipped.push(error);
                }
            }
        }
        match self.skipped.pop() {
            Some(error) if opened.is_empty() => Err(error),
            error => {
                self.skipped.extend(error);
                Ok(opened)
            }
        }
    }

    fn open(&self, path: &Path) -> Result<Opened, OpenError> {
        let unreadable = |error| OpenError::new(path, OpenCause::Unreadable(error));
        // Absolute, because the daemon does not stay in the current directory.
        let path = std::path::absolute(path).map_err(unreadable)?;
        self.open_source(&path)
            .map_err(|cause| OpenError::new(&path, cause))
    }

    fn open_source(&self, path: &Path) -> Result<Opened, OpenCause> {
        let metadata = fs::metadata(path).map_err(OpenCause::Unreadable)?;
        let modified = metadata.modified().map_or(0, seconds);
        let companions = Companions::usual(0, self.options);
        let mut builder = TreeBuilder::new(0, modified, companions);
        let volume = if metadata.is_dir() {
            let path = fs::canonicalize(path).map_err(OpenCause::Unreadable)?;
            let folder = Folder::scan(&path, self.disk, &mut builder);
            folder_volume(folder.map_err(OpenCause::Unreadable)?)
        } else {
            self.open_file(path, &mut builder)?
        };
        Ok(Opened { builder, volume })
    }

    /// Opens an archive of a game: nothing else is one, whatever its name.
    fn open_game_archive(&self, path: &Path) -> Result<Opened, OpenError> {
        let opened = self.open(path)?;
        match is_hpi(&opened) {
            true => Ok(opened),
            false => Err(OpenError::new(path, io::Error::UnknownFormat)),
        }
    }

    fn open_file(&self, path: &Path, builder: &mut TreeBuilder) -> Result<Volume, OpenCause> {
        let source = FileSource::open(path, &self.disk.pool).map_err(OpenCause::Unreadable)?;
        let name = file_name(path);
        let format = match volume::detect(&source) {
            Err(io::Error::UnknownFormat) => {
                let shows = lone_asset(&name, &source)?;
                builder.show_others(shows.filter(|_| self.options.meta.is_on()));
                let folder = Folder::of_one_file(path, self.disk, builder);
                return Ok(Volume {
                    name,
                    path: path.to_owned(),
                    ..folder_volume(folder.map_err(OpenCause::Unreadable)?)
                });
            }
            detected => detected?,
        };
        let archive_options = self.options.archive_options(&name);
        let archive = (format.open)(Arc::new(source), builder, archive_options)?;
        Ok(Volume {
            name,
            path: path.to_owned(),
            format: format.name,
            content: Content::Archive(archive),
            nesting: 0,
        })
    }

    /// The archives and loose files of a game's folder.
    fn game(&mut self, folder: &Path, order: Option<Order>) -> Result<Layout, OpenError> {
        let unreadable = |error| OpenError::new(folder, OpenCause::Unreadable(error));
        let folder = &fs::canonicalize(folder).map_err(unreadable)?;
        let mut found = GameFolder::look(folder).map_err(unreadable)?;
        if found.archives.is_empty() {
            return Err(OpenError::new(folder, io::Error::UnknownFormat));
        }
        let (order, why) = match order {
            Some(order) => (order, "as --order says"),
            None => self.which_game(&found.archives),
        };
        let warnings = found.restrict(order);
        order.sort(&mut found.archives, |path| path);
        let opened = self.open_all(&found.archives, Self::open_game_archive)?;
        let loose = self.loose_files(folder, &opened).map_err(unreadable)?;
        self.merged(opened, order, why, Some(loose), warnings)
    }

    /// The game whose archives these are, told by their versions.
    fn which_game(&self, archives: &[PathBuf]) -> (Order, &'static str) {
        let version = |path: &PathBuf| {
            let source = FileSource::open(path, &self.disk.pool).ok()?;
            volume::hpi::version(&source)
        };
        let versions: Vec<_> = archives.iter().filter_map(version).collect();
        let count = |version| versions.iter().filter(|&&found| found == version).count();
        if count(volume::hpi::record::VERSION_2) > count(volume::hpi::record::VERSION_1) {
            (Order::Kingdoms, "most archives are of TA: Kingdoms")
        } else {
            (Order::Ta, "most archives are of Total Annihilation")
        }
    }

    /// Everything in the folder but the archives that are merged.
    fn loose_files(&self, folder: &Path, merged: &[Opened]) -> std::io::Result<Opened> {
        let modified = fs::metadata(folder)?.modified().map_or(0, seconds);
        let mut builder = TreeBuilder::new(0, modified, Companions::NONE);
        let names: HashSet<_> = merged
            .iter()
            .filter_map(|archive| archive.volume.path.file_name())
            .collect();
        let takes = |name: &OsStr| !names.contains(name);
        let files = Folder::scan_all(folder, self.disk, &mut builder, takes)?;
        Ok(Opened {
            builder,
            volume: folder_volume(files),
        })
    }

    /// Lays sources over each other, the last one on top, loose files above
    /// all.
    fn merged(
        &self,
        mut sources: Vec<Opened>,
        order: Order,
        why: &str,
        loose: Option<Opened>,
        mut warnings: Vec<String>,
    ) -> Result<Layout, OpenError> {
        let rule = match order {
            Order::Kingdoms => Rule::NewestBelow(sources.len()),
            _ => Rule::Highest,
        };
        let paths = sources.iter().map(|source| source.volume.path.as_path());
        warnings.extend(game::beyond_the_limit(order, paths));
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
        for Opened { builder, volume } in sources {
            // The merged tree has its own.
            layers.push(builder.without_companions().finish());
            volumes.push(volume);
        }
        let companions = Companions::usual(0, self.options);
        let merged = merge::merge(&layers, rule, companions).map_err(|error| {
            let first = volumes.first().map_or(Path::new(""), |volume| &volume.path);
            OpenError::new(first, error)
        })?;
        Ok(Layout {
            tree: merged.tree.finish(),
            volumes,
            placed: Vec::new(),
            layers,
            shadowed: merged.shadowed,
            order,
        })
    }
}

impl Layout {
    /// One source, which is the root.
    fn single(Opened { builder, volume }: Opened) -> Self {
        Self {
            tree: builder.finish(),
            volumes: vec![volume],
            placed: Vec::new(),
            layers: Vec::new(),
            shadowed: Vec::new(),
            order: Value::Null,
        }
    }

    /// Each source in a directory that is named after its file.
    fn side_by_side(sources: Vec<Opened>, options: &Options) -> Result<Self, OpenError> {
        let now = seconds(SystemTime::now());
        let companions = Companions::usual(0, options);
        let mut builder = TreeBuilder::new(0, now, companions);
        let mut placed = Vec::with_capacity(sources.len());
        for Opened {
            builder: source,
            volume,
        } in sources
        {
            let tree = source.finish();
            let place = NewInode {
                kind: Kind::Place,
                modified: tree.inode(ROOT).map(|root| root.modified),
                ..NewInode::DIR
            };
            let path = &volume.path;
            let label = Label::host(path.file_name().unwrap_or(path.as_os_str()));
            let node = builder
                .add(NodeId(ROOT), &label, place)
                .map_err(|error| OpenError::new(path, error))?;
            placed.push((node, tree, volume));
        }
        Ok(Self {
            tree: builder.finish(),
            volumes: Vec::new(),
            placed,
            layers: Vec::new(),
            shadowed: Vec::new(),
            order: Value::Null,
        })
    }
}

fn is_hpi(opened: &Opened) -> bool {
    opened.volume.format == volume::hpi::FORMAT.name
}

/// What is to be shown of a file that is no archive: nothing more than its
/// extension says, or what its content turns out to be.
fn lone_asset(name: &str, source: &FileSource) -> Result<Option<Shows>, io::Error> {
    if companion::view_format(name).is_some() {
        return Ok(None);
    }
    if source.is_empty() || source.len() > MAX_ASSET {
        return Err(io::Error::UnknownFormat);
    }
    let bytes = io::read_vec(source, 0, source.len(), "file")?;
    let matches = |format: &ViewFormat| (format.matches)(&bytes);
    let format = VIEW_FORMATS.iter().position(matches);
    let format = format.ok_or(io::Error::UnknownFormat)?;
    Ok(Some(Shows::Meta(format as u8)))
}

/// What `.hpimount/info.json` says.
fn describe(volumes: &[&Volume], skipped: &[OpenError], order: Value, options: &Options) -> Value {
    let source = |volume: &&Volume| {
        json!({
            "path": volume.path.to_string_lossy(),
            "format": volume.format,
            "archive": volume.archive().map(volume::Archive::info),
            "warnings": volume.warnings(),
        })
    };
    json!({
        "hpimount": env!("CARGO_PKG_VERSION"),
        "sources": volumes.iter().map(source).collect::<Vec<_>>(),
        "left_out": skipped.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "order": order,
        "case_sensitive": options.case_sensitive,
        "cache_size": options.cache_size,
        "meta": options.meta.is_on(),
        "force": options.force,
        "verify": options.verify,
    })
}

/// Whole seconds since 1970 UTC, negative before.
pub(super) fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs() as i64),
    }
}
