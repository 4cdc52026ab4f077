//! WIA and RVZ, Wiimm's and Dolphin's compressed disc images (big-endian), of
//! GameCube discs: those have raw areas only, no partitions.
//!
//! An area of the disc is divided into chunks of one size, each a group of the
//! file: all zeros, or compressed bytes. RVZ also replaces the padding between
//! the files by its seeds.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use sha1::{Digest, Sha1};

use super::padding::{PERIOD, SEED, generate};
use super::{BlockImage, GAMECUBE, ImageFormat, MAX_BLOCK, block_error, block_length, head};
use crate::codec::block::{Codec, Decoded};
use crate::file_type::{FileType, Magic};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// The format of RVZ images.
pub(super) const RVZ: ImageFormat = ImageFormat {
    name: "RVZ",
    extensions: &["rvz"],
    types: &[FileType {
        magic: &[Magic::at(0, MAGIC_RVZ)],
        patterns: &["*.rvz"],
        ..GAMECUBE
    }],
    matches: |source| Ok(head(source, 4)? == MAGIC_RVZ),
    open: |source| open(source, true),
};

/// The format of WIA images.
pub(super) const WIA: ImageFormat = ImageFormat {
    name: "WIA",
    extensions: &["wia"],
    types: &[FileType {
        magic: &[Magic::at(0, MAGIC_WIA)],
        patterns: &["*.wia"],
        ..GAMECUBE
    }],
    matches: |source| Ok(head(source, 4)? == MAGIC_WIA),
    open: |source| open(source, false),
};

const MAGIC_RVZ: &[u8; 4] = b"RVZ\x01";
const MAGIC_WIA: &[u8; 4] = b"WIA\x01";

/// Length of the first header; its last 20 bytes are the SHA-1 of the rest.
const HEADER: u64 = 0x48;

/// Possible lengths of the second header, which describes the disc. Missing
/// fields are zeros.
const DISC: Range<u64> = 0xD4..0x1001;
const FULL_DISC: usize = 0xDC;

/// Bytes of the disc that are stored in the second header.
const DISC_HEAD: usize = 0x80;

/// Areas begin at multiples of this, although the first one declares another
/// offset.
const ALIGNMENT: u64 = 0x8000;

/// Maximum number of groups, enough for 32 GiB in the smallest chunks, and of
/// areas.
const MAX_GROUPS: u32 = 1 << 20;
const MAX_AREAS: u32 = 1 << 16;

const SHA1: usize = 20;

struct Wia {
    source: Arc<dyn ReadAt>,
    len: u64,
    chunk: u32,
    compression: Compression,
    disc_head: [u8; DISC_HEAD],
    /// In ascending order, without overlaps.
    areas: Vec<Area>,
    groups: Vec<Group>,
    warnings: Vec<String>,
}

/// A part of the disc that is stored in its own groups.
struct Area {
    range: Range<u64>,
    first_group: u32,
    groups: u32,
}

/// The stored bytes of a chunk.
#[derive(Clone, Copy)]
struct Group {
    offset: u64,
    /// 0 for a chunk of zeros.
    size: u32,
    is_compressed: bool,
    /// Length before the padding is unpacked; 0 if none is packed.
    packed: u32,
}

/// The compression of groups and tables.
#[derive(Clone, Copy, PartialEq)]
enum Compression {
    None,
    /// Runs of zeros are omitted.
    Purge,
    Codec(Codec),
}

fn open(source: Arc<dyn ReadAt>, is_rvz: bool) -> Result<Box<dyn BlockImage>> {
    let header = read_vec(&*source, 0, HEADER, "header")?;
    check_sha1(&header[..0x34], &header[0x34..], 0x34, "header")?;
    let mut fields = Cursor::new(&header, 0, Endian::Big);
    fields.seek(0x0C, "disc header size")?;
    let disc_size = u64::from(fields.u32("disc header size")?);
    if !DISC.contains(&disc_size) {
        let problem = format!("is {disc_size}");
        return Err(Error::damaged(0x0C, "disc header size", problem));
    }
    fields.seek(0x24, "disc size")?;
    let len = fields.u64("disc size")?;
    let mut disc = read_vec(&*source, HEADER, disc_size, "disc header")?;
    check_sha1(&disc, &header[0x10..0x24], 0x10, "disc header")?;
    disc.resize(disc.len().max(FULL_DISC), 0);
    let disc = Disc::read(&disc, is_rvz)?;

    let tables = Tables {
        source: &*source,
        compression: disc.compression,
    };
    let areas = tables.areas(&disc.areas)?;
    let groups = tables.groups(&disc.groups, is_rvz)?;
    let end = areas.last().map_or(0, |area| area.range.end);
    let mut warnings = Vec::new();
    if len != end {
        warnings.push(format!("the disc has {len} bytes, its areas end at {end}"));
    }
    Ok(Box::new(Wia {
        len: len.min(end),
        chunk: disc.chunk,
        compression: disc.compression,
        disc_head: disc.head,
        areas,
        groups,
        warnings,
        source,
    }))
}

