//! The sectors of a file: 2352 bytes with sync and address, 2336 from the
//! subheader on, or 2048 of data alone.

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_containers::io::{Error, Result};

/// Length of the header of a file copied by Windows, before its sectors.
const RIFF_HEADER: usize = 44;

/// The first bytes of a whole sector.
const SYNC: [u8; 12] = [0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0];

/// Bytes of sync and address.
const ADDRESS: usize = 16;

/// Size of a sector without sync and address, in bytes.
const SECTOR: usize = 2336;

/// Maximum number of subheaders to examine.
const LOOKED_AT: usize = 64;

/// Bytes of both copies of the subheader.
const SUBHEADER: usize = 8;

/// Bytes of data that every sector has.
pub const DATA: usize = 2048;

/// Sector kinds: end of record, video, sound, data.
const KINDS: u8 = 0x0E;

/// The kind of a sector with sound.
const AUDIO: u8 = 4;

/// The kinds that exclude sound.
const NO_AUDIO: u8 = 0x0A;

/// Maximum number of a channel.
const MAX_CHANNEL: u8 = 31;

/// The magic of a video sector's data.
pub const VIDEO: [u8; 4] = [0x60, 1, 1, 0x80];

/// The sectors of a file.
#[derive(Debug, Clone, GetSize)]
pub struct Sectors {
    /// Bytes of a sector.
    pub size: usize,
    /// Offset of the subheader in a sector; `None` for sectors of 2048 bytes.
    subheader: Option<usize>,
    /// Offset of the first sector.
    start: usize,
    #[get_size(ignore)]
    bytes: Bytes,
}

/// The subheader of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subheader {
    /// Number of the file.
    pub file: u8,
    /// Number of the channel.
    pub channel: u8,
    /// Sector kind: 1 end of record, 2 video, 4 sound, 8 data, 0x20 form 2, 0x40 real
    /// time, 0x80 end of file.
    pub submode: u8,
    /// Coding of the sound.
    pub coding: u8,
}

impl Subheader {
    /// Returns whether the sector has sound.
    pub fn is_sound(self) -> bool {
        self.submode & AUDIO != 0 && self.submode & NO_AUDIO == 0
    }

    /// Returns whether the sector is marked as sound, possibly among other kinds.
    pub fn may_be_sound(self) -> bool {
        self.submode & AUDIO != 0
    }
}

impl Sectors {
    /// Finds the sectors of a file.
    ///
    /// # Errors Returns [`Error::Damaged`] for a file without sectors.
    pub fn find(bytes: &Bytes) -> Result<Self> {
        let is_riff = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"CDXA");
        let start = if is_riff { RIFF_HEADER } else { 0 };
        let rest = bytes.get(start..).unwrap_or_default();
        let (size, subheader) = if rest.starts_with(&SYNC) && rest.len() >= ADDRESS + SECTOR {
            (ADDRESS + SECTOR, Some(ADDRESS))
        } else if has_subheaders(rest) {
            (SECTOR, Some(0))
        } else if rest.len() >= DATA && rest.starts_with(&VIDEO) {
            (DATA, None)
        } else {
            let problem = "has no sectors of a CD; copies of 2048 bytes of each have no sound";
            return Err(Error::damaged(start as u64, "file", problem));
        };
        Ok(Self {
            size,
            subheader,
            start,
            bytes: bytes.clone(),
        })
    }

    /// Returns the number of sectors.
    pub fn count(&self) -> usize {
        (self.bytes.len() - self.start) / self.size
    }

    /// Returns the number of bytes after the last sector.
    pub fn rest(&self) -> usize {
        (self.bytes.len() - self.start) % self.size
    }

    /// Returns the offset of the first sector.
    pub fn start(&self) -> u64 {
        self.start as u64
    }

    /// Returns the subheader of a sector; `None` if there is no subheader or no such
    /// sector.
    pub fn subheader(&self, index: usize) -> Option<Subheader> {
        let bytes = self.sector(index)?.get(self.subheader?..)?;
        let &[file, channel, submode, coding] = bytes.first_chunk()?;
        Some(Subheader {
            file,
            channel,
            submode,
            coding,
        })
    }

    /// Returns the data of a sector, at least [`DATA`] bytes; nothing for a missing
    /// sector.
    pub fn data(&self, index: usize) -> &[u8] {
        let skipped = self.subheader.map_or(0, |offset| offset + SUBHEADER);
        let sector = self.sector(index).unwrap_or_default();
        sector.get(skipped..).unwrap_or_default()
    }

    fn sector(&self, index: usize) -> Option<&[u8]> {
        let start = self.start + index.checked_mul(self.size)?;
        self.bytes.get(start..start + self.size)
    }
}

