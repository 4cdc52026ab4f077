//! Storage locations and encodings of values.

use hpimount_containers::io::{Cursor, Endian};
use hpimount_record::{Value, shortened};

use crate::view::AssetContext;

/// Storage location and encoding of a value.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Offset in the asset, in bytes.
    pub offset: usize,
    /// The byte order.
    pub endian: Endian,
    /// Encoding.
    pub form: Form,
}

/// Encoding of a value in the asset and in edited files.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A whole number of this many bytes.
    Integer {
        /// 1, 2 or 4 bytes.
        size: usize,
        /// True if it may be negative.
        is_signed: bool,
    },
    /// A 32-bit float.
    Float,
    /// Four letters in a number, from the lowest byte.
    Code,
    /// This many bytes, as hexadecimal digits.
    Hex(usize),
    /// A bit of a number of this many bytes.
    Flag {
        /// 1, 2 or 4 bytes.
        size: usize,
        /// The number with only this bit set.
        bit: u32,
    },
    /// A number of this many bytes, given by name or number.
    Named {
        /// 1, 2 or 4 bytes.
        size: usize,
        /// Returns the number of a name, or the similar names.
        number: fn(&str) -> Result<u32, String>,
    },
    /// The id of another asset.
    Reference(Reference),
    /// A word that is a float, an id, or an integer if it is shown as one.
    Parameter(Reference),
    /// A custom form, which may grow.
    Own {
        /// Length in bytes.
        size: usize,
        /// Encodes a value in at least `size` bytes, or returns the reason why it does
        /// not fit. The old bytes are given.
        encode: fn(&Value, usize) -> Result<Vec<u8>, String>,
    },
}

/// Returns the id of the asset with this name.
///
/// # Errors
/// Returns an error for an unknown or ambiguous name.
pub type Reference = fn(&dyn AssetContext, &str) -> Result<u32, String>;

impl Form {
    /// An unsigned byte.
    pub const U8: Self = Self::unsigned(1);
    /// An unsigned number of 16 bits.
    pub const U16: Self = Self::unsigned(2);
    /// An unsigned number of 32 bits.
    pub const U32: Self = Self::unsigned(4);
    /// A signed number of 16 bits.
    pub const I16: Self = Self::signed(2);
    /// A signed number of 32 bits.
    pub const I32: Self = Self::signed(4);

    const fn unsigned(size: usize) -> Self {
        let is_signed = false;
        Self::Integer { size, is_signed }
    }

    const fn signed(size: usize) -> Self {
        let is_signed = true;
        Self::Integer { size, is_signed }
    }

    /// Returns its length in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Integer { size, .. } | Self::Flag { size, .. } | Self::Named { size, .. } => size,
            Self::Hex(size) | Self::Own { size, .. } => size,
            Self::Float | Self::Code | Self::Reference(_) | Self::Parameter(_) => 4,
        }
    }
}

/// The bytes of a value, and a mask of the old bits to replace. There may be more new
/// bytes than old ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) mask: Vec<u8>,
}

impl Place {
    /// Creates a place.
    pub fn new(offset: usize, endian: Endian, form: Form) -> Self {
        Self {
            offset,
            endian,
            form,
        }
    }

    /// Encodes an edited value that is displayed as `shown`. Fails with a reason after
    /// the value's path: "1.5 is no whole number".
    pub(super) fn encode(
        &self,
        shown: &Value,
        edited: &Value,
        context: &dyn AssetContext,
    ) -> Result<Encoded, String> {
        let number = |number: u32, size| self.number(number, u32::MAX, size);
        Ok(match self.form {
            Form::Integer { size, is_signed } => number(integer(edited, size, is_signed)?, size),
            Form::Float => number(float(edited)?.to_bits(), 4),
            Form::Code => number(u32::from_le_bytes(code(edited)?), 4),
            Form::Hex(size) => Encoded {
                bytes: hex(edited, size)?,
                mask: vec![0xFF; size],
            },
            Form::Flag { size, bit } => {
                let set = if flag(edited)? { bit } else { 0 };
                self.number(set, bit, size)
            }
            Form::Named { size, number: of } => match (edited, integer(edited, size, false)) {
                (_, Ok(given)) => number(given, size),
                (Value::Text(name), Err(_)) => number(of(name)?, size),
                (_, Err(reason)) => return Err(reason),
            },
            Form::Reference(of) => number(reference(shown, edited, of, context)?, 4),
            Form::Parameter(of) => number(parameter(shown, edited, of, context)?, 4),
            Form::Own { size, encode } => Encoded {
                bytes: encode(edited, size)?,
                mask: vec![0xFF; size],
            },
        })
    }

