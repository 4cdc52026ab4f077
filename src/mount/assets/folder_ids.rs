//! The ids of the assets of all archives in a folder or on a disc: links may
//! have targets in any of them (SEMANTICS, Names from other archives).

use std::any::Any;
use std::sync::Arc;

use super::{beside, find};
use crate::content::{Kept, SharedKey};
use crate::mount::tree::MountTree;
use crate::mount::tree::subtree::{HeldIno, Node};
use crate::mount::{Ino, Result};
use hpimount_assets::view::Shared;
use hpimount_containers::{hip, io};

/// Maximum number of archives that are searched.
const MAX_ARCHIVES: usize = 1 << 10;

/// Maximum number of ids; the 500 archives of a game have half as many.
const MAX_IDS: usize = 1 << 20;

/// The ids of the assets of all archives in a folder.
pub(crate) struct FolderIds {
    /// The companions of the archives that show their contents.
    archives: Vec<HeldIno>,
    /// Ids with the index of their first archive, sorted.
    ids: Vec<(u32, u16)>,
}

impl Shared for FolderIds {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.archives.capacity() * size_of::<HeldIno>()
            + self.ids.capacity() * size_of::<(u32, u16)>()
    }
}

impl FolderIds {
    /// Returns the ids of the archives in the folder around the archive of
    /// `asset`; `None` if the archive is not in a folder. They are collected on
    /// first use and count towards the memory budget.
    ///
    /// # Errors
    /// Returns an error if they do not fit, or if an archive cannot be entered
    /// because of a temporary fault.
    pub(crate) fn around(mount: &MountTree, asset: &Node<'_>) -> io::Result<Option<Arc<Self>>> {
        let fault = |error| io::Error::Listing(Arc::new(std::io::Error::other(error)));
        let Some(folder) = beside::folder_around(mount, asset).map_err(fault)? else {
            return Ok(None);
        };
        let key = SharedKey {
            name: "HIP ids of a folder",
            root: folder.ino().0,
        };
        let ids = mount.reader.shared(key, || {
            let ids = Self::collect(mount, &folder).map_err(fault)?;
            Ok((Box::new(ids), Kept::default()))
        })?;
        let ids: Arc<dyn Any + Send + Sync> = ids;
        Ok(ids.downcast().ok())
    }

    /// Returns the companion of the first archive that has an asset with this
    /// id.
    pub(crate) fn archive_of(&self, id: u32) -> Option<Ino> {
        let found = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let archive = self.archives.get(usize::from(self.ids[found].1))?;
        Some(**archive)
    }

    fn collect(mount: &MountTree, folder: &Node<'_>) -> Result<Self> {
        let files = find::files_below(mount, folder, "", hip::FORMAT.extensions);
        let (mut archives, mut ids) = (Vec::new(), Vec::new());
        for file in files.into_iter().take(MAX_ARCHIVES) {
            let Some(companion) = beside::companion(&mount.node(*file)?) else {
                continue;
            };
            let number = archives.len() as u16;
            archives.push(companion.held_ino());
            let archive = mount.enter(companion)?;
            let volume = archive.subtree().volumes.first();
            let Some(volume) = volume.map(|volume| &volume.volume) else {
                continue;
            };
            let files = volume
                .assets()
                .map_or_else(Vec::new, |assets| assets.files());
            let own = files.into_iter().filter_map(|file| volume.asset(file));
            let left = MAX_IDS - ids.len();
            ids.extend(own.map(|asset| (asset.id, number)).take(left));
        }
        ids.sort_unstable();
        ids.dedup_by_key(|(id, _)| *id);
        ids.shrink_to_fit();
        Ok(Self { archives, ids })
    }
}
