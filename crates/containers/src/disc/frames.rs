//! The tracks of a CD in frames with subchannels, as the files of a dump have them.

use std::sync::Arc;

use super::sector::{RAW, RUN};
use crate::image::{CdTrack, FRAME};
use crate::io::ReadAt;

/// The sectors of a track without the subchannels that follow each, with samples
/// little-endian.
pub(crate) struct Frames {
    source: Arc<dyn ReadAt>,
    /// Offset in `source` of the first frame.
    start: u64,
    /// Number of frames.
    count: u64,
    /// Length of a sector in bytes.
    sector: u64,
    /// True if samples are big-endian.
    swaps: bool,
}

impl Frames {
    /// Returns the sectors of a track, without its pregap.
    pub(crate) fn of(source: Arc<dyn ReadAt>, track: &CdTrack) -> Self {
        Self::between(source, track, track.start)
    }

    /// Returns the sectors of a track with as much of its pregap as the image
    /// has.
    pub(crate) fn with_pregap(source: Arc<dyn ReadAt>, track: &CdTrack) -> Self {
        Self::between(source, track, track.first)
    }

    /// Returns the sectors in a range of frames with subchannels, with their samples
    /// as they are.
    pub(crate) fn without_subchannels(source: Arc<dyn ReadAt>, (start, end): (u64, u64)) -> Self {
        let end = end.min(source.len());
        Self {
            source,
            start,
            count: end.saturating_sub(start) / FRAME,
            sector: RAW,
            swaps: false,
        }
    }

    fn between(source: Arc<dyn ReadAt>, track: &CdTrack, start: u64) -> Self {
        let end = track.end.min(source.len());
        Self {
            source,
            start,
            count: end.saturating_sub(start) / FRAME,
            sector: track.sector.into(),
            swaps: track.is_audio && track.is_big_endian,
        }
    }
}

impl ReadAt for Frames {
    fn len(&self) -> u64 {
        self.count * self.sector
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let mut filled = 0;
        while filled < buf.len() {
            let position = offset + filled as u64;
            let (first, skip) = (position / self.sector, (position % self.sector) as usize);
            let wanted = skip + buf.len() - filled;
            let count = (wanted as u64).div_ceil(self.sector).min(RUN);
            let mut frames = vec![0; (count * FRAME) as usize];
            let at = self.start + first * FRAME;
            self.source.read_exact_at(&mut frames, at)?;
            let mut skip = skip;
            for frame in frames.chunks_exact_mut(FRAME as usize) {
                let sector = &mut frame[..self.sector as usize];
                if self.swaps {
                    let samples = sector.as_chunks_mut::<2>().0.iter_mut();
                    samples.for_each(|sample| sample.reverse());
                }
                let sector = &sector[skip..];
                let length = sector.len().min(buf.len() - filled);
                buf[filled..filled + length].copy_from_slice(&sector[..length]);
                filled += length;
                skip = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_frames_equal_bare_sectors_at_any_offset() {
        let sample = |at: usize| (at * 7 / 3) as u8;
        for (sector, is_audio) in [(RAW as usize, true), (RAW as usize, false), (2048, false)] {
            let bare: Vec<u8> = (0..3 * sector).map(sample).collect();
            let stored = bare.chunks(sector).flat_map(|bytes| {
                let mut bytes = bytes.to_vec();
                if is_audio {
                    bytes.chunks_mut(2).for_each(<[u8]>::reverse);
                }
                bytes.resize(FRAME as usize, 0xEE);
                bytes
            });
            let image: Vec<u8> = [0xDD; FRAME as usize].into_iter().chain(stored).collect();
            let end = image.len() as u64;
            let track = CdTrack {
                number: 1,
                is_audio,
                is_big_endian: true,
                is_mode_2: false,
                silence: 0,
                place: None,
                sector: sector as u16,
                first: 0,
                start: FRAME,
                end,
            };
            let image: Arc<dyn ReadAt> = Arc::new(image);
            let frames = Frames::of(image.clone(), &track);
            assert_eq!(frames.len(), bare.len() as u64);
            assert_eq!(
                Frames::with_pregap(image.clone(), &track).len(),
                (4 * sector) as u64
            );
            if sector == RAW as usize && !is_audio {
                let plain = Frames::without_subchannels(image, (FRAME, end));
                let mut found = vec![0; bare.len()];
                plain.read_exact_at(&mut found, 0).unwrap();
                assert!(plain.len() == bare.len() as u64 && found == bare);
            }
            for (offset, length) in [
                (0, bare.len()),
                (3, 50),
                (sector - 1, 2),
                (sector - 4, sector + 8),
                (bare.len() - 1, 1),
                (bare.len(), 0),
            ] {
                let mut found = vec![0; length];
                frames.read_exact_at(&mut found, offset as u64).unwrap();
                assert!(found == bare[offset..offset + length], "{offset} {length}");
            }
            assert!(frames.read_exact_at(&mut [0], bare.len() as u64).is_err());
        }
    }
}
