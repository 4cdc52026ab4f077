//! Model sets (MINF) as scenes: each model is attached to a bone of another one
//! (FORMATS, HIP assets 7).

use std::io::{self, Write};

use bytes::Bytes;

use super::animated;
use super::blending;
use super::level::{self, Level};
use super::textures::state_of;
use crate::model::{self, Model};
use crate::names::Names;
use crate::record::Record;
use crate::tables::ModelInfo;
use hpimount_assets::model::{Reservation, Scene, Transform, gltf};
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef};
use hpimount_renderware::clump::Clump;
use hpimount_renderware::export::{TextureUse, skeleton};

/// Maximum number of visible models of a set.
pub(crate) const MAX_MODELS: usize = 64;

/// Flags of a model of a set.
const SHARES_BONES: u32 = 8;
const ON_A_BONE: u32 = 0x20;

/// Attachment of a model to an earlier one in its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attached {
    /// Index of the earlier model; `None` for the first model.
    pub(crate) parent: Option<usize>,
    /// Number of its bone; `None` for the model itself.
    pub(crate) bone: Option<usize>,
    /// True if it shares the bones of the earlier model.
    pub(crate) shares_bones: bool,
}

impl Attached {
    /// A model that is not attached.
    pub(crate) const ALONE: Self = Self {
        parent: None,
        bone: None,
        shares_bones: false,
    };

    /// Returns the attachment of a record's model, which has `earlier` predecessors.
    pub(crate) fn of(row: &Record, earlier: usize) -> Self {
        let number = |name| row.number(name).unwrap_or_default();
        let parent = number("parent") as usize;
        let parent = Some(parent).filter(|&parent| parent < earlier);
        let (flags, bone) = (number("flags"), number("bone") as usize);
        let is_on_bone = flags & ON_A_BONE != 0 && bone > 0;
        Self {
            parent,
            bone: (is_on_bone && parent.is_some()).then_some(bone),
            shares_bones: flags & SHARES_BONES != 0 && parent.is_some(),
        }
    }
}

/// Returns the clump of a model with a skeleton, and the frames of its bones.
fn skeleton_of(model: &Model) -> Option<(&Clump, Vec<usize>)> {
    let mut clumps = model.clumps.iter();
    clumps.find_map(|clump| Some((clump, skeleton::bones(clump)?)))
}

/// Returns the places of a model's bones in its stored pose; nothing without a
/// skeleton.
pub(crate) fn places_of_bones(model: &Model) -> Vec<Transform> {
    let Some((clump, bones)) = skeleton_of(model) else {
        return Vec::new();
    };
    let places = clump.placements();
    let places = bones.iter().filter_map(|&bone| places.get(bone));
    places.map(|place| place.transform()).collect()
}

/// A model in the scene.
#[derive(Debug, Default, Clone)]
pub(super) struct Part {
    /// The node that others are attached to.
    pub(super) node: usize,
    /// The nodes of its bones, if they are in the scene.
    pub(super) joints: Vec<usize>,
    /// The places of its bones otherwise.
    bones: Vec<Transform>,
}

/// Returns whether a model of a set is available.
pub(crate) fn is_shown(info: &ModelInfo, context: &dyn AssetContext) -> bool {
    let mut rows = info.models.iter().take(MAX_MODELS);
    rows.any(|row| file_of(row.number("model").unwrap_or_default(), context).is_some())
}

/// Returns the model with this id, if it is available.
pub(crate) fn file_of(id: u32, context: &dyn AssetContext) -> Option<AssetRef> {
    let file = context.find(AssetKey::Id(id)).filter(|_| id != 0)?;
    let asset = context.asset_of(file)?;
    (asset.code == *b"MODL").then_some(file)
}

/// Writes the models of a set, with the animations of the first one, as a GLB
/// file.
pub(crate) fn write(
    info: &ModelInfo,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (scene, textures, _memory) = scene_of(info, context)?;
    let pictures = |number| level::picture_of(&textures, number, context);
    gltf::write(&scene, &pictures, &|bytes| context.reserve(bytes), out)
}

/// Returns the scene of a set, the textures by number, and the memory for animation
/// keys.
fn scene_of(
    info: &ModelInfo,
    context: &dyn AssetContext,
) -> io::Result<(Scene<'static>, Vec<TextureUse>, Vec<Reservation>)> {
    let mut level = Level::default();
    let mut parts: Vec<Part> = Vec::new();
    for row in info.models.iter().take(MAX_MODELS) {
        let attached = Attached::of(&row, parts.len());
        let parent = attached.parent.map(|parent| parts[parent].clone());
        let id = row.number("model").unwrap_or_default();
        parts.push(add(id, attached, parent, context, &mut level));
    }
    let (mut scene, textures) = level.finish("The models are in the pose of their files.");
    let first = info.models.get(0).and_then(|row| row.number("model"));
    let joints: Vec<_> = scene.joints.iter().map(|joint| joint.node).collect();
    let first = first.filter(|_| !joints.is_empty());
    let given = first.map_or_else(Vec::new, |first| animated::of_model(first, context));
    let animations = given.into_iter().map(|given| given.animation);
    let memory = animated::animate(&mut scene, &joints, animations, context)?;
    Ok((scene, textures, memory))
}

/// Adds a model of a set to the scene.
fn add(
    id: u32,
    attached: Attached,
    parent: Option<Part>,
    context: &dyn AssetContext,
    level: &mut Level,
) -> Part {
    let bytes = file_of(id, context).and_then(|file| context.read(file));
    add_model((id, bytes), attached, parent, context, level)
}

/// Adds a model with an id to the scene.
pub(super) fn add_model(
    (id, bytes): (u32, Option<Bytes>),
    attached: Attached,
    parent: Option<Part>,
    context: &dyn AssetContext,
    level: &mut Level,
) -> Part {
    let name = Names(context).name_or_id(id);
    let parsed = bytes.and_then(|bytes| model::parse(&bytes).ok());
    if parsed.is_none() {
        level.omit(format!("{name} is missing or cannot be read."));
    }
    let model = parsed.unwrap_or_default();
    let state = |name: &str| state_of(name, context);
    let mut part = Part::default();
    let mut place = Transform::IDENTITY;
    let mut above = None;
    match parent {
        // The first model moves its bones.
        None if !level.has_skeleton() => {
            if let Some((clump, bones)) = skeleton_of(&model) {
                part.joints = level.add_skeleton(clump, &bones);
            }
        }
        None => {}
        Some(parent) if attached.shares_bones && !parent.joints.is_empty() => {
            part.joints = parent.joints;
        }
        Some(parent) => {
            above = Some(parent.node);
            if let Some(bone) = attached.bone {
                match parent.joints.get(bone) {
                    Some(&joint) => above = Some(joint),
                    None => place = parent.bones.get(bone).copied().unwrap_or(place),
                }
            }
        }
    }
    let atomics = blending::of_atomics(id, &model, context);
    let may_move = !part.joints.is_empty();
    let meshes = level.model(&name, &model, &atomics, may_move, state);
    if part.joints.is_empty() {
        part.bones = places_of_bones(&model);
    }
    part.node = level.attach(&name, above, place, &meshes);
    part
}
