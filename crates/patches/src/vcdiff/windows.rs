//! The windows of a patched file, with a cache of recently used windows.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hpimount_containers::io::{ReadAt, read_error};
use lru::LruCache;

use super::header::Vcdiff;
use super::layout::Window;
use super::window::{Content, check_adler};
use crate::error::Result;
use crate::parts::Data;

/// Maximum length of the original that is read to compare one window, in bytes.
const MAX_CHECKED: u64 = 16 << 20;

/// Read size for the checksum of a window.
const PIECE: u64 = 64 << 10;

/// A patch with its original.
pub(crate) struct Windows {
    patch: Arc<Vcdiff>,
    original: Arc<dyn ReadAt>,
    memory: usize,
    cache: Mutex<Cache>,
    /// Memory of the window that is being resolved, in bytes. Held meanwhile, so only
    /// one window is resolved at a time. Locked before `cache`.
    resolving: Mutex<usize>,
}

/// The windows that were touched last.
struct Cache {
    windows: LruCache<usize, Arc<Content>>,
    /// Memory that the cached windows take, and their limit, in bytes.
    used: usize,
    limit: usize,
}

impl Cache {
    /// Caches a window, and evicts the least recently used ones.
    fn keep(&mut self, number: usize, window: &Arc<Content>) {
        self.used += memory(window);
        self.windows.put(number, window.clone());
        while self.used > self.limit {
            let Some((_, oldest)) = self.windows.pop_lru() else {
                break;
            };
            self.used -= memory(&oldest);
        }
    }
}

/// Returns the memory of a window and of its entry, in bytes.
fn memory(window: &Content) -> usize {
    size_of::<(usize, Content)>() + 64 + window.memory()
}

/// Locks a mutex. A panic leaves no value half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory that is always available for a window, in bytes.
const MIN_WINDOW: usize = 1 << 20;

/// Returns the memory limit for cached windows in bytes. The window that is being
/// resolved may take as much again, so that both have room for the longest window, as
/// far as the list of windows leaves room in `limit`.
fn half(patch: &Vcdiff, limit: usize) -> usize {
    let longest = patch.windows.iter().map(|window| window.length).max();
    let longest = usize::try_from(longest.unwrap_or(0)).unwrap_or(usize::MAX);
    let half = longest.max(MIN_WINDOW);
    half.min(limit.saturating_sub(patch.memory()) / 2)
}

/// Returns the memory of the list of windows, the cached windows and one window that is
/// being resolved, in bytes. At most `limit`.
pub(crate) fn memory_of_windows(patch: &Vcdiff, limit: usize) -> usize {
    patch.memory() + 2 * half(patch, limit)
}

impl Windows {
    /// Combines a patch with its original. The list of windows and the cached windows
    /// may take `limit` bytes of memory.
    pub(crate) fn new(patch: Arc<Vcdiff>, original: Arc<dyn ReadAt>, limit: usize) -> Self {
        let half = half(&patch, limit);
        Self {
            memory: memory_of_windows(&patch, limit),
            patch,
            original,
            cache: Mutex::new(Cache {
                windows: LruCache::unbounded(),
                used: 0,
                limit: half,
            }),
            resolving: Mutex::new(half),
        }
    }

    /// Returns the memory limit of everything together, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the length of the result in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.patch.size
    }

    /// Returns the number of the window with the byte at `offset`.
    fn at(&self, offset: u64) -> usize {
        // Empty windows begin where the next one does.
        let windows = &self.patch.windows;
        let after = windows.partition_point(|window| window.start <= offset);
        after.saturating_sub(1)
    }

    fn get(&self, number: usize) -> Result<Arc<Content>> {
        let kept = || lock(&self.cache).windows.get(&number).cloned();
        if let Some(window) = kept() {
            return Ok(window);
        }
        let limit = lock(&self.resolving);
        // Another thread may have resolved it meanwhile.
        if let Some(window) = kept() {
            return Ok(window);
        }
        let window = &self.patch.windows[number];
        let window = Arc::new(self.patch.resolve(window, &self.original, *limit)?);
        lock(&self.cache).keep(number, &window);
        Ok(window)
    }

    /// Fills `buf` with the bytes at `offset`, which must be inside of the result.
    pub(crate) fn read(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let number = self.at(offset);
            let window = &self.patch.windows[number];
            let within = offset - window.start;
            let now = (window.length - within).min(buf.len() as u64) as usize;
            let (piece, rest) = buf.split_at_mut(now);
            let inputs = self.patch.inputs(window, &*self.original);
            self.get(number)?.read(inputs, piece, within)?;
            offset += now as u64;
            buf = rest;
        }
        Ok(())
    }

    /// Calls `visit` with the length and the data of each piece of a range of the
    /// result, in order. Bytes of a decoded window have no data.
    pub(crate) fn pieces(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, Option<Data>),
    ) -> Result<()> {
        let mut offset = range.start;
        while offset < range.end {
            let number = self.at(offset);
            let window = &self.patch.windows[number];
            let end = range.end.min(window.start + window.length);
            match &*self.get(number)? {
                Content::Bytes(_) => visit(end - offset, None),
                Content::Parts(parts) => {
                    let pieces = parts.pieces(offset - window.start, end - window.start);
                    pieces.for_each(|(length, data)| visit(length, Some(data)));
                }
            }
            offset = end;
        }
        Ok(())
    }

    /// Compares the checksums of all windows.
    pub(crate) fn verify(&self) -> Result<()> {
        (0..self.patch.windows.len()).try_for_each(|number| self.verify_window(number))
    }

    /// Compares the first checksum that requires little of the original. Returns
    /// whether there is one.
    pub(crate) fn verify_first(&self) -> Result<bool> {
        let is_short = |window: &Window| window.segment.1 <= MAX_CHECKED;
        let mut windows = self.patch.windows.iter();
        let first = windows
            .position(|window| window.adler.is_some() && window.segment.1 > 0 && is_short(window));
        first.map_or(Ok(false), |number| {
            self.verify_window(number).map(|()| true)
        })
    }

    fn verify_window(&self, number: usize) -> Result<()> {
        let window = &self.patch.windows[number];
        let resolved = self.get(number)?;
        let Some(_) = window.adler else {
            return Ok(());
        };
        let mut adler = simd_adler32::Adler32::new();
        let mut buffer = vec![0; window.length.min(PIECE) as usize];
        let inputs = self.patch.inputs(window, &*self.original);
        let mut offset = 0;
        while offset < window.length {
            let now = (window.length - offset).min(PIECE);
            let piece = &mut buffer[..now as usize];
            resolved
                .read(inputs, piece, offset)
                .map_err(|cause| read_error(window.start + offset, now, cause))?;
            adler.write(piece);
            offset += now;
        }
        check_adler(window, adler.finish())
    }
}
