//! Facts that determine the bytes of files, to tell versions of them apart without reading them.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::mount::tree::place;
use crate::mount::tree::subtree::{Node, RenderedFile};
use crate::mount::{Result, Vfs};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::InodeKind;

/// Identity of the bytes of a file, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Equal only for the same path and the same versions of the files that it is in.
    pub(crate) number: u64,
    /// True if its bytes may also follow from files that may change and are not known: it is made
    /// of an asset in a folder, where views look for other files.
    pub(crate) is_vague: bool,
}

impl Vfs {
    /// Returns what identifies the bytes of a file in this mount.
    ///
    /// # Errors
    /// Returns an error if a folder around it cannot be read, or a tree around it cannot
    /// be built again.
    pub(crate) fn identity(&self, node: &Node<'_>) -> Result<Identity> {
        let mut versions = Versions {
            vfs: self,
            hasher: DefaultHasher::new(),
            is_in_folder: false,
        };
        place::path(&self.mount, node)?.hash(&mut versions.hasher);
        versions.add(node)?;
        Ok(Identity {
            number: versions.hasher.finish(),
            is_vague: node.rendered().is_some() && versions.is_in_folder,
        })
    }
}

/// The versions of the files that something is in or made of.
struct Versions<'v> {
    vfs: &'v Vfs,
    hasher: DefaultHasher,
    /// True if a folder whose files may change is among what they are in.
    is_in_folder: bool,
}

impl Versions<'_> {
    /// Adds those of a node, and of what is around it.
    fn add(&mut self, node: &Node<'_>) -> Result<()> {
        let mut volumes = node.subtree().volumes.iter();
        self.is_in_folder |= volumes.any(|volume| volume.volume.live().is_some());
        self.add_file(node)?;
        match (node.kind(), node.rendered()) {
            (Some(InodeKind::Companion { of, .. }), _) => self.add_file(&node.other(of))?,
            (Some(InodeKind::ForeignCompanion { of, .. }), _) => self.add(&self.vfs.node(of)?)?,
            (_, Some((RenderedFile::OfView(viewed, _), _))) => {
                self.add(&self.vfs.node(viewed.asset)?)?;
            }
            (_, Some((RenderedFile::OfAsset(file), _))) => self.add(&self.vfs.node(file.asset)?)?,
            (_, Some((RenderedFile::Report(_, of), _))) => self.add(&self.vfs.node(of)?)?,
            _ => {}
        }
        match node.subtree().range.origin {
            Origin::Root | Origin::Files | Origin::Control => Ok(()),
            Origin::Directory(around) | Origin::Hidden(around, _) | Origin::Plain(around) => {
                self.add(&self.vfs.node(around)?)
            }
        }
    }

    fn add_file(&mut self, node: &Node<'_>) -> Result<()> {
        let Some(file) = node.file() else {
            return Ok(());
        };
        let version = file.volume.volume.version(file.file);
        let version = version.map_err(|error| self.vfs.mount.failed(node, &error))?;
        version.stamp.hash(&mut self.hasher);
        Ok(())
    }
}
