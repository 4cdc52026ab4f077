//! The asset formats of Total Annihilation and TA: Kingdoms, as typed models.
//!
//! All numbers are little-endian, all pointers are absolute offsets, and
//! nothing is aligned (FORMATS, TA 1). Models keep slices of the file
//! instead of copies; pictures are decoded on demand.
//!
//! Each format has a room: its `parse` reads the bytes, its `export`, if it has
//! one, turns the model into pictures or scenes, and its `view` declares the
//! format and writes the files of `X.meta`. No `parse` uses a view, so that the
//! views of scripts and models can read each other's files. [`terrain`] is shared
//! by maps and sections, [`pal`] is the palettes of all pictures, and [`tables`]
//! has the reports about a whole mod. What the views ask of the mount, in addition
//! to other files, is in [`context`].

pub mod bmp;
#[cfg(test)]
#[path = "../../../../tests/support/ta/mod.rs"]
pub(crate) mod build;
pub mod cob;
pub mod context;
pub mod fnt;
pub mod gaf;
pub mod other;
pub mod pal;
pub mod pcx;
mod pointer;
pub mod sct;
pub mod tables;
pub mod tdf;
pub mod tdo;
pub mod terrain;
pub mod tnt;
pub mod view;
pub mod wav;

pub use pointer::{Name, Names};

/// Maximum number of pixels of one picture.
pub const MAX_PIXELS: u64 = 64 << 20;
