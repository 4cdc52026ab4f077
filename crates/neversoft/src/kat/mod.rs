//! KAT: sounds of the Dreamcast and PC ports; SFX: tables of cues that play sounds of a
//! KAT or VAB (FORMATS, Neversoft 11).
//!
//! [`parse`](mod@parse) finds the sounds, and `aica` decodes them. The view has facts,
//! a table, and a WAV file for each sound.

mod aica;
pub mod cue;
pub mod parse;

pub use self::cue::CUE_FORMAT;
pub use self::parse::*;

use bytes::Bytes;

use hpimount_assets::model::padded;
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};

/// Banks of sounds of the Dreamcast.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    left_out: &[Editable::new(
        "*.wav",
        "is a sound of a KAT, which is not encoded",
    )],
    ..ViewFormat::new("KAT", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut kat = parse(bytes)?;
    let warnings = std::mem::take(&mut kat.warnings);
    let mut page = Page::new(FORMAT.name, "KAT bank of sounds", warnings);
    let played = kat.entries.iter().filter(|entry| entry.samples > 0);
    page.fact("played", played.count())
        .rows("sounds", sounds)
        .measures(|kat| {
            let entries = kat.entries.iter();
            entries
                .map(|entry| Measures::sound(entry.samples, entry.stored.rate))
                .sum()
        });
    for (part, entry) in kat.entries.iter().enumerate() {
        if let Some(wav) = entry.wav() {
            let name = format!("{}.wav", padded(part, kat.entries.len(), 3));
            page.wav(name, wav, move |kat: &Kat| kat.pcm(&kat.entries[part]));
        }
    }
    Ok(page.show(kat, None))
}

fn sounds(kat: &Kat) -> Rows<'_> {
    let stored = kat.entries.iter().enumerate();
    let stored = stored.map(|(index, entry)| ([index.into()], &entry.stored));
    Rows::keyed(["index"], stored).and(["samples", "problem"], |index| {
        let Entry {
            samples, problem, ..
        } = &kat.entries[index];
        [(*samples).into(), problem.clone().into()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kat::parse::tests::bank;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn the_table_lists_all_sounds() {
        assert_eq!(
            rendered(&bank(&[16, 8]), "sounds.tsv"),
            "index\tchannels\toffset\tsize\trate\tloop\tbits\tid\tname\tsamples\tproblem\n\
             0\t1\t92\t4\t11025\t0\t16\t1000\t\t2\t\n\
             1\t1\t92\t4\t11025\t1\t8\t1000\t\t4\t\n"
        );
    }
}
