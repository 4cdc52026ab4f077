//! MODL, JSP and BSP: models with their textures.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::json;

use crate::info::Info;
use crate::model::animated::{self, Given};
use crate::model::blending;
use crate::model::export::ExportPlan;
use crate::model::textures::{find_texture, read, state_of};
use crate::model::{self, Model, is_level_info};
use crate::names::Names;
use crate::origin::Origin;
use crate::table_view as view;
use crate::view::{Kind, Shown};
use hpimount_assets::model::not_shown;
use hpimount_assets::model::{Picture, gltf, obj, png, preview};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::listed::{InContext, Listed, Render};
use hpimount_assets::view::{AssetContext, Failure, Preview, Table, View, ViewFormat};
use hpimount_containers::volume::AssetType;
use hpimount_renderware::export::{Motions, TextureState, TextureUse, skeleton};
use hpimount_renderware::texture::export::picture;

/// Models.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"MODL", *b"JSP ", *b"BSP "],
    converted: Conversion::By(converted),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 8,
    }),
    ..ViewFormat::new("HIP model", open)
};

/// Returns the conversions of a model. The tables of a JSPINFO layer have none.
fn converted(asset: Option<AssetType>) -> Converted {
    let is_drawn = asset.is_none_or(|asset| asset.subtype == 0);
    let files: &[ConvertedFile] = match is_drawn {
        true => {
            &const {
                [
                    ConvertedFile::named("png", "preview.png"),
                    ConvertedFile::first("glb"),
                ]
            }
        }
        false => &[],
    };
    Converted::parts(files).within(Folder::Named("models"))
}

/// Folder of the textures.
const TEXTURES: &str = "textures";

/// File of the materials.
const MATERIALS: &str = "model.mtl";

/// A model, and its export plan.
pub(crate) struct Planned {
    model: Model,
    plan: ExportPlan,
}

pub(crate) const KIND: Kind<Planned> = Kind {
    title: "HIP model",
    describe,
    warnings: |planned| &mut planned.model.warnings,
    heap: |planned| planned.model.memory() + planned.plan.memory(),
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    if is_level_info(bytes) {
        return view::open_level(bytes, context);
    }
    let parsed = match model::parse(bytes) {
        Ok(model) => {
            let mut plan = ExportPlan::new(&model, |name| state_of(name, context));
            if let Some(id) = Origin::of(context).id {
                plan.blend(&model, &blending::of_atomics(id, &model, context));
            }
            Ok(Planned { model, plan })
        }
        Err(incomplete) => Err(Box::new(hpimount_assets::parse::Incomplete {
            error: incomplete.error,
            model: Planned {
                model: incomplete.model,
                plan: ExportPlan::default(),
            },
        })),
    };
    KIND.view(bytes, context, parsed, |shown| {
        let plan = &mut shown.model.plan;
        shown
            .info
            .warnings
            .append(std::mem::take(&mut plan.problems));
        files(plan)
    })
}

