//! Lists of records, with or without a preceding count.

use bytes::Bytes;

use crate::record::{Layout, Rows, layouts, size};
use crate::words::PIPE_LAYERS;
use crate::{Facts, Game, Parsed, after_magic, floats, read_into, slice_of};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// An asset that is a list: ALST, COLL, LODT, MAPR, PICK, PIPT, SHDW, VILP.
#[derive(Debug, Default)]
pub struct List {
    /// The asset's own id, if it is stored.
    pub id: Option<u32>,
    /// The records.
    pub rows: Rows,
    /// Offset of the record count, if stored.
    pub count_offset: Option<usize>,
    /// Warnings.
    pub warnings: Warnings,
}

/// The header before the records of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// Nothing.
    None,
    /// The number of records.
    Count,
    /// The asset's own id and the number of records.
    Id,
    /// A magic and the number of records.
    Magic(u32),
}

layouts! {
    ANIMATIONS { animation: Id }
    LEVELS {
        model: Id, max_distance: F32, lod1: Id, lod2: Id, lod3: Id, distance1: F32, distance2: F32,
        distance3: F32
    }
    LEVELS_WITH_FLAGS {
        model: Id, max_distance: F32, flags: U32, lod1: Id, lod2: Id, lod3: Id, distance1: F32,
        distance2: F32, distance3: F32
    }
    PIPES { model: Id, sub_objects: U32, pipe_flags: U32 }
    PIPES_IN_LAYERS {
        model: Id, sub_objects: U32, pipe_flags: U32, layer: U8 / PIPE_LAYERS, alpha_discard: U8,
        pipe_pad: U16
    }
    COLLISIONS { model: Id, collision: Id, camera_collision: Id }
    SHADOWS { model: Id, shadow: Id, unknown: U32 }
    PICKUPS {
        pickup: Id, type: U8, pickup_index: U8, flags: U16, quantity: U32, model: Id, animation: Id
    }
    SURFACES { surface: Id, mesh_index: U32 }
    /// Nine words whose meaning is not known.
    PROPERTIES {
        unknown_00: U32, unknown_04: U32, unknown_08: U32, unknown_0C: U32, unknown_10: U32,
        unknown_14: U32, unknown_18: U32, unknown_1C: F32, unknown_20: I32
    }
    LIGHTS {
        type: U32, red: F32, green: F32, blue: F32, alpha: F32, right: Vec3, right_w: F32, up: Vec3,
        up_w: F32, at: Vec3, at_w: F32, position: Vec3, position_w: F32, radius: F32, angle: F32,
        pad: Pad4
    }
    /// The lights of games other than Battle for Bikini Bottom.
    OTHER_LIGHTS {
        type: U32, red: F32, green: F32, blue: F32, alpha: F32, right: Vec3, right_w: F32, up: Vec3,
        up_w: F32, at: Vec3, at_w: F32, position: Vec3, position_w: F32, radius: F32, angle: F32,
        plat_light: F32
    }
}

/// Returns the usual number of records in lists without a count, by type.
fn usual_rows(code: [u8; 4]) -> Option<usize> {
    match &code {
        b"ALST" => Some(10),
        b"VILP" => Some(1),
        _ => None,
    }
}

fn form(code: [u8; 4]) -> Option<(Head, Layout)> {
    Some(match &code {
        b"ALST" => (Head::None, ANIMATIONS),
        b"LODT" => (Head::Count, LEVELS),
        b"PIPT" => (Head::Count, PIPES),
        b"COLL" => (Head::Count, COLLISIONS),
        b"SHDW" => (Head::Count, SHADOWS),
        b"PICK" => (Head::Magic(0x4B43_4950), PICKUPS),
        b"MAPR" => (Head::Id, SURFACES),
        b"VILP" => (Head::None, PROPERTIES),
        _ => return None,
    })
}

/// Returns whether [`parse_list`] supports assets with this code.
pub fn is_list(code: [u8; 4]) -> bool {
    form(code).is_some()
}

