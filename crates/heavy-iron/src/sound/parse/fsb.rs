//! FSB3: sound banks in SNDI assets of the GameCube since The Incredibles. Sound
//! headers are little-endian, but their DSP-ADPCM data big-endian (FORMATS, HIP assets
//! 5).

use std::sync::Arc;

use bytes::Bytes;
use hpimount_record::{self as record, Pad, Record};

use super::dsp::{self, DspHeader};
use super::{Codec, MAX_CHANNELS, MAX_RATE, ima, vag};
use crate::take;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

const MAGIC: &[u8; 4] = b"FSB3";

/// Versions, with the lengths of their sound headers.
const VERSIONS: [(u32, usize); 2] = [(0x30000, 0x40), (0x30001, 0x50)];

/// Flags of a bank.
const SHORT_HEADERS: u32 = 2;
const BIG_ENDIAN: u32 = 8;
const SPLIT_CHANNELS: u32 = 0x10;
const PADDED: u32 = 0x40;

/// Multiple of the length of a sound in a padded bank.
const PADDING: usize = 32;

/// Flags of a sound.
const NO_LOOP: u32 = 1;
const BITS_8: u32 = 8;
const UNSIGNED: u32 = 0x80;
const MPEG: u32 = 0x200;
const XBOX_ADPCM: u32 = 0x40_0000;
const VAG: u32 = 0x80_0000;
const XMA: u32 = 0x100_0000;
const GAMECUBE: u32 = 0x200_0000;

/// Maximum number of sounds of a bank, because entries have 8-bit numbers.
const MAX_SOUNDS: u32 = 1 << 8;

/// Size of the coefficients and first samples of a channel in bytes.
const ADPCM: usize = 46;

/// A bank of sounds.
#[derive(Debug, Default)]
pub struct Bank {
    /// Sounds.
    pub sounds: Vec<Arc<BankSound>>,
    /// Bytes.
    pub bytes: Bytes,
}

/// A sound of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSound {
    /// Name in the bank, truncated to 29 bytes; may be empty.
    pub name: String,
    /// Samples of a channel.
    pub samples: u32,
    /// Samples per second.
    pub rate: u32,
    /// Number of channels.
    pub channels: u16,
    /// Sample format, or the name of an unsupported codec.
    pub codec: std::result::Result<Codec, &'static str>,
    /// The first and last sample of a loop, as stored.
    pub loops: Option<[u32; 2]>,
    /// Samples.
    pub data: Bytes,
    /// The coefficients of the channels of DSP-ADPCM.
    pub adpcm: Vec<DspHeader>,
    /// True if the channels follow each other; otherwise they alternate.
    is_split: bool,
}

/// The numbers of a sound's header.
#[derive(Debug, Default, Clone, Copy, PartialEq, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
struct SoundHeader {
    /// Samples of a channel.
    samples: u32,
    /// Bytes of all channels.
    bytes: u32,
    /// The first and last sample of a loop.
    loops: [u32; 2],
    /// Flags of the sound.
    mode: u32,
    /// Samples per second.
    rate: u32,
    /// Volume, pan, priority.
    volume: Pad<6>,
    /// Number of channels.
    channels: u16,
}

