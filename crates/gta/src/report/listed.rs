//! Tables of a whole game: rows of a section, texts, and textures.

use std::io::{self, Write};

use super::{each_document, each_file};
use crate::data::texts;
use crate::document::schema::{IDE, IPL, Schema};
use crate::{gxt, txd};
use hpimount_assets::view::{AssetContext, Table};
use hpimount_renderware::texture::table::{COLUMNS, cells};

/// Writes `cars.tsv`: a row for each definition of a vehicle.
pub(super) fn cars(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    section(context, &["ide"], &IDE, "cars", out)
}

/// Writes `peds.tsv`: a row for each definition of a person.
pub(super) fn peds(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    section(context, &["ide"], &IDE, "peds", out)
}

/// Writes `zones.tsv`: a row for each zone of the map.
pub(super) fn zones(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    section(context, &["ipl", "zon"], &IPL, "zone", out)
}

/// Writes the rows of a section of all files with these extensions, with a column for
/// each field. Omits rows with an unknown form.
fn section(
    context: &dyn AssetContext,
    extensions: &[&'static str],
    schema: &Schema,
    name: &'static str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let fields = schema.all_columns(name);
    let columns = [&fields[..], &["file", "line"]].concat();
    let mut table = Table::new(out, &columns)?;
    for extension in extensions {
        each_document(context, extension, schema, |path, document| {
            for row in document.rows(name) {
                let named = document.named(schema, name, row);
                if !named.has_form() {
                    continue;
                }
                for field in &fields {
                    table.optional_text(named.get(field));
                }
                table.text(path).cell(row.line).end_row()?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Writes `texts.tsv`: a row for each text of the game and of mods.
pub(super) fn texts(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["file", "table", "key", "text"])?;
    each_file(context, "gxt", |path, bytes| {
        let Ok(found) = gxt::parse(&bytes) else {
            return Ok(());
        };
        for texts in &found.tables {
            for entry in &texts.entries {
                table.text(path).text(&texts.name);
                table.text(&entry.key.to_string());
                table.text(&found.text(entry)).end_row()?;
            }
        }
        Ok(())
    })?;
    each_file(context, "fxt", |path, bytes| {
        let found = texts::parse(&bytes).unwrap_or_default();
        found.texts.iter().try_for_each(|one| {
            table.text(path).cell("");
            table.text(&one.key).text(&one.text).end_row()
        })
    })
}

/// Writes `textures.tsv`: a row for each texture of a readable dictionary.
pub(super) fn textures(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let columns = [&["file", "name"][..], &COLUMNS].concat();
    let mut table = Table::new(out, &columns)?;
    each_file(context, "txd", |path, bytes| {
        let Ok(found) = txd::parse(&bytes) else {
            return Ok(());
        };
        for entry in &found.textures {
            if let Ok(texture) = &entry.texture {
                table.text(path).text(&entry.name);
                cells(texture, &mut table);
                table.end_row()?;
            }
        }
        Ok(())
    })
}
