//! The header, programs and sounds of a bank.

use std::collections::HashMap;

use bytes::Bytes;
use get_size2::{GetSize, GetSizeTracker};
use hpimount_record::{self as record, Code, FixedSize, Pad, Record};

use hpimount_assets::model::math::exp2;
use hpimount_assets::model::wav::Wav;
use hpimount_assets::parse::spu::{self, Rounding};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files: banks, and headers with the sounds in another file.
pub const EXTENSIONS: &[&str] = &["vab", "vh"];

/// First bytes of a bank.
pub const MAGIC: &[u8] = b"pBAV";

/// Offset of the number of programs.
const PROGRAM_COUNT: u64 = 0x12;

/// Tones of a program.
const TONES: usize = 16;

/// Size of the table of sizes: 256 numbers of 16 bits.
const SIZES: usize = 512;

/// First version with 128 programs and sizes in units of 8 bytes.
const VERSION_128: u32 = 5;

/// Sample rate of a sound at its own note.
const RATE: f64 = 44_100.0;

/// The note of a WAV file.
const NOTE: u8 = 60;

/// Rates of a written sound.
const RATES: std::ops::RangeInclusive<f64> = 1000.0..=192_000.0;

/// Sample rate of a sound without a tone.
const ASSUMED_RATE: u32 = 11_025;

/// The header of a bank (neversoft.md 4).
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct VabHeader {
    /// `pBAV`.
    #[record(derived)]
    magic: Code,
    /// Version of the format.
    #[record(derived)]
    pub version: u32,
    /// Number of the bank.
    pub id: u32,
    /// Length of the bank in bytes.
    #[record(derived)]
    pub size: u32,
    reserved_16: Pad<2>,
    /// Number of programs.
    #[record(derived)]
    pub programs_count: u16,
    /// Number of tones.
    #[record(derived)]
    pub tones_count: u16,
    /// Number of sounds.
    #[record(derived)]
    pub sounds_count: u8,
    reserved_23: Pad<1>,
    /// Volume of the bank.
    pub volume: u8,
    /// Position of the bank between left and right.
    pub pan: u8,
    /// Two numbers for the game.
    pub attributes: [u8; 2],
    reserved_28: Pad<4>,
}

/// A parsed bank.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Vab {
    /// The header.
    pub header: VabHeader,
    /// Bytes of header and tables.
    pub header_size: usize,
    /// True if anything follows the header in the file.
    pub has_body: bool,
    /// End of the last sound, according to the table of sizes.
    pub body_end: usize,
    /// The programs that have tones.
    pub programs: Vec<Program>,
    /// The sounds.
    pub sounds: Vec<Sound>,
    /// Warnings.
    pub warnings: Warnings,
    beside: Beside,
}

/// Bytes of the file with the sounds, which the sounds keep in memory.
#[derive(Debug, Clone, Copy, Default)]
struct Beside(usize);

impl GetSize for Beside {
    fn get_heap_size_with_tracker<T: GetSizeTracker>(&self, tracker: T) -> (usize, T) {
        (self.0, tracker)
    }
}

/// A program: what an instrument plays.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Program {
    /// Number.
    pub slot: usize,
    /// Properties.
    pub header: ProgramHeader,
    /// Tones.
    pub tones: Vec<Tone>,
    /// Offset of the tones in the file.
    pub tones_offset: usize,
}

impl Program {
    /// Returns the offset of the program's properties in the file.
    pub fn offset(&self) -> usize {
        VabHeader::SIZE + self.slot * ProgramHeader::SIZE
    }

    /// Returns the offset of the tone with this number in the file.
    pub fn tone_offset(&self, tone: usize) -> usize {
        self.tones_offset + tone * Tone::SIZE
    }
}

/// An entry of the table of programs.
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct ProgramHeader {
    /// Number of tones.
    #[record(derived)]
    pub tones_count: u8,
    /// Volume.
    pub volume: u8,
    /// Priority when voices are short.
    pub priority: u8,
    /// Mode.
    pub mode: u8,
    /// Position between left and right.
    pub pan: u8,
    reserved: Pad<11>,
}

