//! ATBL: the states of a character, and their animations (FORMATS, HIP assets
//! 8).

use bytes::Bytes;

use crate::record::{Record, Rows, layouts, size};
use crate::{Facts, Parsed, after_magic, read_into, slice_of, take};
use hpimount_containers::io::{Endian, Warnings};

const TABLE: u32 = 0x4C42_5441;

layouts! {
    IDS { animation: Id }
    FILES {
        flags: U32, duration: F32, time_offset: F32, count: U16, count2: U16, raw_offset: U32,
        physics: I32, start_pose: I32, end_pose: I32
    }
    STATES {
        state: U32, file: U32, effect_count: U32, effect_offset: U32, speed: F32, sub_state: U32,
        sub_count: U32
    }

    EFFECT { state: U32, start: F32, end: F32, flags: U32, kind: U32, data_size: U32 }

    /// An effect of the kind [`SOUND`].
    pub(crate) SOUND_EFFECT {
        state: U32, start: F32, end: F32, flags: U32, kind: U32, data_size: U32, sound: Id,
        volume: F32, pitch: F32, priority: U32, sound_flags: U32, radius: F32
    }
}

/// The kind of sound effects.
const SOUND: u32 = 1;

/// Lengths of the records in bytes.
const _: () = assert!(size(FILES) == 32 && size(STATES) == 28);
const _: () = assert!(size(EFFECT) == 24 && size(SOUND_EFFECT) == 48);

/// The animations of the states of a character.
#[derive(Debug, Default)]
pub struct AnimationTable {
    /// Number of the function that creates the table.
    pub construct: u32,
    /// Ids of animations.
    pub animations: Rows,
    /// Combinations of animations.
    pub files: Rows,
    /// The states.
    pub states: Rows,
    /// The animation numbers of each file, as stored: the product of its two counts.
    /// Empty if they are outside of the asset.
    pub lists: Vec<Bytes>,
    /// The effects of the states, in order.
    pub effects: Vec<Effect>,
    endian: Option<Endian>,
    /// Warnings.
    pub warnings: Warnings,
}

/// An effect during a state.
#[derive(Debug)]
pub struct Effect {
    /// State, by its place in the table.
    pub state: usize,
    /// Fields; a sound has its own.
    pub record: Record,
    /// The bytes after the known fields.
    pub data: Bytes,
}

impl AnimationTable {
    /// Returns the numbers of animations of a file.
    pub fn list(&self, file: usize) -> impl Iterator<Item = u32> {
        let words = self
            .lists
            .get(file)
            .map_or(&[][..], |list| list.as_chunks::<4>().0);
        let is_big = self.endian == Some(Endian::Big);
        words.iter().map(move |word| match is_big {
            true => u32::from_be_bytes(*word),
            false => u32::from_le_bytes(*word),
        })
    }
}

/// Parses an ATBL asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the magic is wrong or a
/// count does not fit.
pub fn parse_animation_table(bytes: &Bytes, facts: &Facts) -> Parsed<AnimationTable> {
    read_into(bytes, AnimationTable::default(), |table| {
        let mut cursor = after_magic(bytes, facts, TABLE, &mut table.warnings)?;
        table.endian = Some(cursor.endian());
        let counts = ["animation count", "file count", "state count"];
        let mut numbers = [0; 3];
        for (number, field) in numbers.iter_mut().zip(counts) {
            *number = cursor.u32(field)?;
        }
        table.construct = cursor.u32("construct")?;
        let parts = [
            (&mut table.animations, IDS),
            (&mut table.files, FILES),
            (&mut table.states, STATES),
        ];
        for ((rows, layout), (count, field)) in
            parts.into_iter().zip(numbers.into_iter().zip(counts))
        {
            let count = cursor.check_count(count.into(), size(layout), field)?;
            let at = cursor.offset() as usize;
            let part = take(&mut cursor, bytes, count * size(layout), field)?;
            *rows = Rows::new(layout, cursor.endian(), &part, count).at(at);
        }
        lists(bytes, table);
        effects(bytes, table, cursor.endian());
        Ok(())
    })
}

