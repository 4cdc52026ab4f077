//! View of a model: GLB and OBJ with its textures, tables of its parts, and its
//! collision model.

mod info;
mod tables;

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::animated::{self, Animations};
use super::export::{self, ExportPlan};
use super::textures::{Dictionaries, Pictures, Source};
use super::{Dff, parse};
use crate::{col, dff, failure, models};
use hpimount_assets::model::{Picture, Reservation, Scene, gltf, obj, png, preview};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Preview, View, ViewFormat};
use hpimount_renderware::clump;
use hpimount_renderware::export::TextureState;

/// Models.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: dff::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::first("glb"),
    ])),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 8,
    }),
    matches: Some(dff::is_model),
    ..ViewFormat::new("DFF", open)
};

/// Folder of the model with the animations of each package around it.
const ANIMATED: &str = "animated";

/// Folder of the textures.
const TEXTURES: &str = "textures";

/// File of the materials.
const MATERIALS: &str = "model.mtl";

/// A model, and what is shown of it.
pub(super) struct Shown {
    pub(super) model: Dff,
    plan: ExportPlan,
    /// The sources of the plan's textures.
    sources: Vec<Option<Source>>,
    /// Its definition in the game.
    definition: Option<models::Definition>,
    animations: Animations,
}

impl GetSize for Shown {
    fn get_heap_size(&self) -> usize {
        let model = &self.model;
        let effects = model.effects.iter().map(|effect| {
            size_of_val(effect) + effect.fields.capacity() * size_of::<(&str, dff::Value)>()
        });
        let pieces = model
            .breakables
            .iter()
            .map(|one| size_of_val(one) + one.pieces.capacity() * (size_of::<dff::Piece>() + 64));
        let animations = model.uv_animations.iter();
        let animations = animations.map(|one| size_of_val(one) + one.name.capacity());
        let sources = self.sources.iter().flatten();
        let sources = sources.map(|source| source.dictionary.capacity());
        clump::memory(&model.clumps)
            + effects.sum::<usize>()
            + animations.sum::<usize>()
            + pieces.sum::<usize>()
            + model.collision.as_ref().map_or(0, GetSize::get_heap_size)
            + self.plan.memory()
            + self.animations.memory()
            + self.sources.capacity() * size_of::<Option<Source>>()
            + sources.sum::<usize>()
    }
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = parse(bytes).map_err(|incomplete| failure(*incomplete, info::model_facts))?;
    let name = stem(context.name()).to_owned();
    let models = models::models(context);
    let mut sources = Vec::new();
    let mut dictionaries = Dictionaries::new(models.dictionaries(&name, context), context);
    let mut plan = ExportPlan::new(&model, |name| {
        let found = dictionaries.find(name);
        sources.push(found.as_ref().map(|(source, _)| source.clone()));
        found.map_or(TextureState::Missing, |(_, state)| state)
    });
    let definition = models.definition(&name).cloned();
    plan.is_double_sided = definition.as_ref().is_some_and(|one| one.is_double_sided());
    let animations = Animations::new(&model, &name, &models);
    plan.name = name;
    model.warnings.append(std::mem::take(&mut plan.problems));
    let model = Shown {
        model,
        plan,
        sources,
        definition,
        animations,
    };
    let files = files(&model);
    Ok(Box::new(ListedView { model, files }))
}

