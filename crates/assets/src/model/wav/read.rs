//! Edited WAV files from Audacity, FFmpeg and SoX. Samples of 8 to 32 bits are rounded
//! to 16 bits.

use super::{MAX_SAMPLES, Wav};
use hpimount_containers::io::{Cursor, Endian, Error};

/// Sample formats: integer, floating point, and extensible, which has the format in an
/// extension.
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xFFFE;

/// Offset of the sample format in an extensible `fmt ` chunk.
const SUB_FORMAT: usize = 24;

/// A `data` chunk of this length or more has an unknown length: programs that write to
/// a pipe do not know it.
const UNKNOWN: u32 = 0x7FFF_0000;

/// The remedy for samples of another form.
const CONVERT: &str = "convert it with `ffmpeg -i IN.wav -c:a pcm_s16le OUT.wav`";

/// A WAV file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// Properties.
    pub wav: Wav,
    /// The interleaved samples.
    pub samples: Vec<i16>,
}

/// Reads a WAV file.
///
/// # Errors
/// Returns the reason why the file cannot be read, with a remedy if possible.
pub fn read(bytes: &[u8]) -> Result<Edited, String> {
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
        // Chunks begin at even offsets. The last one may lack its padding.
        if size % 2 != 0 && cursor.remaining() > 0 {
            cursor.take(1, "padding").map_err(damaged)?;
        }
        match kind {
            b"fmt " if format.is_none() => format = Some(format_of(body)?),
            b"data" if data.is_none() => data = Some(body),
            b"smpl" => loops = loop_of(body)?,
            _ => {}
        }
    }
    let form = format.ok_or("is damaged: it has no chunk `fmt `")?;
    let data = data.ok_or("is damaged: it has no chunk `data`")?;
    let width = usize::from(form.bits / 8);
    let frame = width * usize::from(form.channels);
    let (frames, rest) = (data.len() / frame, data.len() % frame);
    if rest > 0 {
        return Err("is damaged: it ends in the middle of a sample".to_owned());
    }
    if frames * usize::from(form.channels) > MAX_SAMPLES {
        return Err(format!("has more than {MAX_SAMPLES} samples"));
    }
    if let Some((start, end)) = loops
        && (start > end || end as usize >= frames)
    {
        return Err(format!(
            "has a loop from sample {start} to {end}, but {frames} samples"
        ));
    }
    Ok(Edited {
        wav: Wav {
            channels: form.channels,
            rate: form.rate,
            samples: frames as u32,
            loops,
        },
        samples: data
            .chunks_exact(width)
            .map(|bytes| form.sample(bytes))
            .collect(),
    })
}

/// The form of the samples.
struct Form {
    channels: u16,
    /// Samples per second.
    rate: u32,
    /// Bits of a sample: 8, 16, 24 or 32; floating-point samples have 32 or 64.
    bits: u16,
    is_float: bool,
}

impl Form {
    /// Returns the nearest sample of 16 bits.
    fn sample(&self, bytes: &[u8]) -> i16 {
        const SCALE: f64 = 32_768.0;
        match *bytes {
            [a, b, c, d, e, f, g, h] => {
                (f64::from_le_bytes([a, b, c, d, e, f, g, h]) * SCALE).round() as i16
            }
            [a, b, c, d] if self.is_float => {
                (f64::from(f32::from_le_bytes([a, b, c, d])) * SCALE).round() as i16
            }
            [a, b, c, d] => nearest(i32::from_le_bytes([a, b, c, d])),
            [a, b, c] => nearest(i32::from_le_bytes([0, a, b, c])),
            [a, b] => i16::from_le_bytes([a, b]),
            // Samples of 8 bits are unsigned.
            [a] => (i16::from(a) - 0x80) << 8,
            _ => 0,
        }
    }
}

fn nearest(sample: i32) -> i16 {
    (sample.saturating_add(0x8000) >> 16) as i16
}

