//! View of a model: GLB and OBJ with its textures, tables of its parts, and its
//! collision model.

mod facts;
mod tables;

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use super::animated::{self, Animations};
use super::export::{self, ExportPlan};
use super::import::{import, refusal};
use super::plan::{glb_of, name_of, planned};
use super::textures::{Pictures, Source};
use super::{Dff, parse};
use crate::{Opened, col, dff, models};
use hpimount_assets::model::{Picture, Reservation, gltf, obj, png, preview};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::{Page, no_picture};
use hpimount_assets::view::{AssetContext, Preview, ViewFile, ViewFormat};
use hpimount_renderware::clump::Clump;

/// Models.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: dff::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[
        ConvertedFile::named("png", "preview.png"),
        ConvertedFile::first("glb"),
    ])),
    preview: Some(Preview::new(8, &["preview.png"])),
    matches: Some(dff::is_model),
    edits: &[
        Editable::new(
            "model.glb",
            "places of frames, geometry, new frames and parts",
        ),
        Editable::new("clump *.glb", "the same of further models"),
    ],
    import: Some(import),
    refuses: Some(refusal),
    ..ViewFormat::new("DFF", open)
};

/// Folder of the textures.
const TEXTURES: &str = "textures";

/// File of the materials.
const MATERIALS: &str = "model.mtl";

/// A model with its export plan and its textures.
#[derive(GetSize)]
struct DffView {
    model: Dff,
    plan: ExportPlan,
    /// The sources of the plan's textures.
    sources: Vec<Option<Source>>,
    /// Their paths.
    paths: Vec<Option<String>>,
    animations: Animations,
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let (mut model, error) = so_far(parse(bytes));
    let error = match error {
        Some(error) if model.clumps.is_empty() => return Err(error),
        error => error,
    };
    let models = models::models(context);
    let (mut plan, sources) = planned(name_of(context), &model, &models, context);
    let definition = models.definition(&plan.name);
    if error.is_none() {
        model.warnings.append(std::mem::take(&mut plan.problems));
    }
    let paths = sources.iter().map(|source: &Option<Source>| {
        let file = source.as_ref()?.file;
        Some(context.path_of(file))
    });
    let mut shown = DffView {
        paths: paths.collect(),
        animations: Animations::new(&model, &plan.name, &models),
        model,
        plan,
        sources,
    };
    let mut page = facts::page(&mut shown, definition);
    page.table("materials.tsv", tables::materials)
        .table("textures.tsv", tables::textures);
    if !shown.model.effects.is_empty() {
        page.table("effects.tsv", tables::effects);
    }
    if !shown.model.breakables.is_empty() {
        page.table("breakables.tsv", tables::breakables);
    }
    if error.is_none() {
        add_models(&mut page, &shown);
    }
    Ok(page.show(shown, error))
}

/// Adds the files with the model, its collision model and its textures.
fn add_models(page: &mut Page<DffView>, shown: &DffView) {
    let plan = &shown.plan;
    let clumps = plan.clumps.iter().enumerate();
    let shows = clumps.filter(|(_, problem)| problem.is_none());
    let shows: Vec<usize> = shows.map(|(clump, _)| clump).collect();
    for &clump in &shows {
        page.file(glb_of(clump), move |shown: &DffView, context, out| {
            shown.write_glb(clump, &shown.animations.given, context, out)
        });
    }
    if let Some(&clump) = shows.first() {
        page.file("model.obj", move |shown: &DffView, context, out| {
            let (clump, _memory) = shown.reserve(clump, context)?;
            obj::write(&shown.plan.scene(clump), MATERIALS, out)
        })
        .file(MATERIALS, move |DffView { model, plan, .. }, _, out| {
            let materials = plan.materials(&model.clumps[clump]);
            obj::write_materials(&materials, &plan.notes(), &format!("{TEXTURES}/"), out)
        })
        .file("preview.png", move |shown, context, out| {
            shown.write_preview(clump, context, out)
        });
    }
    if shows.first() == Some(&0) {
        for (index, package) in shown.animations.around.iter().enumerate() {
            let file = ViewFile::inside("animated", format!("{}.glb", package.package));
            page.file(file, move |shown: &DffView, context, out| {
                let package = &shown.animations.around[index..=index];
                shown.write_glb(0, package, context, out)
            });
        }
    }
    let is_written = |model: &&col::Model| {
        col::export::problem(model).is_none() && col::export::corners(model) > 0
    };
    if shown.collision().filter(is_written).is_some() {
        page.file("collision.glb", |shown: &DffView, context, out| {
            let mut models = shown.collision().into_iter();
            models.try_for_each(|model| col::view::write(model, context, out))
        });
    }
    for (index, texture) in plan.textures.iter().enumerate() {
        if texture.state.is_found() {
            let file = ViewFile::inside(TEXTURES, format!("{}.png", texture.name));
            page.file(file, move |shown: &DffView, context, out| {
                let picture = shown.picture(index, &Pictures::new(context));
                png::write(&picture.ok_or_else(no_picture)?, out)
            });
        }
    }
}

impl DffView {
    /// Returns the first collision model.
    fn collision(&self) -> Option<&col::Model> {
        self.model.collision.as_ref()?.models.first()
    }

    /// Returns the picture of a texture of the plan.
    fn picture(&self, index: usize, pictures: &Pictures<'_>) -> Option<Picture> {
        pictures.get(self.sources.get(index)?.as_ref()?)
    }

    /// Returns a clump, and memory for its scene.
    fn reserve(
        &self,
        clump: usize,
        context: &dyn AssetContext,
    ) -> io::Result<(&Clump, Option<Reservation>)> {
        let clump = &self.model.clumps[clump];
        let memory = context.reserve_scene(export::sizes(clump).0)?;
        Ok((clump, memory))
    }

    fn write_glb(
        &self,
        clump: usize,
        animations: &[models::AnimationPackage],
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let pictures = Pictures::new(context);
        let (clump, _memory) = self.reserve(clump, context)?;
        let mut scene = self.plan.scene(clump);
        animated::animate(&mut scene, clump, export::FIRST_FRAME, animations, context);
        let picture = |index| self.picture(index, &pictures);
        gltf::write(&scene, &picture, &|bytes| context.reserve(bytes), out)
    }

    fn write_preview(
        &self,
        clump: usize,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let pictures = Pictures::new(context);
        let (clump, _memory) = self.reserve(clump, context)?;
        let mut scene = self.plan.scene(clump);
        let models = models::models(context);
        super::drawn::arrange(&mut scene, models.paints(&self.plan.name));
        let picture = |index| self.picture(index, &pictures);
        preview::write(&scene, &picture, &|bytes| context.reserve(bytes), out)
    }
}
