//! Views of maps: a table for each section of their files, and the placed
//! objects as a scene.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::binary::{self, Binary};
use super::instance;
use super::objects::Objects;
use super::scene::{self, Placed};
use crate::dff::textures::Pictures;
use crate::document::schema::{IDE, IPL, Schema};
use crate::document::{self, Document, Section};
use crate::models::{self, Models};
use crate::rows::{Opened, Rows, Shown, view};
use hpimount_assets::model::{gltf, preview};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{InContext, Listed, Render, Whole};
use hpimount_assets::view::{AssetContext, Table, ViewFormat};
use hpimount_containers::io::Warnings;

/// Definitions of models.
pub const IDE_FORMAT: ViewFormat = ViewFormat {
    extensions: &["ide"],
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("IDE", open_ide)
};

/// Placements.
pub const IPL_FORMAT: ViewFormat = ViewFormat {
    extensions: &["ipl"],
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::first("glb")])),
    ..ViewFormat::new("IPL", open_ipl)
};

/// Zones of the map: the same sections, but nothing that is placed.
pub const ZON_FORMAT: ViewFormat = ViewFormat {
    extensions: &["zon"],
    converted: Conversion::Always(Converted::parts(&[])),
    ..ViewFormat::new("ZON", open_zones)
};

/// A text file of a map.
#[derive(GetSize)]
struct Text {
    #[get_size(ignore)]
    schema: &'static Schema,
    document: Document,
}

impl Rows for Text {
    fn counts(&self) -> Vec<(&str, usize)> {
        self.document.counts()
    }

    fn warnings(&self) -> &Warnings {
        &self.document.warnings
    }
}

impl Rows for Binary {
    fn counts(&self) -> Vec<(&str, usize)> {
        vec![("inst", self.instances.len()), ("cars", self.cars.len())]
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

fn open_ide(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    open_text(bytes, IDE_FORMAT.name, &IDE)
}

fn open_ipl(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    if !bytes.starts_with(binary::MAGIC) {
        return open_text(bytes, IPL_FORMAT.name, &IPL);
    }
    let tables: [(_, Whole<Shown<Binary>>); 2] =
        [("inst.tsv", binary_instances), ("cars.tsv", binary_cars)];
    let mut view = view("IPL binary", binary::parse(bytes), &tables)?;
    if !view.model.model.instances.is_empty() {
        view.files.extend(map_files(binary_map));
    }
    Ok(Box::new(view))
}

fn open_zones(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    open_text(bytes, ZON_FORMAT.name, &IPL)
}

fn open_text(bytes: &Bytes, format: &'static str, schema: &'static Schema) -> Opened {
    let parsed = document::parse(bytes, schema).map(instance::checked);
    let parsed = parsed.map(|document| Text { schema, document });
    let mut view = view(format, parsed, &[])?;
    let document = &view.model.model.document;
    for (index, section) in document.sections.iter().enumerate() {
        if schema.knows(&section.name) && !section.rows.is_empty() {
            let name = format!("{}.tsv", section.name);
            view.files
                .push(Listed::new(None, name, Render::Part(table, index)));
        }
    }
    if !document.rows("inst").is_empty() && schema.has("inst") {
        view.files.extend(map_files(map));
    }
    Ok(Box::new(view))
}

/// The file with the placed objects, the picture of them, and the table of their
/// models.
const MAP: [&str; 3] = ["map.glb", PREVIEW, MODELS];

const PREVIEW: &str = "preview.png";

const MODELS: &str = "models.tsv";

/// Returns the files with the placed objects, which are the parts of `render`.
fn map_files<M>(render: InContext<M>) -> impl Iterator<Item = Listed<M>> {
    let files = MAP.into_iter().enumerate();
    files.map(move |(part, name)| {
        Listed::new(None, name.to_owned(), Render::InContext(render, part))
    })
}

fn map(
    shown: &Shown<Text>,
    part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let models = models::models(context);
    let objects = Objects::of_text(&shown.model.document, &models, context);
    write_map(&objects, &models, part, context, out)
}

fn binary_map(
    shown: &Shown<Binary>,
    part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let models = models::models(context);
    let objects = Objects::of_binary(&shown.model, &models);
    write_map(&objects, &models, part, context, out)
}

pub(super) fn write_map(
    objects: &Objects,
    models: &Models,
    part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut built = scene::build(objects, models, context);
    built.room.clear();
    let pictures = Pictures::new(context);
    let picture = |index: usize| pictures.get(built.sources.get(index)?);
    let reserve = |bytes| context.reserve(bytes);
    match MAP.get(part) {
        Some(&PREVIEW) => preview::write(&built.scene, &picture, &reserve, out),
        Some(&MODELS) => placed(&built.models, out),
        _ => gltf::write(&built.scene, &picture, &reserve, out),
    }
}

/// Writes the table of the models of a map, which says why models are omitted.
fn placed(models: &[Placed], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["model", "objects", "corners", "problem"])?;
    for model in models {
        table.text(&model.name).cell(model.objects);
        table.cell(model.corners);
        table.optional_text(model.problem.as_deref()).end_row()?;
    }
    Ok(())
}

/// Writes the table of a section: a column for each field that a form of its
/// rows has, and one for the fields of rows of an unknown form.
fn table(shown: &Shown<Text>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let text = &shown.model;
    let Some(section) = text.document.sections.get(index) else {
        return Ok(());
    };
    let names = text.schema.all_columns(&section.name);
    let columns: Vec<_> = ["line"]
        .into_iter()
        .chain(names.iter().copied())
        .chain(["fields"])
        .collect();
    let mut table = Table::new(out, &columns)?;
    rows(text, section, &names, &mut table)
}

fn rows(text: &Text, section: &Section, names: &[&str], table: &mut Table<'_>) -> io::Result<()> {
    for row in &section.rows {
        let fields: Vec<_> = text.document.fields(row).collect();
        let form = text.schema.columns(&section.name, fields.len());
        table.cell(row.line);
        for name in names {
            let form = form.clone();
            let place = form.and_then(|mut form| form.position(|column| column == *name));
            table.optional_text(place.and_then(|place| fields.get(place)).copied());
        }
        match form {
            Some(_) => table.cell(""),
            None => table.text(&fields.join(" ")),
        };
        table.end_row()?;
    }
    Ok(())
}

fn binary_instances(shown: &Shown<Binary>, out: &mut dyn Write) -> io::Result<()> {
    let binary = &shown.model;
    let columns = [
        "index", "id", "interior", "x", "y", "z", "rx", "ry", "rz", "rw", "lod",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, one) in binary.instances.iter().enumerate() {
        table.cell(index).cell(one.id).cell(one.interior);
        for part in one.position.iter().chain(&one.rotation) {
            table.float(*part);
        }
        table.cell(one.lod).end_row()?;
    }
    Ok(())
}

fn binary_cars(shown: &Shown<Binary>, out: &mut dyn Write) -> io::Result<()> {
    let binary = &shown.model;
    let columns = [
        "index",
        "x",
        "y",
        "z",
        "angle",
        "model",
        "color1",
        "color2",
        "force",
        "alarm",
        "locked",
        "min_delay",
        "max_delay",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, car) in binary.cars.iter().enumerate() {
        table.cell(index);
        for part in car.position.iter().chain([&car.angle]) {
            table.float(*part);
        }
        for value in car.values {
            table.cell(value);
        }
        table.end_row()?;
    }
    Ok(())
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
