//! Audio tracks as WAV files: 44.1 kHz, 16 bits, stereo.

use std::sync::Arc;

use super::sector::{RAW, RUN};
use crate::image::FRAME;
use crate::io::ReadAt;

/// Length of the header of a WAV file in bytes.
const HEADER: usize = 44;

/// How the samples of a track are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Samples {
    /// Sector after sector, little-endian.
    Bare,
    /// In frames with subchannels, little-endian.
    WithSubchannels,
    /// In the frames of a block image, big-endian.
    Frames,
}

impl Samples {
    /// Returns the bytes from one sector to the next.
    fn step(self) -> u64 {
        match self {
            Self::Bare => RAW,
            Self::WithSubchannels | Self::Frames => FRAME,
        }
    }
}

/// An audio track as a file.
pub(crate) struct Wav {
    source: Arc<dyn ReadAt>,
    samples: Samples,
    start: u64,
    header: [u8; HEADER],
    /// Bytes of samples, whole sectors.
    length: u32,
}

impl Wav {
    /// Creates the file of the track in this range of `source`.
    pub(crate) fn new(source: Arc<dyn ReadAt>, (start, end): (u64, u64), samples: Samples) -> Self {
        let sectors = end.min(source.len()).saturating_sub(start) / samples.step();
        let length = (sectors * RAW).min(u64::from(u32::MAX) / RAW * RAW - RAW) as u32;
        let mut header = [0; HEADER];
        let fields: [&[u8]; 12] = [
            b"RIFF",
            &(length + HEADER as u32 - 8).to_le_bytes(),
            b"WAVEfmt ",
            &16_u32.to_le_bytes(),
            &1_u16.to_le_bytes(),
            &2_u16.to_le_bytes(),
            &44_100_u32.to_le_bytes(),
            &(44_100_u32 * 4).to_le_bytes(),
            &4_u16.to_le_bytes(),
            &16_u16.to_le_bytes(),
            b"data",
            &length.to_le_bytes(),
        ];
        header.copy_from_slice(&fields.concat());
        Self {
            source,
            samples,
            start,
            header,
            length,
        }
    }

    /// Fills `buf` with samples from byte `into` on.
    fn read_samples(&self, buf: &mut [u8], into: u64) -> std::io::Result<()> {
        if self.samples == Samples::Bare {
            return self.source.read_exact_at(buf, self.start + into);
        }
        let mut filled = 0;
        while filled < buf.len() {
            let position = into + filled as u64;
            let (first, skip) = (position / RAW, (position % RAW) as usize);
            let wanted = skip + buf.len() - filled;
            let count = (wanted as u64).div_ceil(RAW).min(RUN);
            let mut frames = vec![0; (count * FRAME) as usize];
            let at = self.start + first * FRAME;
            self.source.read_exact_at(&mut frames, at)?;
            let mut skip = skip;
            for frame in frames.chunks_exact_mut(FRAME as usize) {
                let samples = &mut frame[..RAW as usize];
                if self.samples == Samples::Frames {
                    let samples = samples.as_chunks_mut::<2>().0;
                    samples.iter_mut().for_each(|sample| sample.reverse());
                }
                let samples = &samples[skip..];
                let length = samples.len().min(buf.len() - filled);
                buf[filled..filled + length].copy_from_slice(&samples[..length]);
                filled += length;
                skip = 0;
            }
        }
        Ok(())
    }
}

impl ReadAt for Wav {
    fn len(&self) -> u64 {
        HEADER as u64 + u64::from(self.length)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let header = self.header.get(offset as usize..).unwrap_or_default();
        let (front, samples) = buf.split_at_mut(header.len().min(buf.len()));
        front.copy_from_slice(&header[..front.len()]);
        if samples.is_empty() {
            return Ok(());
        }
        let into = offset + front.len() as u64 - HEADER as u64;
        self.read_samples(samples, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_in_frames_equal_samples_in_bare_sectors_at_any_offset() {
        let sample = |at: usize| (at * 7 / 3) as u8;
        let bare: Vec<u8> = (0..3 * RAW as usize).map(sample).collect();
        let frames = bare.chunks(RAW as usize).flat_map(|sector| {
            let swapped = sector.chunks(2).flat_map(|sample| [sample[1], sample[0]]);
            swapped.chain([0xEE; 96]).collect::<Vec<u8>>()
        });
        let frames: Vec<u8> = frames.collect();
        let with_subchannels = bare.chunks(RAW as usize);
        let with_subchannels = with_subchannels.flat_map(|sector| [sector, &[0xEE; 96]].concat());
        let with_subchannels: Vec<u8> = with_subchannels.collect();
        let wav = |bytes: Vec<u8>, samples| {
            let end = bytes.len() as u64;
            Wav::new(Arc::new(bytes), (0, end), samples)
        };
        let (bare, frames) = (wav(bare, Samples::Bare), wav(frames, Samples::Frames));
        let other = wav(with_subchannels, Samples::WithSubchannels);
        assert_eq!(bare.len(), 44 + 3 * RAW);
        assert_eq!(frames.len(), bare.len());
        for (offset, length) in [
            (0, 7100),
            (3, 50),
            (43, 2),
            (45, 4705),
            (2396, 1),
            (7099, 1),
        ] {
            let (mut a, mut b) = (vec![0; length], vec![0; length]);
            bare.read_exact_at(&mut a, offset).unwrap();
            frames.read_exact_at(&mut b, offset).unwrap();
            assert_eq!(a, b, "{length} at {offset}");
            other.read_exact_at(&mut b, offset).unwrap();
            assert_eq!(a, b, "{length} at {offset}");
        }
        assert!(frames.read_exact_at(&mut [0; 2], 7099).is_err());
    }
}
