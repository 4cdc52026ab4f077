//! Generated files: rendered once, kept in memory or in the spool, and never
//! held as a whole to determine their size.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::block::{Rendering, Size};
use super::spool::{MAX_SMALL, SMALL_RECORD, SpoolWriter};
use super::{Bytes, Generated, Key, Reader, Spool};
use crate::requester;
use hpimount_containers::io::{Error, Result, read_error};

/// Maximum length of a rendering that is kept in memory.
const MAX_IN_MEMORY: usize = 256 << 10;

/// Maximum length of a rendering that is kept if only its size was requested.
/// Most are read next; many long ones that are not would displace others in the
/// spool.
const MAX_KEPT_FOR_SIZE: u64 = 16 << 20;

/// Minimum time of a rendering that is worth keeping in the spool as well: a few times as
/// long as writing it there and reading it again.
const LONG: Duration = Duration::from_micros(100);

/// The records of small files in the spool may take the budget divided by this.
const SHARE: usize = 4;

/// Writes the bytes of a generated file.
pub(super) type Render<'a> = &'a dyn Fn(&mut dyn Write) -> Result<()>;

impl Reader {
    /// Returns the bytes in `range` of a generated file. The whole file is
    /// rendered unless it is kept.
    ///
    /// # Errors
    /// Returns the errors of `render`, or [`Error::Output`] if there is no
    /// space for the output.
    pub fn rendered(
        &self,
        file: Generated,
        range: Range<u64>,
        render: Render<'_>,
    ) -> Result<Bytes> {
        match self.rendering(file, render)? {
            Rendering::Memory(bytes) => Ok(Bytes::part_of(bytes, range)),
            Rendering::Spool(file) => {
                let end = range.end.min(file.len());
                let length = end.saturating_sub(range.start);
                let mut bytes = vec![0; length as usize];
                file.read_exact_at(&mut bytes, range.start)
                    .map_err(|cause| read_error(range.start, length, cause))?;
                Ok(Bytes::Owned(bytes))
            }
        }
    }

    /// Returns the size of a generated file. A rendering made for that is kept,
    /// unless it is very long or there is no space for it.
    ///
    /// # Errors
    /// Returns the errors of `render`.
    pub fn rendered_size(&self, file: Generated, render: Render<'_>) -> Result<u64> {
        let key = file.key;
        if let Some(rendering) = self.kept(key) {
            return Ok(rendering.len());
        }
        self.size(key, || {
            let begun = Instant::now();
            let writer = Writer::new(&self.spool, self.max_in_memory());
            let mut counter = Counter::new(writer);
            render(&mut counter)?;
            let Counter { len, kept } = counter;
            self.stats.rendered.add(len);
            if let Some(Ok(rendering)) = kept.map(|writer| writer.finish(key)) {
                self.keep_if_worth_it(file, &rendering, begun);
                self.caches.renderings.put(&key, rendering);
            }
            Ok(len)
        })
    }

    /// Returns the size of a file, found by `find` unless it is cached; while one caller
    /// finds it, others wait.
    ///
    /// # Errors
    /// Returns the errors of `find`.
    pub fn size(&self, key: Key, find: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let size = self.caches.sizes.get(&key, || find().map(Size))?;
        Ok(size.0)
    }

    /// Caches the size of a generated file that was found without rendering it.
    pub fn keep_size(&self, key: Key, size: u64) {
        self.caches.sizes.put(&key, Size(size));
    }

    /// Returns the size of a generated file, if known without rendering it.
    pub fn known_size(&self, key: Key) -> Option<u64> {
        if let Some(size) = self.caches.sizes.peek(&key) {
            return Some(size.0);
        }
        match self.kept_whole(key) {
            Some(rendering) => Some(rendering.len()),
            None => self.spool.small_size(key),
        }
    }

    fn kept(&self, key: Key) -> Option<Rendering> {
        self.kept_whole(key).or_else(|| self.kept_small(key))
    }

    /// Returns a rendering that need not be copied from an extent of small files.
    fn kept_whole(&self, key: Key) -> Option<Rendering> {
        let in_memory = self.caches.renderings.peek(&key);
        in_memory.or_else(|| self.spool.get(key).map(Rendering::Spool))
    }

    fn kept_small(&self, key: Key) -> Option<Rendering> {
        let rendering = Rendering::Memory(Arc::new(self.spool.small(key)?));
        self.caches.renderings.put(&key, rendering.clone());
        Some(rendering)
    }

    /// Keeps a rendering in the spool as well if it took long since it was `begun`, or if
    /// its file is in two places: others that are read in between would evict it from memory.
    fn keep_if_worth_it(&self, file: Generated, rendering: &Rendering, begun: Instant) {
        if let Rendering::Memory(bytes) = rendering
            && bytes.len() <= MAX_SMALL
            && (file.is_shared || begun.elapsed() >= LONG)
            && let Ok(record) = self.budget().charge("the record of a file", SMALL_RECORD)
        {
            let max_memory = self.budget().limit() / SHARE;
            self.spool.keep_small(file.key, bytes, record, max_memory);
        }
    }

