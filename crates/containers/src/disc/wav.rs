//! Audio tracks as WAV files: 44.1 kHz, 16 bits, stereo.

use std::sync::Arc;

use super::sector::RAW;
use crate::io::ReadAt;

/// Length of the header of a WAV file in bytes.
const HEADER: usize = 44;

/// An audio track as a file.
pub(crate) struct Wav {
    source: Arc<dyn ReadAt>,
    start: u64,
    header: [u8; HEADER],
    /// Bytes of samples, whole sectors.
    length: u32,
}

impl Wav {
    /// Creates the file of the track in this range of `source`, which has sector
    /// after sector, little-endian.
    pub(crate) fn new(source: Arc<dyn ReadAt>, (start, end): (u64, u64)) -> Self {
        let sectors = end.min(source.len()).saturating_sub(start) / RAW;
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
            start,
            header,
            length,
        }
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
        self.source.read_exact_at(samples, self.start + into)
    }
}
