//! The data of files: reading from volumes, decoding, rendering, and caching
//! within the memory budget.
//!
//! Nothing here depends on names or inodes; a file is a volume and a number in
//! it.

mod block;
mod checkpoints;
mod image;
mod images;
mod long_chunk;
mod made;
mod member;
mod model;
mod overlay_file;
mod parse;
mod reader;
mod rendered;
mod spool;
pub mod stats;
mod stream;
mod unwrap;

use std::ops::Range;
use std::sync::Arc;

use crate::memory::budget::Charge;
use hpimount_containers::io::{BlockBuffer, unit_in};
use hpimount_containers::volume::{Content, FileId, Volume};

pub use self::block::{Access, Bytes};
pub use self::image::Image;
pub use self::images::Images;
pub use self::made::{MadeAsset, MadeAssets};
pub use self::member::Member;
pub use self::model::{Kept, MAX_ASSET, Model, SharedKey};
pub use self::overlay_file::OverlayFile;
pub use self::parse::Caller;
pub use self::reader::Reader;
pub use self::spool::Spool;
pub(crate) use self::spool::Spooled;
pub use self::unwrap::unwrap;

/// Maximum length of a chunk that is decoded as a whole, and the length of the
/// blocks of everything longer.
pub const BLOCK_SIZE: u32 = 65_536;

/// Number of a volume in the mount. A volume that is evicted and opened again
/// keeps it, so that its blocks are found again. It consists of the number of the
/// first inode of its subtree, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VolumeId(pub u64, pub u32);

/// A volume of the mount.
pub struct OpenVolume {
    /// Its number, once it is in a subtree.
    pub id: VolumeId,
    /// Name of its file, as users know it.
    pub name: String,
    /// The path of its file for messages; empty for a file inside another
    /// volume.
    pub location: String,
    /// Name of its format.
    pub format: &'static str,
    /// True if companions of assets are listed in it, as in a folder.
    pub is_plain_folder: bool,
    /// Number of archives around it.
    pub nesting: u8,
    /// Number of bytes of its file; 0 for a folder, and for what has no file.
    pub stored: u64,
    /// The block images around it.
    pub images: Images,
    /// The opened container.
    pub volume: Box<dyn Volume>,
    /// Accounts for the memory of the changes that are applied to it.
    pub plan: Option<Charge>,
}

impl OpenVolume {
    /// Creates a volume without a number, and without a file that it was opened from.
    pub fn new(name: &str, format: &'static str, volume: Box<dyn Volume>) -> Self {
        Self {
            id: VolumeId(0, 0),
            name: name.to_owned(),
            location: String::new(),
            format,
            is_plain_folder: false,
            nesting: 0,
            stored: 0,
            images: Images::default(),
            volume,
            plan: None,
        }
    }

    /// Gives it a number.
    pub fn numbered(self, id: VolumeId) -> Arc<Self> {
        Arc::new(Self { id, ..self })
    }

    /// Returns the memory that it holds, in bytes.
    pub fn memory(&self) -> usize {
        let texts = self.name.capacity() + self.location.capacity();
        let block = match self.stored {
            0 => 0,
            stored => BlockBuffer::memory(stored),
        };
        size_of::<Self>() + texts + block + self.volume.memory() + self.images.memory
    }

    /// Returns the warnings about the block images around it and about itself, one
    /// sentence each.
    pub fn warnings(&self) -> impl Iterator<Item = &String> {
        self.images.warnings_with(&*self.volume)
    }
}

/// A file of a volume.
#[derive(Clone, Copy)]
pub struct File<'a> {
    /// The volume.
    pub volume: &'a OpenVolume,
    /// The file's number in it.
    pub file: FileId,
}

/// The key of a file in the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The volume, or the subtree, that the file is in.
    pub volume: VolumeId,
    /// The file's number in it.
    pub file: FileId,
}

/// A generated file.
#[derive(Debug, Clone, Copy)]
pub struct Generated {
    /// Its key.
    pub key: Key,
    /// True if it is in two places of the mount, so that a program that reads all files
    /// reads it again.
    pub is_shared: bool,
}

impl Generated {
    /// A file that is in one place.
    pub fn once(key: Key) -> Self {
        Self {
            key,
            is_shared: false,
        }
    }
}

impl File<'_> {
    /// Returns the key of the file in the caches.
    pub fn key(&self) -> Key {
        Key {
            volume: self.volume.id,
            file: self.file,
        }
    }

    /// Returns the range that is decoded to read the byte at `offset`, if the file
    /// is packed or in something packed. It may end after the file.
    pub fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        match self.volume.volume.content(self.file).ok()? {
            Content::Chunks(_) | Content::Stream(_) => {
                let start = offset - offset % u64::from(BLOCK_SIZE);
                Some(start..start + u64::from(BLOCK_SIZE))
            }
            Content::Extent {
                source,
                offset: start,
            } => unit_in(source, start, offset),
            _ => None,
        }
    }
}
