//! ANIM: the keys of the bones of a skeleton (FORMATS, HIP assets 8).

use bytes::Bytes;

use crate::{Facts, Parsed, after_magic, floats, read_into};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};

const ANIMATION: u32 = 0x3142_4B53;

/// Length of a key in bytes, in both versions.
const KEY: usize = 16;
const KEY2: usize = 10;

/// An animation: keys of the bones of a skeleton.
#[derive(Debug, Default)]
pub struct Animation {
    /// Version: 1, or 2 in Rise of the Underminer and Ratatouille.
    pub version: u8,
    /// Flags; 0 in the games.
    pub flags: u32,
    /// Number of bones.
    pub bones: u16,
    /// Unit of translations along each axis.
    pub scale: [f32; 3],
    /// Times in seconds.
    pub times: Vec<f32>,
    /// For each time except the last, and each bone, the number of the starting key;
    /// the following key is the end of the motion.
    pub first_keys: Vec<u16>,
    /// The keys.
    pub keys: Vec<Key>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A keyframe: the pose of a bone at a time.
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
    /// Returns the length in seconds: the last time.
    pub fn duration(&self) -> f32 {
        self.times.last().copied().unwrap_or_default()
    }

    /// Returns the key numbers of each bone, with increasing times.
    ///
    /// # Errors
    /// Returns why the bones cannot be moved.
    pub fn tracks(&self) -> std::result::Result<Vec<Vec<u16>>, String> {
        if self.times.iter().any(|time| !time.is_finite()) {
            return Err("a time is not a number".to_owned());
        }
        if !self.times.is_sorted_by(|a, b| a < b) {
            return Err("its times do not rise".to_owned());
        }
        let tracks = (0..self.bones).map(|bone| self.track(bone));
        tracks.collect()
    }

    fn track(&self, bone: u16) -> std::result::Result<Vec<u16>, String> {
        let mut track = Vec::new();
        if self.times.len() == 1 {
            // A single pose has no table: each key belongs to a bone.
            track.push(bone);
        }
        let bones = usize::from(self.bones);
        for firsts in self.first_keys.chunks(bones.max(1)) {
            let Some(&first) = firsts.get(usize::from(bone)) else {
                continue;
            };
            let next = first.saturating_add(1);
            for key in [first, next] {
                if !track.iter().rev().take(2).any(|&known| known == key) {
                    track.push(key);
                }
            }
        }
        let times = track.iter().map(|&key| {
            let key = self.keys.get(usize::from(key));
            key.filter(|key| usize::from(key.time) < self.times.len())
                .map(|key| key.time)
        });
        let Some(times) = times.collect::<Option<Vec<_>>>() else {
            return Err(format!("bone {bone} has keys that do not exist"));
        };
        match times.is_sorted_by(|a, b| a < b) {
            true => Ok(track),
            false => Err(format!("the keys of bone {bone} are not in order")),
        }
    }
}

/// Parses an ANIM asset. Its length reveals the version.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) if the magic is wrong, as
/// in some assets of the games, or a count does not fit.
pub fn parse_animation(bytes: &Bytes, facts: &Facts) -> Parsed<Animation> {
    read_into(bytes, Animation::default(), |animation| {
        let mut warnings = Warnings::default();
        let mut cursor = after_magic(bytes, facts, ANIMATION, &mut warnings)?;
        let flags = cursor.u32("animation flags")?;
        let bones = cursor.u16("bone count")?;
        let times = usize::from(cursor.u16("time count")?);
        let start = |version| Animation {
            version,
            flags,
            bones,
            ..Animation::default()
        };
        let (mut again, mut second) = (cursor.clone(), start(2));
        *animation = start(1);
        let mut left = animation.version1(&mut cursor, times);
        if !is_end(&left) {
            let second_left = second.version2(&mut again, times);
            if is_end(&second_left) {
                (*animation, left) = (second, second_left);
            }
        }
        animation.warnings = warnings;
        let left = left?;
        if !is_end(&Ok(left)) {
            let end = bytes.len() - left;
            animation
                .warnings
                .push(format!("animation at {end:#x}: {left} bytes follow it"));
        }
        animation.check();
        Ok(())
    })
}

/// Returns whether an animation ends with the asset. Padding may align the end to 4
/// bytes.
fn is_end(left: &Result<usize>) -> bool {
    matches!(left, Ok(0 | 2))
}

impl Animation {
    /// Reads the data after the counts, and returns the number of remaining bytes.
    fn version1(&mut self, cursor: &mut Cursor<'_>, times: usize) -> Result<usize> {
        let keys = cursor.u32("key count")?;
        self.scale = floats(cursor, "scale")?;
        let keys = cursor.check_count(keys.into(), KEY, "key count")?;
        self.keys.reserve_exact(keys);
        for _ in 0..keys {
            let time = cursor.u16("key time")?;
            let [x, y, z, w] = shorts(cursor, "key rotation")?;
            let translation = shorts(cursor, "key translation")?;
            self.keys.push(Key {
                time,
                rotation: [x, y, z, w].map(|part| part / 32_767.0),
                translation: self.scaled(translation),
            });
        }
        cursor.check_count(times as u64, 4, "time count")?;
        for _ in 0..times {
            self.times.push(cursor.f32("time")?);
        }
        self.first_keys(cursor, times)
    }

