//! Records: consecutive fields of fixed size, described by a layout and
//! decoded on demand.

use std::borrow::Cow;

use bytes::Bytes;

use hpimount_containers::io::{Cursor, Endian, Result};
use hpimount_containers::text::windows_1252;

/// The type of a field. Numbers are in the byte order of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A byte.
    U8,
    /// A byte, signed.
    I8,
    /// 16 bits, unsigned.
    U16,
    /// 16 bits, signed.
    I16,
    /// 32 bits, unsigned.
    U32,
    /// 32 bits, signed.
    I32,
    /// A float.
    F32,
    /// Two floats.
    Vec2,
    /// Three floats.
    Vec3,
    /// Four floats.
    Vec4,
    /// An asset's id, 0 for none.
    Id,
    /// Four bytes: red, green, blue, alpha.
    Color,
    /// Four letters in a number, from the lowest byte.
    Code,
    /// A float, an asset's id or an integer: a parameter of an event.
    Word,
    /// A text in 16 bytes, terminated by a NUL.
    Text16,
    /// A text in 28 bytes.
    Text28,
    /// A text in 60 bytes.
    Text60,
    /// A byte of padding.
    Pad1,
    /// Two bytes of padding.
    Pad2,
    /// Three bytes of padding.
    Pad3,
    /// Four bytes of padding.
    Pad4,
}

impl Kind {
    /// Returns whether it has no value.
    pub const fn is_padding(self) -> bool {
        matches!(self, Self::Pad1 | Self::Pad2 | Self::Pad3 | Self::Pad4)
    }

    /// Returns its length in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Pad1 => 1,
            Self::U16 | Self::I16 | Self::Pad2 => 2,
            Self::Pad3 => 3,
            Self::U32
            | Self::I32
            | Self::F32
            | Self::Id
            | Self::Color
            | Self::Code
            | Self::Word
            | Self::Pad4 => 4,
            Self::Vec2 => 8,
            Self::Vec3 => 12,
            Self::Vec4 | Self::Text16 => 16,
            Self::Text28 => 28,
            Self::Text60 => MAX_TEXT,
        }
    }
}

/// Length of the longest text, in bytes.
const MAX_TEXT: usize = 60;

/// A field of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// The words for its numbers, if any.
    pub words: Option<Named>,
}

/// The meanings of a field's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The name under which the meaning is shown beside the number.
    pub beside: &'static str,
    /// The meanings.
    pub words: &'static Words,
}

/// Words for numbers.
#[derive(Debug, PartialEq, Eq)]
pub enum Words {
    /// One for each number from 0 on.
    List(&'static [&'static str]),
    /// One for some numbers.
    Some(&'static [(u32, &'static str)]),
    /// One for each of some bits.
    Bits(&'static [(u8, &'static str)]),
}

impl Words {
    /// Returns the word for a number, or the words for its bits, separated by commas.
    pub fn of(&self, number: u32) -> Option<Cow<'static, str>> {
        match self {
            Self::List(words) => words.get(number as usize).map(|&word| word.into()),
            Self::Some(words) => {
                let found = words.iter().find(|(known, _)| *known == number);
                found.map(|&(_, word)| word.into())
            }
            Self::Bits(words) => {
                let set = words.iter().filter(|(bit, _)| number >> bit & 1 == 1);
                let set: Vec<_> = set.map(|&(_, word)| word).collect();
                (!set.is_empty()).then(|| set.join(", ").into())
            }
        }
    }
}

impl Column {
    /// Returns the meaning of a value, and the name for it; `None` without words.
    pub fn meaning(&self, value: Value) -> Option<(&'static str, Cow<'static, str>)> {
        let named = self.words?;
        let number = match value {
            Value::Unsigned(number) | Value::Id(number) => number,
            Value::Signed(number) => number.cast_unsigned(),
            _ => return None,
        };
        Some((named.beside, named.words.of(number)?))
    }
}

/// The fields of a record, in order.
pub type Layout = &'static [Column];

/// Declares fields: `name: Kind`, or `name: Kind / WORDS` if there are words for its
/// numbers.
macro_rules! layout {
    ($($name:ident: $kind:ident $(/ $words:ident)?),* $(,)?) => {
        &[$($crate::record::Column {
            name: stringify!($name),
            kind: $crate::record::Kind::$kind,
            words: $crate::record::named!($name $($words)?),
        }),*]
    };
}
pub(super) use layout;