    fn rendering(&self, file: Generated, render: Render<'_>) -> Result<Rendering> {
        let key = file.key;
        if let Some(rendering) = self.kept(key) {
            return Ok(rendering);
        }
        self.caches.renderings.get(&key, || {
            // Another reader may have spooled it meanwhile.
            if let Some(file) = self.spool.get(key) {
                return Ok(Rendering::Spool(file));
            }
            let begun = Instant::now();
            let mut writer = Writer::new(&self.spool, self.max_in_memory());
            render(&mut writer)?;
            let rendering = writer.finish(key)?;
            self.keep_if_worth_it(file, &rendering, begun);
            self.stats.rendered.add(rendering.len());
            Ok(rendering)
        })
    }

    fn max_in_memory(&self) -> usize {
        MAX_IN_MEMORY.min(self.budget().limit() / 16)
    }
}

impl Rendering {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Spool(file) => file.len(),
        }
    }
}

/// Counts the output, and keeps it as long as possible.
struct Counter<'a> {
    len: u64,
    kept: Option<Writer<'a>>,
}

impl<'a> Counter<'a> {
    fn new(writer: Writer<'a>) -> Self {
        Self {
            len: 0,
            kept: Some(writer),
        }
    }
}

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        requester::check().map_err(io::Error::other)?;
        self.len += bytes.len() as u64;
        let is_too_long = self.len > MAX_KEPT_FOR_SIZE;
        self.kept
            .take_if(|writer| is_too_long || writer.write_all(bytes).is_err());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the output: in memory at first, and in the spool if it becomes long.
struct Writer<'a> {
    spool: &'a Spool,
    head: Vec<u8>,
    rest: Option<SpoolWriter>,
    max: usize,
}

impl<'a> Writer<'a> {
    fn new(spool: &'a Spool, max: usize) -> Self {
        Self {
            spool,
            head: Vec::new(),
            rest: None,
            max,
        }
    }

    fn finish(self, key: Key) -> Result<Rendering> {
        let Some(rest) = self.rest else {
            return Ok(Rendering::Memory(Arc::new(self.head)));
        };
        let file = rest.finish().map_err(|error| Error::of_output(&error))?;
        self.spool.keep(key, file.clone());
        Ok(Rendering::Spool(file))
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        requester::check().map_err(io::Error::other)?;
        if let Some(rest) = &mut self.rest {
            return rest.write(bytes);
        }
        if self.head.len() + bytes.len() <= self.max {
            self.head.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let rest = self.rest.insert(self.spool.writer());
        rest.write_all(&std::mem::take(&mut self.head))?;
        rest.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::content::VolumeId;
    use crate::memory::budget::Budget;
    use crate::requester::Outcome;
    use hpimount_containers::volume::FileId;

    const KEY: Key = Key {
        volume: VolumeId(1, 0),
        file: FileId(0),
    };

    /// Reads 300 files twice, one after the other, in a memory without room for all of
    /// them, and returns how many were rendered.
    fn rendered_of_300(is_shared: bool, time: Duration) -> usize {
        let reader = Reader::new(&Budget::new(1 << 20), Spool::new(None, 16 << 20));
        let renderings = AtomicUsize::new(0);
        let read = |number: u32| {
            let file = FileId(number);
            let key = Key { file, ..KEY };
            let bytes = reader.rendered(Generated { key, is_shared }, 0..1 << 20, &|out| {
                renderings.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(time);
                let written = out.write_all(&vec![number as u8; 10_000]);
                written.map_err(|error| Error::of_output(&error))
            });
            assert_eq!(*bytes.unwrap(), vec![number as u8; 10_000]);
        };
        (0..300).chain(0..300).for_each(read);
        renderings.into_inner()
    }

    #[test]
    fn a_rendering_that_took_long_is_made_once_though_memory_has_no_room_for_it() {
        assert_eq!(rendered_of_300(false, LONG), 300);
    }

    #[test]
    fn a_file_in_two_places_is_rendered_once_though_memory_has_no_room_for_it() {
        assert_eq!(rendered_of_300(true, Duration::ZERO), 300);
    }

    #[test]
    fn a_rendering_ends_if_its_reader_was_killed() {
        let reader = Reader::new(&Budget::new(1 << 20), Spool::new(None, 0));
        let file = Generated::once(KEY);
        let render: Render<'_> = &|out| {
            let written = out.write_all(b"text");
            written.map_err(|error| Error::of_output(&error))
        };
        requester::serve_killed(|| {
            assert!(reader.rendered_size(file, render).unwrap_err().is_killed());
            assert!(
                reader
                    .rendered(file, 0..4, render)
                    .err()
                    .unwrap()
                    .is_killed()
            );
        });
        assert_eq!(reader.rendered_size(file, render).unwrap(), 4);
    }
}
