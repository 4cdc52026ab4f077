//! hpimount puts the inside of old game archives into the file system.
//!
//! The library is built in floors, and a floor knows only those below it:
//!
//! * [`io`]: positioned reads, a bounded cursor, errors with offsets;
//! * [`text`]: tables and single-byte names;
//! * [`asset`]: formats inside archives, from bytes to typed models;
//! * [`archive`]: containers, from source bytes to entries and their bytes;
//! * [`export`]: pictures, models and animations in formats of desktops;
//! * [`view`]: synthetic files that show an asset's model;
//! * [`vfs`]: what is mounted, without FUSE;
//! * [`pack`]: the way back, from a directory to an archive.

pub mod asset;
pub mod cli;
pub mod content;
pub mod daemon;
pub mod export;
pub mod fuse;
pub mod io;
pub mod mount;
pub mod namespace;
pub mod pack;
pub mod source;
pub mod text;
pub mod view;
pub mod volume;
