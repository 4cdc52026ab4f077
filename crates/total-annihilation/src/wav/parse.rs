//! WAV: properties of sounds, which need no conversion (FORMATS, TA 11).

use bytes::Bytes;
use get_size2::GetSize;

use crate::pointer::little;
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};
use hpimount_record::{self as record, FixedSize, Record};

/// Extensions of sounds.
pub const EXTENSIONS: &[&str] = &["wav"];

/// First bytes of a sound in an unknown form.
const TMH: &[u8] = b"TMH";

/// Bytes before the samples in that form.
const TMH_HEADER_SIZE: usize = 64;

/// The form of a sound.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize)]
pub enum Kind {
    /// A RIFF file.
    #[default]
    Riff,
    /// A `TMH` header and raw samples of an unknown rate.
    Tmh,
}

/// The parsed header of a sound.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Wav {
    /// Form.
    pub kind: Kind,
    /// Format, channels and rate; `None` without a format chunk.
    pub format: Option<Format>,
    /// The encoded header of a [`Kind::Tmh`].
    #[get_size(ignore)]
    pub tmh_header: Option<Bytes>,
    /// The encoded samples, if there are any.
    #[get_size(ignore)]
    pub data: Option<Bytes>,
    /// Absolute offset of the samples.
    pub data_offset: u64,
    /// Difference between the length in the RIFF header and the length of the file, in
    /// bytes; negative if the file is longer.
    pub riff_size_excess: i64,
    /// Warnings.
    pub warnings: Warnings,
}

/// The format of the samples.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/ta.md")]
pub struct Format {
    /// 1 is PCM.
    pub encoding: u16,
    /// Number of channels.
    pub channels: u16,
    /// Samples per second of a channel.
    pub rate: u32,
    /// Bytes per second.
    pub byte_rate: u32,
    /// Bytes of a sample of all channels.
    pub block_size: u16,
    /// Bits of a sample.
    pub bits: u16,
}

/// Parses the chunks of a sound, up to its samples. Uses the sizes of the chunks, not
/// the size of the whole file.
///
/// # Errors
/// Returns [`Incomplete`] if it is neither RIFF nor `TMH`.
pub fn parse(bytes: &Bytes) -> std::result::Result<Wav, Box<Incomplete<Wav>>> {
    let mut wav = Wav::default();
    let result = wav.read(bytes);
    finish(wav, result)
}

impl Wav {
    fn read(&mut self, file: &Bytes) -> Result<()> {
        if file.starts_with(TMH) {
            self.kind = Kind::Tmh;
            self.tmh_header = Some(file.slice(..file.len().min(TMH_HEADER_SIZE)));
            self.data_offset = TMH_HEADER_SIZE as u64;
            self.data = (file.len() > TMH_HEADER_SIZE).then(|| file.slice(TMH_HEADER_SIZE..));
            self.warnings.push("the sound is of an unknown form, TMH");
            return Ok(());
        }
        let mut cursor = little(file);
        let magic = cursor.take(4, "magic")?;
        let size = cursor.u32("RIFF size")?;
        let form = cursor.take(4, "form")?;
        if (magic, form) != (b"RIFF", b"WAVE") {
            let problem = format!(
                "is \"{} {}\", should be RIFF WAVE",
                magic.escape_ascii(),
                form.escape_ascii()
            );
            return Err(Error::damaged(0, "magic", problem));
        }
        self.riff_size_excess = i64::from(size) + 8 - file.len() as i64;
        if self.riff_size_excess != 0 {
            let (stored, length) = (i64::from(size) + 8, file.len());
            self.warnings.push(format!(
                "the file has {stored} bytes according to its header, but {length} in fact"
            ));
        }
        while self.data.is_none() && cursor.remaining() >= 8 {
            let (tag, size) = (cursor.take(4, "chunk")?, cursor.u32("chunk size")?);
            // If the size is too large, the chunk ends with the file.
            let length = cursor.remaining().min(size as usize);
            let body = cursor.section(length, "chunk")?;
            cursor.take(cursor.remaining().min(size as usize % 2), "padding")?;
            self.chunk(file, tag, size, body)?;
        }
        if self.data.is_none() {
            self.warnings.push("there are no samples");
        }
        Ok(())
    }

    fn chunk(&mut self, file: &Bytes, tag: &[u8], size: u32, mut body: Cursor<'_>) -> Result<()> {
        match tag {
            b"fmt " if body.remaining() >= Format::SIZE => {
                self.format = Some(record::read(&mut body)?);
            }
            b"data" => {
                self.data_offset = body.offset();
                let missing = size as usize - body.remaining();
                if missing > 0 {
                    let warning = format!("the last {missing} of {size} bytes are missing");
                    self.warnings.push(warning);
                }
                let samples = body.take(body.remaining(), "samples")?;
                self.data = Some(file.slice_ref(samples));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Vec<u8> {
        let mut bytes = b"RIFF\x2c\0\0\0WAVE".to_vec();
        bytes.extend(b"odd \x03\0\0\0abc\0");
        bytes.extend(b"fmt \x10\0\0\0\x01\0\x02\0\x22\x56\0\0\x44\xac\0\0\x02\0\x08\0");
        bytes.extend(b"data\x02\0\0\0\x80\x81");
        let size = bytes.len() as u8 - 8;
        bytes[4] = size;
        bytes
    }

    #[test]
    fn chunks_are_read_up_to_the_samples() {
        let wav = parse(&sound().into()).unwrap();
        assert!(wav.warnings.is_empty());
        let format = Format {
            encoding: 1,
            channels: 2,
            rate: 22050,
            byte_rate: 44100,
            block_size: 2,
            bits: 8,
        };
        assert_eq!(wav.format, Some(format));
        assert_eq!(wav.data.unwrap(), [0x80, 0x81][..]);
        assert_eq!(wav.data_offset, sound().len() as u64 - 2);
    }

    #[test]
    fn wrong_sizes_are_warnings() {
        let mut bytes = sound();
        bytes.pop();
        bytes[4] += 1;
        let wav = parse(&bytes.into()).unwrap();
        assert_eq!(wav.riff_size_excess, 2);
        assert_eq!(wav.data.unwrap(), [0x80][..]);
        assert_eq!(
            wav.warnings.texts(),
            [
                "the file has 59 bytes according to its header, but 57 in fact",
                "the last 1 of 2 bytes are missing",
            ]
        );
    }

    #[test]
    fn other_sounds_are_recognized_or_rejected() {
        let tmh = parse(&vec![b'T', b'M', b'H', b'F', 0].into()).unwrap();
        assert_eq!((tmh.kind, tmh.data), (Kind::Tmh, None));
        assert_eq!(tmh.tmh_header.unwrap(), b"TMHF\0"[..]);
        let error = parse(&b"RIFF\0\0\0\0WAVX".to_vec().into()).unwrap_err();
        assert_eq!(
            error.error.to_string(),
            "magic at 0x0: is \"RIFF WAVX\", should be RIFF WAVE"
        );
        let empty = parse(&b"RIFF\x04\0\0\0WAVE".to_vec().into()).unwrap();
        assert_eq!(empty.warnings.texts(), ["there are no samples"]);
    }
}
