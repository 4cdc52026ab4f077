//! DSP-ADPCM of the GameCube: frames of 8 bytes with 14 samples.

use hpimount_record::{self as record, FixedSize, Pad, Record, Writer};

use super::{Loop, clamp};
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};

/// Bytes and samples of a frame.
pub(in super::super) const FRAME: usize = 8;
pub(in super::super) const SAMPLES: usize = 14;

/// The header of a DSP file, as stored in the table; always big-endian.
#[derive(Debug, Default, Clone, PartialEq, Eq, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct DspHeader {
    /// Number of samples.
    pub samples: u32,
    /// Number of nibbles, including the first bytes of the frames.
    pub nibbles: u32,
    /// Samples per second.
    pub rate: u32,
    /// Nonzero if the sound is a loop.
    pub loops: u16,
    /// 0 for ADPCM.
    pub format: u16,
    /// Nibble where the loop starts.
    pub loop_start: u32,
    /// Last nibble of the loop; originals have one far past the data.
    pub loop_end: u32,
    /// Nibble where players start.
    pub current: u32,
    /// Eight pairs of coefficients, in 1/2048.
    pub coefficients: [i16; 16],
    /// Gain.
    pub gain: u16,
    /// First byte of the data, according to the header.
    pub first: u16,
    /// The two samples before the first.
    pub history: [i16; 2],
    /// The first byte and the two samples before the loop.
    pub loop_state: [u16; 3],
    /// Not used; original files do not clear it.
    pub unused: Pad<22>,
}

impl DspHeader {
    /// Returns whether the sound is a loop.
    pub fn is_loop(&self) -> bool {
        self.loops != 0
    }

    /// Creates the header of a sound with this sample rate and loop from the stored
    /// coefficients and first samples: the bytes from the coefficients to the history
    /// of the loop.
    pub(super) fn of_parts(
        samples: u32,
        rate: u32,
        loops: Option<[u32; 2]>,
        stored: &[u8],
    ) -> Result<Self> {
        let nibbles = samples.wrapping_add(samples.div_ceil(SAMPLES as u32).wrapping_mul(2));
        let flags = u32::from(loops.is_some()) << 16;
        let [start, end] = loops.unwrap_or_default().map(nibble_of);
        let numbers = [samples, nibbles, rate, flags, start, end, nibble_of(0)];
        let mut header: Vec<u8> = numbers.into_iter().flat_map(u32::to_be_bytes).collect();
        header.extend(stored);
        header.resize(Self::SIZE, 0);
        record::read(&mut Cursor::new(&header, 0, Endian::Big))
    }

    /// Returns the loop of a sound with `samples` samples.
    pub(super) fn loop_in(&self, samples: u32, warnings: &mut Warnings) -> Option<Loop> {
        if !self.is_loop() || samples == 0 {
            return None;
        }
        let last = samples - 1;
        let start = sample_at(self.loop_start);
        let end = sample_at(self.loop_end);
        let is_clamped = end > u64::from(last);
        let end = end.min(last.into()) as u32;
        if start > u64::from(end) {
            warnings.push(format!(
                "loop start at 0x10 of the header: is sample {start}, the loop ends with {end}"
            ));
            return None;
        }
        Some(Loop {
            start: start as u32,
            end,
            is_clamped,
        })
    }

    /// Returns the header of a `.dsp` file with this data. Corrects fields that players
    /// reject: the loop end is clamped to the data, the first byte is taken from the
    /// data, and unused bytes are zeroed.
    pub(super) fn file_header(&self, data: &[u8]) -> Vec<u8> {
        let mut header = self.clone();
        if self.is_loop() {
            header.loop_end = self.loop_end.min(self.nibbles.saturating_sub(1));
        }
        if let Some(&first) = data.first() {
            header.first = first.into();
        }
        header.unused = Pad::default();
        let mut writer = Writer::new(Endian::Big);
        record::write(&header, &mut writer);
        writer.bytes
    }
}

/// Returns the sample at a nibble. Nibbles in the first byte of a frame map to the
/// frame's first sample.
pub(in super::super) fn sample_at(nibble: u32) -> u64 {
    u64::from(nibble >> 4) * SAMPLES as u64 + u64::from((nibble & 15).saturating_sub(2))
}

/// Returns the nibble of a sample.
pub(in super::super) fn nibble_of(sample: u32) -> u32 {
    let frames = sample / SAMPLES as u32;
    frames
        .wrapping_mul(16)
        .wrapping_add(sample % SAMPLES as u32 + 2)
}

/// Returns the number of samples in this number of bytes.
pub(super) fn held(bytes: usize) -> usize {
    let rest = (bytes % FRAME).saturating_sub(1) * 2;
    bytes / FRAME * SAMPLES + rest
}

