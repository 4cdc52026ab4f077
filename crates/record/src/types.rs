//! Types of fields that explain their values.

use std::marker::PhantomData;

use get_size2::GetSize;
use hpimount_containers::io::{Cursor, Endian, Result};
use hpimount_containers::text::{windows_1252, windows_1252_byte};

use super::number::Stored;
use super::{Field, FixedSize, Problem, Value, Writer};

/// The stored form of `N` bytes.
macro_rules! stored_bytes {
    () => {
        fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
            self.0.copy_from_slice(cursor.take(N, label)?);
            Ok(())
        }

        fn write(&self, to: &mut Writer) {
            to.put(&self.0);
        }
    };
}

/// Bytes without meaning, which are preserved. JSON shows them if they are not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Pad<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Pad<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> FixedSize for Pad<N> {
    const SIZE: usize = N;
}

impl<const N: usize> Field for Pad<N> {
    stored_bytes!();

    fn value(&self) -> Value {
        Value::text(
            self.0
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>(),
        )
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        self.0 = bytes(value).ok_or_else(|| {
            Problem::needs(value, format_args!("{N} bytes in hexadecimal digits"))
        })?;
        Ok(())
    }

    fn is_hidden(&self) -> bool {
        self.0 == [0; N]
    }

    fn is_padding(&self) -> bool {
        true
    }
}

/// Parses hexadecimal digits as bytes.
fn bytes<const N: usize>(value: &Value) -> Option<[u8; N]> {
    let Value::Text(digits) = value else {
        return None;
    };
    let digits = (digits.len() == 2 * N && digits.is_ascii()).then_some(digits)?;
    let mut bytes = [0; N];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

/// A text of fixed size in Windows-1252, terminated by a NUL. The bytes after the NUL
/// are preserved while the text is the same.
#[derive(Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Text<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> FixedSize for Text<N> {
    const SIZE: usize = N;
}

impl<const N: usize> std::fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text().fmt(f)
    }
}

impl<const N: usize> Text<N> {
    /// Returns the text.
    pub fn text(&self) -> String {
        windows_1252(self.split().0).into_owned()
    }

    /// Returns the bytes of the text, and the bytes after its NUL.
    fn split(&self) -> (&[u8], &[u8]) {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(N);
        (&self.0[..end], self.0.get(end + 1..).unwrap_or_default())
    }
}

impl<const N: usize> Field for Text<N> {
    stored_bytes!();

    fn value(&self) -> Value {
        Value::text(self.text())
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        let text = match value {
            Value::List(_) | Value::Map(_) => return Err(Problem::needs(value, "a text")),
            other => other.to_string(),
        };
        if text == self.text() {
            return Ok(());
        }
        let stored: Option<Vec<u8>> = text.chars().map(windows_1252_byte).collect();
        let stored = stored.ok_or_else(|| Problem::needs(value, "in Windows-1252"))?;
        // The text may fill the field only if the old one does.
        let longest = if self.0.contains(&0) { N - 1 } else { N };
        if stored.len() > longest {
            return Err(Problem::needs(
                value,
                format_args!("at most {longest} letters"),
            ));
        }
        self.0 = [0; N];
        self.0[..stored.len()].copy_from_slice(&stored);
        Ok(())
    }
}

/// Four letters in a number, from the lowest byte.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Code(pub [u8; 4]);

impl FixedSize for Code {
    const SIZE: usize = 4;
}

impl Field for Code {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        self.0 = cursor.u32(label)?.to_le_bytes();
        Ok(())
    }

    fn write(&self, to: &mut Writer) {
        to.number(self.0);
    }

    fn value(&self) -> Value {
        match self.0.is_ascii() && !self.0.iter().any(u8::is_ascii_control) {
            true => Value::text(self.0.escape_ascii().to_string()),
            false => Value::text(format!("{:#010x}", u32::from_le_bytes(self.0))),
        }
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        if *value == self.value() {
            return Ok(());
        }
        self.0 = match value {
            Value::Text(text) if text.len() == 4 => text.as_bytes().try_into().unwrap_or_default(),
            other => u32::from_value(other)
                .map_err(|_| Problem::needs(other, "four letters"))?
                .to_le_bytes(),
        };
        Ok(())
    }
}

/// A number shown in hexadecimal digits, such as a hash.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Hex<T>(pub T);

impl<T: FixedSize> FixedSize for Hex<T> {
    const SIZE: usize = T::SIZE;
}

impl<T: Stored> Field for Hex<T> {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        self.0.read(cursor, label)
    }

    fn write(&self, to: &mut Writer) {
        self.0.write(to);
    }

    fn value(&self) -> Value {
        let digits = 2 * T::SIZE;
        Value::text(format!("0x{:0digits$X}", self.0.to_number()))
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        self.0.set(value)
    }
}

/// The names of groups of bits of [`Flags`].
pub trait Bits: 'static {
    /// The groups with their numbers of bits, from the lowest.
    const BITS: &'static [(&'static str, u32)];
    /// In big-endian files the first group is in the highest bits, as compilers for
    /// such machines order them.
    const REVERSED_IN_BIG: bool = false;
}

/// A number with named groups of bits. All groups are shown.
#[derive(GetSize)]
#[get_size(ignore(B))]
pub struct Flags<T, B> {
    /// The number.
    pub stored: T,
    is_reversed: bool,
    #[get_size(ignore)]
    bits: PhantomData<fn() -> B>,
}

