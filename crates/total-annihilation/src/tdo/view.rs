//! View of a model: a scene with its pieces, and a preview.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::drawn::{Drawn, Script, texture_file};
use super::export::{corners, drawn_textures};
use super::import::import;
use super::textures::{Resolved, Textures};
use crate::pal::colors::Colors;
use crate::tdo::{self, Model, ONE, Object, Surface};
use hpimount_assets::model::{
    Picture, Pixels, Scene, corners_problem, gltf, not_shown, obj, png, preview,
};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Node};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFile, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_record::Value;

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
    preview: Some(Preview::new(2, &["preview.png"])),
    edits: &[
        Editable::new("model.glb", "pieces, their places, faces and materials"),
        Editable::new("model.obj", "pieces, faces and materials"),
    ],
    import: Some(import),
    ..ViewFormat::new("3DO", open)
};

/// Folder of the textures' pictures.
const FOLDER: &str = "textures";

/// File of the materials.
const MATERIALS: &str = "model.mtl";

/// Maximum number of listed textures of a model.
const MAX_TEXTURES: usize = 4096;

/// A model with its palette and its script.
#[derive(GetSize)]
struct TdoView {
    model: Model,
    colors: Colors,
    script: Script,
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut model, error) = so_far(tdo::parse(bytes));
    let warnings = std::mem::take(&mut model.warnings);
    let colors = Colors::of_mount(context);
    let names = drawn_textures(&model);
    let objects = || model.objects.iter();
    let mut page = Page::new(FORMAT.name, "3DO model", warnings);
    page.fact(
        "axes",
        "left-handed: x to the left of the unit, y up, z backwards",
    )
    .fact("unit", "position: 1/65536 pixel of a map")
    .fact("palette", colors.source.clone())
    .fact(
        "vertices",
        objects().map(|object| object.vertices.len()).sum::<usize>(),
    )
    .fact(
        "primitives",
        objects()
            .map(|object| object.primitives.len())
            .sum::<usize>(),
    )
    .measures(|shown: &TdoView| {
        let objects = shown.model.objects.iter();
        Measures::vertices(objects.map(|object| object.vertices.len()).sum::<usize>())
    })
    .fact("textures", names.len())
    .list("objects", |shown: &TdoView| {
        Box::new(shown.model.objects.iter().enumerate().map(object))
    });
    if error.is_none() || objects().any(|object| !object.primitives.is_empty()) {
        page.table("pieces.tsv", pieces);
        if !names.is_empty() {
            page.file("textures.tsv", |shown, context, out| {
                textures(shown, &Textures::new(context)).write(out)
            });
        }
        match corners_problem(corners(&model)) {
            None => add_scene(&names, &mut page),
            Some(why) => {
                page.warn(not_shown("the model", why));
            }
        }
    }
    let script = Script::of(context);
    Ok(page.show(
        TdoView {
            model,
            colors,
            script,
        },
        error,
    ))
}

/// Adds the files of the scene with these textures.
fn add_scene(names: &[(String, usize)], page: &mut Page<TdoView>) {
    page.file("model.obj", |shown, context, out| {
        let mut scene = drawn(shown, context)?.scene;
        // Editors need all pieces.
        scene.hidden.clear();
        obj::write(&scene, MATERIALS, out)
    })
    .file(MATERIALS, |shown, context, out| {
        let Scene {
            materials, notes, ..
        } = drawn(shown, context)?.scene;
        obj::write_materials(&materials, &notes, "textures/", out)
    })
    .file("model.glb", |shown, context, out| {
        let drawn = drawn(shown, context)?;
        let pictures = |index| drawn.picture(index);
        let reserve = |bytes| context.reserve(bytes);
        gltf::write(&drawn.scene, &pictures, &reserve, out)
    })
    .file("preview.png", |shown, context, out| {
        let drawn = drawn(shown, context)?;
        let pictures = |index| drawn.picture(index);
        let reserve = |bytes| context.reserve(bytes);
        preview::write(&drawn.scene, &pictures, &reserve, out)
    });
    for (index, (name, _)) in names.iter().enumerate().take(MAX_TEXTURES) {
        let name = format!("{}.png", texture_file(names.len(), index, name));
        page.file(
            ViewFile::inside(FOLDER, name),
            move |shown, context, out| texture(shown, index, context, out),
        );
    }
}

fn drawn(shown: &TdoView, context: &dyn AssetContext) -> io::Result<Drawn> {
    Drawn::new(&shown.model, &shown.colors.palette, &shown.script, context)
}

/// Writes a texture, or a gray pixel if the mount lacks it.
fn texture(
    shown: &TdoView,
    index: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name, _) = &drawn_textures(&shown.model)[index];
    let found = Textures::new(context).pictures(&[name.as_str()]).pop();
    let picture = found.flatten().unwrap_or_else(|| Picture {
        width: 1,
        height: 1,
        pixels: Pixels::Rgba(vec![[153, 153, 153, 255]]),
    });
    png::write(&picture, out)
}

fn object((index, object): (usize, &Object)) -> Node<'_> {
    let plate = object.ground_plate().and_then(|plate| {
        let corners = object.primitives.get(plate)?.indices.iter();
        let corners = corners.filter_map(|&corner| object.vertices.get(usize::from(corner)));
        Some(corners.map(|corner| corner.map(pixels)).collect::<Value>())
    });
    let facts = [
        ("index", index.into()),
        ("name", object.name.to_string().into()),
        ("offset", object.offset.into()),
        ("parent", object.parent.into()),
        ("position", object.position.into()),
        ("vertices", object.vertices.len().into()),
        ("primitives", object.primitives.len().into()),
        ("selection", object.selection.into()),
    ];
    let plate = plate.map(|plate| ("ground_plate", plate.into()));
    node::map(facts.into_iter().chain(plate))
}

/// Returns a coordinate in map pixels.
fn pixels(coordinate: i32) -> Value {
    Value::Double(f64::from(coordinate) / f64::from(ONE))
}

/// Columns of `pieces.tsv`. Positions are in map pixels, in the axes of the file.
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

fn pieces(shown: &TdoView) -> Rows<'_> {
    let script = &shown.script.names;
    let rows = shown
        .model
        .objects
        .iter()
        .enumerate()
        .map(|(index, object)| {
            let name = object.name.to_string();
            let [x, y, z] = object.position.map(pixels);
            let count = |surface| {
                let primitives = object.primitives.iter();
                Value::from(primitives.filter(|one| one.surface() == surface).count())
            };
            // Unknown without a script.
            let is_known = script.contains_key(&name.to_ascii_lowercase());
            [
                index.into(),
                name.into(),
                object.parent.into(),
                object.depth.into(),
                x,
                y,
                z,
                object.vertices.len().into(),
                object.primitives.len().into(),
                count(Surface::Textured),
                count(Surface::Colored),
                count(Surface::Invisible),
                (!script.is_empty()).then_some(is_known).into(),
            ]
        });
    Rows::new(PIECES, rows)
}

fn textures<'a>(shown: &'a TdoView, textures: &'a Textures<'_>) -> Rows<'a> {
    let columns = ["name", "faces", "resolved_in", "sequence", "team_colors"];
    let rows = drawn_textures(&shown.model)
        .into_iter()
        .map(|(name, faces)| {
            let found = textures.find(&name);
            let of = |fact: fn(&Resolved) -> Value| found.as_ref().map(fact).into();
            [
                name.into(),
                faces.into(),
                of(|found| found.file.clone().into()),
                of(|found| found.sequence.into()),
                of(|found| found.has_team_colors.into()),
            ]
        });
    Rows::new(columns, rows)
}