fn check_sha1(bytes: &[u8], sum: &[u8], at: u64, field: &'static str) -> Result<()> {
    if Sha1::digest(bytes)[..] == *sum {
        return Ok(());
    }
    Err(Error::damaged(at, field, "SHA-1 is wrong"))
}

/// The second header.
struct Disc {
    compression: Compression,
    chunk: u32,
    head: [u8; DISC_HEAD],
    areas: Table,
    groups: Table,
}

/// The position of a table.
struct Table {
    count: u32,
    offset: u64,
    size: u32,
}

impl Disc {
    fn read(bytes: &[u8], is_rvz: bool) -> Result<Self> {
        let mut fields = Cursor::new(bytes, HEADER, Endian::Big);
        let kind = fields.u32("disc type")?;
        let compression = fields.u32("compression")?;
        fields.u32("level")?;
        let chunk = fields.u32("chunk size")?;
        let mut disc_head = [0; DISC_HEAD];
        disc_head.copy_from_slice(fields.take(DISC_HEAD, "disc head")?);
        if kind != 1 || fields.u32("partitions")? != 0 {
            let text = "is not a GameCube disc; Wii discs are encrypted";
            return Err(Error::Unsupported(text.into()));
        }
        check_chunk(chunk, is_rvz)?;
        fields.seek(HEADER + 0xB4, "areas")?;
        let mut table = |field| {
            Ok(Table {
                count: fields.u32(field)?,
                offset: fields.u64(field)?,
                size: fields.u32(field)?,
            })
        };
        let areas = table("areas")?;
        let groups = table("groups")?;
        let length = usize::from(fields.u8("compressor data length")?).min(7);
        let properties = fields.take(length, "compressor data")?;
        Ok(Self {
            compression: Compression::new(compression, properties)?,
            chunk,
            head: disc_head,
            areas,
            groups,
        })
    }
}

fn check_chunk(chunk: u32, is_rvz: bool) -> Result<()> {
    const BIG: u32 = 2 << 20;
    let is_good = match chunk {
        BIG..=MAX_BLOCK => chunk.is_multiple_of(BIG),
        0x8000..BIG => is_rvz && chunk.is_power_of_two(),
        _ => false,
    };
    if is_good {
        return Ok(());
    }
    let problem = format!("is {chunk}");
    Err(Error::damaged(HEADER + 0x0C, "chunk size", problem))
}

impl Compression {
    fn new(number: u32, properties: &[u8]) -> Result<Self> {
        let codec = match number {
            0 => return Ok(Self::None),
            1 => return Ok(Self::Purge),
            2 => Some(Codec::Bzip2),
            3 => Codec::lzma(properties),
            4 => Codec::lzma2(properties),
            5 => Some(Codec::Zstandard),
            _ => {
                let text = format!("is compressed by an unknown method, {number}");
                return Err(Error::Unsupported(text));
            }
        };
        let error = || Error::damaged(HEADER + 0xD4, "compressor data", "is wrong");
        codec.map(Self::Codec).ok_or_else(error)
    }

    /// Returns the first `wanted` decompressed bytes.
    fn decode<'a>(self, bytes: &'a [u8], wanted: usize) -> Decoded<Cow<'a, [u8]>> {
        match self {
            Self::None => match bytes.get(..wanted) {
                Some(bytes) => Ok(bytes.into()),
                None => Err(format!("has {} bytes, should have {wanted}", bytes.len())),
            },
            Self::Purge => restore_zeros(bytes, wanted).map(Cow::Owned),
            Self::Codec(codec) => codec.decode(bytes, wanted).map(Cow::Owned),
        }
    }
}

