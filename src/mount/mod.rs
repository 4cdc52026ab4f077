//! A mount assembled from sources, with the operations of a file system but
//! independent of FUSE.
//!
//! A [`Vfs`] is shared by several threads. It never writes, and its contents
//! change only with the sources.
//!
//! # Parts
//!
//! A part uses parts of its own line or of lines below, and never in a circle. The parts
//! share [`Vfs`], the state of a mount, and most of them add methods to it. Recursion
//! goes through these methods: to find an inode, the subtree around it may have to be
//! built, and that reads other inodes.
//!
//! * Opening: [`Sources`] names the sources, and `open` opens them. `source_trees`
//!   makes one tree of all sources, `order` decides which archive of a game wins, and
//!   `partner` finds the other files that a source consists of. `asset` shows a source
//!   that is a single asset. `changes` applies folders of changes to sources, or puts
//!   them above what the sources show; `edited` turns edited files of converted trees
//!   back into assets, and `compare` compares the folders with what the mount shows.
//! * Requests: `operations` has the operations of a file system, except for those that
//!   read files. `listing` lists directories, `hidden` finds companions that are not
//!   listed, `xattr` has the extended attributes, and `checks` the checks and reports
//!   that combine many assets.
//! * Subtrees: `nodes` finds inodes by their numbers, and enters directories. A mount
//!   consists of trees of inodes (`namespace`), each with the volumes of its files. The
//!   trees of the sources are permanent. The others are built on demand by `build`:
//!   directories of folders, archives (`X.d`), and assets (`X.meta`); `plain` builds
//!   the plain files of discs, and `converted` the directories of converted trees. Those
//!   trees count towards the memory budget and are evicted when memory is short. A tree
//!   that is built again gets the same inode numbers, so that users do not notice.
//! * Assets: `picture` finds the picture that represents one, and `render` makes the
//!   files that are generated. `context` gives views access to other files, which
//!   `folder_ids`, `beside`, `find` and `game` find.
//! * Inodes: their `attributes`, the bytes of files (`read`), and their `identity`. `place`
//!   knows paths and parents, and `stats` has the counters of the mount.
//! * State: `vfs`. `control` is the directory `.hpimount`. `grafts` keeps the subtrees
//!   and finds them by inode numbers; `volume` opens a file as a volume, both for a
//!   source and for an archive inside another one; `subtree` is a tree with its volumes,
//!   and `merge` makes the tree of a merged game. `applied` has the paths of applied
//!   changes, and `invalidate` makes the kernel forget entries. Inodes that exist only
//!   while the kernel remembers them are in `namespace::transient`.
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
