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
    /// Width of its largest picture in pixels.
    pub width: Option<f64>,
    /// Height of the same picture.
    pub height: Option<f64>,
    /// Number of vertices of a model.
    pub vertices: Option<f64>,
    /// Length of its longest sound or animation in seconds.
    pub seconds: Option<f64>,
}

/// The table of the pictures of a sprite, whose sizes are not in its `info.json`.
const FRAMES: &str = "frames.tsv";

/// Returns the facts of an asset from its `info.json`, and the missing ones from
/// its `info.txt` and its `frames.tsv`.
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
    if (facts.width, facts.height) == (None, None)
        && let Some(frames) = shown.text(FRAMES, most)?
    {
        [facts.width, facts.height] = in_table(&frames);
    }
    Ok(facts)
}

/// Returns the size of the largest picture in a table.
fn in_table(table: &str) -> Size {
    let mut rows = table.lines().map(|line| line.split('\t'));
    let columns: Vec<&str> = rows.next().into_iter().flatten().collect();
    let places = ["width", "height"].map(|name| columns.iter().position(|column| *column == name));
    let sizes = rows.map(|row| {
        let cells: Vec<&str> = row.collect();
        places.map(|place| cells.get(place?)?.parse().ok())
    });
    sizes.reduce(larger).unwrap_or_default()
}

/// Returns the number in the line of a summary with this label.
fn in_summary(summary: &str, label: &str) -> Option<f64> {
    let mut lines = summary.lines();
    let value = lines.find_map(|line| line.strip_prefix(label)?.strip_prefix(' '))?;
    value.split_whitespace().next()?.parse().ok()
}

/// The facts found in a JSON text: those that are nested least. Of several at the
/// same depth, the largest picture, the sum of the vertices and the longest time
/// count.
#[derive(Debug, Default)]
struct Found {
    /// Each with its depth.
    picture: Option<(u32, Size)>,
    vertices: Option<(u32, f64)>,
    seconds: Option<(u32, f64)>,
}

/// Width and height in pixels, if the object has these fields.
type Size = [Option<f64>; 2];

impl Found {
    fn search(&mut self, json: &str) {
        let mut text = serde_json::Deserializer::from_str(json);
        let seed = Search {
            found: self,
            depth: 0,
        };
        // What was found before an error counts.
        let _ = seed.deserialize(&mut text);
    }

    /// Adds the numbers of an object.
    fn add(&mut self, depth: u32, numbers: &Numbers) {
        if numbers.size != Size::default() {
            keep(&mut self.picture, depth, numbers.size, larger);
        }
        if let Some(vertices) = numbers.vertices {
            keep(&mut self.vertices, depth, vertices, |a, b| a + b);
        }
        if let Some(seconds) = numbers.seconds() {
            keep(&mut self.seconds, depth, seconds, f64::max);
        }
    }

    fn facts(&self) -> Facts {
        let [width, height] = self.picture.map(|(_, size)| size).unwrap_or_default();
        Facts {
            width,
            height,
            vertices: self.vertices.map(|(_, count)| count),
            seconds: self.seconds.map(|(_, seconds)| seconds),
        }
    }
}

/// Keeps the one of two values that is nested less; of two at the same depth, what
/// `combine` makes of them.
fn keep<T: Copy>(known: &mut Option<(u32, T)>, depth: u32, value: T, combine: fn(T, T) -> T) {
    *known = Some(match *known {
        Some((outer, known)) if outer < depth => (outer, known),
        Some((same, known)) if same == depth => (depth, combine(known, value)),
        _ => (depth, value),
    });
}

/// Returns the size with more pixels.
fn larger(known: Size, other: Size) -> Size {
    let pixels = |[width, height]: Size| width.unwrap_or(0.0) * height.unwrap_or(0.0);
    if pixels(other) > pixels(known) {
        other
    } else {
        known
    }
}

/// The numbers of one object that facts depend on.
#[derive(Debug, Default)]
struct Numbers {
    size: Size,
    vertices: Option<f64>,
    time: Option<f64>,
    samples: Option<f64>,
    /// Samples in a second.
    rate: Option<f64>,
}

impl Numbers {
    fn set(&mut self, field: &str, value: Value) {
        if let ("pixels", Value::Pair(size)) = (field, value) {
            self.size = size.map(Some);
        }
        let number = match value {
            Value::Number(number) => Some(number),
            _ => None,
        };
        *match field {
            "width" => &mut self.size[0],
            "height" => &mut self.size[1],
            "vertices" => &mut self.vertices,
            "seconds" | "duration" | "duration_s" => &mut self.time,
            "samples" => &mut self.samples,
            "rate" => &mut self.rate,
            _ => return,
        } = number;
    }

