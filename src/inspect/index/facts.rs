//! The numbers that compare assets of all formats, from the values of their views.

use crate::inspect::shown::Shown;
use hpimount_assets::view::node::Node;
use hpimount_assets::view::page::Rows;
use hpimount_record::Value;

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

/// The table of the pictures of a sprite, whose sizes are not among its facts.
const FRAMES: &str = "frames.tsv";

/// Returns the facts of an asset from those of its view, and the size of a sprite
/// from its frames.
pub(super) fn of(shown: &Shown<'_>) -> Facts {
    let mut found = Found::default();
    found.search(&shown.model.view.info(), 0);
    let mut facts = found.facts();
    if (facts.width, facts.height) == (None, None)
        && let Ok(Some(size)) = shown.table(FRAMES, |frames| Some(in_table(frames)))
    {
        [facts.width, facts.height] = size;
    }
    facts
}

/// Returns the size of the largest picture in a table.
fn in_table(table: Rows<'_>) -> Size {
    let place = |name| table.columns.iter().position(|column| column == name);
    let places = ["width", "height"].map(place);
    let sizes = table
        .rows
        .map(|row| places.map(|place| row.get(place?)?.number()));
    sizes.reduce(larger).unwrap_or_default()
}

/// The facts found among values: those that are nested least. Of several at the
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
    /// Searches a fact and everything in it.
    fn search(&mut self, node: &Node<'_>, depth: u32) {
        let mut numbers = Numbers::default();
        node.for_each(&mut |name, inner| {
            if name == Some("warnings") {
                return;
            }
            self.search(inner, depth + 1);
            if let (Some(name), Node::Value(value)) = (name, inner.plain()) {
                numbers.set(name, value);
            }
        });
        self.add(depth, &numbers);
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
    fn set(&mut self, field: &str, value: &Value) {
        if let ("pixels", Value::List(values)) = (field, value)
            && let [width, height] = &values[..]
            && let (Some(width), Some(height)) = (number(width), number(height))
        {
            self.size = [Some(width), Some(height)];
        }
        *match field {
            "width" => &mut self.size[0],
            "height" => &mut self.size[1],
            "vertices" => &mut self.vertices,
            "seconds" | "duration" | "duration_s" => &mut self.time,
            "samples" => &mut self.samples,
            "rate" => &mut self.rate,
            _ => return,
        } = number(value);
    }

    /// Returns the length, which follows from the samples of a sound.
    fn seconds(&self) -> Option<f64> {
        let rate = self.rate.filter(|rate| *rate > 0.0);
        self.time.or_else(|| Some(self.samples? / rate?))
    }
}

/// Returns a value that is a number, and not a text of one.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(_) | Value::Float(_) | Value::Double(_) => value.number(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(json: &str) -> Facts {
        let mut found = Found::default();
        found.search(&Node::Value(Value::parse(json).unwrap()), 0);
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
        let size = |sizes: &'static [[u32; 2]]| {
            let rows = sizes.iter().map(|size| size.map(Value::from));
            in_table(Rows::new(["height", "width"], rows))
        };
        assert_eq!(size(&[[30, 40], [16, 64]]), [Some(40.0), Some(30.0)]);
        assert_eq!(size(&[]), Size::default());
        assert_eq!(
            in_table(Rows::new(["name"], [["x".into()]].into_iter())),
            Size::default()
        );
    }
}
