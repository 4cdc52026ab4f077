//! Facts that are generated lazily while they are written, because lists in them may be
//! long.

use std::borrow::Cow;
use std::ops::Range;

use hpimount_containers::io::Endian;
use hpimount_record::{self as record, Record, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::field::{StoredField, stored_fields};
use super::place::Place;
use super::rows::{Columns, VALUE, take, take_value};

/// The nodes of a list.
pub type Nodes<'a> = Box<dyn Iterator<Item = Node<'a>> + 'a>;

/// A fact: a value, or lazily generated facts.
pub enum Node<'a> {
    /// A value.
    Value(Value),
    /// Facts by name.
    Map(Vec<(Cow<'static, str>, Self)>),
    /// A row of a table.
    Row(Columns, Vec<Value>),
    /// A list.
    List(Vec<Self>),
    /// A lazily generated list.
    Each(Box<dyn Fn() -> Nodes<'a> + 'a>),
    /// A fact that can be edited by a rule.
    Ruled(Box<Self>, Rule<'a>),
    /// A missing entry of a map, which is not shown but can be added by an edit.
    Absent(Box<Self>),
}

/// The way of an edited value back into its asset.
pub enum Rule<'a> {
    /// It is stored.
    Stored(Place),
    /// A field of a stored record.
    Field(StoredField<'a>),
    /// It is derived from something else. The text says what to edit instead, after the
    /// path of the value: "is the name of the asset".
    Derived(&'static str),
    /// The number of elements of the list with this path.
    Count(&'static str),
    /// A list whose elements can be added, deleted and reordered.
    Elements(Elements<'a>),
    /// The number that selects the fields of a part.
    Selects(Selector<'a>),
    /// A text of this version of the program, such as a warning, or a number that other
    /// edited files of the asset change. It is not compared, because edited files may come
    /// from another version, or from before the other edits.
    Remark,
}

/// A number that selects the fields of a part of the asset.
pub struct Selector<'a> {
    /// Storage location of the number.
    pub place: Place,
    /// The name of the part. It may have further fields.
    pub part: &'static str,
    /// Offset of the selected fields.
    pub start: usize,
    /// The room for them in bytes.
    pub size: usize,
    /// Returns the selected fields with zeroed bytes and places relative to `start`;
    /// `None` if the number selects no fields.
    pub fields: Box<dyn Fn(u32) -> Option<Node<'a>> + 'a>,
}

/// A list that can grow and shrink.
pub struct Elements<'a> {
    /// Ranges of the elements in the asset, in order.
    pub ranges: Vec<Range<usize>>,
    /// Offset for the first element of an empty list.
    pub start: usize,
    /// The numbers that follow from it.
    pub counts: Vec<(Place, Counted)>,
    /// The largest number of elements.
    pub most: usize,
    /// The minimum length of the list in bytes. Shorter lists are padded with zeros.
    pub least_length: usize,
    /// The field that selects the fields of an element. An element with another value
    /// is a different element.
    pub kind: Option<&'static str>,
    /// Describes a new element with these values.
    pub blank: Blank<'a>,
}

/// Returns the length in bytes of a new element with these values, and its values with
/// zeroed bytes and places relative to its start.
///
/// # Errors
/// Returns the reason why there is no such element.
pub type Blank<'a> = Box<dyn Fn(&Value) -> Result<(usize, Node<'a>), String> + 'a>;

/// The unit of a count beside a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Number of elements.
    Elements,
    /// Number of bytes.
    Bytes,
}

impl<'a> Node<'a> {
    /// Creates a list by calling `make` for each item.
    pub fn each<T>(items: &'a [T], make: impl Fn(&'a T) -> Self + Copy + 'a) -> Self {
        Self::Each(Box::new(move || Box::new(items.iter().map(make))))
    }

    /// Adds how this is edited.
    #[must_use]
    pub fn ruled(self, rule: Rule<'a>) -> Self {
        Self::Ruled(Box::new(self), rule)
    }

    /// Makes a node read-only, because it is derived.
    #[must_use]
    pub fn derived(self, reason: &'static str) -> Self {
        self.ruled(Rule::Derived(reason))
    }

    /// Says where this is stored.
    #[must_use]
    pub fn stored(self, place: Place) -> Self {
        self.ruled(Rule::Stored(place))
    }

    /// Creates a list of numbers.
    pub fn numbers<T: Copy + Into<Value>>(numbers: &'a [T]) -> Self {
        Self::each(numbers, |&number| number.into().into())
    }

    /// Creates a list of texts.
    pub fn texts(texts: Vec<String>) -> Self {
        Self::Value(Value::List(texts.into_iter().map(Value::text).collect()))
    }

    /// Calls `see` with each part of a map, a row or a list; parts of maps and rows
    /// have names.
    pub fn for_each(&self, see: &mut dyn FnMut(Option<&str>, &Self)) {
        match self {
            Self::Value(Value::Map(entries)) => {
                for (name, value) in entries {
                    see(Some(name), &Self::Value(value.clone()));
                }
            }
            Self::Value(Value::List(values)) => {
                for value in values {
                    see(None, &Self::Value(value.clone()));
                }
            }
            Self::Value(_) => {}
            Self::Map(entries) => entries
                .iter()
                .for_each(|(name, node)| see(Some(name), node)),
            Self::Row(columns, row) => {
                for (name, value) in columns.iter().zip(row) {
                    see(Some(name), &Self::Value(value.clone()));
                }
            }
            Self::List(nodes) => nodes.iter().for_each(|node| see(None, node)),
            Self::Each(nodes) => nodes().for_each(|node| see(None, &node)),
            Self::Ruled(node, _) | Self::Absent(node) => node.for_each(see),
        }
    }

    /// Returns the fact with everything in it as a value, or `None` if it needs more
    /// than `left` bytes. Subtracts its bytes from `left`.
    pub fn collect(&self, left: &mut usize) -> Option<Value> {
        if let Self::Ruled(node, _) | Self::Absent(node) = self {
            return node.collect(left);
        }
        if !matches!(self, Self::Value(_)) {
            take(VALUE, left)?;
        }
        match self {
            Self::Ruled(node, _) | Self::Absent(node) => node.collect(left),
            Self::Value(value) => {
                take_value(value, left)?;
                Some(value.clone())
            }
            Self::Map(entries) => {
                let entries = present(entries).map(|(name, node)| {
                    take(name.len(), left)?;
                    Some((name.clone(), node.collect(left)?))
                });
                entries.collect::<Option<_>>().map(Value::Map)
            }
            Self::Row(columns, row) => {
                let entries = columns.iter().zip(row).map(|(name, value)| {
                    take(name.len(), left)?;
                    take_value(value, left)?;
                    Some((name.clone(), value.clone()))
                });
                entries.collect::<Option<_>>().map(Value::Map)
            }
            Self::List(nodes) => {
                let values = nodes.iter().map(|node| node.collect(left));
                values.collect::<Option<_>>().map(Value::List)
            }
            Self::Each(nodes) => {
                let values = nodes().map(|node| node.collect(left));
                values.collect::<Option<_>>().map(Value::List)
            }
        }
    }

    /// Returns all of it as a value.
    pub fn to_value(&self) -> Value {
        self.collect(&mut usize::MAX.clone()).unwrap_or(Value::Null)
    }

    /// Returns the fact without its editing rule.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Ruled(node, _) | Self::Absent(node) => node.plain(),
            other => other,
        }
    }

    /// Returns the fact with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self.plain() {
            Self::Value(value) => value.get(name),
            Self::Map(entries) => {
                let (_, node) = entries.iter().find(|(other, _)| other == name)?;
                match node.plain() {
                    Self::Value(value) => Some(value),
                    _ => None,
                }
            }
            Self::Ruled(..) | Self::Absent(_) => None,
            Self::Row(columns, row) => row.get(columns.iter().position(|column| column == name)?),
            Self::List(_) | Self::Each(_) => None,
        }
    }

    /// Returns the label of this node in a list in a summary: its name, or the node
    /// itself if it is a text.
    pub(super) fn label(&self) -> Option<Value> {
        match self.plain() {
            Self::Value(text @ Value::Text(_)) => Some(text.clone()),
            other => other.get("name").cloned(),
        }
    }
}

