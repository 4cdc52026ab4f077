//! Blocks, which make up a HIP archive, and the strings in them (FORMATS, HIP 1
//! and 2).

use crate::io::{Cursor, Endian, Error, ReadAt, Result};

use crate::io::Warnings;

/// Bytes of a block before its body: its name and its size.
pub(super) const HEADER: u64 = 8;

/// Name of a block, four capital letters.
pub(super) type Name = [u8; 4];

/// The header of a block in the source, whose body has not been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Its name.
    pub(super) name: Name,
    /// Absolute offset of the header in the source.
    pub(super) offset: u64,
    /// Length of the body according to the header.
    pub(super) size: u32,
}

impl Header {
    /// Reads the header at `offset`; `None` if less than a header is left, or
    /// if it does not begin with a valid name of a block.
    pub(super) fn read(source: &dyn ReadAt, offset: u64) -> Result<Option<Self>> {
        if source.len().saturating_sub(offset) < HEADER {
            return Ok(None);
        }
        let bytes = crate::io::read_vec(source, offset, HEADER, "block header")?;
        let mut cursor = Cursor::new(&bytes, offset, Endian::Big);
        let name = take_name(&mut cursor)?;
        let size = cursor.u32("block size")?;
        Ok(name
            .iter()
            .all(u8::is_ascii_uppercase)
            .then_some(Self { name, offset, size }))
    }

    /// Returns the absolute offset of the body.
    pub(super) fn body(&self) -> u64 {
        self.offset + HEADER
    }

    /// Returns the absolute offset of the next block: blocks are aligned to
    /// even distances from the previous body.
    pub(super) fn next(&self) -> u64 {
        self.body() + u64::from(self.size) + u64::from(self.size & 1)
    }
}

/// A block inside another one.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    /// Its name.
    pub(super) name: Name,
    /// Absolute offset of its header.
    pub(super) offset: u64,
    /// Its body, limited by the parent block.
    pub(super) body: Cursor<'a>,
}

/// Reads the next block of `parent`; `None` at its end.
///
/// A block that is longer than the rest of its parent is cut there, with a
/// warning; a rest that is shorter than a header is ignored.
pub(super) fn next<'a>(
    parent: &mut Cursor<'a>,
    warnings: &mut Warnings,
) -> Result<Option<Block<'a>>> {
    if (parent.remaining() as u64) < HEADER {
        return Ok(None);
    }
    let offset = parent.offset();
    let name = take_name(parent)?;
    let size = parent.u32("block size")?;
    let left = parent.remaining();
    let length = usize::try_from(size).map_or(left, |size| size.min(left));
    if size as usize != length {
        let shown = String::from_utf8_lossy(&name);
        warnings.push(format!(
            "{shown} at {offset:#x}: its {size} bytes exceed the {left} that are left"
        ));
    }
    let body = parent.section(length, "block")?;
    if size & 1 == 1 && parent.remaining() > 0 {
        parent.take(1, "padding")?;
    }
    Ok(Some(Block { name, offset, body }))
}

/// Reads a string: bytes, a NUL, and a second NUL if the number of bytes is
/// even. A string without its NUL ends with the block, and a second NUL may be
/// missing there.
pub(super) fn take_string<'a>(body: &mut Cursor<'a>, field: &'static str) -> Result<&'a [u8]> {
    let Ok(string) = body.c_string(field) else {
        return body.take(body.remaining(), field);
    };
    if string.len() % 2 == 0 && body.remaining() > 0 {
        body.take(1, field)?;
    }
    Ok(string)
}

/// Reads the number at the start of a block's body, if there is one.
pub(super) fn number(body: &mut Cursor, field: &'static str) -> Option<u32> {
    body.u32(field).ok()
}

/// Returns an error about a block that is too short for its fields.
pub(super) fn too_short(block: &Block, needed: usize) -> Error {
    Error::damaged(
        block.offset,
        String::from_utf8_lossy(&block.name).into_owned(),
        format!("needs {needed} bytes, has {}", block.body.remaining()),
    )
}

fn take_name(cursor: &mut Cursor) -> Result<Name> {
    let mut name = Name::default();
    name.copy_from_slice(cursor.take(4, "block name")?);
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(bytes: &[u8]) -> Cursor<'_> {
        Cursor::new(bytes, 0x10, Endian::Big)
    }

    #[test]
    fn the_next_block_begins_at_an_even_distance() {
        let bytes = b"PFLG\0\0\0\x03abc\0PMOD\0\0\0\0";
        let mut parent = cursor(bytes);
        let mut warnings = Warnings::default();
        let first = next(&mut parent, &mut warnings).unwrap().unwrap();
        assert_eq!((first.name, first.body.remaining()), (*b"PFLG", 3));
        let second = next(&mut parent, &mut warnings).unwrap().unwrap();
        assert_eq!((second.name, second.offset), (*b"PMOD", 0x1C));
        assert!(next(&mut parent, &mut warnings).unwrap().is_none());
        assert!(warnings.texts().is_empty());
    }

    #[test]
    fn a_block_that_is_too_long_ends_with_its_parent() {
        let mut parent = cursor(b"AHDR\x7f\xff\xff\xffabc");
        let mut warnings = Warnings::default();
        let block = next(&mut parent, &mut warnings).unwrap().unwrap();
        assert_eq!(block.body.remaining(), 3);
        assert_eq!(
            warnings.texts(),
            ["AHDR at 0x10: its 2147483647 bytes exceed the 3 that are left"]
        );
    }

    #[test]
    fn strings_are_padded_to_an_even_length() {
        let mut body = cursor(b"abc\0abcd\0\0\0\0x");
        assert_eq!(take_string(&mut body, "s").unwrap(), b"abc");
        assert_eq!(take_string(&mut body, "s").unwrap(), b"abcd");
        assert_eq!(take_string(&mut body, "s").unwrap(), b"");
        assert_eq!(take_string(&mut body, "s").unwrap(), b"x");
        assert_eq!(body.remaining(), 0);
    }

    #[test]
    fn an_invalid_block_ends_the_search() {
        let source = b"HIPA\0\0\0\x01..3333\0\0\0\0".to_vec();
        let header = Header::read(&source, 0).unwrap().unwrap();
        assert_eq!((header.body(), header.next()), (8, 10));
        assert_eq!(Header::read(&source, 10).unwrap(), None);
        assert_eq!(Header::read(&source, 99).unwrap(), None);
    }
}
