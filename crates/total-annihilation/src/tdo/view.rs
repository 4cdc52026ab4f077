//! View of a model: a scene with its pieces, and a preview.

use std::io::{self, Write};

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

use super::drawn::{Drawn, Script, texture_file};
use super::export::{corners, drawn_textures};
use super::textures::Textures;
use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::tdo::{self, Model, Object, Surface};
use crate::view::parts;
use hpimount_assets::model::{Picture, Pixels, Scene, corners_problem, gltf, obj, png, preview};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{Listed, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json,
};
use hpimount_containers::file_type::FileType;

/// Models.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: tdo::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::named("glb", "model.glb"),
    ])),
    types: &[FileType {
        patterns: &["*.3do"],
        ..FileType::new("model/x-ta-3do", Some("Total Annihilation model"))
    }],
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 2,
    }),
    ..ViewFormat::new("3DO", open)
};

/// Folder of the textures' pictures.
const FOLDER: &str = "textures";

/// File of the materials.
const MATERIALS: &str = "model.mtl";

/// Units of a coordinate.
const ONE: f64 = 65536.0;

/// Maximum number of textures of a model that are listed.
const MAX_TEXTURES: usize = 4096;

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let has_primitives = |object: &Object| !object.primitives.is_empty();
    let is_shown = |model: &Model| model.objects.iter().any(has_primitives);
    let (mut model, error) = parts(tdo::parse(bytes), is_shown, |model| {
        json::bounded_value(&Facts::new(model, ""), &json!({}))
    })?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    let mut add = |name: &str, render| {
        files.push(Listed::new(
            None,
            name.to_owned(),
            Render::InContext(render, 0),
        ));
    };
    add("pieces.tsv", pieces);
    if !drawn_textures(&model).is_empty() {
        add("textures.tsv", textures);
    }
    if let Some(why) = corners_problem(corners(&model)) {
        model
            .warnings
            .push(format!("the model is not shown: {why}"));
    } else {
        add("model.obj", wavefront);
        add(MATERIALS, materials);
        add("model.glb", glb);
        add("preview.png", picture);
        let names = drawn_textures(&model);
        for (index, (name, _)) in names.iter().enumerate().take(MAX_TEXTURES) {
            let name = format!("{}.png", texture_file(names.len(), index, name));
            let render = Render::InContext(texture as _, index);
            files.push(Listed::new(Some(FOLDER), name, render));
        }
    }
    let shown = Shown {
        asset: model,
        colors: Colors::of_mount(context),
    };
    Ok(shown.partial_view(files, error))
}

fn drawn(shown: &Shown<Model>, context: &dyn AssetContext) -> io::Result<Drawn> {
    let script = Script::of(context);
    Drawn::new(&shown.asset, &shown.colors.palette, &script, context)
}

fn wavefront(
    shown: &Shown<Model>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut scene = drawn(shown, context)?.scene;
    // Editors need all pieces.
    scene.hidden.clear();
    obj::write(&scene, MATERIALS, out)
}

fn materials(
    shown: &Shown<Model>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Scene {
        materials, notes, ..
    } = drawn(shown, context)?.scene;
    obj::write_materials(&materials, &notes, "textures/", out)
}

fn glb(
    shown: &Shown<Model>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let drawn = drawn(shown, context)?;
    let pictures = |index| drawn.picture(index);
    gltf::write(
        &drawn.scene,
        &pictures,
        &|bytes| context.reserve(bytes),
        out,
    )
}

fn picture(
    shown: &Shown<Model>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let drawn = drawn(shown, context)?;
    let pictures = |index| drawn.picture(index);
    let reserve = |bytes| context.reserve(bytes);
    preview::write(&drawn.scene, &pictures, &reserve, out)
}

/// Writes a texture; a gray pixel for one that is not in the mount.
fn texture(
    shown: &Shown<Model>,
    index: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = drawn_textures(&shown.asset);
    let Some((name, _)) = names.get(index) else {
        return Ok(());
    };
    let found = Textures::new(context).pictures(&[name.as_str()]).pop();
    let picture = found.flatten().unwrap_or_else(|| Picture {
        width: 1,
        height: 1,
        pixels: Pixels::Rgba(vec![[153, 153, 153, 255]]),
    });
    png::write(&picture, out)
}

