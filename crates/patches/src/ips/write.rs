//! Writing IPS patches.

use std::io::Write;

use hpimount_containers::io::ReadAt;

use super::{EOF, IPS};
use crate::error::{Error, Result};
use crate::extents::output;
use crate::{Extents, Format};

/// Maximum length of a result, in bytes.
const MAX_RESULT: u64 = 16 << 20;

/// The offset that equals the end mark.
const EOF_POSITION: u64 = 0x45_4F46;

/// Maximum gap of equal bytes that takes less space than a new record.
const GAP: usize = 5;

/// Minimum length of a run that is shorter than its bytes.
const MIN_RUN: usize = 9;

/// Maximum length of a record.
const MAX_RECORD: usize = u16::MAX as usize;

/// Writes a patch, see [`write::ips`](crate::write::ips).
pub(crate) fn write(extents: &Extents, original: &dyn ReadAt, out: &mut dyn Write) -> Result<()> {
    let size = extents.len();
    let limit = |problem: String| Err(Error::limit(Format::Ips, problem));
    if size > MAX_RESULT {
        return limit(format!(
            "reaches {MAX_RESULT} bytes and the result has {size}: use .xdelta, .bps or .ppf"
        ));
    }
    let is_cut = size < original.len();
    if is_cut && size == MAX_RESULT {
        return limit(format!("cannot cut a file to exactly {MAX_RESULT} bytes"));
    }
    out.write_all(IPS).map_err(output)?;
    let mut is_changed = is_cut;
    extents.changes(original, GAP, |mut offset, mut bytes| {
        is_changed = true;
        while !bytes.is_empty() {
            let (start, length, record) = match offset == EOF_POSITION {
                // This offset is not allowed, so the record begins one byte earlier.
                true => {
                    let before = extents.byte(original, offset - 1)?;
                    (offset - 1, 1, literal(&[before, bytes[0]]))
                }
                false => {
                    let (length, record) = record(bytes);
                    (offset, length, record)
                }
            };
            out.write_all(&start.to_be_bytes()[5..]).map_err(output)?;
            out.write_all(&record).map_err(output)?;
            offset += length as u64;
            bytes = &bytes[length..];
        }
        Ok(())
    })?;
    if !is_changed {
        return Err(Error::Unchanged);
    }
    out.write_all(EOF).map_err(output)?;
    match is_cut {
        true => out.write_all(&size.to_be_bytes()[5..]).map_err(output),
        false => Ok(()),
    }
}

/// Returns the length of the next record of changed bytes, and the record without its
/// offset.
fn record(bytes: &[u8]) -> (usize, Vec<u8>) {
    let is_equal = |byte: &&u8| **byte == bytes[0];
    let run = bytes.iter().take(MAX_RECORD).take_while(is_equal).count();
    if run >= MIN_RUN {
        let length = (run as u16).to_be_bytes();
        return (run, [&[0, 0], &length[..], &bytes[..1]].concat());
    }
    // It ends before the next run.
    let is_run = |bytes: &[u8]| bytes.iter().all(|byte| *byte == bytes[0]);
    let length = bytes.windows(MIN_RUN).position(is_run);
    let length = length.unwrap_or(bytes.len()).min(MAX_RECORD);
    (length, literal(&bytes[..length]))
}

/// Returns a record of literal bytes, without its offset.
fn literal(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes(), bytes].concat()
}
