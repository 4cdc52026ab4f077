//! SFX: the cues of a table, with their view: facts and a table.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Pad, Record};

use crate::kat::{self, Kat};
use crate::vab::{self, Vab};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::io::{Cursor, Endian, Error, Warnings};

/// Tables of cues.
pub const CUE_FORMAT: ViewFormat = ViewFormat {
    extensions: CUE_EXTENSIONS,
    ..ViewFormat::new("SFX", open)
};

/// Extensions of the files.
pub const CUE_EXTENSIONS: &[&str] = &["sfx"];

/// The mark of the end.
const END: [u8; 4] = [0xFF; 4];

/// The mark of a looping cue.
const REPEATS: u8 = 0xFE;

/// A parsed table.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Cues {
    /// The cues.
    pub cues: Vec<Cue>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A cue with its sound.
#[derive(Debug, Clone, GetSize)]
pub struct Cue {
    /// The cue as it is stored.
    pub stored: StoredCue,
    /// The sound of the cue, and its sample rate.
    pub plays: Option<(usize, u32)>,
}

/// A cue as it is stored.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/neversoft.md")]
pub struct StoredCue {
    /// 0xFE for a sound that is repeated.
    pub marker: u8,
    /// Number of the program in the bank; with a KAT, number of the sound.
    pub program: u8,
    /// Number of the tone in the program.
    pub tone: u8,
    /// The note to play.
    pub note: u8,
    /// Pitch.
    pub pitch: u16,
    /// Volume.
    pub volume: u16,
    /// Number of the cue in the game.
    pub alias: u16,
    rest: Pad<6>,
}

/// Parses a table.
///
/// # Errors
/// Returns [`Error::Damaged`] if it has no cues, or their last bytes are used.
pub fn parse(bytes: &[u8]) -> Result<Cues, Error> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let mut table = Cues::default();
    while cursor.remaining() >= StoredCue::SIZE {
        let mut next = cursor.clone();
        let stored: StoredCue = record::read(&mut next)?;
        let head = [stored.marker, stored.program, stored.tone, stored.note];
        if head == END || stored == StoredCue::default() {
            break;
        }
        if stored.rest != Pad::default() {
            let at = cursor.offset() + 10;
            return Err(Error::damaged(at, "cue", "does not end with zeros"));
        }
        table.cues.push(Cue {
            stored,
            plays: None,
        });
        cursor = next;
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
    /// Finds the sounds in a PlayStation bank.
    pub fn find_in_vab(&mut self, vab: &Vab) {
        for cue in &mut self.cues {
            let program = vab.programs.get(usize::from(cue.stored.program));
            let tone = program.and_then(|program| program.tones.get(usize::from(cue.stored.tone)));
            cue.plays = tone.and_then(|tone| {
                let sound = usize::try_from(tone.sound).ok()?;
                Some((sound, tone.rate(cue.stored.note)))
            });
        }
    }

    /// Finds the sounds in a Dreamcast bank, if the cues have no tones. Cues with tones
    /// need the programs of another bank.
    pub fn find_in_kat(&mut self, kat: &Kat) {
        if self.cues.iter().any(|cue| cue.stored.tone != 0) {
            return;
        }
        for cue in &mut self.cues {
            let sound = usize::from(cue.stored.program);
            let entry = kat.entries.get(sound);
            cue.plays = entry.map(|entry| (sound, entry.stored.rate));
        }
    }
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let mut cues = parse(bytes)?;
    find_sounds(&mut cues, context);
    let warnings = std::mem::take(&mut cues.warnings);
    let found = cues.cues.iter().filter(|cue| cue.plays.is_some());
    let mut page = Page::new(CUE_FORMAT.name, "SFX table of cues", warnings);
    page.fact("with_sound", found.count()).rows("cues", rows);
    Ok(page.show(cues, None))
}

/// Finds the sounds of cues in the bank with the same stem.
fn find_sounds(cues: &mut Cues, context: &dyn AssetContext) {
    let Some((stem, _)) = context.name().rsplit_once('.') else {
        return;
    };
    let bank = |extension: &str| context.read_sibling(&format!("{stem}.{extension}"));
    let programs = bank("vab").or_else(|| bank("vh"));
    if let Some(vab) = programs.and_then(|bytes| vab::parse(&bytes, None).ok()) {
        cues.find_in_vab(&vab);
    } else if let Some(kat) = bank("kat").and_then(|bytes| kat::parse(&bytes).ok()) {
        cues.find_in_kat(&kat);
    }
}

fn rows(cues: &Cues) -> Rows<'_> {
    let cues = &cues.cues;
    let numbered = cues.iter().enumerate();
    let numbered = numbered.map(|(index, cue)| {
        let is_repeated = cue.stored.marker == REPEATS;
        ([index.into(), is_repeated.into()], &cue.stored)
    });
    Rows::keyed(["index", "loop"], numbered).and(["sound", "rate"], |index| {
        let (sound, rate) = cues[index].plays.unzip();
        [sound.into(), rate.into()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kat::parse::tests::bank as kat_bank;
    use crate::vab::parse::tests::bank as vab_bank;
    use hpimount_assets::view::{AssetKey, AssetRef, MakeShared, Shared};
    use std::sync::Arc;

    /// Returns a table of cues: marker, program, tone, note.
    fn table(cues: &[[u8; 4]]) -> Vec<u8> {
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
        assert_eq!(
            (table.cues[0].stored.program, table.cues[0].stored.volume),
            (1, 127)
        );
        assert_eq!(table.cues[1].stored.marker, REPEATS);
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

    /// A directory with a table and a bank.
    struct Directory {
        bank: &'static str,
        bytes: Vec<u8>,
    }

    impl AssetContext for Directory {
        fn name(&self) -> &str {
            "skate.sfx"
        }

        fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
            (key == AssetKey::Sibling(self.bank)).then_some(AssetRef(0))
        }

        fn read(&self, _file: AssetRef) -> Option<Bytes> {
            Some(self.bytes.clone().into())
        }

        fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            Some(make(self).into())
        }
    }

    fn plays(bank: &'static str, bytes: Vec<u8>, cues: &[[u8; 4]]) -> Vec<Option<(usize, u32)>> {
        let mut cues = parse(&table(cues)).unwrap();
        find_sounds(&mut cues, &Directory { bank, bytes });
        cues.cues.iter().map(|cue| cue.plays).collect()
    }

    #[test]
    fn cues_play_the_tones_of_a_bank_at_their_note() {
        // The bank has a tone with note 72 as its center, half a semitone up.
        let cues = [[0, 0, 0, 72], [0, 0, 0, 60], [0, 0, 9, 60]];
        let found = plays("skate.vab", vab_bank(1), &cues);
        assert_eq!(found, [Some((1, 45_392)), Some((1, 22_696)), None]);
    }

    #[test]
    fn cues_without_tones_play_the_sounds_of_a_bank_of_the_dreamcast() {
        let cues = [[0, 1, 0, 60], [0, 5, 0, 60]];
        let found = plays("skate.kat", kat_bank(&[16, 8]), &cues);
        assert_eq!(found, [Some((1, 11_025)), None]);
        let found = plays("skate.kat", kat_bank(&[16]), &[[0, 0, 1, 60]]);
        assert_eq!(found, [None]);
    }
}