/// Decodes "purge": segments with their positions and lengths, then the SHA-1
/// of all of them.
fn restore_zeros(bytes: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
    let split = bytes.len().checked_sub(SHA1);
    let (mut rest, sum) = bytes.split_at(split.ok_or("is too short")?);
    if Sha1::digest(rest)[..] != *sum {
        return Err("SHA-1 is wrong".into());
    }
    let mut out = vec![0; wanted];
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let [position, length] = [0, 4].map(|at| be32(head, at) as usize);
        let from = after.get(..length);
        let to = position.checked_add(length);
        let to = to.and_then(|end| out.get_mut(position..end));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(format!("has a segment of {length} bytes at {position}"));
        };
        to.copy_from_slice(from);
        rest = &after[length..];
    }
    Ok(out)
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    word.map_or(0, |word| u32::from_be_bytes(*word))
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be32(bytes, at)) << 32 | u64::from(be32(bytes, at + 4))
}

/// The source of the tables, and their compression.
struct Tables<'a> {
    source: &'a dyn ReadAt,
    compression: Compression,
}

impl Tables<'_> {
    fn bytes(&self, table: &Table, unit: usize, most: u32, field: &'static str) -> Result<Vec<u8>> {
        if table.count > most {
            let problem = format!("are {}, more than {most}", table.count);
            return Err(Error::damaged(table.offset, field, problem));
        }
        let stored = read_vec(self.source, table.offset, table.size.into(), field)?;
        let decoded = self
            .compression
            .decode(&stored, table.count as usize * unit);
        let decoded = decoded.map_err(|problem| Error::damaged(table.offset, field, problem))?;
        Ok(decoded.into_owned())
    }

    fn areas(&self, table: &Table) -> Result<Vec<Area>> {
        let bytes = self.bytes(table, 24, MAX_AREAS, "areas")?;
        let mut areas = Vec::with_capacity(bytes.len() / 24);
        for area in bytes.as_chunks::<24>().0 {
            let start = be64(area, 0);
            let Some(end) = start.checked_add(be64(area, 8)) else {
                return Err(Error::damaged(table.offset, "areas", "one has no end"));
            };
            areas.push(Area {
                range: start - start % ALIGNMENT..end,
                first_group: be32(area, 16),
                groups: be32(area, 20),
            });
        }
        areas.retain(|area| !area.range.is_empty());
        areas.sort_by_key(|area| area.range.start);
        let mut pairs = areas.iter().zip(areas.iter().skip(1));
        if pairs.any(|(area, next)| area.range.end > next.range.start) {
            return Err(Error::damaged(table.offset, "areas", "overlap"));
        }
        Ok(areas)
    }

    fn groups(&self, table: &Table, is_rvz: bool) -> Result<Vec<Group>> {
        const COMPRESSED: u32 = 1 << 31;
        let unit = if is_rvz { 12 } else { 8 };
        let bytes = self.bytes(table, unit, MAX_GROUPS, "groups")?;
        let groups = bytes.chunks_exact(unit).map(|group| {
            let size = be32(group, 4);
            Group {
                offset: u64::from(be32(group, 0)) * 4,
                size: if is_rvz { size & !COMPRESSED } else { size },
                is_compressed: !is_rvz || size & COMPRESSED != 0,
                packed: be32(group, 8),
            }
        });
        Ok(groups.collect())
    }
}

impl Wia {
    /// Returns the `length` bytes of a group, which are at `position` of the
    /// disc.
    fn group(&self, number: u64, position: u64, length: usize) -> Result<Vec<u8>> {
        let group = usize::try_from(number).ok();
        let group = group.and_then(|number| self.groups.get(number));
        let &group = group.ok_or_else(|| block_error(number, 0, "is not in the table"))?;
        if group.size == 0 {
            return Ok(vec![0; length]);
        }
        let damaged = |problem: String| block_error(number, group.offset, problem);
        // Packed data has a number for every run of at least one byte.
        let most = 2 * u64::from(self.chunk) + SEED as u64;
        // Compressed data may be slightly larger than its contents.
        if u64::from(group.size) > 2 * most || u64::from(group.packed) > most {
            return Err(damaged(format!("has {} bytes", group.size)));
        }
        let stored = read_vec(&*self.source, group.offset, group.size.into(), "group")
            .map_err(|error| error.within(number))?;
        let wanted = match group.packed {
            0 => length,
            packed => packed as usize,
        };
        let compression = match group.is_compressed {
            true => self.compression,
            false => Compression::None,
        };
        let bytes = compression.decode(&stored, wanted).map_err(damaged)?;
        match group.packed {
            0 => Ok(bytes.into_owned()),
            _ => unpack(&bytes, position, length).map_err(damaged),
        }
    }
}

