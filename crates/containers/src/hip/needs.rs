//! Files that no asset of a type can be: plain texts, pictures and sounds in
//! the formats of other programs.

use super::{Offsets, Platform};
use crate::changes::NewFile;
use crate::io::{Endian, Result, read_vec};

/// Number of bytes of a file that decide.
const HEAD: usize = 512;

/// Minimum length of a plain text that is not taken for samples or a model.
const MIN_TEXT: usize = 12;

/// A file that is no asset, but that one may be made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// The reason why it is no asset of its type.
    pub problem: String,
    /// The extension that files of its kind have.
    pub extension: &'static str,
}

/// Returns why a file cannot be the asset with this number of an archive; `None` if
/// it may be.
///
/// # Errors
/// Returns an error if it cannot be read.
///
/// # Panics
/// Panics if there is no asset with this number.
pub fn of_asset(offsets: &Offsets, number: u32, file: &NewFile) -> Result<Option<Other>> {
    of_type(offsets.assets[number as usize].code, offsets.platform, file)
}

/// Returns why a file cannot be an asset of this type; `None` if it may be.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(super) fn of_type(code: [u8; 4], platform: Platform, file: &NewFile) -> Result<Option<Other>> {
    let Ok(size) = u32::try_from(file.len()) else {
        return Ok(Some(Other {
            problem: "is larger than 4 GiB".to_owned(),
            extension: "",
        }));
    };
    let length = file.len().min(HEAD as u64);
    let head = read_vec(file, 0, length, "asset")?;
    Ok(problem(code, platform, &head, size))
}

/// Returns why a file of `size` bytes, which begins with `head`, cannot be an
/// asset of type `code`; `None` if it may be one.
fn problem(code: [u8; 4], platform: Platform, head: &[u8], size: u32) -> Option<Other> {
    let needed = match &code {
        b"RWTX" | b"TEXS" => "a texture dictionary of RenderWare in the form of the console",
        b"MODL" => "a clump of RenderWare",
        b"SND " | b"SNDS" => {
            "samples in the form of the console, without a header, which is in SNDI"
        }
        b"TEXT" => "the length of the text in 4 bytes, the text and a NUL",
        _ => return None,
    };
    let foreign = FOREIGN.iter().find(|foreign| foreign.begins(head));
    let is_dsp = platform == Platform::GameCube && matches!(&code, b"SND " | b"SNDS");
    let other_sound = if is_dsp { not_dsp(head) } else { None };
    let is_text = || head.iter().any(u8::is_ascii_graphic) && head.iter().all(is_character);
    let (found, extension) = match (&code, foreign) {
        (_, Some(foreign)) => (foreign.name, foreign.extension),
        (b"TEXT", None) if !is_text() || has_length(platform.endian(), head, size) => return None,
        (b"TEXT", None) => ("plain text", "txt"),
        // Shorter ones may be anything.
        (_, None) if head.len() >= MIN_TEXT && head.is_ascii() && is_text() => {
            ("plain text", "txt")
        }
        _ => other_sound?,
    };
    let code = code.escape_ascii().to_string();
    let code = code.trim_end();
    Some(Other {
        problem: format!("is {found}: an asset of type {code} is {needed}"),
        extension,
    })
}

/// Files of other programs.
struct Foreign {
    name: &'static str,
    extension: &'static str,
    magic: &'static [u8],
    /// The form type of RIFF files, at offset 8.
    form: &'static [u8],
}

impl Foreign {
    const fn new(name: &'static str, extension: &'static str, magic: &'static [u8]) -> Self {
        Self {
            name,
            extension,
            magic,
            form: b"",
        }
    }

    fn begins(&self, head: &[u8]) -> bool {
        let form = head.get(8..).unwrap_or_default();
        head.starts_with(self.magic) && form.starts_with(self.form)
    }
}

const FOREIGN: [Foreign; 9] = [
    Foreign::new("a PNG picture", "png", b"\x89PNG"),
    Foreign::new("a JPEG picture", "jpg", b"\xFF\xD8\xFF"),
    Foreign::new("a GIF picture", "gif", b"GIF8"),
    Foreign::new("a DDS picture", "dds", b"DDS "),
    Foreign {
        form: b"WAVE",
        ..Foreign::new("a WAV file", "wav", b"RIFF")
    },
    Foreign::new("an Ogg file", "ogg", b"OggS"),
    Foreign::new("an MP3 file", "mp3", b"ID3"),
    Foreign::new("a VAG file with its header", "vag", b"VAGp"),
    Foreign::new("a glTF model", "glb", b"glTF"),
];

/// Returns whether a file may begin with the length of a text.
fn has_length(endian: Endian, head: &[u8], size: u32) -> bool {
    head.first_chunk().is_some_and(|&word| {
        let length = match endian {
            Endian::Big => u32::from_be_bytes(word),
            Endian::Little => u32::from_le_bytes(word),
        };
        length <= size.saturating_sub(4)
    })
}

