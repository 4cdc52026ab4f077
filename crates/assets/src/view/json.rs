//! JSON in generated files: one field per line, so that `grep` finds a field
//! with its value.
//!
//! A list of numbers stays on the line of its field (`"origin": [0.0, 1.0,
//! 0.0]`); a list of texts has one line for each. Floating-point numbers are
//! printed in the shortest exact form for their own width, NaN and infinities
//! as `null`; to keep the width, models are serialized directly and never
//! through a [`serde_json::Value`].

use std::io::{self, Write};

use hpimount_containers::io::Bounded;
use serde::{Serialize, Serializer};
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// Writes `value` as JSON text, one field per line, with a newline at the end.
///
/// The text is written in many small pieces; `out` should have a buffer.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_lines(value, usize::MAX, out)
}

/// Like [`write_pretty`], but objects and lists at nesting depth `depth` are
/// written on one line. The outermost value has depth 0.
///
/// This is for long lists of small objects, such as keyframes.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_lines(value: &impl Serialize, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Lines::new(depth));
    value.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Returns the text of [`write_pretty`], for small values.
pub fn pretty(value: &impl Serialize) -> Vec<u8> {
    lines(value, usize::MAX)
}

/// Returns the text of [`write_lines`].
fn lines(value: &impl Serialize, depth: usize) -> Vec<u8> {
    let mut text = Vec::new();
    write_lines(value, depth, &mut text).expect("writing JSON to memory cannot fail");
    text
}

/// A list whose items are generated lazily while they are written.
pub struct Seq<'a, T>(Box<dyn Fn() -> Items<'a, T> + 'a>);

type Items<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

impl<'a, T> Seq<'a, T> {
    /// Creates a list of the items of the iterators that `items` returns.
    pub fn new<I: Iterator<Item = T> + 'a>(items: impl Fn() -> I + 'a) -> Self {
        Self(Box::new(move || Box::new(items())))
    }
}

impl<T: Serialize> Serialize for Seq<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Returns `value` as a [`serde_json::Value`] that prints like `value` itself.
pub fn value(value: &impl Serialize) -> serde_json::Value {
    // A 32-bit number in a `Value` would be printed with the digits of its
    // 64-bit conversion; the text has only its own digits.
    parsed(&lines(value, 0))
}

/// Length of the text in bytes above which [`bounded_value`] prefers the brief
/// form: a [`serde_json::Value`] takes ten times as much memory as its text.
const MAX_FULL: usize = 1 << 20;

/// Like [`value`], but returns `brief` if `full` would take much memory.
pub fn bounded_value(full: &impl Serialize, brief: &impl Serialize) -> serde_json::Value {
    let mut text = Bounded::new(MAX_FULL);
    match write_lines(full, 0, &mut text) {
        Ok(()) => parsed(&text.into_bytes()),
        Err(_) => value(brief),
    }
}

fn parsed(text: &[u8]) -> serde_json::Value {
    serde_json::from_slice(text).expect("written JSON is valid")
}

/// The layout of a list or an object during writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A list with no first element yet.
    Undecided,
    /// All on one line.
    Flat,
    /// One element per line.
    Broken,
}

struct Lines {
    flat_from: usize,
    open: Vec<Layout>,
}

impl Lines {
    fn new(flat_from: usize) -> Self {
        Self {
            flat_from,
            open: Vec::new(),
        }
    }

    /// Returns whether a value that begins now must stay on its line.
    fn must_be_flat(&self) -> bool {
        self.open.len() >= self.flat_from || self.open.last() == Some(&Layout::Flat)
    }

    fn layout(&self) -> Layout {
        self.open.last().copied().unwrap_or(Layout::Flat)
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        for _ in &self.open {
            writer.write_all(b"  ")?;
        }
        Ok(())
    }

    /// Handles a number or similar value. If it is the first element of an
    /// undecided list, that list stays on its line.
    fn plain(&mut self) {
        if let Some(layout @ Layout::Undecided) = self.open.last_mut() {
            *layout = Layout::Flat;
        }
    }