    /// Returns the length, which follows from the samples of a sound.
    fn seconds(&self) -> Option<f64> {
        let rate = self.rate.filter(|rate| *rate > 0.0);
        self.time.or_else(|| Some(self.samples? / rate?))
    }
}

/// What the search of a value returns.
#[derive(Debug, Clone, Copy)]
enum Value {
    Number(f64),
    /// A list of two numbers, such as the width and height of a map.
    Pair([f64; 2]),
    Other,
}

/// Searches a value without keeping it.
struct Search<'a> {
    found: &'a mut Found,
    depth: u32,
}

impl Search<'_> {
    /// Returns a search of a value inside this one.
    fn inner(&mut self) -> Search<'_> {
        Search {
            found: &mut *self.found,
            depth: self.depth + 1,
        }
    }

    /// Reads the fields of an object.
    fn fields<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        numbers: &mut Numbers,
    ) -> Result<(), A::Error> {
        while let Some(field) = map.next_key::<String>()? {
            if field == "warnings" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value_seed(self.inner())?;
            numbers.set(&field, value);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_bool<E>(self, _value: bool) -> Result<Self::Value, E> {
        Ok(Value::Other)
    }

    fn visit_str<E>(self, _value: &str) -> Result<Self::Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut numbers = [0.0; 2];
        let (mut count, mut are_numbers) = (0, true);
        while let Some(value) = list.next_element_seed(self.inner())? {
            match (value, numbers.get_mut(count)) {
                (Value::Number(number), Some(place)) => *place = number,
                _ => are_numbers = false,
            }
            count += 1;
        }
        Ok(match are_numbers && count == numbers.len() {
            true => Value::Pair(numbers),
            false => Value::Other,
        })
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Numbers::default();
        let read = self.fields(&mut map, &mut numbers);
        self.found.add(self.depth, &numbers);
        read.map(|()| Value::Other)
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
    fn the_outermost_facts_count() {
        let json = r#"{"frames": [{"width": 5, "height": 9}],
            "vertices": 10, "meshes": [{"vertices": 3}], "seconds": null}"#;
        let expected = Facts {
            width: Some(5.0),
            height: Some(9.0),
            vertices: Some(10.0),
            seconds: None,
        };
        assert_eq!(facts(json), expected);
        assert_eq!(facts(r#"{"width": 3, "x": "#).width, Some(3.0));
        assert_eq!(facts(r#"{"width": [1, 2]}"#).width, None);
    }

    #[test]
    fn the_pixels_of_a_map_are_its_size() {
        let size = |json: &str| [facts(json).width, facts(json).height];
        let map = r#"{"tiles": [8, 12], "pixels": [256, 384]}"#;
        assert_eq!(size(map), [Some(256.0), Some(384.0)]);
        for other in ["[256]", "[1, 2, 3]", "[1, null]", "7"] {
            assert_eq!(size(&format!(r#"{{"pixels": {other}}}"#)), [None; 2]);
        }
    }

    #[test]
    fn of_several_facts_the_largest_picture_all_vertices_and_the_longest_time_count() {
        let json = r#"{"list": [
            {"width": 40, "height": 30, "vertices": 3, "duration": 0.5},
            {"width": 64, "height": 16, "vertices": 4, "duration": 0.25}]}"#;
        let expected = Facts {
            width: Some(40.0),
            height: Some(30.0),
            vertices: Some(7.0),
            seconds: Some(0.5),
        };
        assert_eq!(facts(json), expected);
    }

    #[test]
    fn the_length_of_a_sound_follows_from_its_samples() {
        let json = r#"{"rate": 8000, "sounds": [
            {"rate": 11025, "samples": 22050}, {"rate": 0, "samples": 1}, {"samples": 10}]}"#;
        assert_eq!(facts(json).seconds, Some(2.0));
        let both = r#"{"rate": 8000, "samples": 4000, "seconds": 0.75}"#;
        assert_eq!(facts(both).seconds, Some(0.75));
    }

    #[test]
    fn a_table_has_the_sizes_of_its_pictures() {
        let table = "name\theight\twidth\nboom\t30\t40\nboom\t16\t64\nnone\t\t\n";
        assert_eq!(in_table(table), [Some(40.0), Some(30.0)]);
        assert_eq!(in_table("name\n"), Size::default());
        assert_eq!(in_table("name\nboom\n"), Size::default());
    }

    #[test]
    fn a_summary_has_a_number_after_its_label() {
        let summary = "PSX level\n\nvertices       212 (3 unused)\n";
        assert_eq!(in_summary(summary, "vertices"), Some(212.0));
        assert_eq!(in_summary(summary, "vert"), None);
    }
}
