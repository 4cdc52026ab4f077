//! FLY and JAW: the path of a camera, and the motion of a mouth to a sound.

use bytes::Bytes;

use super::lists::ALWAYS;
use crate::record::{Rows, layouts, size};
use crate::{Facts, Parsed, read_into, take};
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};

layouts! {
    FRAMES {
        frame: I32, right: Vec3, up: Vec3, at: Vec3, position: Vec3, aperture: Vec2, focal: F32
    }
}
const _: () = assert!(size(FRAMES) == 64);

/// Size of a sound in the table of a JAW, in bytes.
const ENTRY: usize = 12;

/// The path of a camera: FLY, little-endian on every console.
#[derive(Debug, Default)]
pub struct Flythrough {
    /// The camera at each frame.
    pub frames: Rows,
    /// Warnings.
    pub warnings: Warnings,
}

/// Parses a FLY asset.
///
/// # Errors
/// Never fails; invalid data is a warning.
pub fn parse_flythrough(bytes: &Bytes) -> Parsed<Flythrough> {
    read_into(bytes, Flythrough::default(), |fly| {
        fly.frames = Rows::new(FRAMES, ALWAYS, bytes, usize::MAX);
        let left = bytes.len() % size(FRAMES);
        if left > 0 {
            let at = bytes.len() - left;
            fly.warnings
                .push(format!("{left} bytes at {at:#x} belong to no frame"));
        }
        Ok(())
    })
}

/// Mouth motions for sounds: JAW. The table has the byte order of the console, but the
/// length before a curve is little-endian.
#[derive(Debug, Default)]
pub struct Jaw {
    /// The curves.
    pub curves: Vec<JawCurve>,
    /// Warnings.
    pub warnings: Warnings,
}

/// The motion of a mouth to a sound.
#[derive(Debug, Clone)]
pub struct JawCurve {
    /// Offset in the asset of its entry, which begins with the id of the sound.
    pub offset: usize,
    /// The byte order of the entry.
    pub endian: Endian,
    /// Id of the sound.
    pub sound: u32,
    /// Flags, in Rise of the Underminer and later.
    pub flags: Option<u32>,
    /// Opening of the mouth, one byte per value.
    pub values: Bytes,
}

/// Parses a JAW asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) with the curves so far if a
/// count or an offset does not fit.
pub fn parse_jaw(bytes: &Bytes, facts: &Facts) -> Parsed<Jaw> {
    read_into(bytes, Jaw::default(), |jaw| {
        let mut table = Cursor::new(bytes, 0, facts.endian);
        let count = table.u32("sound count")?;
        let count = table.check_count(count.into(), ENTRY, "sound count")?;
        let start = 4 + (count * ENTRY) as u64;
        // Curves may overlap, but their total length must not exceed the data.
        let mut budget = bytes.len();
        for number in 0..count {
            let curve = curve(&mut table, bytes, facts, start, &mut budget);
            let curve = curve.map_err(|error| error.within(format!("curve {number}")))?;
            jaw.curves.push(curve);
        }
        Ok(())
    })
}

fn curve(
    table: &mut Cursor<'_>,
    bytes: &Bytes,
    facts: &Facts,
    start: u64,
    budget: &mut usize,
) -> Result<JawCurve> {
    let entry = table.offset() as usize;
    let sound = table.u32("sound id")?;
    let stored_at = table.offset();
    let offset = table.u32("curve offset")?;
    table.u32("curve length")?;
    let mut cursor = Cursor::new(bytes, 0, ALWAYS);
    cursor.seek(stored_at, "curve offset")?;
    cursor.seek(start + u64::from(offset), "curve offset")?;
    let length = cursor.u32("curve length")?;
    let has_flags = facts.game.is_rotu_or_later();
    let flags = has_flags.then(|| cursor.u32("curve flags")).transpose()?;
    let length = cursor.check_count(length.into(), 1, "curve length")?;
    *budget = budget.checked_sub(length).ok_or_else(|| {
        hpimount_containers::io::Error::damaged(
            stored_at,
            "curve offset",
            "makes the curves overlap",
        )
    })?;
    Ok(JawCurve {
        offset: entry,
        endian: facts.endian,
        sound,
        flags,
        values: take(&mut cursor, bytes, length, "curve")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Value;
    use crate::{Game, Platform};

    #[test]
    fn flythroughs_are_little_endian_on_gamecube_too() {
        let mut bytes = vec![5, 0, 0, 0];
        bytes.extend([0, 0, 0x80, 0x3F].repeat(15));
        bytes.push(9);
        let fly = parse_flythrough(&bytes.into()).unwrap();
        let frame = fly.frames.get(0).unwrap();
        assert_eq!(frame.get("frame"), Some(Value::Signed(5)));
        assert_eq!(frame.get("focal"), Some(Value::Float(1.0)));
        assert_eq!((fly.frames.len(), fly.warnings.len()), (1, 1));
    }

    fn jaw(offset: u32, game: Game) -> Parsed<Jaw> {
        let table = [1, 77, offset, 6].map(u32::to_be_bytes).concat();
        let bytes = [&table[..], &[2, 0, 0, 0, 8, 9, 0, 0, 7, 7]].concat();
        parse_jaw(&bytes.into(), &Facts::new(Platform::GameCube, game))
    }

    #[test]
    fn the_length_before_a_curve_is_little_endian() {
        let found = jaw(0, Game::Bfbb).unwrap();
        let curve = &found.curves[0];
        assert_eq!(
            (curve.sound, curve.flags, &curve.values[..]),
            (77, None, &[8, 9][..])
        );
        let found = jaw(0, Game::Rotu).unwrap();
        let curve = &found.curves[0];
        assert_eq!(
            (curve.flags, &curve.values[..]),
            (Some(0x0908), &[7, 7][..])
        );
    }

    #[test]
    fn an_offset_outside_is_an_error() {
        let error = jaw(u32::MAX, Game::Bfbb).unwrap_err().error.to_string();
        assert!(
            error.starts_with("curve 0: curve offset at 0x8: points to"),
            "{error}"
        );
        assert!(jaw(9, Game::Bfbb).is_err());
    }
}
