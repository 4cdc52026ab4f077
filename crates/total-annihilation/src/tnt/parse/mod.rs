//! TNT: maps (FORMATS, TA 6).
//!
//! The parts of a map can be anywhere in the file and are independent: if one is
//! damaged, the others are still read.

mod features;
mod layout;

use std::collections::BTreeMap;

use bytes::Bytes;
use get_size2::GetSize;

pub use features::{Feature, Features, NAME_SIZE};

use self::layout::header;
use crate::pointer::{u16_at, u32_at};
use crate::terrain::{Heights, Minimap, Terrain};
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::Warnings;

/// Extensions of TNT files.
pub const EXTENSIONS: &[&str] = &["tnt"];

/// Side length of a cell in map pixels.
pub const CELL_EDGE: u32 = 16;

/// Length of the longer side of the used part of a minimap in pixels.
const MINIMAP_EDGE: u64 = 252;

/// Palette index of the padding of a minimap.
const MINIMAP_PADDING: u8 = 0x64;

/// Feature words from this one on mean no feature, regardless of the length of the
/// table.
const KINGDOMS_NONE: u16 = 0xFF00;

/// Layout of a map.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Version {
    /// Total Annihilation, 0x2000.
    #[default]
    Ta,
    /// An early form of it, 0x1020.
    OldTa,
    /// TA: Kingdoms, 0x4000.
    Kingdoms,
}

/// The parsed contents of a TNT file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Tnt {
    /// Layout.
    pub version: Version,
    /// Width in cells.
    pub width: u32,
    /// Height in cells.
    pub height: u32,
    /// Height of the sea, in the unit of [`Tnt::heights`].
    pub sea_level: u32,
    /// Offset of this number.
    pub sea_level_at: Option<usize>,
    /// Flags of Total Annihilation's maps.
    pub flags: u32,
    /// Offset of the flags, which maps of Kingdoms do not have.
    pub flags_at: Option<usize>,
    /// The ground as a picture. Maps of Kingdoms have no tiles, see [`Tnt::ground`].
    pub terrain: Terrain,
    /// The features of the map: the names that cells refer to.
    pub features: Features,
    /// The map as a small picture.
    pub minimap: Option<Minimap>,
    /// The parts of the ground; only in Kingdoms.
    pub ground: Option<Ground>,
    /// Warnings.
    pub warnings: Warnings,
    pub(super) heights: Heights,
    /// The bytes of all cells that contain their features.
    #[get_size(ignore)]
    feature_cells: Bytes,
}

/// The ground of a Kingdoms map: for each area of 32 x 32 pixels a part of a JPEG file,
/// row by row.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Ground {
    /// Size of `u` and of `v` for each area in bytes: 1 or 4. Programs disagree; the
    /// distance between the two lists decides.
    pub coordinate_size: usize,
    /// Absolute offset of a larger minimap; 0 for none.
    pub large_minimap: u32,
    #[get_size(ignore)]
    names: Bytes,
    #[get_size(ignore)]
    u: Bytes,
    #[get_size(ignore)]
    v: Bytes,
}

/// An area of the ground of a map of Kingdoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroundTile {
    /// Name of the JPEG file: this number as 8 hexadecimal digits, and `.JPG`.
    pub name: u32,
    /// Column of its part, in units of 32 pixels.
    pub u: u32,
    /// Row of its part, in units of 32 pixels.
    pub v: u32,
}

impl Ground {
    /// Returns the number of areas.
    pub fn len(&self) -> usize {
        self.names.len() / 4
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the area with this number.
    pub fn get(&self, number: usize) -> Option<GroundTile> {
        let coordinate = |list: &Bytes| match self.coordinate_size {
            4 => u32_at(list, number),
            _ => list.get(number).map(|&byte| byte.into()),
        };
        Some(GroundTile {
            name: u32_at(&self.names, number)?,
            u: coordinate(&self.u)?,
            v: coordinate(&self.v)?,
        })
    }
}

/// Parses a TNT file.
///
/// # Errors
/// Returns [`Incomplete`] if the header is invalid, or some part of the map is
/// outside the file or larger than any real one; the other parts are kept. A
/// damaged minimap is a warning.
pub fn parse(bytes: &Bytes) -> std::result::Result<Tnt, Box<Incomplete<Tnt>>> {
    let mut tnt = Tnt::default();
    let result = tnt.read(bytes);
    finish(tnt, result)
}

impl Tnt {
    /// Returns the number of cells; 0 if the header is invalid.
    pub fn cells(&self) -> usize {
        // At most `MAX_CELLS`.
        (u64::from(self.width) * u64::from(self.height)) as usize
    }

