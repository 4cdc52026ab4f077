//! Sequential readers of a source, and how far to read ahead of them.

use std::ops::Range;

use super::BLOCK;
use crate::memory::latest::Latest;

/// Maximum number of readers that are distinguished.
const MAX_READERS: usize = 16;

/// Maximum distance in bytes of a read from its expected position at which it belongs to a reader:
/// the kernel has several of its reads in progress at once, in any order.
const SLACK: u64 = 512 << 10;

/// Number of sequential reads after which whole blocks are fetched ahead. A
/// reader of small files makes many reads in a block, but soon needs the next
/// one.
const STEADY: u32 = 4;

/// The readers of a source.
pub(super) struct Ahead {
    /// Maximum number of bytes that are fetched ahead of a reader.
    limit: u64,
    readers: Latest<SequentialReader>,
}

/// A sequential reader.
struct SequentialReader {
    /// The expected position of its next read.
    next: u64,
    /// Number of bytes that it has read sequentially, and of these reads.
    sequential: u64,
    reads: u32,
    /// The end of the requested range.
    requested: u64,
}

impl Ahead {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            readers: Latest::new(MAX_READERS),
        }
    }

    /// Records a read of `range` and returns the end of the range to fetch,
    /// which is not before the end of `range`.
    ///
    /// As many bytes are fetched ahead as were read sequentially before this
    /// read, rounded up to whole blocks after some reads. The read itself does
    /// not count, since nothing follows the read of a directory. More is
    /// requested when half of it has been read, so that requests are long.
    pub(super) fn note(&mut self, range: Range<u64>) -> u64 {
        let belongs = |reader: &SequentialReader| {
            range.start <= reader.next.saturating_add(SLACK)
                && range.start.saturating_add(SLACK) >= reader.next
        };
        let Some(mut reader) = self.readers.take(belongs) else {
            self.readers.put(SequentialReader {
                next: range.end,
                sequential: range.end - range.start,
                reads: 1,
                requested: range.end,
            });
            return range.end;
        };
        let read = range.end.saturating_sub(reader.next);
        let window = match read > 0 {
            true if reader.reads < STEADY => reader.sequential,
            true => reader.sequential.div_ceil(BLOCK).saturating_mul(BLOCK),
            false => 0,
        };
        let window = window.min(self.limit);
        reader.next += read;
        reader.sequential = reader.sequential.saturating_add(read);
        reader.reads = reader.reads.saturating_add(1);
        if reader.requested.saturating_sub(reader.next) < window / 2 {
            reader.requested = reader.next.saturating_add(window);
        }
        let requested = reader.requested;
        self.readers.put(reader);
        requested.max(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = BLOCK;
    const LIMIT: u64 = 8 << 20;

    #[test]
    fn sequential_reads_fetch_more_and_more_up_to_the_limit() {
        let mut ahead = Ahead::new(LIMIT);
        let mut requests = 0;
        let mut last = 0;
        for start in (0..64 << 20).step_by(STEP as usize) {
            let end = start + STEP;
            let requested = ahead.note(start..end);
            assert!((end..=end + LIMIT).contains(&requested));
            assert!(requested - end <= start + STEP, "no more than was read");
            if requested > last {
                requests += 1;
                last = requested;
            }
        }
        assert!(requests < 30, "{requests}");
        assert!(last > 64 << 20);
    }

    #[test]
    fn small_sequential_reads_fetch_the_second_block_ahead() {
        let mut ahead = Ahead::new(LIMIT);
        let mut requested = 0;
        for start in (0..BLOCK / 4).step_by(4 << 10) {
            requested = requested.max(ahead.note(start..start + (4 << 10)));
        }
        assert!((BLOCK + 1..=2 * BLOCK).contains(&requested), "{requested}");
    }

    #[test]
    fn a_header_and_a_long_directory_fetch_nothing_more() {
        for length in [1000, BLOCK / 2, 4 << 20] {
            let mut ahead = Ahead::new(LIMIT);
            ahead.note(0..20);
            assert!(ahead.note(20..length) <= length + 20, "{length}");
        }
    }

    #[test]
    fn sequential_reads_may_arrive_out_of_order() {
        let mut ahead = Ahead::new(LIMIT);
        for pair in (0..16 << 20).step_by(2 * STEP as usize) {
            ahead.note(pair + STEP..pair + 2 * STEP);
            ahead.note(pair..pair + STEP);
        }
        let end = 16 << 20;
        assert!(ahead.note(end..end + STEP) > end + LIMIT / 2);
    }

    #[test]
    fn random_reads_fetch_nothing_more() {
        let mut ahead = Ahead::new(LIMIT);
        for number in 0..100_u64 {
            let start = number * 7 % 100 * (4 << 20);
            assert_eq!(ahead.note(start..start + 4096), start + 4096);
        }
        // Nor does reading the same again.
        for _ in 0..100 {
            assert_eq!(ahead.note(0..4096), 4096);
        }
    }

    #[test]
    fn readers_do_not_disturb_each_other() {
        let mut ahead = Ahead::new(LIMIT);
        for step in 0..64 {
            for reader in 0..4 {
                let start = reader * (1 << 30) + step * STEP;
                ahead.note(start..start + STEP);
            }
        }
        for reader in 0..4 {
            let start = reader * (1 << 30) + 64 * STEP;
            assert!(ahead.note(start..start + STEP) > start + LIMIT / 2);
        }
    }

    #[test]
    fn without_a_limit_nothing_is_fetched_ahead() {
        let mut ahead = Ahead::new(0);
        for start in (0..16 << 20).step_by(STEP as usize) {
            assert_eq!(ahead.note(start..start + STEP), start + STEP);
        }
    }
}
