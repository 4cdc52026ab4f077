//! The values of tables, as they are edited.

use bytes::Bytes;

use crate::fields;
use crate::names::Names;
use crate::object::view::ranges;
use crate::record::{Record, Rows as Records, size};
use crate::table_view::Sheets;
use hpimount_assets::view::edit::{Counted, Elements, Form, Place, Rule};
use hpimount_assets::view::node::{self, Entry, Node, Nodes};
use hpimount_record::Value;

/// Offset of the number of models in a MINF.
const MODEL_COUNT: usize = 4;

/// The most records of a list.
const MAX_RECORDS: usize = 1 << 16;

/// Returns the values of a table: `rows`, or the `position` of a marker.
pub(super) fn of<'a>(sheets: &'a Sheets, names: Names<'a>) -> Node<'a> {
    let entry: Option<Entry<'a>> = match sheets {
        Sheets::List(list) => Some(rows(&list.rows, list.count_offset, names)),
        Sheets::Lights(kit) => Some(rows(&kit.lights, Some(kit.count_offset), names)),
        Sheets::Models(info) => Some(rows(&info.models, Some(MODEL_COUNT), names)),
        Sheets::Frames(frames) => Some(("rows", records(&frames.frames, names))),
        Sheets::Marker(marker) => marker.position.map(|position| {
            let parts = position.iter().enumerate().map(|(index, &part)| {
                let place = Place::new(4 * index, marker.endian, Form::Float);
                Node::from(Value::Float(part)).stored(place)
            });
            ("position", Node::List(parts.collect()))
        }),
        _ => None,
    };
    node::map(entry)
}

/// Returns records that can be added and deleted; `count` is the offset of their number.
/// A list without a number keeps its length.
fn rows<'a>(rows: &'a Records, count: Option<usize>, names: Names<'a>) -> Entry<'a> {
    let (layout, endian) = (rows.layout(), rows.endian());
    let length = size(layout);
    let blank = move |_: &Value| {
        let zeros = Bytes::from(vec![0; length]);
        let record = Record::new(layout, endian, &zeros);
        Ok((length, record_node(&record, names)))
    };
    let count = count.map(|offset| (Place::new(offset, endian, Form::U32), Counted::Elements));
    let elements = Elements {
        ranges: ranges(rows.offset(), rows.len(), length),
        start: rows.offset(),
        least_length: match count {
            Some(_) => 0,
            None => rows.bytes().len(),
        },
        most: match count {
            Some(_) => MAX_RECORDS,
            None => rows.len(),
        },
        counts: count.into_iter().collect(),
        kind: None,
        blank: Box::new(blank),
    };
    ("rows", records(rows, names).ruled(Rule::Elements(elements)))
}

fn records<'a>(rows: &'a Records, names: Names<'a>) -> Node<'a> {
    let each = move || -> Nodes<'a> {
        Box::new(rows.iter().map(move |record| record_node(&record, names)))
    };
    Node::Each(Box::new(each))
}

fn record_node<'a>(record: &Record, names: Names<'a>) -> Node<'a> {
    Node::Map(fields::fields(record, &(), &|id| names.in_object(id)))
}
