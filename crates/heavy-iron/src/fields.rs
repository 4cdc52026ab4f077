//! The fields of records as JSON and cells.

use std::borrow::Cow;

use bytes::Bytes;
use hpimount_assets::view::Alone;
use hpimount_assets::view::edit::{Form, Place, Reference as IdOf, Rule};
use hpimount_assets::view::node::{Entry, Node, Nodes};
use hpimount_containers::io::Endian;
use hpimount_record::Value;

use crate::names::{self, Names};
use crate::parts::Part;
use crate::record::{self, Parameter};

/// The meaning of a number in a field.
pub(super) struct Meaning {
    /// The additional name under which the meaning is shown; `None` if the meaning is
    /// shown in place of the number.
    pub(super) beside: Option<&'static str>,
    /// The meaning, or the number itself if it is shown in place and has none.
    pub(super) text: Value,
    /// Returns the number for a meaning, if it can be edited.
    pub(super) number: Option<NumberOf>,
}

/// Returns the number with a name.
type NumberOf = fn(&str) -> Result<u32, String>;

/// Words for numbers in fields.
pub(super) trait Words {
    /// Returns the meaning of a value of a field, by default according to the layout.
    fn meaning(&self, column: &record::Column, value: record::Value) -> Option<Meaning> {
        let (beside, text) = column.meaning(value)?;
        Some(Meaning {
            beside: Some(beside),
            text: Value::Text(text),
            number: None,
        })
    }

    /// Returns the editing rule of a field that is not edited in its stored form.
    fn rule<'a>(&self, field: &str) -> Option<Rule<'a>> {
        let _ = field;
        None
    }
}

/// The refusal to edit the meaning of a number.
const BESIDE: &str = "follows from the number beside it";

/// Only the words of the layouts.
impl Words for () {}

/// The display of the fields of records.
#[derive(Clone, Copy)]
pub(super) struct ObjectFields<'a> {
    words: &'a dyn Words,
    names: Names<'a>,
    reference: Reference,
}

/// Shows an id in JSON.
type Reference = fn(Names<'_>, u32) -> Value;

/// The fields of a record, by name.
type Fields<'a> = Vec<(Cow<'static, str>, Node<'a>)>;

impl<'a> ObjectFields<'a> {
    /// Shows fields in the form of `object.json`, with words for numbers.
    pub(super) fn in_object(words: &'a dyn Words, names: Names<'a>) -> Self {
        Self {
            words,
            names,
            reference: |names, id| names.in_object(id),
        }
    }

    /// Shows fields as in `info.json`.
    pub(super) fn in_info(words: &'a dyn Words, names: Names<'a>) -> Self {
        Self {
            words,
            names,
            reference: |names, id| names.reference(id),
        }
    }

    /// Returns an entry for each part name, in order of first occurrence: a map, or a
    /// list of maps.
    pub(super) fn entries(self, parts: &'a [Part]) -> Vec<Entry<'a>> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for part in parts {
            let mut known = entries.iter_mut().filter(|(name, _)| *name == part.name);
            match known.next() {
                Some((_, Node::Map(all))) => all.extend(self.part(part)),
                Some(_) => {}
                None if part.item.is_some() => {
                    entries.push((part.name, self.items(parts, part.name)));
                }
                None => entries.push((part.name, Node::Map(self.part(part).collect()))),
            }
        }
        entries
    }

    /// Returns the list of the parts with a name. It is lazy, since there may be many
    /// parts.
    fn items(self, parts: &'a [Part], name: &'static str) -> Node<'a> {
        let each = move || -> Nodes<'a> {
            let items = parts.iter().filter(move |part| part.name == name);
            Box::new(items.map(move |part| Node::Map(self.part(part).collect())))
        };
        Node::Each(Box::new(each))
    }

    fn part(self, part: &'a Part) -> impl Iterator<Item = (Cow<'static, str>, Node<'a>)> {
        let kind = part.kind.map(|kind| {
            let kind = Node::from(kind).derived("follows from the number that selects the fields");
            ("kind".into(), kind)
        });
        let list = part.list.iter().map(move |(name, rows)| {
            let records = move || -> Nodes<'a> {
                let records = rows.iter();
                Box::new(records.map(move |record| self.listed(&record)))
            };
            ((*name).into(), Node::Each(Box::new(records)))
        });
        let fields = self.fields(&part.record);
        kind.into_iter().chain(fields).chain(list)
    }

    /// Returns a record in the list of a part: its only field, or a map.
    fn listed<'n>(self, record: &record::Record) -> Node<'n> {
        let mut fields = self.fields(record);
        match record.layout() {
            [_] => fields
                .pop()
                .map_or(Node::Map(Vec::new()), |(_, field)| field),
            _ => Node::Map(fields),
        }
    }

    /// Returns the fields of a record with their editing rules.
    pub(super) fn fields<'n>(self, record: &record::Record) -> Fields<'n> {
        let mut fields = Vec::new();
        let endian = record.endian();
        for (column, offset, value) in record.placed() {
            let name = column.name;
            let size = column.kind.size();
            let meant = self.words.meaning(column, value);
            let shown = |text: Value, is_beside: bool, number: Option<NumberOf>| {
                let text = Node::from(text);
                match number {
                    Some(number) => {
                        let form = Form::Named { size, number };
                        text.stored(Place::new(offset, endian, form))
                    }
                    None if is_beside => text.derived(BESIDE),
                    None => text.derived("selects the fields, and cannot be changed"),
                }
            };
            let rule = self.words.rule(name);
            let node = match (rule, &meant) {
                (_, Some(Meaning { beside: None, .. })) => Node::from(Value::Null),
                (Some(rule), _) => Node::from(self.json(value)).ruled(rule),
                (None, _) => self.stored(column.kind, value, (offset, endian)),
            };
            match meant {
                Some(Meaning {
                    beside,
                    text,
                    number,
                }) => {
                    if beside.is_some() {
                        fields.push((name.into(), node));
                    }
                    fields.push((
                        beside.unwrap_or(name).into(),
                        shown(text, beside.is_some(), number),
                    ));
                }
                None => fields.push((name.into(), node)),
            }
        }
        fields
    }

    /// Returns a value at an offset with its editing rule.
    fn stored<'n>(
        self,
        kind: record::Kind,
        value: record::Value,
        (offset, endian): (usize, Endian),
    ) -> Node<'n> {
        let place =
            |index: usize, form: Form| Place::new(offset + index * form.size(), endian, form);
        let parts = |form: Form, values: Value| match values {
            Value::List(values) => {
                let values = values.into_iter().enumerate();
                let parts = values.map(|(index, part)| Node::from(part).stored(place(index, form)));
                Node::List(parts.collect())
            }
            value => value.into(),
        };
        let integer = |is_signed| Form::Integer {
            size: kind.size(),
            is_signed,
        };
        let shown = self.json(value);
        let form = match value {
            record::Value::Vec2(_) | record::Value::Vec3(_) | record::Value::Vec4(_) => {
                return parts(Form::Float, shown);
            }
            record::Value::Color(_) => return parts(Form::U8, shown),
            record::Value::Unsigned(_) => integer(false),
            record::Value::Signed(_) => integer(true),
            record::Value::Float(_) => Form::Float,
            record::Value::Id(_) => Form::Reference(ID),
            record::Value::Code(_) => Form::Code,
            record::Value::Word(_) => Form::Parameter(ID),
            record::Value::Text(_) => return Node::from(shown).derived("cannot be changed here"),
        };
        Node::from(shown).stored(place(0, form))
    }

    /// Converts a value of a field to JSON. NaN and infinities are null.
    fn json(self, value: record::Value) -> Value {
        match value {
            record::Value::Id(id) => (self.reference)(self.names, id),
            record::Value::Word(bits) => {
                parameter(bits, self.names, |_| (self.reference)(self.names, bits))
            }
            value => finite(plain(value, self.names)),
        }
    }
}

