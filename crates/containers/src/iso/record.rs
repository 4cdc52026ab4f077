//! Directory records.
//!
//! Numbers are stored in both byte orders; the little-endian ones are used.

use crate::disc::SECTOR;
use crate::time;

/// Length of a record before its name.
pub(super) const RECORD: usize = 33;

pub(super) const DIRECTORY: u8 = 2;
pub(super) const MORE_EXTENTS: u8 = 0x80;

/// Attributes of CD-ROM XA: all sectors are of Form 2, or some of them.
const XA_FORM_2: u16 = 0x3000;

/// Attribute of CD-ROM XA: the extent is an audio track.
const XA_AUDIO: u16 = 0x4000;

/// A range of blocks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) block: u32,
    /// Length in bytes.
    pub(super) size: u32,
}

impl Extent {
    /// Returns the blocks, of 2048 bytes.
    pub(super) fn blocks(self) -> std::ops::Range<u64> {
        let start = u64::from(self.block);
        start..start + u64::from(self.size).div_ceil(SECTOR)
    }
}

/// A directory record.
pub(super) struct Record<'a> {
    /// Number of the first logical block, without extended attributes.
    pub(super) block: u64,
    pub(super) flags: u8,
    pub(super) is_interleaved: bool,
    /// Its modification time, see [`date`].
    pub(super) date: &'a [u8],
    pub(super) name: &'a [u8],
    /// Attributes of CD-ROM XA, if any.
    xa: Option<u16>,
    pub(super) system_use: &'a [u8],
}

pub(super) fn le32(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    le32(bytes, at).swap_bytes()
}

impl<'a> Record<'a> {
    /// Parses the record in `bytes`, including its length byte.
    ///
    /// # Errors
    /// Returns a message if the name does not fit.
    pub(super) fn parse(
        bytes: &'a [u8],
        odd: &mut dyn FnMut(String),
    ) -> std::result::Result<Self, String> {
        let length = usize::from(*bytes.get(32).ok_or("is too short")?);
        if id_of(bytes).is_empty() {
            return Err(format!("has a name of {length} bytes"));
        }
        for (at, field) in [(2, "extent"), (10, "length")] {
            let (little, big) = (le32(bytes, at), be32(bytes, at + 4));
            if little != big {
                odd(format!(
                    "its {field} is {little} little-endian and {big} big-endian"
                ));
            }
        }
        Ok(Self::of(bytes))
    }

    /// Returns the record in `bytes`, which are longer than [`RECORD`].
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let system_use = area_of(bytes);
        Self {
            block: u64::from(le32(bytes, 2)) + u64::from(bytes[1]),
            flags: bytes[25],
            is_interleaved: bytes[26] != 0 || bytes[27] != 0,
            date: &bytes[18..25],
            name: id_of(bytes),
            xa: xa_attributes(system_use),
            system_use,
        }
    }

    /// Returns whether it is the entry for its own directory or the parent.
    pub(super) fn is_dot(&self) -> bool {
        matches!(self.name, [0 | 1])
    }

    /// Returns whether it is of a file with sectors of Form 2.
    pub(super) fn is_form_2(&self) -> bool {
        self.xa.is_some_and(|xa| xa & XA_FORM_2 != 0)
    }

    /// Returns whether its extent is an audio track.
    pub(super) fn is_audio(&self) -> bool {
        self.xa.is_some_and(|xa| xa & XA_AUDIO != 0)
    }
}

/// Returns the attributes of CD-ROM XA in a system use area.
fn xa_attributes(system_use: &[u8]) -> Option<u16> {
    let is_xa = system_use.len() >= 14 && system_use[6..8] == *b"XA";
    is_xa.then(|| u16::from_be_bytes([system_use[4], system_use[5]]))
}

/// Returns whether a record is of a file in another track than that with the file
/// system, which has `blocks` blocks: an audio track, or sectors of Form 2 behind
/// these blocks.
pub(super) fn is_in_other_track(record: &[u8], blocks: u64) -> bool {
    let is_behind = u64::from(le32(record, 2)) >= blocks;
    xa_attributes(area_of(record))
        .is_some_and(|xa| xa & XA_AUDIO != 0 || (xa & XA_FORM_2 != 0 && is_behind))
}

/// Returns the records of a sector with their offsets in it, up to a length of 0. One
/// that cannot be a record is the last one; only its length is returned.
pub(super) fn records(
    sector: &[u8],
) -> impl Iterator<Item = (usize, std::result::Result<&[u8], usize>)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let at = next;
        let length = usize::from(*sector.get(at)?);
        let record = sector.get(at..at + length).filter(|_| length > RECORD);
        next = record.map_or(sector.len(), |_| at + length);
        (length > 0).then(|| (at, record.ok_or(length)))
    })
}

