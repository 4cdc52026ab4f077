//! Import of edited pictures as BMP. Size, depth and palette are fixed.

use crate::bmp::PICTURE;
use hpimount_assets::model::palette;
use hpimount_assets::parse::bmp::{self, Pixels};
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE};

/// Encodes an edited `picture.png`.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != PICTURE {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let bmp = bmp::parse(edit.asset).map_err(|incomplete| incomplete.error.to_string())?;
    let (edited, _memory) = import::picture(edit, (bmp.width, bmp.height))?;
    if bmp.picture().into_rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut warnings: Vec<String> = import::opacity_warning(&edited).into_iter().collect();
    let pixels = match bmp.decode() {
        Pixels::Rgb(_) => Pixels::Rgb(edited.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect()),
        Pixels::Indexed(old) => {
            let colors = &bmp.opaque()[..bmp.colors()];
            let (indices, warning) = palette::indices(colors, &edited, old);
            warnings.extend(warning);
            Pixels::Indexed(indices)
        }
    };
    let asset = bmp.with_pixels(edit.asset, &pixels);
    let overlap = "shows a file whose parts overlap";
    let asset = asset.ok_or(overlap)?;
    let is_kept = bmp::parse(&asset.clone().into()).is_ok_and(|new| new.palette == bmp.palette);
    if !is_kept {
        return Err(overlap.to_owned());
    }
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmp::FORMAT;
    use fixtures::png_of;
    use fixtures::ta::bmp::Bmp as Built;
    use hpimount_assets::model::png;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_edited_picture_is_shown_and_the_headers_are_kept(
            bits in prop::sample::select(vec![1_u16, 4, 8, 24, 32]),
            (width, height) in (1_u32..20, 1_u32..6),
            is_top_down: bool,
        ) {
            let stride = (width as usize * usize::from(bits)).div_ceil(32) * 4;
            let count = stride * height as usize;
            let old = Built {
                width,
                height: if is_top_down { -(height as i32) } else { height as i32 },
                bits,
                colors: (0..1_usize << bits.min(8)).map(|at| [at as u8, 7, 255 - at as u8]).collect(),
                rows: (0..count).map(|at| (at * 37 % 251) as u8).collect(),
            };
            let old = old.file();
            let before = rendered(&FORMAT, &old, PICTURE).unwrap();
            prop_assert_eq!(edited(&FORMAT, &old, PICTURE, &before), Ok(Imported::Unchanged));
            let mut pixels = png::read(&before, 1 << 20).unwrap().rgba();
            pixels.reverse();
            let file = png_of(width, height, pixels.clone());
            if let Imported::Changed(changed) = edited(&FORMAT, &old, PICTURE, &file).unwrap() {
                let after = rendered(&FORMAT, &changed.asset, PICTURE).unwrap();
                prop_assert_eq!(png::read(&after, 1 << 20).unwrap().rgba(), pixels);
                prop_assert_eq!(changed.asset.len(), old.len());
                prop_assert_eq!(&changed.asset[..54], &old[..54]);
                prop_assert!(changed.warnings.is_empty());
            }
        }
    }
}
