//! Forms 2 and 3: a header with a magic, and files that may be packed.

use std::ops::RangeInclusive;

use super::{Files, Member, Pre, check_count};
use crate::format::Input;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};
use crate::paths::until_nul;
use crate::volume::Sink;

/// Length of the archive's header.
pub(super) const HEADER: u64 = 12;

/// The upper half of the magic; the lower one is the number of the form.
const MAGIC: u32 = 0xABCD_0000;

/// Length of a file's header, without the checksum of form 3.
const FILE_HEADER: u64 = 12;

/// Length of the checksum of a name in form 3.
const CHECKSUM: u64 = 4;

/// First bytes of modules of the PlayStation 3 and the PSP, which have the
/// extension `.prx` too.
const MODULES: [&[u8; 4]; 2] = [b"~PSP", b"\x7FELF"];

/// Returns whether the first bytes of a file have the magic of one of these
/// forms.
pub(super) fn has_magic(head: &[u8], forms: RangeInclusive<u32>) -> bool {
    let magic = head.get(4..8).and_then(|magic| magic.try_into().ok());
    let magic = magic.map_or(0, u32::from_le_bytes);
    magic & 0xFFFF_0000 == MAGIC && forms.contains(&(magic & 0xFFFF))
}

pub(super) fn matches(input: &Input<'_>) -> Result<bool> {
    let head = input.bytes(0, HEADER)?;
    let is_module = MODULES.iter().any(|magic| head.starts_with(&magic[..]));
    Ok(has_magic(&head, 0..=0xFFFF) && !is_module)
}

pub(super) fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<Pre> {
    let mut files = Files::new(sink);
    let walked = walk(&*input.source, |name, member| files.add(name, member))?;
    let end = input.source.len();
    if u64::from(walked.total) != end {
        let total = walked.total;
        let text = format!("the header declares {total} bytes, there are {end}");
        files.warnings.push(text);
    }
    if walked.end < end {
        let text = format!("{} bytes follow the last file", end - walked.end);
        files.warnings.push(text);
    }
    Ok(files.into_volume(input.source, input.options, walked.form))
}

/// The facts about an archive beside its files.
struct Walked {
    form: u8,
    /// Its length in bytes, as the header states it.
    total: u32,
    /// Absolute offset after the last file and its padding.
    end: u64,
}

/// Calls `add` with every file.
fn walk(source: &dyn ReadAt, mut add: impl FnMut(&[u8], Member) -> Result<()>) -> Result<Walked> {
    let header = read_vec(source, 0, HEADER, "header")?;
    let mut cursor = Cursor::new(&header, 0, Endian::Little);
    let total = cursor.u32("total size")?;
    let form = match cursor.u32("magic")? & 0xFFFF {
        form @ (2 | 3) => form as u8,
        form => {
            return Err(Error::Unsupported(format!(
                "is a PRE archive of the unknown form {form}; known are 1 to 3"
            )));
        }
    };
    let count = cursor.u32("number of files")?;
    let file_header = match form {
        2 => FILE_HEADER,
        _ => FILE_HEADER + CHECKSUM,
    };
    check_count(count, source.len() - HEADER, file_header, 8)?;
    let mut offset = HEADER;
    for number in 0..count {
        let read = file(source, offset, file_header);
        let (name, member) = read.map_err(|error| error.within(format!("file {number}")))?;
        // The padding counts from the start of the data (FORMATS, PRE 3).
        offset = member.end();
        add(&name, member)?;
    }
    Ok(Walked {
        form,
        total,
        end: offset,
    })
}

/// Returns the name of the file whose header is at `offset`, and the position
/// of its data.
fn file(source: &dyn ReadAt, offset: u64, header: u64) -> Result<(Vec<u8>, Member)> {
    let bytes = read_vec(source, offset, header, "header")?;
    let mut cursor = Cursor::new(&bytes, offset, Endian::Little);
    let size = cursor.u32("size")?;
    let packed = cursor.u32("packed size")?;
    let length = cursor.u16("name length")?;
    let name = read_vec(source, offset + header, length.into(), "name")?;
    let member = Member {
        offset: offset + header + u64::from(length),
        size,
        packed,
    };
    let left = source.len() - member.offset;
    if member.stored() > left {
        let problem = format!("{} bytes do not fit into {left}", member.stored());
        return Err(Error::damaged(offset, "size", problem));
    }
    Ok((until_nul(&name).to_vec(), member))
}
