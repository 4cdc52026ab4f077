//! View of collision models: tables, and each model as a GLB.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Col, Model, export};
use crate::{col, failure};
use hpimount_assets::model::{gltf, not_shown, padded, preview};
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, Wanted, json,
};

/// Collision models.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: col::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 10,
    }),
    matches: Some(col::is_col),
    ..ViewFormat::new("COL", open)
};

/// The file of the game with the names of surface materials.
const SURFACES: &str = "data/surfinfo.dat";

/// Maximum number of models that `info.json` lists.
const MAX_LISTED: usize = 4096;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = col::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let files = files(&mut model);
    Ok(Box::new(ListedView { model, files }))
}

fn files(col: &mut Col) -> Vec<Listed<Col>> {
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("models.tsv", models),
        ("shapes.tsv", shapes),
    ]);
    let count = col.models.len();
    let mut first = None;
    for (index, model) in col.models.iter_mut().enumerate() {
        if let Some(problem) = export::problem(model) {
            model.warnings.push(not_shown("the model", problem));
        } else if export::corners(model) > 0 {
            let name = format!("{} {}", padded(index, count, 2), model.name);
            let name = format!("{}.glb", name.trim_end());
            files.push(Listed::new(None, name, Render::InContext(glb, index)));
            first.get_or_insert(index);
        }
    }
    if let Some(index) = first {
        let drawn = Render::InContext(drawn, index);
        files.push(Listed::new(None, "preview.png".to_owned(), drawn));
    }
    files
}

fn glb(col: &Col, index: usize, context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    match col.models.get(index) {
        Some(model) => write(model, context, out),
        None => Ok(()),
    }
}

fn drawn(
    col: &Col,
    index: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(model) = col.models.get(index) else {
        return Ok(());
    };
    let _memory = context.reserve_scene(export::corners(model))?;
    let scene = export::scene(model, &[]);
    preview::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
}

/// Writes a model as a GLB.
pub(crate) fn write(
    model: &Model,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let _memory = context.reserve_scene(export::corners(model))?;
    let scene = export::scene(model, &surfaces(context));
    gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
}

/// Returns the names of surface materials, if the game is there: the first word
/// of each line.
fn surfaces(context: &dyn AssetContext) -> Vec<String> {
    let file = context.find(Wanted::Path(SURFACES));
    let Some(bytes) = file.and_then(|file| context.read(file)) else {
        return Vec::new();
    };
    let text = hpimount_containers::text::windows_1252(&bytes);
    let lines = text.lines().map(str::trim);
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let names = rows.filter_map(|line| line.split_whitespace().next());
    names.take(256).map(str::to_owned).collect()
}

fn info(col: &Col, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(col), out)
}

fn facts(col: &Col) -> Value {
    let models = col.models.iter().take(MAX_LISTED).map(|model| {
        let shapes = &model.shapes;
        json!({
            "name": model.name,
            "id": model.id,
            "version": model.version,
            "offset": model.offset,
            "size": model.size,
            "flags": shapes.flags.map(|flags| format!("{flags:#x}")),
            "spheres": shapes.spheres.len(),
            "boxes": shapes.boxes.len(),
            "lines": shapes.lines,
            "vertices": shapes.mesh.vertices().count(),
            "faces": shapes.mesh.faces().count(),
            "face_groups": shapes.groups.len(),
            "shadow_faces": shapes.shadow.faces().count(),
            "error": model.error.as_ref().map(ToString::to_string),
            "warnings": model.warnings.texts(),
        })
    });
    json!({
        "format": FORMAT.name,
        "axes": "x right, y forward, z up; meters",
        "model_count": col.models.len(),
        "models": models.collect::<Vec<_>>(),
        "trailing_bytes": col.trailing,
        "warnings": col.warnings.texts(),
    })
}

fn page(col: &Col, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new("COL collision models (Grand Theft Auto)");
    summary.list("models", col.models.iter().map(|model| &model.name));
    let faces = col
        .models
        .iter()
        .map(|model| model.shapes.mesh.faces().count());
    summary.line("faces", faces.sum::<usize>());
    let mut warnings = col.warnings.clone();
    for (index, model) in col.models.iter().enumerate() {
        for text in model
            .error
            .iter()
            .map(ToString::to_string)
            .chain(model.warnings.texts())
        {
            warnings.push(format!("model {index}: {text}"));
        }
    }
    summary.write(&warnings, out)
}