impl<T: Stored, B: Bits> Flags<T, B> {
    /// Returns the value of a group, by name.
    pub fn group(&self, name: &str) -> Option<i64> {
        self.groups()
            .find(|(group, _)| *group == name)
            .map(|(_, value)| value)
    }

    /// Returns the values of all groups, by name.
    pub fn groups(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let names = B::BITS.iter().map(|(name, _)| *name).enumerate();
        names.map(|(index, name)| (name, self.bits_of(index)))
    }

    /// Returns the value of a group, by number.
    fn bits_of(&self, index: usize) -> i64 {
        self.stored.to_number() >> self.shift(index) & Self::largest(index)
    }

    /// Returns the maximum value of a group, by number.
    fn largest(index: usize) -> i64 {
        (1 << B::BITS[index].1) - 1
    }

    fn shift(&self, index: usize) -> u32 {
        let widths = |groups: &[(&str, u32)]| groups.iter().map(|&(_, width)| width).sum::<u32>();
        match self.is_reversed {
            true => 8 * T::SIZE as u32 - widths(&B::BITS[..=index]),
            false => widths(&B::BITS[..index]),
        }
    }
}

impl<T: Stored, B: Bits> Field for Flags<T, B> {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        self.is_reversed = B::REVERSED_IN_BIG && cursor.endian() == Endian::Big;
        self.stored.read(cursor, label)
    }

    fn write(&self, to: &mut Writer) {
        self.stored.write(to);
    }

    fn value(&self) -> Value {
        let digits = 2 + 2 * T::SIZE;
        let stored = Value::text(format!("{:#0digits$x}", self.stored.to_number()));
        let groups = self
            .groups()
            .map(|(name, value)| (name.into(), Value::Integer(value)));
        Value::Map(std::iter::once(("".into(), stored)).chain(groups).collect())
    }

    /// Sets the whole number or groups, whichever changed. If both changed, they must
    /// agree.
    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        let Value::Map(_) = value else {
            self.stored = T::from_value(value)?;
            return Ok(());
        };
        let before = *self;
        if let Some(number) = value.get("") {
            self.stored = T::from_value(number)?;
        }
        let is_whole = self.stored.to_number() != before.stored.to_number();
        for (name, value) in value
            .as_map()?
            .filter(|(name, _)| !matches!(*name, "" | "value"))
        {
            let Some(index) = B::BITS.iter().position(|(group, _)| *group == name) else {
                return Err(Problem::new("is not a group of bits here").within(name));
            };
            let largest = Self::largest(index);
            let group = value
                .integer()
                .filter(|group| (0..=largest).contains(group));
            let group = group.ok_or_else(|| {
                Problem::needs(value, format_args!("at most {largest}")).within(name)
            })?;
            if group == before.bits_of(index) || group == self.bits_of(index) {
                continue;
            }
            if is_whole {
                return Err(Problem::new("disagrees with the value of all bits").within(name));
            }
            let shift = self.shift(index);
            let number = self.stored.to_number() & !(largest << shift) | group << shift;
            self.stored = T::from_number(number).unwrap_or_default();
        }
        Ok(())
    }
}

/// An index, or none if all its bits are set.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Index<T> {
    /// The number as stored.
    pub stored: T,
}

impl<T: Stored> Index<T> {
    /// Returns the index.
    pub fn get(&self) -> Option<usize> {
        let is_none = T::from_number(-1).map_or(all_bits::<T>(), Stored::to_number);
        let number = self.stored.to_number();
        (number != is_none)
            .then(|| usize::try_from(number).ok())
            .flatten()
    }
}

/// Returns the maximum unsigned number of a type.
fn all_bits<T: Stored>() -> i64 {
    (1 << (8 * T::SIZE)) - 1
}

impl<T: Stored> Field for Index<T> {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        self.stored.read(cursor, label)
    }

    fn write(&self, to: &mut Writer) {
        self.stored.write(to);
    }

    fn value(&self) -> Value {
        match self.get() {
            Some(index) => Value::Integer(index as i64),
            // A negative index other than -1.
            None if self.stored.to_number() < -1 => Value::Integer(self.stored.to_number()),
            None => Value::Null,
        }
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        self.stored = match value {
            Value::Null => T::from_number(-1)
                .or_else(|| T::from_number(all_bits::<T>()))
                .unwrap_or_default(),
            other => T::from_value(other)?,
        };
        Ok(())
    }
}

// A derive would require the traits of the marker, too.
impl<T: std::fmt::Debug, B> std::fmt::Debug for Flags<T, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.stored.fmt(f)
    }
}

impl<T: Copy, B> Clone for Flags<T, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy, B> Copy for Flags<T, B> {}

impl<T: Default, B> Default for Flags<T, B> {
    fn default() -> Self {
        Self {
            stored: T::default(),
            is_reversed: false,
            bits: PhantomData,
        }
    }
}

impl<T: PartialEq, B> PartialEq for Flags<T, B> {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

impl<T: FixedSize, B> FixedSize for Flags<T, B> {
    const SIZE: usize = T::SIZE;
}

impl<T: FixedSize> FixedSize for Index<T> {
    const SIZE: usize = T::SIZE;
}
