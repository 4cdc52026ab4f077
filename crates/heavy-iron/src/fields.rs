//! The fields of records as JSON and cells.

use std::borrow::Cow;

use hpimount_record::Value;

use crate::names::Names;
use crate::parts::Part;
use crate::record;

/// Numbers in fields that are shown in words.
pub(super) trait Words {
    /// Returns the meaning of a field, which is shown instead of its value.
    fn instead(&self, field: &str, value: record::Value) -> Option<Cow<'static, str>> {
        let _ = (field, value);
        None
    }

    /// Returns the meaning of a field, which is shown in addition, and the name
    /// under which it is shown.
    fn besides(
        &self,
        field: &str,
        value: record::Value,
    ) -> Option<(&'static str, Cow<'static, str>)> {
        let _ = (field, value);
        None
    }
}

/// No words: all values are shown as they are.
impl Words for () {}

/// Shows an id in JSON.
pub(super) type Reference<'a> = &'a dyn Fn(u32) -> Value;

/// Returns an entry for each name of the parts, in the order in which they first
/// occur: a map, or a list of maps.
pub(super) fn entries(
    parts: &[Part],
    words: &dyn Words,
    reference: Reference<'_>,
) -> Vec<(&'static str, Value)> {
    let mut entries: Vec<(&'static str, Value)> = Vec::new();
    for part in parts {
        let fields = fields(part, words, reference);
        let mut known = entries.iter_mut().filter(|(name, _)| *name == part.name);
        match known.next() {
            Some((_, Value::List(items))) => items.push(Value::Map(fields)),
            Some((_, Value::Map(all))) => all.extend(fields),
            _ if part.item.is_some() => {
                entries.push((part.name, Value::List(vec![Value::Map(fields)])));
            }
            _ => entries.push((part.name, Value::Map(fields))),
        }
    }
    entries
}

fn fields(
    part: &Part,
    words: &dyn Words,
    reference: Reference<'_>,
) -> Vec<(Cow<'static, str>, Value)> {
    let kind = part.kind.map(|kind| ("kind".into(), kind.into()));
    let mut fields: Vec<_> = kind.into_iter().collect();
    for (name, value) in part.record.fields() {
        fields.push((
            name.into(),
            match words.instead(name, value) {
                Some(words) => Value::Text(words),
                None => json(value, reference),
            },
        ));
        let meaning = words.besides(name, value);
        fields.extend(meaning.map(|(name, meaning)| (name.into(), Value::Text(meaning))));
    }
    fields
}

/// Returns a value of a field in JSON. Numbers that are not finite are no value.
pub(super) fn json(value: record::Value, reference: Reference<'_>) -> Value {
    match value {
        record::Value::Id(id) => reference(id),
        value => finite(plain(value)),
    }
}

fn finite(value: Value) -> Value {
    match value {
        Value::Float(number) if !number.is_finite() => Value::Null,
        Value::List(values) => values.into_iter().map(finite).collect(),
        value => value,
    }
}

fn plain(value: record::Value) -> Value {
    match value {
        record::Value::Unsigned(number) | record::Value::Id(number) => number.into(),
        record::Value::Signed(number) => number.into(),
        record::Value::Float(number) => number.into(),
        record::Value::Vec2(values) => values.into_iter().collect(),
        record::Value::Vec3(values) => values.into_iter().collect(),
        record::Value::Vec4(values) => values.into_iter().collect(),
        record::Value::Color(parts) => parts.into_iter().collect(),
        record::Value::Code(code) => code.escape_ascii().to_string().into(),
    }
}

/// Returns the columns of fields: two for an id, one for each component of a vector.
pub(super) fn columns(layout: &[record::Column]) -> impl Iterator<Item = String> {
    layout.iter().flat_map(|column| {
        let parts: &[&str] = match column.kind {
            record::Kind::Pad1 | record::Kind::Pad2 | record::Kind::Pad4 => &[],
            record::Kind::Id => &["", "_name"],
            record::Kind::Vec2 => &["_x", "_y"],
            record::Kind::Vec3 => &["_x", "_y", "_z"],
            record::Kind::Vec4 => &["_x", "_y", "_z", "_w"],
            record::Kind::Color => &["_r", "_g", "_b", "_a"],
            _ => &[""],
        };
        parts.iter().map(|part| format!("{}{part}", column.name))
    })
}

/// Returns the cells of a value in its columns.
pub(super) fn cells(value: record::Value, names: Names<'_>) -> Vec<Value> {
    let mut cells = Vec::new();
    match value {
        record::Value::Id(id) => cells.extend(names.pair(id)),
        value => plain(value).into_leaves(&mut |leaf| cells.push(leaf)),
    }
    cells
}

/// Returns the cells of the fields of a record.
pub(super) fn cells_of(record: &record::Record, names: Names<'_>) -> Vec<Value> {
    let values = record.fields().map(|(_, value)| value);
    values.flat_map(|value| cells(value, names)).collect()
}
