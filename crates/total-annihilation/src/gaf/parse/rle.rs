//! Rows of runs (FORMATS, TA 3).

use super::indexed::Indexed;
use hpimount_assets::parse::short::{AT_ONCE, copy, fill};
use hpimount_containers::io::{Cursor, Error, Result};

/// Bit of a code: pixels are skipped.
const SKIP: u8 = 1;

/// Bit of a code that does not skip: the next byte is repeated.
const REPEAT: u8 = 2;

/// Irregularities of the rows of a frame.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Oddities {
    /// Rows that end before the right edge.
    pub(super) short_rows: usize,
    /// Rows with a run beyond the right edge.
    pub(super) overlong_rows: usize,
    /// Bytes of rows after the right edge.
    pub(super) bytes_left: usize,
}

/// Decodes rows of runs into `picture`, whose pixels must all be transparent.
///
/// The length of a row determines where the next one begins, regardless of its
/// runs.
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

/// The end of a decoded row.
struct RowEnd {
    /// Bytes that were used.
    consumed: usize,
    is_short: bool,
    is_overlong: bool,
}

/// Returns the number of pixels of the run with this code.
fn pixels(code: u8) -> usize {
    match code & SKIP != 0 {
        true => usize::from(code >> 1),
        false => usize::from(code >> 2) + 1,
    }
}

/// Decodes the run at `row[at..]` to `indices[x..]` and `mask[x..]`. Returns the
/// numbers of its bytes and pixels. Returns `None` and writes nothing if the run is
/// long or too close to an end to skip bounds checks.
///
/// Detailed sprites consist of runs of a few pixels. Always writing [`AT_ONCE`] pixels
/// is several times faster for them.
#[inline(always)]
fn short_run(
    row: &[u8],
    at: usize,
    indices: &mut [u8],
    mask: &mut [u8],
    x: usize,
    key: u8,
) -> Option<(usize, usize)> {
    let &[code, ref next @ ..] = row.get(at..)?.first_chunk::<{ AT_ONCE + 1 }>()?;
    let indices = indices.get_mut(x..)?.first_chunk_mut()?;
    let mask = mask.get_mut(x..)?.first_chunk_mut()?;
    let count = pixels(code);
    if count > AT_ONCE {
        return None;
    }
    let next: &[u8; AT_ONCE] = next;
    if code & SKIP != 0 {
        *indices = [key; AT_ONCE];
        *mask = [0; AT_ONCE];
        return Some((1, count));
    }
    *mask = [0xFF; AT_ONCE];
    if code & REPEAT != 0 {
        *indices = [next[0]; AT_ONCE];
        Some((2, count))
    } else {
        *indices = *next;
        Some((1 + count, count))
    }
}

/// Decodes a row. Missing pixels become transparent, even after an error.
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
        if let Some((bytes, pixels)) = short_run(row, at, indices, mask, x, key) {
            at += bytes;
            x += pixels;
            continue;
        }
        let Some(&code) = row.get(at) else {
            break;
        };
        let start = at;
        at += 1;
        let count = pixels(code);
        is_overlong |= count > width - x;
        let end = (x + count).min(width);
        if code & SKIP != 0 {
            fill(indices, x, end, key);
            fill(mask, x, end, 0);
            x = end;
            continue;
        }
        if code & REPEAT != 0 {
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
