//! The map of the hunks of a CHD.

use super::huffman::Codes;
use super::{CRC, Header, VERSION};
use crate::codec::bits::Bits;
use crate::codec::block::Decoded;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, check_sum, read_vec};

/// Length of the header of a compressed map.
const MAP_HEADER: u64 = 16;

/// Kinds of hunks, and in a compressed map, codes for runs.
const STORED: u8 = 4;
const SELF: u8 = 5;
const PARENT: u8 = 6;
const REPEAT: u8 = 7;
const REPEAT_LONG: u8 = 8;
const SELF_AGAIN: u8 = 9;
const SELF_NEXT: u8 = 10;
const PARENT_HERE: u8 = 11;
const PARENT_NEXT: u8 = 13;

/// Number of symbols and maximum code length of the kinds.
const SYMBOLS: usize = 16;
const MAX_BITS: u8 = 8;

/// Maximum number of hunks per byte of the map: three codes of one bit each
/// repeat a kind 273 times, and a single kind is not denser.
const MAX_RATIO: u64 = 8 * 273 / 3 + 273;

/// A hunk in 12 bytes, since an image has many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The upper 16 bits of the offset, and the checksum.
    high: u32,
    /// The other bits of the offset.
    low: u32,
    /// The kind, and 24 bits of length.
    rest: u32,
}

/// The storage of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Zeros,
    /// The bytes themselves.
    Stored,
    /// This many bytes, packed by the codec with this number.
    Packed {
        codec: u8,
        length: u32,
    },
}

/// Kinds of hunks without a checksum: zeros, and stored bytes.
const ZEROS: u8 = 0xFF;
const UNCHECKED: u8 = 0xFE;

impl Hunk {
    fn new(kind: u8, offset: u64, length: u32, checksum: u16) -> Self {
        Self {
            high: (offset >> 32 << 16) as u32 | u32::from(checksum),
            low: offset as u32,
            rest: u32::from(kind) << 24 | length & 0xFF_FFFF,
        }
    }

    fn kind(self) -> u8 {
        (self.rest >> 24) as u8
    }

    /// Returns the absolute offset in the source.
    pub(super) fn offset(self) -> u64 {
        u64::from(self.high >> 16) << 32 | u64::from(self.low)
    }

    pub(super) fn storage(self) -> Storage {
        match self.kind() {
            ZEROS => Storage::Zeros,
            STORED | UNCHECKED => Storage::Stored,
            codec => Storage::Packed {
                codec,
                length: self.rest & 0xFF_FFFF,
            },
        }
    }

    /// Returns the CRC-16 of the decoded hunk, if there is one.
    pub(super) fn checksum(self) -> Option<u16> {
        let has_one = !matches!(self.kind(), ZEROS | UNCHECKED);
        has_one.then_some(self.high as u16)
    }
}

/// Reads the map of an image without codecs: for every hunk its position in the
/// file in hunks, or 0 for zeros.
pub(super) fn read_plain(source: &dyn ReadAt, header: &Header) -> Result<Vec<Hunk>> {
    let count = header.hunk_count();
    let bytes = read_vec(source, header.map, count * 4, "map")?;
    let numbers = bytes.as_chunks().0.iter().copied().map(u32::from_be_bytes);
    let hunks = numbers.map(|number| match number {
        0 => Hunk::new(ZEROS, 0, 0, 0),
        _ => {
            let offset = u64::from(number) * u64::from(header.hunk_size);
            Hunk::new(UNCHECKED, offset, 0, 0)
        }
    });
    Ok(hunks.collect())
}

/// Reads the map of an image with codecs.
pub(super) fn read_compressed(source: &dyn ReadAt, header: &Header) -> Result<Vec<Hunk>> {
    let bytes = read_vec(source, header.map, MAP_HEADER, "map")?;
    let mut fields = Cursor::new(&bytes, header.map, Endian::Big);
    let length = fields.u32("map length")?;
    let first = u64::from(fields.u16("first offset")?) << 32;
    let first = first | u64::from(fields.u32("first offset")?);
    let sum = fields.u16("map checksum")?;
    let widths = [
        fields.u8("length bits")?,
        fields.u8("self bits")?,
        fields.u8("parent bits")?,
    ];
    // A length has 24 bits in the uncompressed map, an offset 48.
    if widths
        .iter()
        .zip([24, 32, 48])
        .any(|(width, most)| *width > most)
    {
        let problem = format!("are {widths:?}");
        return Err(Error::damaged(header.map + 12, "map widths", problem));
    }
    let count = header.hunk_count();
    let offset = header.map + MAP_HEADER;
    let packed = read_vec(source, offset, length.into(), "map")?;
    if count > u64::from(length) * MAX_RATIO {
        let problem = format!("{length} bytes cannot describe {count} hunks");
        return Err(Error::damaged(header.map, "map", problem));
    }
    let map = CompressedMap {
        bits: Bits::new(&packed),
        first,
        length_bits: widths[0].into(),
        self_bits: widths[1].into(),
        header,
    };
    let damaged = |problem| Error::damaged(offset, "map", problem);
    let (hunks, found) = map.read(count as usize).map_err(|cause| match cause {
        Cause::Damaged(problem) => damaged(problem),
        Cause::Parent => Error::Unsupported(format!(
            "is a CHD of version {VERSION} with hunks of another one, its parent, \
             which is not supported"
        )),
    })?;
    check_sum("CRC-16", found, sum).map_err(damaged)?;
    Ok(hunks)
}