#[derive(Serialize)]
struct Facts<'a> {
    format: &'static str,
    axes: &'static str,
    unit: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    palette: &'a str,
    vertices: usize,
    primitives: usize,
    textures: usize,
    objects: Seq<'a, ObjectFacts>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ObjectFacts {
    index: usize,
    name: String,
    offset: u32,
    parent: Option<usize>,
    position: [i32; 3],
    vertices: usize,
    primitives: usize,
    selection: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ground_plate: Option<Vec<[f64; 3]>>,
}

impl<'a> Facts<'a> {
    fn new(model: &'a Model, palette: &'a str) -> Self {
        let objects = || model.objects.iter();
        Self {
            format: FORMAT.name,
            axes: "left-handed: x to the left of the unit, y up, z backwards",
            unit: "position: 1/65536 pixel of a map",
            palette,
            vertices: objects().map(|object| object.vertices.len()).sum(),
            primitives: objects().map(|object| object.primitives.len()).sum(),
            textures: drawn_textures(model).len(),
            objects: Seq::new(|| {
                let objects = model.objects.iter().enumerate();
                objects.map(|(index, object)| ObjectFacts::new(index, object))
            }),
            warnings: model.warnings.texts(),
        }
    }
}

impl ObjectFacts {
    fn new(index: usize, object: &Object) -> Self {
        let plate = object.ground_plate().and_then(|plate| {
            let corners = object.primitives.get(plate)?.indices.iter();
            let corners = corners.filter_map(|&corner| object.vertices.get(usize::from(corner)));
            Some(corners.map(|corner| corner.map(pixels)).collect())
        });
        Self {
            index,
            name: object.name.to_string(),
            offset: object.offset,
            parent: object.parent,
            position: object.position,
            vertices: object.vertices.len(),
            primitives: object.primitives.len(),
            selection: object.selection,
            ground_plate: plate,
        }
    }
}

/// Returns a coordinate in pixels of a map.
fn pixels(coordinate: i32) -> f64 {
    f64::from(coordinate) / ONE
}

fn info(shown: &Shown<Model>, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&Facts::new(&shown.asset, &shown.colors.source), out)
}

fn page(shown: &Shown<Model>, out: &mut dyn Write) -> io::Result<()> {
    let model = &shown.asset;
    let facts = Facts::new(model, "");
    let mut page = Summary::new("3DO model");
    page.list("pieces", model.objects.iter().map(|object| &object.name));
    page.line("vertices", facts.vertices);
    page.line("primitives", facts.primitives);
    let names = drawn_textures(model);
    page.list("textures", names.iter().map(|(name, _)| name));
    page.line("palette", &shown.colors.source);
    page.write(&model.warnings, out)
}

/// Columns of `pieces.tsv`. Positions are in pixels of a map, in the axes of
/// the file.
const PIECES: [&str; 13] = [
    "index",
    "name",
    "parent",
    "depth",
    "x",
    "y",
    "z",
    "vertices",
    "primitives",
    "textured",
    "colored",
    "invisible",
    "in_script",
];

fn pieces(
    shown: &Shown<Model>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let script = Script::of(context).names;
    let mut table = Table::new(out, &PIECES)?;
    for (index, object) in shown.asset.objects.iter().enumerate() {
        let name = object.name.to_string();
        table.cell(index).text(&name).optional(object.parent);
        table.cell(object.depth);
        for coordinate in object.position {
            table.cell(pixels(coordinate));
        }
        table
            .cell(object.vertices.len())
            .cell(object.primitives.len());
        for surface in [Surface::Textured, Surface::Colored, Surface::Invisible] {
            let primitives = object.primitives.iter();
            table.cell(primitives.filter(|one| one.surface() == surface).count());
        }
        // Unknown without a script.
        let is_known = script.contains_key(&name.to_ascii_lowercase());
        table
            .optional((!script.is_empty()).then_some(is_known))
            .end_row()?;
    }
    Ok(())
}

fn textures(
    shown: &Shown<Model>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let textures = Textures::new(context);
    let columns = ["name", "faces", "resolved_in", "sequence", "team_colors"];
    let mut table = Table::new(out, &columns)?;
    for (name, faces) in drawn_textures(&shown.asset) {
        table.text(&name).cell(faces);
        match textures.find(&name) {
            Some(found) => table
                .text(&found.file)
                .cell(found.sequence)
                .cell(found.has_team_colors),
            None => table.cell("").cell("").cell(""),
        };
        table.end_row()?;
    }
    Ok(())
}
