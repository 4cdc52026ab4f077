//! Import of edited pictures as textures of a file. Size, format and offset are fixed.

use bytes::Bytes;

use super::export::{TextureSet, color};
use super::{Palette, Psx, Texture, TextureData, neighbors, parse};
use crate::pvr::pixels;
use hpimount_assets::model::palette::Fitted;
use hpimount_assets::parse::color::nearest;
use hpimount_assets::parse::pixels::encode::{OPAQUE, indexed};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{self, Edit, Imported, NOT_THIS_FILE};

/// The transparent color, and the most similar opaque color.
const TRANSPARENT: u16 = 0x7C1F;
const NEARLY: u16 = 0x7C1E;

/// The bit of a color for blending.
const BLENDS: u16 = 0x8000;

/// Size of the id before the colors of a palette in bytes.
const ID: usize = 4;

/// A file with its visible textures.
struct PsxTextures {
    psx: Psx,
    textures: TextureSet,
}

/// Encodes an edited picture of a texture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.folder.as_deref() != Some("textures") {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let _models = import::reserve_models(edit)?;
    let file = PsxTextures::read(edit.asset, edit.context)?;
    let mut indices = 0..file.textures.len();
    let is_edited = |&index: &usize| format!("{}.png", file.textures.name(index)) == edit.part.name;
    let index = indices.find(is_edited).ok_or(NOT_THIS_FILE)?;
    let number = file.textures.own(index);
    let number = number.ok_or("shows a texture of another file of the level: edit it there")?;
    let (texture, palette) = file
        .textures
        .texture(&file.psx, index)
        .ok_or(NOT_THIS_FILE)?;
    if let TextureData::Pvr { pixel_format, .. } = &texture.data
        && let Some(reason) = pixels::fixed(*pixel_format)
    {
        return Err(reason.to_owned());
    }
    let size = (texture.width.into(), texture.height.into());
    let (edited, _memory) = import::picture(edit, size)?;
    let before = file
        .textures
        .picture(&file.psx, index)
        .ok_or(NOT_THIS_FILE)?;
    if before.rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut asset = edit.asset.to_vec();
    match &texture.data {
        TextureData::Indexed {
            bits,
            row_size,
            rows,
        } => {
            let old = before.indices().unwrap_or_default();
            let palette = palette.ok_or(NOT_THIS_FILE)?;
            let fitted = fit(palette, &old, &edited, edit.context)?;
            file.check_palette(number, palette, &fitted, edit.context)?;
            put_colors(palette, &fitted, &mut asset)?;
            let mut data = rows.to_vec();
            let width = texture.width.into();
            indexed::write(&mut data, *row_size, *bits, width, &fitted.indices);
            import::overwrite(edit.asset, rows, &data, &mut asset)?;
        }
        TextureData::Pvr { pixel_format, data } => {
            let new = pixels::encode(*pixel_format, size, data, &edited).ok_or(NOT_THIS_FILE)?;
            import::overwrite(edit.asset, data, &new, &mut asset)?;
        }
        TextureData::External | TextureData::Unknown => return Err(NOT_THIS_FILE.to_owned()),
    }
    let after = parsed(&asset.clone().into())?;
    let shown = file.textures.picture(&after, index);
    let shown = shown.ok_or("cannot be read again")?.into_rgba();
    let form = match &texture.data {
        TextureData::Indexed { bits, .. } => format!("{bits} bits"),
        TextureData::Pvr { pixel_format, .. } => pixels::form(*pixel_format).to_owned(),
        TextureData::External | TextureData::Unknown => String::new(),
    };
    Ok(Imported::Changed(import::with_pixels(
        asset, &edited, &shown, &form,
    )))
}

fn parsed(bytes: &Bytes) -> Result<Psx, String> {
    parse(bytes).map_err(|incomplete| incomplete.error.to_string())
}

impl PsxTextures {
    fn read(bytes: &Bytes, context: &dyn AssetContext) -> Result<Self, String> {
        let psx = parsed(bytes)?;
        let neighbors = neighbors::needed(&psx, context.name(), context);
        let textures = TextureSet::new(&psx, neighbors);
        Ok(Self { psx, textures })
    }