/// Takes the list of each file. Lists may overlap, but their total length must not
/// exceed the asset.
fn lists(bytes: &Bytes, table: &mut AnimationTable) {
    let mut budget = bytes.len();
    for number in 0..table.files.len() {
        let found = table.files.get(number).and_then(|file| {
            let of = |name| file.number(name).map(|value| value as usize);
            let length = of("count")?.checked_mul(of("count2")?)?.checked_mul(4)?;
            budget = budget.checked_sub(length)?;
            let start = of("raw_offset")?;
            let list = bytes.get(start..start.checked_add(length)?)?;
            Some(slice_of(bytes, list))
        });
        if found.is_none() {
            table
                .warnings
                .push(format!("file {number}: its list is not in the asset"));
        }
        table.lists.push(found.unwrap_or_default());
        let most = table.animations.len();
        let outside = table
            .list(number)
            .filter(|&index| index as usize >= most)
            .count();
        if outside > 0 {
            let text = format!("file {number}: {outside} animations are not among the {most}");
            table.warnings.push(text);
        }
    }
}

/// Takes the contiguous effects of each state. Effects of several states may overlap,
/// but their total length must not exceed the asset.
fn effects(bytes: &Bytes, table: &mut AnimationTable, endian: Endian) {
    let mut budget = bytes.len();
    for (state, record) in table.states.iter().enumerate() {
        let of = |name| record.number(name).unwrap_or_default();
        let mut at = of("effect_offset") as usize;
        for number in 0..of("effect_count") {
            let found = effect(bytes, at, endian);
            let found = found.and_then(|found| Some((budget.checked_sub(found.len())?, found)));
            let Some((left, found)) = found else {
                let text = format!("state {state}: effect {number} is not in the asset");
                table.warnings.push(text);
                break;
            };
            (budget, at) = (left, at + found.len());
            let start = at - found.len();
            let record = Record::new(EFFECT, endian, &found).at(start);
            let is_sound =
                record.number("kind") == Some(SOUND) && found.len() >= size(SOUND_EFFECT);
            let record = match is_sound {
                true => Record::new(SOUND_EFFECT, endian, &found).at(start),
                false => record,
            };
            let data = found.slice(record.used()..);
            table.effects.push(Effect {
                state,
                record,
                data,
            });
        }
    }
}

/// Returns the bytes of the effect at an offset.
fn effect(bytes: &Bytes, at: usize, endian: Endian) -> Option<Bytes> {
    let rest = slice_of(bytes, bytes.get(at..)?);
    let data = Record::new(EFFECT, endian, &rest).number("data_size")?;
    let length = size(EFFECT).checked_add(data as usize)?;
    Some(slice_of(bytes, rest.get(..length)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Value;
    use crate::{Game, Platform};

    #[test]
    fn effects_follow_each_other_and_may_be_sounds() {
        let one = 1.0_f32.to_bits();
        let head = [TABLE, 0, 0, 2, 0];
        let states = [7, 0, 2, 76, one, 0, 0, 8, 0, 3, 124, one, 0, 0];
        let sound = [7, 0, one, 3, SOUND, 24, 0xABCD, one, 0, 5, 0, one];
        let other = [7, 0, 0, 0, 2, 4, 9];
        let words = [&head[..], &states, &sound, &other].concat();
        let bytes: Bytes = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let facts = Facts::new(Platform::GameCube, Game::Bfbb);
        let table = parse_animation_table(&bytes, &facts).unwrap();
        let [first, second, third] = &table.effects[..] else {
            panic!("{:?}", table.effects)
        };
        assert_eq!((first.state, second.state, third.state), (0, 0, 1));
        assert_eq!(first.record.ids(), [("sound", 0xABCD)]);
        assert_eq!(first.record.get("priority"), Some(Value::Unsigned(5)));
        assert!(first.data.is_empty());
        assert_eq!(
            (second.record.ids().len(), &second.data[..]),
            (0, &[0, 0, 0, 9][..])
        );
        let texts = table.warnings.texts();
        assert_eq!(texts, ["state 1: effect 1 is not in the asset"]);
    }
}
