//! Tables of a whole game: its models and their needs, the parents of its texture
//! dictionaries, its placed objects, textures and texts (FORMATS, GTA 6.5).

mod edits;
mod listed;
mod references;

use std::collections::HashMap;
use std::io::{self, Write};

use bytes::Bytes;

use super::document::schema::{IDE, IPL, Schema};
use super::document::{self, Document};
use super::map::binary::{self, Placed};
use super::map::instance::{self, Instance};
use super::models::SECTIONS;
use hpimount_assets::view::report::{Content, References, Report, write_readme};
use hpimount_assets::view::{AssetContext, AssetRef, Table};

/// Maximum size of the files that are read for a table, four times as much as the
/// dictionaries of the largest game.
const MAX_BYTES: u64 = 4 << 30;

/// The tables.
pub const REPORTS: &[Report] = &[
    Report {
        path: "tables/models.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Other(models),
        edit: Some(edits::MODELS),
    },
    Report {
        path: "tables/README.txt",
        applies: |context| {
            ["ide", "ipl", "zon", "gxt", "fxt"]
                .iter()
                .any(|one| !files(context, one).is_empty())
        },
        content: Content::Other(|context, out| write_readme(REPORTS, context, out)),
        edit: None,
    },
    Report {
        path: "tables/txdp.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Other(parents),
        edit: None,
    },
    Report {
        path: "tables/placements.tsv",
        applies: |context| !files(context, "ipl").is_empty(),
        content: Content::Other(placements),
        edit: Some(edits::PLACEMENTS),
    },
    Report {
        path: "tables/references.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Other(references::references),
        edit: None,
    },
    Report {
        path: "tables/missing.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Other(references::missing),
        edit: None,
    },
    Report {
        path: "tables/cars.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Other(listed::cars),
        edit: Some(edits::CARS),
    },
    Report {
        path: "tables/peds.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Other(listed::peds),
        edit: Some(edits::PEDS),
    },
    Report {
        path: "tables/zones.tsv",
        applies: |context| {
            ["ipl", "zon"]
                .iter()
                .any(|one| !files(context, one).is_empty())
        },
        content: Content::Other(listed::zones),
        edit: Some(edits::ZONES),
    },
    Report {
        path: "tables/textures.tsv",
        applies: |context| !files(context, "txd").is_empty(),
        content: Content::Other(listed::textures),
        edit: None,
    },
    Report {
        path: "tables/texts.tsv",
        applies: |context| {
            ["gxt", "fxt"]
                .iter()
                .any(|one| !files(context, one).is_empty())
        },
        content: Content::Other(listed::texts),
        edit: Some(edits::TEXTS),
    },
];

/// The files that definitions need.
pub const REFERENCES: References = References {
    applies: |context| !files(context, "ide").is_empty(),
    each: references::each,
};

/// Returns the files with this extension. Assets with a type belong to another family,
/// whose textures may have the same extension.
fn files(context: &dyn AssetContext, extension: &str) -> Vec<AssetRef> {
    let files = context.find_extensions("", &[extension]).into_iter();
    files
        .filter(|file| context.asset_of(*file).is_none())
        .collect()
}

/// Calls `visit` with the path and the bytes of each readable file with this extension.
/// Fails if the files are too large together.
fn each_file(
    context: &dyn AssetContext,
    extension: &str,
    mut visit: impl FnMut(&str, Bytes) -> io::Result<()>,
) -> io::Result<()> {
    let mut left = MAX_BYTES;
    for file in files(context, extension) {
        let Some(bytes) = context.read(file) else {
            continue;
        };
        let rest = left.checked_sub(bytes.len() as u64);
        left = rest.ok_or_else(|| {
            io::Error::other(format!("the files have more than {MAX_BYTES} bytes"))
        })?;
        visit(&context.path_of(file), bytes)?;
    }
    Ok(())
}

/// Calls `visit` with the path and the contents of each text file with this
/// extension.
fn each_document(
    context: &dyn AssetContext,
    extension: &str,
    schema: &Schema,
    mut visit: impl FnMut(&str, &Document) -> io::Result<()>,
) -> io::Result<()> {
    each_file(context, extension, |path, bytes| {
        match document::parse(&bytes, schema) {
            Ok(document) => visit(path, &document),
            Err(_) => Ok(()),
        }
    })
}

