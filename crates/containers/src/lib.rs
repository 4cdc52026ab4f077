#![doc = include_str!("../README.md")]
//!
//! ## Where to find what
//!
//! * [`Archive`] is an opened archive with its entries by their paths.
//!   [`pack`](mod@pack) makes new archives.
//! * [`formats`] lists the container formats and detects the format of a source.
//!   [`format`](mod@format) says what a format declares: its extensions, its
//!   partner files, how it is detected and opened. Each format has a folder of
//!   its own, with reading and writing in it, and a `FORMAT` that
//!   [`Archive::in_format`] takes.
//! * [`volume`] holds what all containers have in common: entries, and how the
//!   bytes of a file are stored. [`extract`] lists and copies files.
//! * [`mod@write`] holds what the writers of archives share; they are in the folders
//!   of their formats.
//! * [`apply`](mod@apply) applies a folder of changes to an archive, without copying
//!   it; [`changes`] is what the formats need for that.
//! * [`image`] decodes block images around discs.
//! * [`io`] holds sources, cursors, and errors with offsets; [`text`] character
//!   sets and file names; [`codec`] the decoders of packed bytes.

#![forbid(unsafe_code)]

pub mod apply;
pub mod archive;
pub mod changes;
pub mod codec;
pub mod compressed;
pub mod crypt;
mod disc;
pub mod extract;
pub mod file_type;
pub mod format;
pub mod formats;
pub mod gcm;
pub mod hip;
pub mod hpi;
pub mod image;
pub mod img;
pub mod inno;
pub mod input;
pub mod io;
pub mod iso;
#[cfg(test)]
mod listing;
pub mod pack;
pub mod parts;
mod paths;
pub mod pkr;
pub mod pre;
mod refused;
pub mod seven_zip;
pub mod sheet;
pub mod tar;
pub mod text;
mod time;
pub mod udf;
pub mod volume;
pub mod wad;
pub mod write;
pub mod xbe;
pub mod xdvdfs;
pub mod zip;

pub use archive::Archive;
