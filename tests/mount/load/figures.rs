//! Measurements of a mount under load.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Operations of this many or more milliseconds are counted together.
const MAX_LENGTH: usize = 10_000;

/// Durations of the operations of all readers, and the number of compared
/// bytes.
pub(super) struct Figures {
    /// Numbers of operations, by duration in milliseconds.
    milliseconds: Vec<AtomicU64>,
    slowest: AtomicU64,
    compared: AtomicU64,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            milliseconds: (0..=MAX_LENGTH).map(|_| AtomicU64::new(0)).collect(),
            slowest: AtomicU64::new(0),
            compared: AtomicU64::new(0),
        }
    }
}

impl Figures {
    /// Counts an operation that took that long.
    pub(super) fn took(&self, time: Duration) {
        let milliseconds = time.as_millis() as u64;
        self.milliseconds[MAX_LENGTH.min(milliseconds as usize)].fetch_add(1, Ordering::Relaxed);
        self.slowest.fetch_max(milliseconds, Ordering::Relaxed);
    }

    /// Counts bytes that were compared and right.
    pub(super) fn compared(&self, bytes: usize) {
        self.compared.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the number of operations.
    pub(super) fn operations(&self) -> u64 {
        let counts = self.milliseconds.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Returns the bytes that were compared.
    pub(super) fn bytes(&self) -> usize {
        self.compared.load(Ordering::Relaxed) as usize
    }

    /// Returns the duration of the slowest operation.
    pub(super) fn slowest(&self) -> Duration {
        Duration::from_millis(self.slowest.load(Ordering::Relaxed))
    }

    /// Returns the time within which 999 of 1,000 operations were done.
    pub(super) fn usual(&self) -> Duration {
        let rest = self.operations() / 1000;
        let mut slower = 0;
        let found = self.milliseconds.iter().rposition(|count| {
            slower += count.load(Ordering::Relaxed);
            slower > rest
        });
        Duration::from_millis(found.map_or(0, |milliseconds| milliseconds as u64 + 1))
    }
}

/// System resources of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Footprint {
    pub descriptors: usize,
    pub threads: usize,
}

impl Footprint {
    /// Returns the resources of the process `pid`.
    pub(super) fn of(pid: i32) -> Self {
        let count = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
        Self {
            descriptors: count("fd"),
            threads: count("task"),
        }
    }
}
