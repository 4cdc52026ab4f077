//! The contents of a mount without a kernel, with the roles of entries and with
//! detailed errors.

use std::ops::Range;
use std::path::Path;

use crate::content::{BLOCK_SIZE, Caller, Key};
use crate::mount::{
    Access, Bytes, Context, Error, HeldIno, Ino, Meta, Node, Result, Vfs, format_of,
};
use crate::namespace::companion::Shows;
use crate::namespace::tree::{InodeKind, ROOT};
use crate::source::folder;
use hpimount_assets::model::Picture;
use hpimount_assets::view::ViewFormat;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{AssetType, Content, DiscImage, RecordedSum};
use hpimount_containers::{iso, sheet, udf};

/// The role of an entry in a traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A directory of a source.
    Directory,
    /// `X.d`, which shows the contents of an archive.
    Inside,
    /// A directory that shows assets.
    AssetDirectory,
    /// A file whose data is in a source.
    File {
        /// True if it is a kind of asset that has a view, and the mount shows views.
        is_asset: bool,
    },
    /// A file that is generated.
    Generated,
    /// A symbolic link.
    Link {
        /// True if it is in a source, rather than a name that the mount gives to another of its
        /// files.
        is_stored: bool,
    },
}

/// An entry of a directory.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its inode number.
    pub ino: HeldIno,
    /// Its role.
    pub role: Role,
    /// Number of its links.
    pub links: u32,
    /// Decoded size in bytes; 0 for anything but a file, and for a file of unknown size.
    pub size: u64,
    /// True if it is a packed file of unknown size.
    pub is_unmeasured: bool,
}

/// Names of the formats of CDs.
const CDS: [&str; 3] = [iso::FORMAT.name, udf::FORMAT.name, sheet::CUE.name];

/// Properties of the root of a source, or of `X.d`.
#[derive(Default)]
pub struct Archive {
    /// True if it is a container rather than a folder on disk.
    pub is_container: bool,
    /// Number of bytes of its file.
    pub stored: u64,
    /// True if it is a disc, or a sheet that describes one.
    pub is_disc: bool,
    /// The reason why it is empty.
    pub problem: Option<io::Error>,
    /// Warnings about it, one sentence each.
    pub warnings: Vec<String>,
    /// The disc images that it consists of.
    pub images: Vec<DiscImage>,
}

/// The reason why something is unavailable, with more detail than the kernel gets.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Trouble {
    /// There is no such entry, or it is of another kind.
    #[error(transparent)]
    Entry(#[from] Error),
    /// The data of a source is damaged or cannot be read.
    #[error(transparent)]
    Bytes(#[from] io::Error),
}

/// The result of parsing an asset.
#[derive(Debug)]
pub struct Parsed {
    /// The error, if it could not be parsed completely.
    pub failure: Option<io::Error>,
    /// Warnings about it, one sentence each.
    pub warnings: Vec<String>,
}

/// A mount whose contents are inspected.
#[derive(Clone, Copy)]
pub struct Contents<'v>(pub &'v Vfs);

