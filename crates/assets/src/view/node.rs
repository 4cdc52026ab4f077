//! Facts that are made one by one as they are written: lists in them may be long.

use std::borrow::Cow;

use hpimount_record::{self as record, Record, Scope, Value};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::page::Columns;

/// The nodes of a list.
pub type Nodes<'a> = Box<dyn Iterator<Item = Node<'a>> + 'a>;

/// A fact: a value, or facts that are made when they are needed.
pub enum Node<'a> {
    /// A value.
    Value(Value),
    /// Facts by name.
    Map(Vec<(Cow<'static, str>, Self)>),
    /// A row of a table.
    Row(Columns, Vec<Value>),
    /// A list.
    List(Vec<Self>),
    /// A list that is made when it is needed.
    Each(Box<dyn Fn() -> Nodes<'a> + 'a>),
}

impl<'a> Node<'a> {
    /// Creates a list of what `make` returns for each item.
    pub fn each<T>(items: &'a [T], make: fn(&'a T) -> Node<'a>) -> Self {
        Self::Each(Box::new(move || Box::new(items.iter().map(make))))
    }

    /// Creates a list of numbers.
    pub fn numbers<T: Copy + Into<Value>>(numbers: &'a [T]) -> Self {
        Self::each(numbers, |&number| number.into().into())
    }

    /// Creates a list of texts.
    pub fn texts(texts: Vec<String>) -> Self {
        Self::Value(Value::List(texts.into_iter().map(Value::text).collect()))
    }

    /// Calls `see` with each part of a map, a row or a list, with its name in the
    /// first two.
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
        }
    }

    /// Returns the fact with everything in it as a value; `None` if it has more than
    /// `left` parts, from which its own are taken.
    pub fn collect(&self, left: &mut usize) -> Option<Value> {
        *left = left.checked_sub(1)?;
        if let Self::Value(value) = self {
            return Some(value.clone());
        }
        let (mut entries, mut values) = (Vec::new(), Vec::new());
        let mut is_whole = true;
        self.for_each(
            &mut |name, node| match (is_whole.then(|| node.collect(left)).flatten(), name) {
                (Some(value), Some(name)) => entries.push((Cow::Owned(name.to_owned()), value)),
                (Some(value), None) => values.push(value),
                (None, _) => is_whole = false,
            },
        );
        let is_map = matches!(self, Self::Map(_) | Self::Row(..));
        let collected = if is_map {
            Value::Map(entries)
        } else {
            Value::List(values)
        };
        is_whole.then_some(collected)
    }

    /// Returns the fact with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Value(value) => value.get(name),
            Self::Map(entries) => match entries.iter().find(|(other, _)| other == name)? {
                (_, Self::Value(value)) => Some(value),
                _ => None,
            },
            Self::Row(columns, row) => row.get(columns.iter().position(|column| column == name)?),
            Self::List(_) | Self::Each(_) => None,
        }
    }

    /// Returns how a summary names this in a list: by its name, or by itself if it is
    /// a text.
    pub(super) fn label(&self) -> Option<Value> {
        match self {
            Self::Value(text @ Value::Text(_)) => Some(text.clone()),
            other => other.get("name").cloned(),
        }
    }
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
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (name, node) in entries {
                    map.serialize_entry(name, node)?;
                }
                map.end()
            }
            Self::Row(columns, row) => serializer.collect_map(columns.iter().zip(row)),
            Self::List(nodes) => serializer.collect_seq(nodes),
            Self::Each(nodes) => serializer.collect_seq(nodes()),
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

/// Returns a map of those entries that have a value.
pub fn known<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Node<'a> {
    let entries = entries.into_iter();
    map(entries.filter(|(_, node)| !matches!(node, Node::Value(Value::Null))))
}

/// Returns the fields of a record.
pub fn entries<'a>(record: &dyn Record) -> Vec<Entry<'a>> {
    let scope = Scope::default();
    let entries = record::entries(record, &scope);
    entries.map(|(name, value)| (name, value.into())).collect()
}

/// Returns a record as a map.
pub fn of<'a>(record: &dyn Record) -> Node<'a> {
    record::value(record, &Scope::default()).into()
}

/// Returns the number of a record, its fields, and computed facts.
pub fn numbered<'a, const N: usize>(
    index: usize,
    record: &dyn Record,
    computed: [Entry<'a>; N],
) -> Node<'a> {
    let index = ("index", index.into());
    map([index].into_iter().chain(entries(record)).chain(computed))
}
