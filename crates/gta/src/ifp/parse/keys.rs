//! Keys: position and rotation of a bone at a time (FORMATS, IFP 5).

use bytes::Bytes;
use get_size2::GetSize;

/// The key format of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, GetSize)]
pub enum KeyKind {
    /// `ANPK`: rotation.
    Kr00,
    /// `ANPK`: rotation and translation.
    Krt0,
    /// `ANPK`: rotation, translation and scale.
    Krts,
    /// `ANP2`, `ANP3`: rotation, as floats.
    Type1,
    /// `ANP2`, `ANP3`: rotation and translation, as floats.
    Type2,
    /// `ANP2`, `ANP3`: rotation, as 16-bit numbers.
    Type3,
    /// `ANP2`, `ANP3`: rotation and translation, as 16-bit numbers.
    Type4,
}

impl KeyKind {
    /// All kinds with their section tags or numbers.
    const NAMES: [(Self, &'static str); 7] = [
        (Self::Kr00, "KR00"),
        (Self::Krt0, "KRT0"),
        (Self::Krts, "KRTS"),
        (Self::Type1, "1"),
        (Self::Type2, "2"),
        (Self::Type3, "3"),
        (Self::Type4, "4"),
    ];

    fn find(is_wanted: impl Fn(Self) -> bool) -> Option<Self> {
        let mut kinds = Self::NAMES.iter().map(|(kind, _)| *kind);
        kinds.find(|kind| is_wanted(*kind))
    }

    /// Returns the kind with this section tag in an `ANPK` package.
    pub fn from_tag(tag: &[u8]) -> Option<Self> {
        Self::find(|kind| kind.is_tagged() && kind.name().as_bytes() == tag)
    }

    /// Returns the kind with this number in an `ANP2` or `ANP3` package.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::find(|kind| kind.number() == Some(number))
    }

    /// Returns its number in an `ANP2` or `ANP3` package.
    pub fn number(self) -> Option<u32> {
        self.name().parse().ok()
    }

    /// Returns the section tag, or the number as text.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Returns the length of a key in bytes.
    pub fn size(self) -> usize {
        let vectors = usize::from(self.has_translation()) + usize::from(self.has_scale());
        let numbers = ROTATION + 1 + 3 * vectors;
        numbers * if self.is_compressed() { 2 } else { 4 }
    }

    /// Stores a key over the old bytes of another key. Numbers that are shown the same
    /// keep their bytes.
    ///
    /// # Errors
    /// Returns the part of the key and its value that cannot be stored.
    pub fn store(self, key: &Key, stored: &mut [u8]) -> Result<(), (&'static str, f32)> {
        let places = self.places();
        let rotation = key.rotation.iter().enumerate();
        let rotation = rotation.map(|(part, &value)| {
            let is_inverse = self.is_tagged() && part < 3;
            (
                "rotation",
                part,
                if is_inverse { -value } else { value },
                4096.0,
            )
        });
        let time = [("time", places.time, key.time, 60.0)];
        let vector = |name, first: usize, vector: Option<[f32; 3]>| {
            let parts = vector.into_iter().flatten().enumerate();
            parts.map(move |(axis, value)| (name, first + axis, value, 1024.0))
        };
        let translation = vector("translation", places.translation, key.translation);
        let scale = vector("scale", places.translation + 3, key.scale);
        let parts = rotation.chain(time).chain(translation).chain(scale);
        for (name, place, value, unit) in parts {
            if self.is_compressed() {
                let steps = (value * unit).round();
                if steps != steps.clamp(i16::MIN.into(), i16::MAX.into()) {
                    return Err((name, value));
                }
                stored[2 * place..][..2].copy_from_slice(&(steps as i16).to_le_bytes());
            } else {
                let bytes = &mut stored.as_chunks_mut().0[place];
                if f32::from_le_bytes(*bytes) != value {
                    *bytes = value.to_le_bytes();
                }
            }
        }
        Ok(())
    }

    /// Returns the offsets of the numbers in a key that depend on the kind.
    fn places(self) -> Places {
        let numbers = self.size() / if self.is_compressed() { 2 } else { 4 };
        match self.is_tagged() {
            true => Places {
                time: numbers - 1,
                translation: ROTATION,
            },
            false => Places {
                time: ROTATION,
                translation: ROTATION + 1,
            },
        }
    }

    /// Returns whether it is a kind of `ANPK`.
    fn is_tagged(self) -> bool {
        matches!(self, Self::Kr00 | Self::Krt0 | Self::Krts)
    }

    /// Returns whether keys have a translation.
    pub fn has_translation(self) -> bool {
        matches!(self, Self::Krt0 | Self::Krts | Self::Type2 | Self::Type4)
    }

    /// Returns whether keys have a scale.
    pub fn has_scale(self) -> bool {
        self == Self::Krts
    }

    /// Returns whether keys are 16-bit numbers.
    pub fn is_compressed(self) -> bool {
        matches!(self, Self::Type3 | Self::Type4)
    }
}

/// Number of the parts of a rotation, which comes first in a key. In `ANPK`,
/// translation, scale and time follow; in other packages, time and translation.
const ROTATION: usize = 4;

/// The positions of numbers in a key, in units of numbers.
struct Places {
    time: usize,
    translation: usize,
}

/// A key in units that are the same for all kinds.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Key {
    /// Seconds since the start of the animation. The first key of an object
    /// often is not at 0.
    pub time: f32,
    /// Unit quaternion x, y, z, w that rotates the bone relative to its parent,
    /// as the game uses it at run time; the inverse that `ANPK` stores is
    /// inverted here. Lengths in real files differ from 1 by up to 0.29.
    pub rotation: [f32; 4],
    /// Position of the bone relative to its parent, in metres: x right, y
    /// forward, z up.
    pub translation: Option<[f32; 3]>,
    /// Scale, which the games ignore.
    pub scale: Option<[f32; 3]>,
}

