//! The fields of parts as JSON.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::names::Names;
use crate::parts::Part;
use crate::record::Value;

/// Numbers in fields that are shown in words.
pub(super) trait Words {
    /// Returns the meaning of a field, which is shown instead of its value.
    fn instead(&self, field: &str, value: Value) -> Option<Cow<'static, str>>;

    /// Returns the meaning of a field, which is shown in addition, and the name
    /// under which it is shown.
    fn besides(&self, field: &str, value: Value) -> Option<(&'static str, Cow<'static, str>)>;
}

/// No words: all values are shown as they are.
pub(super) struct NoWords;

impl Words for NoWords {
    fn instead(&self, _field: &str, _value: Value) -> Option<Cow<'static, str>> {
        None
    }

    fn besides(&self, _field: &str, _value: Value) -> Option<(&'static str, Cow<'static, str>)> {
        None
    }
}

/// Parts, and what their fields are shown with.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) parts: &'a [Part],
    pub(super) words: &'a dyn Words,
    pub(super) names: Names<'a>,
}

impl Parts<'_> {
    /// Adds an entry for each name of the parts, in the order in which they
    /// first occur: an object, or a list of objects.
    pub(super) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (index, part) in self.parts.iter().enumerate() {
            let is_known = |earlier: &Part| earlier.name == part.name;
            if self.parts[..index].iter().any(is_known) {
                continue;
            }
            let of_name: Vec<&Part> = self.parts[index..].iter().filter(|p| is_known(p)).collect();
            if part.item.is_some() {
                let items: Vec<_> = of_name
                    .iter()
                    .map(|&part| self.fields(vec![part]))
                    .collect();
                map.serialize_entry(part.name, &items)?;
            } else {
                map.serialize_entry(part.name, &self.fields(of_name))?;
            }
        }
        Ok(())
    }

    fn fields<'b>(&'b self, parts: Vec<&'b Part>) -> Fields<'b> {
        Fields { of: *self, parts }
    }
}

/// The fields of parts of one name.
struct Fields<'a> {
    of: Parts<'a>,
    parts: Vec<&'a Part>,
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for part in &self.parts {
            if let Some(kind) = part.kind {
                map.serialize_entry("kind", kind)?;
            }
            for (name, value) in part.record.fields() {
                match self.of.words.instead(name, value) {
                    Some(words) => map.serialize_entry(name, &words)?,
                    None => map.serialize_entry(name, &Field(value, self.of.names))?,
                }
                if let Some((name, meaning)) = self.of.words.besides(name, value) {
                    map.serialize_entry(name, &meaning)?;
                }
            }
        }
        map.end()
    }
}

/// A value of a field.
pub(super) struct Field<'a>(pub(super) Value, pub(super) Names<'a>);

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Unsigned(value) => value.serialize(serializer),
            Value::Signed(value) => value.serialize(serializer),
            Value::Float(value) => value.serialize(serializer),
            Value::Vec2(value) => value.serialize(serializer),
            Value::Vec3(value) => value.serialize(serializer),
            Value::Vec4(value) => value.serialize(serializer),
            Value::Id(id) => self.1.reference(id).serialize(serializer),
            Value::Color(value) => value.serialize(serializer),
            Value::Code(value) => serializer.collect_str(&value.escape_ascii()),
        }
    }
}