/// A sound with a range of notes.
#[derive(Debug, Clone, Default, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct Tone {
    /// Priority when voices are short.
    pub priority: u8,
    /// Mode.
    pub mode: u8,
    /// Volume.
    pub volume: u8,
    /// Position between left and right.
    pub pan: u8,
    /// The note with 44,100 samples per second.
    pub center: u8,
    /// Raises the pitch, in 1/128 of a semitone.
    pub shift: u8,
    /// Lowest note.
    pub min: u8,
    /// Highest note.
    pub max: u8,
    /// Width and time of the vibrato.
    pub vibrato: [u8; 2],
    /// Width and time of the portamento.
    pub portamento: [u8; 2],
    /// Largest bend down and up.
    pub bend: [u8; 2],
    reserved_14: Pad<2>,
    /// Registers of the envelope.
    #[record(parts = "1 2")]
    pub adsr: [u16; 2],
    /// Number of the program.
    pub program: i16,
    /// Number of the sound; banks mostly count from 1.
    pub sound: i16,
    reserved_24: Pad<8>,
}

/// A sound of the bank.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Sound {
    /// Number; few banks have a sound 0.
    pub index: usize,
    /// Offset in the bank, or in the file with the sounds.
    pub offset: usize,
    /// Length in bytes, as it is stored.
    pub size: usize,
    /// Samples per second at note 60.
    pub rate: u32,
    /// True if a tone determines the rate.
    pub has_tone: bool,
    /// Number of samples.
    pub samples: u32,
    /// First and last sample of the loop.
    pub loops: Option<(u32, u32)>,
    /// The reason why it cannot be read.
    pub problem: Option<String>,
    /// Blocks; empty if it cannot be read.
    #[get_size(ignore)]
    data: Bytes,
}

/// Parses a bank. Its sounds are in `beside`, if given, or else after the header.
///
/// # Errors
/// Returns [`Error::Damaged`] if it is not a bank, or the tables are incomplete.
pub fn parse(bytes: &Bytes, beside: Option<&Bytes>) -> Result<Vab> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let mut vab = Vab::default();
    vab.read_header(&mut cursor)?;
    let slots = if vab.header.version >= VERSION_128 {
        128
    } else {
        64
    };
    if usize::from(vab.header.programs_count) > slots {
        let problem = format!("are {}, more than {slots}", vab.header.programs_count);
        return Err(Error::damaged(PROGRAM_COUNT, "programs", problem));
    }
    let sizes = VabHeader::SIZE
        + ProgramHeader::SIZE * slots
        + TONES * Tone::SIZE * usize::from(vab.header.programs_count);
    vab.header_size = sizes + SIZES;
    if bytes.len() < vab.header_size {
        let (needed, have) = (vab.header_size, bytes.len());
        let problem = format!("need a header of {needed} bytes, the file has {have}");
        return Err(Error::damaged(PROGRAM_COUNT, "programs", problem));
    }
    vab.has_body = bytes.len() > vab.header_size;
    vab.read_programs(&mut cursor, slots)?;
    cursor.seek(sizes as u64, "table of sizes")?;
    let sizes = cursor.take(SIZES, "table of sizes")?;
    match beside {
        Some(body) => {
            vab.beside = Beside(body.len());
            vab.read_sounds(sizes, body, 0);
        }
        None => vab.read_sounds(sizes, bytes, vab.header_size),
    }
    Ok(vab)
}

impl Vab {
    fn read_header(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let magic = cursor.clone().take(MAGIC.len(), "magic")?;
        if magic != MAGIC {
            let problem = format!("is \"{}\", should be pBAV", magic.escape_ascii());
            return Err(Error::damaged(0, "magic", problem));
        }
        record::fill(&mut self.header, cursor)
    }

    /// Reads the programs with tones; their tables are consecutive.
    fn read_programs(&mut self, cursor: &mut Cursor<'_>, slots: usize) -> Result<()> {
        let count = usize::from(self.header.programs_count);
        let mut table = cursor.section(ProgramHeader::SIZE * slots, "programs")?;
        let mut tables = cursor.section(TONES * Tone::SIZE * count, "tones")?;
        for slot in 0..slots {
            let header: ProgramHeader = record::read(&mut table)?;
            let tones = header.tones_count;
            if tones == 0 {
                continue;
            }
            if self.programs.len() >= count {
                let warning = format!("program {slot} has no table of tones");
                self.warnings.push(warning);
                continue;
            }
            if usize::from(tones) > TONES {
                let warning = format!("program {slot} has {tones} tones, more than {TONES}");
                self.warnings.push(warning);
            }
            let mut own = tables.section(TONES * Tone::SIZE, "tones")?;
            let tones_offset = own.offset() as usize;
            let count = usize::from(tones).min(TONES);
            let tones = (0..count).map(|_| record::read(&mut own));
            self.programs.push(Program {
                slot,
                header,
                tones: tones.collect::<Result<_>>()?,
                tones_offset,
            });
        }
        self.check_programs();
        Ok(())
    }

