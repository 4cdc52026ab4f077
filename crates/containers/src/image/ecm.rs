//! ECM, images of CDs without what can be computed: sync, error detection and
//! error correction.
//!
//! The records that follow one another are literal bytes, or sectors without
//! these parts. Records of one sector each are usual, so only some of their
//! positions are kept, and a block is decoded from the last one before it.

use std::sync::Arc;

use super::{BlockImage, ImageFormat, block_error, starts_with};
use crate::codec::ecc::{self, EDC, RAW};
use crate::io::{Error, ReadAt, Result, read_vec};

/// The format of these images.
pub(super) const FORMAT: ImageFormat = ImageFormat {
    name: "ECM",
    extensions: &["ecm"],
    types: &[],
    matches: |source| starts_with(source, MAGIC),
    open,
};

/// First bytes of an image.
const MAGIC: &[u8] = b"ECM\0";

/// Length of a block in bytes: 32 sectors.
const BLOCK: u32 = 32 * RAW as u32;

/// Number of bytes read at a time.
const PIECE: u64 = 64 << 10;

/// Number of bytes of a raw sector before its subheader, or its data.
const BEFORE: usize = 16;

/// The contents of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Literal,
    Mode1,
    /// Mode 2, Form 1, without sync and address.
    Form1,
    /// Mode 2, Form 2, without sync and address.
    Form2,
}

impl Kind {
    const fn of(number: u8) -> Self {
        match number & 3 {
            0 => Self::Literal,
            1 => Self::Mode1,
            2 => Self::Form1,
            _ => Self::Form2,
        }
    }

    /// Returns the number of stored bytes of a unit: a byte, or a sector.
    const fn stored(self) -> u64 {
        match self {
            Self::Literal => 1,
            Self::Mode1 => 3 + 2048,
            Self::Form1 => 4 + 2048,
            Self::Form2 => 4 + 2324,
        }
    }

    /// Returns the number of restored bytes of a unit.
    const fn restored(self) -> u64 {
        match self {
            Self::Literal => 1,
            Self::Mode1 => RAW,
            Self::Form1 | Self::Form2 => RAW - BEFORE as u64,
        }
    }
}

/// Units of one kind.
struct Record {
    kind: Kind,
    count: u64,
    /// Absolute offset of the first unit.
    data: u64,
}

impl Record {
    /// Returns the absolute offset of the next record.
    fn end(&self) -> u64 {
        self.data + self.count * self.kind.stored()
    }

    /// Returns the number of restored bytes.
    fn restored(&self) -> u64 {
        self.count * self.kind.restored()
    }
}

/// A position where a record begins.
#[derive(Clone, Copy)]
struct Point {
    /// In the image.
    restored: u64,
    /// In the source.
    stored: u64,
}

struct Ecm {
    source: Arc<dyn ReadAt>,
    len: u64,
    /// Ascending, at least [`BLOCK`] restored bytes apart.
    points: Vec<Point>,
}

fn open(source: Arc<dyn ReadAt>) -> Result<Box<dyn BlockImage>> {
    let mut bytes = Piece::of(&*source);
    let mut at = Point {
        restored: 0,
        stored: MAGIC.len() as u64,
    };
    let mut points = vec![at];
    while let Some(record) = bytes.record(at.stored)? {
        if record.end() > source.len() {
            let problem = format!("ends at {:#x}, past the end of the file", record.end());
            return Err(Error::damaged(at.stored, "record", problem));
        }
        at.restored += record.restored();
        at.stored = record.end();
        if points
            .last()
            .is_some_and(|last| at.restored - last.restored >= BLOCK.into())
        {
            points.push(at);
        }
    }
    points.shrink_to_fit();
    Ok(Box::new(Ecm {
        len: at.restored,
        points,
        source,
    }))
}

