//! Checksums of stored files: their data is read in place, and every part that
//! is read is added to the checksum of its file.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crc32fast::Hasher;
use lru::LruCache;

use super::{Encryption, Member, STORED, UNKNOWN};
use crate::io::{Error, ReadAt, check_sum};

/// Maximum number of files with a record of their summed parts, and of parts of
/// a file that do not adjoin.
const MAX_FILES: usize = 16;
const MAX_PARTS: usize = 32;

/// The state of a file's checksum: not computed yet, right or wrong.
#[derive(Debug, Default)]
pub(super) struct Known(AtomicU8);

impl Known {
    const RIGHT: u8 = 1;
    const WRONG: u8 = 2;

    pub(super) fn is_right(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::RIGHT
    }

    pub(super) fn set_right(&self) {
        self.0.store(Self::RIGHT, Ordering::Relaxed);
    }
}

/// The source of an archive. A read that completes a stored file with a wrong
/// checksum fails, and so do later reads of its last byte.
pub(super) struct Summed {
    source: Arc<dyn ReadAt>,
    members: Vec<Member>,
    /// Numbers of the stored files, by the offsets of their headers.
    stored: Vec<u32>,
    parts: Mutex<LruCache<u32, Parts>>,
    /// True if a wrong checksum is only logged.
    force: bool,
}

impl Summed {
    pub(super) fn new(source: Arc<dyn ReadAt>, members: Vec<Member>, force: bool) -> Self {
        let is_stored = |member: &Member| {
            let is_plain = member.method == STORED && member.encryption == Encryption::None;
            is_plain && member.stored == member.size && member.size > 0
        };
        let numbers = (0_u32..).zip(&members);
        let numbers = numbers.filter(|(_, member)| is_stored(member));
        let mut stored: Vec<u32> = numbers.map(|(number, _)| number).collect();
        stored.sort_by_key(|&number| members[number as usize].header);
        stored.shrink_to_fit();
        Self {
            source,
            members,
            stored,
            parts: Mutex::new(LruCache::unbounded()),
            force,
        }
    }

    /// Returns the source itself, whose reads are not checked.
    pub(super) fn source(&self) -> &Arc<dyn ReadAt> {
        &self.source
    }

    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        let parts = match self.stored.is_empty() {
            true => 0,
            false => MAX_FILES * (size_of::<Parts>() + MAX_PARTS * size_of::<Part>()),
        };
        parts
            + self.members.capacity() * size_of::<Member>()
            + self.stored.capacity() * size_of::<u32>()
    }

    /// Returns the stored file with the byte at `offset`, and the offset of its
    /// data, if that has been looked up.
    fn at(&self, offset: u64) -> Option<(u32, &Member, u64)> {
        let before = |&number: &u32| self.members[number as usize].header < offset;
        let after = self.stored.partition_point(before);
        let number = *self.stored.get(after.checked_sub(1)?)?;
        let member = &self.members[number as usize];
        let data = member.data.load(Ordering::Relaxed);
        let is_inside = data != UNKNOWN && offset >= data && offset - data < member.size;
        is_inside.then_some((number, member, data))
    }

    /// Adds bytes that were read at `offset` to the checksum of their file.
    fn add(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let Some((number, member, data)) = self.at(offset) else {
            return Ok(());
        };
        let start = offset - data;
        let end = member.size.min(start.saturating_add(bytes.len() as u64));
        let known = &member.known.0;
        match known.load(Ordering::Relaxed) {
            Known::RIGHT => return Ok(()),
            Known::WRONG if end < member.size => return Ok(()),
            _ => {}
        }
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() >= MAX_FILES && !parts.contains(&number) {
            parts.pop_lru();
        }
        let of_file = parts.get_or_insert_mut(number, Parts::default);
        of_file.add(start..end, bytes);
        let Some(sum) = of_file.sum(member.size) else {
            if of_file.0.len() > MAX_PARTS {
                parts.pop(&number);
            }
            return Ok(());
        };
        let Err(problem) = check_sum("checksum", sum, member.crc.unwrap_or(sum)) else {
            known.store(Known::RIGHT, Ordering::Relaxed);
            parts.pop(&number);
            return Ok(());
        };
        let error = Error::damaged(data, "stored data", problem);
        if self.force {
            known.store(Known::RIGHT, Ordering::Relaxed);
            log::warn!("{error}; ignored");
            return Ok(());
        }
        known.store(Known::WRONG, Ordering::Relaxed);
        Err(error)
    }
}