/// Reads a `fmt ` chunk.
fn format_of(body: &[u8]) -> Result<Form, String> {
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
    let is_float = form == FLOAT;
    match (form, bits) {
        (PCM, 8 | 16 | 24 | 32) | (FLOAT, 32 | 64) => {}
        (PCM | FLOAT, bits) => {
            return Err(format!("has samples of {bits} bits: {CONVERT}"));
        }
        (form, _) => {
            return Err(format!(
                "has samples of form {form:#x}, must be PCM: {CONVERT}"
            ));
        }
    }
    if channels == 0 || rate == 0 {
        return Err("is damaged: it has no channels or no rate".to_owned());
    }
    Ok(Form {
        channels,
        rate,
        bits,
        is_float,
    })
}

/// Returns the first loop of a `smpl` chunk: its first and last sample.
fn loop_of(body: &[u8]) -> Result<Option<(u32, u32)>, String> {
    let word = |at: usize| Some(u32::from_le_bytes(*body.get(at..)?.first_chunk()?));
    let words = || Some((word(28)?, word(40)?, word(44)?, word(48)?));
    match words() {
        None | Some((0, ..)) => Ok(None),
        Some((_, 0, start, end)) => Ok(Some((start, end))),
        Some((_, kind, ..)) => Err(format!("has a loop of type {kind}: only forward loops")),
    }
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
    fn samples_of_other_widths_become_the_nearest_ones() {
        let samples = |form, bits, data: &[u8]| {
            let file = chunks(&[(b"fmt ", &format(form, bits)), (b"data", data)]);
            read(&file).unwrap().samples
        };
        assert_eq!(samples(1, 8, &[0, 0x80, 0xFF]), [-32_768, 0, 0x7F00]);
        assert_eq!(
            samples(
                1,
                24,
                &[0x80, 1, 0, 0x7F, 1, 0, 0xFF, 0xFF, 0x7F, 0, 0, 0x80]
            ),
            [2, 1, 32_767, -32_768]
        );
        assert_eq!(samples(1, 32, &[0, 0x80, 1, 0, 0, 0, 0xFF, 0xFF]), [2, -1]);
        let floats = [0.5, -1.0, 1.5, f32::NAN, 3.0 / 32_768.0];
        let bytes = floats.map(f32::to_le_bytes);
        let expected = [16_384, -32_768, 32_767, 0, 3];
        assert_eq!(samples(3, 32, bytes.as_flattened()), expected);
        let bytes = floats.map(|float| f64::from(float).to_le_bytes());
        assert_eq!(samples(3, 64, bytes.as_flattened()), expected);
    }

    #[test]
    fn loops_that_are_not_played_forward_within_the_samples_are_refused() {
        let with_loop = |kind: u32, first: u32, last: u32| {
            let words = [0, 0, 0, 60, 0, 0, 0, 1, 0, 0, kind, first, last, 0, 0];
            let words = words.map(u32::to_le_bytes);
            let data = [0; 8];
            let file = [
                (b"fmt ", &*format(1, 16)),
                (b"data", &data),
                (b"smpl", words.as_flattened()),
            ];
            read(&chunks(&file)).map(|edited| edited.wav.loops)
        };
        assert_eq!(with_loop(0, 1, 3), Ok(Some((1, 3))));
        for kind in [1, 2] {
            let reason = format!("has a loop of type {kind}: only forward loops");
            assert_eq!(with_loop(kind, 1, 3), Err(reason));
        }
        for (first, last) in [(0, 4), (3, 2), (u32::MAX, u32::MAX)] {
            let reason = format!("has a loop from sample {first} to {last}, but 4 samples");
            assert_eq!(with_loop(0, first, last), Err(reason));
        }
    }

    #[test]
    fn other_files_are_refused_with_a_remedy() {
        let refused = |form, bits| {
            let file = chunks(&[(b"fmt ", &format(form, bits)), (b"data", &[0; 4])]);
            read(&file).unwrap_err()
        };
        assert_eq!(refused(1, 12), format!("has samples of 12 bits: {CONVERT}"));
        assert!(refused(2, 4).contains("form 0x2"));
        assert!(read(b"OggS").unwrap_err().contains("is not a WAV file"));
        let mut whole = written(&WAV, &[0; 4]);
        whole.truncate(50);
        assert!(read(&whole).unwrap_err().starts_with("is damaged"));
    }
}