    /// Checks that the palette of a texture has no new colors, or is certainly not
    /// shared with another texture.
    fn check_palette(
        &self,
        number: usize,
        palette: &Palette,
        fitted: &Fitted,
        context: &dyn AssetContext,
    ) -> Result<(), String> {
        let lacking = fitted.lacking;
        if lacking == 0 {
            return Ok(());
        }
        let lacks = format!("has {lacking} colors that palette {:08x} lacks", palette.id);
        let Some(own) = self.psx.textures[number].palette_index else {
            return Err(format!(
                "{lacks}, which is in another file of the level: use its colors"
            ));
        };
        let sharing = self.sharing(number, own, context).map_err(|unread| {
            format!(
                "{lacks}, which may also be that of {unread}, a file of the level that is damaged \
                 or too large to be read: use its colors"
            )
        })?;
        if sharing.is_empty() {
            return Ok(());
        }
        let sharing = sharing.join(", ");
        Err(format!(
            "{lacks}, which is also that of {sharing}: use its colors"
        ))
    }

    /// Returns the other textures with a palette of the file, and the other files of
    /// the level that use it. Fails with the name of an unreadable file of the level.
    fn sharing(
        &self,
        number: usize,
        own: usize,
        context: &dyn AssetContext,
    ) -> Result<Vec<String>, String> {
        let textures = self.psx.textures.iter().enumerate();
        let others = textures
            .filter(|(other, texture)| *other != number && texture.palette_index == Some(own));
        let mut names: Vec<_> = others
            .map(|(other, _)| format!("texture {other}"))
            .collect();
        let Palette { id, colors, .. } = &self.psx.palettes[own];
        let needs = |texture: &Texture| {
            texture.palette_found() == Some(false)
                && (texture.palette, texture.colors as usize) == (*id, colors.len())
        };
        for (name, psx) in neighbors::read(context.name(), context) {
            let Some(psx) = psx else { return Err(name) };
            if psx.textures.iter().any(needs) {
                names.push(name);
            }
        }
        Ok(names)
    }
}

/// Fits pixels to a palette. `old` has their previous indices.
fn fit(
    palette: &Palette,
    old: &[u8],
    edited: &[[u8; 4]],
    context: &dyn AssetContext,
) -> Result<Fitted, String> {
    let before = colors(palette);
    let old: Vec<u16> = old.iter().copied().map(u16::from).collect();
    let rounded = |pixel| color(stored(pixel, 0));
    let reserve = |bytes| context.reserve(bytes);
    Fitted::new(&before, before.len(), &old, edited, rounded, &reserve)
}

/// Writes the changed colors of a palette into the file.
fn put_colors(palette: &Palette, fitted: &Fitted, asset: &mut [u8]) -> Result<(), String> {
    for (index, new, known) in fitted.changes(&colors(palette)) {
        let word = match known {
            Some(known) => palette.colors[known],
            None => stored(new, palette.colors[index]),
        };
        let start = palette.offset as usize + ID + 2 * index;
        let place = asset.get_mut(start..start + 2);
        let place = place.ok_or("shows a palette that is not in the file")?;
        place.copy_from_slice(&word.to_le_bytes());
    }
    Ok(())
}

/// Returns the displayed colors of a palette.
fn colors(palette: &Palette) -> Vec<[u8; 4]> {
    palette.colors.iter().map(|&stored| color(stored)).collect()
}

