//! Limits for untrusted patches (section 13 of the specification).

use hpimount_containers::io::{Error, Result};

/// Maximum length of a result, in bytes.
pub(crate) const MAX_RESULT: u64 = 1 << 40;

/// Maximum length of a patch, in bytes.
pub(crate) const MAX_PATCH: u64 = 4 << 30;

/// Maximum number of records, actions, windows, and instructions of a window.
pub(crate) const MAX_ITEMS: usize = 1 << 24;

/// Returns an error at `offset` of the patch if a result exceeds the maximum length.
pub(crate) fn check_result(offset: u64, end: u64) -> Result<()> {
    match end <= MAX_RESULT {
        true => Ok(()),
        false => Err(Error::damaged(
            offset,
            "size",
            format!("the result has {end} bytes, more than {MAX_RESULT}"),
        )),
    }
}

/// Returns an error at `offset` of the patch if there are too many of `field`.
pub(crate) fn check_count(offset: u64, count: usize, field: &'static str) -> Result<()> {
    match count <= MAX_ITEMS {
        true => Ok(()),
        false => Err(Error::damaged(
            offset,
            field,
            format!("there are more than {MAX_ITEMS}"),
        )),
    }
}
