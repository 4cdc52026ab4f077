//! Descriptions of inodes beside their attributes: their formats, assets and places.

use super::Vfs;
use crate::mount::assets::editable::is_converted;
use crate::mount::assets::picture::format_of;
use crate::mount::tree::place;
use crate::mount::tree::subtree::RenderedFile;
use crate::mount::{Ino, Result};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::InodeKind;

/// Something that files are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    /// The name of its file.
    pub(crate) name: String,
    /// The name of its format.
    pub(crate) format: &'static str,
    /// Its path in the mount; `None` for a source.
    pub(crate) path: Option<String>,
}

impl Vfs {
    /// Returns whether an inode follows from others: a file or directory of a converted
    /// tree, about an asset or about the mount, or a disc as a plain file.
    pub(crate) fn is_generated(&self, ino: Ino) -> bool {
        let entered = self.mount.directory(ino).map(|(node, _)| node);
        let Ok(node) = entered.or_else(|_| self.mount.node(ino)) else {
            return true;
        };
        let origin = node.subtree().range.origin;
        node.subtree().is_rendered() || matches!(origin, Origin::Control | Origin::Plain(_))
    }

    /// Returns whether an inode is in the `X.meta` of an asset that the converted tree has no
    /// files of, so that they are edited there.
    pub(crate) fn is_edited_in_meta(&self, ino: Ino) -> bool {
        let entered = self.mount.directory(ino).map(|(node, _)| node);
        let node = entered.or_else(|_| self.mount.node(ino));
        let viewed = node.ok().and_then(|node| Some(node.viewed()?.asset));
        let asset = viewed.and_then(|asset| self.mount.node(asset).ok());
        asset.is_some_and(|asset| !is_converted(&asset))
    }

    /// Returns whether an inode is a directory with the contents of an archive or an asset.
    pub(crate) fn is_companion(&self, ino: Ino) -> bool {
        let Ok(node) = self.mount.node(ino) else {
            return false;
        };
        let is_hidden = matches!(node.origin(), Some(Origin::Hidden(..)));
        let kind = node.kind();
        is_hidden
            || matches!(
                kind,
                Some(InodeKind::Companion { .. } | InodeKind::ForeignCompanion { .. })
            )
    }

    /// Returns the asset that a generated file shows, if it shows one.
    pub(crate) fn asset_of_generated(&self, ino: Ino) -> Option<Ino> {
        match self.mount.node(ino).ok()?.rendered()?.0 {
            RenderedFile::Report(..) => None,
            RenderedFile::OfView(viewed, _) => Some(viewed.asset),
            RenderedFile::OfAsset(file) => Some(file.asset),
        }
    }

    /// Returns the path of that asset.
    pub(crate) fn shown_asset(&self, ino: Ino) -> Option<String> {
        let asset = self.asset_of_generated(ino)?;
        place::path(&self.mount, &self.mount.node(asset).ok()?).ok()
    }

    /// Returns what a file is in, from the source to the innermost archive or asset: the
    /// name and the format of each, and its path in the mount, which a source has not.
    pub(crate) fn containers(&self, ino: Ino) -> Result<Vec<Container>> {
        let mut around = Vec::new();
        let mut inner = self.mount.node(ino)?;
        loop {
            if let Some(asset) = self.asset_of_generated(inner.ino()) {
                let asset = self.mount.node(asset)?;
                let format = format_of(&asset).map_or("", |format| format.name);
                around.push(Container {
                    name: asset.tree().name(asset.index).to_owned(),
                    format,
                    path: Some(place::path(&self.mount, &asset)?),
                });
                inner = asset;
                continue;
            }
            let origin = inner.subtree().range.origin;
            let volume = inner.volume();
            let volume = volume.or_else(|| inner.subtree().volumes.first());
            let seen = match origin {
                Origin::Directory(seen) => Some(self.mount.node(seen)?),
                Origin::Hidden(seen, _) | Origin::Plain(seen) => Some(self.mount.node(seen)?),
                Origin::Root | Origin::Files | Origin::Control => None,
            };
            // A directory that is listed on demand is in the same container.
            let archive = seen.as_ref().and_then(|seen| match seen.kind() {
                Some(InodeKind::Companion { of, .. }) => Some(seen.other(of)),
                _ => None,
            });
            if let Some(volume) = volume.filter(|_| seen.is_none() || archive.is_some()) {
                let path = archive.map(|archive| place::path(&self.mount, &archive));
                around.push(Container {
                    name: volume.name.clone(),
                    format: volume.format,
                    path: path.transpose()?,
                });
            }
            match seen {
                Some(seen) => inner = seen,
                None => break,
            }
        }
        around.reverse();
        Ok(around)
    }

    /// Returns whether an inode is another name of an asset.
    pub(crate) fn is_asset_link(&self, ino: Ino) -> bool {
        let kind = self.mount.node(ino).ok().and_then(|node| node.kind());
        matches!(kind, Some(InodeKind::AssetLink { .. }))
    }
}