impl BlockImage for Ecm {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        BLOCK
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let start = block.saturating_mul(BLOCK.into());
        let end = self.len.min(start.saturating_add(BLOCK.into()));
        let after = self.points.partition_point(|point| point.restored <= start);
        let Some(&point) = after.checked_sub(1).and_then(|at| self.points.get(at)) else {
            return Err(block_error(block, 0, "is not in the image"));
        };
        let mut bytes = Piece::of(&*self.source);
        let mut out = Vec::with_capacity(end.saturating_sub(start) as usize);
        let Point {
            mut restored,
            mut stored,
        } = point;
        while restored < end {
            // Opening has found all records.
            let Some(record) = bytes.record(stored)? else {
                return Err(Error::Changed);
            };
            stored = record.end();
            let record_start = restored;
            restored += record.restored();
            if restored > start {
                let from = start.max(record_start) - record_start;
                let to = end.min(restored) - record_start;
                restore(&mut bytes, &record, from, to, &mut out)?;
            }
        }
        Ok(out)
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.points.capacity() * size_of::<Point>()
    }
}

/// Appends the restored bytes of a record in `from..to`.
fn restore(
    bytes: &mut Piece<'_>,
    record: &Record,
    mut from: u64,
    to: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    while from < to {
        let (unit, length) = (record.kind.restored(), record.kind.stored());
        let offset = record.data + from / unit * length;
        if record.kind == Kind::Literal {
            let stored = bytes.at(offset, (to - from).min(PIECE))?;
            out.extend_from_slice(stored);
            from += stored.len() as u64;
            continue;
        }
        let sector = sector(record.kind, bytes.at(offset, length)?);
        let start = from % unit;
        let end = unit.min(start + to - from);
        let first = RAW - unit;
        out.extend_from_slice(&sector[(first + start) as usize..(first + end) as usize]);
        from += end - start;
    }
    Ok(())
}

