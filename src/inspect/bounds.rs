//! How much a walk reads and enters for what a source has: a few kilobytes can
//! show a million archives in archives, or petabytes.

/// Bytes of a MiB.
const MIB: u64 = 1 << 20;

/// The usual number of bytes that are read for each byte of a source.
pub const EXPANSION: u64 = 1000;

/// A smaller source counts as if it had this many bytes: for the number of bytes
/// that are read, and for the number of archives that are entered.
const SMALL: u64 = 16 * MIB;
const FEW: u64 = MIB;

/// What each entry of an archive counts in addition to its bytes.
const ENTRY: u64 = 1024;

/// The bounds of a walk, and how much of them it has used.
pub(super) struct Bounds {
    /// Number of bytes that may be read for each byte of the source.
    expansion: u64,
    /// Number of bytes of the source.
    stored: u64,
    bytes: u64,
    archives: u64,
}

impl Bounds {
    /// Begins a walk of a source, which may read `expansion` bytes for each of
    /// its bytes, and enter as many archives in archives for each MiB.
    pub(super) fn new(expansion: u64) -> Self {
        Self {
            expansion,
            stored: 0,
            bytes: 0,
            archives: 0,
        }
    }

    /// Counts bytes of the source itself.
    pub(super) fn store(&mut self, bytes: u64) {
        self.stored = self.stored.saturating_add(bytes);
    }

    /// Counts an entry in an archive.
    ///
    /// # Errors
    /// Returns a message if that is too much.
    pub(super) fn read(&mut self, bytes: u64) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(ENTRY);
        let most = self.stored.max(SMALL).saturating_mul(self.expansion);
        if self.bytes <= most {
            return Ok(());
        }
        Err(format!(
            "holds more than {most} bytes in archives, and the rest is not checked; \
             `--expansion` raises the limit"
        ))
    }

    /// Counts an archive in an archive.
    ///
    /// # Errors
    /// Returns a message if these are too many.
    pub(super) fn enter(&mut self) -> Result<(), String> {
        self.archives += 1;
        let most = self.stored.max(FEW).saturating_mul(self.expansion) / MIB;
        if self.archives <= most {
            return Ok(());
        }
        Err(format!(
            "has more than {most} archives in archives, and the others are not checked; \
             `--expansion` raises the limit"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_source_may_hold_as_much_as_one_of_the_usual_size() {
        let mut bounds = Bounds::new(10);
        bounds.store(100);
        for _ in 0..10 {
            bounds.enter().unwrap();
        }
        assert!(
            bounds
                .enter()
                .unwrap_err()
                .contains("more than 10 archives")
        );
        bounds.read(10 * SMALL - ENTRY).unwrap();
        assert!(bounds.read(0).unwrap_err().contains("`--expansion`"));
    }

    #[test]
    fn a_large_source_may_hold_more_in_proportion() {
        let mut bounds = Bounds::new(10);
        bounds.store(2 * SMALL);
        bounds.read(20 * SMALL - ENTRY).unwrap();
        assert!((0..10 * 2 * SMALL / MIB).all(|_| bounds.enter().is_ok()));
        assert!(bounds.enter().is_err());
        assert!(bounds.read(u64::MAX).is_err());
    }
}
