//! View of texts: a table for each table, and all as one text.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use super::import::import;
use super::lines::{ALL, lines};
use super::{Gxt, Texts};
use crate::{failure, gxt};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};

/// Texts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: gxt::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named("txt", ALL)])),
    import: Some(import),
    matches: Some(gxt::is_gxt),
    ..ViewFormat::new("GXT", open)
};

/// Folder of the tables.
const TABLES: &str = "tables";

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let model = gxt::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page), (ALL, all)]);
    files.extend(model.tables.iter().enumerate().map(|(index, table)| {
        let name = format!("{}.tsv", table.name);
        Listed::new(Some(TABLES), name, Render::Part(rows, index))
    }));
    Ok(Box::new(ListedView { model, files }))
}

fn facts(gxt: &Gxt) -> Value {
    let table = |table: &Texts| {
        json!({
            "name": table.name,
            "offset": table.offset,
            "texts": table.entries.len(),
            "error": table.error.as_ref().map(ToString::to_string),
        })
    };
    json!({
        "format": FORMAT.name,
        "game": gxt.layout.name(),
        "texts": count(gxt),
        "tables": gxt.tables.iter().map(table).collect::<Vec<_>>(),
        "warnings": gxt.warnings.texts(),
    })
}

fn count(gxt: &Gxt) -> usize {
    gxt.tables.iter().map(|table| table.entries.len()).sum()
}

fn info(gxt: &Gxt, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(gxt), out)
}

fn page(gxt: &Gxt, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new(format_args!("GXT texts ({})", gxt.layout.name()));
    summary
        .list("tables", gxt.tables.iter().map(|table| &table.name))
        .line("texts", count(gxt));
    let mut warnings = gxt.warnings.clone();
    for table in &gxt.tables {
        if let Some(error) = &table.error {
            warnings.push(format!("table {}: {error}", table.name));
        }
    }
    summary.write(&warnings, out)
}

/// Writes `texts.txt`: a line for each text, after the name of its table.
fn all(gxt: &Gxt, out: &mut dyn Write) -> io::Result<()> {
    lines(gxt).try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes the table of a table.
fn rows(gxt: &Gxt, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["key", "text"])?;
    let entries = gxt.tables.get(index).map(|table| &table.entries);
    for entry in entries.into_iter().flatten() {
        table
            .text(&entry.key.to_string())
            .text(&gxt.text(entry))
            .end_row()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::gxt as build;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn each_text_is_a_line_and_a_row() {
        let bytes = build::later();
        assert_eq!(
            rendered(&bytes, "texts.txt"),
            "[MAIN]\n0x00000001=Gr\u{fc}n\n0x00000002=\n\n\
             [DEMO]\n0x00000001=Gr\u{fc}n\n0x00000002=\n"
        );
        assert_eq!(
            rendered(&build::third(), "tables/MAIN.tsv"),
            "key\ttext\nOK\tGr\u{fc}n\nNO\t\n"
        );
    }
}