/// Returns the nearest color, with the blending bit of `old`.
fn stored(color: [u8; 4], old: u16) -> u16 {
    let color = match color[3] {
        ..OPAQUE => TRANSPARENT,
        _ => match nearest(color) {
            TRANSPARENT => NEARLY,
            color => color,
        },
    };
    color | old & BLENDS
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use super::*;
    use crate::dumps::Beside;
    use fixtures::png_of;
    use fixtures::psx::{File, texture, words};
    use hpimount_assets::model::png;
    use hpimount_assets::view::import::{Changed, edited};
    use hpimount_assets::view::{Alone, ViewFile, rendered};

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLACK: [u8; 4] = [0, 0, 0, 255];

    /// Returns a file with these textures. Its palette 0xAA consists of 16 times black.
    fn library(textures: &[Vec<u8>], palettes: &[u32]) -> Vec<u8> {
        File {
            texture_ids: vec![1, 2],
            palettes: palettes.to_vec(),
            textures: textures.to_vec(),
            ..File::new(4)
        }
        .bytes()
    }

    /// A texture of 3 by 2 pixels with padded rows.
    fn small(index: u32) -> Vec<u8> {
        texture([0, 16, 0xAA, index], [3, 2], &[0x21, 0xF3, 0x54, 0xF6])
    }

    fn change(file: &[u8], name: &str, pixels: [[u8; 4]; 6]) -> Result<Changed, String> {
        change_beside(file, name, pixels, &Alone)
    }

    fn change_beside(
        file: &[u8],
        name: &str,
        pixels: [[u8; 4]; 6],
        context: &dyn AssetContext,
    ) -> Result<Changed, String> {
        let asset = Bytes::copy_from_slice(file);
        let imported = import(&Edit {
            asset: &asset,
            original: &asset,
            context,
            part: &ViewFile::inside("textures", name),
            file: &png_of(3, 2, pixels.to_vec()),
        });
        match imported? {
            Imported::Changed(changed) => Ok(changed),
            Imported::Unchanged => Err("is unchanged".to_owned()),
        }
    }

    fn shown(file: &[u8], name: &str) -> Vec<[u8; 4]> {
        let png = rendered(&FORMAT, file, &format!("textures/{name}")).unwrap();
        png::read(&png, 100).unwrap().rgba()
    }

    #[test]
    fn a_new_color_replaces_one_of_the_palette_that_no_other_texture_has() {
        let file = library(&[small(0)], &[0xAA]);
        let name = "00 00000001.png";
        let unchanged = change(&file, name, [BLACK; 6]);
        assert_eq!(unchanged.unwrap_err(), "is unchanged");
        let magenta = [255, 0, 255, 255];
        let pixels = [BLACK, RED, BLACK, [0; 4], magenta, BLACK];
        let changed = change(&file, name, pixels).unwrap();
        let expected = [BLACK, RED, BLACK, [0; 4], [247, 0, 255, 255], BLACK];
        assert_eq!(shown(&changed.asset, name), expected);
        // The palette changed, but neither indices nor the bytes after the rows.
        let palette = parse(&file.clone().into()).unwrap().palettes[0].offset as usize;
        let differing = (0..file.len()).filter(|&at| file[at] != changed.asset[at]);
        let entries: Vec<_> = differing.map(|at| (at - palette - 4) / 2).collect();
        assert_eq!(entries, [2, 4, 4, 5, 5]);
    }

    #[test]
    fn shared_palettes_get_no_new_colors() {
        let name = "00 00000001.png";
        let pixels = [BLACK, RED, BLACK, BLACK, BLACK, BLACK];
        let refused = |file: &[u8]| change(file, name, pixels).unwrap_err();
        assert_eq!(
            refused(&library(&[small(0), small(1)], &[0xAA])),
            "has 1 colors that palette 000000aa lacks, which is also that of texture 1: use its colors"
        );
        let beside = |other: Vec<u8>, file: &[u8]| {
            let others = [("a_l.psx", other)];
            let context = Beside {
                name: "a.psx",
                others: &others,
            };
            change_beside(file, name, pixels, &context).unwrap_err()
        };
        assert_eq!(
            beside(library(&[small(0)], &[]), &library(&[small(0)], &[0xAA])),
            "has 1 colors that palette 000000aa lacks, which is also that of a_l.psx: use its colors"
        );
        assert_eq!(
            beside(library(&[], &[0xAA]), &library(&[small(0)], &[])),
            "has 1 colors that palette 000000aa lacks, which is in another file of the level: use its colors"
        );
        let large = vec![0; (16 << 20) + 1];
        for unread in [b"damaged".to_vec(), large] {
            assert_eq!(
                beside(unread, &library(&[small(0)], &[0xAA])),
                "has 1 colors that palette 000000aa lacks, which may also be that of a_l.psx, a \
                 file of the level that is damaged or too large to be read: use its colors"
            );
        }
    }

    #[test]
    fn pixels_of_the_dreamcast_are_encoded_in_their_order() {
        let twiddled = [words(&[0x0901, 12]), vec![0; 12]].concat();
        let file = library(&[texture([0, 65536, 0, 0], [3, 2], &twiddled)], &[]);
        let name = "00 00000001.png";
        let changed = change(&file, name, [BLACK, RED, BLACK, BLACK, BLACK, BLACK]).unwrap();
        let at = file.len() - 12;
        assert_eq!(changed.asset[..at], file[..at]);
        assert_eq!(changed.asset[at..], [0, 0, 0, 0xF8, 0, 0, 0, 0, 0, 0, 0, 0]);
        let vq = [words(&[0x0301, 2049]), vec![0; 2049]].concat();
        let file = library(&[texture([0, 65536, 0, 0], [2, 2], &vq)], &[]);
        let refused = edited(&FORMAT, &file, &format!("textures/{name}"), b"").unwrap_err();
        assert!(refused.contains("(VQ)"), "{refused}");
        let refused = edited(&FORMAT, &file, "info.json", b"").unwrap_err();
        assert_eq!(refused, NOT_THIS_FILE);
    }
}
