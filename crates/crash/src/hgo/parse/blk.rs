//! `*.hgo.blk`: the block table that a tool left next to some HGO files (FORMATS, HGO
//! 8). No game opens it.

use get_size2::GetSize;

use super::BlockKind;
use hpimount_assets::parse::Incomplete;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Extensions of block tables.
pub const EXTENSIONS: &[&str] = &["hgo.blk"];

/// Bytes of an entry.
const ENTRY_SIZE: usize = 8;

/// The parsed contents of a `.blk` file.
#[derive(Debug, Default, GetSize)]
pub struct BlockTable {
    /// The entries, in the order of the file.
    pub entries: Vec<Entry>,
}

/// An entry of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Entry {
    /// Type of the block.
    pub tag: [u8; 4],
    /// Absolute offset in the HGO file of the block's size, 4 bytes after the
    /// start of the block.
    pub offset: u32,
    /// The contradiction to earlier entries, if any.
    pub mismatch: Option<Mismatch>,
}

/// A contradiction between an entry and earlier entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Mismatch {
    /// The type is unknown.
    UnknownType,
    /// The previous block has a known length, so this one should have this
    /// offset.
    ShouldBe(u32),
    /// It begins inside the header of the previous block, whose offset is given.
    TooEarly(u32),
}

/// Parses a `.blk` file. It is little-endian, regardless of the byte order of the HGO
/// file.
///
/// # Errors
/// Returns [`Incomplete`] with the complete entries if the length is not a
/// multiple of 8.
pub fn parse(bytes: &[u8]) -> std::result::Result<BlockTable, Box<Incomplete<BlockTable>>> {
    let mut table = BlockTable::default();
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    match read(&mut cursor, &mut table.entries) {
        Ok(()) => Ok(table),
        Err(error) => Err(Box::new(Incomplete {
            error,
            model: table,
        })),
    }
}

/// Returns whether bytes begin like every block table, with the block of the whole file
/// at its usual offset. Without this check, any data whose length is a multiple of 8
/// could be a table.
pub fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HGOF\x04\0\0\0")
}

fn read(cursor: &mut Cursor<'_>, entries: &mut Vec<Entry>) -> Result<()> {
    while cursor.remaining() >= ENTRY_SIZE {
        let tag = cursor.u32("block type")?.to_le_bytes();
        let offset = cursor.u32("block offset")?;
        entries.push(Entry {
            tag,
            offset,
            mismatch: mismatch(tag, offset, entries.last()),
        });
    }
    match cursor.remaining() {
        0 => Ok(()),
        left => Err(Error::damaged(
            cursor.offset(),
            "entry",
            format!("has {left} bytes, should have {ENTRY_SIZE}"),
        )),
    }
}

fn mismatch(tag: [u8; 4], offset: u32, before: Option<&Entry>) -> Option<Mismatch> {
    if BlockKind::from_tag(tag).is_none() {
        return Some(Mismatch::UnknownType);
    }
    let expected = match before {
        None => Some(4),
        Some(before) => known_length(before.tag).and_then(|l| before.offset.checked_add(l)),
    };
    if let Some(expected) = expected.filter(|&expected| expected != offset) {
        return Some(Mismatch::ShouldBe(expected));
    }
    let before = before?.offset;
    (u64::from(offset) < u64::from(before) + 8).then_some(Mismatch::TooEarly(before))
}

/// Returns the distance from a block to the next in the table, if it is fixed:
/// the header of a block that begins with another, or the whole of `TSH0`.
fn known_length(tag: [u8; 4]) -> Option<u32> {
    match BlockKind::from_tag(tag)? {
        BlockKind::Root | BlockKind::Textures => Some(8),
        BlockKind::TextureCount => Some(12),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&[u8; 4], u32)]) -> Vec<u8> {
        let entries = entries.iter();
        let entries = entries.map(|(tag, offset)| [**tag, offset.to_le_bytes()].concat());
        entries.collect::<Vec<_>>().concat()
    }

    fn mismatches(entries: &[(&[u8; 4], u32)]) -> Vec<Option<Mismatch>> {
        let table = parse(&table(entries)).unwrap();
        table.entries.iter().map(|entry| entry.mismatch).collect()
    }

    #[test]
    fn a_consistent_table_has_no_mismatches() {
        let entries: [(&[u8; 4], u32); 6] = [
            (b"HGOF", 4),
            (b"NTBL", 12),
            (b"TST0", 92),
            (b"TSH0", 100),
            (b"TXM0", 112),
            (b"MS00", 436),
        ];
        assert_eq!(mismatches(&entries), [None; 6]);
    }

    #[test]
    fn offsets_that_contradict_the_block_before_are_marked() {
        assert_eq!(
            mismatches(&[
                (b"HGOF", 8),
                (b"TST0", 16),
                (b"TSH0", 25),
                (b"TXM0", 37),
                (b"TXM0", 44),
                (b"XYZ0", 60),
            ]),
            [
                Some(Mismatch::ShouldBe(4)),
                None,
                Some(Mismatch::ShouldBe(24)),
                None,
                Some(Mismatch::TooEarly(37)),
                Some(Mismatch::UnknownType),
            ]
        );
        let extreme = [(b"HGOF", u32::MAX), (b"NTBL", u32::MAX)];
        assert_eq!(mismatches(&extreme)[1], Some(Mismatch::TooEarly(u32::MAX)));
    }

    #[test]
    fn a_broken_last_entry_is_an_error_after_the_complete_ones() {
        let mut bytes = table(&[(b"HGOF", 4)]);
        bytes.extend([1, 2, 3]);
        let incomplete = parse(&bytes).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            "entry at 0x8: has 3 bytes, should have 8"
        );
        assert_eq!(incomplete.model.entries.len(), 1);
    }
}