    /// Returns the id that an edited reference is encoded as, if no asset has it.
    pub(super) fn unknown_id(
        &self,
        edited: &Value,
        encoded: &Encoded,
        context: &dyn AssetContext,
    ) -> Option<u32> {
        match (self.form, edited) {
            (Form::Reference(_), _) | (Form::Parameter(_), Value::Map(_)) => {}
            _ => return None,
        }
        let id = Cursor::new(&encoded.bytes, 0, self.endian).u32("id").ok()?;
        (id != 0 && context.asset_name_anywhere(id).is_none()).then_some(id)
    }

    /// Returns the bytes of a count.
    pub(super) fn with_number(&self, number: u32) -> Vec<u8> {
        self.number(number, u32::MAX, self.form.size()).bytes
    }

    /// Encodes a number. Only the bits in `mask` count.
    fn number(&self, number: u32, mask: u32, size: usize) -> Encoded {
        let bytes = |number: u32| match self.endian {
            Endian::Little => number.to_le_bytes()[..size].to_vec(),
            Endian::Big => number.to_be_bytes()[4 - size..].to_vec(),
        };
        Encoded {
            bytes: bytes(number),
            mask: bytes(mask),
        }
    }
}

fn integer(edited: &Value, size: usize, is_signed: bool) -> Result<u32, String> {
    let bits = 8 * size as u32;
    let (least, most) = match is_signed {
        true => (-1_i64 << (bits - 1), (1_i64 << (bits - 1)) - 1),
        false => (0, (1_i64 << bits) - 1),
    };
    let Some(number) = edited.integer() else {
        let number = edited.number();
        return Err(number.map_or_else(
            || no_number(edited),
            |number| format!("{number} is no whole number"),
        ));
    };
    match (least..=most).contains(&number) {
        true => Ok(number as u32),
        false => Err(format!("{number} is no number from {least} to {most}")),
    }
}

fn float(edited: &Value) -> Result<f32, String> {
    hpimount_record::float(edited).ok_or_else(|| match edited.number() {
        Some(number) => format!("{number:e} is more than a float can hold"),
        None => no_number(edited),
    })
}

fn no_number(edited: &Value) -> String {
    match edited {
        Value::Null => "null is no number".to_owned(),
        _ => format!("\"{}\" is no number", edited.shortened()),
    }
}

fn code(edited: &Value) -> Result<[u8; 4], String> {
    let letters = match edited {
        Value::Text(text) => unescaped(text),
        _ => None,
    };
    letters
        .and_then(|letters| letters.try_into().ok())
        .ok_or_else(|| format!("\"{}\" does not have four letters", edited.shortened()))
}

/// Returns bytes that are shown as by [`slice::escape_ascii`].
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut left = text.chars();
    while let Some(letter) = left.next() {
        bytes.push(match letter {
            '\\' => match left.next()? {
                't' => b'\t',
                'r' => b'\r',
                'n' => b'\n',
                'x' => {
                    let digits: String = left.by_ref().take(2).collect();
                    u8::from_str_radix(&digits, 16).ok()?
                }
                other => u8::try_from(other).ok()?,
            },
            other => u8::try_from(other).ok().filter(u8::is_ascii)?,
        });
    }
    Some(bytes)
}

