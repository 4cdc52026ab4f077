//! Tables of a whole game: rows of a section, texts, and textures.

use std::io;

use super::{cell, each_document, each_file, place};
use crate::data::texts;
use crate::document::schema::{IDE, IPL, Schema};
use crate::{gxt, txd};
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_renderware::texture::table::{COLUMNS, values};

/// Sends `cars.tsv`: a row for each definition of a vehicle.
pub(super) fn cars(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    section(context, &["ide"], &IDE, "cars", out)
}

/// Sends `peds.tsv`: a row for each definition of a person.
pub(super) fn peds(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    section(context, &["ide"], &IDE, "peds", out)
}

/// Sends `zones.tsv`: a row for each zone of the map.
pub(super) fn zones(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    section(context, &["ipl", "zon"], &IPL, "zone", out)
}

/// Sends the rows of a section of all files with these extensions, with a column for
/// each field. Omits rows with an unknown form.
fn section(
    context: &dyn AssetContext,
    extensions: &[&'static str],
    schema: &Schema,
    name: &'static str,
    out: &mut dyn TableSink,
) -> io::Result<()> {
    let fields = schema.all_columns(name);
    let columns = [&fields[..], &["file", "line"]].concat();
    out.columns(&columns)?;
    for extension in extensions {
        each_document(context, extension, schema, |path, document| {
            for row in document.rows(name) {
                let named = document.named(schema, name, row);
                if !named.has_form() {
                    continue;
                }
                let fields = fields.iter().map(|field| cell(named.get(field)));
                out.row(fields.chain(place(path, row)).collect())?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Sends `texts.tsv`: a row for each text of the game and of mods.
pub(super) fn texts(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&["file", "table", "key", "text"])?;
    each_file(context, "gxt", |path, bytes| {
        let Ok(found) = gxt::parse(&bytes) else {
            return Ok(());
        };
        for texts in &found.tables {
            for entry in &texts.entries {
                let (key, text) = (entry.key.to_string(), found.text(entry));
                out.texts(&[path, &texts.name, &key, &text])?;
            }
        }
        Ok(())
    })?;
    each_file(context, "fxt", |path, bytes| {
        let found = texts::parse(&bytes).unwrap_or_default();
        let mut texts = found.texts.iter();
        texts.try_for_each(|one| out.texts(&[path, "", &one.key, &one.text]))
    })
}

/// Sends `textures.tsv`: a row for each texture of a readable dictionary.
pub(super) fn textures(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let columns = [&["file", "name"][..], &COLUMNS].concat();
    out.columns(&columns)?;
    each_file(context, "txd", |path, bytes| {
        let Ok(found) = txd::parse(&bytes) else {
            return Ok(());
        };
        for entry in &found.textures {
            if let Ok(texture) = &entry.texture {
                let name = [path, &entry.name].map(|text| cell(Some(text)));
                out.row(name.into_iter().chain(values(texture)).collect())?;
            }
        }
        Ok(())
    })
}
