//! Rows of runs (FORMATS, TA 3).

use super::picture::Indexed;
use crate::asset::ta::short::{copy, fill};
use crate::io::{Cursor, Error, Result};

/// What is odd about the rows of a frame.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Oddities {
    /// Rows that end before the right edge.
    pub(super) short_rows: usize,
    /// Rows with a run that goes over the right edge.
    pub(super) overlong_rows: usize,
    /// Bytes of rows behind the right edge.
    pub(super) bytes_left: usize,
}

/// Decodes rows of runs into `picture`, all of whose pixels are transparent.
///
/// Each row has its length, and the next one begins there, whatever its runs
/// come to.
pub(super) fn decode(cursor: &mut Cursor<'_>, picture: &mut Indexed) -> Result<Oddities> {
    let mut odd = Oddities::default();
    let key = picture.key;
    for (number, (indices, mask)) in picture.rows_mut().enumerate() {
        let length = cursor.u16("row length")?;
        let start = cursor.offset();
        let row = cursor.take(length.into(), "row")?;
        let end = decode_row(row, indices, mask, key).map_err(|(at, problem)| {
            Error::damaged(start + at as u64, format!("row {number}"), problem)
        })?;
        odd.short_rows += usize::from(end.is_short);
        odd.overlong_rows += usize::from(end.is_overlong);
        odd.bytes_left += row.len() - end.consumed;
    }
    Ok(odd)
}

/// How a row ended.
struct RowEnd {
    /// Bytes that were used.
    consumed: usize,
    is_short: bool,
    is_overlong: bool,
}

/// Decodes a row. Whatever happens, pixels that it does not have are
/// transparent at the end.
fn decode_row(
    row: &[u8],
    indices: &mut [u8],
    mask: &mut [u8],
    key: u8,
) -> std::result::Result<RowEnd, (usize, &'static str)> {
    let width = indices.len();
    let (mut at, mut x) = (0, 0);
    let mut is_overlong = false;
    let mut lost = None;
    while x < width {
        let Some(&code) = row.get(at) else {
            break;
        };
        let start = at;
        at += 1;
        let is_skipped = code & 1 != 0;
        let count = match is_skipped {
            true => usize::from(code >> 1),
            false => usize::from(code >> 2) + 1,
        };
        is_overlong |= count > width - x;
        let end = (x + count).min(width);
        if is_skipped {
            fill(indices, x, end, key);
            fill(mask, x, end, 0);
            x = end;
            continue;
        }
        if code & 2 != 0 {
            let Some(&value) = row.get(at) else {
                lost = Some((start, "repeats a pixel that is missing"));
                break;
            };
            at += 1;
            fill(indices, x, end, value);
        } else {
            let literal = row.get(at..).filter(|rest| rest.len() >= count);
            let Some(literal) = literal else {
                lost = Some((start, "copies pixels that are missing"));
                break;
            };
            at += count;
            copy(indices, x, end, literal);
        }
        fill(mask, x, end, 0xFF);
        x = end;
    }
    indices[x..].fill(key);
    mask[x..].fill(0);
    match lost {
        Some(lost) => Err(lost),
        None => Ok(RowEnd {
            consumed: at,
            is_short: x < width,
            is_overlong,
        }),
    }
}