/// Writes `models.tsv`.
fn models(col: &Col, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "name",
        "id",
        "version",
        "spheres",
        "boxes",
        "lines",
        "vertices",
        "faces",
        "face_groups",
        "shadow_faces",
        "min_x",
        "min_y",
        "min_z",
        "max_x",
        "max_y",
        "max_z",
        "radius",
        "error",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, model) in col.models.iter().enumerate() {
        let shapes = &model.shapes;
        table
            .cell(index)
            .text(&model.name)
            .cell(model.id)
            .cell(model.version)
            .cell(shapes.spheres.len())
            .cell(shapes.boxes.len())
            .cell(shapes.lines)
            .cell(shapes.mesh.vertices().count())
            .cell(shapes.mesh.faces().count())
            .cell(shapes.groups.len())
            .cell(shapes.shadow.faces().count());
        match &shapes.bounds {
            Some(bounds) => {
                for part in [bounds.min, bounds.max].as_flattened() {
                    table.float(*part);
                }
                table.float(bounds.radius);
            }
            None => {
                for _ in 0..7 {
                    table.cell("");
                }
            }
        }
        table.optional_text(model.error.as_ref().map(ToString::to_string).as_deref());
        table.end_row()?;
    }
    Ok(())
}

/// Writes `shapes.tsv`: the spheres and boxes, and the materials of the meshes.
fn shapes(col: &Col, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "model",
        "shape",
        "index",
        "x1",
        "y1",
        "z1",
        "x2",
        "y2",
        "z2",
        "radius",
        "faces",
        "material",
        "flags",
        "brightness",
        "light",
    ];
    let mut table = Table::new(out, &columns)?;
    for model in &col.models {
        for (index, sphere) in model.shapes.spheres.iter().enumerate() {
            table.text(&model.name).cell("sphere").cell(index);
            sphere.center.iter().for_each(|part| {
                table.float(*part);
            });
            table.cell("").cell("").cell("");
            table.float(sphere.radius).cell("");
            surface(&sphere.surface, &mut table)?;
        }
        for (index, shape) in model.shapes.boxes.iter().enumerate() {
            table.text(&model.name).cell("box").cell(index);
            [shape.min, shape.max]
                .as_flattened()
                .iter()
                .for_each(|part| {
                    table.float(*part);
                });
            table.cell("").cell("");
            surface(&shape.surface, &mut table)?;
        }
        for (name, mesh) in [
            ("mesh", &model.shapes.mesh),
            ("shadow", &model.shapes.shadow),
        ] {
            mesh_rows(model, name, mesh, &mut table)?;
        }
    }
    Ok(())
}

/// Writes a row for each material of a mesh, with the number of its faces.
fn mesh_rows(model: &Model, name: &str, mesh: &col::Mesh, table: &mut Table<'_>) -> io::Result<()> {
    let mut counts = [0_usize; 256];
    for face in mesh.faces() {
        counts[usize::from(face.surface.material)] += 1;
    }
    let used = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    for (index, (material, count)) in used.enumerate() {
        table.text(&model.name).cell(name).cell(index);
        for _ in 0..7 {
            table.cell("");
        }
        table.cell(count).cell(material);
        table.cell("").cell("").cell("").end_row()?;
    }
    Ok(())
}

fn surface(surface: &col::Surface, table: &mut Table<'_>) -> io::Result<()> {
    table
        .cell(surface.material)
        .cell(surface.flags)
        .cell(surface.brightness)
        .cell(surface.light)
        .end_row()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::col as build;
    use hpimount_assets::view::Alone;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn each_model_is_a_glb_and_a_row() {
        let bytes = [build::model(1, "a"), build::model(3, "b")].concat();
        let view = open(&bytes.clone().into(), &Alone).unwrap();
        let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
        assert_eq!(
            names,
            [
                "info.json",
                "info.txt",
                "models.tsv",
                "shapes.tsv",
                "00 a.glb",
                "01 b.glb",
                "preview.png"
            ]
        );
        let rows = rendered(&bytes, "models.tsv");
        assert_eq!(
            rows.lines().nth(2),
            Some("1\tb\t7\t3\t1\t1\t0\t3\t1\t0\t0\t-1\t-1\t-1\t1\t1\t1\t2\t")
        );
        let rows = rendered(&bytes, "shapes.tsv");
        let shown: Vec<_> = rows.lines().skip(4).collect();
        assert_eq!(
            shown,
            [
                "b\tsphere\t0\t1\t2\t3\t\t\t\t0.5\t\t9\t0\t0\t0",
                "b\tbox\t0\t-1\t-1\t-1\t1\t1\t1\t\t\t4\t1\t2\t3",
                "b\tmesh\t0\t\t\t\t\t\t\t\t1\t5\t\t\t",
            ]
        );
        let mut glb = Vec::new();
        view.render(4, &Alone, &mut glb).unwrap();
        assert!(glb.starts_with(b"glTF"));
    }
}
