//! Subtrees of the mount, and inodes in them.

use std::ops::Deref;
use std::sync::Arc;

use crate::content::{File, Key, OpenVolume, VolumeId};
use crate::io::cache::Value;
use crate::io::{self, budget::Charge};
use crate::namespace::Ino;
use crate::namespace::numbers::{Origin, Range};
use crate::namespace::tree::{Index, Kind, ROOT, Tree};
use crate::view::ViewFormat;
use crate::view::report::Report;
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
    pub(super) rendered: Rendered,
    /// Why the archive that it is the inside of cannot be opened.
    pub(super) problem: Option<io::Error>,
    /// Accounts for the memory of the tree.
    pub(super) _charge: Option<Charge>,
}

/// What the files of a subtree are rendered from.
pub(super) enum Rendered {
    /// They are not: they are in volumes.
    No,
    /// From an asset: their numbers are those of its view.
    View(Viewed),
    /// From many: their numbers are places in the list.
    Converted(Converted),
}

/// The files of a directory of a converted tree.
pub(super) struct Converted {
    /// The directory of files that it mirrors.
    pub(super) of: Ino,
    /// The files.
    pub(super) files: Vec<ConvertedFile>,
}

/// A file of a converted tree.
pub(super) enum ConvertedFile {
    /// It is made of an asset.
    Asset(FileOfAsset),
    /// It is made of many assets of the directory that is mirrored.
    Report(&'static Report),
}

/// A file that is made of an asset as a whole.
#[derive(Clone, Copy)]
pub(super) struct FileOfAsset {
    /// The asset.
    pub(super) asset: Ino,
    /// What shows it.
    pub(super) format: &'static ViewFormat,
    /// Its place in what the format converts the asset to.
    pub(super) position: u8,
    /// The version of the asset when the directory was listed, where its
    /// volume said.
    pub(super) stamp: Option<u64>,
}

impl Rendered {
    /// Returns the memory that it takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::No => 0,
            Self::View(viewed) => viewed.converted.capacity() * size_of::<(u8, FileId)>(),
            Self::Converted(tree) => tree.files.capacity() * size_of::<ConvertedFile>(),
        }
    }
}

/// A file that is rendered.
pub(super) enum RenderedFile<'a> {
    /// The file of this number of an asset's view.
    OfView(&'a Viewed, FileId),
    /// One of a converted tree.
    OfAsset(&'a FileOfAsset),
    /// One that is made of many assets of a directory of files.
    Report(&'static Report, Ino),
}

/// The asset that the files of a subtree show.
pub(super) struct Viewed {
    /// The asset.
    pub(super) asset: Ino,
    /// What shows it.
    pub(super) format: &'static ViewFormat,
    /// The version of the asset that the files were found in.
    pub(super) version: Version,
    /// Those of its files that stand in a converted tree too, by their places
    /// there.
    pub(super) converted: Vec<(u8, FileId)>,
}

impl Subtree {
    /// Returns whether its files are rendered.
    pub(super) fn is_rendered(&self) -> bool {
        !matches!(self.rendered, Rendered::No)
    }
}

impl Value for Arc<Subtree> {
    fn weight(&self) -> usize {
        // Its memory is charged by itself, except for what is small.
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
    /// One that other threads may evict meanwhile.
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
    /// Creates an inode of a subtree that is always there.
    pub(super) fn fixed(subtree: &'a Subtree, index: Index) -> Self {
        Self {
            subtree: Held::Fixed(subtree),
            index,
        }
    }

    /// Creates an inode of a subtree that was entered.
    pub(super) fn entered(subtree: Arc<Subtree>, index: Index) -> Self {
        Self {
            subtree: Held::Entered(subtree),
            index,
        }
    }

    /// Returns the subtree that it is in.
    pub(super) fn subtree(&self) -> &Subtree {
        &self.subtree
    }

    /// Returns the tree that it is in.
    pub(super) fn tree(&self) -> &Tree {
        &self.subtree.tree
    }

    /// What the inode is.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.tree().inode(self.index).map(|inode| inode.kind)
    }

    /// Returns its number in the mount.
    pub(super) fn ino(&self) -> Ino {
        self.ino_of(self.index)
    }

    /// Returns the number of another inode of the same subtree.
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

    /// Returns the inode as what this one is seen from outside, where it is the
    /// root of a subtree that stands in another one.
    pub(super) fn origin(&self) -> Option<Origin> {
        (self.index == ROOT).then_some(self.subtree.range.origin)
    }

    /// Returns the volume that a file, or a directory that is listed on demand,
    /// is in.
    pub(super) fn volume(&self) -> Option<&Arc<OpenVolume>> {
        match self.kind()? {
            Kind::File { volume, .. } | Kind::Deferred { volume, .. } => {
                self.subtree.volumes.get(volume as usize)
            }
            _ => None,
        }
    }

    /// Returns the file of a volume that it is; `None` where it is rendered
    /// from a view, and where it is no file.
    pub(super) fn file(&self) -> Option<File<'_>> {
        let Kind::File { file, .. } = self.kind()? else {
            return None;
        };
        Some(File {
            volume: self.volume()?,
            file,
        })
    }

    /// What it is rendered from, where it is, and what it is kept by.
    pub(super) fn rendered(&self) -> Option<(RenderedFile<'_>, Key)> {
        let Kind::File { file, .. } = self.kind()? else {
            return None;
        };
        let volume = volume_id(self.subtree.range, 0);
        let key = Key { volume, file };
        match &self.subtree.rendered {
            Rendered::No => None,
            Rendered::View(viewed) => {
                let mut converted = viewed.converted.iter();
                let key = match converted.find(|(_, number)| *number == file) {
                    Some(&(position, _)) => key_of(viewed.asset, viewed.version.stamp, position),
                    None => key,
                };
                Some((RenderedFile::OfView(viewed, file), key))
            }
            Rendered::Converted(converted) => {
                let file = converted.files.get(file.0 as usize)?;
                Some(match file {
                    ConvertedFile::Asset(file) => {
                        let stamp = file.stamp.unwrap_or_default();
                        let key = key_of(file.asset, stamp, file.position);
                        (RenderedFile::OfAsset(file), key)
                    }
                    ConvertedFile::Report(report) => {
                        (RenderedFile::Report(report, converted.of), key)
                    }
                })
            }
        }
    }
}

/// What the file at `position` of what an asset is converted to is kept by,
/// wherever it is shown. No volume is called so: their numbers begin with
/// those of directories.
fn key_of(asset: Ino, stamp: u64, position: u8) -> Key {
    let stamp = (stamp ^ stamp >> 32) & u64::from(u32::MAX);
    Key {
        volume: VolumeId(u64::from(asset.0) << 32 | stamp),
        file: FileId(position.into()),
    }
}

/// Returns the number of a volume of a subtree with these inode numbers. It is
/// the same whenever the subtree is.
pub(super) fn volume_id(range: Range, number: usize) -> VolumeId {
    VolumeId(u64::from(range.first) << 32 | number as u64)
}
