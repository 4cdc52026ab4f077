//! The source of a mount as plain files: a disc without the compression around
//! it, and an archive or a disc with changes.

use std::sync::Arc;

use super::changes::{Changed, stem};
use hpimount_containers::io::ReadAt;
use hpimount_containers::iso;
use hpimount_containers::volume::{Part, Volume};

/// Files that are the source.
#[derive(Default)]
pub(super) struct PlainFiles {
    /// By the name of the source, in `.hpimount/image`.
    pub(super) images: Vec<(String, Arc<dyn ReadAt>)>,
    /// By fixed names, found in the root of the mount.
    pub(super) discs: Vec<(&'static str, Arc<dyn ReadAt>)>,
}

impl PlainFiles {
    /// Returns the files of the source called `name`, which is opened as
    /// `volume`.
    pub(super) fn of(name: &str, changed: Option<&Changed>, volume: &dyn Volume) -> Self {
        let mut files = Self::default();
        if let [image] = &volume.images()[..]
            && image.file.is_none()
            && image.part == Part::Whole
        {
            files.add_disc(stem(name), &image.bytes);
        } else if let Some(changed) = changed {
            files.images.push((name.to_owned(), changed.source.clone()));
            files.images.extend(changed.partner.clone());
        }
        files
    }

    /// Adds a disc: one file, or raw sectors and a cue sheet.
    fn add_disc(&mut self, stem: &str, disc: &Arc<dyn ReadAt>) {
        let Some(mode) = iso::cue_mode(&**disc) else {
            self.images.push((format!("{stem}.iso"), disc.clone()));
            self.discs.push(("disc.iso", disc.clone()));
            return;
        };
        let sheet = |stem: &str| -> Arc<dyn ReadAt> {
            let sheet =
                format!("FILE \"{stem}.bin\" BINARY\n  TRACK 01 {mode}\n    INDEX 01 00:00:00\n");
            Arc::new(sheet.into_bytes())
        };
        self.images.push((format!("{stem}.cue"), sheet(stem)));
        self.images.push((format!("{stem}.bin"), disc.clone()));
        self.discs.push(("disc.cue", sheet("disc")));
        self.discs.push(("disc.bin", disc.clone()));
    }

    /// Returns all sources in order.
    pub(super) fn sources(&self) -> Vec<Arc<dyn ReadAt>> {
        let images = self.images.iter().map(|(_, source)| source.clone());
        let discs = self.discs.iter().map(|(_, source)| source.clone());
        images.chain(discs).collect()
    }
}
