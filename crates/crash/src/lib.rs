#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(test)]
mod dumps;
pub mod hgo;

use hpimount_assets::view::ViewFormat;

/// The formats of this family. The first one that an asset belongs to shows it.
pub const FORMATS: &[ViewFormat] = &[hgo::FORMAT, hgo::BLK_FORMAT];
