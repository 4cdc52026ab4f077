//! The header and the blocks of a VAG file.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Pad, Record, Text};

use hpimount_assets::model::wav::Wav;
use hpimount_assets::parse::spu::{self, Extent, Rounding};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["vag"];

/// Offset of the blocks in a file with interleaved channels.
const INTERLEAVED_DATA: usize = 0x800;

/// Maximum rate in samples per second.
const MAX_RATE: u32 = 192_000;

/// Rate of a sound without a header.
const ASSUMED_RATE: u32 = 22_050;

/// Plausible rates in a header without its magic word.
const LIKELY_RATES: std::ops::RangeInclusive<u32> = 1000..=96_000;

/// Allowed number of bytes after the sound, in a file without its magic word.
const LIKELY_REST: usize = 64;

/// Maximum number of channels.
const MAX_CHANNELS: u8 = 8;

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Vag {
    /// Header; some files have none.
    pub header: Option<Header>,
    /// Samples per second.
    pub rate: u32,
    /// Number of channels.
    pub channels: u8,
    /// Samples of a channel.
    pub samples: u32,
    /// First and last sample of the loop.
    pub loops: Option<(u32, u32)>,
    /// Warnings.
    pub warnings: Warnings,
    /// The blocks of all channels.
    #[get_size(ignore)]
    data: Bytes,
    /// Interleaving unit of the channels in bytes, if there are several.
    interleave: usize,
    /// Maximum number of bytes of a channel.
    channel_size: usize,
}

/// The header.
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct Header {
    /// First bytes; some files have zeros instead.
    pub magic: Text<4>,
    /// Version of the format.
    pub version: u32,
    /// Interleaving unit of the channels in bytes, 0 for mono.
    pub interleave: u32,
    /// Size of a channel in bytes, as stored.
    pub size: u32,
    /// Samples per second.
    pub rate: u32,
    reserved: Pad<10>,
    /// Number of channels; mostly 0.
    #[record(name = "channels_byte")]
    pub channels: u8,
    more_reserved: Pad<1>,
    /// Name of the sound.
    pub name: Text<16>,
}

impl Header {
    fn is_interleaved(&self) -> bool {
        self.magic.0 == *b"VAGi"
    }

