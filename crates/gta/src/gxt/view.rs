//! View of texts: one table file for each table, and all texts in one file.

use std::collections::HashMap;

use bytes::Bytes;

use super::import::{ALL, import, lines};
use super::{Gxt, Texts};
use crate::{Opened, gxt};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Node};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, ViewFile, ViewFormat};

/// Texts.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: gxt::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named("txt", ALL)])),
    edits: &[Editable::new(ALL, "texts")],
    import: Some(import),
    matches: Some(gxt::is_gxt),
    ..ViewFormat::new("GXT", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut gxt = gxt::parse(bytes)?;
    let heading = format!("GXT texts ({})", gxt.layout.name());
    let mut page = Page::new(FORMAT.name, heading, std::mem::take(&mut gxt.warnings));
    let counts = gxt.tables.iter().map(|table| table.entries.len());
    page.fact("game", gxt.layout.name())
        .fact("texts", counts.sum::<usize>())
        .list("tables", |gxt: &Gxt| Box::new(gxt.tables.iter().map(facts)))
        .file(ALL, |gxt, _, out| {
            lines(gxt, &HashMap::new()).try_for_each(|line| writeln!(out, "{line}"))
        });
    for (index, table) in gxt.tables.iter().enumerate() {
        if let Some(error) = &table.error {
            page.warn(format!("table {}: {error}", table.name));
        }
        let file = ViewFile::inside("tables", format!("{}.tsv", table.name));
        page.table_at(file, move |gxt: &Gxt| {
            let entries = gxt.tables[index].entries.iter();
            let rows = entries.map(|one| [one.key.to_string().into(), gxt.text(one).into()]);
            Rows::new(["key", "text"], rows)
        });
    }
    Ok(page.show(gxt, None))
}

fn facts(table: &Texts) -> Node<'_> {
    node::map([
        ("name", table.name.clone().into()),
        ("offset", table.offset.into()),
        ("texts", table.entries.len().into()),
        (
            "error",
            table.error.as_ref().map(ToString::to_string).into(),
        ),
    ])
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
