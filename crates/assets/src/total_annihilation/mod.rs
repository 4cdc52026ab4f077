//! The asset formats of Total Annihilation and TA: Kingdoms, as typed models.
//!
//! All numbers are little-endian, all pointers are absolute offsets, and
//! nothing is aligned (FORMATS, TA 1). Models keep slices of the file
//! instead of copies; pictures are decoded on demand.
//!
//! Each format has a room: its `parse` reads the bytes, its `export`, if it has
//! one, turns the model into pictures or scenes, and its `view` declares the
//! format and writes the files of `X.meta`. A `parse` uses no view and no other
//! format, except that maps and sections share [`terrain`]. Views use other
//! formats in one direction: all pictures need palettes ([`pal`]), models ([`tdo`])
//! take textures from sprites ([`gaf`]), and maps ([`tnt`]) draw both. Only models
//! and scripts ([`cob`]) need each other: `unit`, which is above the `parse` and
//! below the `view` of both, reads the one for the other. [`tables`] is above all
//! formats and has the reports about a whole mod. What the views ask of the mount,
//! in addition to other files, is in [`context`].

pub mod bmp;
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
mod unit;
pub mod view;
pub mod wav;

pub use pointer::{Name, Names};

/// Maximum number of pixels of one picture.
pub const MAX_PIXELS: u64 = 64 << 20;