impl Bank {
    /// Reads a bank at `at` of its file. Other data may follow it.
    ///
    /// # Errors
    /// Returns an error if it is of another format or version, too short for
    /// its counts, or if a sound has more samples than bytes for them.
    pub fn read(bytes: &Bytes, at: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, at, Endian::Little);
        if cursor.take(MAGIC.len(), "bank of sounds")? != MAGIC {
            return Err(Error::damaged(at, "bank of sounds", "is not FSB3"));
        }
        let count = cursor.u32("sounds of the bank")?;
        if count > MAX_SOUNDS {
            let text = format!("are {count}, at most {MAX_SOUNDS} are possible");
            return Err(Error::damaged(at + 4, "sounds of the bank", text));
        }
        let headers = cursor.u32("size of the headers")?;
        let data = cursor.u32("size of the data")?;
        let version = cursor.u32("FSB version")?;
        let mode = cursor.u32("flags of the bank")?;
        let Some((_, length)) = VERSIONS.iter().find(|(known, _)| *known == version) else {
            let text = format!("is {version:#x}, which is not supported");
            return Err(Error::damaged(at + 16, "FSB version", text));
        };
        let headers_at = cursor.offset();
        let headers = cursor.check_count(headers.into(), 1, "size of the headers")?;
        let headers = take(&mut cursor, bytes, headers, "headers of the bank")?;
        let data_at = cursor.offset();
        let data = cursor.check_count(data.into(), 1, "size of the data")?;
        let data = take(&mut cursor, bytes, data, "data of the bank")?;
        let whole = bytes.len() - cursor.remaining();
        let mut reader = Reader {
            headers: Cursor::new(&headers, headers_at, Endian::Little),
            data: Cursor::new(&data, data_at, Endian::Little),
            all: &data,
            length: *length,
            mode,
            first: None,
        };
        let mut bank = Self {
            sounds: Vec::new(),
            bytes: bytes.slice(..whole),
        };
        for number in 0..count {
            let sound = reader.sound();
            let sound = sound.map_err(|error| error.within(format!("sound {number}")))?;
            bank.sounds.push(sound.into());
        }
        Ok(bank)
    }
}

/// Reads the sounds of a bank.
struct Reader<'a> {
    headers: Cursor<'a>,
    data: Cursor<'a>,
    all: &'a Bytes,
    /// Length of the header of a sound.
    length: usize,
    /// Flags of the bank.
    mode: u32,
    /// The numbers of the first sound, shared by short headers.
    first: Option<SoundHeader>,
}

impl<'a> Reader<'a> {
    fn sound(&mut self) -> Result<BankSound> {
        let at = self.headers.offset();
        let short = self.first.filter(|_| self.mode & SHORT_HEADERS != 0);
        let (name, numbers, rest) = match short {
            Some(first) => (String::new(), self.short(first)?, None),
            None => self.long()?,
        };
        self.first.get_or_insert(numbers);
        if !(1..=MAX_CHANNELS).contains(&numbers.channels) {
            let text = format!("are {}, 1 to {MAX_CHANNELS} are possible", numbers.channels);
            return Err(Error::damaged(at, "channels", text));
        }
        if !(1..=MAX_RATE).contains(&numbers.rate) {
            let text = format!("is {}, 1 to {MAX_RATE} are possible", numbers.rate);
            return Err(Error::damaged(at, "sample rate", text));
        }
        let adpcm = match numbers.mode & GAMECUBE {
            0 => Vec::new(),
            _ => match rest {
                Some(mut rest) => adpcm(&mut rest, &numbers)?,
                None => adpcm(&mut self.headers, &numbers)?,
            },
        };
        let length = self
            .data
            .check_count(numbers.bytes.into(), 1, "size of a sound")?;
        let data = take(&mut self.data, self.all, length, "sound")?;
        if self.mode & PADDED != 0 {
            let padding = length.next_multiple_of(PADDING) - length;
            self.data
                .take(padding.min(self.data.remaining()), "padding of a sound")?;
        }
        let sound = BankSound {
            name,
            samples: numbers.samples,
            rate: numbers.rate,
            channels: numbers.channels,
            codec: codec(&numbers, self.mode),
            loops: (numbers.mode & NO_LOOP == 0).then_some(numbers.loops),
            data,
            adpcm,
            is_split: self.mode & SPLIT_CHANNELS != 0,
        };
        let held = sound.held();
        match held.filter(|&held| u64::from(sound.samples) > held) {
            Some(held) => {
                let text = format!("is {}, {length} bytes hold {held}", sound.samples);
                Err(Error::damaged(at, "sample count", text))
            }
            None => Ok(sound),
        }
    }

