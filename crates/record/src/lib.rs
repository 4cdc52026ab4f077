//! Records: structures that are described once.
//!
//! A [`Record`] is a structure with named fields that are stored one after the
//! other. It is declared with `#[derive(Record)]`:
//!
//! ```
//! use hpimount_record::{self as record, Pad, Record};
//! use hpimount_containers::io::{Cursor, Endian};
//!
//! /// A sound with a range of notes.
//! #[derive(Debug, Clone, Default, PartialEq, Record)]
//! struct Tone {
//!     /// The note with 44,100 samples per second.
//!     center: u8,
//!     #[record(parts = "r g b")]
//!     ambient: [f32; 3],
//!     reserved: Pad<2>,
//! }
//!
//! let bytes = [60, 0, 0, 0, 63, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0];
//! let mut cursor = Cursor::new(&bytes, 0, Endian::Little);
//! let mut tone: Tone = record::read(&mut cursor)?;
//! assert_eq!(record::columns(&tone), ["center", "ambient_r", "ambient_g", "ambient_b"]);
//!
//! record::set_cell(&mut tone, "ambient_g", "0.25").unwrap();
//! assert_eq!(record::cells(&tone), ["60", "0.5", "0.25", "1"]);
//! # Ok::<(), hpimount_containers::io::Error>(())
//! ```
//!
//! Everything else follows from the declaration: reading in both byte orders, with the
//! name and offset of the field in errors, and the fields before the damage; writing;
//! the columns and cells of tables; JSON; and parsing of edited cells and JSON, which
//! changes the named fields and keeps all other bytes. The functions here do this for
//! all records; a [`Field`] does it for one type of field.
//!
//! Counts, offsets, versions, and the choice of a layout are ordinary code around records.

#![forbid(unsafe_code)]

// Derived code uses this path to the crate, also here.
extern crate self as hpimount_record;

mod number;
mod types;
mod value;
mod writer;

pub use self::number::float;
pub use self::types::{Bits, Code, Flags, Hex, Index, Pad, Text};
pub use self::value::{Problem, Value, shortened};
pub use self::writer::Writer;
pub use hpimount_record_derive::Record;

use std::any::Any;

use hpimount_containers::io::{Cursor, Endian, Result};

/// A structure whose fields are stored one after the other.
pub trait Record: Any {
    /// Returns the names and properties of its fields.
    fn description(&self) -> &'static Description;

    /// Returns the field with this number.
    ///
    /// # Panics
    /// Panics if the description has no such field.
    fn field(&self, index: usize) -> &dyn Field;

    /// Like [`Record::field`], to be changed.
    ///
    /// # Panics
    /// Panics if the description has no such field.
    fn field_mut(&mut self, index: usize) -> &mut dyn Field;
}

/// The name of a record, and its fields in their order.
#[derive(Debug)]
pub struct Description {
    /// The name of the structure.
    pub name: &'static str,
    /// The fields.
    pub members: &'static [Member],
}

/// The name and the properties of a field.
#[derive(Debug)]
pub struct Member {
    /// The name under which it is shown.
    pub name: &'static str,
    /// `Record.name`, for errors.
    pub label: &'static str,
    /// The type, as declared.
    pub kind: &'static str,
    /// The first sentence of the documentation, without a full stop.
    pub doc: &'static str,
    /// True if the writer computes the field, so that it cannot be edited.
    pub is_derived: bool,
    /// Tables have no columns of it.
    pub is_json_only: bool,
    /// The names of the columns of an array. Without them, columns are numbered.
    pub parts: &'static [&'static str],
}

/// A type of fields.
pub trait Field: Any {
    /// Reads the value in place. After an error, the parts before it keep their new
    /// values.
    ///
    /// # Errors
    /// Returns an error about `label` if too few bytes are left.
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()>;

    /// Appends the stored bytes.
    fn write(&self, to: &mut Writer);

    /// Returns the value as it is shown.
    fn value(&self) -> Value;

    /// Sets the parts that `value` names, and keeps the rest.
    ///
    /// # Errors
    /// Returns an error if it does not fit; the field may be changed in part.
    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem>;

    /// Returns whether there is nothing to show, as in zero padding.
    fn is_hidden(&self) -> bool {
        false
    }

    /// Returns whether it is padding, which has no columns in tables.
    fn is_padding(&self) -> bool {
        false
    }
}

/// A field or record of a known size.
pub trait FixedSize {
    /// The stored size in bytes.
    const SIZE: usize;
}

