//! `info.txt`: a summary.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use hpimount_containers::io::Warnings;
use hpimount_record::Value;

use super::node::Node;

/// Maximum number of warnings in the summary; `info.json` has all of them.
const WARNINGS_SHOWN: usize = 10;

/// Maximum number of list items in the summary.
const ITEMS_SHOWN: usize = 8;

/// Width of the labels. A longer label pushes its own value to the right.
const LABEL_WIDTH: usize = 14;

/// An `info.txt` under construction: a heading, a line for every fact, then the
/// warnings.
#[derive(Debug)]
pub struct Summary {
    text: String,
}

impl Summary {
    /// Creates a summary with a heading that describes the file.
    pub fn new(heading: impl Display) -> Self {
        Self {
            text: format!("{heading}\n\n"),
        }
    }

    /// Adds a fact.
    pub fn line(&mut self, label: &str, value: impl Display) -> &mut Self {
        let value = value.to_string();
        self.push(label, &value);
        self
    }

    /// Adds the number of items, and the first items.
    pub fn list<T: Display>(
        &mut self,
        label: &str,
        items: impl ExactSizeIterator<Item = T>,
    ) -> &mut Self {
        let count = items.len();
        self.push_items(label, count, items.take(ITEMS_SHOWN));
        self
    }

    /// Adds a fact. Ignores maps. For a list, adds the number of items and the first
    /// names.
    pub(super) fn fact(&mut self, label: &str, node: &Node<'_>) {
        let value = match node.plain() {
            Node::Value(_) | Node::List(_) => node.to_value(),
            Node::Each(nodes) => {
                self.named(label, nodes().map(|node| node.label()));
                return;
            }
            Node::Map(_) | Node::Row(..) | Node::Ruled(..) | Node::Absent(_) => return,
        };
        match value {
            Value::List(values) => match position(&values) {
                Some(position) => self.line(label, position),
                None => self.named(label, values.iter().map(brief)),
            },
            value => match brief(&value) {
                Some(value) => self.line(label, value),
                None => return,
            },
        };
    }

    /// Adds the number of items, and the first names if there are any.
    pub fn named<T: Display>(
        &mut self,
        label: &str,
        mut names: impl Iterator<Item = Option<T>>,
    ) -> &mut Self {
        let first: Vec<_> = names.by_ref().take(ITEMS_SHOWN).collect();
        let count = first.len() + names.count();
        match first.into_iter().collect::<Option<Vec<_>>>() {
            Some(first) => self.push_items(label, count, first.into_iter()),
            None => self.push(label, &count.to_string()),
        }
        self
    }

    fn push_items<T: Display>(
        &mut self,
        label: &str,
        count: usize,
        first: impl Iterator<Item = T>,
    ) {
        let first: Vec<_> = first.map(|item| item.to_string()).collect();
        let mut value = match count {
            0 => "0".into(),
            _ => format!("{count}: {}", first.join(", ")),
        };
        if count > ITEMS_SHOWN {
            value += &format!(" and {} more", count - ITEMS_SHOWN);
        }
        self.push(label, &value);
    }

    /// Adds the warnings and writes the summary.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write(mut self, warnings: &Warnings, out: &mut dyn Write) -> io::Result<()> {
        self.add_warnings(warnings);
        out.write_all(self.text.as_bytes())
    }

    fn add_warnings(&mut self, warnings: &Warnings) {
        if warnings.is_empty() {
            self.push("warnings", "none");
            return;
        }
        self.push("warnings", &warnings.len().to_string());
        let texts = warnings.texts();
        for text in texts.iter().take(WARNINGS_SHOWN) {
            self.text.push_str("  ");
            self.push_plain(text);
            self.text.push('\n');
        }
        if warnings.len() > WARNINGS_SHOWN {
            let more = warnings.len() - WARNINGS_SHOWN;
            writeln!(self.text, "  and {more} more, see info.json")
                .expect("writing to a String cannot fail");
        }
    }

    fn push(&mut self, label: &str, value: &str) {
        write!(self.text, "{label:LABEL_WIDTH$} ").expect("writing to a String cannot fail");
        self.push_plain(value);
        self.text.push('\n');
    }

    /// Appends a value. Names come from the file, and control characters must not break
    /// the layout or reach a terminal.
    fn push_plain(&mut self, value: &str) {
        for character in value.chars() {
            if character.is_control() {
                self.text.extend(character.escape_default());
            } else {
                self.text.push(character);
            }
        }
    }
}

/// Formats a few numbers, such as a position; `None` for other lists.
fn position(values: &[Value]) -> Option<String> {
    let is_number = |value: &Value| {
        matches!(
            value,
            Value::Integer(_) | Value::Float(_) | Value::Double(_)
        )
    };
    if !(2..=4).contains(&values.len()) || !values.iter().all(is_number) {
        return None;
    }
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    Some(texts.join(", "))
}

/// Returns the short form of a value in summaries: a map is represented by its name.
fn brief(value: &Value) -> Option<&Value> {
    let shown = match value {
        Value::Map(_) => value.get("name")?,
        value => value,
    };
    (*shown != Value::Null).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(summary: Summary, warnings: &Warnings) -> String {
        let mut bytes = Vec::new();
        summary.write(warnings, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_fact_is_one_line_even_with_control_characters() {
        let mut summary = Summary::new("IFP animation package");
        summary.line("name", "a\nb\u{1b}[2J").line("animations", 3);
        assert_eq!(
            text(summary, &Warnings::default()),
            "IFP animation package\n\n\
             name           a\\nb\\u{1b}[2J\n\
             animations     3\n\
             warnings       none\n"
        );
    }

    #[test]
    fn a_list_shows_its_first_items() {
        let mut summary = Summary::new("x");
        summary
            .list("few", 0..2)
            .list("many", 0..20)
            .list("none", 0..0);
        let shown = text(summary, &Warnings::default());
        assert!(shown.contains("few            2: 0, 1\n"), "{shown}");
        assert!(shown.contains("20: 0, 1, 2, 3, 4, 5, 6, 7 and 12 more\n"));
        assert!(shown.contains("none           0\n"));
    }

    #[test]
    fn only_the_first_warnings_are_shown_and_the_others_counted() {
        let mut warnings = Warnings::default();
        for number in 0..12 {
            warnings.push(format!("odd {number}"));
        }
        let shown = text(Summary::new("x"), &warnings);
        assert!(shown.contains("warnings       12\n  odd 0\n"));
        assert!(shown.ends_with("  odd 9\n  and 2 more, see info.json\n"));
    }
}
