//! Encodes edited pictures as textures of a model. Size and format are fixed.

use bytes::Bytes;

use super::export::{ExportPlan, gx_format, picture, texture_name};
use super::{Hgo, Texture, TextureFormat, parse};
use hpimount_assets::model::Picture;
use hpimount_assets::model::palette::Fitted;
use hpimount_assets::parse::pixels::Level;
use hpimount_assets::parse::pixels::encode::{gx, indexed};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{self, Edit, Imported, NOT_THIS_FILE};

/// Encodes an edited picture of a texture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.folder.as_deref() != Some("textures") {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let _models = import::reserve_models(edit)?;
    let hgo = read(edit.asset)?;
    let mut numbers = ExportPlan::new(&hgo).textures.into_iter();
    let is_edited =
        |number: &usize| format!("{}.png", texture_name(&hgo, *number)) == edit.part.name;
    let number = numbers.find(is_edited).ok_or(NOT_THIS_FILE)?;
    let texture = &hgo.textures[number];
    let before = picture(texture).ok_or(NOT_THIS_FILE)?;
    let (edited, _memory) = import::picture(edit, (before.width, before.height))?;
    if before.rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut asset = edit.asset.to_vec();
    let data = match gx_format(texture.format) {
        Some(format) => {
            let level = Level {
                width: before.width,
                height: before.height,
                data: texture.data.clone(),
                pitch: 0,
            };
            gx::encode(&level, format, &edited, &[])
        }
        None => {
            let Indexed { data, palette } = with_indices(texture, &before, &edited, edit.context)?;
            import::overwrite(edit.asset, &texture.palette, &palette, &mut asset)?;
            data
        }
    };
    import::overwrite(edit.asset, &texture.data, &data, &mut asset)?;
    let after = read(&asset.clone().into())?;
    let shown = after.textures.get(number).and_then(picture);
    let shown = shown.ok_or("cannot be read again")?.into_rgba();
    let changed = import::with_pixels(asset, &edited, &shown, texture.format.name());
    Ok(Imported::Changed(changed))
}

fn read(bytes: &Bytes) -> Result<Hgo, String> {
    parse(bytes).map_err(|incomplete| incomplete.error.to_string())
}

/// The new palette and indices of a texture.
struct Indexed {
    data: Vec<u8>,
    palette: Vec<u8>,
}