impl Contents<'_> {
    /// Returns at most `most` entries of a directory, starting at number
    /// `start`.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`], [`Error::NotFound`], or an error of
    /// entering a directory that is built on demand.
    pub fn entries(&self, directory: Ino, start: usize, most: usize) -> Result<Vec<Entry>> {
        let (node, _) = self.0.directory(directory)?;
        let entries = node.tree().entries(node.index, start).take(most);
        Ok(entries
            .filter_map(|(name, index)| self.entry(name, &node.other(index)))
            .collect())
    }

    /// Returns the entry of a directory with this name, as a lookup in the mount
    /// finds it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Contents::entries`].
    pub fn find(&self, directory: Ino, name: &str) -> Result<Option<Entry>> {
        let (node, _) = self.0.directory(directory)?;
        let folds = !self.0.options().case_sensitive;
        let found = node.tree().find(node.index, name, folds);
        Ok(found.and_then(|(name, index)| self.entry(name, &node.other(index))))
    }

    fn entry(&self, name: &str, node: &Node<'_>) -> Option<Entry> {
        let inode = node.tree().inode(node.index)?;
        let role = role_of(self.0, node)?;
        Some(Entry {
            name: name.to_owned(),
            ino: node.held_ino(),
            role,
            links: inode.nlink,
            size: inode.size().unwrap_or(0),
            is_unmeasured: matches!(role, Role::File { .. }) && inode.size().is_none(),
        })
    }

    /// Determines the size of a packed file, by decoding it if necessary. A file that
    /// cannot be decoded counts as one byte: reading that reports the error.
    pub(super) fn measure(&self, entry: &mut Entry) {
        if entry.is_unmeasured {
            let size = self.0.getattr(*entry.ino).map(|attr| attr.size);
            entry.size = size.unwrap_or(1);
        }
    }

    /// Like [`Vfs::read`], for a reader with a known access pattern, but the error is
    /// returned in full instead of being logged.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::read`].
    pub fn read_explained(
        &self,
        ino: Ino,
        offset: u64,
        size: u32,
        access: Access,
    ) -> std::result::Result<Bytes, Trouble> {
        let range = offset..offset.saturating_add(size.into());
        Ok(self.0.assets().bytes(&self.0.node(ino)?, range, access)??)
    }

    /// Returns the bytes of a file in pieces, from its start to the first error.
    pub fn pieces(&self, ino: Ino) -> Pieces<'_> {
        Pieces {
            vfs: self.0,
            ino,
            next: Some(0),
            access: Access::Unknown,
        }
    }

    /// Does the same for [`Access::Once`].
    pub fn pieces_once(&self, ino: Ino) -> Pieces<'_> {
        Pieces {
            access: Access::Once,
            ..self.pieces(ino)
        }
    }

    /// Returns the role of an entry.
    pub(super) fn role(&self, ino: Ino) -> Option<Role> {
        role_of(self.0, &self.0.node(ino).ok()?)
    }

    /// Returns whether a file is generated.
    pub(super) fn is_generated(&self, node: &Node<'_>) -> bool {
        role_of(self.0, node) == Some(Role::Generated)
    }

    /// Returns what the archive of a file records of it as an asset.
    pub fn asset_of(&self, ino: Ino) -> Option<AssetType> {
        let node = self.0.node(ino).ok()?;
        let file = node.file()?;
        file.volume.volume.asset(file.file)
    }

    /// Returns the type of a file: the one that its archive gives it, or else its
    /// extension in lower case. Files without either have none.
    pub fn type_of(&self, ino: Ino) -> Option<String> {
        if let Some(known) = self.asset_of(ino) {
            return Some(known.code.escape_ascii().to_string().trim_end().to_owned());
        }
        let node = self.0.node(ino).ok()?;
        let extension = Path::new(node.tree().name(node.index)).extension()?;
        Some(extension.to_str()?.to_ascii_lowercase())
    }

    /// Returns the packed size of a file in bytes, or its size if it is not
    /// packed; `None` if it is packed together with others.
    pub(super) fn stored_size(&self, ino: Ino) -> Option<u64> {
        let node = self.0.node(ino).ok()?;
        let file = node.file()?;
        let volume = &file.volume.volume;
        match volume.data_facts(file.file).ok()?.packed {
            Some(packed) => Some(packed.length),
            None => match volume.content(file.file).ok()? {
                Content::Extent { .. } => node.size(),
                _ => None,
            },
        }
    }

    /// Returns the `X.d` of a file, if it has one.
    pub fn inside(&self, ino: Ino) -> Option<HeldIno> {
        let node = self.0.node(ino).ok()?;
        let name = Shows::Inside.name_beside(node.tree().name(node.index));
        let directory = node.tree().inode(node.index)?.parent;
        let (_, index) = node.tree().find(directory, &name, false)?;
        let found = node.other(index);
        matches!(
            found.kind(),
            Some(InodeKind::Companion { shows: Shows::Inside, of }) if of == node.index
        )
        .then(|| found.held_ino())
    }

    /// Returns whether parts of a file can be read without those before them.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`].
    pub fn is_divisible(&self, ino: Ino) -> Result<bool> {
        let node = self.0.node(ino)?;
        let file = node.file().ok_or(Error::NotFound)?;
        let content = file.volume.volume.content(file.file);
        Ok(matches!(
            content,
            Ok(Content::Extent { .. } | Content::Chunks(_))
        ))
    }

    /// Returns what a file is a part of, such as a solid block, if it can only be
    /// decoded from the start of that.
    pub fn whole_of(&self, ino: Ino) -> Option<Key> {
        let node = self.0.node(ino).ok()?;
        let file = node.file()?;
        let volume = file.volume.volume.as_ref();
        if !volume.has_parts() {
            return None;
        }
        match volume.content(file.file).ok()? {
            Content::Part { whole, .. } => Some(Key {
                file: whole,
                ..file.key()
            }),
            _ => None,
        }
    }

    /// Returns the range of a file that says where its archive has its files; empty for
    /// most files.
    pub(super) fn layout(&self, ino: Ino) -> Range<u64> {
        let node = self.0.node(ino).ok();
        let layout = node.and_then(|node| {
            let file = node.file()?;
            Some(file.volume.volume.layout(file.file))
        });
        layout.unwrap_or(0..0)
    }

    /// Returns the properties of the root of a source, or of an `X.d`.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Contents::entries`].
    pub fn archive(&self, directory: Ino) -> Result<Archive> {
        let (node, _) = self.0.directory(directory)?;
        let subtree = node.subtree();
        let volume = subtree.volumes.first().ok_or(Error::NotFound)?;
        let images = volume.volume.images();
        Ok(Archive {
            is_container: volume.format != folder::FORMAT_NAME,
            stored: volume.stored,
            // A CD in a block image has no images of its tracks.
            is_disc: !images.is_empty() || CDS.contains(&volume.format),
            problem: subtree.problem.clone(),
            warnings: volume.warnings().cloned().collect(),
            images,
        })
    }

    /// Returns an image of the archive in a directory: a disc, or a track of
    /// one.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] for a number without an image, and the
    /// errors of [`Contents::entries`].
    pub fn image(&self, directory: Ino, number: usize) -> Result<DiscImage> {
        let (node, _) = self.0.directory(directory)?;
        let volume = node.subtree().volumes.first().ok_or(Error::NotFound)?;
        let mut images = volume.volume.images().into_iter();
        images.nth(number).ok_or(Error::NotFound)
    }

    /// Returns the checksum that the archive of an asset records of it.
    pub fn recorded_sum(&self, ino: Ino) -> Option<RecordedSum> {
        let node = self.0.node(ino).ok()?;
        let file = node.file()?;
        file.volume.volume.assets()?.recorded_sum(file.file)
    }

    /// Passes the source that a file is stored in and its range there to `find`, and
    /// returns the result; `None` if the file is packed, generated, or has a checksum
    /// of its own.
    pub(super) fn plain_extent<T>(
        &self,
        ino: Ino,
        find: impl FnOnce(&dyn ReadAt, Range<u64>) -> Option<T>,
    ) -> Option<T> {
        let node = self.0.node(ino).ok()?;
        let file = node.file()?;
        let volume = &file.volume.volume;
        let has_sum = || volume.assets()?.recorded_sum(file.file);
        match volume.content(file.file).ok()? {
            Content::Extent { source, offset } if has_sum().is_none() => {
                find(source, offset..offset.checked_add(node.size()?)?)
            }
            _ => None,
        }
    }

    /// Returns the format that shows a file, by the type that its archive gives
    /// it, or else by its name.
    pub fn view_format(&self, ino: Ino) -> Option<&'static ViewFormat> {
        format_of(&self.0.node(ino).ok()?)
    }

    /// Returns the picture that represents an asset, if it has one that can be
    /// read and has at most `max_pixels` pixels.
    pub fn picture(&self, asset: Ino, max_pixels: usize) -> Option<Picture> {
        let asset = self.0.node(asset).ok()?;
        self.0.assets().picture(&asset, max_pixels).ok().flatten()
    }

    /// Parses a file as the asset type given by its archive or its name. Passes its
    /// bytes to `see`, unless it was parsed before.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or if there is not enough memory.
    pub fn parse(&self, ino: Ino, see: &dyn Fn(&[u8])) -> std::result::Result<Parsed, Trouble> {
        let node = self.0.node(ino)?;
        let format = format_of(&node).ok_or(Error::NotFound)?;
        let context = Context::seen_by(self.0.assets(), &node, see);
        let model = self
            .0
            .assets()
            .model_in(&context, format, Caller::Request)?;
        let failure = model.view.failure().cloned();
        let warnings = match failure {
            None => model.view.warnings(),
            Some(_) => Vec::new(),
        };
        Ok(Parsed { failure, warnings })
    }
}

