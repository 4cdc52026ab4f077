//! ANIM and ATBL: animations, and the states of a character that use them.

use bytes::Bytes;

use crate::heavy_iron::record::{Layout, Rows, layout, size};
use crate::heavy_iron::{Facts, Parsed, after_magic, floats, read_into, slice_of, take};
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};

const ANIMATION: u32 = 0x3142_4B53;
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

/// Length of a key in bytes.
const KEY: usize = 16;

/// An animation: keys of the bones of a skeleton.
#[derive(Debug)]
pub struct Animation {
    /// Flags; 0 in the games.
    pub flags: u32,
    /// Number of bones.
    pub bones: u16,
    /// Unit of translations along each axis.
    pub scale: [f32; 3],
    /// Times in seconds.
    pub times: Vec<f32>,
    /// For each time except the last, and each bone, the number of the bone's
    /// last key at or before that time.
    pub first_keys: Vec<u16>,
    keys: Bytes,
    endian: Endian,
    /// Warnings.
    pub warnings: Warnings,
}

/// A key: the pose of a bone at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Number of the time.
    pub time: u16,
    /// Rotation as a quaternion x, y, z, w.
    pub rotation: [f32; 4],
    /// Translation.
    pub translation: [f32; 3],
}

impl Animation {
    /// Returns the number of keys.
    pub fn key_count(&self) -> usize {
        self.keys.len() / KEY
    }

    /// Returns a key by its number.
    pub fn key(&self, index: usize) -> Option<Key> {
        let stored = self.keys.as_chunks::<KEY>().0.get(index)?;
        let mut cursor = Cursor::new(stored, 0, self.endian);
        read_key(&mut cursor, self.scale).ok()
    }

    /// Returns all keys.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        (0..self.key_count()).filter_map(|index| self.key(index))
    }

    /// Returns the length in seconds: the last time.
    pub fn duration(&self) -> f32 {
        self.times.last().copied().unwrap_or_default()
    }
}

fn read_key(cursor: &mut Cursor<'_>, scale: [f32; 3]) -> Result<Key> {
    let time = cursor.u16("key time")?;
    let mut rotation = [0.0; 4];
    for part in &mut rotation {
        *part = f32::from(cursor.i16("key rotation")?) / 32_767.0;
    }
    let mut translation = scale;
    for part in &mut translation {
        *part *= f32::from(cursor.i16("key translation")?);
    }
    Ok(Key {
        time,
        rotation,
        translation,
    })
}

/// Parses an ANIM asset.
///
/// # Errors
/// Returns [`Incomplete`](crate::parse::Incomplete) if the magic is wrong, as
/// in some assets of the games, or a count does not fit.
pub fn parse_animation(bytes: &Bytes, facts: &Facts) -> Parsed<Animation> {
    let model = Animation {
        flags: 0,
        bones: 0,
        scale: [0.0; 3],
        times: Vec::new(),
        first_keys: Vec::new(),
        keys: Bytes::new(),
        endian: facts.endian,
        warnings: Warnings::default(),
    };
    read_into(bytes, model, |animation| read(bytes, facts, animation))
}

fn read(bytes: &Bytes, facts: &Facts, animation: &mut Animation) -> Result<()> {
    let mut cursor = after_magic(bytes, facts, ANIMATION, &mut animation.warnings)?;
    animation.endian = cursor.endian();
    animation.flags = cursor.u32("animation flags")?;
    animation.bones = cursor.u16("bone count")?;
    let times = usize::from(cursor.u16("time count")?);
    let keys = cursor.u32("key count")?;
    animation.scale = floats(&mut cursor, "scale")?;
    let length = cursor.check_count(keys.into(), KEY, "key count")? * KEY;
    animation.keys = take(&mut cursor, bytes, length, "keys")?;
    cursor.check_count(times as u64, 4, "time count")?;
    for _ in 0..times {
        animation.times.push(cursor.f32("time")?);
    }
    let firsts = usize::from(animation.bones) * times.saturating_sub(1);
    cursor.check_count(firsts as u64, 2, "first keys")?;
    for _ in 0..firsts {
        animation.first_keys.push(cursor.u16("first key")?);
    }
    check(animation, cursor.remaining());
    Ok(())
}

fn check(animation: &mut Animation, left: usize) {
    let mut texts = Vec::new();
    let keys = animation.key_count();
    let outside = |&&key: &&u16| usize::from(key) >= keys;
    let outside = animation.first_keys.iter().filter(outside).count();
    if outside > 0 {
        texts.push(format!(
            "{outside} first keys are not among the {keys} keys"
        ));
    }
    let (mut late, mut odd) = (0, 0);
    for key in animation.keys() {
        late += usize::from(usize::from(key.time) >= animation.times.len());
        let length = key
            .rotation
            .iter()
            .map(|part| part * part)
            .sum::<f32>()
            .sqrt();
        odd += usize::from(!(0.98..1.02).contains(&length));
    }
    if late > 0 {
        texts.push(format!(
            "{late} keys have a time that is not among the {} times",
            animation.times.len()
        ));
    }
    if odd > 0 {
        texts.push(format!("{odd} keys have a rotation whose length is not 1"));
    }
    if animation.bones == 0 || animation.times.is_empty() || keys == 0 {
        texts.push("animation at 0x8: has no bones, times or keys".to_owned());
    }
    // One entry of padding may align the end to 4 bytes.
    if left != 0 && left != 2 {
        texts.push(format!("animation: {left} bytes follow it"));
    }
    texts
        .into_iter()
        .for_each(|text| animation.warnings.push(text));
}

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

/// Lengths of the records in bytes.
const _: () = assert!(size(FILES) == 32 && size(STATES) == 28);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heavy_iron::{Game, Platform};
    use hpimount_containers::io::Error;

    fn facts() -> Facts {
        Facts::new(Platform::GameCube, Game::Bfbb)
    }

    fn error(words: &[u32]) -> Error {
        let bytes: Bytes = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        parse_animation(&bytes, &facts()).unwrap_err().error
    }

    #[test]
    fn maximum_counts_are_errors_and_allocate_nothing() {
        let head = [ANIMATION, 0, u32::MAX, u32::MAX, 0, 0, 0];
        assert_eq!(
            error(&head).to_string(),
            "key count at 0x1c: 4294967295 items of 16 bytes do not fit into 0 bytes"
        );
        assert_eq!(
            error(&[ANIMATION, 0, u32::MAX, 0, 0, 0, 0]).to_string(),
            "time count at 0x1c: 65535 items of 4 bytes do not fit into 0 bytes"
        );
    }

    #[test]
    fn rotations_and_translations_of_keys_are_scaled() {
        let mut bytes: Vec<u8> = [ANIMATION, 0, 0x0001_0001, 1, 0x3F00_0000, 0, 0x4000_0000]
            .iter()
            .flat_map(|word| word.to_be_bytes())
            .collect();
        let key: [i16; 8] = [0, 0, 0, 0, 32_767, 4, 5, -6];
        bytes.extend(key.iter().flat_map(|value| value.to_be_bytes()));
        bytes.extend(1.5_f32.to_be_bytes());
        let animation = parse_animation(&bytes.into(), &facts()).unwrap();
        assert!(animation.warnings.is_empty(), "{:?}", animation.warnings);
        let expected = Key {
            time: 0,
            rotation: [0.0, 0.0, 0.0, 1.0],
            translation: [2.0, 0.0, -12.0],
        };
        assert_eq!(animation.keys().collect::<Vec<_>>(), [expected]);
        assert_eq!((animation.duration(), animation.key(1)), (1.5, None));
    }
}
