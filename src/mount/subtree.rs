//! Subtrees of the mount, and inodes in them.

use std::ops::Deref;
use std::sync::Arc;

use crate::content::{File, Key, OpenVolume, VolumeId};
use crate::io::budget::Charge;
use crate::io::cache::Value;
use crate::namespace::Ino;
use crate::namespace::numbers::{Origin, Range};
use crate::namespace::tree::{Index, Kind, ROOT, Tree};
use crate::view::ViewFormat;
use crate::volume::{FileId, Version};

/// A tree of the mount, with what its files are read from.
pub(super) struct Subtree {
    /// Its inode numbers.
    pub(super) range: Range,
    /// Its inodes and their names.
    pub(super) tree: Tree,
    /// What its files are in, by the number that they have there.
    pub(super) volumes: Vec<Arc<OpenVolume>>,
    /// What its files are rendered from, where they are.
    pub(super) view: Option<Viewed>,
    /// Accounts for the memory of the tree.
    pub(super) _charge: Option<Charge>,
}

/// The asset that the files of a subtree show.
pub(super) struct Viewed {
    /// The asset.
    pub(super) asset: Ino,
    /// What shows it.
    pub(super) format: &'static ViewFormat,
    /// The version of the asset that the files were found in.
    pub(super) version: Version,
}

impl Value for Arc<Subtree> {
    fn weight(&self) -> usize {
        // Its memory is charged by itself, but for what is small.
        size_of::<Subtree>()
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(self) > 1
    }
}

/// A subtree that stays while it is looked at.
#[derive(Clone)]
enum Held<'a> {
    /// One that is always there.
    Fixed(&'a Subtree),
    /// One that may be given up by others meanwhile.
    Entered(Arc<Subtree>),
}

impl Deref for Held<'_> {
    type Target = Subtree;

    fn deref(&self) -> &Subtree {
        match self {
            Self::Fixed(subtree) => subtree,
            Self::Entered(subtree) => subtree,
        }
    }
}

/// An inode of a subtree.
#[derive(Clone)]
pub(super) struct Node<'a> {
    subtree: Held<'a>,
    /// Its number there.
    pub(super) index: Index,
}

impl<'a> Node<'a> {
    /// An inode of a subtree that is always there.
    pub(super) fn fixed(subtree: &'a Subtree, index: Index) -> Self {
        Self {
            subtree: Held::Fixed(subtree),
            index,
        }
    }

    /// An inode of a subtree that was entered.
    pub(super) fn entered(subtree: Arc<Subtree>, index: Index) -> Self {
        Self {
            subtree: Held::Entered(subtree),
            index,
        }
    }

    /// The subtree that it is in.
    pub(super) fn subtree(&self) -> &Subtree {
        &self.subtree
    }

    /// The tree that it is in.
    pub(super) fn tree(&self) -> &Tree {
        &self.subtree.tree
    }

    /// What the inode is.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.tree().inode(self.index).map(|inode| inode.kind)
    }

    /// Its number in the mount.
    pub(super) fn ino(&self) -> Ino {
        self.ino_of(self.index)
    }

    /// The number of another inode of the same subtree.
    pub(super) fn ino_of(&self, index: Index) -> Ino {
        self.subtree.range.ino(index)
    }

    /// Another inode of the same subtree.
    pub(super) fn other(&self, index: Index) -> Self {
        Self {
            index,
            ..self.clone()
        }
    }

    /// The inode as what this one is seen from outside, where it is the root
    /// of a subtree that stands in another one.
    pub(super) fn origin(&self) -> Option<Origin> {
        (self.index == ROOT).then_some(self.subtree.range.origin)
    }

    /// The volume that a file, or a directory that is listed on demand, is in.
    pub(super) fn volume(&self) -> Option<&Arc<OpenVolume>> {
        match self.kind()? {
            Kind::File { volume, .. } | Kind::Deferred { volume, .. } => {
                self.subtree.volumes.get(volume as usize)
            }
            _ => None,
        }
    }

    /// The file of a volume that it is; `None` where it is rendered from a
    /// view, and where it is no file.
    pub(super) fn file(&self) -> Option<File<'_>> {
        let Kind::File { file, .. } = self.kind()? else {
            return None;
        };
        Some(File {
            volume: self.volume()?,
            file,
        })
    }

    /// The number of the view's file that it is, and what it is kept by.
    pub(super) fn rendered(&self) -> Option<(FileId, Key)> {
        let Kind::File { file, .. } = self.kind()? else {
            return None;
        };
        self.subtree.view.as_ref()?;
        let volume = volume_id(self.subtree.range, 0);
        Some((file, Key { volume, file }))
    }
}

/// The number of a volume of a subtree with these inode numbers. It is the
/// same whenever the subtree is.
pub(super) fn volume_id(range: Range, number: usize) -> VolumeId {
    VolumeId(u64::from(range.first) << 32 | number as u64)
}