/// The keys of an object, in the order of the file.
///
/// A slice of the file, which takes little memory and is written back unchanged.
#[derive(Debug, GetSize)]
pub struct Keys {
    kind: KeyKind,
    #[get_size(ignore)]
    bytes: Bytes,
}

impl Keys {
    /// Returns the keys in encoded form. An incomplete key at the end is omitted from
    /// everything except [`Keys::bytes`].
    pub fn new(kind: KeyKind, bytes: Bytes) -> Self {
        Self { kind, bytes }
    }

    /// Returns their format.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the stored bytes, little-endian.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.kind.size()
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the key with number `index`.
    pub fn get(&self, index: usize) -> Option<Key> {
        let kind = self.kind;
        let start = index.checked_mul(kind.size())?;
        let stored = self.bytes.get(start..)?.get(..kind.size())?;
        let (shorts, floats) = (stored.as_chunks().0, stored.as_chunks().0);
        let number = |place: usize, unit: f32| match kind.is_compressed() {
            true => f32::from(i16::from_le_bytes(shorts[place])) / unit,
            false => f32::from_le_bytes(floats[place]),
        };
        let vector = |first: usize| [0, 1, 2].map(|axis| number(first + axis, 1024.0));
        let [x, y, z, w] = [0, 1, 2, 3].map(|part| number(part, 4096.0));
        let Places { time, translation } = kind.places();
        let rotation = match kind.is_tagged() {
            // Not `-x`, which would yield negative zeros.
            true => [0.0 - x, 0.0 - y, 0.0 - z, w],
            false => [x, y, z, w],
        };
        Some(Key {
            time: number(time, 60.0),
            rotation,
            translation: kind.has_translation().then(|| vector(translation)),
            scale: kind.has_scale().then(|| vector(translation + 3)),
        })
    }

    /// Returns the last key.
    pub fn last(&self) -> Option<Key> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns all keys.
    pub fn iter(&self) -> impl Iterator<Item = Key> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ifp::{floats, shorts};

    const HALF: f32 = 0.5;

    #[test]
    fn anpk_rotations_are_inverted_and_their_time_comes_last() {
        let stored = floats(&[HALF, 0.0, -HALF, 1.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 0.25]);
        let keys = Keys::new(KeyKind::Krts, stored.into());
        let key = keys.get(0).unwrap();
        assert_eq!(
            key,
            Key {
                time: 0.25,
                rotation: [-HALF, 0.0, HALF, 1.0],
                translation: Some([7.0, 8.0, 9.0]),
                scale: Some([1.0, 2.0, 3.0]),
            }
        );
        assert!(key.rotation[1].is_sign_positive());
    }

    #[test]
    fn float_keys_of_anp3_have_their_time_before_the_translation() {
        let stored = floats(&[0.0, 0.0, HALF, 1.0, 0.25, 7.0, 8.0, 9.0]);
        let key = Keys::new(KeyKind::Type2, stored.into()).get(0).unwrap();
        assert_eq!(key.time, 0.25);
        assert_eq!(key.rotation, [0.0, 0.0, HALF, 1.0]);
        assert_eq!(key.translation, Some([7.0, 8.0, 9.0]));
    }

    #[test]
    fn short_keys_are_4096ths_60ths_and_1024ths() {
        let stored = shorts(&[2048, 0, 0, -4096, 30, 1024, -512, 0]);
        let key = Keys::new(KeyKind::Type4, stored.into()).get(0).unwrap();
        assert_eq!(key.time, HALF);
        assert_eq!(key.rotation, [HALF, 0.0, 0.0, -1.0]);
        assert_eq!(key.translation, Some([1.0, -HALF, 0.0]));
    }

    #[test]
    fn keys_of_all_kinds_are_stored_as_they_are_read() {
        let numbers: Vec<f32> = (1..=11_u8).map(|n| f32::from(n) / 8.0).collect();
        let steps: Vec<i16> = (1..=8).map(|n| n * 100).collect();
        for (kind, _) in KeyKind::NAMES {
            let bytes = match kind.is_compressed() {
                true => shorts(&steps),
                false => floats(&numbers),
            };
            let bytes = bytes[..kind.size()].to_vec();
            let key = Keys::new(kind, bytes.clone().into()).get(0).unwrap();
            let mut stored = vec![0; kind.size()];
            kind.store(&key, &mut stored).unwrap();
            assert_eq!(stored, bytes, "{kind:?}");
            let far = Key { time: 600.0, ..key };
            let refused = kind.store(&far, &mut stored).err();
            assert_eq!(refused, kind.is_compressed().then_some(("time", 600.0)));
        }
    }

    #[test]
    fn every_kind_yields_only_whole_keys() {
        let sizes = [
            (KeyKind::Kr00, 20),
            (KeyKind::Krt0, 32),
            (KeyKind::Krts, 44),
            (KeyKind::Type1, 20),
            (KeyKind::Type2, 32),
            (KeyKind::Type3, 10),
            (KeyKind::Type4, 16),
        ];
        for (kind, size) in sizes {
            let keys = Keys::new(kind, vec![0; 3 * size + 1].into());
            assert_eq!(keys.len(), 3, "{kind:?}");
            let found: Vec<_> = keys.iter().collect();
            assert_eq!(found.len(), 3, "{kind:?}");
            assert_eq!(found[0].translation.is_some(), kind.has_translation());
            assert_eq!(found[0].scale.is_some(), kind.has_scale());
            assert_eq!(keys.get(3), None, "{kind:?}");
        }
    }
}
