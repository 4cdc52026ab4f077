//! Counting on many threads at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of slots. With more threads some share one.
const SLOTS: usize = 32;

/// A counter for many threads, each with its own slot: with one slot the cores
/// would contend for it on every request.
#[derive(Debug, Default)]
pub struct Tally([Slot; SLOTS]);

/// As large as the unit of memory transfers, two lines of 64 bytes.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot(AtomicU64);

thread_local! {
    /// Number of this thread's slot.
    static SLOT: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS
    };
}

impl Tally {
    /// Adds `count`.
    pub fn add(&self, count: u64) {
        SLOT.with(|&slot| self.0[slot].0.fetch_add(count, Ordering::Relaxed));
    }

    /// Returns the sum so far, while other threads continue to count.
    pub fn get(&self) -> u64 {
        let slots = self.0.iter().map(|slot| slot.0.load(Ordering::Relaxed));
        slots.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_count_of_many_threads_is_lost() {
        let tally = Tally::default();
        std::thread::scope(|scope| {
            for _ in 0..2 * SLOTS {
                scope.spawn(|| (0..100).for_each(|_| tally.add(3)));
            }
        });
        assert_eq!(tally.get(), 2 * SLOTS as u64 * 300);
    }
}
