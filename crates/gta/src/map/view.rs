//! Views of maps: a table for each section of their files, and the placed
//! objects as a scene.

use std::borrow::Cow;
use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::binary::{self, Binary};
use super::import;
use super::instance;
use super::objects::Objects;
use super::scene;
use crate::dff::textures::Pictures;
use crate::document::schema::{IDE, IPL, Schema};
use crate::document::{self, Document};
use crate::models::{self, Models};
use crate::{Opened, page};
use hpimount_assets::model::{gltf, preview};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::import::{Edit, Imported};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, ViewFormat};

/// Definitions of models.
pub const IDE_FORMAT: ViewFormat = ViewFormat {
    extensions: &["ide"],
    edits: LINES,
    import: Some(|edit| import::import_text(edit, &IDE_FORMAT, &IDE)),
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("IDE", open_ide)
};

const LINES: &[Editable] = &[Editable::new("*.tsv", "fields of lines")];

/// Placements.
pub const IPL_FORMAT: ViewFormat = ViewFormat {
    extensions: &["ipl"],
    edits: &[
        Editable::new("*.tsv", "fields of lines"),
        Editable::new(
            "*.glb",
            "places and rotations of objects; they can be copied and deleted",
        ),
    ],
    import: Some(import_ipl),
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("glb")])),
    ..ViewFormat::new("IPL", open_ipl)
};

/// Zones of the map: the same sections, but nothing that is placed.
pub const ZON_FORMAT: ViewFormat = ViewFormat {
    extensions: &["zon"],
    edits: LINES,
    import: Some(|edit| import::import_text(edit, &ZON_FORMAT, &IPL)),
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("ZON", open_zones)
};

fn open_ide(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    open_text(bytes, &IDE_FORMAT, &IDE)
}

fn open_ipl(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    if !bytes.starts_with(binary::MAGIC) {
        return open_text(bytes, &IPL_FORMAT, &IPL);
    }
    let mut binary = binary::parse(bytes)?;
    let mut page = page("IPL binary", "IPL binary", &mut binary.warnings);
    page.rows("inst", |binary: &Binary| Rows::of(&binary.instances))
        .rows("cars", |binary| Rows::of(&binary.cars));
    if !binary.instances.is_empty() {
        add_map(&mut page, |binary, models, _| {
            Objects::of_binary(binary, models)
        });
    }
    Ok(page.show(binary, None))
}

fn import_ipl(edit: &Edit<'_>) -> Result<Imported, String> {
    match edit.asset.starts_with(binary::MAGIC) {
        true => import::import_binary(edit, &IPL_FORMAT),
        false => import::import_text(edit, &IPL_FORMAT, &IPL),
    }
}

fn open_zones(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    open_text(bytes, &ZON_FORMAT, &IPL)
}

fn open_text(bytes: &Bytes, format: &ViewFormat, schema: &'static Schema) -> Opened {
    let document = document::parse(bytes, schema).map(instance::checked);
    let mut document = document?;
    let mut page = document.page(format.name);
    for (index, section) in document.sections.iter().enumerate() {
        if schema.knows(&section.name) && !section.rows.is_empty() {
            let path = format!("{}.tsv", section.name);
            page.table(&path, move |document| rows(document, schema, index));
        }
    }
    if !document.rows("inst").is_empty() && schema.has("inst") {
        add_map(&mut page, Objects::of_text);
    }
    Ok(page.show(document, None))
}

/// The picture of the placed objects.
const PREVIEW: &str = "preview.png";

/// The table of their models.
const MODELS: &str = "models.tsv";

/// Adds the files with the placed objects of `objects`.
fn add_map<M: GetSize + Send + Sync + 'static>(
    page: &mut Page<M>,
    objects: fn(&M, &Models, &dyn AssetContext) -> Objects,
) {
    for name in ["map.glb", PREVIEW, MODELS] {
        page.file(name, move |model, context, out| {
            let models = models::models(context);
            let objects = objects(model, &models, context);
            write_map(&objects, &models, name, context, out)
        });
    }
}

pub(super) fn write_map(
    objects: &Objects,
    models: &Models,
    file: &str,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut built = scene::build(objects, models, context);
    built.room.clear();
    let pictures = Pictures::new(context);
    let picture = |index: usize| pictures.get(built.sources.get(index)?);
    let reserve = |bytes| context.reserve(bytes);
    match file {
        PREVIEW => preview::write(&built.scene, &picture, &reserve, out),
        MODELS => {
            // It says why models are omitted.
            let models = built.models.iter().map(|model| {
                let (name, problem) = (model.name.clone(), model.problem.clone());
                let counts = [model.objects, model.corners];
                let [objects, corners] = counts.map(Into::into);
                [name.into(), objects, corners, problem.into()]
            });
            Rows::new(["model", "objects", "corners", "problem"], models).write(out)
        }
        _ => gltf::write(&built.scene, &picture, &reserve, out),
    }
}

/// Returns the rows of a section: a column for each field of any of its forms, and one
/// for the fields of rows with an unknown form.
fn rows<'a>(document: &'a Document, schema: &'static Schema, section: usize) -> Rows<'a> {
    let section = &document.sections[section];
    let names = schema.all_columns(&section.name);
    let columns = ["line"].into_iter().chain(names.iter().copied());
    let columns = columns.chain(["fields"]).map(Cow::Borrowed).collect();
    let rows = section.rows.iter().map(move |row| {
        let named = document.named(schema, &section.name, row);
        let others = (!named.has_form()).then(|| named.fields.join(" "));
        let fields = names.iter().map(|name| named.get(name).map(str::to_owned));
        let fields = fields.chain([others]).map(Into::into);
        [row.line.into()].into_iter().chain(fields).collect()
    });
    Rows {
        columns,
        rows: Box::new(rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::{Alone, Open, rendered_text};

    #[test]
    fn a_map_has_a_preview_and_definitions_have_none() {
        let has_preview = |open: Open, text: &'static [u8]| {
            let view = open(&text.into(), &Alone).unwrap();
            view.position(&|file| file.name == PREVIEW).is_some()
        };
        let objects = b"inst\n7 crate 0 1 2 3 0 0 0 1 -1\nend\n";
        assert!(has_preview(open_ipl, objects));
        assert!(!has_preview(open_zones, b"zone\na 0 0 0 0 1 1 1 1\nend\n"));
        assert!(!has_preview(open_ide, b"objs\n1 crate box 100 0\nend\n"));
    }

    #[test]
    fn each_section_is_a_table_with_the_fields_of_all_forms() {
        let text = b"objs\n1 crate box 100 0\n2 two box 1 80 4\n3 odd\nend\n";
        assert_eq!(
            rendered_text(&IDE_FORMAT, text, "objs.tsv").unwrap(),
            "line\tid\tmodel\ttxd\tmeshes\tdraw1\tdraw2\tdraw3\tflags\tfields\n\
             2\t1\tcrate\tbox\t\t100\t\t\t0\t\n\
             3\t2\ttwo\tbox\t1\t80\t\t\t4\t\n\
             4\t\t\t\t\t\t\t\t\t3 odd\n"
        );
    }
}
