//! Writing a PRE archive with changes: the files follow one another, so that
//! whatever is behind a changed one moves.

use super::{Pre, flat, packed, padded};
use crate::changes::{Composed, Job, NewFile, Written};
use crate::io::{Error, ReadAt, Result, read_vec};
use crate::volume::FileId;

/// Writes the archive.
pub(super) fn apply(old: &Pre, (): (), job: &mut Job<'_>) -> Result<Written> {
    let (source, form) = (&old.source, old.form);
    let first = match form {
        1 => flat::HEADER,
        _ => packed::HEADER,
    };
    // The padding of the last one may be missing.
    let end = old.members.last().map_or(first, |last| last.end());
    let end = end.min(source.len());
    let mut body = Composed::default();
    let mut count = 0_u32;
    let ends = old.members.iter().map(|member| member.end());
    let headers = std::iter::once(first).chain(ends);
    for ((file, member), at) in (0..).map(FileId).zip(&old.members).zip(headers) {
        if job.tree.is_file_deleted(file) {
            continue;
        }
        count += 1;
        let Some(new) = job.tree.new_of(file) else {
            body.append(source, at..member.end().min(end));
            body.append_fill(0, member.end().saturating_sub(end));
            continue;
        };
        let mut header = read_vec(&**source, at, member.offset - at, "header")?;
        let size = number_of(new.len())?;
        match form {
            1 => {
                let at = header.len() - size.len();
                header[at..].copy_from_slice(&size);
            }
            // A packed size of 0: it is not packed.
            _ => header[..8].copy_from_slice(&[size, [0; 4]].concat()),
        }
        append(&mut body, header, new);
    }
    count += add(job, form, old.separator, &mut body)?;
    if count == 0 && form == 1 {
        job.refuse_to_empty();
    }
    let mut spliced = Composed::default();
    if form != 1 {
        let head = read_vec(&**source, 0, 8, "header")?;
        let (total, magic) = head.split_at(4);
        let is_right = number_of(source.len()).is_ok_and(|length| length == total);
        let total = match is_right {
            true => number_of(first + body.len() + (source.len() - end))?.to_vec(),
            false => total.to_vec(),
        };
        spliced.append_bytes([&total, magic].concat());
    }
    spliced.append_bytes(count.to_le_bytes().to_vec());
    spliced.append_composed(body);
    spliced.append(source, end..source.len());
    number_of(spliced.len())?;
    Ok(Written::alone(spliced))
}

/// Appends the added files, and returns their number.
fn add(job: &mut Job<'_>, form: u8, separator: Option<u8>, body: &mut Composed) -> Result<u32> {
    let mut count = 0;
    for (node, new) in job.added_files() {
        let path = job.tree.path(node);
        let is_printable = path.bytes().all(|byte| (0x20..0x7F).contains(&byte));
        if !is_printable || path.len() as u64 >= flat::MAX_NAME {
            job.refuse(node, "no name for a PRE archive (ASCII, at most 255 bytes)");
            continue;
        }
        if form == 1 && path.contains('/') && separator.is_none() {
            job.refuse(node, "this archive has no directories");
            continue;
        }
        let separator = separator.unwrap_or(b'\\');
        let name = path.bytes();
        let name = name.map(|byte| if byte == b'/' { separator } else { byte });
        let name: Vec<u8> = name.collect();
        append(body, header(&name, &new, form)?, &new);
        count += 1;
    }
    Ok(count)
}

/// Returns the header of an added file.
fn header(name: &[u8], new: &NewFile, form: u8) -> Result<Vec<u8>> {
    let mut field = name.to_vec();
    field.push(0);
    field.resize(field.len().next_multiple_of(4), 0);
    let size = number_of(new.len())?;
    if form == 1 {
        return Ok([&field[..], &size].concat());
    }
    let length = (field.len() as u16).to_le_bytes();
    let mut header = [&size[..], &[0; 4], &length, &[0; 2]].concat();
    if form == 3 {
        // CRC-32 without the final inversion.
        let sum = !crc32fast::hash(&name.to_ascii_lowercase());
        header.extend(sum.to_le_bytes());
    }
    header.extend(field);
    Ok(header)
}

fn append(body: &mut Composed, header: Vec<u8>, new: &NewFile) {
    body.append_bytes(header);
    body.append_file(new);
    body.append_fill(0, padded(new.len()) - new.len());
}

/// Returns a length as the archive stores it.
fn number_of(length: u64) -> Result<[u8; 4]> {
    let number = u32::try_from(length);
    let number = number.map_err(|_| Error::Unsupported("would be larger than 4 GiB".to_owned()))?;
    Ok(number.to_le_bytes())
}