/// Returns the number of samples in the header, limited by the data.
pub(super) fn samples(data: &[u8], header: &DspHeader, warnings: &mut Warnings) -> u32 {
    let held = u32::try_from(held(data.len())).unwrap_or(u32::MAX);
    if held < header.samples {
        let (declared, length) = (header.samples, data.len());
        warnings.push(format!(
            "sample count at 0x0 of the header: is {declared}, {length} bytes hold {held}"
        ));
    }
    let nibbles = u64::from(header.samples) + 2 * u64::from(header.samples).div_ceil(14);
    if nibbles != u64::from(header.nibbles) {
        let (samples, declared) = (header.samples, header.nibbles);
        warnings.push(format!(
            "nibble count at 0x4 of the header: is {declared}, {samples} samples take {nibbles}"
        ));
    }
    let frames = data
        .chunks(FRAME)
        .take(header.samples.min(held) as usize / SAMPLES + 1);
    let odd = frames.filter(|frame| frame[0] >= 0x80).count();
    if odd > 0 {
        warnings.push(format!("{odd} frames have a predictor above 7"));
    }
    header.samples.min(held)
}

/// Decodes samples.
pub(super) fn decode(data: &[u8], header: &DspHeader, out: &mut [i16]) {
    let [mut h1, mut h2] = header.history.map(i32::from);
    for (samples, frame) in out.chunks_mut(SAMPLES).zip(data.chunks(FRAME)) {
        let (head, nibbles) = (frame[0], &frame[1..]);
        let pair = usize::from(head >> 4 & 7);
        let c1 = i64::from(header.coefficients[2 * pair]);
        let c2 = i64::from(header.coefficients[2 * pair + 1]);
        let scale = head & 15;
        let mut step = |nibble: u8| {
            let nibble = i64::from((nibble << 4) as i8 >> 4);
            let predicted = c1 * i64::from(h1) + c2 * i64::from(h2);
            let sample = sample_of(nibble, scale, predicted);
            (h2, h1) = (h1, sample.into());
            sample
        };
        for (pair, byte) in samples.chunks_mut(2).zip(nibbles) {
            for (sample, nibble) in pair.iter_mut().zip([byte >> 4, byte & 15]) {
                *sample = step(nibble);
            }
        }
    }
}

/// Decodes a signed nibble. `predicted` is the sum of the products of the coefficients
/// and the previous samples.
pub(in super::super) fn sample_of(nibble: i64, scale: u8, predicted: i64) -> i16 {
    clamp_wide((((nibble << scale) << 11) + 1024 + predicted) >> 11)
}

/// Clamps a sample to 16 bits.
fn clamp_wide(value: i64) -> i16 {
    clamp(value.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(samples: u32, loop_end: u32) -> DspHeader {
        DspHeader {
            samples,
            nibbles: samples + 2 * samples.div_ceil(14),
            rate: 22_050,
            loops: 1,
            loop_start: 2,
            loop_end,
            coefficients: [2048, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            unused: Pad([0xAA; 22]),
            ..DspHeader::default()
        }
    }

    #[test]
    fn a_loop_past_the_data_is_clamped_and_corrected_in_a_file() {
        let header = header(28, 1_142_857);
        let found = header.loop_in(28, &mut Warnings::default());
        let expected = Loop {
            start: 0,
            end: 27,
            is_clamped: true,
        };
        assert_eq!(found, Some(expected));
        let file = header.file_header(&[0x35]);
        assert_eq!(file[0x14..0x18], [0, 0, 0, 31]);
        assert_eq!(file[0x3E..0x40], [0, 0x35]);
        assert_eq!(file[0x4A..], [0; 22]);
        let written: DspHeader = record::read(&mut Cursor::new(&file, 0, Endian::Big)).unwrap();
        let corrected = DspHeader {
            loop_end: 31,
            first: 0x35,
            unused: Pad::default(),
            ..header
        };
        assert_eq!(written, corrected);
    }

    #[test]
    fn a_coefficient_of_one_adds_nibbles_to_the_last_sample() {
        let mut out = [0; 14];
        decode(&[0x01, 0x1F, 0x10, 0, 0, 0, 0, 0], &header(14, 3), &mut out);
        assert_eq!(out[..5], [2, 0, 2, 2, 2]);
    }

    #[test]
    fn a_truncated_frame_has_the_samples_of_its_bytes() {
        let mut warnings = Warnings::default();
        assert_eq!(samples(&[0; 3], &header(280, 2), &mut warnings), 4);
        assert_eq!(samples(&[0; 1], &header(280, 2), &mut warnings), 0);
        assert_eq!(samples(&[0; 16], &header(20, 2), &mut warnings), 20);
        assert_eq!(warnings.len(), 2);
    }
}
