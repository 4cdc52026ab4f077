use super::*;
use crate::edited_cells::of_record;
use crate::fields::{ObjectFields, cells_of, columns};
use crate::names::Names;
use fixtures::noise;
use hpimount_assets::view::Alone;
use hpimount_assets::view::edit::{self, Edit, Rule, What, edited};
use hpimount_assets::view::node::{self, Node};

layouts! { LAYOUT { a: U8, pad: Pad1, b: I16, c: F32, d: Code, e: Id } }

#[test]
fn fields_are_read_in_the_byte_order_and_padding_is_omitted() {
    let bytes = Bytes::from_static(b"\x07\0\xFF\xFE\x3F\x80\0\0\x31\x30BH\0\0\0\x09");
    let record = Record::new(LAYOUT, Endian::Big, &bytes);
    let fields: Vec<_> = record.fields().collect();
    let expected = [
        ("a", Value::Unsigned(7)),
        ("b", Value::Signed(-2)),
        ("c", Value::Float(1.0)),
        ("d", Value::Code(*b"HB01")),
        ("e", Value::Id(9)),
    ];
    assert_eq!(fields, expected);
    assert!(record.is_whole());
    assert_eq!((record.number("e"), record.number("c")), (Some(9), None));
}

#[test]
fn a_truncated_record_has_the_complete_fields() {
    let bytes = Bytes::from_static(&[1, 0, 2, 0, 9, 9]);
    let record = Record::new(LAYOUT, Endian::Little, &bytes);
    assert_eq!(record.fields().count(), 2);
    assert_eq!((record.is_whole(), record.used()), (false, 4));
}

#[test]
fn incomplete_rows_are_omitted() {
    let bytes = Bytes::from(vec![1; 35]);
    let rows = Rows::new(LAYOUT, Endian::Little, &bytes, usize::MAX);
    assert_eq!((rows.len(), rows.iter().count()), (2, 2));
    assert!(rows.get(2).is_none() && rows.get(usize::MAX).is_none());
    assert_eq!(Rows::new(LAYOUT, Endian::Little, &bytes, 1).len(), 1);
    assert!(Rows::default().is_empty());
}

/// The list with the record.
const LIST: &str = "rows";

/// Asserts that edits turn records with a layout into others: the fields of their JSON,
/// and their cells. Padding and texts, which cannot be edited, keep their bytes.
///
/// # Panics
/// Panics if they do not.
pub(crate) fn check_ways_back(layout: Layout) {
    for (endian, seed) in [Endian::Little, Endian::Big]
        .into_iter()
        .flat_map(|endian| (1..=2).map(move |seed| (endian, seed)))
    {
        let mut bytes = noise(seed, size(layout));
        if seed % 2 == 0 {
            // Small numbers, which have words.
            bytes.iter_mut().for_each(|byte| *byte %= 3);
        }
        let record = Record::new(layout, endian, &bytes.into());
        check_json(&record);
        check_cells(&record);
    }
}

/// Returns the values of a record, and those that follow from them.
fn shown(record: &Record) -> Node<'static> {
    Node::Map(ObjectFields::in_object(&(), Names(&Alone)).fields(record))
}

fn check_json(record: &Record) {
    let same = edit::value_of_json(shown(record).to_value().to_string().as_bytes()).unwrap();
    let apply = |record: &Record, values: hpimount_record::Value| {
        let edit = Edit::new(String::new(), What::Values(values));
        edited(&shown(record), record.bytes(), &[edit], &Alone)
    };
    assert!(apply(record, same).unwrap().is_none(), "{record:?}");
    let Node::Map(mut values) = shown(record) else {
        panic!("a record has fields");
    };
    values.retain(|(_, value)| !matches!(value, Node::Ruled(_, Rule::Derived(_))));
    // A number that is not finite is shown as null, which keeps it.
    let other = other(record, |number| number.is_finite());
    let values = Node::Map(values).to_value().to_string();
    let values = edit::value_of_json(values.as_bytes()).unwrap();
    let new = apply(&other, values).unwrap();
    let new = new.map_or_else(|| other.bytes().to_vec(), |new| new.asset);
    assert_eq!(new, padded(record, &other), "{record:?}");
}

fn check_cells(record: &Record) {
    let other = other(record, |_| true);
    let [cells, others] = [record, &other].map(|one| cells_of(one, Names(&Alone)));
    let columns: Vec<_> = columns(record.layout()).collect();
    assert_eq!(cells.len(), columns.len());
    let changed = columns.iter().zip(cells.iter().zip(&others));
    let changed = changed.filter(|(_, (cell, other))| cell != other);
    let edits = changed.map(|(column, (cell, _))| {
        let list = (LIST, record.layout());
        let (path, value) = of_record(list, 0, column, &cell.to_string()).unwrap();
        Edit::new(String::new(), What::Value(path, value))
    });
    let node = node::map([(LIST, Node::List(vec![shown(&other)]))]);
    let edits: Vec<_> = edits.collect();
    let new = edited(&node, other.bytes(), &edits, &Alone).unwrap();
    let new = new.map_or_else(|| other.bytes().to_vec(), |new| new.asset);
    assert_eq!(new, padded(record, &other), "{record:?}");
}

/// Returns the fields of a layout with their ranges in a record.
fn ranges(layout: Layout) -> impl Iterator<Item = (Kind, std::ops::Range<usize>)> {
    let mut at = 0;
    layout.iter().map(move |column| {
        at += column.kind.size();
        (column.kind, at - column.kind.size()..at)
    })
}

/// Returns a record whose bytes all differ, except for texts, parameters of another
/// kind, and floats that `is_edited` excludes.
fn other(record: &Record, is_edited: fn(f32) -> bool) -> Record {
    let mut bytes = record.bytes().to_vec();
    for (kind, range) in ranges(record.layout()) {
        let step = if kind.size() % 4 == 0 { 4 } else { 1 };
        for at in range.step_by(step) {
            let word = |bytes: &[u8]| Cursor::new(bytes, 0, record.endian()).u32("word");
            let old = word(&record.bytes()[at..]).unwrap_or_default();
            let change = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte ^= 0x15);
            match kind {
                Kind::Text16 | Kind::Text28 | Kind::Text60 => {}
                Kind::F32 | Kind::Vec2 | Kind::Vec3 | Kind::Vec4
                    if !is_edited(f32::from_bits(old)) => {}
                Kind::Word => {
                    let mut new = bytes[at..at + step].to_vec();
                    change(&mut new);
                    let [old, new] = [old, word(&new).unwrap()]
                        .map(|word| std::mem::discriminant(&Parameter::of(word)));
                    if old == new {
                        change(&mut bytes[at..at + step]);
                    }
                }
                _ => change(&mut bytes[at..at + step]),
            }
        }
    }
    Record::new(record.layout(), record.endian(), &bytes.into())
}

/// Returns the bytes of a record with the padding of another one.
fn padded(record: &Record, other: &Record) -> Vec<u8> {
    let mut bytes = record.bytes().to_vec();
    for (_, range) in ranges(record.layout()).filter(|(kind, _)| kind.is_padding()) {
        bytes[range.clone()].copy_from_slice(&other.bytes()[range]);
    }
    bytes
}
