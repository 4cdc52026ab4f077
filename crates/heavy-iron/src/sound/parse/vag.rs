//! VAG: ADPCM of the PlayStation 2, frames of 16 bytes with 28 samples.

use hpimount_record::{self as record, Code, Pad, Record};

use super::Loop;
use hpimount_assets::parse::spu::{self, Rounding};
pub(super) use hpimount_assets::parse::spu::{BLOCK as FRAME, SAMPLES};
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};

/// Length of a header in bytes.
pub(super) const HEADER: usize = 0x30;

/// Flags of a frame.
const END: u8 = 1;
const REPEAT: u8 = 2;
const LOOP_START: u8 = 4;
const STOP: u8 = 7;

/// Plausible rates, which reveal the byte order of a header.
const LIKELY_RATES: std::ops::RangeInclusive<u32> = 4000..=48_000;

/// The header of a VAG file in the table, with the asset's id in a word that is unused
/// in files.
#[derive(Debug, Default, Clone, PartialEq, Eq, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct VagHeader {
    /// `VAGp`, in the order of the header.
    pub magic: Code,
    /// Version of the format.
    pub version: u32,
    /// Id of the sound, always little-endian.
    pub asset: [u8; 4],
    /// Length of the data in bytes.
    pub size: u32,
    /// Samples per second.
    pub rate: u32,
    /// Not used.
    pub reserved: Pad<12>,
    /// Name in the header.
    pub name: [u8; 16],
}

impl VagHeader {
    /// Reads an entry and the id of its sound. The table is little-endian, but the
    /// other numbers of an entry have the byte order that makes the rate plausible.
    pub(super) fn read(entry: &[u8], offset: u64) -> Result<(Self, u32)> {
        let in_order = |endian| record::read(&mut Cursor::new(entry, offset, endian));
        let little: Self = in_order(Endian::Little)?;
        let big: Self = in_order(Endian::Big)?;
        let is_big = !LIKELY_RATES.contains(&little.rate) && LIKELY_RATES.contains(&big.rate);
        let header = if is_big { big } else { little };
        let asset = u32::from_le_bytes(header.asset);
        Ok((header, asset))
    }

    /// Returns the header for a file with `length` bytes of data, big-endian.
    pub(super) fn file_header(&self, length: usize) -> Vec<u8> {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let words = [self.version, 0, length, self.rate].map(u32::to_be_bytes);
        [&b"VAGp"[..], &words.concat(), &[0; 12], &self.name].concat()
    }
}

/// Returns the number of samples in the data, and their loop.
pub(super) fn extent(data: &[u8], warnings: &mut Warnings) -> (u32, Option<Loop>) {
    let (mut samples, mut start, mut repeats) = (0_u32, None, false);
    let (frames, rest) = data.as_chunks::<FRAME>();
    let mut odd = 0;
    for [head, flags, ..] in frames {
        if *flags == STOP {
            break;
        }
        if flags & LOOP_START != 0 && start.is_none() {
            start = Some(samples);
        }
        odd += usize::from(head >> 4 > 4 || head & 15 > 12);
        samples = samples.saturating_add(SAMPLES as u32);
        if flags & END != 0 {
            repeats = flags & REPEAT != 0;
            break;
        }
    }
    if odd > 0 {
        warnings.push(format!("{odd} frames have an unknown filter or shift"));
    }
    if !rest.is_empty() {
        let (count, at) = (rest.len(), data.len() - rest.len());
        warnings.push(format!(
            "sound at {at:#x}: ends with {count} bytes of a frame of 16"
        ));
    }
    let loops = start.filter(|_| repeats).map(|start| Loop {
        start,
        end: samples.saturating_sub(1),
        is_clamped: false,
    });
    (samples, loops)
}

/// Decodes samples.
pub(super) fn decode(data: &[u8], out: &mut [i16]) {
    spu::decode(data, Rounding::Sum, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(words: [[u8; 4]; 8]) -> Vec<u8> {
        [&words.concat()[..], b"name\0\0\0\0\0\0\0\0\0\0\0\0"].concat()
    }

    #[test]
    fn the_rate_determines_the_byte_order_of_an_entry() {
        let id = 0x1234_u32.to_le_bytes();
        for order in [u32::to_le_bytes, u32::to_be_bytes] {
            let number = |value: u32| order(value);
            let bytes = entry([
                *b"VAGp",
                number(4),
                id,
                number(640),
                number(22_050),
                [0; 4],
                [0; 4],
                [0; 4],
            ]);
            let (header, asset) = VagHeader::read(&bytes, 0).unwrap();
            assert_eq!((header.version, header.size, header.rate), (4, 640, 22_050));
            assert_eq!(asset, 0x1234);
            let file = header.file_header(640);
            assert_eq!(file.len(), HEADER);
            assert_eq!(file[12..20], [0, 0, 2, 128, 0, 0, 0x56, 0x22]);
        }
    }

    #[test]
    fn a_sound_ends_with_its_last_frame_or_before_a_stop() {
        let frame = |flags: u8| [&[0, flags][..], &[0x11; 14]].concat();
        let extent = |flags: &[u8]| {
            let data: Vec<u8> = flags.iter().flat_map(|&flags| frame(flags)).collect();
            let (samples, loops) = extent(&data, &mut Warnings::default());
            (samples, loops.map(|part| (part.start, part.end)))
        };
        assert_eq!(extent(&[0, 1, 0]), (56, None));
        assert_eq!(extent(&[0, 7]), (28, None));
        assert_eq!(extent(&[7, 0]), (0, None));
        assert_eq!(extent(&[2, 6, 2, 3, 7]), (112, Some((28, 111))));
        assert_eq!(extent(&[6, 2]), (56, None));
    }

    #[test]
    fn low_nibbles_come_first() {
        let mut out = [0; 3];
        decode(&[&[0x0C, 0, 0x21, 0x0F][..], &[0; 12]].concat(), &mut out);
        assert_eq!(out, [1, 2, -1]);
    }
}
