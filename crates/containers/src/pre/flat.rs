//! Form 1: consecutive files, without a magic.

use super::{Files, Member, Pre, check_count, padded};
use crate::format::Input;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec, undamaged};
use crate::text::has_extension;
use crate::volume::Sink;

/// Returns whether an archive may begin with these bytes: a small number and the
/// start of a printable name.
pub(super) fn begins(head: &[u8]) -> bool {
    let Some((files, name)) = head.split_first_chunk() else {
        return false;
    };
    let has_name = name.first().is_some_and(|byte| (0x20..0x7F).contains(byte));
    has_name && (1..0x1_0000).contains(&u32::from_le_bytes(*files))
}

/// Length of the number of files.
pub(super) const HEADER: u64 = 4;

/// Minimum length of a file's header: the shortest name with its padding, and
/// the size.
const FILE_HEADER: u64 = 8;

/// Maximum length of the name, with its NUL. The games have shorter ones.
pub(super) const MAX_NAME: u64 = 256;

/// There is no magic: a file matches by its extension, if all headers can be
/// read.
pub(super) fn matches(input: &Input<'_>) -> Result<bool> {
    if !has_extension(input.options.name.as_bytes(), "pre") {
        return Ok(false);
    }
    let walked = undamaged(walk(&*input.source, |_, _| Ok(())))?;
    Ok(walked.is_some())
}

pub(super) fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<Pre> {
    let mut files = Files::new(sink);
    let end = walk(&*input.source, |name, member| files.add(name, member))?;
    if end < input.source.len() {
        let left = input.source.len() - end;
        files
            .warnings
            .push(format!("{left} bytes follow the last file"));
    }
    Ok(files.into_volume(input.source, input.options, 1))
}

/// Calls `add` with every file and returns the offset after the last one.
fn walk(source: &dyn ReadAt, mut add: impl FnMut(&[u8], Member) -> Result<()>) -> Result<u64> {
    let header = read_vec(source, 0, HEADER, "number of files")?;
    let count = Cursor::new(&header, 0, Endian::Little).u32("number of files")?;
    check_count(count, source.len() - HEADER, FILE_HEADER, 0)?;
    if count == 0 && source.len() > HEADER {
        return Err(Error::damaged(0, "number of files", "is 0"));
    }
    let mut offset = HEADER;
    for _ in 0..count {
        let left = source.len().saturating_sub(offset);
        let bytes = read_vec(source, offset, left.min(MAX_NAME + 4), "file header")?;
        let mut cursor = Cursor::new(&bytes, offset, Endian::Little);
        let name = cursor.c_string("name")?;
        let is_printable = name.iter().all(|byte| (0x20..0x7F).contains(byte));
        if name.is_empty() || !is_printable {
            return Err(Error::damaged(offset, "name", "is not printable"));
        }
        // The padding counts from the start of the name (FORMATS, PRE 2).
        let field = padded(name.len() as u64 + 1);
        cursor.seek(offset + field, "name")?;
        let size = cursor.u32("size")?;
        let member = Member {
            offset: offset + field + 4,
            size,
            packed: 0,
        };
        let left = source.len() - member.offset;
        if u64::from(size) > left {
            let problem = format!("{size} bytes do not fit into {left}");
            return Err(Error::damaged(offset + field, "size", problem));
        }
        add(name, member)?;
        offset = member.end();
    }
    Ok(offset)
}
