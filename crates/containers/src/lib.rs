//! Readers and writers of the containers of old games: from the bytes of a
//! source to entries and their content.

pub mod codec;
pub mod file_type;
pub mod format;
pub mod formats;
pub mod gcm;
pub mod hip;
pub mod hpi;
pub mod image;
mod img;
pub mod io;
pub mod iso;
#[cfg(test)]
mod listing;
mod paths;
mod pkr;
mod pre;
mod refused;
mod seven_zip;
pub mod text;
mod time;
pub mod volume;
mod wad;
mod xdvdfs;
mod zip;
