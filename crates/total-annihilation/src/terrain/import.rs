//! Import of edited minimaps and heights of maps and sections. Sizes and palette are
//! fixed.

use bytes::Bytes;

use super::parse::{Heights, Minimap};
use crate::pal::colors::Colors;
use hpimount_assets::model::palette;
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};

/// The file with the small picture.
pub(crate) const MINIMAP: &str = "minimap.png";

/// The file with the heights of the cells as shades of gray.
pub(crate) const HEIGHTS: &str = "height.png";

/// The parts of a map or section that are edited as pictures.
pub(crate) struct Pictures {
    pub(crate) minimap: Option<Minimap>,
    /// Size of the shown part of the minimap, if it is not the whole.
    pub(crate) used: Option<(u32, u32)>,
    pub(crate) colors: Colors,
    /// Size of the map in cells.
    pub(crate) size: (u32, u32),
    pub(crate) heights: Heights,
    /// The other parts of the file.
    pub(crate) others: Vec<Bytes>,
}

/// Finds the pictures of an undamaged map or section.
pub(crate) type Find = fn(&Bytes, &dyn AssetContext) -> Result<Pictures, String>;

/// Encodes an edited `minimap.png` or `height.png`.
pub(crate) fn import(edit: &Edit<'_>, find: Find) -> Result<Imported, String> {
    let _models = import::reserve_models(edit)?;
    let pictures = find(edit.asset, edit.context)?;
    let Part { old, new, warnings } = match edit.part.name.as_ref() {
        MINIMAP => pictures.with_minimap(edit)?,
        HEIGHTS => pictures.with_heights(edit)?,
        _ => return Err(NOT_THIS_FILE.to_owned()),
    };
    if old == new {
        return Ok(Imported::Unchanged);
    }
    let mut asset = edit.asset.to_vec();
    import::overwrite(edit.asset, &old, &new, &mut asset)?;
    let is_minimap = edit.part.name == MINIMAP;
    if is_minimap && find(&asset.clone().into(), edit.context)?.used != pictures.used {
        return Err("fills the map with the padding color, which follows it in the minimap".into());
    }
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

/// The old and new bytes of a part, and warnings.
struct Part {
    old: Bytes,
    new: Vec<u8>,
    warnings: Vec<String>,
}

impl Pictures {
    /// Checks that a part shares no bytes with others, which would change with it.
    fn check_alone(&self, file: &Bytes, part: &Bytes, other: &Bytes) -> Result<(), String> {
        let place = import::place_of(file, part)?;
        for other in self.others.iter().chain([other]) {
            let other = import::place_of(file, other)?;
            if place.start < other.end && other.start < place.end {
                return Err("overlaps another part of the file, which would change".to_owned());
            }
        }
        Ok(())
    }

    /// Returns the minimap with an edited picture of its shown part.
    fn with_minimap(&self, edit: &Edit<'_>) -> Result<Part, String> {
        let minimap = self.minimap.as_ref().ok_or(NOT_THIS_FILE)?;
        self.check_alone(edit.asset, &minimap.pixels, &self.heights.cells)?;
        let (width, height) = minimap.shown(self.used);
        let (edited, _memory) = import::picture(edit, (width, height))?;
        let mut new = minimap.pixels.to_vec();
        let rows = new.chunks_exact_mut(minimap.width as usize);
        let mut rows: Vec<_> = rows.map(|row| &mut row[..width as usize]).collect();
        rows.truncate(height as usize);
        let old = rows.iter().flat_map(|row| row.iter().copied());
        let colors = self.colors.palette.opaque();
        let (indices, warning) = palette::indices(&colors, &edited, old);
        for (row, indices) in rows.iter_mut().zip(indices.chunks(width as usize)) {
            row.copy_from_slice(indices);
        }
        let opacity = import::opacity_warning(&edited);
        Ok(Part {
            old: minimap.pixels.clone(),
            new,
            warnings: opacity.into_iter().chain(warning).collect(),
        })
    }

    /// Returns the cells with edited heights.
    fn with_heights(&self, edit: &Edit<'_>) -> Result<Part, String> {
        let minimap = self.minimap.as_ref().map(|minimap| &minimap.pixels);
        let minimap = minimap.cloned().unwrap_or_default();
        self.check_alone(edit.asset, &self.heights.cells, &minimap)?;
        let (edited, _memory) = import::picture(edit, self.size)?;
        let colored = edited
            .iter()
            .position(|&[red, green, blue, _]| red != green || green != blue);
        if let Some(at) = colored {
            let (x, y) = (at % self.size.0 as usize, at / self.size.0 as usize);
            let [red, green, blue, _] = edited[at];
            return Err(format!(
                "has the color {red}, {green}, {blue} at {x}, {y}: heights are shades of gray"
            ));
        }
        Ok(Part {
            old: self.heights.cells.clone(),
            new: self.heights.with(edited.iter().map(|&[height, ..]| height)),
            warnings: import::opacity_warning(&edited).into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sct, tnt};
    use fixtures::png_of;
    use fixtures::ta::put;
    use fixtures::ta::tnt::{Kingdoms, Map, Section};
    use hpimount_assets::model::png;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::{ViewFormat, rendered};

    /// Maps and sections of all versions. Each color of their minimaps is once in the
    /// palette.
    fn files() -> Vec<(&'static ViewFormat, Vec<u8>)> {
        let minimap = |edge: usize| (0..edge * edge).map(|at| 16 + (at % 199) as u8).collect();
        let map = Map {
            width: 16,
            height: 16,
            map: vec![0; 64],
            cells: (0..256).map(|cell| (cell as u8, 0xFFFF)).collect(),
            minimap: (252, 252, minimap(252)),
            ..Map::small()
        };
        let section = |version| Section {
            minimap: minimap(128),
            ..Section::small(version)
        };
        let mut kingdoms = Kingdoms::small(true).file();
        *kingdoms.last_mut().unwrap() = 6;
        vec![
            (&tnt::FORMAT, map.file(0x2000)),
            (&tnt::FORMAT, map.file(0x1020)),
            (&tnt::FORMAT, kingdoms),
            (&sct::FORMAT, section(2).file()),
            (&sct::FORMAT, section(3).file()),
        ]
    }

    #[test]
    fn edited_pictures_are_shown_and_everything_else_is_kept() {
        for (format, file) in files() {
            for name in [MINIMAP, HEIGHTS] {
                let before = rendered(format, &file, name).unwrap();
                assert!(edited(format, &file, name, &before) == Ok(Imported::Unchanged));
                let picture = png::read(&before, 1 << 20).unwrap();
                let pixels: Vec<_> = picture.rgba().into_iter().rev().collect();
                let after = png_of(picture.width, picture.height, pixels.clone());
                let Ok(Imported::Changed(changed)) = edited(format, &file, name, &after) else {
                    panic!("{name} of {} is not changed", format.name);
                };
                let shown = rendered(format, &changed.asset, name).unwrap();
                assert!(
                    png::read(&shown, 1 << 20).unwrap().rgba() == pixels,
                    "{name}"
                );
                let back = edited(format, &changed.asset, name, &before).unwrap();
                assert!(back == file.clone().into(), "{name}");
            }
        }
    }

    #[test]
    fn colored_heights_and_other_sizes_are_refused() {
        let section = Section::small(3).file();
        let mut pixels = vec![[9, 9, 9, 255]; 64];
        pixels[8 + 3] = [9, 9, 8, 255];
        let refused = |file: &[u8], width, height, pixels| {
            edited(&sct::FORMAT, file, HEIGHTS, &png_of(width, height, pixels)).unwrap_err()
        };
        assert_eq!(
            refused(&section, 8, 8, pixels.clone()),
            "has the color 9, 9, 8 at 3, 1: heights are shades of gray"
        );
        assert_eq!(
            refused(&section, 4, 16, pixels),
            "has 4x16 pixels, must have 8x8: scale it"
        );
    }

    #[test]
    fn a_picture_with_the_padding_color_at_its_edges_is_refused() {
        let mut minimap = vec![0x64; 252 * 252];
        minimap[252 * 252 - 1] = 16;
        let map = Map {
            width: 32,
            height: 16,
            map: vec![0; 128],
            cells: vec![(1, 0xFFFF); 512],
            minimap: (252, 252, minimap),
            ..Map::small()
        };
        let file = map.file(0x2000);
        let shown = png::read(&rendered(&tnt::FORMAT, &file, MINIMAP).unwrap(), 1 << 20).unwrap();
        assert_eq!((shown.width, shown.height), (252, 252));
        let mut pixels = shown.rgba();
        let last = pixels.len() - 1;
        pixels[last] = pixels[0];
        let refused = edited(&tnt::FORMAT, &file, MINIMAP, &png_of(252, 252, pixels));
        assert_eq!(
            refused.unwrap_err(),
            "fills the map with the padding color, which follows it in the minimap"
        );
    }

    #[test]
    fn parts_that_overlap_are_refused() {
        let mut section = Section::small(3).file();
        let heights = u32::from_le_bytes(section[24..28].try_into().unwrap()) + 32;
        put(&mut section, 4, &(heights - 1).to_le_bytes());
        let pixels = vec![[9, 9, 9, 255]; 64];
        let refused = edited(&sct::FORMAT, &section, HEIGHTS, &png_of(8, 8, pixels));
        assert_eq!(
            refused.unwrap_err(),
            "overlaps another part of the file, which would change"
        );
    }
}
