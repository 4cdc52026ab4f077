//! `info.json` and `info.txt`, which have the same contents.

use std::io::{self, Write};

use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::origin::Origin;
use hpimount_assets::view::json;
use hpimount_assets::view::{AssetContext, Summary};
use hpimount_containers::io::{Endian, Warnings};

/// The properties of an asset, in the order of the files.
#[derive(Debug)]
pub(crate) struct Info {
    title: &'static str,
    facts: Vec<(&'static str, Value)>,
    /// The warnings.
    pub(super) warnings: Warnings,
}

impl Info {
    /// Creates the properties common to all assets.
    pub(super) fn new(title: &'static str, bytes: &Bytes, context: &dyn AssetContext) -> Self {
        let mut info = Self {
            title,
            facts: Vec::new(),
            warnings: Warnings::default(),
        };
        let origin = Origin::of(context);
        if let Some(id) = origin.id {
            info.add("asset_type", origin.code.escape_ascii().to_string().trim());
            info.add("id", format!("{id:08X}"));
        }
        info.add("platform", origin.facts.platform.name());
        info.add("game", origin.game);
        let endian = match origin.facts.endian {
            Endian::Big => "big",
            Endian::Little => "little",
        };
        info.add("endian", endian);
        info.add("file_size", bytes.len());
        info
    }

    /// Adds a property.
    pub(super) fn add(&mut self, name: &'static str, value: impl Serialize) -> &mut Self {
        self.facts.push((name, json::value(&value)));
        self
    }

    /// Writes `info.json`.
    pub(super) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write_lines(self, 2, out)
    }

    /// Writes `info.txt`.
    pub(super) fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut summary = Summary::new(self.title);
        for (name, value) in &self.facts {
            let label = name.replace('_', " ");
            match value {
                Value::Null => {}
                Value::String(text) => {
                    summary.line(&label, text);
                }
                Value::Array(items) if !items.iter().all(Value::is_number) => {
                    summary.list(&label, items.iter().map(brief));
                }
                Value::Array(items) if items.is_empty() => {
                    summary.line(&label, 0);
                }
                other => {
                    summary.line(&label, brief(other));
                }
            }
        }
        summary.write(&self.warnings, out)
    }

    /// Returns the memory on the heap in bytes.
    pub(super) fn memory(&self) -> usize {
        let values = self.facts.iter().map(|(_, value)| memory(value));
        self.facts.capacity() * size_of::<(&str, Value)>()
            + values.sum::<usize>()
            + get_size2::GetSize::get_heap_size(&self.warnings)
    }
}

impl Serialize for Info {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", self.title)?;
        for (name, value) in &self.facts {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("warnings", &self.warnings.texts())?;
        map.end()
    }
}

/// Returns a value on one line, with texts unquoted.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(brief).collect();
            items.join(" ")
        }
        Value::Object(fields) => {
            let known = fields.iter().filter(|(_, value)| !is_nothing(value));
            let known = known.map(|(name, value)| format!("{name} {}", brief(value)));
            format!("({})", known.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns whether a value is omitted because it is empty.
fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

/// Returns the approximate heap memory of a value in bytes.
fn memory(value: &Value) -> usize {
    match value {
        Value::String(text) => text.capacity(),
        Value::Array(items) => {
            items.capacity() * size_of::<Value>() + items.iter().map(memory).sum::<usize>()
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| 2 * size_of::<(String, Value)>() + name.len() + memory(value))
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::Alone;
    use serde_json::json;

    #[test]
    fn both_files_have_the_same_facts() {
        let mut info = Info::new("HIP test", &Bytes::from_static(b"abc"), &Alone);
        info.add("lights", 2)
            .add("group", json!({"id": "00000007"}));
        info.add("none", json!([])).add("brain", Value::Null);
        info.add("parts", json!([{"form": "plain", "name": ""}]));
        let (mut text, mut json) = (Vec::new(), Vec::new());
        info.text(&mut text).unwrap();
        info.json(&mut json).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.starts_with("HIP test\n\nplatform       unknown\n"),
            "{text}"
        );
        let end = "lights         2\ngroup          (id 00000007)\nnone           0\n\
                   parts          1: (form plain)\nwarnings       none\n";
        assert!(text.ends_with(end), "{text}");
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(
            (&json["file_size"], &json["lights"]),
            (&3.into(), &2.into())
        );
        assert!(json["brain"].is_null());
    }
}
