//! Values as they are shown and edited.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use get_size2::GetSize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A value of a field, or of several fields together.
///
/// JSON and tables are two notations for it. Numbers are compared by value: `1`, `1.0`
/// and `"1"` of an edited file are equal.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A 32-bit number.
    Float(f32),
    /// A 64-bit number, as in edited files.
    Double(f64),
    /// A text.
    Text(Cow<'static, str>),
    /// Values in their order.
    List(Vec<Value>),
    /// Values by name, in field order.
    Map(Vec<(Cow<'static, str>, Value)>),
}

/// The longest value in messages, in characters.
const MAX_SHOWN: usize = 80;

/// Returns the beginning of an untrusted text, for messages.
pub fn shortened(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

/// A value that cannot be set, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Problem {
    /// The field, as in `links[2].target`.
    path: String,
    /// The reason, as the predicate of a sentence.
    reason: String,
}

impl Problem {
    /// Creates a problem of the value itself.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            reason: reason.into(),
        }
    }

    /// Returns the path of the problem within the value; empty for the whole value.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the reason, as the predicate of a sentence.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Creates a problem: `value` is not what the field needs.
    pub(super) fn needs(value: &Value, needed: impl fmt::Display) -> Self {
        Self::new(format!("\"{}\" is not {needed}", value.shortened()))
    }

    /// Prepends the name of the enclosing structure.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        let path = match self.path.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        Self { path, ..self }
    }
}

impl Value {
    /// Creates a text.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the beginning of its text, for messages.
    pub fn shortened(&self) -> String {
        shortened(&self.to_string())
    }

    /// Parses JSON.
    ///
    /// # Errors
    /// Returns the error of the JSON.
    pub fn parse(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    /// Returns the entries of a map.
    ///
    /// # Errors
    /// Returns an error for other values.
    pub fn as_map(&self) -> Result<impl Iterator<Item = (&str, &Self)>, Problem> {
        match self {
            Self::Map(entries) => Ok(entries.iter().map(|(name, value)| (&**name, value))),
            other => Err(Problem::needs(other, "an object with fields")),
        }
    }

    /// Returns the entry of a map with this name. In JSON, a value with explanations
    /// beside it may be unnamed.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_map()
            .ok()?
            .find(|(other, _)| in_json(other) == in_json(name))
            .map(|(_, value)| value)
    }

    /// Returns this as an integer, from a number or a text of decimal or hexadecimal
    /// digits (`0x1F`).
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Bool(flag) => Some((*flag).into()),
            Self::Float(number) => whole((*number).into()),
            Self::Double(number) => whole(*number),
            Self::Text(text) => match text.trim().strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => text
                    .trim()
                    .parse()
                    .ok()
                    .or_else(|| whole(text.trim().parse().ok()?)),
            },
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns this as a finite number, from a number or a text.
    pub fn number(&self) -> Option<f64> {
        let number = match self {
            Self::Integer(number) => *number as f64,
            Self::Float(number) => (*number).into(),
            Self::Double(number) => *number,
            Self::Text(text) => text.trim().parse().ok()?,
            Self::Null | Self::Bool(_) | Self::List(_) | Self::Map(_) => return None,
        };
        number.is_finite().then_some(number)
    }

    /// Calls `add` with the column name of each part of this.
    pub(super) fn add_columns(&self, name: &str, parts: &[&str], add: &mut dyn FnMut(String)) {
        match self {
            Self::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    value.add_columns(&part_name(name, parts, index), &[], add);
                }
            }
            Self::Map(entries) => {
                for (part, value) in entries {
                    value.add_columns(&joined(name, part), &[], add);
                }
            }
            _ => add(name.to_owned()),
        }
    }

    /// Calls `add` with each part of this, in column order.
    pub fn into_leaves(self, add: &mut dyn FnMut(Self)) {
        match self {
            Self::List(values) => values.into_iter().for_each(|value| value.into_leaves(add)),
            Self::Map(entries) => {
                let values = entries.into_iter().map(|(_, value)| value);
                values.for_each(|value| value.into_leaves(add));
            }
            leaf => add(leaf),
        }
    }

    /// Returns a copy with `text` as the part in this column; `None` if there is no
    /// such part.
    pub(super) fn with_leaf(
        self,
        name: &str,
        parts: &[&str],
        column: &str,
        text: &str,
    ) -> Option<Self> {
        match self {
            Self::List(mut values) => {
                let found = values.iter().enumerate().find_map(|(index, value)| {
                    let value = value.clone();
                    Some((
                        index,
                        value.with_leaf(&part_name(name, parts, index), &[], column, text)?,
                    ))
                });
                let (index, value) = found?;
                values[index] = value;
                Some(Self::List(values))
            }
            Self::Map(entries) => entries.into_iter().find_map(|(part, value)| {
                let value = value.with_leaf(&joined(name, &part), &[], column, text)?;
                Some(Self::Map(vec![(part, value)]))
            }),
            _ => (name == column).then(|| match text {
                "" => Self::Null,
                _ => Self::text(text.to_owned()),
            }),
        }
    }
}