/// Returns whether sectors begin with both copies of a subheader. In a copy with 2048
/// bytes of each sector, the parameters of the first group look like a subheader, but
/// the bytes in place of the next subheader do not.
fn has_subheaders(bytes: &[u8]) -> bool {
    let Some(&[_, channel, submode, _]) = bytes.first_chunk() else {
        return false;
    };
    let mut sectors = bytes.chunks_exact(SECTOR).take(LOOKED_AT);
    submode & KINDS != 0
        && channel <= MAX_CHANNEL
        && sectors.len() > 0
        && sectors.all(|sector| sector[..4] == sector[4..SUBHEADER])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a sector of 2336 bytes with this subheader and data.
    pub(crate) fn sector(subheader: [u8; 4], data: &[u8]) -> Vec<u8> {
        let mut sector = [subheader, subheader].concat();
        sector.extend(data);
        sector.resize(2336, 0);
        sector
    }

    #[test]
    fn sectors_of_all_sizes_have_the_same_data() {
        let plain = sector([1, 2, 0x48, 0], &VIDEO);
        let whole = [&SYNC[..], &[0, 2, 0, 2], &plain].concat();
        let riff = [b"RIFF\0\0\0\0CDXA", &[0; 32][..], &whole].concat();
        for (bytes, size) in [(&plain, 2336), (&whole, 2352), (&riff, 2352)] {
            let sectors = Sectors::find(&[&bytes[..], &[9; 5]].concat().into()).unwrap();
            assert_eq!(
                (sectors.size, sectors.count(), sectors.rest()),
                (size, 1, 5)
            );
            let subheader = sectors.subheader(0).unwrap();
            assert_eq!((subheader.file, subheader.channel), (1, 2));
            assert!(!subheader.is_sound());
            assert!(sectors.data(0).starts_with(&VIDEO));
            assert_eq!(sectors.data(0).len(), 2328);
            assert!(sectors.subheader(1).is_none() && sectors.data(1).is_empty());
        }
        let data = Sectors::find(&plain[8..2056].to_vec().into()).unwrap();
        assert_eq!((data.size, data.subheader(0)), (2048, None));
    }

    #[test]
    fn parameters_of_sound_are_no_subheader() {
        let mut group = [0x55; 128];
        group[..16].copy_from_slice(&[4; 16]);
        group[36] = 0x56;
        let copy = group.repeat(18 * 3);
        let first = Sectors::find(&copy[..SECTOR].to_vec().into());
        assert!(first.is_ok(), "the first sector alone does not tell");
        let error = Sectors::find(&copy.into()).unwrap_err().to_string();
        assert!(error.contains("copies of 2048 bytes"), "{error}");
        let null = sector([1, 0, 0x20, 0], &[]);
        let gaps = [sector([1, 0, 0x64, 0], &[1]), null].concat();
        assert!(Sectors::find(&gaps.into()).is_ok());
    }

    #[test]
    fn other_files_have_no_sectors() {
        for bytes in [vec![0; 5000], vec![], sector([1, 32, 4, 0], &[])] {
            assert!(Sectors::find(&bytes.into()).is_err());
        }
    }
}
