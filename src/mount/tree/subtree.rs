//! Subtrees of the mount, and inodes in them.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::content::{File, Generated, Key, OpenVolume, VolumeId};
use crate::memory::budget::Charge;
use crate::memory::cache::Value;
use crate::namespace::Ino;
use crate::namespace::numbers::{Hold, Origin, Range};
use crate::namespace::tree::{Index, InodeKind, ROOT, Tree};
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::report::Report;
use hpimount_containers::io;
use hpimount_containers::volume::{FileId, Version};

/// A tree of the mount, with the volumes of its files.
pub(crate) struct Subtree {
    /// Its inode numbers.
    pub(crate) range: Range,
    /// Keeps the numbers, unless the subtree is permanent.
    pub(crate) hold: Option<Arc<Hold>>,
    /// Its inodes and their names.
    pub(crate) tree: Tree,
    /// The volumes of its files, by their numbers.
    pub(crate) volumes: Vec<Arc<OpenVolume>>,
    /// The subtree around it that has the charge for the volumes, if that is another
    /// one.
    pub(crate) _around: Option<Arc<Subtree>>,
    /// Source of its rendered files, if any.
    pub(crate) rendered: Rendered,
    /// The reason why the archive that it shows cannot be opened.
    pub(crate) problem: Option<io::Error>,
    /// The charge for the memory of the tree.
    pub(crate) _charge: Option<Charge>,
}

/// The origin of the files of a subtree.
pub(crate) enum Rendered {
    /// They are in volumes.
    No,
    /// They are rendered from an asset: a file has the same number as in its
    /// view.
    View(Viewed),
    /// They are rendered from many assets: file numbers are indices of the
    /// list.
    Converted(Converted),
}

/// The files of a directory of a converted tree.
pub(crate) struct Converted {
    /// The directory of files that it mirrors.
    pub(crate) of: Ino,
    /// The files.
    pub(crate) files: Vec<ConvertedSource>,
    /// The assets in the order of their numbers, each with an inode of a file that it is
    /// converted to; once they are needed.
    pub(crate) by_asset: OnceLock<Box<[(u64, Index)]>>,
}

/// Source of a file of a converted tree.
pub(crate) enum ConvertedSource {
    /// It is converted from an asset.
    Asset(FileOfAsset),
    /// It combines many assets of the mirrored directory.
    Report(&'static Report),
}

/// A file that is converted from an asset.
#[derive(Clone, Copy)]
pub(crate) struct FileOfAsset {
    /// The asset.
    pub(crate) asset: Ino,
    /// The format that shows it.
    pub(crate) format: &'static ViewFormat,
    /// Its index in the format's list of conversions.
    pub(crate) position: u8,
    /// The version of the asset when the directory was listed, if its volume
    /// has versions.
    pub(crate) stamp: Option<u64>,
}

impl Rendered {
    /// Returns its memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::No => 0,
            Self::View(viewed) => viewed.converted.capacity() * size_of::<(u8, FileId)>(),
            Self::Converted(tree) => {
                tree.files.capacity() * size_of::<(ConvertedSource, (u64, Index))>()
            }
        }
    }
}

