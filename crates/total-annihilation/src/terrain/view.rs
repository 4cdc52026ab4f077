//! Pictures shared by maps and sections.

use std::io::{self, Write};

use crate::MAX_PIXELS;
use crate::pal::colors::Colors;
use crate::terrain::{Minimap, TILE_EDGE, Terrain};
use hpimount_assets::model::png::{self, Tones};
use hpimount_record::Value;

/// Reduction factor of the small picture in each dimension.
pub(crate) const REDUCED: u32 = 8;

/// Returns the size of the picture of the ground in pixels. It has at most `MAX_CELLS`
/// tiles, so the numbers do not overflow.
fn size(terrain: &Terrain) -> (u32, u32) {
    let edge = |tiles: u32| tiles.saturating_mul(TILE_EDGE);
    (edge(terrain.width), edge(terrain.height))
}

/// Returns whether there is a picture of the ground.
pub(crate) fn has_ground(terrain: &Terrain) -> bool {
    terrain.tile(0, 0).is_some()
}

/// Returns whether the picture of the ground is small enough to be shown in full.
pub(crate) fn is_shown_whole(terrain: &Terrain) -> bool {
    let (width, height) = size(terrain);
    u64::from(width) * u64::from(height) <= MAX_PIXELS
}

/// Writes every `step`th pixel of every `step`th row of the ground. `step` divides the
/// edge of a tile.
pub(crate) fn write(
    terrain: &Terrain,
    colors: &Colors,
    step: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (width, height) = size(terrain);
    let mut row = |y: u32, row: &mut Vec<u8>| terrain.row(y * step, step as usize, row);
    let tones = Tones::Palette(&colors.palette.0);
    png::write_rows((width / step, height / step), tones, &mut row, out)
}

/// Writes the ground with the drawings of `draw` on each row.
pub(crate) fn write_with(
    terrain: &Terrain,
    colors: &Colors,
    draw: &mut dyn FnMut(u32, &mut [u8]),
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut row = |y: u32, row: &mut Vec<u8>| {
        terrain.row(y, 1, row);
        draw(y, row);
    };
    let tones = Tones::Palette(&colors.palette.0);
    png::write_rows(size(terrain), tones, &mut row, out)
}

/// Writes a minimap, or its used part from the top left corner.
pub(crate) fn write_minimap(
    minimap: &Minimap,
    used: Option<(u32, u32)>,
    colors: &Colors,
    out: &mut dyn Write,
) -> io::Result<()> {
    let size = minimap.shown(used);
    let mut row = |y: u32, row: &mut Vec<u8>| {
        let start = y as usize * minimap.width as usize;
        let pixels = minimap.pixels.get(start..start + size.0 as usize);
        row.extend_from_slice(pixels.unwrap_or_default());
    };
    png::write_rows(size, Tones::Palette(&colors.palette.0), &mut row, out)
}

/// Returns whether the picture of a minimap is nonempty.
pub(crate) fn is_picture(minimap: &Minimap, used: Option<(u32, u32)>) -> bool {
    let (width, height) = minimap.shown(used);
    width > 0 && height > 0
}

/// Writes the stored heights of cells as shades of gray.
pub(crate) fn write_heights(
    size: (u32, u32),
    mut heights: impl Iterator<Item = u8>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut row = |_, row: &mut Vec<u8>| row.extend(heights.by_ref().take(size.0 as usize));
    png::write_rows(size, Tones::Gray, &mut row, out)
}

/// Returns the least and the largest height.
pub(crate) fn range(heights: impl Iterator<Item = u8>) -> Value {
    let range = heights.fold(None, |range, height| {
        let [least, most] = range.unwrap_or([height; 2]);
        Some([height.min(least), height.max(most)])
    });
    range.into()
}
