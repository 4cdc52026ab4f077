//! Pointers and names, which several formats share (FORMATS, TA 1).

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_containers::io::{Cursor, Endian, Result};
use hpimount_containers::text::{to_windows_1252, windows_1252};

/// Maximum length of a NUL-terminated name in bytes.
const MAX_NAME_LENGTH: usize = 256;

/// Returns a cursor over a file; all numbers are little-endian.
pub(super) fn little(file: &[u8]) -> Cursor<'_> {
    Cursor::new(file, 0, Endian::Little)
}

/// Returns the number at `index` in a list of 16-bit numbers, or `None` after its end.
pub(super) fn u16_at(list: &[u8], index: usize) -> Option<u16> {
    let start = index.checked_mul(2)?;
    let bytes = list.get(start..start.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns the number at `index` in a list of 32-bit numbers, or `None` after its end.
pub(super) fn u32_at(list: &[u8], index: usize) -> Option<u32> {
    let start = index.checked_mul(4)?;
    let bytes = list.get(start..start.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// An absolute offset in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pointer {
    /// The target offset.
    pub(super) target: u32,
    /// Absolute offset of the pointer itself.
    stored_at: u64,
    /// Name of its target.
    field: &'static str,
}

impl Pointer {
    /// Creates a pointer that was read at `stored_at`.
    pub(super) fn new(target: u32, stored_at: u64, field: &'static str) -> Self {
        Self {
            target,
            stored_at,
            field,
        }
    }

    /// Reads the pointer to `field`.
    pub(super) fn read(cursor: &mut Cursor<'_>, field: &'static str) -> Result<Self> {
        let stored_at = cursor.offset();
        Ok(Self::new(cursor.u32(field)?, stored_at, field))
    }

    /// Returns a cursor at the target.
    pub(super) fn follow(self, file: &[u8]) -> Result<Cursor<'_>> {
        little(file).follow(self.target.into(), self.stored_at, self.field)
    }

    /// Returns `count` items of `size` bytes each at the target. Without items, the
    /// pointer may have any value.
    pub(super) fn items(self, file: &Bytes, count: u64, size: usize) -> Result<Bytes> {
        if count == 0 {
            return Ok(Bytes::new());
        }
        let mut cursor = self.follow(file)?;
        let count = cursor.check_count(count, size, self.field)?;
        Ok(file.slice_ref(cursor.take(count * size, self.field)?))
    }

    /// Returns the name at the target, and whether it is terminated within
    /// [`MAX_NAME_LENGTH`] bytes.
    pub(super) fn name(self, file: &Bytes) -> Result<(Name, bool)> {
        let mut cursor = self.follow(file)?;
        let most = cursor.remaining().min(MAX_NAME_LENGTH);
        // A pointer to the end of the file is not a name.
        let bytes = cursor.take(most.max(1), self.field)?;
        let end = bytes.iter().position(|&byte| byte == 0);
        let name = Name(file.slice_ref(&bytes[..end.unwrap_or(most)]));
        Ok((name, end.is_some()))
    }
}

/// A name as stored, without its NUL. It is a slice of the file.
#[derive(Clone, Default, PartialEq, Eq, GetSize)]
pub struct Name(#[get_size(ignore)] Bytes);

impl Name {
    /// Creates a name. Characters outside of Windows-1252 are lost.
    pub(crate) fn new(text: &str) -> Self {
        Self(Bytes::copy_from_slice(&to_windows_1252(text)))
    }

    /// Returns its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns its text, treated as Windows-1252.
    pub fn text(&self) -> Cow<'_, str> {
        windows_1252(&self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

/// Names in a table of pointers. They are looked up on demand, since any number of
/// pointers may share a long name.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Names {
    #[get_size(ignore)]
    file: Bytes,
    /// A 32-bit pointer for each name.
    #[get_size(ignore)]
    table: Bytes,
}

impl Names {
    /// Returns the names in the table at `pointer`, and the number of unterminated
    /// ones.
    pub(super) fn read(
        file: &Bytes,
        pointer: Pointer,
        count: u32,
        field: &'static str,
    ) -> Result<(Self, usize)> {
        let names = Self {
            file: file.clone(),
            table: pointer.items(file, count.into(), 4)?,
        };
        let mut endless = 0;
        for index in 0..count as usize {
            let stored_at = u64::from(pointer.target) + 4 * index as u64;
            let target = u32_at(&names.table, index).unwrap_or_default();
            let (_, has_end) = Pointer::new(target, stored_at, field).name(file)?;
            endless += usize::from(!has_end);
        }
        Ok((names, endless))
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.table.len() / 4
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the name with this number.
    pub fn get(&self, index: usize) -> Option<Name> {
        let target = u32_at(&self.table, index)?;
        let (name, _) = Pointer::new(target, 0, "name").name(&self.file).ok()?;
        Some(name)
    }

    /// Returns all names in file order.
    pub fn iter(&self) -> impl Iterator<Item = Name> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_outside_of_the_file_is_an_error_with_its_position() {
        let file = Bytes::from_static(&[8, 0, 0, 0, 99, 0, 0, 0, 1, 2, 3, 4]);
        let mut cursor = little(&file);
        let inside = Pointer::read(&mut cursor, "tiles").unwrap();
        let outside = Pointer::read(&mut cursor, "tiles").unwrap();
        assert_eq!(inside.items(&file, 2, 2).unwrap(), [1, 2, 3, 4][..]);
        assert_eq!(
            inside.items(&file, 3, 2).unwrap_err().to_string(),
            "tiles at 0x8: 3 items of 2 bytes do not fit into 4 bytes"
        );
        assert_eq!(
            outside.items(&file, 1, 1).unwrap_err().to_string(),
            "tiles at 0x4: points to 0x63, outside 0x0..0xc"
        );
        assert!(outside.items(&file, 0, 1).unwrap().is_empty());
        assert!(inside.items(&file, u64::MAX, 4).is_err());
    }

    #[test]
    fn a_name_is_at_most_256_bytes_long_and_not_past_the_file() {
        let mut file = vec![b'a'; 300];
        file.push(0);
        let file = Bytes::from(file);
        let name = |target| Pointer::new(target, 0, "name").name(&file);
        let (long, has_end) = name(0).unwrap();
        assert_eq!((long.bytes().len(), has_end), (256, false));
        let (short, has_end) = name(299).unwrap();
        assert_eq!((short.text().as_ref(), has_end), ("a", true));
        assert!(name(300).unwrap().0.bytes().is_empty());
        assert!(name(301).is_err());
    }
}
