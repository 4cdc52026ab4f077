//! Editable fields of stored records.

use std::rc::Rc;

use hpimount_containers::io::{Cursor, Endian};
use hpimount_record::{self as record, Placed, Record, Value, Writer};

use super::place::Encoded;

/// A field of a record, or an element of a list field.
#[derive(Clone)]
pub struct StoredField<'a> {
    /// Offset of the record in the asset.
    start: usize,
    endian: Endian,
    field: Placed,
    /// The number of the element.
    element: Option<usize>,
    record: CopyOf<'a>,
}

/// Returns a copy of a record.
type CopyOf<'a> = Rc<dyn Fn() -> Box<dyn Record> + 'a>;

/// Returns the fields of a record at an offset of its asset.
pub(crate) fn stored_fields<'a, R: Record + Clone>(
    record: &'a R,
    start: usize,
    endian: Endian,
) -> impl Iterator<Item = StoredField<'a>> {
    let copy: CopyOf<'a> = Rc::new(|| Box::new(record.clone()));
    let fields = record::placed(record);
    fields.map(move |field| StoredField {
        start,
        endian,
        field,
        element: None,
        record: Rc::clone(&copy),
    })
}

impl StoredField<'_> {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.field.member.name
    }

    /// Returns true if the field is derived from other values and cannot be edited.
    pub fn is_derived(&self) -> bool {
        self.field.member.is_derived
    }

    /// Returns the value of the field.
    pub fn value(&self) -> Value {
        let record = (self.record)();
        record.field(self.field.number).value()
    }

    /// Returns the element with this number of a list.
    #[must_use]
    pub fn element(&self, number: usize) -> Self {
        let element = Some(number);
        let field = self.clone();
        Self { element, ..field }
    }

    /// Returns the place and the bytes of an edited value, or `None` if it is
    /// unchanged.
    pub(super) fn encode(&self, edited: &Value) -> Result<Option<(usize, Encoded)>, String> {
        let mut record = (self.record)();
        let old = self.bytes(&*record);
        let field = record.field_mut(self.field.number);
        let (value, parts) = match (self.element, field.value()) {
            (Some(element), Value::List(mut values)) => {
                let parts = values.len();
                if let Some(value) = values.get_mut(element) {
                    *value = edited.clone();
                }
                (Value::List(values), parts)
            }
            _ => (edited.clone(), 1),
        };
        field.set(&value).map_err(|problem| {
            let path = problem.path();
            match path.is_empty() || path.starts_with('[') {
                true => problem.reason().to_owned(),
                false => problem.to_string(),
            }
        })?;
        let new = self.bytes(&*record);
        if new == old {
            return Ok(None);
        }
        // The elements of a list have the same size.
        let size = new.len() / parts;
        let first = self.element.unwrap_or_default() * size;
        let bytes = new[first..first + size].to_vec();
        let mask = match value {
            // The parts may be edited one by one.
            Value::Map(_) => self.bits(&value, size),
            _ => vec![0xFF; size],
        };
        let offset = self.start + self.field.offset + first;
        Ok(Some((offset, Encoded { bytes, mask })))
    }

    /// Returns a mask of the bits that a value sets: those that do not depend on the
    /// old bits.
    fn bits(&self, value: &Value, size: usize) -> Vec<u8> {
        let [none, all] = [0, 0xFF].map(|byte| {
            let mut record = (self.record)();
            let field = record.field_mut(self.field.number);
            let bytes = vec![byte; size];
            let mut cursor = Cursor::new(&bytes, 0, self.endian);
            // Neither call fails: `set` succeeded before with this size.
            _ = field.read(&mut cursor, self.field.member.label);
            _ = field.set(value);
            self.bytes(&*record)
        });
        none.iter()
            .zip(&all)
            .map(|(none, all)| !(none ^ all))
            .collect()
    }

    /// Returns the bytes of the field in a copy of the record.
    fn bytes(&self, record: &dyn Record) -> Vec<u8> {
        let mut writer = Writer::new(self.endian);
        record.field(self.field.number).write(&mut writer);
        writer.bytes
    }
}
