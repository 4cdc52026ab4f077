//! The sources of a mount.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::order::{self, Order, gta};
use crate::mount::changes::Changes;
#[cfg(edit)]
use crate::mount::changes::Edits;
use crate::mount::{OpenCause, OpenError, local_time};
use crate::platform::canonical;
use crate::source::remote::RemoteUrl;
use crate::source::{DiskNames, Location, files_beside};

/// The sources to mount.
#[derive(Debug, Clone)]
pub enum Sources {
    /// Archives, folders and single assets. Several archives of a game are
    /// merged, unless `separate`; others are placed side by side.
    Given {
        /// In order, the last one on top.
        locations: Vec<Location>,
        /// The order to use instead.
        order: Option<Order>,
        /// Merge nothing.
        separate: bool,
    },
    /// A game's folder: its archives and loose files, merged as the game does.
    Game {
        /// The folder.
        folder: PathBuf,
        /// The order; `None` to use the order of the game that the archives are
        /// made for.
        order: Option<Order>,
        /// Folders of loose files above those of the game, the last one on top.
        mods: Vec<PathBuf>,
    },
}

/// Sources with their folders listed as far as needed to determine what will be
/// read.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) sources: Sources,
    /// The folder of a game.
    pub(crate) game: Option<GameFolder>,
    /// Additional files of sources, absolute: the second files of pairs, and
    /// the tracks of cue sheets. They are found before the process is confined,
    /// after which it cannot list directories.
    pub(crate) partners: Vec<PathBuf>,
    /// Changes to the source, if there are any. The folders are read before the
    /// process is confined, after which it sees no attributes of overlayfs.
    pub(crate) changes: Option<Changes>,
}

/// A folder of loose files at the time when it was listed.
#[derive(Debug, Clone)]
pub(crate) struct LooseFolder {
    /// Its path, absolute and without symbolic links.
    pub(crate) path: PathBuf,
    /// The names in it, sorted.
    pub(crate) names: Vec<OsString>,
}

impl LooseFolder {
    fn list(path: &Path) -> Result<Self, OpenError> {
        let list = || {
            let path = canonical(path)?;
            let entries = std::fs::read_dir(&path)?;
            let names = entries.map(|entry| Ok(entry?.file_name()));
            let mut names = names.collect::<std::io::Result<Vec<_>>>()?;
            names.sort();
            Ok(Self { path, names })
        };
        list().map_err(|error| OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error)))
    }
}

/// A game's folder at the time when it was listed.
#[derive(Debug, Clone)]
pub(crate) struct GameFolder {
    pub(crate) folder: LooseFolder,
    /// The folders of loose files above it.
    pub(crate) mods: Vec<LooseFolder>,
    /// The archives that the lists of a game name; `None` for games without
    /// lists.
    pub(super) listed: Option<gta::Archives>,
}

impl GameFolder {
    fn list(path: &Path, mods: &[PathBuf], order: Option<Order>) -> Result<Self, OpenError> {
        let folder = LooseFolder::list(path)?;
        let mods = mods.iter().map(|path| LooseFolder::list(path));
        let listed = match order {
            None => gta::archives(&folder.path),
            Some(_) => None,
        };
        Ok(Self {
            mods: mods.collect::<Result<_, _>>()?,
            folder,
            listed,
        })
    }

    /// Returns the paths of the files with the extension of an archive of some
    /// game, or of those that the lists of the game name.
    pub(crate) fn archives(&self) -> Vec<PathBuf> {
        if let Some(listed) = &self.listed {
            return listed.paths.clone();
        }
        let LooseFolder { path, names } = &self.folder;
        let paths = names.iter().map(|name| path.join(name));
        paths
            .filter(|path| order::is_archive_of_any(path) && path.is_file())
            .collect()
    }
}

impl Sources {
    /// Returns a single source.
    pub fn one(location: impl Into<Location>) -> Self {
        Self::Given {
            locations: vec![location.into()],
            order: None,
            separate: false,
        }
    }

