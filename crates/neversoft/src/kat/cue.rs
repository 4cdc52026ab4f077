//! The cues of a table.

use get_size2::GetSize;

use crate::kat::Kat;
use crate::vab::Vab;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const CUE_EXTENSIONS: &[&str] = &["sfx"];

/// Bytes of a cue.
const CUE: usize = 16;

/// The mark of the end.
const END: [u8; 4] = [0xFF; 4];

/// The mark of a cue that is repeated.
const REPEATS: u8 = 0xFE;

/// A parsed table.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Cues {
    /// The cues.
    pub cues: Vec<Cue>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A cue.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Cue {
    /// 0xFE for a sound that is repeated.
    pub marker: u8,
    /// Number of the program in the bank; with a KAT, of the sound.
    pub program: u8,
    /// Number of the tone in the program.
    pub tone: u8,
    /// The note to play.
    pub note: u8,
    /// Pitch.
    pub pitch: u16,
    /// Volume.
    pub volume: u16,
    /// Number that the game uses for the cue.
    pub alias: u16,
    /// The sound that it plays, and its samples per second.
    pub plays: Option<(usize, u32)>,
}

impl Cue {
    /// Returns whether the sound is repeated.
    pub fn is_repeated(&self) -> bool {
        self.marker == REPEATS
    }
}

/// Parses a table.
///
/// # Errors
/// Returns [`Error::Damaged`] if it has no cues, or their last bytes are used.
pub fn parse(bytes: &[u8]) -> Result<Cues> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let mut table = Cues::default();
    while cursor.remaining() >= CUE {
        let mut cue = cursor.clone().section(CUE, "cue")?;
        let whole: [u8; CUE] = *cue.clone().record("cue")?;
        if whole.starts_with(&END) || whole == [0; CUE] {
            break;
        }
        let mut byte = || cue.u8("cue");
        let [marker, program, tone, note] = [byte()?, byte()?, byte()?, byte()?];
        table.cues.push(Cue {
            marker,
            program,
            tone,
            note,
            pitch: cue.u16("pitch")?,
            volume: cue.u16("volume")?,
            alias: cue.u16("alias")?,
            plays: None,
        });
        let at = cue.offset();
        if cue
            .take(cue.remaining(), "rest")?
            .iter()
            .any(|&byte| byte != 0)
        {
            return Err(Error::damaged(at, "cue", "does not end with zeros"));
        }
        cursor.take(CUE, "cue")?;
    }
    if table.cues.is_empty() {
        return Err(Error::damaged(0, "table", "has no cues"));
    }
    if cursor.take(END.len(), "end").ok() != Some(&END) {
        table.warnings.push("the end has no mark");
    }
    Ok(table)
}

impl Cues {
    /// Finds the sounds in a bank of the PlayStation.
    pub fn find_in_vab(&mut self, vab: &Vab) {
        for cue in &mut self.cues {
            let program = vab.programs.get(usize::from(cue.program));
            let tone = program.and_then(|program| program.tones.get(usize::from(cue.tone)));
            cue.plays = tone.and_then(|tone| {
                let sound = usize::try_from(tone.sound).ok()?;
                Some((sound, tone.rate(cue.note)))
            });
        }
    }

    /// Finds the sounds in a bank of the Dreamcast, if the cues have no tones:
    /// those with tones need the programs of another bank.
    pub fn find_in_kat(&mut self, kat: &Kat) {
        if self.cues.iter().any(|cue| cue.tone != 0) {
            return;
        }
        for cue in &mut self.cues {
            let sound = usize::from(cue.program);
            let entry = kat.entries.get(sound);
            cue.plays = entry.map(|entry| (sound, entry.stored.rate));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a table of cues: marker, program, tone, note.
    pub(crate) fn table(cues: &[[u8; 4]]) -> Vec<u8> {
        let cues = cues
            .iter()
            .map(|cue| [&cue[..], &[1, 0, 127, 0, 9, 0], &[0; 6]].concat());
        [cues.collect::<Vec<_>>().concat(), END.to_vec()].concat()
    }

    #[test]
    fn cues_end_at_the_mark() {
        let mut bytes = table(&[[0, 1, 2, 60], [0xFE, 3, 0, 64]]);
        let table = parse(&bytes).unwrap();
        assert_eq!(table.cues.len(), 2);
        assert_eq!((table.cues[0].program, table.cues[0].volume), (1, 127));
        assert!(table.cues[1].is_repeated());
        assert!(table.warnings.is_empty());
        bytes.truncate(32);
        bytes.extend([0; 16]);
        assert_eq!(parse(&bytes).unwrap().warnings.len(), 1);
    }

    #[test]
    fn other_files_are_refused() {
        let mut bytes = table(&[[0, 1, 2, 60]]);
        bytes[12] = 1;
        let error = parse(&bytes).unwrap_err().to_string();
        assert!(error.starts_with("cue at 0xa: "), "{error}");
        assert!(parse(&END.repeat(4)).is_err());
    }
}