/// Returns the name of a file without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn files(shown: &Shown) -> Vec<Listed<Shown>> {
    let Shown { model, plan, .. } = shown;
    let mut files = whole_files(&[
        ("info.json", info::write as _),
        ("info.txt", info::page),
        ("frames.tsv", tables::frames),
        ("materials.tsv", tables::materials),
    ]);
    files.push(Listed::new(
        None,
        "textures.tsv".to_owned(),
        Render::InContext(tables::textures, 0),
    ));
    if !model.effects.is_empty() {
        files.push(Listed::whole("effects.tsv", tables::effects));
    }
    if !model.breakables.is_empty() {
        files.push(Listed::whole("breakables.tsv", tables::breakables));
    }
    let shows = (0..).zip(&plan.clumps);
    let shows: Vec<usize> = shows
        .filter(|(_, problem)| problem.is_none())
        .map(|(clump, _)| clump)
        .collect();
    for &clump in &shows {
        let name = match clump {
            0 => "model".to_owned(),
            _ => format!("clump {}", clump + 1),
        };
        let render = Render::InContext(glb, clump);
        files.push(Listed::new(None, format!("{name}.glb"), render));
    }
    if let Some(&clump) = shows.first() {
        files.push(Listed::new(
            None,
            "model.obj".to_owned(),
            Render::InContext(wavefront, clump),
        ));
        files.push(Listed::new(
            None,
            MATERIALS.to_owned(),
            Render::Part(materials, clump),
        ));
        let drawn = Render::InContext(drawn, clump);
        files.push(Listed::new(None, "preview.png".to_owned(), drawn));
    }
    if shows.first() == Some(&0) {
        for (index, package) in shown.animations.around.iter().enumerate() {
            let name = format!("{}.glb", package.package);
            let render = Render::InContext(moved_by, index);
            files.push(Listed::new(Some(ANIMATED), name, render));
        }
    }
    let collision = model.collision.as_ref();
    let collision = collision.and_then(|collision| collision.models.first());
    let is_written = |model| col::export::problem(model).is_none();
    if collision.is_some_and(|model| is_written(model) && col::export::corners(model) > 0) {
        let render = Render::InContext(collision_glb, 0);
        files.push(Listed::new(None, "collision.glb".to_owned(), render));
    }
    for (index, texture) in plan.textures.iter().enumerate() {
        if texture.state.is_found() {
            let name = format!("{}.png", texture.name);
            let render = Render::InContext(write_picture, index);
            files.push(Listed::new(Some(TEXTURES), name, render));
        }
    }
    files
}

/// Returns the picture of a texture of the plan.
fn picture(shown: &Shown, index: usize, pictures: &Pictures<'_>) -> Option<Picture> {
    pictures.get(shown.sources.get(index)?.as_ref()?)
}

fn scene(shown: &Shown, clump: usize) -> Scene<'static> {
    let clump = shown.model.clumps.get(clump);
    clump.map_or_else(Scene::default, |clump| shown.plan.scene(clump))
}

/// Reserves memory for the scene of a clump.
fn reserve(
    shown: &Shown,
    clump: usize,
    context: &dyn AssetContext,
) -> io::Result<Option<Reservation>> {
    let clump = shown.model.clumps.get(clump);
    context.reserve_scene(clump.map_or(0, |clump| export::sizes(clump).0))
}

/// Writes a clump with the animations that the model is given.
fn glb(
    shown: &Shown,
    clump: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_glb(shown, clump, &shown.animations.given, context, out)
}

/// Writes the first clump with the animations of a package around the model.
fn moved_by(
    shown: &Shown,
    package: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let given = shown.animations.around.get(package);
    write_glb(
        shown,
        0,
        given.map_or(&[], std::slice::from_ref),
        context,
        out,
    )
}

fn write_glb(
    shown: &Shown,
    clump: usize,
    animations: &[models::Given],
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pictures = Pictures::new(context);
    let _memory = reserve(shown, clump, context)?;
    let mut scene = scene(shown, clump);
    if let Some(clump) = shown.model.clumps.get(clump) {
        animated::animate(&mut scene, clump, export::FIRST_FRAME, animations, context);
    }
    let picture = |index| picture(shown, index, &pictures);
    gltf::write(&scene, &picture, &|bytes| context.reserve(bytes), out)
}

fn drawn(
    shown: &Shown,
    clump: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pictures = Pictures::new(context);
    let picture = |index| picture(shown, index, &pictures);
    let _memory = reserve(shown, clump, context)?;
    let mut scene = scene(shown, clump);
    let models = models::models(context);
    super::drawn::arrange(&mut scene, models.paints(&shown.plan.name));
    preview::write(&scene, &picture, &|bytes| context.reserve(bytes), out)
}

fn wavefront(
    shown: &Shown,
    clump: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let _memory = reserve(shown, clump, context)?;
    obj::write(&scene(shown, clump), MATERIALS, out)
}

fn materials(shown: &Shown, clump: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(clump) = shown.model.clumps.get(clump) else {
        return Ok(());
    };
    let plan = &shown.plan;
    let folder = format!("{TEXTURES}/");
    obj::write_materials(&plan.materials(clump), &plan.notes(), &folder, out)
}

fn collision_glb(
    shown: &Shown,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let collision = shown.model.collision.as_ref();
    match collision.and_then(|collision| collision.models.first()) {
        Some(model) => col::view::write(model, context, out),
        None => Ok(()),
    }
}

fn write_picture(
    shown: &Shown,
    index: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    match picture(shown, index, &Pictures::new(context)) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}
