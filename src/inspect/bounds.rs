//! Expansion limits, which protect walks from zip bombs: a few kilobytes can show a
//! million archives in archives, or petabytes.

use std::sync::{Arc, Mutex};

use super::{Archive, Contents};
use crate::mount::{Ino, Vfs};
use crate::sync::lock;

/// Bytes of a MiB.
const MIB: u64 = 1 << 20;

/// The usual number of bytes that are read for each byte of a source.
pub const EXPANSION: u64 = 1000;

/// A smaller source counts as if it had this many bytes: for the number of bytes
/// that are read, for the number of archives that are entered, and for the rows
/// of an index.
const SMALL: u64 = 16 * MIB;
const FEW: u64 = MIB;
const TINY: u64 = MIB / 16;

/// Cost of each entry of an archive in addition to its bytes.
const ENTRY: u64 = 1024;

/// The bounds of a walk, and how much of them it has used. Outside of archives, everything
/// is stored as it is and does not count: the functions get the number of archives around an
/// entry below the start of the walk.
pub(crate) struct Bounds {
    /// Number of bytes that may be read for each byte of the source.
    expansion: u64,
    /// True if the source is a container rather than a folder on disk.
    is_container: bool,
    used: Mutex<Used>,
}

struct Used {
    /// Number of bytes of the source.
    stored: u64,
    /// What counts towards each [`Limit`].
    counts: [u64; 3],
}

enum Limit {
    Bytes,
    Archives,
    /// Bytes of the rows of an index.
    Rows,
}

impl Bounds {
    /// Begins a walk below a directory, which may read `expansion` bytes for each byte of
    /// the source, and enter as many archives in archives for each MiB.
    pub(crate) fn of(vfs: &Vfs, directory: Ino, expansion: u64) -> Arc<Self> {
        let archive = Contents(vfs).archive(directory);
        // Files made of assets are in no archive of their own.
        let archive = archive.or_else(|_| Contents(vfs).archive(Ino::ROOT));
        Self::new(&archive.unwrap_or_default(), expansion)
    }

    /// Returns bounds that nothing exceeds.
    pub(super) fn none() -> Arc<Self> {
        Self::new(&Archive::default(), u64::MAX)
    }

    fn new(source: &Archive, expansion: u64) -> Arc<Self> {
        Arc::new(Self {
            expansion,
            is_container: source.is_container,
            used: Mutex::new(Used {
                stored: source.stored,
                counts: [0; 3],
            }),
        })
    }

    fn is_packed(&self, archives: usize) -> bool {
        self.is_container || archives > 0
    }

    /// Counts the stored bytes of an archive that was entered, unless it is packed itself.
    pub(crate) fn store(&self, archives: usize, stored: impl FnOnce() -> u64) {
        if !self.is_packed(archives) {
            let stored = stored();
            let mut used = lock(&self.used);
            used.stored = used.stored.saturating_add(stored);
        }
    }

    /// Counts an entry.
    ///
    /// # Errors
    /// Returns a message if that is too much.
    pub(crate) fn read(&self, archives: usize, bytes: u64) -> Result<(), String> {
        self.count(archives, Limit::Bytes, bytes.saturating_add(ENTRY))
    }

    /// Counts an archive in an archive.
    ///
    /// # Errors
    /// Returns a message if these are too many.
    pub(crate) fn enter(&self, archives: usize) -> Result<(), String> {
        self.count(archives, Limit::Archives, 1)
    }

    /// Counts a row of an index.
    ///
    /// # Errors
    /// Returns a message if these have too many bytes.
    pub(super) fn row(&self, archives: usize, bytes: u64) -> Result<(), String> {
        self.count(archives, Limit::Rows, bytes)
    }

    fn count(&self, archives: usize, limit: Limit, more: u64) -> Result<(), String> {
        if !self.is_packed(archives) {
            return Ok(());
        }
        let (least, of, has, what, rest) = match limit {
            Limit::Bytes => (SMALL, 1, "holds", "bytes in archives", "rest is"),
            Limit::Archives => (FEW, MIB, "has", "archives in archives", "others are"),
            Limit::Rows => (TINY, 1, "has", "bytes of rows about archives", "rest is"),
        };
        let mut used = lock(&self.used);
        let most = used.stored.max(least).saturating_mul(self.expansion) / of;
        let count = &mut used.counts[limit as usize];
        *count = count.saturating_add(more);
        if *count <= most {
            return Ok(());
        }
        Err(format!(
            "{has} more than {most} {what}, and the {rest} left out; \
             `--expansion` raises the limit"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(stored: u64) -> Arc<Bounds> {
        let source = Archive {
            stored,
            ..Archive::default()
        };
        Bounds::new(&source, 10)
    }

    #[test]
    fn a_small_source_may_hold_as_much_as_one_of_the_usual_size() {
        let bounds = bounds(100);
        for _ in 0..10 {
            bounds.enter(1).unwrap();
        }
        assert!(
            bounds
                .enter(1)
                .unwrap_err()
                .contains("more than 10 archives")
        );
        bounds.read(1, 10 * SMALL - ENTRY).unwrap();
        assert!(bounds.read(1, 0).unwrap_err().contains("`--expansion`"));
        bounds.row(1, 10 * TINY).unwrap();
        assert!(bounds.row(1, 1).unwrap_err().contains("of rows"));
    }

    #[test]
    fn a_large_source_may_hold_more_in_proportion() {
        let bounds = bounds(2 * SMALL);
        bounds.read(1, 20 * SMALL - ENTRY).unwrap();
        assert!((0..10 * 2 * SMALL / MIB).all(|_| bounds.enter(1).is_ok()));
        assert!(bounds.enter(1).is_err());
        assert!(bounds.read(1, u64::MAX).is_err());
    }

    #[test]
    fn what_is_in_no_archive_is_not_bounded_and_an_archive_there_is() {
        let bounds = bounds(0);
        bounds.read(0, u64::MAX).unwrap();
        assert!((0..1000).all(|_| bounds.enter(0).is_ok()));
        bounds.store(0, || 2 * SMALL);
        bounds.store(1, || u64::MAX);
        bounds.read(1, 20 * SMALL - ENTRY).unwrap();
        assert!(bounds.read(1, 0).is_err());
    }
}