/// A rendered file.
pub(crate) enum RenderedFile<'a> {
    /// The file with this number in an asset's view.
    OfView(&'a Viewed, FileId),
    /// A file of a converted tree.
    OfAsset(&'a FileOfAsset),
    /// A report about a directory of files.
    Report(&'static Report, Ino),
}

/// The asset that the files of a subtree show.
pub(crate) struct Viewed {
    /// The asset.
    pub(crate) asset: Ino,
    /// The format that shows it.
    pub(crate) format: &'static ViewFormat,
    /// The version of the asset that the files were determined from.
    pub(crate) version: Version,
    /// The files that are also in a converted tree, each with its index there.
    pub(crate) converted: Vec<(u8, FileId)>,
}

impl Subtree {
    /// Returns whether its files are rendered.
    pub(crate) fn is_rendered(&self) -> bool {
        !matches!(self.rendered, Rendered::No)
    }
}

impl Value for Arc<Subtree> {
    fn weight(&self) -> usize {
        // Larger memory is charged separately.
        size_of::<Subtree>()
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(self) > 1
    }
}

/// A reference to a subtree that keeps it alive.
#[derive(Clone)]
enum SubtreeRef<'a> {
    /// A permanent one.
    Permanent(&'a Subtree),
    /// One that other threads may evict meanwhile.
    Entered(Arc<Subtree>),
}

impl Deref for SubtreeRef<'_> {
    type Target = Subtree;

    fn deref(&self) -> &Subtree {
        match self {
            Self::Permanent(subtree) => subtree,
            Self::Entered(subtree) => subtree,
        }
    }
}

/// An inode of a subtree.
#[derive(Clone)]
pub struct Node<'a> {
    subtree: SubtreeRef<'a>,
    /// Its index there.
    pub(crate) index: Index,
}

impl<'a> Node<'a> {
    /// Creates a node of a permanent subtree.
    pub(crate) fn permanent(subtree: &'a Subtree, index: Index) -> Self {
        Self {
            subtree: SubtreeRef::Permanent(subtree),
            index,
        }
    }

    /// Creates a node of a subtree that was entered.
    pub(crate) fn entered(subtree: Arc<Subtree>, index: Index) -> Self {
        Self {
            subtree: SubtreeRef::Entered(subtree),
            index,
        }
    }

    /// Creates the node of the root of a subtree that was entered.
    pub(crate) fn entered_root(subtree: Arc<Subtree>) -> Self {
        Self::entered(subtree, ROOT)
    }

    /// Returns its subtree.
    pub(crate) fn subtree(&self) -> &Subtree {
        &self.subtree
    }

    /// Returns its subtree for as long as it is needed; `None` for a permanent one.
    pub(crate) fn held(&self) -> Option<Arc<Subtree>> {
        match &self.subtree {
            SubtreeRef::Permanent(_) => None,
            SubtreeRef::Entered(subtree) => Some(subtree.clone()),
        }
    }

    /// Returns what keeps the numbers of its subtree; `None` for a permanent one.
    pub(crate) fn hold(&self) -> Option<&Arc<Hold>> {
        self.subtree.hold.as_ref()
    }

    /// Returns its number for something that remembers it.
    pub(crate) fn held_ino(&self) -> HeldIno {
        HeldIno {
            ino: self.ino(),
            hold: self.hold().cloned(),
        }
    }

    /// Returns its tree.
    pub(crate) fn tree(&self) -> &Tree {
        &self.subtree.tree
    }

    /// Returns the kind of the inode.
    pub(crate) fn kind(&self) -> Option<InodeKind> {
        self.tree().inode(self.index).map(|inode| inode.kind)
    }

    /// Returns the size of a file in bytes, if it is known without rendering.
    pub(crate) fn size(&self) -> Option<u64> {
        self.tree().inode(self.index)?.size()
    }

    /// Returns its number in the mount.
    pub(crate) fn ino(&self) -> Ino {
        self.ino_of(self.index)
    }

    /// Returns the number of another inode of the same subtree.
    pub(crate) fn ino_of(&self, index: Index) -> Ino {
        self.subtree.range.ino(index)
    }

    /// Returns another inode of the same subtree.
    pub(crate) fn other(&self, index: Index) -> Self {
        Self {
            index,
            ..self.clone()
        }
    }

    /// Returns what the inode is in the mount, if it is the root of a subtree.
    pub(crate) fn origin(&self) -> Option<Origin> {
        (self.index == ROOT).then_some(self.subtree.range.origin)
    }

    /// Returns the volume of a file, or of a directory that is listed on
    /// demand.
    pub(crate) fn volume(&self) -> Option<&Arc<OpenVolume>> {
        match self.kind()? {
            InodeKind::File { volume, .. }
            | InodeKind::StoredLink { volume, .. }
            | InodeKind::Deferred { volume, .. } => self.subtree.volumes.get(volume as usize),
            _ => None,
        }
    }