    /// Returns the height of each cell, row by row, as stored.
    pub fn heights(&self) -> impl Iterator<Item = u8> {
        self.heights.iter()
    }

    /// Returns the parts of its file besides heights and minimap.
    pub(super) fn parts_without_pictures(&self, file: &Bytes) -> Vec<Bytes> {
        let mut parts = vec![header(file), self.features.table.clone()];
        parts.extend(self.terrain.parts());
        if let Some(ground) = &self.ground {
            // In other versions, the cells with the features have the heights too.
            let lists = [&ground.names, &ground.u, &ground.v, &self.feature_cells];
            parts.extend(lists.map(Bytes::clone));
        }
        parts
    }

    /// Returns the feature word of a cell: the number of a feature, or a large number
    /// for none.
    pub fn feature_word(&self, cell: usize) -> Option<u16> {
        match self.version {
            Version::Ta => {
                let cell = self.feature_cells.get(cell.checked_mul(4)?..)?;
                Some(u16::from_le_bytes([*cell.get(1)?, *cell.get(2)?]))
            }
            Version::OldTa => {
                let word = *self
                    .feature_cells
                    .get(cell.checked_mul(8)?.checked_add(2)?)?;
                let is_none = word >= 0xFC;
                Some(if is_none { 0xFF00 } else { 0 } | u16::from(word))
            }
            Version::Kingdoms => u16_at(&self.feature_cells, cell),
        }
    }

    /// Returns the feature number of a cell.
    pub fn feature(&self, cell: usize) -> Option<usize> {
        let word = self.feature_word(cell)?;
        let is_none = self.version == Version::Kingdoms && word >= KINGDOMS_NONE;
        let number = usize::from(word);
        (number < self.features.len() && !is_none).then_some(number)
    }

    /// Returns the number of cells for each feature word without a feature.
    pub fn cells_without_feature(&self) -> BTreeMap<u16, usize> {
        let mut counts = BTreeMap::new();
        // Missing cells have no words.
        let words = (0..self.cells()).map_while(|cell| Some((cell, self.feature_word(cell)?)));
        for (_, word) in words.filter(|&(cell, _)| self.feature(cell).is_none()) {
            *counts.entry(word).or_default() += 1;
        }
        counts
    }

    /// Returns the size in pixels of the used part of a Total Annihilation minimap. The
    /// rest to the right and below is padding. Some maps fill the whole minimap: if
    /// anything but padding follows the part that the size of the map suggests, the
    /// whole minimap is used.
    pub fn minimap_used(&self) -> Option<(u32, u32)> {
        if self.version == Version::Kingdoms {
            return None;
        }
        let edge = |cells: u32, hidden: u64| {
            let pixels = u64::from(cells) * u64::from(CELL_EDGE);
            pixels.checked_sub(hidden).filter(|&pixels| pixels > 0)
        };
        let (width, height) = (edge(self.width, 32)?, edge(self.height, 128)?);
        let longer = width.max(height);
        // Rounded to the nearest pixel, and a half rounded down.
        let scaled = |edge: u64| ((2 * MINIMAP_EDGE * edge + longer - 1) / (2 * longer)) as u32;
        let used = (scaled(width), scaled(height));
        let minimap = self.minimap.as_ref();
        let whole = minimap.filter(|minimap| !minimap.is_padded_after(used));
        Some(whole.map_or(used, |minimap| (minimap.width, minimap.height)))
    }
}

impl Minimap {
    /// Returns whether everything to the right of and below a part in the top left
    /// corner is padding.
    fn is_padded_after(&self, (width, height): (u32, u32)) -> bool {
        let rows = self.pixels.chunks(self.width.max(1) as usize);
        let outside = rows.enumerate().flat_map(|(y, row)| {
            let start = if y < height as usize {
                width as usize
            } else {
                0
            };
            row.get(start..).unwrap_or_default()
        });
        outside.copied().all(|index| index == MINIMAP_PADDING)
    }
}

#[cfg(test)]
mod tests;
