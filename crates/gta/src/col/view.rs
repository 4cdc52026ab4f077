//! View of collision models: tables, and each model as a GLB.

use std::io::{self, Write};

use bytes::Bytes;

use super::{Col, Mesh, Model, Surface, export, import, mesh_import};
use crate::{Opened, col, page, table};
use hpimount_assets::model::{gltf, not_shown, preview};
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Measures, Preview, ViewFormat};
use hpimount_record::Value;

/// Collision models.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: col::EXTENSIONS,
    edits: &[
        Editable::new(
            "*.glb",
            "vertices, faces and surfaces; places and sizes of spheres and boxes",
        ),
        Editable::new("shapes.tsv", "places, radii and surfaces"),
        Editable::new("models.tsv", "names and ids"),
    ],
    import: Some(|edit| match edit.part.name.ends_with(".glb") {
        true => mesh_import::import(edit),
        false => import::import(edit, &FORMAT),
    }),
    converted: Conversion::Always(Converted::parts(&[])),
    preview: Some(Preview::new(10, &["preview.png"])),
    matches: Some(col::is_col),
    ..ViewFormat::new("COL", open)
};

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut col = col::parse(bytes)?;
    let mut page = page(FORMAT.name, "COL collision models", &mut col.warnings);
    let faces = col.models.iter().map(|model| model.shapes.mesh.faces());
    page.fact("axes", "x right, y forward, z up; meters")
        .fact("faces", faces.map(Iterator::count).sum::<usize>())
        .fact("trailing_bytes", col.trailing)
        .rows("models", models)
        .table("shapes.tsv", shapes)
        .measures(|col| {
            let meshes = col.models.iter().map(|model| &model.shapes.mesh);
            Measures::vertices(meshes.map(|mesh| mesh.vertices().count()).sum::<usize>())
        });
    let mut first = None;
    for (index, model) in col.models.iter().enumerate() {
        let error = model.error.iter().map(ToString::to_string);
        for text in error.chain(model.warnings.texts()) {
            page.warn(format!("model {index}: {text}"));
        }
        if let Some(problem) = export::problem(model) {
            page.warn(not_shown(format!("model {index}"), problem));
        } else if export::corners(model) > 0 {
            page.file(
                export::glb_name(&col, index),
                move |col: &Col, context, out| write(&col.models[index], context, out),
            );
            first.get_or_insert(index);
        }
    }
    if let Some(index) = first {
        page.file("preview.png", move |col: &Col, context, out| {
            drawn(&col.models[index], context, out)
        });
    }
    Ok(page.show(col, None))
}

fn drawn(model: &Model, context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
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
    let scene = export::scene(model, &export::surfaces(context));
    gltf::write(&scene, &|_| None, &|bytes| context.reserve(bytes), out)
}

fn models(col: &Col) -> Rows<'_> {
    let columns = [
        "index",
        "name",
        "id",
        "version",
        "offset",
        "size",
        "flags",
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
    let rows = col.models.iter().enumerate().map(|(index, model)| {
        let shapes = &model.shapes;
        let bounds = shapes.bounds.as_ref();
        let min = |axis: usize| bounds.map(|bounds| bounds.min[axis]).into();
        let max = |axis: usize| bounds.map(|bounds| bounds.max[axis]).into();
        [
            index.into(),
            model.name.clone().into(),
            model.id.into(),
            model.version.into(),
            model.offset.into(),
            model.size.into(),
            shapes.flags.map(|flags| format!("{flags:#x}")).into(),
            shapes.spheres.len().into(),
            shapes.boxes.len().into(),
            shapes.lines.into(),
            shapes.mesh.vertices().count().into(),
            shapes.mesh.faces().count().into(),
            shapes.groups.len().into(),
            shapes.shadow.faces().count().into(),
            min(0),
            min(1),
            min(2),
            max(0),
            max(1),
            max(2),
            bounds.map(|bounds| bounds.radius).into(),
            model.error.as_ref().map(ToString::to_string).into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns the spheres and boxes, and the materials of the meshes.
fn shapes(col: &Col) -> Rows<'_> {
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
    let rows = col.models.iter().flat_map(|model| {
        let shapes = &model.shapes;
        let spheres = shapes.spheres.iter().enumerate();
        let spheres = spheres.map(|(index, one)| {
            let ends = [Some(one.center), None];
            let surface = surface(&one.surface);
            row(
                model,
                ("sphere", index),
                ends,
                Some(one.radius),
                None,
                surface,
            )
        });
        let boxes = shapes.boxes.iter().enumerate();
        let boxes = boxes.map(|(index, one)| {
            let ends = [Some(one.min), Some(one.max)];
            let surface = surface(&one.surface);
            row(model, ("box", index), ends, None, None, surface)
        });
        let shadow = materials(model, "shadow", &shapes.shadow);
        let meshes = materials(model, "mesh", &shapes.mesh).chain(shadow);
        spheres.chain(boxes).chain(meshes)
    });
    table(columns, rows)
}

fn row(
    model: &Model,
    (shape, index): (&'static str, usize),
    ends: [Option<[f32; 3]>; 2],
    radius: Option<f32>,
    faces: Option<usize>,
    surface: [Value; 4],
) -> Vec<Value> {
    let mut row = vec![model.name.clone().into(), shape.into(), index.into()];
    for end in ends {
        row.extend((0..3).map(|axis| end.map(|end| end[axis]).into()));
    }
    row.extend([radius.into(), faces.into()]);
    row.extend(surface);
    row
}

fn surface(surface: &Surface) -> [Value; 4] {
    let Surface {
        material,
        flags,
        brightness,
        light,
    } = *surface;
    [material, flags, brightness, light].map(Value::from)
}

/// Returns a row for each material of a mesh, with the number of its faces.
fn materials<'a>(
    model: &'a Model,
    name: &'static str,
    mesh: &Mesh,
) -> impl Iterator<Item = Vec<Value>> + use<'a> {
    let used = mesh.materials().enumerate();
    used.map(move |(index, (material, count))| {
        let surface = [material.into(), Value::Null, Value::Null, Value::Null];
        row(model, (name, index), [None; 2], None, Some(count), surface)
    })
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
            Some("1\tb\t7\t3\t192\t188\t0x2\t1\t1\t0\t3\t1\t0\t0\t-1\t-1\t-1\t1\t1\t1\t2\t")
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