    /// Returns the file with the text of a symbolic link; `None` for another
    /// node.
    pub(crate) fn stored_link(&self) -> Option<File<'_>> {
        match self.kind()? {
            InodeKind::StoredLink { volume, file } => self.file_of(volume, file),
            _ => None,
        }
    }

    /// Returns the file of a volume; `None` if the node is rendered or is not a
    /// file.
    pub(crate) fn file(&self) -> Option<File<'_>> {
        match self.kind()? {
            InodeKind::File { volume, file } => self.file_of(volume, file),
            _ => None,
        }
    }

    fn file_of(&self, volume: u32, file: FileId) -> Option<File<'_>> {
        let volume = self.subtree.volumes.get(volume as usize)?;
        Some(File { volume, file })
    }

    /// Returns the asset whose view the node is in, if it is in one.
    pub(crate) fn viewed(&self) -> Option<&Viewed> {
        match &self.subtree.rendered {
            Rendered::View(viewed) => Some(viewed),
            Rendered::No | Rendered::Converted(_) => None,
        }
    }

    /// Returns the rendered file and its description for the cache; `None` if the node is
    /// not rendered.
    pub(crate) fn rendered(&self) -> Option<(RenderedFile<'_>, Generated)> {
        let InodeKind::File { file, .. } = self.kind()? else {
            return None;
        };
        let volume = volume_id(self.subtree.range, 0);
        let key = Key { volume, file };
        match &self.subtree.rendered {
            Rendered::No => None,
            Rendered::View(viewed) => {
                let mut converted = viewed.converted.iter();
                let generated = match converted.find(|(_, number)| *number == file) {
                    Some(&(position, _)) => {
                        conversion(viewed.asset, viewed.version.stamp, position)
                    }
                    None => Generated::once(key),
                };
                Some((RenderedFile::OfView(viewed, file), generated))
            }
            Rendered::Converted(converted) => {
                let file = converted.files.get(file.0 as usize)?;
                Some(match file {
                    ConvertedSource::Asset(file) => {
                        let stamp = file.stamp.unwrap_or_default();
                        let generated = conversion(file.asset, stamp, file.position);
                        (RenderedFile::OfAsset(file), generated)
                    }
                    ConvertedSource::Report(report) => {
                        let report = RenderedFile::Report(report, converted.of);
                        (report, Generated::once(key))
                    }
                })
            }
        }
    }
}

/// A number that leads to the same inode for as long as this lives, also when its subtree
/// is evicted and built again.
#[derive(Debug, Clone)]
pub struct HeldIno {
    ino: Ino,
    hold: Option<Arc<Hold>>,
}

impl HeldIno {
    /// Returns the number of an inode that something else keeps: a permanent subtree, or
    /// a lookup that was not forgotten.
    pub(crate) fn kept(ino: Ino) -> Self {
        Self { ino, hold: None }
    }

    /// Returns what keeps it.
    pub(crate) fn hold(&self) -> Option<&Arc<Hold>> {
        self.hold.as_ref()
    }
}

impl Deref for HeldIno {
    type Target = Ino;

    fn deref(&self) -> &Ino {
        &self.ino
    }
}

/// Returns conversion `position` of an asset, which has one key in the converted tree and in
/// the directory of the asset. It cannot collide with a volume, whose ids are numbers of
/// directories.
fn conversion(asset: Ino, stamp: u64, position: u8) -> Generated {
    Generated {
        key: Key {
            volume: VolumeId(asset.0, (stamp ^ stamp >> 32) as u32),
            file: FileId(position.into()),
        },
        is_shared: true,
    }
}

/// Returns the id of a volume of a subtree with these inode numbers. It stays
/// the same when the subtree is rebuilt.
pub(crate) fn volume_id(range: Range, number: usize) -> VolumeId {
    VolumeId(range.first, number as u32)
}
