//! Sounds: SND and SNDS, whose headers are in the archive's SNDI asset
//! (FORMATS, HIP assets 5).

mod banks;
pub(super) mod dsp;
mod entry;
mod fsb;
pub(super) mod ima;
mod table;
mod vag;

pub use dsp::DspHeader;
pub use entry::{BankEntry, Entry, Header, SoundKind, SoundTable, XboxHeader};
pub use fsb::{Bank, BankSound};
pub use table::parse as parse_table;
pub use vag::VagHeader;

use bytes::Bytes;

use crate::Parsed;
use hpimount_assets::parse::Incomplete;
use hpimount_containers::io::{Error, Result, Warnings};

/// Maximum number of channels of a sound.
pub const MAX_CHANNELS: u16 = 8;

/// Maximum rate in samples per second.
pub const MAX_RATE: u32 = 192_000;

/// The format of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// GameCube: frames of 14 samples.
    Dsp,
    /// Unsigned samples of 8 bits.
    Pcm8,
    /// Signed samples of 8 bits.
    Pcm8Signed,
    /// Samples of 16 bits, little-endian.
    Pcm16,
    /// Samples of 16 bits, big-endian.
    Pcm16Big,
    /// Xbox: blocks of 64 samples.
    XboxAdpcm,
    /// PlayStation 2: frames of 28 samples.
    Vag,
}

impl Codec {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dsp => "DSP-ADPCM",
            Self::Pcm8 | Self::Pcm8Signed | Self::Pcm16 | Self::Pcm16Big => "PCM",
            Self::XboxAdpcm => "Xbox ADPCM",
            Self::Vag => "VAG",
        }
    }
}

impl Codec {
    /// Decodes interleaved samples of a codec without coefficients, up to the end of
    /// the data or of `out`.
    fn decode(self, data: &[u8], channels: usize, out: &mut [i16]) {
        match self {
            Self::Dsp => {}
            Self::Pcm8 => fill(out, data, |&byte| (i16::from(byte) - 128) << 8),
            Self::Pcm8Signed => fill(out, data, |byte| i16::from(byte.cast_signed()) << 8),
            Self::Pcm16 => fill(out, data.as_chunks().0, |bytes| i16::from_le_bytes(*bytes)),
            Self::Pcm16Big => fill(out, data.as_chunks().0, |bytes| i16::from_be_bytes(*bytes)),
            Self::XboxAdpcm => ima::decode(data, channels, out),
            Self::Vag => vag::decode(data, out),
        }
    }
}

fn fill<T>(out: &mut [i16], stored: &[T], sample: impl Fn(&T) -> i16) {
    for (out, stored) in out.iter_mut().zip(stored) {
        *out = sample(stored);
    }
}

/// A loop, in samples of one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// First sample.
    pub start: u32,
    /// Last sample.
    pub end: u32,
    /// True if the stored end was past the data.
    pub is_clamped: bool,
}

/// A sound with encoded samples.
#[derive(Debug, Clone)]
pub struct Sound {
    /// Entry in the table.
    pub entry: Entry,
    /// Sample format.
    pub codec: Codec,
    /// Number of channels, 1 to [`MAX_CHANNELS`].
    pub channels: u16,
    /// Samples per second, 1 to [`MAX_RATE`]; the stored rate is in the entry.
    pub rate: u32,
    /// Number of samples per channel in the data.
    pub samples: u32,
    /// The loop.
    pub loops: Option<Loop>,
    /// The data.
    pub data: Bytes,
    /// Warnings.
    pub warnings: Warnings,
}

impl Sound {
    /// Returns the number of samples of all channels.
    pub fn all_samples(&self) -> usize {
        self.samples as usize * usize::from(self.channels)
    }

    /// Returns the interleaved samples. They take at most four times the memory of
    /// their source.
    pub fn pcm(&self) -> Vec<i16> {
        let mut samples = vec![0; self.all_samples()];
        self.decode(&mut samples);
        samples
    }

    /// Decodes the sound into `out`, like [`Sound::pcm`], up to the end of the data or
    /// of `out`.
    pub fn decode(&self, out: &mut [i16]) {
        let length = out.len().min(self.all_samples());
        let out = &mut out[..length];
        match &self.entry.header {
            Header::Dsp(header) => dsp::decode(&self.data, header, out),
            Header::Bank(entry) => entry.sound.decode(self.codec, out),
            _ => self.codec.decode(&self.data, self.channels.into(), out),
        }
    }

    /// Returns the header and the file extension that make the data usable by tools of
    /// the console. Xbox sounds are WAV files and have none, and neither have bank
    /// sounds other than mono DSP-ADPCM.
    pub fn native_header(&self) -> Option<(Vec<u8>, &'static str)> {
        match &self.entry.header {
            Header::Dsp(header) => Some((header.file_header(&self.data), "dsp")),
            Header::Vag(header) => Some((header.file_header(self.data.len()), "vag")),
            Header::Bank(entry) => match &entry.sound.adpcm[..] {
                [header] => Some((header.file_header(&self.data), "dsp")),
                _ => None,
            },
            Header::Xbox(_) => None,
        }
    }
}

