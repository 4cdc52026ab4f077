//! Counts that precede the counted items.

use hpimount_containers::io::{Cursor, Error, Result};
use hpimount_record::{self as record, FixedSize, Record};

/// Reads a 32-bit count of items that take at least `unit_size` bytes each, and
/// checks that they fit into the remaining bytes.
///
/// A negative count does not fit. The error is at the count's own offset.
///
/// # Errors
/// Returns [`Error::Damaged`] if the count is missing or the items do not fit.
pub fn count(cursor: &mut Cursor<'_>, unit_size: usize, field: &'static str) -> Result<usize> {
    let offset = cursor.offset();
    let count = cursor.u32(field)?;
    fitting(cursor, offset, count, unit_size, field)
}

/// Checks that `count` items of at least `unit_size` bytes each fit into the
/// remaining bytes. The count was read at `offset`.
///
/// # Errors
/// Returns [`Error::Damaged`] at `offset` if they do not fit.
pub fn fitting(
    cursor: &Cursor<'_>,
    offset: u64,
    count: u32,
    unit_size: usize,
    field: &'static str,
) -> Result<usize> {
    cursor
        .check_count(count.into(), unit_size, field)
        .map_err(|error| match error {
            Error::Damaged { field, problem, .. } => Error::damaged(offset, field, problem),
            other => other,
        })
}

/// Reads `count` records, after checking that they fit into the remaining bytes.
///
/// # Errors
/// Returns [`Error::Damaged`] if they do not fit.
pub fn records<R: Record + Default + FixedSize>(
    cursor: &mut Cursor<'_>,
    count: u32,
    field: &'static str,
) -> Result<Vec<R>> {
    let count = cursor.check_count(count.into(), R::SIZE, field)?;
    (0..count).map(|_| record::read(cursor)).collect()
}

/// Adds an item to `items` and lets `read` fill it in. If `read` fails, the
/// incomplete item is kept.
///
/// # Errors
/// Returns the errors of `read`.
pub fn fill<T: Default>(items: &mut Vec<T>, read: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
    let mut item = T::default();
    let result = read(&mut item);
    items.push(item);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::Endian;

    #[test]
    fn a_count_that_does_not_fit_is_an_error_at_the_count() {
        let data = [0, 0, 2, 0, 0, 0, 9, 9, 9];
        let mut cursor = Cursor::new(&data[2..], 2, Endian::Little);
        assert_eq!(
            count(&mut cursor, 2, "vertices").unwrap_err().to_string(),
            "vertices at 0x2: 2 items of 2 bytes do not fit into 3 bytes"
        );
        let mut cursor = Cursor::new(&data[2..], 2, Endian::Little);
        assert_eq!(count(&mut cursor, 1, "vertices").unwrap(), 2);
        let mut cursor = Cursor::new(&[0xff; 8], 0, Endian::Little);
        assert!(count(&mut cursor, 1, "vertices").is_err());
    }

    #[test]
    fn an_incomplete_item_is_kept() {
        let mut items = vec![1];
        let result = fill(&mut items, |item| {
            *item = 2;
            Err(Error::UnknownFormat)
        });
        assert!(result.is_err());
        assert_eq!(items, [1, 2]);
    }
}