    /// Reads a header of two numbers.
    fn short(&mut self, first: SoundHeader) -> Result<SoundHeader> {
        let samples = self.headers.u32("sample count")?;
        Ok(SoundHeader {
            samples,
            bytes: self.headers.u32("size of a sound")?,
            loops: [0, samples.saturating_sub(1)],
            ..first
        })
    }

    /// Reads a full header. Also returns the data after its fields.
    fn long(&mut self) -> Result<(String, SoundHeader, Option<Cursor<'a>>)> {
        let at = self.headers.offset();
        let size = usize::from(self.headers.u16("size of a header")?);
        let Some(rest) = size.checked_sub(self.length) else {
            let text = format!("is {size}, should be {} or more", self.length);
            return Err(Error::damaged(at, "size of a header", text));
        };
        let name = until_nul(self.headers.take(30, "name of a sound")?);
        let numbers: SoundHeader = record::read(&mut self.headers)?;
        // Distances and variations.
        self.headers.take(self.length - 64, "header of a sound")?;
        let rest = self.headers.section(rest, "header of a sound")?;
        Ok((name, numbers, Some(rest)))
    }
}

/// Reads the coefficients of each channel as DSP headers.
fn adpcm(cursor: &mut Cursor<'_>, numbers: &SoundHeader) -> Result<Vec<DspHeader>> {
    let channels = 0..numbers.channels;
    channels
        .map(|_| {
            let stored = cursor.take(ADPCM, "coefficients")?;
            let loops = (numbers.mode & NO_LOOP == 0).then_some(numbers.loops);
            DspHeader::of_parts(numbers.samples, numbers.rate, loops, stored)
        })
        .collect()
}

/// Returns the sample format for a header and the flags of the bank.
fn codec(numbers: &SoundHeader, bank: u32) -> std::result::Result<Codec, &'static str> {
    let has = |flag| numbers.mode & flag != 0;
    // Blocks with more channels have another layout.
    let is_surround = numbers.channels > 2 && bank & SPLIT_CHANNELS == 0;
    let packed = [
        (GAMECUBE, Ok(Codec::Dsp)),
        (VAG, Ok(Codec::Vag)),
        (
            XBOX_ADPCM,
            match is_surround {
                true => Err("Xbox ADPCM of more than two channels"),
                false => Ok(Codec::XboxAdpcm),
            },
        ),
        (MPEG, Err("MPEG")),
        (XMA, Err("XMA")),
    ];
    if let Some((_, codec)) = packed.into_iter().find(|(flag, _)| has(*flag)) {
        return codec;
    }
    Ok(match (has(BITS_8), has(UNSIGNED), bank & BIG_ENDIAN != 0) {
        (true, true, _) => Codec::Pcm8,
        (true, false, _) => Codec::Pcm8Signed,
        (false, _, true) => Codec::Pcm16Big,
        (false, _, false) => Codec::Pcm16,
    })
}

impl BankSound {
    /// Returns the number of samples per channel in the data; `None` for an unsupported
    /// codec.
    fn held(&self) -> Option<u64> {
        let channel = self.data.len() / usize::from(self.channels);
        let held = match self.codec.ok()? {
            Codec::Dsp => dsp::held(channel),
            Codec::Vag => channel / vag::FRAME * vag::SAMPLES,
            Codec::XboxAdpcm => channel / ima::BLOCK * ima::SAMPLES,
            Codec::Pcm8 | Codec::Pcm8Signed => channel,
            Codec::Pcm16 | Codec::Pcm16Big => channel / 2,
        };
        Some(held as u64)
    }

