//! hpimount mounts game archives as read-only file systems.
//!
//! The library is built in layers; a module uses only modules of the layers
//! below its own:
//!
//! ```text
//!  main.rs, bin/           programs: wiring only
//!  cli                     the options of the programs
//!  daemon                  process: background, signals, mounting, sandbox
//!  thumbnail   desktop     small pictures         archives opened by double click
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
//! A read of a file goes from [`fuse`] to [`mount::Vfs`], which finds the inode
//! in a tree of [`namespace`] and asks [`content::Reader`] for the bytes. The
//! reader asks the [`volume::Volume`] what the bytes of the file are, takes
//! decoded blocks from its cache or makes them, and reads what it needs from
//! the volume's source, which may be a file of another volume. Everything that
//! is kept counts in one [`io::budget::Budget`].

pub mod asset;
pub mod cli;
pub mod content;
pub mod daemon;
pub mod desktop;
pub mod export;
pub mod fuse;
pub mod inspect;
pub mod io;
pub mod mount;
pub mod namespace;
pub mod pack;
pub mod source;
pub mod text;
pub mod thumbnail;
pub mod view;
pub mod volume;
