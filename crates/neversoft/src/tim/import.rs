//! Import of edited pictures as TIM and TIM2. Size, depth, offset and number of levels
//! are fixed.

use bytes::Bytes;

use super::parse::Place;
use super::{Frame, Stored, frames, parse};
use hpimount_assets::model::palette::{Fitted, Palettized};
use hpimount_assets::parse::pixels::encode::{indexed, mip};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{self, Edit, Imported, NOT_THIS_FILE};

/// Encodes an edited picture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let tim = parse(edit.asset).map_err(|error| error.to_string())?;
    let mut frames = frames(&tim).into_iter();
    let frame = frames.find(|frame| frame.name == edit.part.name);
    let frame = frame.ok_or(NOT_THIS_FILE)?;
    let stored = &tim.pictures[frame.picture];
    // No file may appear editable if its levels cannot be written.
    stored.levels()?;
    let (edited, _memory) = import::picture(edit, (stored.width, stored.height))?;
    let shown = stored.decode(frame.palette);
    let old = shown.indices();
    if shown.into_rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let original = parse(edit.original).map_err(|error| error.to_string())?;
    let original = original.pictures.get(frame.picture).ok_or(NOT_THIS_FILE)?;
    let is_edited = stored.data != original.data || stored.colors != original.colors;
    if is_edited && original.decode(frame.palette).into_rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut encoded = match old {
        Some(old) => {
            let old: Vec<u16> = old.into_iter().map(u16::from).collect();
            let is_moved = stored.data != original.data;
            with_indices(
                stored,
                frame.palette,
                (old, is_moved),
                &edited,
                edit.context,
            )?
        }
        None => with_colors(stored, &edited)?,
    };
    let mut asset = edit.asset.to_vec();
    import::overwrite(edit.asset, &stored.data, &encoded.data, &mut asset)?;
    import::overwrite(edit.asset, &stored.colors, &encoded.colors, &mut asset)?;
    let shown = shown_by(&asset.clone().into(), &frame);
    let shown = shown.ok_or("cannot be read again")?;
    let form = format!("{} bits", stored.bits);
    let mut changed = import::with_pixels(asset, &edited, &shown, &form);
    changed.warnings.append(&mut encoded.warnings);
    Ok(Imported::Changed(changed))
}

/// Returns the pixels of a picture in a file.
fn shown_by(file: &Bytes, frame: &Frame) -> Option<Vec<[u8; 4]>> {
    let tim = parse(file).ok()?;
    Some(
        tim.pictures
            .get(frame.picture)?
            .decode(frame.palette)
            .into_rgba(),
    )
}

/// The new bytes of a picture.
struct Encoded {
    data: Vec<u8>,
    colors: Vec<u8>,
    warnings: Vec<String>,
}

/// Encodes pixels as palette indices. `old` has the previous indices, and tells whether
/// an earlier edit has moved them. Colors that the palette lacks are added, unless the
/// picture has no palette or several.
fn with_indices(
    stored: &Stored,
    palette: usize,
    (old, is_moved): (Vec<u16>, bool),
    edited: &[[u8; 4]],
    context: &dyn AssetContext,
) -> Result<Encoded, String> {
    let before = stored.palette(palette);
    let mut colors = stored.colors.to_vec();
    let mut warnings = Vec::new();
    let (fitted, usable) = match stored.palettes() {
        0 => {
            let mut palettized = Palettized::new(&before, None);
            let pairs = edited.iter().zip(&old);
            let indices = pairs.map(|(&pixel, &old)| palettized.index(pixel, old));
            let indices = indices.collect();
            warnings.extend(palettized.warning());
            let colors = before.clone();
            let fitted = Fitted {
                colors,
                indices,
                lacking: 0,
            };
            (fitted, before.len())
        }
        _ => {
            let slots = (0..before.len()).map(|index| stored.slot(palette, index));
            let usable = slots.take_while(Option::is_some).count();
            let rounded = |color| {
                let mut bytes = [0; 4];
                let size = stored.slot(palette, 0).map_or(0, |slot| slot.len());
                stored.store(color, &mut bytes[..size]);
                stored.color(&bytes[..size])
            };
            let reserve = |bytes| context.reserve(bytes);
            let fitted = Fitted::new(&before, usable, &old, edited, rounded, &reserve)?;
            (fitted, usable)
        }
    };
    let moves = fitted.indices != old;
    drop(old);
    if stored.palettes() > 1 && moves {
        if is_moved {
            return Err(
                "has the pixels of another edited picture, which differ: edit one of \
                        the two"
                    .to_owned(),
            );
        }
        let others = stored.palettes() - 1;
        if fitted.lacking > 0 {
            return Err(format!(
                "has colors that its palette lacks, and {others} more palettes for the same \
                 pixels: use colors of the palette, or change a color everywhere"
            ));
        }
        warnings.push(format!(
            "the same pixels are shown with {others} more palettes, and change there, too"
        ));
    }
    for (index, color, known) in fitted.changes(&before) {
        let Some(slot) = stored.slot(palette, index) else {
            continue;
        };
        // A color from elsewhere in the palette keeps its blending bit.
        match known.and_then(|known| stored.slot(palette, known)) {
            Some(known) => colors[slot].copy_from_slice(&stored.colors[known]),
            None => stored.store(color, &mut colors[slot]),
        }
    }
    let mut smaller = Palettized::new(&fitted.colors[..usable], None);
    let data = with_levels(stored, edited, |number, rows, place, pixels| {
        let width = place.size.0 as usize;
        let of_level: Vec<u16>;
        let indices = match number {
            0 => &fitted.indices,
            _ => {
                let pixels = pixels.iter();
                of_level = pixels.map(|&pixel| smaller.index(pixel, 0)).collect();
                &of_level
            }
        };
        indexed::write(rows, place.row_size, stored.bits, width, indices);
    })?;
    Ok(Encoded {
        data,
        colors,
        warnings,
    })
}