/// The bytes of a file in pieces.
pub struct Pieces<'v> {
    vfs: &'v Vfs,
    ino: Ino,
    /// Offset of the next piece; `None` at the end.
    next: Option<u64>,
    access: Access,
}

impl Iterator for Pieces<'_> {
    type Item = std::result::Result<Bytes, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.next.take()?;
        match Contents(self.vfs).read_explained(self.ino, offset, BLOCK_SIZE, self.access) {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => {
                self.next = Some(offset + bytes.len() as u64);
                Some(Ok(bytes))
            }
            Err(trouble) => Some(Err(trouble)),
        }
    }
}

/// Returns whether the bytes of a file are made by the mount, or by its volume from
/// metadata.
fn has_generated_bytes(node: &Node<'_>) -> bool {
    node.file().is_none_or(|file| {
        // First: to find the content of a member of a zip archive reads its header.
        let content = || file.volume.volume.content(file.file);
        node.size().is_none() && matches!(content(), Ok(Content::Generated(_)))
    })
}

/// Returns the role of an inode.
fn role_of(vfs: &Vfs, node: &Node<'_>) -> Option<Role> {
    if node.index == ROOT && node.subtree().is_rendered() {
        return Some(Role::AssetDirectory);
    }
    let inode = node.tree().inode(node.index)?;
    Some(match inode.kind {
        InodeKind::Dir { .. }
        | InodeKind::Deferred { .. }
        | InodeKind::Grafted
        | InodeKind::ForeignCompanion { .. } => Role::Directory,
        InodeKind::Companion { shows, .. } => match shows {
            Shows::Inside => Role::Inside,
            Shows::Meta(_) | Shows::Converted => Role::AssetDirectory,
        },
        InodeKind::AssetLink { .. } => Role::Link { is_stored: false },
        InodeKind::Verbatim { .. } | InodeKind::StoredLink { .. } => Role::Link { is_stored: true },
        InodeKind::File { .. } if has_generated_bytes(node) => Role::Generated,
        // The text that says why the archive cannot be opened.
        InodeKind::File { .. } if node.subtree().problem.is_some() => Role::Generated,
        InodeKind::File { .. } => Role::File {
            is_asset: vfs.options().meta != Meta::Off && format_of(node).is_some(),
        },
    })
}
