//! hpimount mounts game archives as read-only file systems.
//!
//! The library is built in layers; a module uses only modules of the layers
//! below it:
//!
//! ```text
//!  main.rs, bin/           programs: wiring only
//!  cli                     the options of the programs
//!  daemon                  process: background, signals, mounting, sandbox
//!  thumbnail   desktop     thumbnails             archives opened by double click
//!  fuse        inspect     the FUSE protocol      sources without a mount
//!  mount       pack        assembling a mount     packing archives
//!  namespace   content     inodes and names       bytes: cache, decoding, models
//!  view                    generated files that show an asset
//!  export                  encoders: PNG, glTF, OBJ, BVH
//!  asset                   formats inside archives: bytes to typed models
//!  volume                  containers: a source to entries and their content
//!  source                  where bytes come from
//!  io          text        reads, errors, memory budget      tables, names
//! ```
//!
//! A read request arrives in [`fuse`] and is passed to [`mount::Vfs`], which
//! finds the inode in a tree of [`namespace`] and requests the bytes from
//! [`content::Reader`]. The reader gets the layout of the file from its
//! [`volume::Volume`], and returns blocks from the cache or decodes them, for
//! which it reads from the volume's source. A source may be a file of another
//! volume. All retained memory counts towards one [`io::budget::Budget`].

pub mod app;
pub mod cli;
pub mod content;
pub mod fuse;
pub mod inspect;
pub mod memory;
pub mod mount;
pub mod namespace;
pub mod pack;
pub mod printable;
pub mod source;
pub mod sync;
