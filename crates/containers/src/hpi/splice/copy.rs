//! Copying an archive with some ranges replaced.

use std::io::{Seek, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::hpi::write::output::Output;
use crate::io::ReadAt;
use crate::write::{Error, Result};

/// Number of bytes copied at a time.
const PIECE: usize = 256 << 10;

/// The archive that is copied.
pub struct Original {
    /// Its bytes.
    pub bytes: Arc<dyn ReadAt>,
    /// Its path, which errors name.
    pub path: PathBuf,
}

impl Original {
    /// Returns its length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len()
    }

    /// Returns an error that names its path.
    pub(super) fn error(&self, problem: impl ToString) -> Error {
        Error::Original {
            archive: self.path.clone(),
            problem: problem.to_string(),
        }
    }
}

/// A copy under construction. Data between the replaced ranges is copied, and
/// enciphered for its new offset.
pub(super) struct Splice<'a, W> {
    original: &'a Original,
    /// The copy.
    pub(super) out: Output<W>,
    /// The range of the original that is enciphered.
    enciphered: Range<u64>,
    /// Absolute offset in the original of the next byte.
    at: u64,
    /// The ends of the replaced ranges in the original, and by how much the data
    /// after each has moved.
    moves: Vec<(u64, i64)>,
    progress: &'a mut dyn FnMut(u64),
}

impl<'a, W: Write + Seek> Splice<'a, W> {
    /// Begins to copy `original` to `out`. `progress` is called with the number
    /// of bytes that were copied.
    pub(super) fn new(
        original: &'a Original,
        out: Output<W>,
        enciphered: Range<u64>,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self {
            original,
            out,
            enciphered,
            at: 0,
            moves: Vec::new(),
            progress,
        }
    }

    /// Copies up to the absolute offset `end` of the original.
    pub(super) fn copy_to(&mut self, end: u64) -> Result<()> {
        while self.at < end {
            let inside = self.enciphered.contains(&self.at);
            let bounds = [self.enciphered.start, self.enciphered.end, end];
            let ahead = bounds.into_iter().filter(|&bound| bound > self.at);
            let until = ahead.min().unwrap_or(end);
            let length = (until - self.at).min(PIECE as u64) as usize;
            let mut piece = vec![0; length];
            let read = self.original.bytes.read_exact_at(&mut piece, self.at);
            read.map_err(|cause| self.original.error(cause))?;
            match inside {
                true => self.out.append_moved(self.at, piece)?,
                false => self.out.append_plain(&piece)?,
            }
            self.at += length as u64;
            (self.progress)(length as u64);
        }
        Ok(())
    }

    /// Continues at the absolute offset `end` of the original, after the
    /// replacement has been written.
    pub(super) fn go_on_at(&mut self, end: u64) {
        self.at = end;
        let moved = i64::from(self.out.end()) - end as i64;
        self.moves.push((end, moved));
    }

    /// Returns the new offset of a byte of the original that is not in a replaced
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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::hpi::cipher::Cipher;

    /// Replaces `34` in `bytes` by `x` and two zeros, and returns the copy and
    /// the number of bytes that were copied.
    fn replaced(bytes: &[u8], cipher: Cipher, enciphered: Range<u64>) -> Result<(Vec<u8>, u64)> {
        let original = Original {
            bytes: Arc::new(bytes.to_vec()),
            path: "test.hpi".into(),
        };
        let mut copied = 0;
        let mut out = Cursor::new(Vec::new());
        let mut progress = |bytes| copied += bytes;
        let output = Output::new(&mut out, cipher);
        let mut splice = Splice::new(&original, output, enciphered, &mut progress);
        splice.copy_to(3)?;
        splice.write(|out, _| out.append(b"x\0\0".to_vec()))?;
        splice.go_on_at(5);
        splice.copy_to(10)?;
        assert_eq!(splice.moved(2), 2);
        assert_eq!(splice.moved(5), 6);
        assert_eq!(splice.moved(9), 10);
        splice.out.finish()?;
        Ok((out.into_inner(), copied))
    }

    #[test]
    fn data_after_a_replaced_range_moves() {
        let (copy, copied) = replaced(b"0123456789", Cipher::PLAIN, 0..0).unwrap();
        assert_eq!(copy, b"012x\x00\x0056789");
        assert_eq!(copied, 8);
    }

    #[test]
    fn moved_data_is_enciphered_for_its_new_offset() {
        let cipher = Cipher::from_header(0x7D);
        let mut bytes = b"0123456789".to_vec();
        cipher.apply(2, &mut bytes[2..8]);
        let (mut copy, _) = replaced(&bytes, cipher, 2..8).unwrap();
        cipher.apply(2, &mut copy[2..9]);
        assert_eq!(copy, b"012x\x00\x0056789");
    }

    #[test]
    fn an_archive_that_is_too_short_is_named_in_the_error() {
        let error = replaced(b"0123", Cipher::PLAIN, 0..0).unwrap_err();
        assert!(error.to_string().starts_with("test.hpi: "), "{error}");
    }
}