/// Parses a list of type `code`.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the header is truncated,
/// the magic is wrong, or the type is not a list. Missing records are a
/// warning.
pub fn parse_list(bytes: &Bytes, facts: &Facts, code: [u8; 4]) -> Parsed<List> {
    read_into(bytes, List::default(), |list| {
        let (head, layout) = form(code).ok_or(Error::UnknownFormat)?;
        let mut cursor = match head {
            Head::Magic(magic) => after_magic(bytes, facts, magic, &mut list.warnings)?,
            _ => Cursor::new(bytes, 0, facts.endian),
        };
        if head == Head::Id {
            list.id = Some(cursor.u32("asset id")?);
        }
        let count = match head {
            Head::None => None,
            _ => {
                list.count_offset = Some(cursor.offset() as usize);
                Some(cursor.u32("count")?)
            }
        };
        let later = match &code {
            b"LODT" => LEVELS_WITH_FLAGS,
            b"PIPT" => PIPES_IN_LAYERS,
            _ => layout,
        };
        let (stored, left) = (count.unwrap_or_default(), cursor.remaining());
        let layout = layout_of([layout, later], facts, stored, left);
        list.rows = rows(&mut cursor, bytes, layout, count, &mut list.warnings)?;
        let (found, usual) = (list.rows.len(), usual_rows(code));
        if let Some(usual) = usual.filter(|&usual| found != usual) {
            list.warnings
                .push(format!("list at 0x0: has {found} records, usually {usual}"));
        }
        Ok(())
    })
}

/// Returns the layout of records, which changed in The Incredibles. If the length fits
/// only one of the two layouts, it decides.
fn layout_of([plain, later]: [Layout; 2], facts: &Facts, count: u32, left: usize) -> Layout {
    let fits = |layout: Layout| u64::from(count) * size(layout) as u64 == left as u64;
    let is_later = match (fits(plain), fits(later)) {
        (true, false) => false,
        (false, true) => true,
        _ => facts.game.is_incredibles_or_later(),
    };
    if is_later { later } else { plain }
}

/// Takes `count` records, or all existing ones.
fn rows(
    cursor: &mut Cursor<'_>,
    bytes: &Bytes,
    layout: Layout,
    count: Option<u32>,
    warnings: &mut Warnings,
) -> Result<Rows> {
    let (at, endian) = (cursor.offset(), cursor.endian());
    let rest = slice_of(bytes, cursor.take(cursor.remaining(), "records")?);
    let most = count.map_or(usize::MAX, |count| count as usize);
    let rows = Rows::new(layout, endian, &rest, most).at(at as usize);
    let found = rows.len();
    if let Some(count) = count.filter(|&count| count as usize > found) {
        warnings.push(format!(
            "count before {at:#x}: is {count}, found {found} records"
        ));
    }
    let left = rest.len() - rows.bytes().len();
    if left > 0 {
        let at = at + rows.bytes().len() as u64;
        warnings.push(format!("{left} bytes at {at:#x} belong to no record"));
    }
    Ok(rows)
}

/// LKIT: a set of lights.
#[derive(Debug, Default)]
pub struct LightKit {
    /// Id of the lit group, 0 for all.
    pub group: u32,
    /// The lights.
    pub lights: Rows,
    /// Offset of their number.
    pub count_offset: usize,
    /// The additional word since Rise of the Underminer.
    pub blended: Option<u32>,
    /// Warnings.
    pub warnings: Warnings,
}

/// Parses an LKIT asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the magic is wrong or
/// the header is truncated.
pub fn parse_light_kit(bytes: &Bytes, facts: &Facts) -> Parsed<LightKit> {
    const MAGIC: u32 = 0x5449_4B4C;
    read_into(bytes, LightKit::default(), |kit| {
        let mut cursor = after_magic(bytes, facts, MAGIC, &mut kit.warnings)?;
        kit.group = cursor.u32("light group")?;
        kit.count_offset = cursor.offset() as usize;
        let count = cursor.u32("light count")?;
        cursor.u32("light list")?;
        let layout = match facts.game {
            Game::Bfbb | Game::Unknown => LIGHTS,
            _ => OTHER_LIGHTS,
        };
        let start = cursor.offset() as usize;
        let end = (count as usize)
            .checked_mul(size(LIGHTS))
            .and_then(|length| start.checked_add(length));
        let is_blended = facts.game.is_rotu_or_later()
            && end.and_then(|end| end.checked_add(4)) == Some(bytes.len());
        let lights = match end.filter(|_| is_blended) {
            Some(end) => &bytes.slice(..end),
            None => bytes,
        };
        let mut rest = Cursor::new(lights, 0, cursor.endian());
        rest.seek(start as u64, "lights")?;
        kit.lights = rows(&mut rest, lights, layout, Some(count), &mut kit.warnings)?;
        if is_blended {
            cursor.seek(lights.len() as u64, "blended")?;
            kit.blended = Some(cursor.u32("blended")?);
        }
        Ok(())
    })
}