    /// Adds warnings about inconsistent numbers.
    fn check_programs(&mut self) {
        let known = 0..=i16::from(self.header.sounds_count);
        for program in &self.programs {
            for (index, tone) in program.tones.iter().enumerate() {
                if !known.contains(&tone.sound) {
                    let (slot, sound) = (program.slot, tone.sound);
                    let count = self.header.sounds_count;
                    let warning =
                        format!("tone {index} of program {slot} has sound {sound} of {count}");
                    self.warnings.push(warning);
                }
            }
        }
        let (stored, found) = (usize::from(self.header.programs_count), self.programs.len());
        if stored != found {
            let warning = format!("the bank has {stored} programs, but {found} with tones");
            self.warnings.push(warning);
        }
        let tones = self.programs.iter().map(|program| program.tones.len());
        let (stored, found) = (usize::from(self.header.tones_count), tones.sum::<usize>());
        if stored != found {
            let warning = format!("the bank has {stored} tones, but its programs {found}");
            self.warnings.push(warning);
        }
    }

    /// Locates the consecutive sounds from `start` in `body`.
    fn read_sounds(&mut self, sizes: &[u8], body: &Bytes, start: usize) {
        let unit = if self.header.version >= VERSION_128 {
            8
        } else {
            4
        };
        let sizes = sizes.as_chunks().0.iter();
        let sizes = sizes.map(|&size| unit * usize::from(u16::from_le_bytes(size)));
        let rates = self.rates();
        let mut offset = start;
        for (index, size) in (0..=usize::from(self.header.sounds_count)).zip(sizes) {
            // Most banks have no sound 0.
            if (index, size) != (0, 0) {
                let rate = rates.get(&index).copied();
                let sound = Sound::find(index, body, [offset, size], rate);
                self.sounds.push(sound);
            }
            offset += size;
        }
        self.body_end = offset;
    }

    /// Returns the numbers of each tone: the position of its program in the list, and
    /// its own.
    pub fn tones(&self) -> impl Iterator<Item = (usize, usize)> {
        let programs = self.programs.iter().enumerate();
        programs
            .flat_map(|(number, program)| (0..program.tones.len()).map(move |tone| (number, tone)))
    }

    /// Returns the rate of each sound. The first tone with the sound decides.
    fn rates(&self) -> HashMap<usize, u32> {
        let mut rates = HashMap::new();
        for tone in self.programs.iter().flat_map(|program| &program.tones) {
            if let Ok(sound) = usize::try_from(tone.sound) {
                rates.entry(sound).or_insert_with(|| tone.rate(NOTE));
            }
        }
        rates
    }
}

impl Tone {
    /// Returns the sample rate of its sound at this note. The chip has steps of 1/16 of
    /// a semitone.
    pub fn rate(&self, note: u8) -> u32 {
        let semitones =
            f64::from(note) - f64::from(self.center) + f64::from(self.shift >> 3) / 16.0;
        let rate = RATE * exp2(semitones / 12.0);
        (rate + 0.5).floor().clamp(*RATES.start(), *RATES.end()) as u32
    }
}

impl Sound {
    fn find(index: usize, body: &Bytes, [offset, size]: [usize; 2], rate: Option<u32>) -> Self {
        let mut sound = Self {
            index,
            offset,
            size,
            rate: rate.unwrap_or(ASSUMED_RATE),
            has_tone: rate.is_some(),
            samples: 0,
            loops: None,
            problem: None,
            data: Bytes::new(),
        };
        let have = body.len().saturating_sub(offset).min(size);
        if have < size {
            sound.problem = Some(match have {
                0 => "is outside of the file".to_owned(),
                _ => format!("has {have} of {size} bytes"),
            });
        }
        if have >= spu::BLOCK {
            sound.data = body.slice(offset..offset + have);
            let mut warnings = Warnings::default();
            let extent = spu::extent(&sound.data, &mut warnings);
            (sound.samples, sound.loops) = (extent.samples, extent.loops);
            let texts = warnings.texts();
            if sound.problem.is_none() && !texts.is_empty() {
                sound.problem = Some(texts.join(", "));
            }
        }
        sound
    }

    /// Returns the properties of the WAV file; `None` without samples.
    pub fn wav(&self) -> Option<Wav> {
        (self.samples > 0).then_some(Wav {
            channels: 1,
            rate: self.rate,
            samples: self.samples,
            loops: self.loops,
        })
    }

