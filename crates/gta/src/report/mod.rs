//! Tables of a whole game: its models and their needs, the parents of its texture
//! dictionaries, its placed objects, textures and texts (FORMATS, GTA 6.5).

mod edits;
mod listed;
mod references;

use std::collections::HashMap;
use std::io;

use bytes::Bytes;

use super::document::schema::{IDE, IPL, Schema};
use super::document::{self, Document, Row};
use super::map::binary::{self, Placed};
use super::map::instance::{self, Instance};
use super::models::SECTIONS;
use hpimount_assets::view::report::{Content, References, Report, write_readme};
use hpimount_assets::view::{AssetContext, AssetRef, TableSink, or_null};
use hpimount_record::Value;

/// Maximum size of the files that are read for a table, four times as much as the
/// dictionaries of the largest game.
const MAX_BYTES: u64 = 4 << 30;

/// The tables.
pub const REPORTS: &[Report] = &[
    Report {
        path: "tables/models.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Table(models),
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
        content: Content::Table(parents),
        edit: None,
    },
    Report {
        path: "tables/placements.tsv",
        applies: |context| !files(context, "ipl").is_empty(),
        content: Content::Table(placements),
        edit: Some(edits::PLACEMENTS),
    },
    Report {
        path: "tables/references.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Table(references::references),
        edit: None,
    },
    Report {
        path: "tables/missing.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Table(references::missing),
        edit: None,
    },
    Report {
        path: "tables/cars.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Table(listed::cars),
        edit: Some(edits::CARS),
    },
    Report {
        path: "tables/peds.tsv",
        applies: |context| !files(context, "ide").is_empty(),
        content: Content::Table(listed::peds),
        edit: Some(edits::PEDS),
    },
    Report {
        path: "tables/zones.tsv",
        applies: |context| {
            ["ipl", "zon"]
                .iter()
                .any(|one| !files(context, one).is_empty())
        },
        content: Content::Table(listed::zones),
        edit: Some(edits::ZONES),
    },
    Report {
        path: "tables/textures.tsv",
        applies: |context| !files(context, "txd").is_empty(),
        content: Content::Table(listed::textures),
        edit: None,
    },
    Report {
        path: "tables/texts.tsv",
        applies: |context| {
            ["gxt", "fxt"]
                .iter()
                .any(|one| !files(context, one).is_empty())
        },
        content: Content::Table(listed::texts),
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

/// Sends `models.tsv`: a row for each definition.
fn models(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let columns = [
        "id", "model", "txd", "section", "draw1", "draw2", "draw3", "flags", "file", "line",
    ];
    out.columns(&columns)?;
    each_document(context, "ide", &IDE, |path, document| {
        for section in SECTIONS {
            for row in document.rows(section) {
                let named = document.named(&IDE, section, row);
                if !named.has_form() {
                    continue;
                }
                let cell = |name| cell(named.get(name));
                let mut cells = ["id", "model", "txd"].map(cell).to_vec();
                cells.push(section.into());
                cells.extend(["draw1", "draw2", "draw3", "flags"].map(cell));
                cells.extend(place(path, row));
                out.row(cells)?;
            }
        }
        Ok(())
    })
}

/// Sends `txdp.tsv`: a row for each parent of a dictionary.
fn parents(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&["txd", "parent", "file", "line"])?;
    each_document(context, "ide", &IDE, |path, document| {
        for row in document.rows("txdp") {
            let mut fields = document.fields(row);
            let names = [cell(fields.next()), cell(fields.next())];
            out.row([names, place(path, row)].concat())?;
        }
        Ok(())
    })
}

/// Returns the cell of a field, which may be missing.
fn cell(field: Option<&str>) -> Value {
    field.map(str::to_owned).into()
}

/// Returns the cells with the file and the line of a row.
fn place(path: &str, row: &Row) -> [Value; 2] {
    [path.to_owned().into(), row.line.into()]
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

/// Sends `placements.tsv`: a row for each placed object, with its actual rotation.
fn placements(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let columns = [
        "file", "line", "index", "id", "model", "defined", "interior", "x", "y", "z", "rx", "ry",
        "rz", "rw", "lod", "problem",
    ];
    let names = names(context)?;
    out.columns(&columns)?;
    each_file(context, "ipl", |path, bytes| {
        if bytes.starts_with(binary::MAGIC) {
            let binary = binary::parse(&bytes).unwrap_or_default();
            let mut placed = binary.instances.iter().enumerate();
            return placed.try_for_each(|(index, placed)| {
                let mut cells = vec![path.to_owned().into(), Value::Null, index.into()];
                cells.extend(stored(placed, &names));
                out.row(cells)
            });
        }
        let Ok(document) = document::parse(&bytes, &IPL) else {
            return Ok(());
        };
        let mut rows = document.rows("inst").iter().enumerate();
        rows.try_for_each(|(index, row)| {
            let mut cells = place(path, row).to_vec();
            cells.push(index.into());
            match instance::instance(&document, row) {
                Ok(instance) => cells.extend(written(instance, &names)),
                Err(problem) => {
                    cells.resize(columns.len() - 1, Value::Null);
                    cells.push(problem.into());
                }
            }
            out.row(cells)
        })
    })
}

/// Returns the cells of an object of a text file after its index.
fn written(instance: Instance, names: &HashMap<i64, String>) -> Vec<Value> {
    let is_defined = names.contains_key(&instance.id);
    let mut cells = vec![instance.id.into(), instance.model.into(), is_defined.into()];
    cells.push(instance.interior.into());
    cells.extend(instance.position.map(Value::from));
    cells.extend(instance.rotation.map(Value::from));
    cells.push(instance.lod.into());
    cells
}

/// Returns the cells of an object in a binary file after its index. It has no name.
fn stored(placed: &Placed, names: &HashMap<i64, String>) -> Vec<Value> {
    let name = names.get(&placed.id.into());
    let rotation = instance::drawn(placed.rotation());
    let problem = rotation
        .is_none()
        .then_some("its rotation has the length 0");
    let mut cells = vec![
        placed.id.into(),
        name.cloned().into(),
        name.is_some().into(),
    ];
    cells.push(placed.interior.into());
    cells.extend(placed.position().map(or_null));
    cells.extend((0..4).map(|axis| rotation.map(|rotation| rotation[axis]).into()));
    cells.extend([usize::try_from(placed.lod).ok().into(), problem.into()]);
    cells
}