/// Returns the name of an entry in JSON, where a value with explanations beside it has
/// a name.
fn in_json(name: &str) -> &str {
    match name {
        "" => "value",
        _ => name,
    }
}

fn part_name(name: &str, parts: &[&str], index: usize) -> String {
    match parts.get(index) {
        Some(part) => joined(name, part),
        None => joined(name, &index.to_string()),
    }
}

/// Returns the column name of a part. An unnamed part is in the column of the field.
fn joined(name: &str, part: &str) -> String {
    match part {
        "" => name.to_owned(),
        _ => format!("{name}_{part}"),
    }
}

fn whole(number: f64) -> Option<i64> {
    // All integers up to this are represented exactly.
    const MAX: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= MAX).then_some(number as i64)
}

/// The text of a cell. Numbers are decimal and never have an exponent.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(flag) => flag.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) if number.is_finite() => number.fmt(f),
            Self::Float(number) => f.write_str(&not_finite(*number)),
            Self::Double(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(_) | Self::Map(_) => {
                f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
            }
        }
    }
}

/// Returns the text of a number that is not finite. NaN is written with all its bits.
fn not_finite(number: f32) -> String {
    match number {
        f32::INFINITY => "Infinity".to_owned(),
        f32::NEG_INFINITY => "-Infinity".to_owned(),
        _ => format!("NaN:{:08x}", number.to_bits()),
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Float(number) if number.is_finite() => serializer.serialize_f32(*number),
            Self::Float(number) => serializer.serialize_str(&not_finite(*number)),
            Self::Double(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (name, value) in entries {
                    map.serialize_entry(in_json(name), value)?;
                }
                map.end()
            }
        }
    }
}

macro_rules! from_integers {
    ($($type:ident)*) => {$(
        impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self::Integer(number.into())
            }
        }
    )*};
}

from_integers! { u8 i8 u16 i16 u32 i32 i64 }

macro_rules! from_lengths {
    ($($type:ident)*) => {$(
        /// Clamps numbers that are too large for the signed type. No file has these.
        impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
    )*};
}

from_lengths! { usize u64 }

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Float(number)
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Value {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(T::into).collect())
    }
}

/// Fails for duplicate keys of an object.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        let signed = i64::try_from(number);
        Ok(signed.map_or(Value::Double(number as f64), Value::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Double(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.to_owned().into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        let mut known = HashSet::new();
        while let Some(name) = values.next_key::<String>()? {
            if !known.insert(name.clone()) {
                return Err(A::Error::custom(format!(
                    "the key \"{}\" is there twice",
                    shortened(&name)
                )));
            }
            entries.push((name.into(), values.next_value()?));
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_understood_by_value() {
        let numbers = [
            "29", "29.0", "2.9e1", "\"29\"", "\"0x1D\"", "\" 29 \"", "\"29.0\"",
        ];
        for text in numbers {
            assert_eq!(Value::parse(text).unwrap().integer(), Some(29), "{text}");
        }
        for text in ["1.5", "\"\"", "\"0xG\"", "null", "[1]", "1e300", "\"nan\""] {
            assert_eq!(Value::parse(text).unwrap().integer(), None, "{text}");
        }
        for text in ["\"inf\"", "\"NaN\"", "true", "{}"] {
            assert_eq!(Value::parse(text).unwrap().number(), None, "{text}");
        }
    }

    #[test]
    fn a_problem_names_the_path_to_the_value() {
        let problem = Problem::needs(&Value::Integer(9), "at most 3");
        let problem = problem.within("[2]").within("links").within("object");
        assert_eq!(
            problem.to_string(),
            "object.links[2]: \"9\" is not at most 3"
        );
    }

    #[test]
    fn numbers_that_are_not_finite_are_texts_with_all_bits() {
        let values = [
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::from_bits(0x7fc0_0001),
        ];
        let list = Value::List(values.map(Value::Float).to_vec());
        assert_eq!(
            list.to_string(),
            r#"["Infinity","-Infinity","NaN:7fc00001"]"#
        );
    }
}
