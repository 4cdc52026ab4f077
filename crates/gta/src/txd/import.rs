//! Import of edited pictures as textures of a dictionary. Format and number of levels
//! are fixed, and so is the size on platforms that store it in registers.

use bytes::Bytes;

use super::parse::{self, Entry};
use hpimount_assets::model::padded;
use hpimount_assets::view::import::{Edit, Imported, NOT_THIS_FILE};
use hpimount_renderware::texture::encode::{self, Sides};

/// The folders of the pictures of textures, and of their smaller levels.
pub(super) const TEXTURES: &str = "textures";
pub(super) const LEVELS: &str = "mipmaps";

/// The contact sheet.
pub(super) const SHEET: &str = "preview.png";

/// The sides of textures in these games.
const SIDES: Sides = Sides {
    most: 2048,
    usual: 2048,
    any: true,
};

/// Encodes an edited picture of a texture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    match (edit.part.folder.as_deref(), &*edit.part.name) {
        (Some(TEXTURES), _) => {}
        (Some(LEVELS), _) => {
            return Err("is made from the first level: edit its picture in textures".to_owned());
        }
        (None, SHEET) => {
            return Err("is a contact sheet: edit the pictures in textures".to_owned());
        }
        _ => return Err(NOT_THIS_FILE.to_owned()),
    }
    let txd = parse::parse(edit.asset).map_err(|error| error.to_string())?;
    let count = txd.textures.len();
    let mut entries = txd.textures.iter().enumerate();
    let is_edited = |&(number, entry): &(usize, &Entry)| {
        format!("{}.png", picture_name(number, count, entry)) == edit.part.name
    };
    let (number, entry) = entries.find(is_edited).ok_or(NOT_THIS_FILE)?;
    let texture = entry.texture.as_ref().map_err(ToString::to_string)?;
    let read = |file: Bytes| {
        parse::parse(&file)
            .ok()?
            .textures
            .into_iter()
            .nth(number)?
            .texture
            .ok()
    };
    encode::import(edit, texture, SIDES, read)
}