/// Declares layouts as constants: `NAME { name: Kind, … }`. Adds a test of the edits of
/// records with each layout.
macro_rules! layouts {
    ($($(#[$doc:meta])* $vis:vis $name:ident { $($fields:tt)* })*) => {$(
        $(#[$doc])*
        $vis const $name: $crate::record::Layout = $crate::record::layout!($($fields)*);

        #[cfg(test)]
        #[allow(non_snake_case)]
        mod $name {
            #[test]
            fn a_record_is_edited_into_another_one() {
                $crate::record::tests::check_ways_back(super::$name);
            }
        }
    )*};
}
pub(super) use layouts;

/// The words of a field, if a list is named.
macro_rules! named {
    ($name:ident) => {
        None
    };
    ($name:ident $words:ident) => {
        Some($crate::record::Named {
            beside: concat!(stringify!($name), "_name"),
            words: &$words,
        })
    };
}
pub(super) use named;

/// Returns the length of a record with this layout, in bytes.
pub const fn size(layout: Layout) -> usize {
    let mut size = 0;
    let mut index = 0;
    while index < layout.len() {
        size += layout[index].kind.size();
        index += 1;
    }
    size
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An unsigned number.
    Unsigned(u32),
    /// A signed number.
    Signed(i32),
    /// A float; may be NaN or infinite.
    Float(f32),
    /// Two floats.
    Vec2([f32; 2]),
    /// Three floats.
    Vec3([f32; 3]),
    /// Four floats.
    Vec4([f32; 4]),
    /// An asset's id, 0 for none.
    Id(u32),
    /// Red, green, blue, alpha.
    Color([u8; 4]),
    /// Four letters.
    Code([u8; 4]),
    /// The bits of a parameter of an event.
    Word(u32),
    /// A text.
    Text(Text),
}

/// A text of a fixed length in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Text {
    bytes: [u8; MAX_TEXT],
    length: usize,
}

impl Text {
    fn new(stored: &[u8]) -> Self {
        let mut bytes = [0; MAX_TEXT];
        bytes[..stored.len()].copy_from_slice(stored);
        let length = stored.iter().position(|&byte| byte == 0);
        let length = length.unwrap_or(stored.len());
        Self { bytes, length }
    }

    /// Returns the text.
    pub fn shown(&self) -> Cow<'_, str> {
        windows_1252(&self.bytes[..self.length])
    }
}

/// The kind of a parameter of an event, guessed from its bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter {
    /// 0, as a number and as a float.
    Zero,
    /// A float of a usual magnitude.
    Float(f32),
    /// None of these; perhaps an id.
    Number(u32),
}

impl Parameter {
    /// Returns the value of a parameter, unless it is the id of a known asset.
    pub fn of(bits: u32) -> Self {
        let value = f32::from_bits(bits);
        match value.abs() {
            _ if bits == 0 => Self::Zero,
            size if size > 1e-6 && size < 1e7 => Self::Float(value),
            _ => Self::Number(bits),
        }
    }
}

impl Value {
    /// Returns an unsigned number.
    pub fn unsigned(self) -> Option<u32> {
        match self {
            Self::Unsigned(number) => Some(number),
            _ => None,
        }
    }
}

/// A record, possibly truncated.
#[derive(Debug, Clone)]
pub struct Record {
    layout: Layout,
    endian: Endian,
    bytes: Bytes,
    /// Offset in the asset.
    offset: usize,
}

impl Record {
    /// Returns the record at the start of `bytes`.
    pub fn new(layout: Layout, endian: Endian, bytes: &Bytes) -> Self {
        let length = size(layout).min(bytes.len());
        Self {
            layout,
            endian,
            bytes: bytes.slice(..length),
            offset: 0,
        }
    }

    /// Sets its offset in the asset, in bytes.
    #[must_use]
    pub fn at(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    /// Returns its offset in the asset.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the byte order of its numbers.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Returns whether all fields are present.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() == size(self.layout)
    }

    /// Returns the total length of the complete fields in bytes.
    pub fn used(&self) -> usize {
        let mut used = 0;
        for column in self.layout {
            if used + column.kind.size() > self.bytes.len() {
                break;
            }
            used += column.kind.size();
        }
        used
    }