/// MRKR: a position. It has no header.
#[derive(Debug)]
pub struct Marker {
    /// The position; `None` if the asset is truncated.
    pub position: Option<[f32; 3]>,
    /// The byte order of its numbers.
    pub endian: Endian,
    /// Warnings.
    pub warnings: Warnings,
}

/// Parses an MRKR asset.
///
/// # Errors
/// Never fails; invalid data is a warning.
pub fn parse_marker(bytes: &Bytes, facts: &Facts) -> Parsed<Marker> {
    let marker = Marker {
        position: None,
        endian: facts.endian,
        warnings: Warnings::default(),
    };
    read_into(bytes, marker, |marker| {
        let mut cursor = Cursor::new(bytes, 0, facts.endian);
        marker.position = floats(&mut cursor, "position").ok();
        let length = bytes.len();
        if length != 12 {
            marker
                .warnings
                .push(format!("marker at 0x0: has {length} bytes, should have 12"));
        }
        if marker
            .position
            .is_some_and(|p| p.iter().any(|v| !v.is_finite()))
        {
            marker.warnings.push("position at 0x0: is not finite");
        }
        Ok(())
    })
}

/// Byte order of flythroughs and of the lengths of jaw curves on every console.
pub(super) const ALWAYS: Endian = Endian::Little;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Platform;
    use crate::record::Value;

    fn facts(game: Game) -> Facts {
        Facts::new(Platform::GameCube, game)
    }

    fn words(words: &[u32]) -> Bytes {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn counts_of_billions_return_the_existing_records() {
        for code in [b"LODT", b"PIPT", b"COLL", b"SHDW"] {
            let bytes = words(&[u32::MAX, 1, 2, 3, 4, 5, 6, 7, 8]);
            let list = parse_list(&bytes, &facts(Game::Bfbb), *code).unwrap();
            assert!((1..=2).contains(&list.rows.len()));
            assert!(!list.warnings.is_empty());
        }
        let error = parse_list(&words(&[1]), &facts(Game::Bfbb), *b"TEXT").unwrap_err();
        assert!(matches!(error.error, Error::UnknownFormat));
    }

    #[test]
    fn levels_of_later_games_have_flags() {
        let row = [7, 0, 1, 2, 3, 0, 0, 0];
        let plain = words(&[&[1][..], &row].concat());
        let flagged = words(&[1, 7, 0, 9, 1, 2, 3, 0, 0, 0]);
        for game in [Game::Bfbb, Game::Incredibles] {
            let flags = |bytes: &Bytes| {
                let list = parse_list(bytes, &facts(game), *b"LODT").unwrap();
                assert!(list.warnings.is_empty(), "{:?}", list.warnings);
                list.rows.get(0).unwrap().get("flags")
            };
            assert_eq!(flags(&plain), None);
            assert_eq!(flags(&flagged), Some(Value::Unsigned(9)));
        }
    }

    #[test]
    fn a_swapped_magic_determines_the_byte_order() {
        let kit = words(&[0x5449_4B4C, 5, 0, 0]);
        let little = Facts::new(Platform::Xbox, Game::Bfbb);
        let read = parse_light_kit(&kit, &little).unwrap();
        assert_eq!((read.group, read.warnings.len()), (5, 1));
        assert_eq!(
            parse_light_kit(&words(&[1]), &little)
                .unwrap_err()
                .error
                .to_string(),
            "magic at 0x0: is 0x01000000, should be 0x54494b4c"
        );
    }

    #[test]
    fn records_have_their_known_lengths() {
        assert_eq!((size(LIGHTS), size(LEVELS), size(PICKUPS)), (96, 32, 20));
    }

    #[test]
    fn markers_are_three_floats() {
        let read = |bytes: Bytes| parse_marker(&bytes, &facts(Game::Bfbb)).unwrap();
        let marker = read(words(&[0x3F80_0000, 0, 0xC000_0000]));
        assert_eq!(
            (marker.position, marker.warnings.len()),
            (Some([1.0, 0.0, -2.0]), 0)
        );
        let cut = read(Bytes::from_static(&[0; 11]));
        assert_eq!((cut.position, cut.warnings.len()), (None, 1));
        assert_eq!(read(words(&[0x7FC0_0000, 0, 0])).warnings.len(), 1);
    }
}
