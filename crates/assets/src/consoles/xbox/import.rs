//! Encodes edited pictures as XPR. Size, format and number of levels are fixed.

use super::xpr::{self, Xpr};
use crate::model::padded;
use crate::view::import::{self, Edit, Imported, NOT_THIS_FILE};

/// Returns the names of the pictures of a file that has `count` of them.
pub(super) fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |number| match count {
        1 => "frame.png".to_owned(),
        _ => format!("{}.png", padded(number, count, 2)),
    })
}

/// Encodes an edited picture.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let Xpr { pictures } = xpr::parse(edit.asset).map_err(|error| error.to_string())?;
    let mut named = names(pictures.len()).zip(&pictures).enumerate();
    let named = named.find(|(_, (name, _))| *name == edit.part.name);
    let (number, (_, stored)) = named.ok_or(NOT_THIS_FILE)?;
    let (edited, _memory) = import::picture(edit, (stored.width, stored.height))?;
    if stored.decode().into_rgba() == edited {
        return Ok(Imported::Unchanged);
    }
    let mut asset = edit.asset.to_vec();
    for (level, data) in stored.levels.iter().zip(stored.encode(&edited)) {
        import::overwrite(edit.asset, &level.data, &data, &mut asset)?;
    }
    let after = xpr::parse(&asset.clone().into()).map_err(|error| error.to_string())?;
    let shown = after.pictures.get(number);
    let shown = shown.ok_or("cannot be read again")?.decode().into_rgba();
    let changed = import::with_pixels(asset, &edited, &shown, stored.format_name());
    Ok(Imported::Changed(changed))
}

#[cfg(test)]
mod tests {
    use super::super::view::XPR_FORMAT;
    use super::super::xpr::tests::xpr;
    use super::*;
    use crate::model::Reservation;
    use crate::model::png;
    use crate::view::import::{Changed, edited};
    use crate::view::{AssetContext, AssetKey, AssetRef, MakeShared, Shared, ViewFile, rendered};
    use bytes::Bytes;
    use fixtures::png_of;
    use std::io;
    use std::sync::Arc;

    fn shown(file: &[u8]) -> Vec<[u8; 4]> {
        let png = rendered(&XPR_FORMAT, file, "frame.png").unwrap();
        png::read(&png, 100).unwrap().rgba()
    }

    fn change(file: &[u8], pixels: &[[u8; 4]]) -> Result<Changed, String> {
        let png = png_of(4, pixels.len() as u32 / 4, pixels.to_vec());
        match edited(&XPR_FORMAT, file, "frame.png", &png)? {
            Imported::Changed(changed) => Ok(changed),
            Imported::Unchanged => Err("is unchanged".to_owned()),
        }
    }

    #[test]
    fn a_pixel_changes_its_own_bytes_alone() {
        for (format, size) in [(0, 1), (2, 2), (3, 2), (4, 2), (5, 2), (6, 4), (7, 4)] {
            let pixels: Vec<u8> = (0..16 * size).map(|at| (at * 29) as u8).collect();
            let file = xpr(format, &pixels);
            let mut pixels = shown(&file);
            assert_eq!(change(&file, &pixels).unwrap_err(), "is unchanged");
            pixels[5] = pixels[6];
            let changed = change(&file, &pixels).unwrap();
            assert_eq!((shown(&changed.asset), changed.quality), (pixels, None));
            let differing = file.iter().zip(&changed.asset);
            let differing = differing.filter(|(old, new)| old != new).count();
            assert!(
                (1..=size).contains(&differing),
                "format {format}: {differing}"
            );
        }
    }

    #[test]
    fn smaller_levels_are_made_anew() {
        // White blocks of a picture and of its two smaller levels.
        let file = xpr(3 << 8 | 0x0C, &[0xFF, 0xFF, 0, 0, 0, 0, 0, 0].repeat(3));
        let changed = change(&file, &[[0, 0, 0, 255]; 16]).unwrap();
        let blocks = changed.asset[0x800..].as_chunks::<8>().0;
        assert!(
            blocks.iter().all(|block| block[..2] == [0, 0]),
            "{blocks:?}"
        );
    }

    /// A mount that has no memory left.
    struct Full;

    impl AssetContext for Full {
        fn name(&self) -> &str {
            ""
        }

        fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
            None
        }

        fn find_extensions(&self, _: &str, _: &[&str]) -> Vec<AssetRef> {
            Vec::new()
        }

        fn find_outside(&self, _: &[&str]) -> Vec<AssetRef> {
            Vec::new()
        }

        fn path_of(&self, _: AssetRef) -> String {
            String::new()
        }

        fn read(&self, _: AssetRef) -> Option<Bytes> {
            None
        }

        fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
            Err(io::Error::other(format!("{bytes} bytes are too many")))
        }

        fn shared(&self, _: &'static str, _: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            None
        }
    }

    #[test]
    fn a_picture_is_read_only_if_there_is_memory_for_its_import() {
        let asset = Bytes::from(xpr(6, &[0; 64]));
        let refused = import(&Edit {
            asset: &asset,
            original: &asset,
            context: &Full,
            part: &ViewFile::from("frame.png"),
            file: &png_of(4, 4, vec![[0; 4]; 16]),
        });
        assert_eq!(refused, Err("192 bytes are too many".to_owned()));
    }

    #[test]
    fn other_sizes_and_files_are_refused() {
        let file = xpr(6, &[0; 64]);
        let refused = change(&file, &[[0; 4]; 8]).unwrap_err();
        assert_eq!(refused, "has 4x2 pixels, must have 4x4: scale it");
        let refused = edited(&XPR_FORMAT, &file, "info.json", b"").unwrap_err();
        assert_eq!(refused, NOT_THIS_FILE);
    }
}