fn hex(edited: &Value, size: usize) -> Result<Vec<u8>, String> {
    let Value::Text(text) = edited else {
        return Err(format!(
            "\"{}\" is no text of hexadecimal digits",
            edited.shortened()
        ));
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let bytes = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        (pair.len() == 2).then(|| u8::from_str_radix(pair, 16).ok())?
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    let bytes = bytes.ok_or_else(|| {
        let text = shortened(text);
        format!("\"{text}\" has not two hexadecimal digits a byte")
    })?;
    match bytes.len() == size {
        true => Ok(bytes),
        false => Err(format!("has {} bytes, needs {size}", bytes.len())),
    }
}

fn flag(edited: &Value) -> Result<bool, String> {
    match edited {
        Value::Bool(flag) => Ok(*flag),
        Value::Text(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::Text(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        other => match other.integer() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(format!("\"{}\" is not true or false", other.shortened())),
        },
    }
}

/// Returns the id that eight hexadecimal digits show.
pub fn id_of(text: &str) -> Option<u32> {
    let digits = text.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_id = digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_id.then(|| u32::from_str_radix(digits, 16).ok())?
}

fn reference(
    shown: &Value,
    edited: &Value,
    of: Reference,
    context: &dyn AssetContext,
) -> Result<u32, String> {
    match edited {
        Value::Null => Ok(0),
        Value::Text(text) => id_of(text).map_or_else(|| of(context, text), Ok),
        Value::Map(entries) => {
            let mut keys = entries.iter().map(|(key, _)| key);
            match keys.find(|key| !DESCRIPTION.contains(&&***key)) {
                Some(key) => Err(format!("a reference has no field {}", shortened(key))),
                None => described(shown, edited, of, context),
            }
        }
        other => Err(format!("\"{}\" is no reference", other.shortened())),
    }
}

/// The fields of a reference.
const DESCRIPTION: [&str; 3] = ["id", "name", "archive"];

/// Returns the id of a reference with a new `id`, a new `name`, or both.
fn described(
    shown: &Value,
    edited: &Value,
    of: Reference,
    context: &dyn AssetContext,
) -> Result<u32, String> {
    let text = |value: &Value, key: &str| match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone().into_owned())),
        Some(other) => Err(format!("the {key} \"{}\" is no text", other.shortened())),
    };
    let id = text(edited, "id")?.map(|id| {
        let number = id_of(&id);
        number.ok_or_else(|| format!("\"{}\" is no id of eight digits", shortened(&id)))
    });
    let (id, name, archive) = (
        id.transpose()?,
        text(edited, "name")?,
        text(edited, "archive")?,
    );
    let old = |key| text(shown, key).ok().flatten();
    let old_id = old("id").and_then(|id| id_of(&id));
    let known = |id| context.asset_name_anywhere(id);
    let id = match (id, name) {
        (None, None) => return Err("needs an id or a name".to_owned()),
        (Some(id), None) => id,
        (Some(id), name) if name == old("name") => id,
        (id, Some(name)) => match (id.filter(|id| Some(*id) != old_id), of(context, &name)) {
            (None, found) => found?,
            (Some(id), Ok(found)) if id == found => id,
            (Some(id), _) if known(id).is_some_and(|known| known.name == name) => id,
            (Some(id), Ok(_)) => {
                let name = shortened(&name);
                return Err(format!("the id {id:08X} and the name {name} disagree"));
            }
            (Some(_), Err(reason)) => return Err(reason),
        },
    };
    let is_other = archive.is_some() && archive != old("archive");
    match is_other && archive != known(id).and_then(|known| known.archive) {
        true => Err("the archive follows from the id".to_owned()),
        false => Ok(id),
    }
}