fn files(plan: &ExportPlan) -> Vec<Listed<Shown<Planned>>> {
    let mut files = vec![Listed::new(
        None,
        "textures.tsv".to_owned(),
        Render::InContext(
            |shown: &Shown<Planned>, _, context, out| textures(&shown.model.plan, context, out),
            0,
        ),
    )];
    if plan.has_scene {
        files.push(Listed::new(
            None,
            "model.glb".to_owned(),
            Render::InContext(glb, 0),
        ));
        let drawn = Render::InContext(drawn as InContext<_>, 0);
        files.push(Listed::new(None, "preview.png".to_owned(), drawn));
        let wavefront = Render::InContext(wavefront as InContext<_>, 0);
        files.push(Listed::new(None, "model.obj".to_owned(), wavefront));
        files.push(Listed::whole(MATERIALS, materials));
    }
    if plan.skeleton.is_some() {
        files.push(Listed::new(
            None,
            "animations.tsv".to_owned(),
            Render::InContext(animations, 0),
        ));
        files.push(Listed::whole("skeleton.tsv", bones));
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

fn describe(planned: &Planned, info: &mut Info, names: Names<'_>) {
    let Planned { model, plan } = planned;
    info.add("clumps", model.clumps.len());
    let worlds = model.worlds.iter().map(|world| {
        json!({
            "version": format!("{:#x}", world.version.number()),
            "sectors": world.sectors.len(),
            "planes": world.planes,
            "depth": world.depth,
            "box": world.bounds,
            "materials": world.materials.len(),
            "flags": format!("{:#010x}", world.flags),
        })
    });
    info.add("worlds", worlds.collect::<Vec<_>>());
    let clumps = || model.clumps.iter();
    info.add(
        "frames",
        clumps().map(|clump| clump.frames.len()).sum::<usize>(),
    );
    info.add(
        "atomics",
        clumps().map(|clump| clump.atomics.len()).sum::<usize>(),
    );
    info.add("triangles", plan.triangles);
    let geometries = clumps().flat_map(|clump| &clump.geometries);
    let geometries = geometries.take(MAX_GEOMETRIES).map(|geometry| {
        json!({
            "form": geometry.vertices.name(),
            "vertices": geometry.declared_vertices,
            "triangles": geometry.declared_triangles,
            "uv_sets": geometry.uv_sets,
            "morphs": geometry.morphs.len(),
            "materials": geometry.materials.len(),
            "skinned": geometry.has_skin,
            "bones": geometry.skin.as_ref().map(|skin| skin.bones),
            "flags": format!("{:#06x}", geometry.flags),
            "version": format!("{:#x}", geometry.version.number()),
            "error": geometry.error.as_ref().map(ToString::to_string),
        })
    });
    info.add("geometries", geometries.collect::<Vec<_>>());
    let textures = plan.textures.iter().map(|texture| &texture.name);
    info.add("textures", textures.collect::<Vec<_>>());
    let missing = plan
        .textures
        .iter()
        .filter(|texture| !texture.state.is_found());
    let missing = missing.map(|texture| &texture.name);
    info.add("missing_textures", missing.collect::<Vec<_>>());
    let animations = given(plan, names.0).into_iter();
    let animations: Vec<_> = animations
        .map(|given| names.reference(given.animation))
        .collect();
    info.add("animations", animations);
}

/// Maximum number of geometries that `info.json` lists individually.
const MAX_GEOMETRIES: usize = 256;

fn picture_of(plan: &ExportPlan, index: usize, context: &dyn AssetContext) -> Option<Picture> {
    let texture = plan.textures.get(index)?;
    picture(&read(&texture.name, context).ok()?)
}

/// Returns a texture as the materials of the model show it.
fn shown_picture(plan: &ExportPlan, index: usize, context: &dyn AssetContext) -> Option<Picture> {
    let picture = picture_of(plan, index, context)?;
    Some(match plan.added.contains(&index) {
        true => blending::by_brightness(&picture),
        false => picture,
    })
}

fn write_picture(
    shown: &Shown<Planned>,
    index: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    match picture_of(&shown.model.plan, index, context) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn glb(
    shown: &Shown<Planned>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Planned { model, plan } = &shown.model;
    let pictures = |index| shown_picture(plan, index, context);
    let reserve = |bytes| context.reserve(bytes);
    let _memory = context.reserve_scene(plan.corners)?;
    let mut scene = plan.scene(model);
    let nodes: Vec<_> = scene.joints.iter().map(|joint| joint.node).collect();
    let mut motions = Motions::default();
    for given in given(plan, context) {
        animated::add(&mut motions, given.animation, &nodes, context);
    }
    motions.put_into(&mut scene);
    gltf::write(&scene, &pictures, &reserve, out)
}

/// Returns the animations of the model; none without a skeleton.
fn given(plan: &ExportPlan, context: &dyn AssetContext) -> Vec<Given> {
    let own = Origin::of(context).id.filter(|_| plan.skeleton.is_some());
    own.map_or_else(Vec::new, |id| animated::of_model(id, context))
}

/// Writes `animations.tsv`.
fn animations(
    shown: &Shown<Planned>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = [
        "index",
        "animation",
        "animation_name",
        "by",
        "by_name",
        "duration",
        "bones",
        "problem",
    ];
    let mut table = Table::new(out, &columns)?;
    let names = Names(context);
    for (index, given) in given(&shown.model.plan, context).iter().enumerate() {
        table.cell(index);
        names.cells(given.animation, &mut table);
        names.cells(given.by, &mut table);
        let read = animated::read(given.animation, context);
        match &read {
            Ok(animation) => table.float(animation.duration()).cell(animation.bones),
            Err(_) => table.cell("").cell(""),
        };
        let problem = read.and_then(|animation| animation.tracks()).err();
        table.optional_text(problem.as_deref());
        table.end_row()?;
    }
    Ok(())
}

/// Writes `skeleton.tsv`: the nodes in the order of the bones of animations.
fn bones(shown: &Shown<Planned>, out: &mut dyn Write) -> io::Result<()> {
    let Planned { model, plan } = &shown.model;
    let clump = plan.skeleton.and_then(|number| model.clumps.get(number));
    let frames = clump.and_then(skeleton::bones).unwrap_or_default();
    let columns = ["bone", "node", "parent", "x", "y", "z"];
    let mut table = Table::new(out, &columns)?;
    for (bone, &frame) in frames.iter().enumerate() {
        let Some(frame) = clump.and_then(|clump| clump.frames.get(frame)) else {
            continue;
        };
        let parent = frames.iter().position(|&one| Some(one) == frame.parent);
        let id = frame.node.as_ref().map(|node| node.id);
        table.cell(bone).optional(id).optional(parent);
        let place = frame.placement.position;
        place.iter().for_each(|&part| {
            table.float(part);
        });
        table.end_row()?;
    }
    Ok(())
}

fn drawn(
    shown: &Shown<Planned>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Planned { model, plan } = &shown.model;
    let pictures = |index| shown_picture(plan, index, context);
    let reserve = |bytes| context.reserve(bytes);
    let _memory = context.reserve_scene(plan.corners)?;
    preview::write(&plan.scene(model), &pictures, &reserve, out)
}

fn wavefront(
    shown: &Shown<Planned>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Planned { model, plan } = &shown.model;
    let _memory = context.reserve_scene(plan.corners)?;
    obj::write(&plan.scene(model), MATERIALS, out)
}

fn materials(shown: &Shown<Planned>, out: &mut dyn Write) -> io::Result<()> {
    let Planned { model, plan } = &shown.model;
    let folder = format!("{TEXTURES}/");
    obj::write_materials(&plan.materials(model), &plan.notes(), &folder, out)
}

/// Writes `textures.tsv` of a model.
fn textures(plan: &ExportPlan, context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["index", "name", "asset", "width", "height", "problem"];
    let mut table = Table::new(out, &columns)?;
    for (index, TextureUse { name, state }) in plan.textures.iter().enumerate() {
        let asset = find_texture(name, context).map(|file| context.path_of(file));
        table.cell(index).text(name);
        table.optional_text(asset.as_deref());
        let placeholder = "it is replaced by magenta";
        match state {
            TextureState::Found { width, height, .. } => table.cell(width).cell(height).cell(""),
            TextureState::Missing => table
                .cell("")
                .cell("")
                .text(&format!("is in no available archive; {placeholder}")),
            TextureState::Unreadable(why) => table
                .cell("")
                .cell("")
                .text(&not_shown(name, format_args!("{why}; {placeholder}"))),
        };
        table.end_row()?;
    }
    Ok(())
}
