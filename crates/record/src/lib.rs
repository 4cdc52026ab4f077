//! Records: structures that are described once.
//!
//! A [`Record`] is a structure with named fields that are stored one after the
//! other. It is declared with `#[derive(Record)]`:
//!
//! ```
//! use hpimount_record::{self as record, Pad, Record, Scope};
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
//! let mut tone: Tone = record::read(&mut cursor, 0)?;
//! assert_eq!(record::columns(&tone, 0), ["center", "ambient_r", "ambient_g", "ambient_b"]);
//!
//! let scope = Scope::default();
//! record::set_cell(&mut tone, "ambient_g", "0.25", &scope).unwrap();
//! assert_eq!(record::cells(&tone, &scope), ["60", "0.5", "0.25", "1"]);
//! # Ok::<(), hpimount_containers::io::Error>(())
//! ```
//!
//! Everything else follows from the declaration: reading in both byte orders, with the
//! name and offset of the field in errors, and the fields before the damage; writing;
//! the columns and cells of tables; JSON; and parsing of edited cells and JSON, which
//! changes the named fields and keeps all other bytes. The functions here do this for
//! all records; a [`Field`] does it for one type of field.
//!
//! Counts, offsets, and the choice of a layout are ordinary code around records.

#![forbid(unsafe_code)]

// Derived code uses this path to the crate, also here.
extern crate self as hpimount_record;

mod number;
mod types;
mod value;
mod writer;

pub use self::number::float;
pub use self::types::{Bits, Code, Enum, Fixed, Flags, Hex, Index, Kind, Named, Pad, Text, Words};
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
    /// Selects the versions that have the field; all versions without it.
    pub when: Option<fn(u32) -> bool>,
}

impl Member {
    fn is_in(&self, version: u32) -> bool {
        self.when.is_none_or(|is_in| is_in(version))
    }
}

/// A type of fields.
pub trait Field: Any {
    /// Reads the value in place. After an error, the parts before it keep their new
    /// values.
    ///
    /// # Errors
    /// Returns an error about `label` if too few bytes are left.
    fn read(&mut self, cursor: &mut Cursor<'_>, version: u32, label: &'static str) -> Result<()>;

    /// Appends the stored bytes.
    fn write(&self, to: &mut Writer);

    /// Returns the value as it is shown.
    fn value(&self, scope: &Scope<'_>) -> Value;

    /// Sets the parts that `value` names, and keeps the rest.
    ///
    /// # Errors
    /// Returns an error if it does not fit; the field may be changed in part.
    fn set(&mut self, value: &Value, scope: &Scope<'_>) -> std::result::Result<(), Problem>;

    /// Returns whether there is nothing to show, as in zero padding.
    fn is_hidden(&self) -> bool {
        false
    }

    /// Returns whether it is padding, which has no columns in tables.
    fn is_padding(&self) -> bool {
        false
    }
}

/// A field of a known size, or a record without version-dependent fields.
pub trait FixedSize {
    /// The stored size in bytes.
    const SIZE: usize;
}

/// The context for showing and setting a value.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The version of the format.
    pub version: u32,
    /// The names of numbers.
    pub names: &'a dyn Names,
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Self {
            version: 0,
            names: &NoNames,
        }
    }
}

