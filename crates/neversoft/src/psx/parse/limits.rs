//! Limits that keep the cost of a hostile file proportional to its size
//! (FORMATS, PSX 10).

use hpimount_assets::parse::count::count;
use hpimount_containers::io::{Cursor, Error, Result};

/// Reads a 32-bit count and that many 32-bit numbers.
pub(super) fn counted_list(cursor: &mut Cursor, field: &'static str) -> Result<Vec<u32>> {
    let count = count(cursor, size_of::<u32>(), field)?;
    u32_list(cursor, count, field)
}

/// Reads `count` 32-bit numbers.
pub(super) fn u32_list(cursor: &mut Cursor, count: usize, field: &'static str) -> Result<Vec<u32>> {
    cursor.check_count(count as u64, size_of::<u32>(), field)?;
    (0..count).map(|_| cursor.u32(field)).collect()
}

/// The remaining number of bytes to read by following pointers.
///
/// Pointers may repeat and records may overlap, but their total length must not exceed
/// twice the bytes that contain them.
pub(super) struct Budget(u64);

impl Budget {
    /// Minimum cost of a model or a texture, because it takes memory.
    pub(super) const RECORD: u64 = 48;

    /// Creates a budget for records within `size` bytes.
    pub(super) fn new(size: u64) -> Self {
        Self(2 * size)
    }

    /// Charges the `length` bytes of a record whose pointer is at `stored_at`.
    pub(super) fn spend(&mut self, length: u64, stored_at: u64, field: &'static str) -> Result<()> {
        let Some(left) = self.0.checked_sub(length) else {
            return Err(Error::damaged(
                stored_at,
                field,
                "makes the overlapping records longer than the file can be",
            ));
        };
        self.0 = left;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_exhausted_by_records_of_any_length() {
        let mut budget = Budget::new(100);
        budget.spend(100, 0, "pointer").unwrap();
        budget.spend(Budget::RECORD, 0, "pointer").unwrap();
        let error = budget.spend(53, 0x20, "pointer").unwrap_err();
        assert!(
            error.to_string().starts_with("pointer at 0x20: "),
            "{error}"
        );
    }
}