    /// Returns the fields of a whole record.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the bytes of the record.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the names and values of the complete fields, without padding.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.placed().map(|(column, _, value)| (column.name, value))
    }

    /// Returns the complete fields, without padding, with their offsets in the asset
    /// and their values.
    pub fn placed(&self) -> impl Iterator<Item = (&'static Column, usize, Value)> {
        let mut cursor = Cursor::new(&self.bytes, self.offset as u64, self.endian);
        let mut columns = self.layout.iter();
        std::iter::from_fn(move || {
            let column = columns.next()?;
            let offset = cursor.offset() as usize;
            let value = value(&mut cursor, column).ok()?;
            Some((column, offset, value))
        })
        .filter_map(|(column, offset, value)| Some((column, offset, value?)))
    }

    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<Value> {
        let mut fields = self.fields();
        fields
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// Returns the ids in the fields, with the names of the fields.
    pub fn ids(&self) -> Vec<(&'static str, u32)> {
        let ids = self.fields().filter_map(|(name, value)| match value {
            Value::Id(id) => Some((name, id)),
            _ => None,
        });
        ids.collect()
    }

    /// Returns the value of a field that is an unsigned number or an id.
    pub fn number(&self, name: &str) -> Option<u32> {
        match self.get(name)? {
            Value::Unsigned(value) | Value::Id(value) => Some(value),
            _ => None,
        }
    }
}

/// Reads a field; `None` for padding.
fn value(cursor: &mut Cursor<'_>, column: &Column) -> Result<Option<Value>> {
    let name = column.name;
    let mut floats = |count: usize| -> Result<[f32; 4]> {
        let mut values = [0.0; 4];
        for value in &mut values[..count] {
            *value = cursor.f32(name)?;
        }
        Ok(values)
    };
    Ok(Some(match column.kind {
        Kind::Vec2 => {
            let [x, y, ..] = floats(2)?;
            Value::Vec2([x, y])
        }
        Kind::Vec3 => {
            let [x, y, z, _] = floats(3)?;
            Value::Vec3([x, y, z])
        }
        Kind::Vec4 => Value::Vec4(floats(4)?),
        Kind::U8 => Value::Unsigned(cursor.u8(name)?.into()),
        Kind::I8 => Value::Signed(i8::from_ne_bytes([cursor.u8(name)?]).into()),
        Kind::U16 => Value::Unsigned(cursor.u16(name)?.into()),
        Kind::I16 => Value::Signed(cursor.i16(name)?.into()),
        Kind::U32 => Value::Unsigned(cursor.u32(name)?),
        Kind::I32 => Value::Signed(cursor.i32(name)?),
        Kind::F32 => Value::Float(cursor.f32(name)?),
        Kind::Id => Value::Id(cursor.u32(name)?),
        Kind::Code => Value::Code(cursor.u32(name)?.to_le_bytes()),
        Kind::Color => {
            let mut color = [0; 4];
            color.copy_from_slice(cursor.take(4, name)?);
            Value::Color(color)
        }
        Kind::Word => Value::Word(cursor.u32(name)?),
        Kind::Text16 | Kind::Text28 | Kind::Text60 => {
            Value::Text(Text::new(cursor.take(column.kind.size(), name)?))
        }
        Kind::Pad1 | Kind::Pad2 | Kind::Pad3 | Kind::Pad4 => {
            cursor.take(column.kind.size(), name)?;
            return Ok(None);
        }
    }))
}

/// Consecutive records of one layout.
#[derive(Debug, Clone)]
pub struct Rows {
    layout: Layout,
    endian: Endian,
    bytes: Bytes,
    /// Offset in the asset.
    offset: usize,
}

impl Rows {
    /// Returns as many records as fit into `bytes`, at most `count`.
    pub fn new(layout: Layout, endian: Endian, bytes: &Bytes, count: usize) -> Self {
        let held = bytes.len() / size(layout).max(1);
        Self {
            layout,
            endian,
            bytes: bytes.slice(..count.min(held) * size(layout)),
            offset: 0,
        }
    }

    /// Sets their offset in the asset, in bytes.
    #[must_use]
    pub fn at(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    /// Returns their offset in the asset.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the byte order of their numbers.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.bytes.len() / size(self.layout).max(1)
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the layout of the records.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the bytes of the records.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns a record by its number.
    pub fn get(&self, index: usize) -> Option<Record> {
        let start = index.checked_mul(size(self.layout))?;
        let rest = (start < self.bytes.len()).then(|| self.bytes.slice(start..))?;
        Some(Record::new(self.layout, self.endian, &rest).at(self.offset + start))
    }

    /// Returns all records.
    pub fn iter(&self) -> impl Iterator<Item = Record> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            layout: &[],
            endian: Endian::Little,
            bytes: Bytes::new(),
            offset: 0,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