/// Length of a frame of DSP-ADPCM. The first byte has the number of a predictor, 0
/// to 7, in its upper half.
const FRAME: usize = 8;

/// Minimum number of frames that decide, and the part of them that may be wrong: what
/// follows the samples is not cleared.
const MIN_FRAMES: usize = 8;
const WRONG: usize = 4;

/// Length of the header of a DSP file up to its coefficients.
const DSP_HEADER: usize = 0x1C;

/// Returns what a file is that is no frames of DSP-ADPCM, and the extension of such
/// files; `None` if it may be frames, or a bank of sounds.
fn not_dsp(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if is_dsp_header(head) {
        return Some(("a DSP file with its header", "dsp"));
    }
    let frames = head.chunks_exact(FRAME);
    let count = frames.len();
    let wrong = frames.filter(|frame| frame[0] >= 0x80).count();
    let is_other = count >= MIN_FRAMES && wrong * WRONG > count && !head.starts_with(b"FSB");
    is_other.then_some(("no DSP-ADPCM, whose frames begin with bytes below 0x80", ""))
}

/// Returns whether a file begins with the header of a DSP file: counts of samples and
/// nibbles that agree, a sample rate, the flag of a loop, and the format 0.
fn is_dsp_header(head: &[u8]) -> bool {
    let word = |at: usize| {
        let word = head.get(at..at + 4).and_then(|word| word.first_chunk());
        word.map_or(0, |&word| u32::from_be_bytes(word))
    };
    let (samples, nibbles) = (u64::from(word(0)), u64::from(word(4)));
    head.len() >= DSP_HEADER
        && samples > 0
        && nibbles == samples + 2 * samples.div_ceil(14)
        && (1000..=96_000).contains(&word(8))
        && matches!(word(12), 0 | 0x1_0000)
}

fn is_character(byte: &u8) -> bool {
    *byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &[u8; 4], bytes: &[u8]) -> bool {
        problem(*code, Platform::GameCube, bytes, bytes.len() as u32).is_some()
    }

    #[test]
    fn sounds_of_gamecube_are_frames_without_a_header() {
        let mut state = 1_u32;
        let noise = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let noise: Vec<u8> = (0..512).map(noise).collect();
        let mut frames = noise.clone();
        frames.chunks_mut(FRAME).for_each(|frame| frame[0] &= 0x7F);
        let words = [28, 32, 22_050, 0, 2, 31, 2];
        let header: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        let file = [&header[..], &frames].concat();
        for code in [b"SND ", b"SNDS"] {
            assert!(refused(code, &noise) && refused(code, &file));
            assert!(!refused(code, &frames) && !refused(code, &noise[..32]));
            assert!(!refused(code, &[b"FSB3", &noise[..]].concat()));
            let found = problem(*code, Platform::Xbox, &noise, 512);
            assert_eq!(found, None, "samples of other consoles may be anything");
        }
        let problem = problem(*b"SND ", Platform::GameCube, &noise, 512).unwrap();
        assert_eq!(
            problem.problem,
            "is no DSP-ADPCM, whose frames begin with bytes below 0x80: an asset of type SND is \
             samples in the form of the console, without a header, which is in SNDI"
        );
    }

    #[test]
    fn pictures_sounds_and_plain_texts_are_no_assets() {
        let (png, wav) = (b"\x89PNG\r\n\x1a\n", b"RIFF\x24\0\0\0WAVEfmt ");
        assert!(refused(b"RWTX", png) && refused(b"TEXS", png));
        assert!(refused(b"SND ", wav) && refused(b"SNDS", wav));
        assert!(refused(b"TEXT", png) && refused(b"TEXT", b"Hello\r\nyou\n"));
        assert!(refused(b"RWTX", b"\xFF\xD8\xFF\xE0"));
        assert!(refused(b"MODL", b"o cube\nv 0 0 0\n"));
        assert!(refused(b"SND ", b"not a sound at all"));
        assert_eq!(
            problem(*b"TEXT", Platform::Xbox, b"bye", 3)
                .unwrap()
                .problem,
            "is plain text: an asset of type TEXT is the length of the text in 4 bytes, the text \
             and a NUL"
        );
    }

    #[test]
    fn assets_are_accepted() {
        assert!(!refused(b"TEXT", b"\0\0\0\x03bye\0"));
        assert!(!refused(b"TEXT", b""));
        assert!(!refused(b"RWTX", b"\x16\0\0\0"));
        assert!(!refused(b"MODL", b"\x10\0\0\0"));
        assert!(!refused(b"SND ", b"RIFF\0samples!\0\0\0"));
        // The possible contents of other types are not known.
        assert!(!refused(b"RAW ", b"\x89PNG\r\n\x1a\n"));
    }
}
