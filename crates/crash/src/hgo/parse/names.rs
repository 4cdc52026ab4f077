//! The name table, and the fields that refer to it (FORMATS, HGO 1).

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{Field, FixedSize, Problem, Value, Writer};

use hpimount_assets::parse::name;
use hpimount_containers::io::{Cursor, Result, Warnings};

/// The names, each followed by a NUL.
#[derive(Debug, Default, GetSize)]
pub struct NameTable {
    /// A slice of the file.
    #[get_size(ignore)]
    bytes: Bytes,
    /// Total length of the looked-up names in bytes.
    looked_up: usize,
}

/// Maximum length of a name in bytes; longer names are truncated.
const MAX_NAME: usize = 255;

/// Maximum total length of the looked-up names of a file in bytes, counting repeated
/// look-ups. Few files reach a hundredth of it. The limit prevents references to one
/// long name from filling the memory.
const MAX_LOOKED_UP: usize = 1 << 20;

impl NameTable {
    /// Creates the table of these bytes.
    pub(super) fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            looked_up: 0,
        }
    }

    /// Returns all names that are not empty, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = String> {
        let names = self.bytes.split(|&byte| byte == 0);
        names.filter(|name| !name.is_empty()).map(name::until_nul)
    }

    /// Returns the length of the table in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the name that a number refers to: 0 for none, otherwise one more
    /// than the offset. An offset outside the table is a warning.
    pub(super) fn one_based(
        &mut self,
        at: u64,
        number: i32,
        warnings: &mut Warnings,
    ) -> Option<String> {
        match number {
            0 => None,
            _ => self.zero_based(at, number.wrapping_sub(1), warnings),
        }
    }

    /// Returns the name at the offset `number`. An offset outside the table is a
    /// warning.
    pub(super) fn zero_based(
        &mut self,
        at: u64,
        number: i32,
        warnings: &mut Warnings,
    ) -> Option<String> {
        let rest = usize::try_from(number)
            .ok()
            .and_then(|offset| self.bytes.get(offset..))
            .filter(|rest| !rest.is_empty());
        let Some(rest) = rest else {
            let size = self.bytes.len();
            warnings.push(format!(
                "name at {at:#x}: offset {number} is outside the table of {size} bytes"
            ));
            return None;
        };
        let end = rest.iter().take(MAX_NAME).position(|&byte| byte == 0);
        let length = end.unwrap_or(rest.len().min(MAX_NAME));
        if end.is_none() && rest.len() > MAX_NAME {
            warnings.push(format!("name at {at:#x}: is cut after {MAX_NAME} bytes"));
        }
        if self.looked_up + length > MAX_LOOKED_UP {
            warnings.push(format!(
                "name at {at:#x}: is skipped, the file has too many long names"
            ));
            return None;
        }
        self.looked_up += length;
        Some(name::until_nul(&rest[..length]))
    }
}

/// A reference to a name in the table, and the name after its look-up. It is shown as
/// the name, or as the number before.
#[derive(Debug, Default, Clone, PartialEq, Eq, GetSize)]
pub struct NameOffset {
    /// The number as stored: an offset in the table, or one more.
    pub stored: i32,
    name: Option<String>,
}

impl NameOffset {
    /// Returns the name.
    pub fn get(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Looks the name up. `at` is the offset of the number, and `find` a method of the
    /// table.
    pub(super) fn look_up(
        &mut self,
        find: fn(&mut NameTable, u64, i32, &mut Warnings) -> Option<String>,
        at: u64,
        names: &mut NameTable,
        warnings: &mut Warnings,
    ) {
        self.name = find(names, at, self.stored, warnings);
    }
}

impl FixedSize for NameOffset {
    const SIZE: usize = 4;
}

impl Field for NameOffset {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        self.stored.read(cursor, label)
    }

    fn write(&self, to: &mut Writer) {
        self.stored.write(to);
    }

    fn value(&self) -> Value {
        match (&self.name, self.stored) {
            (Some(name), _) => Value::text(name.clone()),
            (None, 0) => Value::Null,
            (None, _) => self.stored.value(),
        }
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        match value {
            Value::Null => self.stored = 0,
            Value::Text(name) if Some(&**name) == self.get() => {}
            other => self.stored.set(other)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_offsets_from_zero_and_from_one() {
        let mut table = NameTable::new(Bytes::from_static(b"root\0head\0"));
        let mut warnings = Warnings::default();
        let found = table.one_based(0, 6, &mut warnings);
        assert_eq!(found.as_deref(), Some("head"));
        let found = table.zero_based(0, 5, &mut warnings);
        assert_eq!(found.as_deref(), Some("head"));
        assert_eq!(table.one_based(0, 0, &mut warnings), None);
        assert!(warnings.is_empty());
        for outside in [11, -1, i32::MIN, i32::MAX] {
            assert_eq!(table.one_based(0x20, outside, &mut warnings), None);
        }
        assert_eq!(warnings.len(), 4);
        assert_eq!(
            warnings.texts()[0],
            "name at 0x20: offset 10 is outside the table of 10 bytes"
        );
    }

    #[test]
    fn an_endless_name_is_cut() {
        let mut table = NameTable::new(vec![b'a'; 1000].into());
        let mut warnings = Warnings::default();
        let found = table.one_based(0x20, 1, &mut warnings).unwrap();
        assert_eq!(found.len(), MAX_NAME);
        assert_eq!(warnings.texts(), ["name at 0x20: is cut after 255 bytes"]);
    }

    #[test]
    fn names_are_skipped_if_all_together_are_too_long() {
        let mut table = NameTable::new(vec![b'a'; MAX_NAME].into());
        let mut warnings = Warnings::default();
        for _ in 0..MAX_LOOKED_UP / MAX_NAME {
            assert!(table.zero_based(0x20, 0, &mut warnings).is_some());
        }
        assert!(warnings.is_empty());
        assert_eq!(table.zero_based(0x24, 0, &mut warnings), None);
        assert_eq!(
            warnings.texts(),
            ["name at 0x24: is skipped, the file has too many long names"]
        );
    }
}