/// Unpacks a chunk of RVZ at `position` of the disc: literal bytes, and padding
/// that is generated from seeds.
fn unpack(mut packed: &[u8], position: u64, length: usize) -> Decoded<Vec<u8>> {
    const GENERATED: u32 = 1 << 31;
    let mut out = Vec::new();
    while let Some((head, rest)) = packed.split_first_chunk() {
        let head = u32::from_be_bytes(*head);
        let run = (head & !GENERATED) as usize;
        if run > length - out.len() {
            return Err(format!("unpacks to more than {length} bytes"));
        }
        packed = if head & GENERATED == 0 {
            let (literal, rest) = rest.split_at_checked(run).ok_or("is cut")?;
            out.extend_from_slice(literal);
            rest
        } else {
            let (seed, rest) = rest.split_first_chunk().ok_or("is cut in a seed")?;
            let skip = (position + out.len() as u64) % PERIOD;
            generate(seed, skip as usize, run, &mut out);
            rest
        };
    }
    if out.len() < length {
        return Err(format!(
            "unpacks to {} bytes, should be {length}",
            out.len()
        ));
    }
    Ok(out)
}

impl BlockImage for Wia {
    fn len(&self) -> u64 {
        self.len
    }

    fn block_size(&self) -> u32 {
        self.chunk
    }