/// Returns the visible entries of a map.
fn present<'n, 'a>(
    entries: &'n [(Cow<'static, str>, Node<'a>)],
) -> impl Iterator<Item = &'n (Cow<'static, str>, Node<'a>)> {
    let entries = entries.iter();
    entries.filter(|(_, node)| !matches!(node, Node::Absent(_)))
}

impl<T: Into<Value>> From<T> for Node<'_> {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(None)?;
                for (name, node) in present(entries) {
                    map.serialize_entry(name, node)?;
                }
                map.end()
            }
            Self::Row(columns, row) => serializer.collect_map(columns.iter().zip(row)),
            Self::List(nodes) => serializer.collect_seq(nodes),
            Self::Each(nodes) => serializer.collect_seq(nodes()),
            Self::Ruled(node, _) | Self::Absent(node) => node.serialize(serializer),
        }
    }
}

/// An entry of a map.
pub type Entry<'a> = (&'static str, Node<'a>);

/// Returns a map of these entries.
pub fn map<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Node<'a> {
    let entries = entries.into_iter();
    Node::Map(entries.map(|(name, node)| (name.into(), node)).collect())
}

/// Returns a map of the entries that have a value.
pub fn known<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Node<'a> {
    let entries = entries.into_iter();
    map(entries.filter(|(_, node)| !matches!(node, Node::Value(Value::Null))))
}

