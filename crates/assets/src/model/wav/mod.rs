//! WAV files with samples of 16 bits.

mod read;

use std::io::{self, Write};

pub use self::read::{Edited, read};

/// Maximum number of samples of all channels of a written sound, more than five minutes
/// of stereo music.
const MAX_SAMPLES: usize = 1 << 25;

/// Bytes before the samples: RIFF, `fmt ` and the header of `data`.
const HEAD: u64 = 44;

/// Bytes of a `smpl` chunk with one loop, including its header.
const SMPL: u64 = 8 + 36 + 24;

/// Bytes of a sample.
const SAMPLE: u64 = 2;

/// Samples that are written at a time.
const PIECE: usize = 1 << 14;

/// The properties of a sound, without its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wav {
    /// Number of channels.
    pub channels: u16,
    /// Samples per second.
    pub rate: u32,
    /// Samples of one channel.
    pub samples: u32,
    /// First and last sample of an endless loop.
    pub loops: Option<(u32, u32)>,
}

impl Wav {
    /// Returns the reason why the sound is not written.
    pub fn length_problem(&self) -> Option<String> {
        let count = u64::from(self.samples) * u64::from(self.channels);
        (count > MAX_SAMPLES as u64)
            .then(|| format!("it has {count} samples, more than {MAX_SAMPLES}"))
    }

    /// Returns the size of the samples in bytes.
    fn data_size(&self) -> u64 {
        SAMPLE * u64::from(self.channels) * u64::from(self.samples)
    }

    /// Returns the size of the file in bytes.
    pub fn size(&self) -> u64 {
        HEAD + self.data_size() + self.loops.map_or(0, |_| SMPL)
    }
}

/// Writes a WAV file with these interleaved samples, whose number must match
/// `wav`.
///
/// # Errors
/// Returns the errors of `out`, or an error if the file would have 4 GiB or
/// more, or has 32,768 channels or more.
pub fn write(wav: &Wav, samples: &[i16], out: &mut dyn Write) -> io::Result<()> {
    let size = |bytes: u64| {
        let too_large = |_| io::Error::other("a WAV file must be smaller than 4 GiB");
        u32::try_from(bytes).map_err(too_large)
    };
    let frame = (SAMPLE as u16).checked_mul(wav.channels);
    let frame = frame.ok_or_else(|| io::Error::other("a WAV file has too many channels"))?;
    out.write_all(b"RIFF")?;
    out.write_all(&size(wav.size() - 8)?.to_le_bytes())?;
    out.write_all(b"WAVEfmt ")?;
    out.write_all(&16_u32.to_le_bytes())?;
    for half in [1, wav.channels] {
        out.write_all(&half.to_le_bytes())?;
    }
    for word in [wav.rate, wav.rate.saturating_mul(frame.into())] {
        out.write_all(&word.to_le_bytes())?;
    }
    for half in [frame, 8 * SAMPLE as u16] {
        out.write_all(&half.to_le_bytes())?;
    }
    out.write_all(b"data")?;
    out.write_all(&size(wav.data_size())?.to_le_bytes())?;
    let mut bytes = Vec::with_capacity(SAMPLE as usize * PIECE);
    for piece in samples.chunks(PIECE) {
        bytes.clear();
        bytes.extend(piece.iter().flat_map(|sample| sample.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    match wav.loops {
        Some(ends) => write_loop(wav.rate, ends, out),
        None => Ok(()),
    }
}

/// Writes a `smpl` chunk: an endless forward loop.
fn write_loop(rate: u32, (start, end): (u32, u32), out: &mut dyn Write) -> io::Result<()> {
    /// The note for the unchanged pitch of a sound in samplers: middle C.
    const NOTE: u32 = 60;
    let nanoseconds = 1_000_000_000 / rate.max(1);
    let fields = [0, 0, nanoseconds, NOTE, 0, 0, 0, 1, 0];
    let part = [0, 0, start, end, 0, 0];
    out.write_all(b"smpl")?;
    for word in [SMPL as u32 - 8].iter().chain(&fields).chain(&part) {
        out.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(wav: &Wav, samples: &[i16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(wav, samples, &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, wav.size());
        bytes
    }

    #[test]
    fn the_size_is_known_before_the_file_is_written() {
        let mut wav = Wav {
            channels: 2,
            rate: 22_050,
            samples: 3,
            loops: None,
        };
        let samples = [1, -2, 3, -4, 5, -6];
        let plain = written(&wav, &samples);
        assert_eq!(plain[4..8], (plain.len() as u32 - 8).to_le_bytes());
        assert_eq!(plain[40..48], [12, 0, 0, 0, 1, 0, 0xFE, 0xFF]);
        wav.loops = Some((1, 2));
        let looped = written(&wav, &samples);
        assert_eq!(looped.len(), plain.len() + 68);
        assert_eq!(&looped[plain.len()..][..8], b"smpl\x3C\0\0\0");
        assert_eq!(looped[plain.len() + 52..][..8], [1, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn too_many_channels_are_an_error() {
        let with = |channels| Wav {
            channels,
            rate: 22_050,
            samples: 0,
            loops: None,
        };
        written(&with(32_767), &[]);
        for channels in [32_768, u16::MAX] {
            let mut bytes = Vec::new();
            assert!(write(&with(channels), &[], &mut bytes).is_err());
            assert!(bytes.is_empty());
        }
    }
}
