//! ATBL: the states of a character, and their animations (FORMATS, HIP assets
//! 8).

use bytes::Bytes;

use crate::heavy_iron::record::{Layout, Rows, layout, size};
use crate::heavy_iron::{Facts, Parsed, after_magic, read_into, slice_of, take};
use hpimount_containers::io::{Endian, Warnings};

const TABLE: u32 = 0x4C42_5441;

const IDS: Layout = layout!(animation: Id);
const FILES: Layout = layout!(
    flags: U32, duration: F32, time_offset: F32, count: U16, count2: U16, raw_offset: U32,
    physics: I32, start_pose: I32, end_pose: I32
);
const STATES: Layout = layout!(
    state: U32, file: U32, effect_count: U32, effect_offset: U32, speed: F32, sub_state: U32,
    sub_count: U32
);

/// Lengths of the records in bytes.
const _: () = assert!(size(FILES) == 32 && size(STATES) == 28);

/// The animations of the states of a character.
#[derive(Debug, Default)]
pub struct AnimationTable {
    /// Number of the function that creates such a table.
    pub construct: u32,
    /// Ids of animations.
    pub animations: Rows,
    /// How animations are combined into one.
    pub files: Rows,
    /// The states.
    pub states: Rows,
    /// For each file, numbers of animations, as stored: the product of its two
    /// counts. Empty if they are not in the asset.
    pub lists: Vec<Bytes>,
    endian: Option<Endian>,
    /// Warnings.
    pub warnings: Warnings,
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
/// Returns [`Incomplete`](crate::parse::Incomplete) if the magic is wrong or a
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
            let part = take(&mut cursor, bytes, count * size(layout), field)?;
            *rows = Rows::new(layout, cursor.endian(), &part, count);
        }
        lists(bytes, table);
        Ok(())
    })
}

/// Takes the list of each file. Lists may overlap, but together may not be
/// longer than the asset.
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
