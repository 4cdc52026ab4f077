//! Headers of the three versions, and the positions of a map's parts (FORMATS, TA 6).

use bytes::Bytes;

use super::{Features, Ground, Tnt, Version};
use crate::pointer::{Pointer, little};
use crate::terrain::{Heights, Minimap, Terrain, check_size, keep};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};

/// Bytes of the header.
const HEADER_SIZE: usize = 64;

/// Maximum side length of a minimap in pixels.
const MAX_EDGE: u32 = 4096;

/// Returns the header of a file.
pub(super) fn header(file: &Bytes) -> Bytes {
    file.slice(..HEADER_SIZE.min(file.len()))
}

impl Tnt {
    /// Reads the header, and then all parts. Returns the first error.
    pub(super) fn read(&mut self, file: &Bytes) -> Result<()> {
        let mut cursor = little(file).section(HEADER_SIZE, "header")?;
        self.version = match cursor.u32("version")? {
            0x2000 => Version::Ta,
            0x1020 => Version::OldTa,
            0x4000 => Version::Kingdoms,
            other => {
                let problem = format!("is {other:#x}, should be 0x1020, 0x2000 or 0x4000");
                return Err(Error::damaged(0, "version", problem));
            }
        };
        let (width, height) = (cursor.u32("width")?, cursor.u32("height")?);
        check_size(width, height, 4, 1)?;
        (self.width, self.height) = (width, height);
        if !(width.is_multiple_of(2) && height.is_multiple_of(2)) {
            let warning = format!("the map is {width}x{height} cells, not even numbers");
            self.warnings.push(warning);
        }
        match self.version {
            Version::Kingdoms => self.kingdoms(file, &mut cursor),
            Version::Ta | Version::OldTa => self.ta(file, &mut cursor),
        }
    }

    fn ta(&mut self, file: &Bytes, cursor: &mut Cursor<'_>) -> Result<()> {
        self.terrain = Terrain::new(self.width / 2, self.height / 2);
        let map = Pointer::read(cursor, "tile map")?;
        let attributes = Pointer::read(cursor, "attributes")?;
        let tiles = Pointer::read(cursor, "tiles")?;
        let (tile_count_offset, tile_count) = (cursor.offset(), cursor.u32("tile count")?);
        let (count_offset, count) = (cursor.offset(), cursor.u32("feature count")?);
        let features = Pointer::read(cursor, "features")?;
        self.sea_level_at = Some(cursor.offset() as usize);
        self.sea_level = cursor.u32("sea level")?;
        if self.version == Version::OldTa {
            cursor.seek(0x38, "minimap")?;
        }
        let minimap = Pointer::read(cursor, "minimap")?;
        self.flags_at = Some(cursor.offset() as usize);
        self.flags = cursor.u32("flags")?;

        let mut first = None;
        let cell_size = if self.version == Version::Ta { 4 } else { 8 };
        let cells = attributes.items(file, self.cells() as u64, cell_size);
        self.feature_cells = keep(&mut first, cells);
        self.heights = Heights::new(self.feature_cells.clone(), cell_size);
        self.minimap = read_minimap(file, minimap, &mut self.warnings);
        let table = Features::read(file, features, count, count_offset, &mut self.warnings);
        self.features = keep(&mut first, table);
        let set = self
            .terrain
            .read_tiles(file, tiles, tile_count, tile_count_offset);
        let has_tiles = set.is_ok();
        keep(&mut first, set);
        keep(&mut first, self.terrain.read_map(file, map));
        if has_tiles {
            self.terrain.check(&mut self.warnings);
        }
        self.check_cells();
        first.map_or(Ok(()), Err)
    }

    fn kingdoms(&mut self, file: &Bytes, cursor: &mut Cursor<'_>) -> Result<()> {
        self.sea_level_at = Some(cursor.offset() as usize);
        self.sea_level = cursor.u32("sea level")?;
        let heights = Pointer::read(cursor, "heights")?;
        let cells = Pointer::read(cursor, "feature grid")?;
        let features = Pointer::read(cursor, "features")?;
        let (count_offset, count) = (cursor.offset(), cursor.u32("feature count")?);
        let names = Pointer::read(cursor, "ground names")?;
        let u = Pointer::read(cursor, "ground columns")?;
        let v = Pointer::read(cursor, "ground rows")?;
        let minimap = Pointer::read(cursor, "minimap")?;
        let large_minimap = cursor.u32("large minimap")?;

        let mut first = None;
        let count_cells = self.cells() as u64;
        let list = keep(&mut first, heights.items(file, count_cells, 1));
        self.heights = Heights::new(list, 1);
        self.feature_cells = keep(&mut first, cells.items(file, count_cells, 2));
        self.minimap = read_minimap(file, minimap, &mut self.warnings);
        let table = Features::read(file, features, count, count_offset, &mut self.warnings);
        self.features = keep(&mut first, table);
        let tiles_on_map = u64::from(self.width / 2) * u64::from(self.height / 2);
        // The end of the columns is the start of the rows.
        let distance = u64::from(v.target.wrapping_sub(u.target));
        let coordinate_size = if distance == 4 * tiles_on_map { 4 } else { 1 };
        self.ground = Some(Ground {
            coordinate_size,
            large_minimap,
            names: keep(&mut first, names.items(file, tiles_on_map, 4)),
            u: keep(&mut first, u.items(file, tiles_on_map, coordinate_size)),
            v: keep(&mut first, v.items(file, tiles_on_map, coordinate_size)),
        });
        first.map_or(Ok(()), Err)
    }

    /// Warns about nonzero bytes of cells that should be 0.
    fn check_cells(&mut self) {
        if self.version == Version::Ta {
            let cells = self.feature_cells.as_chunks::<4>().0.iter();
            match cells.filter(|cell| cell[3] != 0).count() {
                0 => {}
                count => self
                    .warnings
                    .push(format!("the fourth byte of {count} cells is not 0")),
            }
        }
    }
}

/// Reads a minimap; `None` if the pointer is 0 or the minimap is damaged.
fn read_minimap(file: &Bytes, pointer: Pointer, warnings: &mut Warnings) -> Option<Minimap> {
    if pointer.target == 0 {
        return None;
    }
    let read = || {
        let mut cursor = pointer.follow(file)?;
        let offset = cursor.offset();
        let (width, height) = (cursor.u32("minimap width")?, cursor.u32("minimap height")?);
        let edges = 1..=MAX_EDGE;
        if !edges.contains(&width) || !edges.contains(&height) {
            let problem = format!("is {width}x{height}, should be 1 to {MAX_EDGE} each");
            return Err(Error::damaged(offset, "minimap size", problem));
        }
        let pixels = cursor.take(width as usize * height as usize, "minimap")?;
        Ok(Minimap {
            width,
            height,
            pixels: file.slice_ref(pixels),
        })
    };
    let minimap = read();
    minimap
        .inspect_err(|error| warnings.push(format!("there is no minimap: {error}")))
        .ok()
}
