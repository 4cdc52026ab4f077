#![doc = include_str!("../README.md")]
//!
//! The asset formats of Total Annihilation and TA: Kingdoms, as typed models.
//!
//! All numbers are little-endian, all pointers are absolute offsets, and nothing is
//! aligned (FORMATS, TA 1). Models keep slices of the file instead of copies; pictures
//! are decoded on demand.
//!
//! Each format has a folder: `parse` reads the bytes, `export`, if present, turns the
//! model into pictures or scenes, and `view` declares the format and writes the files
//! of `X.meta`. A `parse` uses no view and no other format, except that maps and
//! sections share [`terrain`]. Views use other formats in one direction: all pictures
//! need palettes ([`pal`]), models ([`tdo`]) take textures from sprites ([`gaf`]), and
//! maps ([`tnt`]) draw both. Models read the scripts ([`cob`]) of their units; the view
//! of scripts, which reads the models, is above both ([`cob_view`]). [`tables`] is
//! above all formats and has the reports about a whole mod.

#![forbid(unsafe_code)]

pub mod bmp;
pub mod cob;
pub mod cob_view;
pub mod directories;
#[cfg(test)]
mod dumps;
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

use hpimount_assets::view::ViewFormat;
pub use pointer::{Name, Names};

/// The formats of this family. The first one that an asset belongs to shows it.
pub const FORMATS: &[ViewFormat] = &[
    pcx::FORMAT,
    bmp::FORMAT,
    pal::FORMAT,
    pal::BLEND_FORMAT,
    fnt::FORMAT,
    gaf::FORMAT,
    tdo::FORMAT,
    cob_view::FORMAT,
    tnt::FORMAT,
    sct::FORMAT,
    tdf::FORMAT,
    wav::FORMAT,
    other::FORMAT,
];

/// Maximum number of pixels of one picture.
pub const MAX_PIXELS: u64 = 64 << 20;