    /// Decodes interleaved samples of this codec.
    pub(super) fn decode(&self, codec: Codec, out: &mut [i16]) {
        let channels = usize::from(self.channels);
        let Some(unit) = self.alternates_after(codec) else {
            return codec.decode(&self.data, channels, out);
        };
        let mut samples = vec![0; out.len().div_ceil(channels)];
        for number in 0..channels {
            samples.fill(0);
            let data = self.channel(number, unit);
            match self.adpcm.get(number) {
                Some(header) => dsp::decode(&data, header, &mut samples),
                None => codec.decode(&data, 1, &mut samples),
            }
            let own = out.iter_mut().skip(number).step_by(channels);
            for (sample, decoded) in own.zip(&samples) {
                *sample = *decoded;
            }
        }
    }

    /// Returns the interleaving unit of the channels in bytes, or `None` if the codec
    /// defines its own order.
    fn alternates_after(&self, codec: Codec) -> Option<usize> {
        match codec {
            _ if self.is_split => Some(self.data.len() / usize::from(self.channels)),
            Codec::Dsp => Some(2),
            Codec::Vag => Some(vag::FRAME),
            _ => None,
        }
    }

    /// Returns the data of a channel, where channels alternate every `unit` bytes.
    fn channel(&self, number: usize, unit: usize) -> Bytes {
        let channels = usize::from(self.channels);
        if channels == 1 {
            return self.data.clone();
        }
        let units = self.data.chunks(unit.max(1)).skip(number);
        units.step_by(channels).flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Returns a header of 0x50 bytes.
    fn header(samples: u32, bytes: u32, mode: u32, channels: u16, more: usize) -> Vec<u8> {
        let mut header = (0x50 + more as u16).to_le_bytes().to_vec();
        header.extend(b"beep");
        header.resize(32, 0);
        header.extend(words(&[samples, bytes, 1, samples - 2, mode, 8000]));
        header.extend([255, 0, 128, 0, 255, 0]);
        header.extend(channels.to_le_bytes());
        header.resize(0x50 + more, 0);
        header
    }

    fn bank(count: u32, headers: &[u8], data: &[u8], mode: u32) -> Bytes {
        let sizes = [
            count,
            headers.len() as u32,
            data.len() as u32,
            0x30001,
            mode,
        ];
        [&b"FSB3"[..], &words(&sizes), headers, data]
            .concat()
            .into()
    }

    #[test]
    fn channels_alternate_after_two_bytes_or_follow_each_other() {
        // Predictor 0 with zero coefficients: nibbles are samples.
        let [left, right] = [[0, 0x12, 0x34, 0x56, 0x71, 0x23, 0x45, 0x67], [0x01; 8]];
        let mixed: Vec<u8> = left
            .chunks(2)
            .zip(right.chunks(2))
            .flat_map(|(a, b)| [a, b].concat())
            .collect();
        let header = header(14, 16, GAMECUBE | NO_LOOP, 2, 2 * ADPCM);
        for (data, mode) in [(mixed, 0), ([left, right].concat(), SPLIT_CHANNELS)] {
            let bank = Bank::read(&bank(1, &header, &data, mode), 0).unwrap();
            let mut out = [0; 28];
            bank.sounds[0].decode(Codec::Dsp, &mut out);
            assert_eq!(out[..6], [1, 0, 2, 2, 3, 0], "{mode:#x}");
            assert_eq!(out[27], 2);
            assert_eq!(
                (&*bank.sounds[0].name, bank.sounds[0].loops),
                ("beep", None)
            );
        }
    }

    /// Returns the only sound of a stereo bank, and its samples.
    fn stereo(samples: u32, mode: u32, data: &[u8], of_bank: u32) -> (BankSound, Vec<i16>) {
        let header = header(samples, data.len() as u32, mode | NO_LOOP, 2, 0);
        let bank = Bank::read(&bank(1, &header, data, of_bank), 0).unwrap();
        let sound = BankSound::clone(&bank.sounds[0]);
        let mut out = vec![0; 2 * samples as usize];
        sound.decode(sound.codec.unwrap(), &mut out);
        (sound, out)
    }

    #[test]
    fn frames_of_the_playstation_alternate_or_follow_each_other() {
        // Shift 12: nibbles are samples.
        let frame = |nibbles: u8| [&[0x0C, 0][..], &[nibbles; 14]].concat();
        let [left, right] = [frame(0x11), frame(0x22)];
        for (order, flags) in [
            ([&left, &right, &left, &right], 0),
            ([&left, &left, &right, &right], SPLIT_CHANNELS),
        ] {
            let data = order.map(|frame| &frame[..]).concat();
            let (sound, out) = stereo(56, VAG, &data, flags);
            assert_eq!(sound.codec, Ok(Codec::Vag));
            assert_eq!(out, [1, 2].repeat(56), "{flags:#x}");
        }
    }

    #[test]
    fn blocks_of_the_xbox_have_both_channels_or_one() {
        let block = |first: u8| [&[first, 0, 0, 0][..], &[0; 32]].concat();
        let both = [&[7, 0, 0, 0, 9, 0, 0, 0][..], &[0; 64]].concat();
        let (sound, out) = stereo(64, XBOX_ADPCM, &both, 0);
        assert_eq!(
            (sound.codec, out),
            (Ok(Codec::XboxAdpcm), [7, 9].repeat(64))
        );
        let split = [block(7), block(9)].concat();
        let (_, out) = stereo(64, XBOX_ADPCM, &split, SPLIT_CHANNELS);
        assert_eq!(out, [7, 9].repeat(64));
        let header = header(64, 6 * 36, XBOX_ADPCM, 6, 0);
        let found = Bank::read(&bank(1, &header, &[0; 6 * 36], 0), 0).unwrap();
        assert!(found.sounds[0].codec.is_err());
    }

    #[test]
    fn plain_samples_of_channels_may_follow_each_other() {
        let (_, out) = stereo(2, 0, &[1, 0, 2, 0, 3, 0, 4, 0], SPLIT_CHANNELS);
        assert_eq!(out, [1, 3, 2, 4]);
        let (_, out) = stereo(2, 0, &[1, 0, 2, 0, 3, 0, 4, 0], 0);
        assert_eq!(out, [1, 2, 3, 4]);
    }

    #[test]
    fn short_headers_share_the_numbers_of_the_first_sound() {
        let headers = [header(4, 8, 0, 1, 0), words(&[3, 6])].concat();
        let data = [[1, 0].repeat(4), vec![0; 24], [2, 0].repeat(3)].concat();
        let bank = Bank::read(&bank(2, &headers, &data, SHORT_HEADERS | PADDED), 0).unwrap();
        let [first, second] = &bank.sounds[..] else {
            panic!("{bank:?}");
        };
        assert_eq!((first.loops, second.loops), (Some([1, 2]), Some([0, 2])));
        assert_eq!(
            (second.rate, &second.data[..]),
            (8000, &[2, 0].repeat(3)[..])
        );
        assert_eq!(second.codec, Ok(Codec::Pcm16));
    }

    #[test]
    fn counts_that_exceed_the_bytes_are_errors() {
        let sound = header(4, 8, 0, 1, 0);
        let error = |bytes| Bank::read(&bytes, 0x20).unwrap_err().to_string();
        let found = error(bank(1 << 31, &sound, &[0; 8], 0));
        assert!(found.starts_with("sounds of the bank at 0x24"), "{found}");
        let found = error(bank(1, &header(1 << 31, 8, 0, 1, 0), &[0; 8], 0));
        assert!(found.ends_with("is 2147483648, 8 bytes hold 4"), "{found}");
        let found = error(bank(1, &sound, &[0; 7], 0));
        assert!(found.contains("size of a sound"), "{found}");
        let mpeg = Bank::read(&bank(1, &header(4, 8, MPEG, 1, 0), &[0; 8], 0), 0).unwrap();
        assert_eq!(mpeg.sounds[0].codec, Err("MPEG"));
    }
}
