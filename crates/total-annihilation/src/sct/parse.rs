//! SCT: sections, which map editors assemble maps from (FORMATS, TA 7).

use bytes::Bytes;
use get_size2::GetSize;

use crate::pointer::{Pointer, little};
use crate::terrain::{Heights, Minimap, Terrain, check_size, keep};
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::{Error, Result, Warnings};

/// Extensions of SCT files.
pub const EXTENSIONS: &[&str] = &["sct"];

/// Pixels along the edge of a minimap.
const MINIMAP_EDGE: u32 = 128;

/// The parsed contents of an SCT file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Sct {
    /// Version: 3, or 2, which is older and has larger cells.
    pub version: u32,
    /// The ground as a picture.
    pub terrain: Terrain,
    /// The section as a small picture.
    pub minimap: Option<Minimap>,
    /// Warnings.
    pub warnings: Warnings,
    pub(super) heights: Heights,
}

/// Parses an SCT file.
///
/// # Errors
/// Returns [`Incomplete`] if the header is invalid, or some part of the section
/// is outside the file or larger than any real one; the other parts are kept.
pub fn parse(bytes: &Bytes) -> std::result::Result<Sct, Box<Incomplete<Sct>>> {
    let mut sct = Sct::default();
    let result = sct.read(bytes);
    finish(sct, result)
}

/// Bytes of the header.
const HEADER_SIZE: usize = 28;

impl Sct {
    /// Returns the parts of its file besides heights and minimap.
    pub(super) fn parts_without_pictures(&self, file: &Bytes) -> Vec<Bytes> {
        let mut parts = vec![file.slice(..HEADER_SIZE.min(file.len()))];
        parts.extend(self.terrain.parts());
        parts
    }

    /// Returns the width in cells, two per tile.
    pub fn width(&self) -> u32 {
        2 * self.terrain.width
    }

    /// Returns the height in cells.
    pub fn height(&self) -> u32 {
        2 * self.terrain.height
    }

    /// Returns the height of each cell, row by row.
    pub fn heights(&self) -> impl Iterator<Item = u8> {
        self.heights.iter()
    }

    fn read(&mut self, file: &Bytes) -> Result<()> {
        let mut cursor = little(file);
        self.version = cursor.u32("version")?;
        let cell_size: usize = match self.version {
            3 => 4,
            2 => 8,
            other => {
                let problem = format!("is {other}, should be 2 or 3");
                return Err(Error::damaged(0, "version", problem));
            }
        };
        let minimap = Pointer::read(&mut cursor, "minimap")?;
        let tile_count = cursor.u32("tile count")?;
        let tiles = Pointer::read(&mut cursor, "tiles")?;
        let (width, height) = (cursor.u32("width")?, cursor.u32("height")?);
        let data_offset = cursor.offset();
        let data = Pointer::read(&mut cursor, "tile map")?;
        check_size(width, height, 16, 4)?;
        self.terrain = Terrain::new(width, height);
        if !(width.is_multiple_of(4) && height.is_multiple_of(4)) {
            let warning = format!("the section is {width}x{height} tiles, not multiples of 4");
            self.warnings.push(warning);
        }

        let mut first = None;
        if minimap.target != 0 {
            let pixels = u64::from(MINIMAP_EDGE * MINIMAP_EDGE);
            let minimap = minimap.items(file, pixels, 1).map(|pixels| {
                Some(Minimap {
                    width: MINIMAP_EDGE,
                    height: MINIMAP_EDGE,
                    pixels,
                })
            });
            self.minimap = keep(&mut first, minimap);
        }
        let set = self.terrain.read_tiles(file, tiles, tile_count, 8);
        let has_tiles = set.is_ok();
        keep(&mut first, set);
        keep(&mut first, self.terrain.read_map(file, data));
        if has_tiles {
            self.terrain.check(&mut self.warnings);
        }
        let tiles_on_map = self.terrain.tiles_on_map();
        let heights = u64::from(data.target) + 2 * tiles_on_map;
        let cells = u32::try_from(heights)
            .map_err(|_| Error::damaged(data_offset, "heights", "are outside the file"))
            .and_then(|target| {
                let pointer = Pointer::new(target, data_offset, "heights");
                pointer.items(file, 4 * tiles_on_map, cell_size)
            });
        self.heights = Heights::new(keep(&mut first, cells), cell_size);
        first.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::put;
    use fixtures::ta::tnt::Section;

    fn parsed(bytes: Vec<u8>) -> Sct {
        parse(&bytes.into()).unwrap()
    }

    #[test]
    fn both_versions_have_heights_and_tiles() {
        for version in [2, 3] {
            let section = Section::small(version);
            let sct = parsed(section.file());
            assert!(sct.warnings.is_empty());
            assert_eq!((sct.width(), sct.height()), (8, 8));
            assert_eq!(sct.heights().collect::<Vec<_>>(), section.heights);
            assert_eq!(sct.terrain.tile(1, 0), Some(section.map[1]));
            let minimap = sct.minimap.unwrap();
            assert_eq!((minimap.width, minimap.height), (128, 128));
            assert_eq!(minimap.pixels, section.minimap);
        }
    }

    #[test]
    fn sizes_and_parts_outside_of_the_file_are_errors() {
        let with = |at: usize, value: u32| {
            let mut bytes = Section::small(3).file();
            put(&mut bytes, at, &value.to_le_bytes());
            parse(&bytes.into())
                .map(|sct| sct.warnings.texts())
                .map_err(|incomplete| incomplete.error.to_string())
        };
        let error = |at, value| with(at, value).unwrap_err();
        assert_eq!(error(0, 4), "version at 0x0: is 4, should be 2 or 3");
        assert_eq!(
            error(8, 65537),
            "tile count at 0x8: is 65537, more than 65536"
        );
        let size = "should be 1 to 16777216 cells";
        assert_eq!(error(16, 0), format!("map size at 0x10: is 0x4, {size}"));
        assert_eq!(
            error(16, 1 << 21),
            format!("map size at 0x10: is 2097152x4, {size}")
        );
        assert!(error(16, 1 << 20).starts_with("tile map at "));
        assert!(error(4, u32::MAX).starts_with("minimap at 0x4: "));
        assert!(error(12, u32::MAX).starts_with("tiles at 0xc: "));
        assert!(error(24, u32::MAX).starts_with("tile map at 0x18: "));
        assert_eq!(
            with(16, 3).unwrap(),
            ["the section is 3x4 tiles, not multiples of 4"]
        );
        assert!(
            parsed({
                let mut bytes = Section::small(3).file();
                put(&mut bytes, 4, &[0; 4]);
                bytes
            })
            .minimap
            .is_none()
        );
    }
}