impl ReadAt for Summed {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.source.read_exact_at(buf, offset)?;
        self.add(buf, offset).map_err(std::io::Error::other)
    }

    fn will_need(&self, offset: u64, length: u64) {
        self.source.will_need(offset, length);
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        self.source.unit_at(offset)
    }
}

/// A part of a file that was read: its first position, the position after its
/// last byte, and its checksum.
struct Part {
    start: u64,
    end: u64,
    sum: Hasher,
}

/// The parts of a file that were read, in their order, with gaps between them.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    /// Adds the bytes at a range of the file, as far as they are new and not
    /// interrupted by known ones.
    fn add(&mut self, range: Range<u64>, bytes: &[u8]) {
        let next = self.0.partition_point(|part| part.start <= range.start);
        let before = next.checked_sub(1);
        let known = before.map_or(0, |before| self.0[before].end);
        let limit = self.0.get(next).map_or(u64::MAX, |part| part.start);
        let (start, end) = (range.start.max(known), range.end.min(limit));
        if start >= end {
            return;
        }
        let mut sum = Hasher::new();
        // Inside `bytes`, whose length is a `usize`.
        sum.update(&bytes[(start - range.start) as usize..(end - range.start) as usize]);
        self.0.insert(next, Part { start, end, sum });
        self.join(next);
        if let Some(before) = before {
            self.join(before);
        }
    }

    /// Joins a part with the next one if that adjoins.
    fn join(&mut self, number: usize) {
        let [part, next, ..] = &mut self.0[number..] else {
            return;
        };
        if part.end != next.start {
            return;
        }
        part.sum.combine(&next.sum);
        part.end = next.end;
        self.0.remove(number + 1);
    }

    /// Returns the checksum of the whole file, if all of it was read.
    fn sum(&self, size: u64) -> Option<u32> {
        match &self.0[..] {
            [part] if part.start == 0 && part.end == size => Some(part.sum.clone().finalize()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    const SIZE: u64 = 1000;

    fn bytes() -> Vec<u8> {
        (0..=255_u8).cycle().take(SIZE as usize).collect()
    }

    /// Returns an archive of one file, which begins at 100.
    fn summed(crc: u32, force: bool) -> Summed {
        let member = Member {
            header: 50,
            data: AtomicU64::new(100),
            stored: SIZE,
            size: SIZE,
            crc: Some(crc),
            method: STORED,
            encryption: Encryption::None,
            known: Known::default(),
        };
        let source = [vec![0; 100], bytes(), vec![0; 50]].concat();
        Summed::new(Arc::new(source), vec![member], force)
    }

    /// Reads a range of the file.
    fn read(summed: &Summed, range: Range<u64>) -> std::io::Result<()> {
        let mut buffer = vec![0; (range.end - range.start) as usize];
        summed.read_exact_at(&mut buffer, 100 + range.start)
    }

    #[test]
    fn the_read_that_completes_a_file_with_a_wrong_checksum_fails() {
        let orders: [&[Range<u64>]; 4] = [
            &[0..500, 500..1000],
            &[500..1000, 0..500],
            &[0..10, 20..30, 5..25, 30..1000],
            &[700..1010, 0..300, 200..700],
        ];
        for order in orders {
            let (wrong, right) = (summed(7, false), summed(crc32fast::hash(&bytes()), false));
            let forced = summed(7, true);
            let (last, before) = order.split_last().unwrap();
            for range in before {
                read(&wrong, range.clone()).unwrap();
                read(&right, range.clone()).unwrap();
                read(&forced, range.clone()).unwrap();
            }
            let error = read(&wrong, last.clone()).unwrap_err().to_string();
            assert!(error.contains("should be 00000007"), "{order:?}: {error}");
            read(&right, last.clone()).unwrap();
            read(&forced, last.clone()).unwrap();
            assert!(read(&wrong, 990..1000).is_err(), "{order:?}");
            read(&wrong, 0..10).unwrap();
        }
    }

    #[test]
    fn the_memory_of_scattered_reads_is_bounded() {
        let archive = summed(7, false);
        for start in (0..SIZE).step_by(2) {
            read(&archive, start..start + 1).unwrap();
        }
        let parts = archive.parts.lock().unwrap();
        assert!(parts.iter().all(|(_, parts)| parts.0.len() <= MAX_PARTS));
    }
}