    /// Returns the offset of the blocks.
    pub fn data(&self) -> usize {
        match self.is_interleaved() {
            true => INTERLEAVED_DATA,
            false => Self::SIZE,
        }
    }
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if it is not a VAG file, has no sound, or its rate
/// or interleave is wrong.
pub fn parse(bytes: &Bytes) -> Result<Vag> {
    let mut warnings = Warnings::default();
    let has_header = is_known(bytes) || is_blank(bytes) || !spu::is_plausible(bytes);
    let header = has_header.then(|| read_header(bytes)).transpose()?;
    let mut vag = Vag {
        rate: header.as_ref().map_or(ASSUMED_RATE, |header| header.rate),
        header: None,
        channels: 1,
        samples: 0,
        loops: None,
        warnings: Warnings::default(),
        data: bytes.clone(),
        interleave: 0,
        channel_size: bytes.len(),
    };
    if let Some(header) = header {
        vag.take_data(bytes, &header, &mut warnings)?;
        vag.header = Some(header);
    }
    vag.measure(&mut warnings);
    if vag.samples == 0 {
        let start = vag.header.as_ref().map_or(0, Header::data);
        return Err(Error::damaged(start as u64, "sound", "has no blocks"));
    }
    vag.warnings = warnings;
    Ok(vag)
}

/// Returns whether a file begins with the magic word of a VAG file.
pub fn is_known(bytes: &[u8]) -> bool {
    [&b"VAGp"[..], b"VAGi", b"pGAV"]
        .iter()
        .any(|magic| bytes.starts_with(magic))
}

/// Returns whether a file has a header with zeros instead of its magic word.
fn is_blank(bytes: &[u8]) -> bool {
    let Some((header, data)) = bytes.split_at_checked(Header::SIZE) else {
        return false;
    };
    let word = |at: usize| {
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let rest = data.len().checked_sub(word(12) as usize);
    header[..12].iter().all(|&byte| byte == 0)
        && rest.is_some_and(|rest| rest < LIKELY_REST)
        && LIKELY_RATES.contains(&word(16))
}

fn read_header(bytes: &[u8]) -> Result<Header> {
    let magic = bytes.get(..4).unwrap_or_default();
    if !is_known(bytes) && !is_blank(bytes) {
        let problem = format!("is \"{}\", should be VAGp", magic.escape_ascii());
        return Err(Error::damaged(0, "magic", problem));
    }
    let endian = match magic {
        b"pGAV" => Endian::Little,
        _ => Endian::Big,
    };
    let mut file = Cursor::new(bytes, 0, endian);
    let mut header: Header = record::read(&mut file.section(Header::SIZE, "header")?)?;
    if !(1..=MAX_RATE).contains(&header.rate) {
        return Err(Error::damaged(16, "rate", format!("is {}", header.rate)));
    }
    // Little-endian, in a header that is not.
    header.interleave = match header.is_interleaved() {
        true => header.interleave.swap_bytes(),
        false => 0,
    };
    Ok(header)
}

impl Vag {
    /// Takes the blocks of the sound.
    fn take_data(&mut self, file: &Bytes, header: &Header, warnings: &mut Warnings) -> Result<()> {
        if header.magic.0 == [0; 4] {
            warnings.push("there is no magic word");
        }
        self.data = file.slice(header.data().min(file.len())..);
        let (have, size) = (self.data.len(), header.size as usize);
        if header.is_interleaved() {
            self.channels = if header.channels == 0 {
                2
            } else {
                header.channels
            };
            let is_blocks = header.interleave >= 16 && header.interleave.is_multiple_of(16);
            if !is_blocks || self.channels > MAX_CHANNELS {
                let (bytes, channels) = (header.interleave, self.channels);
                let problem = format!("is {bytes} with {channels} channels");
                return Err(Error::damaged(8, "interleave", problem));
            }
            self.interleave = header.interleave as usize;
            self.channel_size = if size == 0 { have } else { size };
            return Ok(());
        }
        if size > have {
            warnings.push(format!("size is {size}, but {have} bytes are left"));
        } else if size < have {
            warnings.push(format!("{} bytes follow the sound", have - size));
        }
        if (1..have).contains(&size) {
            self.data.truncate(size);
        }
        self.channel_size = self.data.len();
        Ok(())
    }

    /// Finds the number of samples and the loop. Only mono sounds have a loop.
    fn measure(&mut self, warnings: &mut Warnings) {
        let extents: Vec<Extent> = (0..self.channels)
            .map(|channel| {
                let mut found = Warnings::default();
                let extent = spu::extent(&self.channel(channel), &mut found);
                if channel == 0 {
                    warnings.append(found);
                }
                extent
            })
            .collect();
        let samples = extents.iter().map(|extent| extent.samples);
        self.samples = samples.min().unwrap_or_default();
        self.loops = match extents[..] {
            [Extent { loops, .. }] => loops,
            _ => None,
        };
    }

    /// Returns the blocks of a channel.
    fn channel(&self, number: u8) -> Bytes {
        if self.channels == 1 {
            return self.data.clone();
        }
        let pieces = self.data.chunks(self.interleave);
        let own = pieces.skip(number.into()).step_by(self.channels.into());
        let mut blocks = own.collect::<Vec<_>>().concat();
        // All channels have the same length.
        let whole = self.data.len() / (self.interleave * usize::from(self.channels));
        let rest = self.data.len() - whole * self.interleave * usize::from(self.channels);
        let before = self.interleave * (usize::from(self.channels) - 1);
        let shortest = whole * self.interleave + rest.saturating_sub(before);
        blocks.truncate(shortest.min(self.channel_size));
        blocks.into()
    }

    /// Returns the blocks of a mono sound.
    pub(super) fn blocks(&self) -> Option<&[u8]> {
        (self.channels == 1).then_some(&self.data)
    }

    /// Returns the properties of the WAV file.
    pub fn wav(&self) -> Wav {
        Wav {
            channels: self.channels.into(),
            rate: self.rate,
            samples: self.samples,
            loops: self.loops,
        }
    }

    /// Returns the interleaved samples. They take at most four times the memory of
    /// their source.
    pub fn pcm(&self) -> Vec<i16> {
        let count = usize::from(self.channels);
        let mut all = vec![0; self.samples as usize * count];
        let mut samples = vec![0; self.samples as usize];
        for channel in 0..self.channels {
            spu::decode(&self.channel(channel), Rounding::Terms, &mut samples);
            let frames = all.iter_mut().skip(channel.into()).step_by(count);
            frames
                .zip(&samples)
                .for_each(|(out, sample)| *out = *sample);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with these words, and blocks of the same byte.
    fn vag(magic: &[u8; 4], words: [u32; 4], blocks: &[u8]) -> Bytes {
        let mut file = magic.to_vec();
        file.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        file.resize(Header::SIZE, 0);
        file[32..36].copy_from_slice(b"tone");
        for &byte in blocks {
            file.extend([12, 0]);
            file.extend([byte; 14]);
        }
        file.into()
    }

    fn error(bytes: &Bytes) -> String {
        parse(bytes).unwrap_err().to_string()
    }

    #[test]
    fn the_header_says_rate_and_length() {
        let vag = parse(&vag(b"VAGp", [32, 0, 32, 11_025], &[0x11, 0x22])).unwrap();
        let header = vag.header.as_ref().unwrap();
        assert_eq!(
            (header.version, header.name.text()),
            (32, "tone".to_owned())
        );
        assert_eq!((vag.rate, vag.samples, vag.loops), (11_025, 56, None));
        assert!(vag.warnings.is_empty());
        assert_eq!(vag.pcm()[27..29], [1, 2]);
    }

    #[test]
    fn a_wrong_length_and_a_missing_magic_word_are_warnings() {
        let long = parse(&vag(b"VAGp", [32, 0, 48, 11_025], &[1, 2])).unwrap();
        assert_eq!(long.samples, 56);
        assert_eq!(long.warnings.texts(), ["size is 48, but 32 bytes are left"]);
        let blank = parse(&vag(&[0; 4], [0, 0, 16, 8000], &[1, 2])).unwrap();
        assert_eq!((blank.samples, blank.rate), (28, 8000));
        assert_eq!(
            blank.warnings.texts(),
            ["there is no magic word", "16 bytes follow the sound"]
        );
    }

    #[test]
    fn blocks_without_a_header_have_an_assumed_rate() {
        let file = vag(b"VAGp", [0; 4], &[1, 2, 3]);
        let vag = parse(&file.slice(Header::SIZE..)).unwrap();
        assert!(vag.header.is_none());
        assert_eq!((vag.rate, vag.samples), (ASSUMED_RATE, 84));
    }

    #[test]
    fn channels_alternate() {
        let interleave = 16_u32.swap_bytes();
        let file = vag(b"VAGi", [32, interleave, 32, 44_100], &[]);
        let blocks = vag(b"VAGp", [0; 4], &[0x11, 0x22, 0x33, 0x44]).slice(Header::SIZE..);
        let mut file = file.to_vec();
        file.resize(INTERLEAVED_DATA, 0);
        file.extend(&blocks);
        let vag = parse(&file.into()).unwrap();
        assert_eq!((vag.channels, vag.samples), (2, 56));
        let pcm = vag.pcm();
        assert_eq!((pcm[0], pcm[1], pcm[110], pcm[111]), (1, 2, 3, 4));
    }

    #[test]
    fn damage_is_an_error_at_its_field() {
        assert_eq!(
            error(&Bytes::from_static(b"RIFF")),
            "magic at 0x0: is \"RIFF\", should be VAGp"
        );
        assert_eq!(
            error(&Bytes::from_static(b"VAGp\0\0\0\0")),
            "header at 0x0: needs 48 bytes, 8 are left"
        );
        assert_eq!(
            error(&vag(b"VAGp", [32, 0, 16, 0], &[1])),
            "rate at 0x10: is 0"
        );
        assert_eq!(
            error(&vag(b"VAGp", [32, 0, 0, 8000], &[])),
            "sound at 0x30: has no blocks"
        );
        assert_eq!(
            error(&vag(b"VAGi", [32, 8_u32.swap_bytes(), 16, 8000], &[1])),
            "interleave at 0x8: is 8 with 2 channels"
        );
    }
}