    /// Like [`Animation::version1`], for the later version: times in units of 1/30 s,
    /// translations in a separate list, and the last component of a rotation computed
    /// from the others.
    fn version2(&mut self, cursor: &mut Cursor<'_>, times: usize) -> Result<usize> {
        let keys = cursor.u16("key count")?;
        let translations = usize::from(cursor.u16("translation count")?);
        self.scale = floats(cursor, "scale")?;
        let keys = cursor.check_count(keys.into(), KEY2, "key count")?;
        let mut numbers = Vec::with_capacity(keys);
        self.keys.reserve_exact(keys);
        for _ in 0..keys {
            let time = cursor.u16("key time")?;
            numbers.push(cursor.u16("translation number")?);
            let [x, y, z] = shorts::<3>(cursor, "key rotation")?.map(|part| part / 32_767.0);
            let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
            self.keys.push(Key {
                time: time & !NEGATIVE,
                rotation: [x, y, z, if time & NEGATIVE != 0 { -w } else { w }],
                translation: [0.0; 3],
            });
        }
        cursor.check_count(times as u64, 2, "time count")?;
        for _ in 0..times {
            self.times.push(f32::from(cursor.u16("time")?) / 30.0);
        }
        cursor.take(2 * (times % 2), "padding of times")?;
        let mut moves =
            Vec::with_capacity(cursor.check_count(translations as u64, 6, "translation count")?);
        for _ in 0..translations {
            let translation = shorts(cursor, "translation")?;
            moves.push(self.scaled(translation));
        }
        cursor.take(2 * (translations % 2), "padding of translations")?;
        for (key, number) in self.keys.iter_mut().zip(numbers) {
            let Some(&translation) = moves.get(usize::from(number)) else {
                return Err(Error::damaged(
                    cursor.offset(),
                    "translation number",
                    format!("is {number} of {translations}"),
                ));
            };
            key.translation = translation;
        }
        self.first_keys(cursor, times)
    }

    fn first_keys(&mut self, cursor: &mut Cursor<'_>, times: usize) -> Result<usize> {
        let firsts = usize::from(self.bones) * times.saturating_sub(1);
        cursor.check_count(firsts as u64, 2, "first keys")?;
        self.first_keys.reserve_exact(firsts);
        for _ in 0..firsts {
            self.first_keys.push(cursor.u16("first key")?);
        }
        Ok(cursor.remaining())
    }

    fn scaled(&self, translation: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|axis| translation[axis] * self.scale[axis])
    }

    fn check(&mut self) {
        let mut texts = Vec::new();
        let keys = self.keys.len();
        let outside = |&&key: &&u16| usize::from(key) + 1 >= keys;
        let outside = self.first_keys.iter().filter(outside).count();
        if outside > 0 {
            texts.push(format!(
                "{outside} first keys have no next one among the {keys} keys"
            ));
        }
        let (mut late, mut odd) = (0, 0);
        for key in &self.keys {
            late += usize::from(usize::from(key.time) >= self.times.len());
            let length = key.rotation.iter().map(|part| part * part).sum::<f32>();
            odd += usize::from(!(0.98..1.02).contains(&length.sqrt()));
        }
        if late > 0 {
            texts.push(format!(
                "{late} keys have a time that is not among the {} times",
                self.times.len()
            ));
        }
        if odd > 0 {
            texts.push(format!("{odd} keys have a rotation whose length is not 1"));
        }
        if self.bones == 0 || self.times.is_empty() || keys == 0 {
            texts.push("animation at 0x8: has no bones, times or keys".to_owned());
        }
        texts.into_iter().for_each(|text| self.warnings.push(text));
    }
}

/// Flag of a time in the second version: the last component of the rotation is
/// negative.
const NEGATIVE: u16 = 0x8000;

/// Reads signed numbers.
fn shorts<const N: usize>(cursor: &mut Cursor<'_>, field: &'static str) -> Result<[f32; N]> {
    let mut values = [0.0; N];
    for value in &mut values {
        *value = f32::from(cursor.i16(field)?);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, Platform};
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
        assert_eq!(animation.keys, [expected]);
        assert_eq!(animation.duration(), 1.5);
        assert_eq!(animation.tracks(), Ok(vec![vec![0]]));
    }

    /// Returns an animation of one bone with a key at each time.
    fn moving(times: &[f32], first_keys: Vec<u16>) -> Animation {
        let key = |time| Key {
            time,
            rotation: [0.0, 0.0, 0.0, 1.0],
            translation: [0.0; 3],
        };
        Animation {
            bones: 1,
            times: times.to_vec(),
            first_keys,
            keys: (0..times.len() as u16).map(key).collect(),
            ..Animation::default()
        }
    }

    #[test]
    fn a_bone_moves_from_each_of_its_keys_to_the_next() {
        let tracks = |times: &[f32], firsts| moving(times, firsts).tracks();
        assert_eq!(
            tracks(&[0.0, 1.0, 2.0], vec![0, 1]),
            Ok(vec![vec![0, 1, 2]])
        );
        // A key may span several times.
        assert_eq!(tracks(&[0.0, 1.0, 2.0], vec![1, 1]), Ok(vec![vec![1, 2]]));
        for (times, firsts) in [
            ([0.0, 2.0, 1.0], vec![0, 1]),
            ([0.0, f32::NAN, 1.0], vec![0, 1]),
            ([0.0, 1.0, 2.0], vec![0, 2]),
            ([0.0, 1.0, 2.0], vec![1, 0]),
            ([0.0, 1.0, 2.0], vec![u16::MAX, 0]),
        ] {
            assert!(
                tracks(&times, firsts.clone()).is_err(),
                "{times:?} {firsts:?}"
            );
        }
    }
}
