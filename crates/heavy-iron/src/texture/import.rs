//! Import of edited pictures as RWTX. Format and number of levels are fixed, and so is
//! the size on PlayStation 2, which stores it in registers.

use bytes::Bytes;

use crate::texture;
use crate::view::stem;
use hpimount_assets::model::padded;
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::import::{Edit, Imported, NOT_THIS_FILE};
use hpimount_renderware::texture::encode::{self, Sides};

/// The supported sides of textures in these games. The largest side in the games is
/// 256.
const SIDES: Sides = Sides {
    most: 512,
    usual: 256,
    any: false,
};

/// Encodes an edited picture of a texture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let model = texture::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let count = model.textures.len();
    let mut names = picture_names(count, edit.context);
    let number = names.position(|name| name == edit.part.name);
    let number = number.ok_or(NOT_THIS_FILE)?;
    let texture = model.textures.get(number).ok_or(NOT_THIS_FILE)?;
    let read = |file: Bytes| texture::parse(&file).ok()?.textures.into_iter().nth(number);
    encode::import(edit, texture, SIDES, read)
}

/// Returns the picture names of an asset's textures.
pub(super) fn picture_names(
    count: usize,
    context: &dyn AssetContext,
) -> impl Iterator<Item = String> {
    let stem = stem(context, &["rw3", "txd"], "texture");
    (0..count).map(move |index| match count {
        1 => format!("{stem}.png"),
        count => format!("{stem} {}.png", padded(index, count, 2)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use super::*;
    use fixtures::heavy_iron::{gamecube, xbox};
    use fixtures::png_of;
    use hpimount_assets::view::import::{Changed, edited};

    /// Returns the asset with a single-color picture of this size.
    fn resized(asset: &[u8], width: u32, height: u32) -> Result<Changed, String> {
        let pixels = vec![[255, 0, 0, 255]; (width * height) as usize];
        let png = png_of(width, height, pixels);
        match edited(&FORMAT, asset, "texture.png", &png)? {
            Imported::Changed(changed) => Ok(changed),
            Imported::Unchanged => Err("is unchanged".to_owned()),
        }
    }

    #[test]
    fn sizes_of_textures_change_with_all_lengths_around_them() {
        // 16-bit pixels in tiles, and indices with a palette, each with a smaller
        // level.
        let assets = [
            gamecube(5, 0, [8, 8], &[], &[0; 128 + 32], 2),
            gamecube(9, 2, [8, 8], &[0; 512], &[0; 64 + 32], 2),
            xbox(0x500, 0, [4, 4], &[], &[0; 64 + 16], 2),
            xbox(0x200, 0x0C, [8, 8], &[], &[0; 32 + 8], 2),
        ];
        for asset in assets {
            let changed = resized(&asset, 16, 32).unwrap();
            assert!(changed.warnings.is_empty(), "{:?}", changed.warnings);
            let textures = texture::parse(&changed.asset.into()).unwrap();
            assert!(textures.warnings.is_empty(), "{:?}", textures.warnings);
            let texture = &textures.textures[0];
            assert_eq!((texture.width, texture.height), (16, 32));
            for level in 0..2 {
                let pixels = texture.rgba(level).unwrap();
                assert_eq!(pixels, vec![[255, 0, 0, 255]; 512 >> (2 * level)]);
            }
        }
    }

    #[test]
    fn sizes_that_the_games_cannot_have_are_refused_and_large_ones_are_a_warning() {
        let asset = gamecube(14, 0, [16, 16], &[], &[0; 128 + 32], 2);
        let warnings = resized(&asset, 512, 8).unwrap().warnings;
        let warning = "512x8 pixels: the game's own textures have at most 256 on a side";
        assert_eq!(warnings, [warning]);
        for (width, height, why) in [
            (1024, 8, "sides are 1 to 512"),
            (24, 16, "sides must be powers of two"),
            (1, 1, "too few for 2 levels"),
        ] {
            let refused = resized(&asset, width, height).unwrap_err();
            let expected = format!("has {width}x{height} pixels, {why}: scale it");
            assert_eq!(refused, expected);
        }
    }
}
