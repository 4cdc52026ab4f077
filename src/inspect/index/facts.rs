//! The numbers that compare assets of all formats, from their views.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::inspect::Trouble;
use crate::inspect::shown::{INFO, SUMMARY, Shown};

/// Maximum length of an `info.json` that is searched, in bytes.
const MAX_INFO: usize = 16 << 20;

/// Maximum length of an `info.txt`.
const MAX_SUMMARY: usize = 64 << 10;

/// Facts about an asset, if its view has them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Facts {
    /// Width and height of its largest picture, in pixels.
    pub width: Option<f64>,
    /// See [`Facts::width`].
    pub height: Option<f64>,
    /// Number of vertices of a model.
    pub vertices: Option<f64>,
    /// Length of its longest sound or animation.
    pub seconds: Option<f64>,
}

/// Returns the facts of an asset: those of its `info.json`, and those that only
/// its `info.txt` has.
///
/// # Errors
/// Returns an error if something that they depend on cannot be read.
pub(super) fn of(shown: &Shown<'_>) -> Result<Facts, Trouble> {
    let budget = shown.vfs.reader().budget();
    let most = MAX_INFO.min(budget.limit() / 4);
    let _memory = budget.reserve("its facts", most, true)?;
    let mut found = Found::default();
    if let Some(info) = shown.text(INFO, most)? {
        found.search(&info);
    }
    let mut facts = found.facts();
    if facts.vertices.is_none()
        && let Some(summary) = shown.text(SUMMARY, MAX_SUMMARY.min(most))?
    {
        facts.vertices = in_summary(&summary, "vertices");
    }
    Ok(facts)
}

/// Returns the number in the line of a summary with this label.
fn in_summary(summary: &str, label: &str) -> Option<f64> {
    let mut lines = summary.lines();
    let value = lines.find_map(|line| line.strip_prefix(label)?.strip_prefix(' '))?;
    value.split_whitespace().next()?.parse().ok()
}

/// A fact, and the names of fields that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    Width,
    Height,
    Vertices,
    Seconds,
}

impl Fact {
    fn named(field: &str) -> Option<Self> {
        match field {
            "width" => Some(Self::Width),
            "height" => Some(Self::Height),
            "vertices" => Some(Self::Vertices),
            "seconds" | "duration" | "duration_s" => Some(Self::Seconds),
            _ => None,
        }
    }
}

/// The facts found in a JSON text: those that are nested least. Of several at the
/// same depth, the largest counts, or the sum of the vertices.
#[derive(Debug, Default)]
struct Found {
    /// For each [`Fact`] its depth and its value.
    values: [Option<(u32, f64)>; 4],
}

impl Found {
    fn search(&mut self, json: &str) {
        let mut text = serde_json::Deserializer::from_str(json);
        let seed = Search {
            found: self,
            fact: None,
            depth: 0,
        };
        // What was found before an error counts.
        let _ = seed.deserialize(&mut text);
    }

    fn add(&mut self, fact: Fact, depth: u32, value: f64) {
        let known = &mut self.values[fact as usize];
        *known = Some(match *known {
            Some((outer, known)) if outer < depth => (outer, known),
            Some((same, known)) if same == depth && fact == Fact::Vertices => {
                (depth, known + value)
            }
            Some((same, known)) if same == depth => (depth, known.max(value)),
            _ => (depth, value),
        });
    }

    fn facts(&self) -> Facts {
        let value = |fact: Fact| self.values[fact as usize].map(|(_, value)| value);
        Facts {
            width: value(Fact::Width),
            height: value(Fact::Height),
            vertices: value(Fact::Vertices),
            seconds: value(Fact::Seconds),
        }
    }
}

/// Searches a value without keeping it.
struct Search<'a> {
    found: &'a mut Found,
    /// What the value is, if it is a number.
    fact: Option<Fact>,
    depth: u32,
}

impl Search<'_> {
    fn number(self, value: f64) {
        if let Some(fact) = self.fact {
            self.found.add(fact, self.depth, value);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.number(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.number(value as f64);
        Ok(())
    }

    fn visit_bool<E>(self, _value: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _value: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        loop {
            let item = Search {
                found: &mut *self.found,
                fact: None,
                depth: self.depth + 1,
            };
            if list.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key::<String>()? {
            if field == "warnings" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            map.next_value_seed(Search {
                found: &mut *self.found,
                fact: Fact::named(&field),
                depth: self.depth + 1,
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(json: &str) -> Facts {
        let mut found = Found::default();
        found.search(json);
        found.facts()
    }

    #[test]
    fn the_outermost_facts_count_and_the_largest_of_several() {
        let json = r#"{"frames": [{"width": 5, "height": 9}, {"width": 7, "height": 2}],
            "vertices": 10, "meshes": [{"vertices": 3}], "seconds": null}"#;
        let expected = Facts {
            width: Some(7.0),
            height: Some(9.0),
            vertices: Some(10.0),
            seconds: None,
        };
        assert_eq!(facts(json), expected);
        let nested = r#"{"a": [{"vertices": 3, "duration": 0.5}, {"vertices": 4}]}"#;
        assert_eq!(facts(nested).vertices, Some(7.0));
        assert_eq!(facts(nested).seconds, Some(0.5));
        assert_eq!(facts(r#"{"width": 3, "x": "#).width, Some(3.0));
        assert_eq!(facts(r#"{"width": [1, 2]}"#).width, None);
    }

    #[test]
    fn a_summary_has_a_number_after_its_label() {
        let summary = "PSX level\n\nvertices       212 (3 unused)\n";
        assert_eq!(in_summary(summary, "vertices"), Some(212.0));
        assert_eq!(in_summary(summary, "vert"), None);
    }
}