/// Reads a SND or SNDS asset with its table entry.
///
/// # Errors
/// Returns [`Incomplete`] if the format is unknown or the number of channels is
/// not supported.
pub fn parse(bytes: &Bytes, entry: &Entry) -> Parsed<Sound> {
    let mut sound = Sound {
        entry: entry.clone(),
        codec: Codec::Pcm16,
        channels: 1,
        rate: 1,
        samples: 0,
        loops: None,
        data: bytes.clone(),
        warnings: Warnings::default(),
    };
    match read(&mut sound) {
        Ok(()) => Ok(sound),
        Err(error) => Err(Box::new(Incomplete {
            error,
            model: sound,
        })),
    }
}

fn read(sound: &mut Sound) -> Result<()> {
    let rate = sound.entry.header.rate();
    sound.rate = rate.clamp(1, MAX_RATE);
    if sound.rate != rate {
        sound.warnings.push(format!(
            "sample rate at {:#x}: is {rate}, 1 to {MAX_RATE} are possible",
            sound.entry.offset
        ));
    }
    match sound.entry.header.clone() {
        Header::Dsp(header) => {
            sound.codec = Codec::Dsp;
            sound.samples = dsp::samples(&sound.data, &header, &mut sound.warnings);
            sound.loops = header.loop_in(sound.samples, &mut sound.warnings);
        }
        Header::Xbox(header) => read_xbox(sound, &header)?,
        Header::Vag(header) => {
            sound.codec = Codec::Vag;
            if header.size as usize != sound.data.len() {
                sound.warnings.push(sizes(header.size, &sound.data));
            }
            (sound.samples, sound.loops) = vag::extent(&sound.data, &mut sound.warnings);
        }
        Header::Bank(entry) => read_bank(sound, &entry.sound)?,
    }
    if sound.samples == 0 {
        sound.warnings.push("sound at 0x0: has no samples");
    }
    Ok(())
}

fn read_xbox(sound: &mut Sound, header: &XboxHeader) -> Result<()> {
    let at = sound.entry.offset;
    if !(1..=MAX_CHANNELS).contains(&header.channels) {
        return Err(Error::damaged(
            at + 2,
            "channels",
            format!("are {}, 1 to {MAX_CHANNELS} are possible", header.channels),
        ));
    }
    sound.channels = header.channels;
    if header.size as usize != sound.data.len() {
        sound.warnings.push(sizes(header.size, &sound.data));
    }
    let channels = usize::from(header.channels);
    let (codec, unit, per_unit) = match (header.format, header.bits) {
        (1, 8) => (Codec::Pcm8, channels, 1),
        (1, 16) => (Codec::Pcm16, 2 * channels, 1),
        (ima::FORMAT, _) => (Codec::XboxAdpcm, ima::BLOCK * channels, ima::SAMPLES),
        (format, bits) => {
            return Err(Error::damaged(
                at,
                "sound format",
                format!("is {format:#x} with {bits} bits, which is unknown"),
            ));
        }
    };
    sound.codec = codec;
    let left = sound.data.len() % unit;
    if left > 0 {
        sound.warnings.push(format!(
            "sound at {:#x}: ends with {left} bytes of a block of {unit}",
            sound.data.len() - left
        ));
    }
    if codec == Codec::XboxAdpcm {
        ima::check(&sound.data, channels, &mut sound.warnings);
    }
    let samples = (sound.data.len() / unit).saturating_mul(per_unit);
    sound.samples = u32::try_from(samples).unwrap_or(u32::MAX);
    sound.loops = (header.flags & 1 != 0 && sound.samples > 0).then_some(Loop {
        start: 0,
        end: sound.samples.saturating_sub(1),
        is_clamped: false,
    });
    Ok(())
}

/// Reads a sound of a bank, whose asset is empty.
fn read_bank(sound: &mut Sound, header: &BankSound) -> Result<()> {
    sound.codec = header.codec.map_err(|codec| {
        Error::Unsupported(format!("{codec} in a bank of sounds is not supported"))
    })?;
    if !sound.data.is_empty() {
        let text = "sound at 0x0: has data, which the one in the bank replaces";
        sound.warnings.push(text);
    }
    sound.data = header.data.clone();
    (sound.channels, sound.samples) = (header.channels, header.samples);
    let last = sound.samples.saturating_sub(1);
    sound.loops = header.loops.and_then(|[start, end]| {
        let is_clamped = end > last;
        let end = end.min(last);
        (start <= end && sound.samples > 0).then_some(Loop {
            start,
            end,
            is_clamped,
        })
    });
    Ok(())
}

fn sizes(declared: u32, data: &[u8]) -> String {
    let found = data.len();
    format!("sound at 0x0: has {found} bytes, {declared} according to its entry")
}

/// Clamps a sample to 16 bits.
fn clamp(value: i32) -> i16 {
    value.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}