    /// Handles the start of a text, a list or an object. If it is the first
    /// element of an undecided list, that list has one element per line.
    fn nested<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if let Some(layout @ Layout::Undecided) = self.open.last_mut() {
            *layout = Layout::Broken;
            self.new_line(writer)?;
        }
        Ok(())
    }

    fn separate<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        match (self.layout(), first) {
            (Layout::Undecided, _) | (Layout::Flat, true) => Ok(()),
            (Layout::Flat, false) => writer.write_all(b", "),
            (Layout::Broken, true) => self.new_line(writer),
            (Layout::Broken, false) => {
                writer.write_all(b",")?;
                self.new_line(writer)
            }
        }
    }
}

macro_rules! plain_values {
    ($($write:ident($($value:ident: $type:ty)?);)*) => {$(
        fn $write<W: ?Sized + Write>(&mut self, writer: &mut W $(, $value: $type)?) -> io::Result<()> {
            self.plain();
            CompactFormatter.$write(writer $(, $value)?)
        }
    )*};
}

impl Formatter for Lines {
    plain_values! {
        write_null();
        write_bool(value: bool);
        write_i8(value: i8);
        write_i16(value: i16);
        write_i32(value: i32);
        write_i64(value: i64);
        write_u8(value: u8);
        write_u16(value: u16);
        write_u32(value: u32);
        write_u64(value: u64);
        write_f32(value: f32);
        write_f64(value: f64);
    }

    fn begin_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.nested(writer)?;
        CompactFormatter.begin_string(writer)
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        CompactFormatter.write_char_escape(writer, escape)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.nested(writer)?;
        self.open.push(if self.must_be_flat() {
            Layout::Flat
        } else {
            Layout::Undecided
        });
        writer.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.open.pop() == Some(Layout::Broken) {
            self.new_line(writer)?;
        }
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.nested(writer)?;
        self.open.push(if self.must_be_flat() {
            Layout::Flat
        } else {
            Layout::Broken
        });
        writer.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.open.pop() == Some(Layout::Broken) {
            self.new_line(writer)?;
        }
        writer.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_field_and_its_numbers_share_a_line() {
        let model = json!({
            "name": "a\"b",
            "origin": [0.5, 1, null],
            "meshes": [{"id": 1}, {"id": 2}],
            "matrix": [[1, 0], [0, 1]],
            "names": ["a", "b"],
            "none": [],
        });
        assert_eq!(
            text(pretty(&model)),
            r#"{
  "name": "a\"b",
  "origin": [0.5, 1, null],
  "meshes": [
    {
      "id": 1
    },
    {
      "id": 2
    }
  ],
  "matrix": [
    [1, 0],
    [0, 1]
  ],
  "names": [
    "a",
    "b"
  ],
  "none": []
}
"#
        );
    }

    #[test]
    fn deep_values_stay_on_one_line() {
        let model = json!({"keys": [{"t": 0, "q": [1, 2]}, {"t": 1, "list": [{"a": 1}]}]});
        assert_eq!(
            text(lines(&model, 2)),
            "{\n  \"keys\": [\n    {\"t\": 0, \"q\": [1, 2]},\n    {\"t\": 1, \"list\": [{\"a\": 1}]}\n  ]\n}\n"
        );
    }

    #[test]
    fn numbers_are_short_and_exact_and_never_nan() {
        let numbers = [0.1_f32, f32::NAN, f32::NEG_INFINITY, 1e-7, 3.0];
        assert_eq!(text(pretty(&numbers)), "[0.1, null, null, 1e-7, 3.0]\n");
        assert_eq!(pretty(&value(&numbers)), pretty(&numbers));
    }

    #[test]
    fn a_large_value_is_replaced_by_the_brief_one() {
        assert_eq!(bounded_value(&[1, 2], &0), json!([1, 2]));
        assert_eq!(bounded_value(&vec![0; MAX_FULL], &0), json!(0));
    }
}