/// Encodes pixels with the texture's own palette.
fn with_indices(
    texture: &Texture,
    before: &Picture,
    edited: &[[u8; 4]],
    context: &dyn AssetContext,
) -> Result<Indexed, String> {
    let colors = texture.palette.as_chunks().0;
    let old = before.indices().unwrap_or_default();
    let old: Vec<u16> = old.into_iter().map(u16::from).collect();
    let reserve = |bytes| context.reserve(bytes);
    let fitted = Fitted::new(colors, colors.len(), &old, edited, |pixel| pixel, &reserve)?;
    let bits = match texture.format {
        TextureFormat::Pal4 => 4,
        _ => 8,
    };
    let mut data = texture.data.to_vec();
    let row = data.len();
    // All indices follow each other.
    indexed::write(&mut data, row, bits, edited.len(), &fitted.indices);
    Ok(Indexed {
        data,
        palette: fitted.colors.concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use super::*;
    use fixtures::hgo::Build;
    use fixtures::png_of;
    use hpimount_assets::model::{Pixels, png};
    use hpimount_assets::view::import::{Changed, edited};
    use hpimount_assets::view::rendered;
    use hpimount_containers::io::Endian;

    /// Returns a model with two textures; the second one is given.
    fn model(endian: Endian, numbers: [i32; 4], data: &[u8]) -> Vec<u8> {
        let build = Build::new(endian);
        let texture = |numbers: [i32; 4], data: &[u8]| {
            let body = [&build.i32s(&numbers), data].concat();
            build.block(b"TXM0", &body)
        };
        let count = build.block(b"TSH0", &build.i32s(&[2]));
        let first = texture([0x81, 4, 4, 32], &[7; 32]);
        let body = [count, first, texture(numbers, data)].concat();
        build.root(&[build.block(b"TST0", &body)])
    }

    fn shown(file: &[u8], name: &str) -> Picture {
        let png = rendered(&FORMAT, file, name).unwrap();
        png::read(&png, 1000).unwrap()
    }

    fn change(file: &[u8], name: &str, picture: &Picture) -> Result<Changed, String> {
        let png = png_of(picture.width, picture.height, picture.rgba());
        match edited(&FORMAT, file, name, &png)? {
            Imported::Changed(changed) => Ok(changed),
            Imported::Unchanged => Err("is unchanged".to_owned()),
        }
    }

    /// Asserts that an equal picture changes nothing, and that recoloring a pixel with
    /// an existing color changes at most `most` bytes.
    fn check(file: &[u8], name: &str, most: usize) {
        let before = shown(file, name);
        assert_eq!(change(file, name, &before).unwrap_err(), "is unchanged");
        let mut pixels = before.rgba();
        pixels[0] = *pixels.iter().find(|&&pixel| pixel != pixels[0]).unwrap();
        let after = Picture {
            pixels: Pixels::Rgba(pixels.clone()),
            ..before
        };
        let changed = change(file, name, &after).unwrap();
        assert_eq!(shown(&changed.asset, name).rgba(), pixels, "{name}");
        let differing = file.iter().zip(&changed.asset);
        let differing = differing.filter(|(old, new)| old != new).count();
        assert!((1..=most).contains(&differing), "{name}: {differing}");
    }

    #[test]
    fn a_pixel_of_a_texture_changes_its_own_bytes_alone() {
        for endian in [Endian::Big, Endian::Little] {
            let noise = fixtures::noise(3, 1100);
            let file = |code, size: [i32; 2], length: usize, data: &[u8]| {
                model(endian, [code, size[0], size[1], length as i32], data)
            };
            check(
                &file(0x81, [6, 5], 128, &noise[..128]),
                "textures/01 RGB5A3.png",
                2,
            );
            check(
                &file(0x82, [3, 4], 64, &noise[..64]),
                "textures/01 RGBA8.png",
                4,
            );
            check(
                &file(5, [5, 3], 0, &noise[..15 + 1024]),
                "textures/01 PAL8.png",
                1,
            );
            check(
                &file(4, [6, 3], 0, &noise[..9 + 64]),
                "textures/01 PAL4.png",
                1,
            );
        }
    }

    #[test]
    fn other_blocks_of_a_texture_keep_their_bytes() {
        let noise = fixtures::noise(5, 128);
        let file = model(Endian::Big, [0x80, 12, 12, 128], &noise);
        let name = "textures/01 CMPR.png";
        let before = shown(&file, name);
        let mut pixels = before.rgba();
        pixels[0] = [1, 2, 3, 255];
        let after = Picture {
            pixels: Pixels::Rgba(pixels),
            ..before
        };
        let changed = change(&file, name, &after).unwrap().asset;
        let differing = (0..file.len()).filter(|&at| file[at] != changed[at]);
        let differing: Vec<_> = differing.collect();
        assert!(
            differing.last().unwrap() - differing[0] < 8,
            "{differing:?}"
        );
    }

    #[test]
    fn a_color_that_the_palette_lacks_replaces_one_that_is_not_needed() {
        let data = [&[0x10][..], &[9; 4], &[8; 4], &[0; 56]].concat();
        let file = model(Endian::Little, [4, 2, 1, 0], &data);
        let name = "textures/01 PAL4.png";
        let pixels = vec![[9; 4], [1, 2, 3, 4]];
        let after = Picture {
            width: 2,
            height: 1,
            pixels: Pixels::Rgba(pixels.clone()),
        };
        let changed = change(&file, name, &after).unwrap();
        assert_eq!(shown(&changed.asset, name).rgba(), pixels);
        let at = read(&file.into()).unwrap().textures[1].offset as usize;
        assert_eq!(changed.asset[at..at + 9], [0x10, 9, 9, 9, 9, 1, 2, 3, 4]);
    }

    #[test]
    fn other_sizes_and_files_are_refused() {
        let file = model(Endian::Big, [4, 2, 1, 0], &[0; 65]);
        let name = "textures/01 PAL4.png";
        let refused = edited(&FORMAT, &file, name, &png_of(1, 1, vec![[0; 4]]));
        assert_eq!(
            refused.unwrap_err(),
            "has 1x1 pixels, must have 2x1: scale it"
        );
        let refused = edited(&FORMAT, &file, "materials.tsv", b"").unwrap_err();
        assert_eq!(refused, NOT_THIS_FILE);
    }
}
