//! hpimount mounts game archives as file systems.
//!
//! The formats are in two crates of their own, which know nothing of FUSE,
//! threads or the network: [`hpimount_containers`] turns the bytes of an
//! archive or a disc image into entries and their contents. [`hpimount_assets`]
//! turns the bytes of an asset into a typed model and the files that show it.
//! This crate is the mount. Its modules use only modules of the lines below:
//!
//! ```text
//!  bin/                 programs, which only connect the others
//!  cli                  the options of the programs
//!  app                  the process: background, signals, sandbox, desktop, thumbnails
//!  serve                the tree over the network
//!  fuse      inspect    the FUSE protocol          sources without a mount
//!  pack                 packing and changing archives
//!  mount                assembling a mount
//!  namespace content    inodes and names           bytes: decoding, models, rendering
//!  source               where bytes come from: disk, servers
//!  memory    sync       budget and caches          locks, waiting
//!  platform             what systems do differently
//! ```
//!
//! [`fuse`] passes a read request to [`mount::Vfs`]. That finds the inode in a
//! tree of [`namespace`], which names a volume and a file in it, and asks
//! [`content::Reader`] for the bytes. The reader asks the
//! [`Volume`](hpimount_containers::volume::Volume) where the data of the file is,
//! and returns blocks from its cache or decodes them from the volume's source. A
//! source may be a file of another volume. All memory that is retained between
//! requests counts towards one [`memory::budget::Budget`].

// Mounts, and those that can be edited, are the only users of some items.
#![cfg_attr(not(edit), allow(dead_code))]

pub mod app;
pub mod cli;
pub mod content;
#[cfg(edit)]
pub mod edit;
#[cfg(fuse)]
pub mod errno;
pub mod formats;
#[cfg(fuse)]
pub mod fuse;
pub mod inspect;
pub mod memory;
pub mod mount;
pub mod namespace;
pub mod pack;
pub mod percent;
pub mod platform;
#[cfg(any(fuse, serve))]
pub mod prefetch;
pub mod printable;
pub mod requester;
#[cfg(serve)]
pub mod serve;
pub mod source;
pub mod sync;
