//! View of a bank: facts, a table, and a WAV for each sound.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::model::{not_shown, padded, wav};
use crate::neversoft::kat::{self, Entry, Kat};
use crate::view::converted::{Conversion, Converted};
use crate::view::damaged::failure;
use crate::view::json::Seq;
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};

/// Banks of sounds of the Dreamcast.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: kat::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("KAT", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = kat::parse(bytes).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("sounds.tsv", sounds),
    ]);
    let mut problems = Vec::new();
    for (part, entry) in model.entries.iter().enumerate() {
        let Some(wav) = entry.wav() else { continue };
        let name = format!("{}.wav", padded(part, model.entries.len(), 3));
        match wav.length_problem() {
            None => {
                let file = Listed::new(None, name, Render::Part(sound, part));
                files.push(file.sized(wav.size()));
            }
            Some(problem) => problems.push(not_shown(name, problem)),
        }
    }
    for problem in problems {
        model.warnings.push(problem);
    }
    Ok(Box::new(ListedView { model, files }))
}

fn info(kat: &Kat, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Facts<'a> {
        format: &'static str,
        entries: Seq<'a, Value>,
        warnings: Vec<String>,
    }
    let facts = Facts {
        format: FORMAT.name,
        entries: Seq::new(|| {
            let entries = kat.entries.iter().enumerate();
            entries.map(|(index, entry)| entry_facts(index, entry))
        }),
        warnings: kat.warnings.texts(),
    };
    json::write_pretty(&facts, out)
}

fn entry_facts(index: usize, entry: &Entry) -> Value {
    let mut facts = json!({
        "index": index,
        "channels": entry.channels,
        "offset": entry.offset,
        "size": entry.size,
        "rate": entry.rate,
        "loop": entry.repeats,
        "bits": entry.bits,
        "id": entry.id,
    });
    if !entry.name.is_empty() {
        facts["name"] = entry.name.as_str().into();
    }
    if let Some(problem) = &entry.problem {
        facts["problem"] = problem.as_str().into();
    }
    if let Some(wav) = entry.wav() {
        facts["sound"] = json!({
            "channels": wav.channels,
            "rate": wav.rate,
            "samples": wav.samples,
            "loop": wav.loops,
        });
    }
    facts
}

fn page(kat: &Kat, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("KAT bank of sounds");
    page.line("sounds", kat.entries.len());
    let samples = kat.entries.iter().filter(|entry| entry.samples > 0);
    page.line("played", samples.count());
    page.write(&kat.warnings, out)
}

fn sounds(kat: &Kat, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "id", "name", "offset", "size", "rate", "bits", "samples", "loop",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, entry) in kat.entries.iter().enumerate() {
        table
            .cell(index)
            .cell(entry.id)
            .text(&entry.name)
            .cell(entry.offset)
            .cell(entry.size)
            .cell(entry.rate)
            .cell(entry.bits)
            .cell(entry.samples)
            .cell(entry.repeats)
            .end_row()?;
    }
    Ok(())
}

fn sound(kat: &Kat, part: usize, out: &mut dyn Write) -> io::Result<()> {
    match kat
        .entries
        .get(part)
        .and_then(|entry| Some((entry, entry.wav()?)))
    {
        Some((entry, wav)) => wav::write(&wav, &kat.pcm(entry), out),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neversoft::kat::parse::tests::bank;
    use crate::view::rendered;

    #[test]
    fn the_table_lists_all_sounds() {
        assert_eq!(
            rendered(open, &bank(&[16, 8]), "sounds.tsv"),
            "index\tid\tname\toffset\tsize\trate\tbits\tsamples\tloop\n\
             0\t1000\t\t92\t4\t11025\t16\t2\t0\n\
             1\t1000\t\t92\t4\t11025\t8\t4\t1\n"
        );
    }
}