    fn decode(&self, block: u64) -> Result<Vec<u8>> {
        let chunk = u64::from(self.chunk);
        let start = block * chunk;
        let length = block_length(self.len, self.chunk, block);
        let end = start + length as u64;
        let mut out = Vec::new();
        let first = self.areas.partition_point(|area| area.range.end <= start);
        for area in &self.areas[first..] {
            // Chunks of an area need not be aligned to blocks.
            let mut position = area.range.start.max(start);
            while position < area.range.end.min(end) {
                let index = (position - area.range.start) / chunk;
                if index >= area.groups.into() {
                    let problem = format!("is past the {} groups of its area", area.groups);
                    return Err(block_error(block, 0, problem));
                }
                let at = area.range.start + index * chunk;
                let whole = chunk.min(area.range.end - at) as usize;
                let group = self.group(u64::from(area.first_group) + index, at, whole)?;
                let last = end.min(at + whole as u64);
                if at == start && last == end && group.len() == length {
                    out = group;
                } else {
                    out.resize((position - start) as usize, 0);
                    out.extend_from_slice(&group[(position - at) as usize..(last - at) as usize]);
                }
                position = last;
            }
            if area.range.end >= end {
                break;
            }
        }
        out.resize(length, 0);
        if start == 0 {
            let length = length.min(DISC_HEAD);
            out[..length].copy_from_slice(&self.disc_head[..length]);
        }
        Ok(out)
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.areas.capacity() * size_of::<Area>()
            + self.groups.capacity() * size_of::<Group>()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u32 = 0x8000;

    fn literal(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
    }

    /// Returns an RVZ without compression: for each chunk its stored bytes, and
    /// its length if it is packed.
    fn rvz(len: u64, chunks: &[(&[u8], u32)]) -> Vec<u8> {
        let mut data = Vec::new();
        let mut groups = Vec::new();
        let base = HEADER as usize + FULL_DISC;
        for (chunk, packed) in chunks {
            let size = chunk.len() as u32;
            groups.extend([((base + data.len()) / 4) as u32, size, *packed]);
            data.extend_from_slice(chunk);
            data.resize(data.len().next_multiple_of(4), 0);
        }
        let areas = base + data.len();
        let area: Vec<u8> = [0x80, len - 0x80].map(u64::to_be_bytes).concat();
        data.extend(area);
        data.extend([0, chunks.len() as u32].map(u32::to_be_bytes).concat());
        let groups_at = base + data.len();
        for number in &groups {
            data.extend(number.to_be_bytes());
        }
        let mut disc = [1, 0, 5, CHUNK].map(u32::to_be_bytes).concat();
        disc.resize(FULL_DISC, 0);
        disc[0x10..0x90].fill(b'h');
        let table = |count: u32, at: usize, size: usize| {
            let at = (at as u64).to_be_bytes();
            [&count.to_be_bytes()[..], &at, &(size as u32).to_be_bytes()].concat()
        };
        disc[0xB4..0xC4].copy_from_slice(&table(1, areas, 24));
        let count = chunks.len() as u32;
        disc[0xC4..0xD4].copy_from_slice(&table(count, groups_at, groups.len() * 4));
        let mut header = MAGIC_RVZ.to_vec();
        header.extend([0, 0, FULL_DISC as u32].map(u32::to_be_bytes).concat());
        header.extend(Sha1::digest(&disc));
        header.extend([len, 0].map(u64::to_be_bytes).concat());
        header.extend(Sha1::digest(&header));
        [header, disc, data].concat()
    }

    #[test]
    fn chunks_are_zeros_or_bytes_and_the_disc_begins_with_its_header() {
        let bytes = [b'x'; CHUNK as usize];
        let image = rvz(
            2 * u64::from(CHUNK) + 3,
            &[(&bytes, 0), (&[], 0), (b"end", 0)],
        );
        let image = open(Arc::new(image), true).unwrap();
        let first = image.decode(0).unwrap();
        assert_eq!(first[..DISC_HEAD], [b'h'; DISC_HEAD]);
        assert_eq!(first[DISC_HEAD..], bytes[DISC_HEAD..]);
        assert_eq!(image.decode(1).unwrap(), vec![0; CHUNK as usize]);
        assert_eq!(image.decode(2).unwrap(), b"end");
        assert!(image.warnings().is_empty());
    }

    #[test]
    fn packed_padding_continues_at_the_generators_position() {
        let seed = [7; SEED];
        let generated = |length: u32| [&(1 << 31 | length).to_be_bytes()[..], &seed].concat();
        let packed = [literal(b"abcde"), generated(100), literal(b"z")].concat();
        let unpacked = unpack(&packed, 0x8000, 106).unwrap();
        let mut padding = Vec::new();
        generate(&seed, 5, 100, &mut padding);
        assert_eq!(unpacked, [b"abcde".as_slice(), &padding, b"z"].concat());
        assert!(unpack(&packed, 0, 105).is_err(), "too long");
        assert!(unpack(&packed, 0, 107).is_err(), "too short");
        assert!(unpack(&packed[..20], 0, 106).is_err(), "cut");
    }

    #[test]
    fn purged_zeros_are_restored() {
        let mut bytes = [3, 2].map(u32::to_be_bytes).concat();
        bytes.extend(b"ab");
        let sum = Sha1::digest(&bytes);
        let purged = [&bytes[..], &sum].concat();
        assert_eq!(restore_zeros(&purged, 6).unwrap(), b"\0\0\0ab\0");
        assert!(restore_zeros(&purged, 4).is_err());
        assert_eq!(restore_zeros(&[0; 30], 6).unwrap_err(), "SHA-1 is wrong");
        assert_eq!(restore_zeros(&[], 6).unwrap_err(), "is too short");
    }

    #[test]
    fn a_group_outside_the_file_is_damaged() {
        let good = rvz(CHUNK.into(), &[(&[1; CHUNK as usize], 0)]);
        let mut bytes = good.clone();
        let group = bytes.len() - 12;
        bytes[group..group + 4].fill(0xFF);
        let image = open(Arc::new(bytes), true).unwrap();
        let error = image.decode(0).unwrap_err().to_string();
        assert!(error.contains("past the end of the file"), "{error}");
        assert!(open(Arc::new(good[..good.len() - 1].to_vec()), true).is_err());
    }

    #[test]
    fn only_chunk_sizes_of_the_format_are_accepted() {
        assert!(check_chunk(0x8000, true).is_ok());
        assert!(check_chunk(0x8000, false).is_err());
        assert!(check_chunk(0x18000, true).is_err());
        assert!(check_chunk(6 << 20, false).is_ok());
        for chunk in [0, 0x4000, MAX_BLOCK + (2 << 20), u32::MAX] {
            assert!(check_chunk(chunk, true).is_err(), "{chunk}");
        }
    }
}