/// Returns the whole sector of a unit.
fn sector(kind: Kind, stored: &[u8]) -> [u8; RAW as usize] {
    let mut sector = [0; RAW as usize];
    if kind == Kind::Mode1 {
        let (address, data) = stored.split_at(3);
        sector[12..15].copy_from_slice(address);
        sector[15] = 1;
        sector[BEFORE..2064].copy_from_slice(data);
        ecc::restore_sync(&mut sector);
        let sum = EDC.checksum(&sector[..2064]);
        sector[2064..2068].copy_from_slice(&sum.to_le_bytes());
        ecc::restore(&mut sector);
        return sector;
    }
    let (subheader, data) = stored.split_at(4);
    let end = 24 + data.len();
    sector[15] = 2;
    sector[16..20].copy_from_slice(subheader);
    sector[20..24].copy_from_slice(subheader);
    sector[24..end].copy_from_slice(data);
    let sum = EDC.checksum(&sector[BEFORE..end]);
    sector[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    if kind == Kind::Form1 {
        ecc::restore(&mut sector);
    }
    sector
}

/// The bytes that were read last of a source.
struct Piece<'a> {
    source: &'a dyn ReadAt,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Piece<'a> {
    fn of(source: &'a dyn ReadAt) -> Self {
        Self {
            source,
            start: 0,
            bytes: Vec::new(),
        }
    }

    /// Returns `length` bytes at `offset`.
    fn at(&mut self, offset: u64, length: u64) -> Result<&[u8]> {
        let range = self.start..self.start + self.bytes.len() as u64;
        if !range.contains(&offset) || offset + length > range.end {
            let left = self.source.len().saturating_sub(offset);
            let read = left.min(PIECE).max(length);
            self.bytes = read_vec(self.source, offset, read, "record")?;
            self.start = offset;
        }
        let start = (offset - self.start) as usize;
        Ok(&self.bytes[start..start + length as usize])
    }

    /// Reads the header of the record at `offset`; `None` at the mark of the end.
    /// The lowest two bits are the kind, the next five the lowest bits of the
    /// number of units less 1, and seven more are in each byte that follows.
    fn record(&mut self, offset: u64) -> Result<Option<Record>> {
        let first = self.at(offset, 1)?[0];
        let mut number = u64::from(first >> 2 & 0x1F);
        let mut data = offset + 1;
        let (mut byte, mut shift) = (first, 5);
        while byte & 0x80 != 0 {
            byte = self.at(data, 1)?[0];
            data += 1;
            number |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if number > u32::MAX.into() || shift > 40 {
                let problem = "has too many units";
                return Err(Error::damaged(offset, "record", problem));
            }
        }
        let is_end = number == u64::from(u32::MAX);
        Ok((!is_end).then_some(Record {
            kind: Kind::of(first),
            count: number + 1,
            data,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the header of a record.
    fn header(kind: u8, count: u64) -> Vec<u8> {
        let mut rest = count - 1;
        let mut header = vec![kind | (rest as u8 & 0x1F) << 2];
        rest >>= 5;
        while rest > 0 {
            *header.last_mut().unwrap() |= 0x80;
            header.push(rest as u8 & 0x7F);
            rest >>= 7;
        }
        header
    }

    fn image(records: &[Vec<u8>]) -> Vec<u8> {
        let end = header(0, 1 << 32);
        [MAGIC, &records.concat(), &end, &[0; 4]].concat()
    }

    /// Returns bytes without a pattern.
    fn noise(seed: u32, length: usize) -> Vec<u8> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(next).collect()
    }

    fn all(image: &dyn BlockImage) -> Vec<u8> {
        let blocks = image.len().div_ceil(BLOCK.into());
        let blocks = (0..blocks).map(|block| image.decode(block).unwrap());
        blocks.collect::<Vec<_>>().concat()
    }

    #[test]
    fn sectors_are_restored_with_sync_sums_and_parities() {
        let mut expected = Vec::new();
        let mut records = Vec::new();
        // In one record, and in one for each sector, as many images have them.
        let mode_1: Vec<_> = (0..40).map(|seed| noise(seed, 3 + 2048)).collect();
        records.push([header(1, 40), mode_1.concat()].concat());
        expected.extend(mode_1.iter().flat_map(|unit| sector(Kind::Mode1, unit)));
        for seed in 0..50 {
            let start = noise(seed, BEFORE);
            let (number, kind, length) = match seed % 3 {
                0 => (3, Kind::Form2, 2328),
                _ => (2, Kind::Form1, 2052),
            };
            let unit = noise(seed, length);
            records.push([header(0, 16), start.clone()].concat());
            records.push([header(number, 1), unit.clone()].concat());
            expected.extend(start);
            expected.extend(&sector(kind, &unit)[BEFORE..]);
        }
        let bytes = image(&records);
        assert!((FORMAT.matches)(&bytes).unwrap());
        let image = (FORMAT.open)(Arc::new(bytes)).unwrap();
        assert_eq!(all(&*image), expected);
        // The polynomial of the error detection covers the sum as well.
        let first = &expected[..RAW as usize];
        assert_eq!(first[..12], ecc::SYNC);
        assert_eq!(
            EDC.checksum(&first[..2064]).to_le_bytes(),
            first[2064..2068]
        );
        let mut again: [u8; RAW as usize] = first.try_into().unwrap();
        again[2076..].fill(0);
        ecc::restore(&mut again);
        assert_eq!(again, first);
    }

    #[test]
    fn literal_bytes_of_any_number_are_the_image() {
        for length in [1, 31, 32, 33, 4096, 200_000] {
            let bytes = noise(1, length);
            let records = [[header(0, length as u64), bytes.clone()].concat()];
            let image = (FORMAT.open)(Arc::new(image(&records))).unwrap();
            assert_eq!(all(&*image), bytes, "{length}");
        }
    }

    #[test]
    fn records_that_are_cut_or_too_long_are_damaged() {
        let whole = image(&[[header(1, 2), noise(1, 2 * 2051)].concat()]);
        for length in [4, 5, 1000, 2 * 2051 + 5] {
            assert!(
                (FORMAT.open)(Arc::new(whole[..length].to_vec())).is_err(),
                "{length}"
            );
        }
        let long = [MAGIC, &[0xFF; 8]].concat();
        assert!((FORMAT.open)(Arc::new(long)).is_err());
        let empty = (FORMAT.open)(Arc::new(image(&[]))).unwrap();
        assert!(empty.is_empty());
        assert!(empty.decode(0).unwrap().is_empty());
    }
}
