//! Assets that were made from edited files, for later versions of a mount that is edited.
//!
//! Making them takes long: textures are compressed, models are divided into strips. Most
//! are made from the same files again when another file has changed.

use std::collections::HashMap;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::spool::Spool;
use crate::memory::budget::Charge;
use crate::sync::lock;
use hpimount_containers::changes::{NewFile, Report};

/// An asset that was made from edited files.
pub struct MadeAsset {
    /// A number that other originals of the archive are unlikely to have.
    pub archive: u64,
    /// The same of the asset in it.
    pub original: u64,
    /// The files, by their numbers in the view of the asset.
    pub files: Vec<(usize, NewFile)>,
    /// The asset.
    pub asset: NewFile,
    /// The report about it.
    pub report: Report,
    /// The memory of all this.
    pub memory: Charge,
}

/// The assets.
pub struct MadeAssets {
    spool: Spool,
    /// The number of the version that was begun last.
    version: AtomicU64,
    assets: Mutex<ByFile>,
}

/// Assets by the paths of the files that they are made from, with the last version that has
/// used them.
type ByFile = HashMap<Box<str>, (u64, Arc<MadeAsset>)>;

impl std::fmt::Debug for MadeAssets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MadeAssets")
    }
}

impl MadeAssets {
    /// Creates a list without assets, which may have `size` bytes in `file`.
    pub fn new(file: Option<Arc<File>>, size: u64) -> Self {
        Self {
            spool: Spool::new(file, size),
            version: AtomicU64::new(0),
            assets: Mutex::default(),
        }
    }

    /// Returns the storage for the assets.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Begins a version, and returns its number.
    pub fn begin(&self) -> u64 {
        self.version.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Ends a version: what neither it nor a later one has used is dropped.
    pub fn end(&self, version: u64) {
        lock(&self.assets).retain(|_, (used, _)| *used >= version);
    }

    /// Returns the asset that was made from a file.
    pub fn of(&self, file: &NewFile) -> Option<Arc<MadeAsset>> {
        let mut assets = lock(&self.assets);
        let (used, made) = assets.get_mut(file.path())?;
        if !made.files.iter().any(|(_, made)| made.is_same(file)) {
            return None;
        }
        *used = self.version.load(Ordering::Relaxed);
        Some(made.clone())
    }

    /// Remembers an asset.
    pub fn insert(&self, made: MadeAsset) {
        let version = self.version.load(Ordering::Relaxed);
        let made = Arc::new(made);
        let mut assets = lock(&self.assets);
        for (_, file) in &made.files {
            assets.insert(file.path().into(), (version, made.clone()));
        }
    }
}
