//! An edited picture as banner.

use super::parse::{self, HEADER, HEIGHT, WIDTH};
use super::view::PICTURE;
use crate::view::import::{self, Edit, Imported, NOT_THIS_FILE};

/// Encodes an edited picture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != PICTURE {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let banner = parse::parse(edit.asset).map_err(|error| error.to_string())?;
    let (edited, _memory) = import::picture(edit, (WIDTH, HEIGHT))?;
    if banner.picture().into_rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut asset = edit.asset.to_vec();
    let pixels = banner.encode(&edited);
    asset[HEADER..HEADER + pixels.len()].copy_from_slice(&pixels);
    let after = parse::parse(&asset.clone().into()).map_err(|error| error.to_string())?;
    let shown = after.picture().into_rgba();
    let changed = import::with_pixels(asset, &edited, &shown, "RGB5A3");
    Ok(Imported::Changed(changed))
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::banner;
    use super::super::view::FORMAT;
    use super::*;
    use crate::model::png;
    use crate::view::import::edited;
    use crate::view::rendered;
    use fixtures::png_of;

    fn shown(file: &[u8]) -> Vec<[u8; 4]> {
        let png = rendered(&FORMAT, file, PICTURE).unwrap();
        png::read(&png, u64::from(WIDTH * HEIGHT))
            .unwrap()
            .into_rgba()
    }

    #[test]
    fn a_pixel_of_a_banner_changes_its_own_bytes_alone() {
        let file = banner(b"BNR1", 1);
        let mut pixels = shown(&file);
        let change = |pixels: &[[u8; 4]]| {
            let png = png_of(WIDTH, HEIGHT, pixels.to_vec());
            edited(&FORMAT, &file, PICTURE, &png)
        };
        assert_eq!(change(&pixels), Ok(Imported::Unchanged));
        pixels[100] = [0, 255, 0, 255];
        let Ok(Imported::Changed(changed)) = change(&pixels) else {
            panic!("is not changed");
        };
        assert_eq!(shown(&changed.asset), pixels);
        let differing = file.iter().zip(&changed.asset);
        assert_eq!(differing.filter(|(old, new)| old != new).count(), 2);
        let small = png_of(WIDTH, 1, vec![[0; 4]; WIDTH as usize]);
        let refused = edited(&FORMAT, &file, PICTURE, &small).unwrap_err();
        assert_eq!(refused, "has 96x1 pixels, must have 96x32: scale it");
    }
}