/// Writes `models.tsv`: a row for each definition.
fn models(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "id", "model", "txd", "section", "draw1", "draw2", "draw3", "flags", "file", "line",
    ];
    let mut table = Table::new(out, &columns)?;
    each_document(context, "ide", &IDE, |path, document| {
        for section in SECTIONS {
            for row in document.rows(section) {
                let named = document.named(&IDE, section, row);
                if !named.has_form() {
                    continue;
                }
                for name in ["id", "model", "txd"] {
                    table.optional_text(named.get(name));
                }
                table.cell(section);
                for name in ["draw1", "draw2", "draw3", "flags"] {
                    table.optional_text(named.get(name));
                }
                table.text(path).cell(row.line).end_row()?;
            }
        }
        Ok(())
    })
}

/// Writes `txdp.tsv`: a row for each parent of a dictionary.
fn parents(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["txd", "parent", "file", "line"])?;
    each_document(context, "ide", &IDE, |path, document| {
        for row in document.rows("txdp") {
            let mut fields = document.fields(row);
            table
                .optional_text(fields.next())
                .optional_text(fields.next());
            table.text(path).cell(row.line).end_row()?;
        }
        Ok(())
    })
}

/// Returns model names by id. The last definition counts.
fn names(context: &dyn AssetContext) -> io::Result<HashMap<i64, String>> {
    let mut names = HashMap::new();
    each_document(context, "ide", &IDE, |_, document| {
        for section in SECTIONS {
            for row in document.rows(section) {
                let mut fields = document.fields(row);
                let id = fields.next().and_then(|id| id.parse().ok());
                if let Some((id, name)) = id.zip(fields.next()) {
                    names.insert(id, name.to_owned());
                }
            }
        }
        Ok(())
    })?;
    Ok(names)
}

/// Writes `placements.tsv`: a row for each placed object, with its actual rotation.
fn placements(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "file", "line", "index", "id", "model", "defined", "interior", "x", "y", "z", "rx", "ry",
        "rz", "rw", "lod", "problem",
    ];
    let names = names(context)?;
    let mut table = Table::new(out, &columns)?;
    each_file(context, "ipl", |path, bytes| {
        if bytes.starts_with(binary::MAGIC) {
            let binary = binary::parse(&bytes).unwrap_or_default();
            let mut placed = binary.instances.iter().enumerate();
            return placed
                .try_for_each(|(index, placed)| stored(path, index, placed, &names, &mut table));
        }
        let Ok(document) = document::parse(&bytes, &IPL) else {
            return Ok(());
        };
        let mut rows = document.rows("inst").iter().enumerate();
        rows.try_for_each(|(index, row)| {
            table.text(path).cell(row.line).cell(index);
            match instance::instance(&document, row) {
                Ok(instance) => written(&instance, &names, &mut table),
                Err(problem) => {
                    for _ in 3..columns.len() - 1 {
                        table.cell("");
                    }
                    table.text(&problem);
                }
            }
            table.end_row()
        })
    })
}

/// Writes the cells of an object of a text file after its index.
fn written(instance: &Instance, names: &HashMap<i64, String>, table: &mut Table<'_>) {
    table.cell(instance.id).text(&instance.model);
    table.cell(names.contains_key(&instance.id));
    table.optional(instance.interior);
    for part in instance.position.iter().chain(&instance.rotation) {
        table.float(*part);
    }
    table.optional(instance.lod).cell("");
}

/// Writes the row of an object in a binary file, which has no name.
fn stored(
    path: &str,
    index: usize,
    placed: &Placed,
    names: &HashMap<i64, String>,
    table: &mut Table<'_>,
) -> io::Result<()> {
    let name = names.get(&placed.id.into());
    table.text(path).cell("").cell(index).cell(placed.id);
    table.optional_text(name.map(String::as_str));
    table.cell(name.is_some()).cell(placed.interior);
    for part in placed.position() {
        table.float(part);
    }
    let rotation = instance::drawn(placed.rotation());
    for axis in 0..4 {
        match rotation {
            Some(rotation) => table.float(rotation[axis]),
            None => table.cell(""),
        };
    }
    table.optional(usize::try_from(placed.lod).ok());
    table.cell(match rotation {
        Some(_) => "",
        None => "its rotation has the length 0",
    });
    table.end_row()
}