/// The names of numbers that are references, such as ids of assets.
pub trait Names {
    /// Returns the name of a number of this kind, see [`Kind`].
    fn name(&self, kind: &'static str, number: i64) -> Option<String>;

    /// Returns the number with this name.
    fn number(&self, kind: &'static str, name: &str) -> Option<i64>;
}

/// No names: numbers are shown alone.
#[derive(Debug)]
pub struct NoNames;

impl Names for NoNames {
    fn name(&self, _kind: &'static str, _number: i64) -> Option<String> {
        None
    }

    fn number(&self, _kind: &'static str, _name: &str) -> Option<i64> {
        None
    }
}

/// The fields of a record in a version, with their numbers.
fn members(
    record: &dyn Record,
    version: u32,
) -> impl Iterator<Item = (usize, &'static Member)> + use<> {
    let members = record.description().members.iter().enumerate();
    members.filter(move |(_, member)| member.is_in(version))
}

/// Reads a record.
///
/// # Errors
/// Returns an error about the first field that is not complete.
pub fn read<R: Record + Default>(cursor: &mut Cursor<'_>, version: u32) -> Result<R> {
    let mut record = R::default();
    fill(&mut record, cursor, version)?;
    Ok(record)
}

/// Reads a record in place. After an error, the fields before it are set.
///
/// # Errors
/// Returns an error about the first field that is not complete.
pub fn fill(record: &mut dyn Record, cursor: &mut Cursor<'_>, version: u32) -> Result<()> {
    for (index, member) in members(record, version) {
        record
            .field_mut(index)
            .read(cursor, version, member.label)?;
    }
    Ok(())
}

/// Appends the bytes of a record.
pub fn write(record: &dyn Record, to: &mut Writer) {
    for (index, _) in members(record, to.version) {
        record.field(index).write(to);
    }
}

/// Returns the names and values of the fields. Padding is left out if it is zero.
pub fn entries(
    record: &dyn Record,
    scope: &Scope<'_>,
) -> impl Iterator<Item = (&'static str, Value)> {
    let fields =
        members(record, scope.version).map(|(index, member)| (member.name, record.field(index)));
    let shown = fields.filter(|(_, field)| !field.is_hidden());
    shown.map(|(name, field)| (name, field.value(scope)))
}

/// Returns [`entries`] as a map.
pub fn value(record: &dyn Record, scope: &Scope<'_>) -> Value {
    let entries = entries(record, scope);
    Value::Map(entries.map(|(name, value)| (name.into(), value)).collect())
}

/// Sets the fields that the map `value` names.
///
/// # Errors
/// Returns an error about the first field that cannot be changed so.
pub fn set(
    record: &mut dyn Record,
    value: &Value,
    scope: &Scope<'_>,
) -> std::result::Result<(), Problem> {
    for (name, value) in value.as_map()? {
        let named = members(record, scope.version).find(|(_, member)| member.name == name);
        let Some((index, member)) = named else {
            return Err(Problem::new("is not a field here").within(name));
        };
        let field = record.field_mut(index);
        if member.is_derived {
            if field.value(scope).to_string() != value.to_string() {
                return Err(
                    Problem::new("follows from other values, and cannot be changed").within(name),
                );
            }
            continue;
        }
        field
            .set(value, scope)
            .map_err(|problem| problem.within(name))?;
    }
    Ok(())
}

/// The fields in tables, with their numbers.
fn in_tables(record: &dyn Record, version: u32) -> impl Iterator<Item = (usize, &'static Member)> {
    members(record, version)
        .filter(|&(index, member)| !member.is_json_only && !record.field(index).is_padding())
}

/// Returns the columns of a table of such records. They depend only on the version and
/// on the type of `record`, which may be any instance.
pub fn columns(record: &dyn Record, version: u32) -> Vec<String> {
    let scope = Scope {
        version,
        ..Scope::default()
    };
    let mut columns = Vec::new();
    for (index, member) in in_tables(record, version) {
        let value = record.field(index).value(&scope);
        value.add_columns(member.name, member.parts, &mut |column| {
            columns.push(column)
        });
    }
    columns
}

/// Calls `add` with the value of each column.
pub fn leaves(record: &dyn Record, scope: &Scope<'_>, add: &mut dyn FnMut(Value)) {
    for (index, _) in in_tables(record, scope.version) {
        record.field(index).value(scope).into_leaves(add);
    }
}

/// Returns the cells of a record, one for each column.
pub fn cells(record: &dyn Record, scope: &Scope<'_>) -> Vec<String> {
    let mut cells = Vec::new();
    leaves(record, scope, &mut |leaf| cells.push(leaf.to_string()));
    cells
}

/// Returns the field of a column, and its value with this text in the column; `None` if
/// there is no such column.
pub fn with_cell(
    record: &dyn Record,
    column: &str,
    text: &str,
    scope: &Scope<'_>,
) -> Option<(&'static Member, Value)> {
    in_tables(record, scope.version).find_map(|(index, member)| {
        let value = record.field(index).value(scope);
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
    scope: &Scope<'_>,
) -> std::result::Result<(), Problem> {
    let Some((member, value)) = with_cell(record, column, text, scope) else {
        return Err(Problem::new("is not a column here").within(column));
    };
    set(
        record,
        &Value::Map(vec![(member.name.into(), value)]),
        scope,
    )
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
pub fn placed(record: &dyn Record, version: u32) -> impl Iterator<Item = Placed> {
    // The byte order does not matter for lengths.
    let mut written = Writer::new(Endian::Little, version);
    let fields = members(record, version).map(move |(number, member)| {
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
pub fn field_table(record: &dyn Record, version: u32) -> String {
    let mut table = String::from("| offset | field | type | |\n|--:|---|---|---|\n");
    let mut offset = Writer::new(Endian::Little, version);
    for (index, member) in members(record, version) {
        let at = offset.bytes.len();
        let Member {
            name, kind, doc, ..
        } = member;
        table += &format!("| {at:#04x} | `{name}` | `{kind}` | {doc} |\n");
        record.field(index).write(&mut offset);
    }
    table
}

/// Asserts that a Markdown file has the [`field_table`] of a record, after a comment with
/// its name.
///
/// # Panics
/// Panics if it does not.
#[doc(hidden)]
pub fn check_table(record: &dyn Record, path: &str, text: &str) {
    let name = record.description().name;
    let table = format!("<!-- {name} -->\n{}\n", field_table(record, 0));
    assert!(text.contains(&table), "{path} should have:\n{table}");
}

/// Asserts that random records survive every round trip: writing returns the bytes that
/// were read; setting their own JSON and cells changes nothing; and setting their JSON
/// in another record copies it.
///
/// # Panics
/// Panics if one does not.
#[doc(hidden)]
pub fn check_ways_back<R: Record + Default>(versions: u32) {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    for (endian, version) in (0..versions).flat_map(|v| [(Endian::Little, v), (Endian::Big, v)]) {
        let size = written(&R::default(), endian, version).len();
        for _ in 0..32 {
            let bytes: Vec<u8> = (0..size).map(|_| random()).collect();
            check_way_back::<R>(&bytes, endian, version);
        }
    }
}

fn written(record: &dyn Record, endian: Endian, version: u32) -> Vec<u8> {
    let mut writer = Writer::new(endian, version);
    write(record, &mut writer);
    writer.bytes
}

fn check_way_back<R: Record + Default>(bytes: &[u8], endian: Endian, version: u32) {
    let scope = Scope {
        version,
        ..Scope::default()
    };
    let read = |bytes: &[u8]| -> R {
        read(&mut Cursor::new(bytes, 0, endian), version).expect("the size is right")
    };
    let mut record = read(bytes);
    assert_eq!(written(&record, endian, version), bytes, "as it was read");
    let json = value(&record, &scope).to_string();
    let shown = Value::parse(&json).expect("it is JSON");
    set(&mut record, &shown, &scope).unwrap_or_else(|problem| panic!("{problem}"));
    let columns = columns(&R::default(), version);
    for (column, cell) in columns.iter().zip(cells(&record, &scope)) {
        let set = set_cell(&mut record, column, &cell, &scope);
        set.unwrap_or_else(|problem| panic!("{problem}"));
    }
    assert_eq!(written(&record, endian, version), bytes, "from {json}");
    // The NULs of texts are at the same positions in both records.
    let other: Vec<u8> = bytes
        .iter()
        .map(|&byte| if byte == 0 { 0 } else { byte % 254 + 1 })
        .collect();
    let mut other = read(&other);
    for (name, value) in shown.as_map().expect("a record is a map") {
        let (index, _) = members(&other, version)
            .find(|(_, member)| member.name == name)
            .expect("each key is a field");
        let set = other.field_mut(index).set(value, &scope);
        set.unwrap_or_else(|problem| panic!("{}", problem.within(name)));
    }
    assert_eq!(value(&other, &scope).to_string(), json);
}

/// A record as a field of another.
impl<R: Record> Field for R {
    fn read(&mut self, cursor: &mut Cursor<'_>, version: u32, _label: &'static str) -> Result<()> {
        fill(self, cursor, version)
    }

    fn write(&self, to: &mut Writer) {
        write(self, to);
    }

    fn value(&self, scope: &Scope<'_>) -> Value {
        value(self, scope)
    }

    fn set(&mut self, value: &Value, scope: &Scope<'_>) -> std::result::Result<(), Problem> {
        set(self, value, scope)
    }
}

#[cfg(test)]
mod tests;
