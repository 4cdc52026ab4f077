//! Edited WAV files: samples of 16 bits, in the forms that Audacity, FFmpeg and
//! SoX write.

use super::{MAX_SAMPLES, SAMPLE, Wav};
use hpimount_containers::io::{Cursor, Endian, Error};

/// Forms of samples: PCM, and one whose form is in an extension.
const PCM: u16 = 1;
const EXTENSIBLE: u16 = 0xFFFE;

/// Offset in an extensible `fmt ` chunk of the form of the samples.
const SUB_FORMAT: usize = 24;

/// A `data` chunk of this length or more has no known end: programs that write to a
/// pipe cannot know it.
const UNKNOWN: u32 = 0x7FFF_0000;

/// The remedy for samples of another form.
const CONVERT: &str = "convert it with `ffmpeg -i IN.wav -c:a pcm_s16le OUT.wav`";

/// A WAV file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    /// Its properties.
    pub(crate) wav: Wav,
    /// The interleaved samples.
    pub(crate) samples: Vec<i16>,
}

/// Reads a WAV file.
///
/// # Errors
/// Returns why it cannot be read, with a remedy if there is one.
pub(crate) fn read(bytes: &[u8]) -> Result<Edited, String> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
        return Err(format!("is not a WAV file: {CONVERT}"));
    }
    let damaged = |error: Error| format!("is damaged: {error}");
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    cursor.take(12, "header").map_err(damaged)?;
    let (mut format, mut data, mut loops) = (None, None, None);
    while cursor.remaining() >= 8 {
        let kind = cursor.take(4, "chunk").map_err(damaged)?;
        let size = cursor.u32("chunk size").map_err(damaged)?;
        let left = cursor.remaining();
        let is_open = kind == b"data" && size >= UNKNOWN && size as usize > left;
        let size = if is_open { left } else { size as usize };
        let body = cursor.take(size, "chunk").map_err(damaged)?;
        // Chunks begin at even offsets; the last one may lack its padding.
        if size % 2 != 0 && cursor.remaining() > 0 {
            cursor.take(1, "padding").map_err(damaged)?;
        }
        match kind {
            b"fmt " if format.is_none() => format = Some(format_of(body)?),
            b"data" if data.is_none() => data = Some(body),
            b"smpl" => loops = loop_of(body),
            _ => {}
        }
    }
    let (channels, rate) = format.ok_or("is damaged: it has no chunk `fmt `")?;
    let data = data.ok_or("is damaged: it has no chunk `data`")?;
    let frame = SAMPLE as usize * usize::from(channels);
    let (frames, rest) = (data.len() / frame, data.len() % frame);
    if rest > 0 {
        return Err("is damaged: it ends in the middle of a sample".to_owned());
    }
    if frames * usize::from(channels) > MAX_SAMPLES {
        return Err(format!("has more than {MAX_SAMPLES} samples"));
    }
    let samples = data.as_chunks().0.iter();
    Ok(Edited {
        wav: Wav {
            channels,
            rate,
            samples: frames as u32,
            loops,
        },
        samples: samples.map(|&sample| i16::from_le_bytes(sample)).collect(),
    })
}

/// Returns the channels and the samples per second of a `fmt ` chunk.
fn format_of(body: &[u8]) -> Result<(u16, u32), String> {
    let mut cursor = Cursor::new(body, 0, Endian::Little);
    let mut read = || {
        let (form, channels) = (cursor.u16("form")?, cursor.u16("channels")?);
        let rate = cursor.u32("rate")?;
        cursor.take(6, "bytes per second")?;
        Ok((form, channels, rate, cursor.u16("bits")?))
    };
    let (form, channels, rate, bits) =
        read().map_err(|error: Error| format!("is damaged: {error}"))?;
    let form = match body.get(SUB_FORMAT..SUB_FORMAT + 2) {
        Some(&[low, high]) if form == EXTENSIBLE => u16::from_le_bytes([low, high]),
        _ => form,
    };
    match (form, bits) {
        (PCM, 16) if channels > 0 && rate > 0 => Ok((channels, rate)),
        (PCM, 16) => Err("is damaged: it has no channels or no rate".to_owned()),
        (PCM, bits) => Err(format!(
            "has samples of {bits} bits, must have 16: {CONVERT}"
        )),
        (form, _) => Err(format!(
            "has samples of form {form:#x}, must be PCM: {CONVERT}"
        )),
    }
}

/// Returns the first loop of a `smpl` chunk.
fn loop_of(body: &[u8]) -> Option<(u32, u32)> {
    let word = |at: usize| Some(u32::from_le_bytes(*body.get(at..)?.first_chunk()?));
    (word(28)? > 0).then_some((word(44)?, word(48)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wav::write;

    fn written(wav: &Wav, samples: &[i16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(wav, samples, &mut bytes).unwrap();
        bytes
    }

    const WAV: Wav = Wav {
        channels: 2,
        rate: 22_050,
        samples: 2,
        loops: Some((0, 1)),
    };

    /// Returns a file with these chunks.
    fn chunks(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut body = b"WAVE".to_vec();
        for (kind, bytes) in chunks {
            body.extend_from_slice(*kind);
            body.extend((bytes.len() as u32).to_le_bytes());
            body.extend_from_slice(bytes);
            body.resize(body.len().next_multiple_of(2), 0);
        }
        [b"RIFF", &(body.len() as u32).to_le_bytes()[..], &body].concat()
    }

    fn format(form: u16, bits: u16) -> Vec<u8> {
        let block = bits / 8;
        let words = [form, 1, 8000, 0, 16_000, 0, block, bits];
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn a_written_file_reads_back_unchanged() {
        let samples = vec![1, -2, 32_767, -32_768];
        let edited = read(&written(&WAV, &samples)).unwrap();
        assert_eq!(edited, Edited { wav: WAV, samples });
    }

    #[test]
    fn extensible_files_and_other_chunks_are_accepted() {
        let mut extensible = format(EXTENSIBLE, 16);
        extensible.extend([22, 0, 16, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x10, 0]);
        extensible.extend([0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]);
        let file = chunks(&[
            (b"JUNK", b"odd"),
            (b"fmt ", &extensible),
            (b"data", &[5, 0]),
        ]);
        let edited = read(&file).unwrap();
        assert_eq!((edited.wav.rate, edited.samples), (8000, vec![5]));
        // FFmpeg and SoX do not know the length when they write to a pipe.
        for length in [u32::MAX, 0x7FFF_F000] {
            let mut piped = chunks(&[(b"fmt ", &format(1, 16)), (b"data", &[5, 0, 6, 0])]);
            piped[40..44].copy_from_slice(&length.to_le_bytes());
            assert_eq!(read(&piped).unwrap().samples, [5, 6]);
        }
    }

    #[test]
    fn other_files_are_refused_with_a_remedy() {
        let refused = |form, bits| {
            let file = chunks(&[(b"fmt ", &format(form, bits)), (b"data", &[0; 4])]);
            read(&file).unwrap_err()
        };
        assert_eq!(
            refused(1, 24),
            format!("has samples of 24 bits, must have 16: {CONVERT}")
        );
        assert!(refused(3, 32).contains("form 0x3"));
        assert!(read(b"OggS").unwrap_err().contains("is not a WAV file"));
        let mut whole = written(&WAV, &[0; 4]);
        whole.truncate(50);
        assert!(read(&whole).unwrap_err().starts_with("is damaged"));
    }
}
