//! A mount assembled from sources, with the operations of a file system but
//! independent of FUSE.
//!
//! A [`Vfs`] is shared by several threads. It never writes, and its contents
//! change only with the sources.
//!
//! # Rooms
//!
//! A room uses only those below it, and its files do not use each other in a circle.
//! Recursion goes through methods: to find an inode, the subtree around it may have to be
//! built, and that reads other inodes.
//!
//! * `open`: [`Sources`] names the sources, `order` decides which archive of a game wins,
//!   and `partner` finds the other files that a source consists of.
//! * `changes` applies folders of changes to sources, or puts them above what the sources
//!   show; `edited` turns edited files of converted trees back into assets.
//! * `requests`: [`Vfs`] has the operations of a file system. `listing` lists directories,
//!   `hidden` finds companions that are not listed, and `xattr` has the extended attributes.
//!   `kernel` counts what the kernel remembers. `compare` compares folders of changes with
//!   what the mount shows.
//! * `assets`: the files that are generated from assets, and what views see of the mount.
//! * `tree`: the inodes, and the volumes of their files. `grafts` finds subtrees by inode
//!   numbers, `place` knows paths and parents, and `control` is the directory `.hpimount`.
//!
//! The generator of the directories of assets is a function that `tree` gets from `assets`
//! (`tree::Show`): the only way up.
//!
//! # Lock order
//!
//! A thread that holds one of these may take only those that come later:
//!
//! 1. the flight of a subtree, while it is built: of an inner one, then of
//!    those around it;
//! 2. the flight of a rendering;
//! 3. the flight of a model. Models that depend on each other do not wait for
//!    each other (`Cache::get_without_waiting`), and memory is reserved before
//!    the flight is entered. While a model or a rendering is made, folders and
//!    archives (1) may be entered: building those takes no rendering and no
//!    model, and an `X.meta` is never entered from here;
//! 4. the flight of a block: of an inner volume, then of those around it, with
//!    the stream between them that the block is decoded from. A thread that holds
//!    a stream may wait for memory that decoders of volumes at the same depth or
//!    further out use;
//! 5. all others: shards of the caches, the budget, the lists of numbers,
//!    transient inodes, open files, errors, and the state of the prefetch. They
//!    are held for a few instructions, the last one also while the next files
//!    of a reader are determined in its tree.
//!
//! No lock is held while replies or page cache data are sent to the kernel.

mod assets;
mod changes;
mod edited;
mod error;
mod local_time;
mod open;
mod options;
mod requests;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use self::assets::context::Context;
pub(crate) use self::assets::picture::{MAX_PICTURES, arranged, format_of};
pub(crate) use self::changes::{Changes, Outcome, Stage, with_tools};
#[cfg(edit)]
pub(crate) use self::changes::{Edits, each_change, is_plain};
pub(crate) use self::edited::{Converter, ForAsset};
pub use self::error::{Error, OpenCause, OpenError, Result};
pub use self::open::order::Order;
pub use self::open::sources::{Prepared, Sources};
pub use self::options::{KnownFiles, Options};
pub use self::requests::Vfs;
pub use self::requests::attributes::Attr;
pub(crate) use self::requests::xattr::{MAX_PREVIEW, PREVIEW};
#[cfg(edit)]
pub(crate) use self::tree::control::NAME as CONTROL;
pub use self::tree::grafts::Extent;
pub use self::tree::invalidate::Invalidations;
pub use self::tree::subtree::{HeldIno, Node};
use self::tree::{merge, subtree, volume};
pub use crate::content::{Access, Bytes};
pub use crate::namespace::companion::Meta;
pub use crate::namespace::{FileKind, Ino};
pub use hpimount_assets::view::ChosenPalette;
