//! View of a `*.hgo.blk` file: its table of blocks.

use std::io::{self, Write};

use bytes::Bytes;
use serde::Serialize;

use super::tables::{meaning, tag};
use crate::crash::hgo::parse::blk::{self, BlockTable, Entry, Mismatch};
use crate::view::converted::{Conversion, Converted};
use crate::view::json::{self, Seq};
use crate::view::listed::{ListedView, whole_files};
use crate::view::{AssetContext, Failure, Summary, Table, View, ViewFormat};
use hpimount_containers::io::Warnings;

/// Tables of the blocks of an HGO file.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: blk::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| blk::begins(bytes)),
    ..ViewFormat::new("HGO block table", open)
};

fn open(bytes: &Bytes, _siblings: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    match blk::parse(bytes) {
        Ok(model) => Ok(Box::new(ListedView {
            model,
            files: whole_files(&[
                ("info.json", info_json),
                ("info.txt", info_text),
                ("blocks.tsv", blocks),
            ]),
        })),
        Err(incomplete) => Err(Box::new(Failure {
            partial: partial(&incomplete.model),
            error: incomplete.error,
        })),
    }
}

#[derive(Serialize)]
struct FileFacts<'a> {
    format: &'static str,
    blocks: Seq<'a, EntryFacts>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct EntryFacts {
    #[serde(rename = "type")]
    kind: String,
    offset: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    mismatch: Option<String>,
}

/// Returns the contents of `info.json`, with these entries of the table.
fn facts<'a>(table: &BlockTable, entries: &'a [Entry]) -> impl Serialize + use<'a> {
    let fact = |entry: &Entry| EntryFacts {
        kind: tag(entry.tag),
        offset: entry.offset,
        mismatch: entry.mismatch.map(describe),
    };
    FileFacts {
        format: FORMAT.name,
        blocks: Seq::new(move || entries.iter().map(fact)),
        warnings: warnings(table).texts(),
    }
}

/// Returns the known facts of a damaged table.
fn partial(table: &BlockTable) -> serde_json::Value {
    json::bounded_value(&facts(table, &table.entries), &facts(table, &[]))
}

fn describe(mismatch: Mismatch) -> String {
    match mismatch {
        Mismatch::UnknownType => "unknown block type".into(),
        Mismatch::ShouldBe(expected) => format!("should be {expected}"),
        Mismatch::TooEarly(before) => format!("inside the header of the block at {before}"),
    }
}

fn warnings(table: &BlockTable) -> Warnings {
    let mut warnings = Warnings::default();
    for (index, entry) in table.entries.iter().enumerate() {
        if let Some(mismatch) = entry.mismatch {
            let (tag, offset) = (tag(entry.tag), entry.offset);
            let text = describe(mismatch);
            warnings.push(format!("entry {index}, {tag} at {offset}: {text}"));
        }
    }
    warnings
}

fn info_json(table: &BlockTable, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(table, &table.entries), out)
}

fn info_text(table: &BlockTable, out: &mut dyn Write) -> io::Result<()> {
    let heading = "Table of the blocks of an HGO model (left by a tool; no game reads it)";
    let mut summary = Summary::new(heading);
    let tags = table.entries.iter().map(|entry: &Entry| tag(entry.tag));
    summary.list("blocks", tags);
    summary.write(&warnings(table), out)
}

fn blocks(table: &BlockTable, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["index", "type", "offset", "meaning", "mismatch"];
    let mut rows = Table::new(out, &columns)?;
    for (index, entry) in table.entries.iter().enumerate() {
        rows.cell(index)
            .text(&tag(entry.tag))
            .cell(entry.offset)
            .cell(meaning(entry.tag))
            .optional(entry.mismatch.map(describe))
            .end_row()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Alone;

    const TABLE: &[u8] = b"HGOF\x04\0\0\0NTBL\x0d\0\0\0";

    fn rendered(name: &str) -> String {
        crate::view::rendered(open, TABLE, name)
    }

    #[test]
    fn the_table_marks_mismatches() {
        assert_eq!(
            rendered("blocks.tsv"),
            "index\ttype\toffset\tmeaning\tmismatch\n\
             0\tHGOF\t4\twhole file\t\n\
             1\tNTBL\t13\tname table\tshould be 12\n"
        );
        let info = rendered("info.txt");
        assert!(info.contains("blocks         2: HGOF, NTBL\n"), "{info}");
        assert!(
            info.contains("  entry 1, NTBL at 13: should be 12\n"),
            "{info}"
        );
    }

    #[test]
    fn a_truncated_table_shows_its_complete_entries() {
        let failure = open(&Bytes::from_static(&TABLE[..12]), &Alone)
            .err()
            .unwrap();
        assert_eq!(failure.partial["blocks"][0]["type"], "HGOF");
        assert_eq!(
            failure.error.to_string(),
            "entry at 0x8: has 4 bytes, should have 8"
        );
    }
}
