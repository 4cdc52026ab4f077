//! Copying an archive with some ranges replaced.

use std::io::{Seek, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::pack::{Error, Result};
use hpimount_containers::hpi::write::output::Output;
use hpimount_containers::io::ReadAt;

/// Number of bytes copied at a time.
const PIECE: usize = 256 << 10;

/// The archive that is copied.
pub(in crate::pack) struct Source {
    pub(super) bytes: Arc<dyn ReadAt>,
    /// Its path.
    pub(super) path: PathBuf,
}

impl Source {
    /// Returns its length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len()
    }

    /// Returns an error about its path.
    pub(super) fn error(&self, problem: impl ToString) -> Error {
        Error::source(&self.path, problem)
    }
}

/// A copy under construction. Data between the replaced ranges is copied, and
/// enciphered for its new offset.
pub(super) struct Splice<'a, W> {
    source: &'a Source,
    /// The copy.
    pub(super) out: Output<W>,
    /// The range of the source that is enciphered.
    enciphered: Range<u64>,
    /// Absolute offset in the source of the next byte.
    at: u64,
    /// The ends of the replaced ranges in the source, and by how much the data
    /// after each has moved.
    moves: Vec<(u64, i64)>,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a, W: Write + Seek> Splice<'a, W> {
    /// Begins to copy `source` to `out`. `progress` is called with the number
    /// of bytes that were copied.
    pub(super) fn new(
        source: &'a Source,
        out: Output<W>,
        enciphered: Range<u64>,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self {
            source,
            out,
            enciphered,
            at: 0,
            moves: Vec::new(),
            progress,
        }
    }

    /// Copies up to the absolute offset `end` of the source.
    pub(super) fn copy_to(&mut self, end: u64) -> Result<()> {
        while self.at < end {
            let inside = self.enciphered.contains(&self.at);
            let bounds = [self.enciphered.start, self.enciphered.end, end];
            let ahead = bounds.into_iter().filter(|&bound| bound > self.at);
            let until = ahead.min().unwrap_or(end);
            let length = (until - self.at).min(PIECE as u64) as usize;
            let mut piece = vec![0; length];
            let read = self.source.bytes.read_exact_at(&mut piece, self.at);
            read.map_err(|cause| self.source.error(cause))?;
            match inside {
                true => self.out.append_moved(self.at, piece)?,
                false => self.out.append_plain(&piece)?,
            }
            self.at += length as u64;
            (self.progress)(length as u64);
        }
        Ok(())
    }

    /// Continues at the absolute offset `end` of the source, after the
    /// replacement has been written.
    pub(super) fn go_on_at(&mut self, end: u64) {
        self.at = end;
        let moved = i64::from(self.out.end()) - end as i64;
        self.moves.push((end, moved));
    }

    /// Returns the new offset of a byte of the source that is not in a replaced
    /// range and not after the copied part.
    pub(super) fn moved(&self, offset: u64) -> u64 {
        let before = self.moves.iter().rev().find(|&&(end, _)| end <= offset);
        offset.saturating_add_signed(before.map_or(0, |&(_, by)| by))
    }

    /// Calls `write` with the copy and the progress.
    pub(super) fn write<T>(
        &mut self,
        write: impl FnOnce(&mut Output<W>, &mut dyn FnMut(u64)) -> T,
    ) -> T {
        write(&mut self.out, &mut *self.progress)
    }
}
