//! MODL, JSP and BSP: models with their textures.

use std::io;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;

use crate::model::animated::{self, ModelAnimation};
use crate::model::blending;
use crate::model::export::ExportPlan;
use crate::model::import::{import, refusal};
use crate::model::textures::{find_texture, read, state_of};
use crate::model::{self, Model, is_level_info};
use crate::names::Names;
use crate::origin::Origin;
use crate::table_view;
use crate::view::{self, list};
use hpimount_assets::model::{Picture, Reservation, Scene, gltf, not_shown, obj, png, preview};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Nodes};
use hpimount_assets::view::page::{Page, Rows, no_picture};
use hpimount_assets::view::{AssetContext, Measures, Opened, Preview, ViewFile, ViewFormat};
use hpimount_containers::volume::AssetType;
use hpimount_renderware::export::{TextureState, TextureUse, skeleton};
use hpimount_renderware::texture::export::picture;

/// Models.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"MODL", *b"JSP ", *b"BSP "],
    converted: Conversion::By(converted),
    preview: Some(Preview::new(8, &["preview.png"])),
    edits: &[Editable::new("model.glb", "geometry")],
    import: Some(import),
    refuses: Some(refusal),
    ..ViewFormat::new("HIP model", open)
};

/// Returns the conversions of a model. Tables of a JSPINFO layer have none.
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
struct Planned {
    model: Model,
    plan: ExportPlan,
}

impl GetSize for Planned {
    fn get_heap_size(&self) -> usize {
        self.model.memory() + self.plan.memory()
    }
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    if is_level_info(bytes) {
        return Ok(table_view::open_level(bytes, context));
    }
    let (mut model, error) = so_far(model::parse(bytes));
    let mut warnings = std::mem::take(&mut model.warnings);
    let mut plan = ExportPlan::default();
    if error.is_none() {
        plan = ExportPlan::new(&model, |name| state_of(name, context));
        if let Some(id) = Origin::of(context).id {
            plan.blend(&model, &blending::of_atomics(id, &model, context));
        }
        warnings.append(std::mem::take(&mut plan.problems));
    }
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    let planned = Planned { model, plan };
    describe(&planned, &mut page, Names(context));
    if error.is_none() {
        add_files(&planned.plan, &mut page);
    }
    Ok(page.show(planned, error))
}

fn add_files(plan: &ExportPlan, page: &mut Page<Planned>) {
    page.table_in("textures.tsv", |planned, context| {
        textures(&planned.plan, context)
    });
    if plan.has_scene {
        page.file("model.glb", |planned: &Planned, context, out| {
            let (mut scene, _memory) = planned.scene(context)?;
            let nodes: Vec<_> = scene.joints.iter().map(|joint| joint.node).collect();
            let given = given(&planned.plan, context).into_iter();
            let animations = given.map(|given| given.animation);
            let _keys = animated::animate(&mut scene, &nodes, animations, context)?;
            let pictures = |index| shown_picture(&planned.plan, index, context);
            gltf::write(&scene, &pictures, &|bytes| context.reserve(bytes), out)
        })
        .file("preview.png", |planned: &Planned, context, out| {
            let (scene, _memory) = planned.scene(context)?;
            let pictures = |index| shown_picture(&planned.plan, index, context);
            preview::write(&scene, &pictures, &|bytes| context.reserve(bytes), out)
        })
        .file("model.obj", |planned: &Planned, context, out| {
            let (scene, _memory) = planned.scene(context)?;
            obj::write(&scene, MATERIALS, out)
        })
        .file(MATERIALS, |Planned { model, plan }: &Planned, _, out| {
            let folder = format!("{TEXTURES}/");
            obj::write_materials(&plan.materials(model), &plan.notes(), &folder, out)
        });
    }
    if plan.skeleton.is_some() {
        page.table_in("animations.tsv", |planned, context| {
            animations(&planned.plan, Names(context))
        })
        .table("skeleton.tsv", bones);
    }
    for (index, texture) in plan.textures.iter().enumerate() {
        if texture.state.is_found() {
            let place = ViewFile::inside(TEXTURES, format!("{}.png", texture.name));
            page.file(place, move |planned: &Planned, context, out| {
                let picture = picture_of(&planned.plan, index, context);
                png::write(&picture.ok_or_else(no_picture)?, out)
            });
        }
    }
}

fn describe(planned: &Planned, page: &mut Page<Planned>, names: Names<'_>) {
    let Planned { model, plan } = planned;
    let clumps = || model.clumps.iter();
    let name = |texture: &TextureUse| texture.name.clone();
    let missing = plan
        .textures
        .iter()
        .filter(|texture| !texture.state.is_found());
    let animations = given(plan, names.0).into_iter();
    let animations = animations.map(|given| names.reference(given.animation));
    page.fact("clumps", model.clumps.len())
        .fact(
            "frames",
            clumps().map(|clump| clump.frames.len()).sum::<usize>(),
        )
        .fact(
            "atomics",
            clumps().map(|clump| clump.atomics.len()).sum::<usize>(),
        )
        .fact("triangles", plan.triangles)
        .fact("textures", list(plan.textures.iter().map(name)))
        .fact("missing_textures", list(missing.map(name)))
        .fact("animations", animations.collect::<Value>())
        .list("worlds", worlds)
        .list("geometries", geometries)
        .measures(|planned| {
            let clumps = planned.model.clumps.iter();
            let geometries = clumps.flat_map(|clump| &clump.geometries);
            geometries
                .map(|geometry| Measures::vertices(geometry.declared_vertices))
                .sum()
        });
}