/// Returns the fields of a zeroed record with their editing rules. Meanings are
/// included even if 0 has none, because other numbers have one.
pub(super) fn blank<'a>(layout: record::Layout, endian: Endian) -> Fields<'a> {
    let zeros = Bytes::from(vec![0; record::size(layout)]);
    let record = record::Record::new(layout, endian, &zeros);
    let mut fields = ObjectFields::in_object(&(), Names(&Alone)).fields(&record);
    for named in layout.iter().filter_map(|column| column.words) {
        if !fields.iter().any(|(name, _)| name == named.beside) {
            let none = Node::from(Value::Null).derived(BESIDE);
            fields.push((named.beside.into(), none));
        }
    }
    fields
}

/// The ids of assets by their names.
pub(super) const ID: IdOf = names::id_named;

fn finite(value: Value) -> Value {
    match value {
        Value::Float(number) if !number.is_finite() => Value::Null,
        Value::List(values) => values.into_iter().map(finite).collect(),
        value => value,
    }
}

/// Returns a parameter of an event: the name of the asset with this id if `known` has
/// it, else a float of plausible magnitude, else an integer.
pub(super) fn parameter(bits: u32, names: Names<'_>, known: impl FnOnce(String) -> Value) -> Value {
    match (names.find(bits), Parameter::of(bits)) {
        (Some(name), _) => known(name),
        (None, Parameter::Zero) => 0_u32.into(),
        (None, Parameter::Float(value)) => value.into(),
        (None, Parameter::Number(value)) => value.into(),
    }
}

/// Returns a value of a field as a number, a text or a list of numbers.
pub(super) fn plain(value: record::Value, names: Names<'_>) -> Value {
    match value {
        record::Value::Unsigned(number) | record::Value::Id(number) => number.into(),
        record::Value::Signed(number) => number.into(),
        record::Value::Float(number) => number.into(),
        record::Value::Vec2(values) => values.into_iter().collect(),
        record::Value::Vec3(values) => values.into_iter().collect(),
        record::Value::Vec4(values) => values.into_iter().collect(),
        record::Value::Color(parts) => parts.into_iter().collect(),
        record::Value::Code(code) => code.escape_ascii().to_string().into(),
        record::Value::Text(text) => text.shown().into_owned().into(),
        record::Value::Word(bits) => parameter(bits, names, Value::from),
    }
}

/// Returns the columns of fields: two for an id, one for each component of a vector.
pub(super) fn columns(layout: &[record::Column]) -> impl Iterator<Item = String> {
    layout.iter().flat_map(|column| {
        let parts: &[&str] = match column.kind {
            kind if kind.is_padding() => &[],
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
        value => plain(value, names).into_leaves(&mut |leaf| cells.push(leaf)),
    }
    cells
}

/// Returns the cells of the fields of a record.
pub(super) fn cells_of(record: &record::Record, names: Names<'_>) -> Vec<Value> {
    let values = record.fields().map(|(_, value)| value);
    values.flat_map(|value| cells(value, names)).collect()
}