/// Returns the file name of a texture's picture, without extension.
pub(super) fn picture_name(number: usize, count: usize, entry: &Entry) -> String {
    let name = format!("{} {}", padded(number, count, 2), entry.name);
    name.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::view::FORMAT;
    use super::*;
    use fixtures::txd::{chunk, gray, txd};
    use hpimount_assets::model::{Picture, Pixels, png};
    use hpimount_assets::view::import::edited;
    use proptest::prelude::*;

    fn picture(width: u32, pixels: Vec<[u8; 4]>) -> Vec<u8> {
        let mut file = Vec::new();
        let picture = Picture {
            width,
            height: pixels.len() as u32 / width,
            pixels: Pixels::Rgba(pixels),
        };
        png::write(&picture, &mut file).unwrap();
        file
    }

    fn grays(pixels: &[u8]) -> Vec<u8> {
        let pixels = pixels.iter().map(|&gray| [gray, gray, gray, 255]);
        picture(2, pixels.collect())
    }

    #[test]
    fn the_edited_texture_of_a_dictionary_changes_alone() {
        let bytes = txd(&[gray("a", [7, 9]), gray("b", [1, 2])]);
        let edited = |file: &str, pixels: &[u8]| edited(&FORMAT, &bytes, file, &grays(pixels));
        assert_eq!(
            edited("textures/01 b.png", &[1, 2]),
            Ok(Imported::Unchanged)
        );
        let Ok(Imported::Changed(changed)) = edited("textures/01 b.png", &[1, 200]) else {
            panic!("not changed");
        };
        assert_eq!(
            changed.asset,
            txd(&[gray("a", [7, 9]), gray("b", [1, 200])])
        );
        let refused = |file: &str| edited(file, &[1, 2]).unwrap_err();
        assert!(refused("preview.png").starts_with("is a contact sheet"));
        assert!(refused("mipmaps/01 b_1.png").starts_with("is made from the first level"));
        assert_eq!(refused("textures/01 c.png"), NOT_THIS_FILE);
        assert_eq!(refused("textures.tsv"), NOT_THIS_FILE);
    }

    proptest! {
        #[test]
        fn the_edited_pixels_of_a_texture_are_all_that_changes(
            mut pixels: [[u8; 2]; 3],
            (texture, new) in (0..3_usize, any::<[u8; 2]>()),
        ) {
            let all = |pixels: [[u8; 2]; 3]| {
                let [a, b, c] = pixels;
                txd(&[gray("a", a), gray("b", b), gray("c", c)])
            };
            let asset = all(pixels);
            let file = format!("textures/{texture:02} {}.png", ["a", "b", "c"][texture]);
            let imported = edited(&FORMAT, &asset, &file, &grays(&new)).unwrap();
            let unchanged = pixels[texture] == new;
            pixels[texture] = new;
            match imported {
                Imported::Unchanged => prop_assert!(unchanged),
                Imported::Changed(changed) => prop_assert_eq!(changed.asset, all(pixels)),
            }
        }
    }

    #[test]
    fn sizes_of_textures_change_with_all_lengths_around_them() {
        let bytes = txd(&[gray("a", [7, 9]), gray("b", [1, 2])]);
        let with = |width: u32, grays: &[u8]| {
            let pixels = grays.iter().map(|&gray| [gray, gray, gray, 255]);
            let file = picture(width, pixels.collect());
            edited(&FORMAT, &bytes, "textures/00 a.png", &file)
        };
        let Ok(Imported::Changed(changed)) = with(2, &[1, 2, 3, 4]) else {
            panic!("not changed");
        };
        assert!(changed.warnings.is_empty());
        let txd = parse::parse(&changed.asset.into()).unwrap();
        assert!(txd.warnings.is_empty(), "{:?}", txd.warnings.texts());
        let shown = |number: usize| {
            let entry: &Entry = &txd.textures[number];
            assert!(entry.warnings.is_empty(), "{:?}", entry.warnings.texts());
            let pixels = entry.texture.as_ref().unwrap().rgba(0).unwrap();
            pixels.iter().map(|pixel| pixel[0]).collect::<Vec<_>>()
        };
        assert_eq!((shown(0), shown(1)), (vec![1, 2, 3, 4], vec![1, 2]));
        let Ok(Imported::Changed(changed)) = with(3, &[1, 2, 3]) else {
            panic!("not changed");
        };
        assert_eq!(
            changed.warnings,
            ["3x1 pixels: sides are usually powers of two"]
        );
        assert_eq!(
            with(4096, &[0; 4096]).unwrap_err(),
            "has 4096x1 pixels, sides are 1 to 2048: scale it"
        );
    }

    #[test]
    fn a_cube_map_keeps_its_size() {
        // A face of 2 by 1 pixels, and another one.
        let mut fields = vec![9, 0, 0, 0, 2, 0x11, 0, 0];
        fields.extend([0; 64]);
        fields.extend([0x400_u32, 50].map(u32::to_le_bytes).concat());
        fields.extend([2, 0, 1, 0, 8, 1, 4, 2]);
        fields.extend([[4, 0, 0, 0, 7, 9, 0, 0]; 2].concat());
        let native = chunk(0x15, &[chunk(1, &fields), chunk(3, b"")].concat());
        let bytes = txd(&[native]);
        let with = |pixels: &[u8]| edited(&FORMAT, &bytes, "textures/00.png", &grays(pixels));
        assert_eq!(
            with(&[1, 2, 3, 4]).unwrap_err(),
            "has 2x2 pixels, must have 2x1: its texture has more pixels after these, as cube maps \
             have"
        );
        let Ok(Imported::Changed(changed)) = with(&[1, 2]) else {
            panic!("not changed");
        };
        let differing = bytes.iter().zip(&changed.asset);
        assert_eq!(differing.filter(|(old, new)| old != new).count(), 2);
    }

    #[test]
    fn a_texture_that_can_have_alpha_gets_its_flag_when_it_needs_it() {
        let native = |flag: u8, pixel: [u8; 4]| {
            let mut fields = vec![9, 0, 0, 0, 2, 0x11, 0, 0];
            fields.extend([0; 64]);
            fields.extend([0x500_u32, 21].map(u32::to_le_bytes).concat());
            fields.extend([1, 0, 1, 0, 32, 1, 4, flag, 4, 0, 0, 0]);
            fields.extend(pixel);
            chunk(0x15, &[chunk(1, &fields), chunk(3, b"")].concat())
        };
        let bytes = txd(&[native(0, [3, 2, 1, 0])]);
        let with = |pixel: [u8; 4]| {
            let file = picture(1, vec![pixel]);
            match edited(&FORMAT, &bytes, "textures/00.png", &file).unwrap() {
                Imported::Changed(changed) => changed.asset,
                Imported::Unchanged => bytes.clone(),
            }
        };
        assert_eq!(with([1, 2, 3, 255]), bytes);
        assert_eq!(with([1, 2, 3, 70]), txd(&[native(1, [3, 2, 1, 70])]));
    }

    #[test]
    fn a_texture_of_the_xbox_gets_its_flag_of_alpha_when_it_needs_it() {
        let native = |flag: u8, pixel: [u8; 4]| {
            let mut fields = vec![5, 0, 0, 0, 2, 0x11, 0, 0];
            fields.extend([0; 64]);
            fields.extend(0x500_u32.to_le_bytes());
            fields.extend([flag, 0, 0, 0, 1, 0, 1, 0, 32, 1, 4, 0, 4, 0, 0, 0]);
            fields.extend(pixel);
            chunk(0x15, &[chunk(1, &fields), chunk(3, b"")].concat())
        };
        let bytes = txd(&[native(0, [3, 2, 1, 0])]);
        let file = picture(1, vec![[1, 2, 3, 70]]);
        let edited = edited(&FORMAT, &bytes, "textures/00.png", &file);
        let Ok(Imported::Changed(changed)) = edited else {
            panic!("{edited:?}");
        };
        assert_eq!(changed.asset, txd(&[native(1, [3, 2, 1, 70])]));
    }
}
