//! Helpers for maps and sections: pictures of tiles, minimaps, heights (FORMATS, TA 6).

use bytes::Bytes;
use get_size2::GetSize;

use crate::pointer::{Pointer, u16_at};
use hpimount_containers::io::{Error, Result, Warnings};

/// Pixels along the edge of a tile.
pub const TILE_EDGE: u32 = 32;

/// Pixels, and bytes, of a tile.
const TILE_SIZE: usize = 1024;

/// Maximum number of tiles in a set.
const MAX_TILES: u32 = 65536;

/// Maximum number of cells of a map.
const MAX_CELLS: u64 = 1 << 24;

/// A picture that consists of tiles of 32 x 32 palette indices.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Terrain {
    /// Width in tiles.
    pub width: u32,
    /// Height in tiles.
    pub height: u32,
    /// A 16-bit tile number for each position, row by row.
    #[get_size(ignore)]
    map: Bytes,
    #[get_size(ignore)]
    tiles: Bytes,
}

impl Terrain {
    /// Creates a picture of this size, without tile map and tiles.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            ..Self::default()
        }
    }

    /// Returns the number of tiles on the map.
    pub(crate) fn tiles_on_map(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Reads the tile map.
    pub(crate) fn read_map(&mut self, file: &Bytes, pointer: Pointer) -> Result<()> {
        self.map = pointer.items(file, self.tiles_on_map(), 2)?;
        Ok(())
    }

    /// Reads the set of tiles. `count` was read at `count_offset`.
    pub(crate) fn read_tiles(
        &mut self,
        file: &Bytes,
        pointer: Pointer,
        count: u32,
        count_offset: u64,
    ) -> Result<()> {
        if count > MAX_TILES {
            let problem = format!("is {count}, more than {MAX_TILES}");
            return Err(Error::damaged(count_offset, "tile count", problem));
        }
        self.tiles = pointer.items(file, count.into(), TILE_SIZE)?;
        Ok(())
    }

    /// Warns about tiles on the map that are not in the set.
    pub(crate) fn check(&self, warnings: &mut Warnings) {
        let count = self.tile_count();
        let missing = self.map.as_chunks().0.iter().filter(|&&number| {
            let number = u16::from_le_bytes(number);
            usize::from(number) >= count
        });
        match missing.count() {
            0 => {}
            missing => warnings.push(format!(
                "{missing} tiles on the map are past the last of {count}"
            )),
        }
    }

    /// Returns the bytes of the tile map and of the set.
    pub(crate) fn parts(&self) -> [Bytes; 2] {
        [self.map.clone(), self.tiles.clone()]
    }

    /// Returns the number of tiles in the set.
    pub fn tile_count(&self) -> usize {
        self.tiles.len() / TILE_SIZE
    }

    /// Returns the number of the tile in a column and row. It may be past the end of
    /// the set.
    pub fn tile(&self, column: u32, row: u32) -> Option<u16> {
        if column >= self.width || row >= self.height {
            return None;
        }
        let tile_number = u64::from(row) * u64::from(self.width) + u64::from(column);
        u16_at(&self.map, usize::try_from(tile_number).ok()?)
    }

    /// Returns the pixels of a tile of the set, row by row.
    pub fn pixels(&self, tile: u16) -> Option<&[u8]> {
        let start = usize::from(tile) * TILE_SIZE;
        self.tiles.get(start..start + TILE_SIZE)
    }

    /// Appends every `step`th pixel of a row of the whole picture to `out`, beginning
    /// with the first pixel of each tile. Missing tiles are 0, which is black. Appends
    /// nothing without a tile map.
    pub fn row(&self, y: u32, step: usize, out: &mut Vec<u8>) {
        if self.map.is_empty() {
            return;
        }
        let edge = TILE_EDGE as usize;
        let start = (y % TILE_EDGE) as usize * edge;
        for column in 0..self.width {
            let tile = self.tile(column, y / TILE_EDGE);
            let row = tile
                .and_then(|tile| self.pixels(tile))
                .map_or(&[0; TILE_EDGE as usize][..], |tile| {
                    &tile[start..start + edge]
                });
            if step == 1 {
                out.extend_from_slice(row);
            } else {
                out.extend(row.iter().step_by(step.max(1)));
            }
        }
    }
}

/// A small picture of a map or section.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Minimap {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Palette indices, row by row.
    #[get_size(ignore)]
    pub pixels: Bytes,
}

impl Minimap {
    /// Returns the size of the shown part, from the top left corner.
    pub(crate) fn shown(&self, used: Option<(u32, u32)>) -> (u32, u32) {
        let (width, height) = used.unwrap_or((self.width, self.height));
        (width.min(self.width), height.min(self.height))
    }
}

/// Checks the size of a map in units of `cells` cells. Its width is at `offset`.
pub(crate) fn check_size(width: u32, height: u32, offset: u64, cells: u64) -> Result<()> {
    let area = u64::from(width) * u64::from(height);
    if area == 0 || area.saturating_mul(cells) > MAX_CELLS {
        let problem = format!("is {width}x{height}, should be 1 to {MAX_CELLS} cells");
        return Err(Error::damaged(offset, "map size", problem));
    }
    Ok(())
}

/// The heights of cells: the first of every `stride` bytes.
#[derive(Debug, Clone, Default, GetSize)]
pub(crate) struct Heights {
    /// Size of a cell in bytes; the first byte is the height.
    stride: usize,
    /// All bytes of the cells.
    #[get_size(ignore)]
    pub(super) cells: Bytes,
}

impl Heights {
    pub(crate) fn new(cells: Bytes, stride: usize) -> Self {
        Self { stride, cells }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> {
        self.cells.iter().copied().step_by(self.stride.max(1))
    }

    /// Returns the bytes of the cells with these heights.
    pub(super) fn with(&self, heights: impl Iterator<Item = u8>) -> Vec<u8> {
        let mut cells = self.cells.to_vec();
        let stored = cells.iter_mut().step_by(self.stride.max(1));
        stored.zip(heights).for_each(|(old, new)| *old = new);
        cells
    }
}

/// Returns the value of a result, or a default, and keeps the first error.
pub(crate) fn keep<T: Default>(first: &mut Option<Error>, result: Result<T>) -> T {
    result.unwrap_or_else(|error| {
        first.get_or_insert(error);
        T::default()
    })
}