/// The fields of a record, with their numbers.
fn members(record: &dyn Record) -> impl Iterator<Item = (usize, &'static Member)> + use<> {
    record.description().members.iter().enumerate()
}

/// Reads a record.
///
/// # Errors
/// Returns an error about the first field that is not complete.
pub fn read<R: Record + Default>(cursor: &mut Cursor<'_>) -> Result<R> {
    let mut record = R::default();
    fill(&mut record, cursor)?;
    Ok(record)
}

/// Reads a record in place. After an error, the fields before it are set.
///
/// # Errors
/// Returns an error about the first field that is not complete.
pub fn fill(record: &mut dyn Record, cursor: &mut Cursor<'_>) -> Result<()> {
    for (index, member) in members(record) {
        record.field_mut(index).read(cursor, member.label)?;
    }
    Ok(())
}

/// Appends the bytes of a record.
pub fn write(record: &dyn Record, to: &mut Writer) {
    for (index, _) in members(record) {
        record.field(index).write(to);
    }
}

/// Returns the names and values of the fields. Padding is left out if it is zero.
pub fn entries(record: &dyn Record) -> impl Iterator<Item = (&'static str, Value)> {
    let fields = members(record).map(|(index, member)| (member.name, record.field(index)));
    let shown = fields.filter(|(_, field)| !field.is_hidden());
    shown.map(|(name, field)| (name, field.value()))
}

/// Returns [`entries`] as a map.
pub fn value(record: &dyn Record) -> Value {
    let entries = entries(record);
    Value::Map(entries.map(|(name, value)| (name.into(), value)).collect())
}

/// Sets the fields that the map `value` names.
///
/// # Errors
/// Returns an error about the first field that cannot be changed so.
pub fn set(record: &mut dyn Record, value: &Value) -> std::result::Result<(), Problem> {
    for (name, value) in value.as_map()? {
        let named = members(record).find(|(_, member)| member.name == name);
        let Some((index, member)) = named else {
            return Err(Problem::new("is not a field here").within(name));
        };
        let field = record.field_mut(index);
        if member.is_derived {
            if field.value().to_string() != value.to_string() {
                return Err(
                    Problem::new("follows from other values, and cannot be changed").within(name),
                );
            }
            continue;
        }
        field.set(value).map_err(|problem| problem.within(name))?;
    }
    Ok(())
}

/// The fields in tables, with their numbers.
fn in_tables(record: &dyn Record) -> impl Iterator<Item = (usize, &'static Member)> {
    members(record)
        .filter(|&(index, member)| !member.is_json_only && !record.field(index).is_padding())
}

/// Returns the columns of a table of such records. They depend only on
/// the type of `record`, which may be any instance.
pub fn columns(record: &dyn Record) -> Vec<String> {
    let mut columns = Vec::new();
    for (index, member) in in_tables(record) {
        let value = record.field(index).value();
        value.add_columns(member.name, member.parts, &mut |column| {
            columns.push(column)
        });
    }
    columns
}

/// Calls `add` with the value of each column.
pub fn leaves(record: &dyn Record, add: &mut dyn FnMut(Value)) {
    for (index, _) in in_tables(record) {
        record.field(index).value().into_leaves(add);
    }
}

/// Returns the cells of a record, one for each column.
pub fn cells(record: &dyn Record) -> Vec<String> {
    let mut cells = Vec::new();
    leaves(record, &mut |leaf| cells.push(leaf.to_string()));
    cells
}

/// Returns the field of a column, and its value with this text in the column; `None` if
/// there is no such column.
pub fn with_cell(
    record: &dyn Record,
    column: &str,
    text: &str,
) -> Option<(&'static Member, Value)> {
    in_tables(record).find_map(|(index, member)| {
        let value = record.field(index).value();
        let value = value.with_leaf(member.name, member.parts, column, text)?;
        Some((member, value))
    })
}

/// Changes the value of one column.
///
/// # Errors
/// Returns an error if there is no such column, or if the text does not fit.
pub fn set_cell(
    record: &mut dyn Record,
    column: &str,
    text: &str,
) -> std::result::Result<(), Problem> {
    let Some((member, value)) = with_cell(record, column, text) else {
        return Err(Problem::new("is not a column here").within(column));
    };
    set(record, &Value::Map(vec![(member.name.into(), value)]))
}

/// A field of a record with its storage location.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Number, see [`Record::field`].
    pub number: usize,
    /// Name and properties.
    pub member: &'static Member,
    /// Offset of its bytes from the start of the record.
    pub offset: usize,
}

