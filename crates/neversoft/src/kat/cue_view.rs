//! View of a table of cues: facts and a table.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use super::cue::{self, Cue, Cues};
use crate::{kat, vab};
use hpimount_assets::view::damaged::failure;
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};

/// Tables of cues.
pub const CUE_FORMAT: ViewFormat = ViewFormat {
    extensions: cue::CUE_EXTENSIONS,
    ..ViewFormat::new("SFX", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = cue::parse(bytes).map_err(|error| failure(&CUE_FORMAT, bytes, error))?;
    find_sounds(&mut model, context);
    let files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("cues.tsv", table),
    ]);
    Ok(Box::new(ListedView { model, files }))
}

/// Finds the sounds of cues in the bank of the same stem.
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

fn info(cues: &Cues, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Facts<'a> {
        format: &'static str,
        cues: Seq<'a, Value>,
        warnings: Vec<String>,
    }
    let facts = Facts {
        format: CUE_FORMAT.name,
        cues: Seq::new(|| cues.cues.iter().map(cue_facts)),
        warnings: cues.warnings.texts(),
    };
    json::write_pretty(&facts, out)
}

fn cue_facts(cue: &Cue) -> Value {
    let mut facts = json!({
        "loop": cue.is_repeated(),
        "marker": cue.marker,
        "program": cue.program,
        "tone": cue.tone,
        "note": cue.note,
        "pitch": cue.pitch,
        "volume": cue.volume,
        "alias": cue.alias,
    });
    if let Some((sound, rate)) = cue.plays {
        facts["sound"] = sound.into();
        facts["rate"] = rate.into();
    }
    facts
}

fn page(cues: &Cues, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("SFX table of cues");
    page.line("cues", cues.cues.len());
    let found = cues.cues.iter().filter(|cue| cue.plays.is_some());
    page.line("with a sound", found.count());
    page.write(&cues.warnings, out)
}

fn table(cues: &Cues, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "loop", "program", "tone", "note", "pitch", "volume", "alias", "sound", "rate",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, cue) in cues.cues.iter().enumerate() {
        let (sound, rate) = cue.plays.unzip();
        table
            .cell(index)
            .cell(cue.is_repeated())
            .cell(cue.program)
            .cell(cue.tone)
            .cell(cue.note)
            .cell(cue.pitch)
            .cell(cue.volume)
            .cell(cue.alias)
            .optional(sound)
            .optional(rate)
            .end_row()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kat::cue::tests::table;
    use crate::kat::parse::tests::bank as kat_bank;
    use crate::vab::parse::tests::bank as vab_bank;
    use hpimount_assets::view::{AssetRef, MakeShared, Shared, Wanted};
    use std::sync::Arc;

    /// A directory with a table and a bank.
    struct Directory {
        bank: &'static str,
        bytes: Vec<u8>,
    }

    impl AssetContext for Directory {
        fn name(&self) -> &str {
            "skate.sfx"
        }

        fn find(&self, wanted: Wanted<'_>) -> Option<AssetRef> {
            (wanted == Wanted::Sibling(self.bank)).then_some(AssetRef(0))
        }

        fn read(&self, _file: AssetRef) -> Option<Bytes> {
            Some(self.bytes.clone().into())
        }

        fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            Some(make(self).into())
        }
    }

    fn plays(bank: &'static str, bytes: Vec<u8>, cues: &[[u8; 4]]) -> Vec<Option<(usize, u32)>> {
        let mut cues = cue::parse(&table(cues)).unwrap();
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
