//! Writing BPS patches.

use std::io::{self, Write};

use crc32fast::Hasher;
use hpimount_containers::io::ReadAt;

use super::MAGIC;
use crate::Extents;
use crate::error::Result;
use crate::extents::{From, Piece, output, read_at};
use crate::number::write_bps;

/// Maximum length of an action, because some programs use 32-bit numbers.
const MAX_ACTION: u64 = 1 << 28;

/// Read size for the original, in bytes.
const PIECE: u64 = 256 << 10;

/// Writes a patch, see [`write::bps`](crate::write::bps).
pub(crate) fn write(extents: &Extents, original: &dyn ReadAt, out: &mut dyn Write) -> Result<()> {
    extents.check(original)?;
    let sums = RangeSums::new(extents, original)?;
    let mut actions = Actions {
        out: CrcWriter {
            out,
            hasher: Hasher::new(),
        },
        position: 0,
        from_original: 0,
        from_result: 0,
    };
    actions
        .header(original.len(), extents.len())
        .map_err(output)?;
    let mut result = Hasher::new();
    extents.visit(original, |piece| {
        match (piece.bytes, piece.from) {
            (Some(bytes), _) => result.update(bytes),
            (None, From::Original(from)) => sums.add(&mut result, from, from + piece.length),
            (None, From::Run(byte)) => add_run(&mut result, byte, piece.length),
            (None, From::New) => {}
        }
        actions.piece(&piece).map_err(output)
    })?;
    let sums = [sums.whole(), result.finalize()];
    actions.out.finish(sums).map_err(output)
}

/// An output whose CRC-32 is computed.
struct CrcWriter<'a> {
    out: &'a mut dyn Write,
    hasher: Hasher,
}

impl Write for CrcWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl CrcWriter<'_> {
    /// Writes the CRC-32 of the original, of the result and of the patch.
    fn finish(mut self, sums: [u32; 2]) -> io::Result<()> {
        self.write_all(&sums[0].to_le_bytes())?;
        self.write_all(&sums[1].to_le_bytes())?;
        let sum = self.hasher.clone().finalize();
        self.out.write_all(&sum.to_le_bytes())
    }
}

/// The actions of a patch, and their cursors.
struct Actions<'a> {
    out: CrcWriter<'a>,
    position: u64,
    from_original: u64,
    from_result: u64,
}

impl Actions<'_> {
    fn header(&mut self, original: u64, result: u64) -> io::Result<()> {
        self.out.write_all(MAGIC)?;
        let no_metadata = 0;
        [original, result, no_metadata]
            .into_iter()
            .try_for_each(|number| write_bps(number, &mut self.out))
    }

    fn piece(&mut self, piece: &Piece<'_>) -> io::Result<()> {
        let (mut start, mut left) = (0, piece.length);
        while left > 0 {
            let now = left.min(MAX_ACTION);
            match piece.from {
                From::Original(from) => self.copy(from + start, now)?,
                From::Run(byte) => self.run(byte, now)?,
                From::New => {
                    self.action(1, now)?;
                    let bytes = piece.bytes.unwrap_or_default();
                    self.out
                        .write_all(&bytes[start as usize..][..now as usize])?;
                }
            }
            (start, left) = (start + now, left - now);
        }
        Ok(())
    }

    /// Writes the number of an action, and moves the position.
    fn action(&mut self, kind: u64, length: u64) -> io::Result<()> {
        self.position += length;
        write_bps((length - 1) << 2 | kind, &mut self.out)
    }

    fn distance(&mut self, from: u64, to: u64) -> io::Result<()> {
        let is_back = u64::from(to < from);
        write_bps(from.abs_diff(to) << 1 | is_back, &mut self.out)
    }

    fn copy(&mut self, from: u64, length: u64) -> io::Result<()> {
        if from == self.position {
            return self.action(0, length);
        }
        self.action(2, length)?;
        self.distance(self.from_original, from)?;
        self.from_original = from + length;
        Ok(())
    }

    /// Writes one byte, and a copy of the result that repeats it.
    fn run(&mut self, byte: u8, length: u64) -> io::Result<()> {
        let start = self.position;
        self.action(1, 1)?;
        self.out.write_all(&[byte])?;
        if length > 1 {
            self.action(3, length - 1)?;
            self.distance(self.from_result, start)?;
            self.from_result = start + length - 1;
        }
        Ok(())
    }
}

/// CRC-32 of ranges of the original, computed in one pass.
struct RangeSums {
    /// The starts and ends of the ranges, with the CRC-32 of all bytes before.
    sums: Vec<(u64, u32)>,
}

impl RangeSums {
    fn new(extents: &Extents, original: &dyn ReadAt) -> Result<Self> {
        let mut cuts: Vec<u64> = vec![0, original.len()];
        for (_, range) in extents.originals() {
            cuts.extend([range.start, range.end]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        let (mut hasher, mut offset, mut buffer) = (Hasher::new(), 0, Vec::new());
        let mut sums = Vec::with_capacity(cuts.len());
        for cut in cuts {
            while offset < cut {
                let now = (cut - offset).min(PIECE);
                buffer.resize(now as usize, 0);
                read_at(original, &mut buffer, offset)?;
                hasher.update(&buffer);
                offset += now;
            }
            sums.push((cut, hasher.clone().finalize()));
        }
        Ok(Self { sums })
    }

    /// Returns the CRC-32 of the bytes before a cut.
    fn before(&self, cut: u64) -> u32 {
        let found = self.sums.binary_search_by_key(&cut, |(cut, _)| *cut);
        found.map_or(0, |number| self.sums[number].1)
    }

    fn whole(&self) -> u32 {
        self.sums.last().map_or(0, |(_, sum)| *sum)
    }

    /// Adds the bytes between two cuts to a checksum.
    fn add(&self, sum: &mut Hasher, start: u64, end: u64) {
        let length = end - start;
        // CRC-32 of A and B together: the CRC-32 of A, moved by the length of B, XOR the
        // CRC-32 of B.
        let mut moved = Hasher::new_with_initial_len(self.before(start), start);
        moved.combine(&Hasher::new_with_initial_len(0, length));
        let range = self.before(end) ^ moved.finalize();
        sum.combine(&Hasher::new_with_initial_len(range, length));
    }
}

/// Adds `length` equal bytes to a checksum.
fn add_run(sum: &mut Hasher, byte: u8, mut length: u64) {
    let bytes = [byte; 4096];
    while length > 0 {
        let now = length.min(bytes.len() as u64);
        sum.update(&bytes[..now as usize]);
        length -= now;
    }
}