/// The cause of an unreadable map.
enum Cause {
    Damaged(String),
    Parent,
}

impl From<String> for Cause {
    fn from(problem: String) -> Self {
        Self::Damaged(problem)
    }
}

struct CompressedMap<'a> {
    bits: Bits<'a>,
    /// Offset of the first packed hunk; the others follow.
    first: u64,
    length_bits: usize,
    self_bits: usize,
    header: &'a Header,
}

impl CompressedMap<'_> {
    /// Returns the hunks, and the checksum of the uncompressed map.
    fn read(mut self, count: usize) -> std::result::Result<(Vec<Hunk>, u16), Cause> {
        let kinds = self.kinds(count)?;
        let mut digest = CRC.digest();
        let mut hunks: Vec<Hunk> = Vec::with_capacity(count);
        let (mut next, mut same) = (self.first, 0_u64);
        for kind in kinds {
            let hunk = match kind {
                ..=STORED => {
                    let length = match kind {
                        STORED => self.header.hunk_size,
                        _ => self.bits.take(self.length_bits)?,
                    };
                    let checksum = self.bits.take(16)? as u16;
                    let hunk = Hunk::new(kind, next, length, checksum);
                    digest.update(&raw(kind, length, next, checksum));
                    next += u64::from(length);
                    if next >> 48 != 0 {
                        return Err("has offsets of more than 48 bits".to_owned().into());
                    }
                    hunk
                }
                SELF | SELF_AGAIN | SELF_NEXT => {
                    match kind {
                        SELF => same = self.bits.take(self.self_bits)?.into(),
                        SELF_NEXT => same += 1,
                        _ => {}
                    }
                    digest.update(&raw(SELF, 0, same, 0));
                    // Only an earlier one, which excludes cycles.
                    let earlier = hunks.get(same as usize).copied();
                    earlier.ok_or_else(|| {
                        format!("hunk {} is the same as the later one {same}", hunks.len())
                    })?
                }
                PARENT | PARENT_HERE..=PARENT_NEXT => return Err(Cause::Parent),
                _ => return Err(format!("has a hunk of kind {kind}").into()),
            };
            hunks.push(hunk);
        }
        Ok((hunks, digest.finalize()))
    }

    /// Reads the kinds of all hunks, which come first.
    fn kinds(&mut self, count: usize) -> Decoded<Vec<u8>> {
        let codes = Codes::read_short(&mut self.bits, SYMBOLS, MAX_BITS)?;
        let mut kinds = Vec::with_capacity(count);
        let mut last = 0;
        while kinds.len() < count {
            let mut symbol = || Ok::<_, String>(usize::from(codes.symbol(&mut self.bits)?));
            let repeats = match symbol()? as u8 {
                REPEAT => 3 + symbol()?,
                REPEAT_LONG => 19 + (symbol()? << 4) + symbol()?,
                kind => {
                    last = kind;
                    1
                }
            };
            let repeats = repeats.min(count - kinds.len());
            kinds.resize(kinds.len() + repeats, last);
        }
        Ok(kinds)
    }
}

/// Returns a hunk in the form of the uncompressed map.
fn raw(kind: u8, length: u32, offset: u64, checksum: u16) -> [u8; 12] {
    let mut raw = [0; 12];
    raw[0] = kind;
    raw[1..4].copy_from_slice(&length.to_be_bytes()[1..]);
    raw[4..10].copy_from_slice(&offset.to_be_bytes()[2..]);
    raw[10..].copy_from_slice(&checksum.to_be_bytes());
    raw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_fits_in_twelve_bytes() {
        assert_eq!(size_of::<Hunk>(), 12);
        let hunk = Hunk::new(3, 0xFFFF_1234_5678, 0xFF_FFFF, 0xABCD);
        assert_eq!(hunk.offset(), 0xFFFF_1234_5678);
        let (codec, length) = (3, 0xFF_FFFF);
        assert_eq!(hunk.storage(), Storage::Packed { codec, length });
        assert_eq!(hunk.checksum(), Some(0xABCD));
        let plain = Hunk::new(UNCHECKED, 7, 0, 0);
        assert_eq!((plain.storage(), plain.checksum()), (Storage::Stored, None));
        assert_eq!(Hunk::new(ZEROS, 0, 0, 0).storage(), Storage::Zeros);
    }
}