    /// Returns the samples. They take at most four times the memory of their source.
    pub fn pcm(&self) -> Vec<i16> {
        let mut samples = vec![0; self.samples as usize];
        spu::decode(&self.data, Rounding::Terms, &mut samples);
        samples
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A bank of version 7 with a program of one tone, and this many one-block sounds.
    pub(crate) fn bank(sounds: u8) -> Vec<u8> {
        let mut file = b"pBAV\x07\0\0\0".to_vec();
        file.resize(0x20, 0);
        (file[0x12], file[0x14], file[0x16]) = (1, 1, sounds);
        file.resize(0x20 + 2048 + 512 + 512, 0);
        file[0x20 + 16 * 60] = 1;
        file[0x820 + 4..0x820 + 8].copy_from_slice(&[72, 64, 0, 127]);
        file[0x820 + 22] = 1;
        for sound in 1..=usize::from(sounds) {
            file[0xA20 + 2 * sound] = 2;
            file.extend([12, 1]);
            file.extend([0x11; 14]);
        }
        file
    }

    #[test]
    fn sounds_follow_each_other_and_have_the_rate_of_their_tone() {
        let vab = parse(&bank(2).into(), None).unwrap();
        assert!(vab.warnings.is_empty(), "{:?}", vab.warnings.texts());
        assert_eq!((vab.programs.len(), vab.programs[0].slot), (1, 60));
        let facts = |sound: &Sound| (sound.offset, sound.rate, sound.has_tone, sound.samples);
        let sounds: Vec<_> = vab.sounds.iter().map(facts).collect();
        assert_eq!(
            sounds,
            [(3104, 22_696, true, 28), (3120, 11_025, false, 28)]
        );
        assert_eq!(vab.sounds[1].pcm(), [1; 28]);
    }

    #[test]
    fn a_first_size_belongs_to_sound_0() {
        let mut bytes = bank(1);
        (bytes[0xA20], bytes[0x820 + 22]) = (2, 0);
        bytes.extend_from_within(3104..);
        let vab = parse(&bytes.into(), None).unwrap();
        let facts = |sound: &Sound| (sound.index, sound.offset, sound.rate, sound.samples);
        let sounds: Vec<_> = vab.sounds.iter().map(facts).collect();
        assert_eq!(sounds, [(0, 3104, 22_696, 28), (1, 3120, 11_025, 28)]);
        assert!(vab.warnings.is_empty(), "{:?}", vab.warnings.texts());
    }

    #[test]
    fn sounds_may_be_in_a_file_of_their_own() {
        let mut header = bank(2);
        let body: Bytes = header.split_off(3104).into();
        let vab = parse(&header.into(), Some(&body)).unwrap();
        assert!(!vab.has_body);
        assert_eq!(vab.sounds[1].offset, 16);
        assert_eq!(vab.sounds[1].samples, 28);
    }

    #[test]
    fn a_missing_sound_leaves_the_others() {
        let mut bytes = bank(3);
        bytes.truncate(3104 + 24);
        let vab = parse(&bytes.into(), None).unwrap();
        let problems = vab.sounds.iter().map(|sound| sound.problem.as_deref());
        assert_eq!(
            problems.collect::<Vec<_>>(),
            [
                None,
                Some("has 8 of 16 bytes"),
                Some("is outside of the file")
            ]
        );
        assert!(vab.sounds[1].wav().is_none());
    }

    #[test]
    fn numbers_that_do_not_fit_are_warnings() {
        let mut bytes = bank(1);
        (bytes[0x20], bytes[0x14], bytes[0x820 + 22]) = (17, 9, 5);
        let vab = parse(&bytes.into(), None).unwrap();
        let texts = vab.warnings.texts();
        assert_eq!(texts[0], "program 0 has 17 tones, more than 16");
        assert_eq!(texts[1], "program 60 has no table of tones");
        assert_eq!(texts[2], "tone 0 of program 0 has sound 5 of 1");
        assert_eq!(texts[3], "the bank has 9 tones, but its programs 16");
        assert_eq!(texts.len(), 4);
    }

    #[test]
    fn damage_is_an_error_at_its_field() {
        let error = |bytes: Vec<u8>| parse(&bytes.into(), None).unwrap_err().to_string();
        assert_eq!(
            error(b"pBAX".to_vec()),
            "magic at 0x0: is \"pBAX\", should be pBAV"
        );
        let mut bytes = bank(0);
        bytes.pop();
        assert_eq!(
            error(bytes),
            "programs at 0x12: need a header of 3104 bytes, the file has 3103"
        );
        let mut bytes = bank(0);
        bytes[0x12] = 129;
        assert_eq!(error(bytes), "programs at 0x12: are 129, more than 128");
    }
}