/// Returns the extent of a record, without extended attributes.
pub(super) fn extent_of(record: &[u8]) -> Extent {
    Extent {
        block: le32(record, 2).saturating_add(record[1].into()),
        size: le32(record, 10),
    }
}

/// Returns the identifier in a record.
pub(super) fn id_of(record: &[u8]) -> &[u8] {
    let length = record.get(RECORD - 1).map_or(0, |&length| length.into());
    record.get(RECORD..RECORD + length).unwrap_or_default()
}

/// Returns the offset of the system use area in a record.
pub(super) fn start_of(record: &[u8]) -> usize {
    let name = record.get(RECORD - 1).map_or(0, |&name| usize::from(name));
    // The name is padded to an even length of the record.
    RECORD + name + (1 - name % 2)
}

/// Returns the system use area of a record.
pub(super) fn area_of(record: &[u8]) -> &[u8] {
    record.get(start_of(record)..).unwrap_or_default()
}

/// Returns the seconds since 1970 UTC of a date: years since 1900, month, day,
/// hour, minute, second, and the offset from UTC in quarters of an hour. `None`
/// if it is not valid.
pub(super) fn date(date: &[u8]) -> Option<i64> {
    let &[year, month, day, hour, minute, second, zone] = date else {
        return None;
    };
    let date = [1900 + u16::from(year), month.into(), day.into()];
    let local = time::seconds(date, [hour, minute, second])?;
    Some(local - i64::from(zone as i8) * 15 * 60)
}

/// Returns a key for the order of identifiers in a directory of the primary tree
/// (ECMA-119 9.3): name, extension, version descending.
pub(super) fn order(id: &[u8]) -> impl Ord + use<> {
    let (base, version) = split(id, b';');
    let (name, extension) = split(base, b'.');
    let padded = |part: &[u8]| {
        let mut part = part.to_vec();
        part.resize(part.len().max(40), b' ');
        part
    };
    let version = str::from_utf8(version)
        .ok()
        .and_then(|text| text.parse::<u32>().ok());
    (
        padded(name),
        padded(extension),
        std::cmp::Reverse(version.unwrap_or(0)),
    )
}

fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == at) {
        Some(found) => (&bytes[..found], &bytes[found + 1..]),
        None => (bytes, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_1970_utc() {
        assert_eq!(date(&[70, 1, 1, 0, 0, 0, 0]), Some(0));
        assert_eq!(date(&[99, 9, 29, 12, 0, 0, 0]), Some(938_606_400));
        // Local time is two hours ahead of UTC.
        assert_eq!(date(&[100, 2, 29, 2, 0, 1, 8]), Some(951_782_401));
        assert_eq!(date(&[69, 12, 31, 23, 59, 59, 0]), Some(-1));
        assert_eq!(date(&[0; 7]), None);
    }

    #[test]
    fn the_records_of_a_sector_end_at_a_length_of_0_or_at_one_that_does_not_fit() {
        let record = |length: u8| [vec![length], vec![0; usize::from(length) - 1]].concat();
        let of = |sector: &[u8]| -> Vec<_> {
            let found = records(sector).map(|(at, record)| (at, record.map(<[u8]>::len)));
            found.collect()
        };
        let two = [record(40), record(34)].concat();
        assert_eq!(of(&two), [(0, Ok(40)), (40, Ok(34))]);
        assert_eq!(of(&[two.clone(), vec![0, 40]].concat()), of(&two));
        assert_eq!(of(&[record(33), record(40)].concat()), [(0, Err(33))]);
        assert_eq!(of(&two[..73]), [(0, Ok(40)), (40, Err(34))]);
    }

    #[test]
    fn a_record_has_a_name_and_xa_attributes() {
        let mut bytes = vec![0; RECORD];
        bytes[2] = 7;
        bytes[9] = 7;
        bytes[32] = 4;
        bytes.extend(b"A.;1\0");
        bytes.extend([0, 0, 0, 0, 0x25, 0x55, b'X', b'A', 0, 0, 0, 0, 0, 0]);
        let mut odd = Vec::new();
        let record = Record::parse(&bytes, &mut |text| odd.push(text)).unwrap();
        assert_eq!((record.block, record.xa), (7, Some(0x2555)));
        assert!(odd.is_empty(), "{odd:?}");
        bytes[32] = 40;
        assert!(Record::parse(&bytes, &mut |_| {}).is_err());
        bytes[32] = 0;
        assert!(Record::parse(&bytes, &mut |_| {}).is_err());
        assert!(Record::parse(&bytes[..20], &mut |_| {}).is_err());
    }
}
