//! Counting on many threads at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Slots to count in. With more threads some share one.
const SLOTS: usize = 32;

/// A number that many threads count up, each in a slot of its own: one slot
/// for all would be the one thing that the cores take from each other with
/// every request.
#[derive(Debug, Default)]
pub struct Tally([Slot; SLOTS]);

/// As large as what a core takes from memory at once, which are two lines of
/// 64 bytes.
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
    /// Counts `count` more.
    pub fn add(&self, count: u64) {
        SLOT.with(|&slot| self.0[slot].0.fetch_add(count, Ordering::Relaxed));
    }

    /// What was counted so far, by threads that count on meanwhile.
    pub fn get(&self) -> u64 {
        let slots = self.0.iter().map(|slot| slot.0.load(Ordering::Relaxed));
        slots.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_threads_count_is_all_there() {
        let tally = Tally::default();
        std::thread::scope(|scope| {
            for _ in 0..2 * SLOTS {
                scope.spawn(|| (0..100).for_each(|_| tally.add(3)));
            }
        });
        assert_eq!(tally.get(), 2 * SLOTS as u64 * 300);
    }
}