/// Encodes pixels without a palette. Pixels that look the same keep their bytes.
fn with_colors(stored: &Stored, edited: &[[u8; 4]]) -> Result<Encoded, String> {
    let size = usize::from(stored.bits / 8);
    let data = with_levels(stored, edited, |_, rows, place, pixels| {
        let lines = pixels.chunks_exact(place.size.0 as usize);
        for (row, pixels) in rows.chunks_exact_mut(place.row_size).zip(lines) {
            for (bytes, &pixel) in row.chunks_exact_mut(size).zip(pixels) {
                if stored.color(bytes) != pixel {
                    stored.store(pixel, bytes);
                }
            }
        }
    })?;
    Ok(Encoded {
        data,
        colors: stored.colors.to_vec(),
        warnings: Vec::new(),
    })
}

/// Returns the bytes of all levels. `write` changes them one by one, with their number,
/// bytes, place and pixels.
fn with_levels(
    stored: &Stored,
    edited: &[[u8; 4]],
    mut write: impl FnMut(usize, &mut [u8], &Place, &[[u8; 4]]),
) -> Result<Vec<u8>, String> {
    let places = stored.levels()?;
    let sizes: Vec<_> = places.iter().map(|place| place.size).collect();
    let levels = mip::levels(edited, &sizes);
    let mut data = stored.data.to_vec();
    for (number, (place, pixels)) in places.iter().zip(&levels).enumerate() {
        write(number, &mut data[place.bytes.clone()], place, pixels);
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use super::super::parse::tests::{tim, tim2};
    use super::*;
    use fixtures::png_of;
    use hpimount_assets::model::png;
    use hpimount_assets::view::import::{Changed, edited};
    use hpimount_assets::view::{Alone, ViewFile, rendered};
    use proptest::prelude::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const GREEN: [u8; 4] = [0, 255, 0, 255];
    const BLACK: [u8; 4] = [0, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];

    /// Returns the displayed pixels of a file's picture.
    fn shown(file: &[u8], name: &str) -> Vec<[u8; 4]> {
        let png = rendered(&FORMAT, file, name).unwrap();
        png::read(&png, 1 << 20).unwrap().rgba()
    }

    /// Returns the file with a picture with other pixels.
    fn change(file: &[u8], name: &str, width: u32, pixels: &[[u8; 4]]) -> Result<Changed, String> {
        let height = pixels.len() as u32 / width;
        match edited(&FORMAT, file, name, &png_of(width, height, pixels.to_vec()))? {
            Imported::Changed(changed) => Ok(changed),
            Imported::Unchanged => Err("is unchanged".to_owned()),
        }
    }

    /// Returns the file with its only picture, one row, after a lossless change.
    fn exactly(file: &[u8], pixels: &[[u8; 4]]) -> Vec<u8> {
        let changed = change(file, "frame.png", pixels.len() as u32, pixels).unwrap();
        assert_eq!((changed.warnings.len(), &changed.quality), (0, &None));
        assert_eq!(shown(&changed.asset, "frame.png"), pixels);
        changed.asset
    }

    /// A picture of red, semi-transparent green, a transparent and a black pixel.
    fn four(last: u16) -> Vec<u8> {
        let mut palette = [0x7FFF; 16];
        palette[..4].copy_from_slice(&[0, 0x001F, 0x83E0, last]);
        tim(8, Some(&palette), [1, 1], &[0x21, 0x30])
    }

    #[test]
    fn a_pixel_changes_its_own_index_alone() {
        let file = four(0x8000);
        assert_eq!(shown(&file, "frame.png"), [RED, GREEN, [0; 4], BLACK]);
        let changed = exactly(&file, &[RED, RED, [0; 4], BLACK]);
        let at = file.len() - 2;
        assert_eq!(
            (&changed[..at], &changed[at..]),
            (&file[..at], &[0x11, 0x30][..])
        );
    }

    #[test]
    fn a_new_color_is_added_to_the_palette_and_blends_like_the_one_that_it_replaces() {
        let changed = exactly(&four(0x8000), &[RED, BLUE, [0; 4], BLACK]);
        // Green is not needed any more.
        assert_eq!(changed, {
            let mut file = four(0x8000);
            file[20 + 2 * 2..][..2].copy_from_slice(&0xFC00_u16.to_le_bytes());
            file
        });
        // Opaque black differs from 0.
        let changed = exactly(&four(0x7C00), &[RED, GREEN, [0; 4], BLACK]);
        assert_eq!(changed, four(0x8000));
    }

    #[test]
    fn a_picture_of_several_palettes_gets_no_color_in_one_of_them_only() {
        let mut palettes = [0x7FFF; 32];
        palettes[..2].copy_from_slice(&[0x001F, 0x03E0]);
        palettes[16] = 0x7C00;
        let file = tim(8, Some(&palettes), [1, 1], &[0x00, 0x11]);
        let name = "00_00.png";
        let refused = change(&file, name, 4, &[RED, BLUE, GREEN, GREEN]).unwrap_err();
        assert!(
            refused.starts_with("has colors that its palette lacks"),
            "{refused}"
        );
        let everywhere = change(&file, name, 4, &[BLUE, BLUE, GREEN, GREEN]).unwrap();
        assert!(everywhere.warnings.is_empty());
        assert_eq!(
            shown(&everywhere.asset, "00_01.png"),
            shown(&file, "00_01.png")
        );
        let moved = change(&file, name, 4, &[GREEN, RED, GREEN, GREEN]).unwrap();
        assert!(
            moved.warnings[0].contains("with 1 more palettes"),
            "{:?}",
            moved.warnings
        );
        assert_eq!(shown(&moved.asset, "00_01.png")[..2], [[255; 4], BLUE]);
    }

    #[test]
    fn pixels_that_one_edited_picture_moved_are_not_moved_back_by_another_one() {
        let mut palettes = [0x7FFF; 32];
        palettes[..2].copy_from_slice(&[0x001F, 0x03E0]);
        palettes[16] = 0x7C00;
        let file = tim(8, Some(&palettes), [1, 1], &[0x00, 0x11]);
        let moved = change(&file, "00_00.png", 4, &[GREEN, RED, GREEN, GREEN]).unwrap();
        let [asset, original] = [moved.asset.into(), file.into()];
        let second = |pixels: &[[u8; 4]]| {
            import(&Edit {
                asset: &asset,
                original: &original,
                context: &Alone,
                part: &ViewFile::from("00_01.png"),
                file: &png_of(4, 1, pixels.to_vec()),
            })
        };
        let saved_again = shown(&original, "00_01.png");
        assert_eq!(second(&saved_again), Ok(Imported::Unchanged));
        assert_eq!(second(&shown(&asset, "00_01.png")), Ok(Imported::Unchanged));
        let refused = second(&[[255; 4]; 4]).unwrap_err();
        assert!(
            refused.starts_with("has the pixels of another edited picture"),
            "{refused}"
        );
    }

    #[test]
    fn pixels_without_a_palette_keep_their_bit_for_blending() {
        let words = [0x801F_u16, 0x001F, 0, 0x7C00]
            .map(u16::to_le_bytes)
            .concat();
        let file = tim(2, None, [4, 1], &words);
        let changed = exactly(&file, &[GREEN, BLACK, RED, [0; 4]]);
        let expected = [0x83E0_u16, 0x8000, 0x001F, 0]
            .map(u16::to_le_bytes)
            .concat();
        assert_eq!(changed[20..], expected);
        let file = tim(3, None, [3, 1], &[1, 2, 3, 4, 5, 6]);
        let changed = change(&file, "frame.png", 2, &[[1, 2, 3, 255], [9, 8, 7, 0]]).unwrap();
        assert_eq!(changed.asset[20..], [1, 2, 3, 9, 8, 7]);
        assert_eq!(
            changed.warnings,
            ["1 transparent pixels become opaque: a texture of form 24 bits has no alpha"]
        );
    }

    #[test]
    fn indices_without_a_palette_stay_grays() {
        let file = tim(0, None, [1, 1], &[0x10, 0x32]);
        let gray = |gray: u8| [gray, gray, gray, 255];
        let changed = change(&file, "frame.png", 4, &[gray(0), gray(255), RED, gray(51)]).unwrap();
        assert_eq!(changed.asset[20], 0xF0);
        assert!(
            changed.warnings[0].starts_with("1 of 4 pixels"),
            "{:?}",
            changed.warnings
        );
        assert!(changed.quality.is_some());
    }

    #[test]
    fn alpha_of_a_tim2_is_halved_and_places_in_its_palette_are_exchanged() {
        let mut file = tim2(3, 0, &[1; 16], &[]);
        file[30] = 0;
        let mut pixels = shown(&file, "frame.png");
        pixels[1] = [1, 2, 3, 255];
        let changed = change(&file, "frame.png", 2, &pixels).unwrap().asset;
        assert_eq!(
            changed[64..],
            [[1; 4], [1, 2, 3, 128], [1; 4], [1; 4]].concat()
        );
        let palette: Vec<u8> = (0..=255).flat_map(|index| [index, 0, 0, 128]).collect();
        let file = tim2(5, 3, &[8, 16, 24, 40], &palette);
        let mut pixels = shown(&file, "frame.png");
        pixels[0] = BLUE;
        let changed = change(&file, "frame.png", 2, &pixels).unwrap().asset;
        let differing = (0..file.len()).filter(|&at| file[at] != changed[at]);
        // Index 8 has the color at 16.
        let color = 64 + 4 + 16 * 4;
        assert_eq!(differing.collect::<Vec<_>>(), [color, color + 2]);
    }

    #[test]
    fn smaller_levels_of_a_tim2_are_made_anew_where_their_places_are_known() {
        let pixels = [[10, 10, 10, 128]; 5].concat();
        let mut file = tim2(3, 0, &pixels, &[]);
        file[16 + 17] = 2;
        let refused = change(&file, "frame.png", 2, &[RED; 4]).unwrap_err();
        assert_eq!(refused, "has 2 levels, whose places are unknown");
        // So no file may appear editable.
        let refused = change(&file, "frame.png", 2, &shown(&file, "frame.png"));
        assert_eq!(
            refused.unwrap_err(),
            "has 2 levels, whose places are unknown"
        );
        // A header with registers and the lengths of the levels.
        let registers = [vec![0; 16], [16_u32, 4].map(u32::to_le_bytes).concat()].concat();
        file[16] += 24;
        file[16 + 12] += 24;
        file.splice(64..64, registers);
        let changed = change(&file, "frame.png", 2, &[RED; 4]).unwrap().asset;
        assert_eq!(changed[..88], file[..88]);
        assert_eq!(changed[88..], [[255, 0, 0, 128]; 5].concat());
    }

    #[test]
    fn other_sizes_and_files_are_refused() {
        let file = four(0x8000);
        let refused = change(&file, "frame.png", 2, &[RED; 2]).unwrap_err();
        assert_eq!(refused, "has 2x1 pixels, must have 4x1: scale it");
        let refused = change(&file, "other.png", 4, &[RED; 4]).unwrap_err();
        assert_eq!(refused, NOT_THIS_FILE);
    }

    proptest! {
        #[test]
        fn what_a_picture_can_show_is_stored_without_loss(
            mode in 0_u32..4,
            has_palette: bool,
            data in prop::collection::vec(any::<u8>(), 24),
            colors in prop::collection::vec(any::<u16>(), 16..300),
            order in Just((0..24_usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let palette = (has_palette && mode < 2).then_some(&colors[..]);
            let flags = mode | if palette.is_some() { 8 } else { 0 };
            let file = tim(flags, palette, [6, 2], &data);
            let name = frames(&parse(&file.clone().into()).unwrap()).remove(0).name;
            let before = shown(&file, &name);
            let width = before.len() as u32 / 2;
            let unchanged = change(&file, &name, width, &before);
            prop_assert_eq!(unchanged.unwrap_err(), "is unchanged");
            let order = order.iter().filter_map(|&at| before.get(at));
            let mut pixels: Vec<_> = order.copied().collect();
            pixels.extend_from_slice(&before[pixels.len()..]);
            if let Ok(changed) = change(&file, &name, width, &pixels) {
                prop_assert_eq!(shown(&changed.asset, &name), pixels);
                prop_assert_eq!(changed.asset.len(), file.len());
                prop_assert_eq!(changed.quality, None);
            }
        }
    }
}