    /// Lists the folder of a game, or finds the additional files of the
    /// sources.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be listed.
    pub fn prepare(&self) -> Result<Prepared, OpenError> {
        local_time::load();
        let game = match self {
            Self::Given { .. } => None,
            Self::Game {
                folder,
                order,
                mods,
            } => Some(GameFolder::list(folder, mods, *order)?),
        };
        let partners = match self {
            Self::Given { locations, .. } => {
                let paths = locations.iter().filter_map(Location::path);
                paths.flat_map(files_beside).collect()
            }
            Self::Game { .. } => {
                let listed = game.iter().filter_map(|game| game.listed.as_ref());
                let paths = listed.flat_map(|listed| &listed.paths);
                paths.flat_map(|path| files_beside(path)).collect()
            }
        };
        Ok(Prepared {
            sources: self.clone(),
            game,
            partners,
            changes: None,
        })
    }

    /// Returns the sources with absolute paths, so that a daemon, which changes its working
    /// directory, can open them again.
    ///
    /// # Errors
    /// Returns an error if there is no working directory.
    pub fn absolute(mut self) -> Result<Self, OpenError> {
        let paths: Vec<&mut PathBuf> = match &mut self {
            Self::Given { locations, .. } => locations
                .iter_mut()
                .filter_map(|location| match location {
                    Location::Path(path) => Some(path),
                    Location::Remote(_) => None,
                })
                .collect(),
            Self::Game { folder, mods, .. } => [folder].into_iter().chain(mods).collect(),
        };
        for path in paths {
            *path = std::path::absolute(&*path).map_err(|error| {
                OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error))
            })?;
        }
        Ok(self)
    }

    /// Returns the first source for the mount table: its absolute path, or its
    /// URL without secrets.
    pub fn name(&self) -> String {
        let path = match self {
            Self::Given { locations, .. } => match locations.first() {
                Some(Location::Remote(url)) => return url.shown().to_owned(),
                Some(Location::Path(path)) => path.as_path(),
                None => Path::new(""),
            },
            Self::Game { folder, .. } => folder,
        };
        let path = std::path::absolute(path).unwrap_or(path.to_owned());
        path.to_string_lossy().into_owned()
    }

    /// Returns the first source for messages.
    pub fn display_name(&self) -> String {
        match self {
            Self::Given { locations, .. } => {
                let first = locations.first();
                first.map_or_else(String::new, Location::display_name)
            }
            Self::Game { folder, .. } => folder.display().to_string(),
        }
    }

    /// Returns whether the mount shows a single source, and nothing else.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Self::Given { locations, .. } if locations.len() == 1)
    }

    /// Returns the URLs among the sources.
    pub fn urls(&self) -> impl Iterator<Item = &RemoteUrl> {
        let locations = match self {
            Self::Given { locations, .. } => locations.as_slice(),
            Self::Game { .. } => &[],
        };
        locations.iter().filter_map(Location::url)
    }
}

impl Prepared {
    /// Reads the folders of changes to apply to the sources, the last one on top.
    /// With `is_strict`, changes are refused that games may not find.
    ///
    /// # Errors
    /// Returns an error if a folder of changes cannot be read.
    pub fn with_changes(self, folders: &[PathBuf], is_strict: bool) -> Result<Self, OpenError> {
        if folders.is_empty() {
            return Ok(self);
        }
        Ok(Self {
            changes: Some(Changes::read(folders, is_strict, DiskNames::default())?),
            ..self
        })
    }

    /// Returns the sources with the changes of `edits` on top of those that they have.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Prepared::with_changes`].
    #[cfg(edit)]
    pub(crate) fn with_edits(&self, edits: &Edits, is_strict: bool) -> Result<Self, OpenError> {
        let changes = Changes::with_edits(self.changes.as_ref(), edits, is_strict)?;
        Ok(Self {
            changes: Some(changes),
            ..self.clone()
        })
    }

    /// Returns everything that is read from disk: files, and directories
    /// including their contents. Symbolic links that lead out of a directory
    /// work only if they lead to one of these paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = match &self.sources {
            Sources::Given { locations, .. } => {
                let given = locations.iter().filter_map(Location::path);
                let given = given.map(Path::to_owned);
                given.chain(self.partners.iter().cloned()).collect()
            }
            Sources::Game { folder, mods, .. } => {
                let links = self.game.iter().flat_map(GameFolder::archives);
                let folders = [folder].into_iter().chain(mods).cloned();
                // A link can be an archive of the game.
                folders
                    .chain(links.filter(|path| path.is_symlink()))
                    .collect()
            }
        };
        let changes = self.changes.iter().flat_map(|changes| &changes.paths);
        paths.extend(changes.cloned());
        paths
    }
}
