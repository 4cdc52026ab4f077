//! View of a `*.hgo.blk` file: its table of blocks.

use bytes::Bytes;

use super::tables::{meaning, tag};
use crate::hgo::parse::blk::{self, BlockTable, Entry, Mismatch};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::node::{Node, known};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::io::Warnings;

/// Tables of the blocks of an HGO file.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: blk::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| blk::begins(bytes)),
    ..ViewFormat::new("HGO block table", open)
};

fn open(bytes: &Bytes, _siblings: &dyn AssetContext) -> Opened {
    let (table, error) = so_far(blk::parse(bytes));
    let heading = "Table of the blocks of an HGO model (left by a tool; no game reads it)";
    let mut page = Page::new(FORMAT.name, heading, warnings(&table));
    page.list("blocks", |table: &BlockTable| {
        Box::new(table.entries.iter().map(entry))
    })
    .table("blocks.tsv", blocks);
    Ok(page.show(table, error))
}

fn entry(entry: &Entry) -> Node<'_> {
    known([
        ("type", tag(entry.tag).into()),
        ("offset", entry.offset.into()),
        ("mismatch", entry.mismatch.map(describe).into()),
    ])
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

fn blocks(table: &BlockTable) -> Rows<'_> {
    let columns = ["index", "type", "offset", "meaning", "mismatch"];
    let rows = table.entries.iter().enumerate().map(|(index, entry)| {
        [
            index.into(),
            tag(entry.tag).into(),
            entry.offset.into(),
            meaning(entry.tag).into(),
            entry.mismatch.map(describe).into(),
        ]
    });
    Rows::new(columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::Alone;

    const TABLE: &[u8] = b"HGOF\x04\0\0\0NTBL\x0d\0\0\0";

    fn rendered(name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, TABLE, name).unwrap()
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
        assert!(info.contains("blocks         2\n"), "{info}");
        assert!(
            info.contains("  entry 1, NTBL at 13: should be 12\n"),
            "{info}"
        );
    }

    #[test]
    fn a_truncated_table_shows_its_complete_entries() {
        let view = open(&Bytes::from_static(&TABLE[..12]), &Alone).unwrap();
        assert_eq!(
            view.failure().unwrap().to_string(),
            "entry at 0x8: has 4 bytes, should have 8"
        );
        let info =
            hpimount_assets::view::rendered_text(&FORMAT, &TABLE[..12], "info.json").unwrap();
        assert!(info.contains("\"type\": \"HGOF\""), "{info}");
    }
}