/// Returns the visible fields of a record with their locations.
pub fn placed(record: &dyn Record) -> impl Iterator<Item = Placed> {
    // The byte order does not matter for lengths.
    let mut written = Writer::new(Endian::Little);
    let fields = members(record).map(move |(number, member)| {
        let offset = written.bytes.len();
        record.field(number).write(&mut written);
        Placed {
            number,
            member,
            offset,
        }
    });
    fields.filter(|placed| !record.field(placed.number).is_hidden())
}

/// Returns a table of the fields of a record, in Markdown: offset, name, type and
/// meaning.
fn field_table(record: &dyn Record) -> String {
    let mut table = String::from("| offset | field | type | |\n|--:|---|---|---|\n");
    let mut offset = Writer::new(Endian::Little);
    for (index, member) in members(record) {
        let at = offset.bytes.len();
        let Member {
            name, kind, doc, ..
        } = member;
        table += &format!("| {at:#04x} | `{name}` | `{kind}` | {doc} |\n");
        record.field(index).write(&mut offset);
    }
    table
}

/// Asserts that a Markdown file has the table of the fields of a record, after a comment with
/// its name.
///
/// # Panics
/// Panics if it does not.
#[doc(hidden)]
pub fn check_table(record: &dyn Record, path: &str, text: &str) {
    let name = record.description().name;
    let table = format!("<!-- {name} -->\n{}\n", field_table(record));
    assert!(text.contains(&table), "{path} should have:\n{table}");
}

/// Asserts that random records survive every round trip: writing returns the bytes that
/// were read; setting their own JSON and cells changes nothing; and setting their JSON
/// or cells in another record copies them.
///
/// # Panics
/// Panics if one does not.
#[doc(hidden)]
pub fn check_ways_back<R: Record + Default>() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    for endian in [Endian::Little, Endian::Big] {
        let size = written(&R::default(), endian).len();
        for _ in 0..32 {
            let bytes: Vec<u8> = (0..size).map(|_| random()).collect();
            check_way_back::<R>(&bytes, endian);
        }
    }
}

fn written(record: &dyn Record, endian: Endian) -> Vec<u8> {
    let mut writer = Writer::new(endian);
    write(record, &mut writer);
    writer.bytes
}

fn check_way_back<R: Record + Default>(bytes: &[u8], endian: Endian) {
    let read = |bytes: &[u8]| -> R {
        read(&mut Cursor::new(bytes, 0, endian)).expect("the size is right")
    };
    let mut record = read(bytes);
    assert_eq!(written(&record, endian), bytes, "as it was read");
    let json = value(&record).to_string();
    let shown = Value::parse(&json).expect("it is JSON");
    set(&mut record, &shown).unwrap_or_else(|problem| panic!("{problem}"));
    let (columns, row) = (columns(&R::default()), cells(&record));
    for (column, cell) in columns.iter().zip(&row) {
        let set = set_cell(&mut record, column, cell);
        set.unwrap_or_else(|problem| panic!("{problem}"));
    }
    assert_eq!(written(&record, endian), bytes, "from {json}");
    // Every byte differs, but the NULs of texts are at the same positions.
    let other: Vec<u8> = bytes
        .iter()
        .map(|&byte| if byte == 0 { 0 } else { byte % 254 + 1 })
        .collect();
    let mut copy = read(&other);
    for (name, value) in shown.as_map().expect("a record is a map") {
        set_any(&mut copy, name, value);
    }
    assert_eq!(value(&copy).to_string(), json);
    let mut copy = read(&other);
    for (column, cell) in columns.iter().zip(&row) {
        let (member, value) = with_cell(&copy, column, cell).expect("it is a column");
        set_any(&mut copy, member.name, &value);
    }
    assert_eq!(cells(&copy), row);
}

/// Sets a field, even a derived one.
fn set_any(record: &mut dyn Record, name: &str, value: &Value) {
    let named = members(record).find(|(_, member)| member.name == name);
    let (index, _) = named.expect("it is a field");
    let set = record.field_mut(index).set(value);
    set.unwrap_or_else(|problem| panic!("{}", problem.within(name)));
}

/// A record as a field of another.
impl<R: Record> Field for R {
    fn read(&mut self, cursor: &mut Cursor<'_>, _label: &'static str) -> Result<()> {
        fill(self, cursor)
    }

    fn write(&self, to: &mut Writer) {
        write(self, to);
    }

    fn value(&self) -> Value {
        value(self)
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        set(self, value)
    }
}

#[cfg(test)]
mod tests;
