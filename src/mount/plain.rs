//! The source of a mount as plain files: a disc without the compression around
//! it, and an archive or a disc with changes.

use std::sync::Arc;

use super::changes::{Changed, stem};
use hpimount_containers::io::ReadAt;
use hpimount_containers::volume::Volume;

/// Stem of the names of plain discs in the root of a mount.
const DISC: &str = "disc";

/// Files that are the source.
#[derive(Default)]
pub(super) struct PlainFiles {
    /// By the name of the source, in `.hpimount/image`.
    pub(super) images: Vec<(String, Arc<dyn ReadAt>)>,
    /// By fixed names, found in the root of the mount.
    pub(super) discs: Vec<(String, Arc<dyn ReadAt>)>,
}

impl PlainFiles {
    /// Returns the files of the source called `name`, which is opened as
    /// `volume`.
    pub(super) fn of(name: &str, changed: Option<&Changed>, volume: &dyn Volume) -> Self {
        let mut files = Self {
            images: volume.plain_files(stem(name)),
            discs: volume.plain_files(DISC),
        };
        if let Some(changed) = changed.filter(|_| files.images.is_empty()) {
            files.images.push((name.to_owned(), changed.source.clone()));
            files.images.extend(changed.partners.clone());
        }
        files
    }

    /// Returns all sources in order.
    pub(super) fn sources(&self) -> Vec<Arc<dyn ReadAt>> {
        let images = self.images.iter().map(|(_, source)| source.clone());
        let discs = self.discs.iter().map(|(_, source)| source.clone());
        images.chain(discs).collect()
    }
}