fn worlds(planned: &Planned) -> Nodes<'_> {
    Box::new(planned.model.worlds.iter().map(|world| {
        node::map([
            ("version", format!("{:#x}", world.version.number()).into()),
            ("sectors", world.sectors.len().into()),
            ("planes", world.planes.into()),
            ("depth", world.depth.into()),
            ("box", world.bounds.map(|ends| list(ends.map(list))).into()),
            ("materials", world.materials.len().into()),
            ("flags", format!("{:#010x}", world.flags).into()),
        ])
    }))
}

fn geometries(planned: &Planned) -> Nodes<'_> {
    let clumps = planned.model.clumps.iter();
    Box::new(clumps.flat_map(|clump| &clump.geometries).map(|geometry| {
        let bones = geometry.skin.as_ref().map(|skin| skin.bones);
        let error = geometry.error.as_ref().map(ToString::to_string);
        node::map([
            ("form", geometry.vertices.name().into()),
            ("vertices", geometry.declared_vertices.into()),
            ("triangles", geometry.declared_triangles.into()),
            ("uv_sets", geometry.uv_sets.into()),
            ("morphs", geometry.morphs.len().into()),
            ("materials", geometry.materials.len().into()),
            ("skinned", geometry.has_skin.into()),
            ("bones", bones.into()),
            ("flags", format!("{:#06x}", geometry.flags).into()),
            (
                "version",
                format!("{:#x}", geometry.version.number()).into(),
            ),
            ("error", error.into()),
        ])
    }))
}

impl Planned {
    /// Returns the scene and its memory.
    fn scene(
        &self,
        context: &dyn AssetContext,
    ) -> io::Result<(Scene<'static>, Option<Reservation>)> {
        let memory = context.reserve_scene(self.plan.corners)?;
        Ok((self.plan.scene(&self.model), memory))
    }
}

fn picture_of(plan: &ExportPlan, index: usize, context: &dyn AssetContext) -> Option<Picture> {
    let texture = plan.textures.get(index)?;
    picture(&read(&texture.name, context).ok()?)
}

/// Returns the picture of a texture for the model's materials.
fn shown_picture(plan: &ExportPlan, index: usize, context: &dyn AssetContext) -> Option<Picture> {
    let picture = picture_of(plan, index, context)?;
    Some(match plan.added.contains(&index) {
        true => blending::by_brightness(&picture),
        false => picture,
    })
}

/// Returns the animations of the model; nothing without a skeleton.
fn given(plan: &ExportPlan, context: &dyn AssetContext) -> Vec<ModelAnimation> {
    let own = Origin::of(context).id.filter(|_| plan.skeleton.is_some());
    own.map_or_else(Vec::new, |id| animated::of_model(id, context))
}

fn animations<'a>(plan: &ExportPlan, names: Names<'a>) -> Rows<'a> {
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
    let given = given(plan, names.0).into_iter().enumerate();
    let rows = given.map(move |(index, given)| {
        let ids = [given.animation, given.by].map(|id| names.pair(id));
        let [[animation, animation_name], [by, by_name]] = ids;
        let read = animated::read(given.animation, names.0);
        let animation_read = read.as_ref().ok();
        let duration = animation_read.map(|animation| animation.duration()).into();
        let bones = animation_read.map(|animation| animation.bones).into();
        let problem = read.and_then(|animation| animation.tracks()).err();
        [
            index.into(),
            animation,
            animation_name,
            by,
            by_name,
            duration,
            bones,
            problem.into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns the nodes in the bone order of animations.
fn bones(Planned { model, plan }: &Planned) -> Rows<'_> {
    let clump = plan.skeleton.and_then(|number| model.clumps.get(number));
    let frames = clump.and_then(skeleton::bones).unwrap_or_default();
    let rows = (0..frames.len()).filter_map(move |bone| {
        let frame = clump?.frames.get(frames[bone])?;
        let parent = frames.iter().position(|&one| Some(one) == frame.parent);
        let id = frame.node.as_ref().map(|node| node.id);
        let [x, y, z] = frame.placement.position.map(Value::from);
        Some([bone.into(), id.into(), parent.into(), x, y, z])
    });
    Rows::new(["bone", "node", "parent", "x", "y", "z"], rows)
}

fn textures<'a>(plan: &'a ExportPlan, context: &'a dyn AssetContext) -> Rows<'a> {
    let textures = plan.textures.iter().enumerate();
    let rows = textures.map(|(index, TextureUse { name, state })| {
        let asset = find_texture(name, context).map(|file| context.path_of(file));
        let placeholder = "it is replaced by magenta";
        let (size, problem) = match state {
            TextureState::Found { width, height, .. } => (Some([*width, *height]), None),
            TextureState::Missing => (
                None,
                Some(format!("is in no available archive; {placeholder}")),
            ),
            TextureState::Unreadable(why) => (
                None,
                Some(not_shown(name, format_args!("{why}; {placeholder}"))),
            ),
        };
        let [width, height] = [0, 1].map(|side| size.map(|size| size[side]).into());
        [
            index.into(),
            name.clone().into(),
            asset.into(),
            width,
            height,
            problem.into(),
        ]
    });
    Rows::new(
        ["index", "name", "asset", "width", "height", "problem"],
        rows,
    )
}
