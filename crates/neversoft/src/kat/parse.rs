//! The sounds of a bank.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Record, Text};

use super::aica;
use hpimount_assets::model::wav::Wav;
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["kat"];

/// Maximum sample rate of a playable sound.
const MAX_RATE: u32 = 192_000;

/// Maximum ratio between the decoded sounds and the file, because entries may share
/// bytes.
const MAX_GROWTH: usize = 8;

/// Minimum limit for the decoded sounds in bytes.
const MIN_DECODED: usize = 1 << 16;

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Kat {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Warnings.
    pub warnings: Warnings,
    #[get_size(ignore)]
    bytes: Bytes,
}

/// A sound as it is stored.
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct KatEntry {
    /// Number of channels; every sound has one.
    pub channels: u32,
    /// Offset of the samples.
    pub offset: u32,
    /// Length of the samples in bytes.
    pub size: u32,
    /// Samples per second.
    pub rate: u32,
    /// Nonzero if the whole sound loops.
    #[record(name = "loop")]
    pub repeats: u32,
    /// Bits of a sample: 4, 8, or 16; 0 means 16.
    pub bits: u32,
    /// Number of the bank times 1000, plus the number of the sound.
    pub id: u32,
    /// Name, mostly empty.
    pub name: Text<16>,
}

/// A sound.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Entry {
    /// The sound as it is stored.
    pub stored: KatEntry,
    /// Number of samples; 0 for an unplayable sound.
    pub samples: u32,
    /// The problem, if it cannot be played.
    pub problem: Option<String>,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) if the
/// entries do not fit.
pub fn parse(bytes: &Bytes) -> Result<Kat> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let count = cursor.u32("entries")?;
    let count = cursor.check_count(count.into(), KatEntry::SIZE, "entries")?;
    let mut kat = Kat {
        entries: Vec::with_capacity(count),
        warnings: Warnings::default(),
        bytes: bytes.clone(),
    };
    let mut left = MAX_GROWTH * bytes.len() + MIN_DECODED;
    for index in 0..count {
        let mut entry = Entry {
            stored: record::read(&mut cursor)?,
            ..Entry::default()
        };
        entry.measure(bytes.len(), &mut left);
        if let Some(problem) = &entry.problem {
            kat.warnings.push(format!("sound {index}: {problem}"));
        }
        kat.entries.push(entry);
    }
    Ok(kat)
}

impl Entry {
    /// Counts the samples of a playable sound. `left` is the remaining number of
    /// decoded bytes for all sounds.
    fn measure(&mut self, file_size: usize, left: &mut usize) {
        if self.stored.size == 0 || self.stored.rate == 0 {
            return;
        }
        let size = self.stored.size as usize;
        let there = file_size
            .saturating_sub(self.stored.offset as usize)
            .min(size);
        if there < size {
            self.problem = Some(format!("has {there} of {size} bytes"));
        }
        let samples = match self.stored.bits {
            4 => 2 * there,
            8 => there,
            0 | 16 => there / 2,
            bits => {
                self.problem = Some(format!("has samples of {bits} bits, which is unknown"));
                0
            }
        };
        if self.stored.rate > MAX_RATE {
            self.problem = Some(format!("has {} samples per second", self.stored.rate));
        } else if 2 * samples > *left {
            self.problem = Some("shares its bytes with too many others".to_owned());
        } else {
            *left -= 2 * samples;
            self.samples = samples as u32;
        }
    }

    /// Returns the properties of the WAV file, or `None` for an unplayable sound.
    pub fn wav(&self) -> Option<Wav> {
        let last = self.samples.checked_sub(1)?;
        Some(Wav {
            channels: 1,
            rate: self.stored.rate,
            samples: self.samples,
            loops: (self.stored.repeats != 0).then_some((0, last)),
        })
    }
}

impl Kat {
    /// Decodes the samples of an entry.
    pub fn pcm(&self, entry: &Entry) -> Vec<i16> {
        let data = self
            .bytes
            .get(entry.stored.offset as usize..)
            .unwrap_or_default();
        let data = &data[..data.len().min(entry.stored.size as usize)];
        match entry.stored.bits {
            4 => aica::decode(data),
            8 => data
                .iter()
                .map(|&byte| i16::from(byte as i8) << 8)
                .collect(),
            _ => {
                let samples = data.as_chunks().0.iter();
                samples.map(|&sample| i16::from_le_bytes(sample)).collect()
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a bank of sounds with these bits at 11,025 Hz, each of the bytes 1,
    /// 0x80, 2, 0x7F. The second one loops.
    pub(crate) fn bank(bits: &[u32]) -> Vec<u8> {
        let data = 4 + KatEntry::SIZE * bits.len();
        let mut file = (bits.len() as u32).to_le_bytes().to_vec();
        for (index, &bits) in bits.iter().enumerate() {
            let words = [1, data as u32, 4, 11_025, u32::from(index == 1), bits, 1000];
            file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            file.extend([0; 16]);
        }
        file.extend([1, 0x80, 2, 0x7F]);
        file
    }

    #[test]
    fn sounds_have_4_8_or_16_bits() {
        let kat = parse(&bank(&[16, 8, 4, 0]).into()).unwrap();
        let pcm: Vec<_> = kat.entries.iter().map(|entry| kat.pcm(entry)).collect();
        assert_eq!(pcm[0], [-0x7FFF, 0x7F02]);
        assert_eq!(pcm[1], [0x100, -0x8000, 0x200, 0x7F00]);
        assert_eq!(pcm[2].len(), 8);
        assert_eq!(pcm[3], pcm[0]);
        let loops: Vec<_> = kat
            .entries
            .iter()
            .map(|one| one.wav().unwrap().loops)
            .collect();
        assert_eq!(loops, [None, Some((0, 3)), None, None]);
        assert!(kat.warnings.is_empty());
    }

    #[test]
    fn sounds_that_cannot_be_played_are_warnings() {
        let mut file = bank(&[24, 16]);
        file.truncate(file.len() - 2);
        let kat = parse(&file.into()).unwrap();
        assert_eq!(kat.entries[0].wav(), None);
        assert_eq!(kat.pcm(&kat.entries[1]), [-0x7FFF]);
        assert_eq!(kat.warnings.len(), 2);
        let error = parse(&Bytes::from_static(&[0, 0, 0, 16, 0, 0])).unwrap_err();
        assert!(error.to_string().starts_with("entries at 0x4: "), "{error}");
    }

    #[test]
    fn sounds_that_share_bytes_are_limited() {
        let mut file = bank(&vec![4; 2000]);
        file.resize(file.len() + 1000, 0);
        for entry in file[4..4 + 2000 * KatEntry::SIZE].chunks_mut(KatEntry::SIZE) {
            entry[8..12].copy_from_slice(&1000_u32.to_le_bytes());
        }
        let kat = parse(&file.clone().into()).unwrap();
        let samples = kat.entries.iter().map(|entry| entry.samples as usize);
        assert!(2 * samples.sum::<usize>() <= MAX_GROWTH * file.len() + MIN_DECODED);
        assert!(kat.entries[1999].problem.is_some());
    }
}