fn parameter(
    shown: &Value,
    edited: &Value,
    of: Reference,
    context: &dyn AssetContext,
) -> Result<u32, String> {
    if let Value::Text(text) = edited
        && let Some(digits) = text.strip_prefix("0x")
        && let Ok(bits) = u32::from_str_radix(digits, 16)
    {
        return Ok(bits);
    }
    let is_whole = matches!(shown, Value::Integer(number) if *number != 0);
    match edited.integer().filter(|_| is_whole) {
        Some(_) => integer(edited, 4, edited.integer() < Some(0)),
        None if edited.number().is_some() => Ok(float(edited)?.to_bits()),
        None => reference(shown, edited, of, context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Alone;

    fn encoded(form: Form, edited: impl Into<Value>) -> Result<Vec<u8>, String> {
        let place = Place::new(0, Endian::Big, form);
        let encoded = place.encode(&Value::Null, &edited.into(), &Alone)?;
        Ok(encoded.bytes)
    }

    #[test]
    fn numbers_are_taken_by_value_in_their_range() {
        let signed = Form::Integer {
            size: 2,
            is_signed: true,
        };
        for text in ["-40", "-40.0", "-4e1"] {
            assert_eq!(encoded(signed, text), Ok(vec![0xFF, 0xD8]), "{text}");
        }
        assert_eq!(encoded(Form::U32, "0x1F"), Ok(vec![0, 0, 0, 0x1F]));
        let refused = |edited| encoded(Form::U8, edited).unwrap_err();
        assert_eq!(
            refused(Value::Integer(256)),
            "256 is no number from 0 to 255"
        );
        assert_eq!(refused(Value::Double(1.5)), "1.5 is no whole number");
        assert_eq!(refused("left".into()), "\"left\" is no number");
        assert_eq!(refused(Value::Null), "null is no number");
    }

    #[test]
    fn floats_are_the_nearest_ones_and_their_bits_can_be_given() {
        let third = 0.300_000_011_920_928_96;
        assert_eq!(
            encoded(Form::Float, Value::Double(third)),
            Ok(0.3_f32.to_be_bytes().to_vec())
        );
        assert_eq!(
            encoded(Form::Float, "0x7FC00001"),
            Ok(vec![0x7F, 0xC0, 0, 1])
        );
        assert_eq!(
            encoded(Form::Float, "-Infinity"),
            Ok(vec![0xFF, 0x80, 0, 0])
        );
        let refused = encoded(Form::Float, Value::Double(1e39)).unwrap_err();
        assert_eq!(refused, "1e39 is more than a float can hold");
    }

    #[test]
    fn references_are_named_by_a_new_id_a_new_name_or_both() {
        let of: Reference = |_, name| match name {
            "TANK" => Ok(7),
            _ => Err(format!("no asset is called {name}")),
        };
        let shown = Value::parse(r#"{"id": "00000005", "name": "OLD", "archive": "a.hip"}"#);
        let place = Place::new(0, Endian::Big, Form::Reference(of));
        let id = |edited: &str| {
            let edited = Value::parse(edited).unwrap();
            let encoded = place.encode(shown.as_ref().unwrap(), &edited, &Alone)?;
            Ok(*encoded.bytes.last().unwrap())
        };
        assert_eq!(id(r#"{"name": "TANK"}"#), Ok(7));
        assert_eq!(id(r#"{"id": "00000007", "name": "TANK"}"#), Ok(7));
        assert_eq!(
            id(r#"{"id": "00000009", "name": "OLD", "archive": "a.hip"}"#),
            Ok(9)
        );
        assert_eq!(id(r#"{"id": "00000005", "name": "TANK"}"#), Ok(7));
        for (edited, reason) in [
            (
                r#"{"id": "00000008", "name": "TANK"}"#,
                "the id 00000008 and the name TANK disagree",
            ),
            (
                r#"{"id": "00000000", "name": "TANK"}"#,
                "the id 00000000 and the name TANK disagree",
            ),
            (
                r#"{"id": "00000008", "name": "GUN"}"#,
                "no asset is called GUN",
            ),
            (r#"{"id": 7}"#, "the id \"7\" is no text"),
            (r#"{"target": "TANK"}"#, "a reference has no field target"),
            (
                r#"{"id": "00000005", "archive": "b.hip"}"#,
                "the archive follows from the id",
            ),
            ("{}", "needs an id or a name"),
        ] {
            assert_eq!(id(edited), Err(reason.to_owned()), "{edited}");
        }
    }

    #[test]
    fn codes_and_bytes_have_their_length() {
        assert_eq!(encoded(Form::Code, "HB01"), Ok(b"10BH".to_vec()));
        assert_eq!(encoded(Form::Code, "\\x00B\\\\1"), Ok(b"1\\B\0".to_vec()));
        assert!(encoded(Form::Code, "HB1").is_err());
        assert_eq!(encoded(Form::Hex(2), "0a FF"), Ok(vec![10, 255]));
        assert_eq!(
            encoded(Form::Hex(4), "0aff").unwrap_err(),
            "has 2 bytes, needs 4"
        );
    }
}