/// Returns the fields of a record.
pub fn entries<'a>(record: &dyn Record) -> Vec<Entry<'a>> {
    let entries = record::entries(record);
    entries.map(|(name, value)| (name, value.into())).collect()
}

/// The refusal for derived fields of a record.
const LAYOUT: &str = "follows from the layout of the file, or decides it";

/// Returns the fields of a record at an offset of its asset as editable nodes.
pub fn stored<'a, R: Record + Clone>(
    record: &'a R,
    start: usize,
    endian: Endian,
) -> Vec<Entry<'a>> {
    let entries = stored_fields(record, start, endian).map(|field| {
        let node = match field.value() {
            value if field.is_derived() => Node::from(value).derived(LAYOUT),
            Value::List(values) => {
                let elements = values.into_iter().enumerate().map(|(number, value)| {
                    let field = field.element(number);
                    Node::from(value).ruled(Rule::Field(field))
                });
                Node::List(elements.collect())
            }
            value => Node::from(value).ruled(Rule::Field(field.clone())),
        };
        (field.name(), node)
    });
    entries.collect()
}

/// Returns a record as a map.
pub fn of<'a>(record: &dyn Record) -> Node<'a> {
    record::value(record).into()
}

/// Returns the number of a record, its fields, and computed facts.
pub fn numbered<'a>(
    index: usize,
    fields: Vec<Entry<'a>>,
    computed: impl IntoIterator<Item = Entry<'a>>,
) -> Node<'a> {
    let index = ("index", index.into());
    map([index].into_iter().chain(fields).chain(computed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_collected_until_they_are_too_long() {
        let (long, made) = ("x".repeat(1000), std::cell::Cell::new(0));
        let node = || {
            let each = || -> Nodes<'_> {
                Box::new((0..600).map(|_| {
                    made.set(made.get() + 1);
                    long.clone().into()
                }))
            };
            map([("name", "a".into()), ("all", Node::Each(Box::new(each)))])
        };
        let mut left = 700_000;
        let value = node().collect(&mut left).unwrap();
        let texts = Value::List(vec![Value::text(long.clone()); 600]);
        assert_eq!(value.get("all"), Some(&texts));
        assert_eq!(left, 700_000 - (8 + 4 + 8 + 3 + 8 + 600_000));

        made.set(0);
        assert_eq!(node().collect(&mut 10_000), None);
        assert_eq!(made.get(), 10);
    }

    #[test]
    fn all_parts_of_a_nested_value_and_of_a_row_are_counted() {
        let list = Value::List(vec![Value::text("x".repeat(500)); 3]);
        let nested = Node::Value(list.clone());
        let columns: Columns = ["all".into()].into_iter().collect();
        let row = Node::Row(columns, vec![list.clone()]);
        for (node, needed) in [(nested, 1508), (row, 8 + 3 + 1508)] {
            assert!(node.collect(&mut { needed }).is_some());
            assert_eq!(node.collect(&mut (needed - 1)), None);
        }
    }
}
