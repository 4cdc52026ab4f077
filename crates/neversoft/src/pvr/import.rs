//! Import of an edited picture as PVR. Size, format and arrangement are fixed.

use super::{PICTURE, parse, pixels};
use hpimount_assets::view::import::{self, Edit, Imported, NOT_THIS_FILE};

/// Encodes an edited picture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != PICTURE {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let pvr = parse(edit.asset).map_err(|error| error.to_string())?;
    if let Some(reason) = pixels::fixed(pvr.format()) {
        return Err(reason.to_owned());
    }
    let size = (pvr.width.into(), pvr.height.into());
    let (edited, _memory) = import::picture(edit, size)?;
    let shows = |data: &[u8]| pixels::pixels(pvr.format(), size.0, size.1, data);
    if shows(&pvr.data).is_some_and(|shown| shown == edited) {
        return Ok(Imported::Unchanged);
    }
    let data = pixels::encode(pvr.format(), size, &pvr.data, &edited);
    let data = data.ok_or("shows no pixels")?;
    let shown = shows(&data).ok_or("shows no pixels")?;
    let mut asset = edit.asset.to_vec();
    import::overwrite(edit.asset, &pvr.data, &data, &mut asset)?;
    let changed = import::with_pixels(asset, &edited, &shown, pixels::form(pvr.format()));
    Ok(Imported::Changed(changed))
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use super::super::parse::tests::file;
    use super::*;
    use fixtures::png_of;
    use hpimount_assets::view::import::edited;

    #[test]
    fn a_pixel_changes_alone_and_vq_and_other_sizes_are_refused() {
        let bytes = file(true);
        let with = |bytes: &[u8], pixels: &[[u8; 4]]| {
            let png = png_of(pixels.len() as u32, 1, pixels.to_vec());
            edited(&FORMAT, bytes, PICTURE, &png)
        };
        let (blue, red, green) = ([0, 0, 255, 255], [255, 0, 0, 255], [0, 255, 0, 255]);
        assert_eq!(with(&bytes, &[blue, red]), Ok(Imported::Unchanged));
        let Ok(Imported::Changed(changed)) = with(&bytes, &[blue, green]) else {
            panic!("not changed");
        };
        let at = bytes.len() - 2;
        assert_eq!(
            (&changed.asset[..at], &changed.asset[at..]),
            (&bytes[..at], &[0xE0, 7][..])
        );
        let refused = with(&bytes, &[blue]).unwrap_err();
        assert_eq!(refused, "has 1x1 pixels, must have 2x1: scale it");
        let Ok(Imported::Changed(changed)) = with(&bytes, &[blue, [0; 4]]) else {
            panic!("not changed");
        };
        assert_eq!(
            changed.warnings,
            ["1 transparent pixels become opaque: a texture of form RGB565 has no alpha"]
        );
        let head = b"PVRT\x0C\0\0\0\x01\x03\0\0\x02\0\x02\0";
        let vq = [&head[..], &[0; 2049]].concat();
        let refused = with(&vq, &[blue, red]).unwrap_err();
        assert!(refused.contains("(VQ)"), "{refused}");
    }
}
