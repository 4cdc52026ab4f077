//! `info.json` and `info.txt`.
//!
//! `info.json` has everything except the contents of pictures and models: of
//! vertices, triangles, weights and pixels, it has only the counts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::tables::{blend_shapes, translation};
use crate::crash::hgo::{
    Attributes, Block, BlockKind, Bounds, Geometry, Hgo, Joint, Layer, Material, Mesh, NameTable,
    Part, Point, Primitive, Shadow, Skin, Slot, Sprites, Texture, TextureAnimation, Vertex,
};
use crate::view::Summary;
use crate::view::json::{self, Seq};
use hpimount_containers::io::Endian;

/// Writes `info.json`.
pub(super) fn json(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(hgo), out)
}

/// Returns the known facts of a damaged model.
pub(super) fn partial(hgo: &Hgo) -> serde_json::Value {
    json::bounded_value(&facts(hgo), &Head::new(hgo))
}

fn facts(hgo: &Hgo) -> impl Serialize {
    let blocks = || hgo.blocks.iter().filter(|block| block.depth == 1);
    FileFacts {
        head: Head::new(hgo),
        chunks: Seq::new(move || blocks().map(|block| ChunkFacts::new(block, hgo))),
        textures: numbered(&hgo.textures, TextureFacts::new),
        materials: numbered(&hgo.materials, MaterialFacts::new),
        texture_animations: numbered(&hgo.texture_animations, TextureAnimationFacts::new),
        joint_index: &hgo.joint_index,
        poi_index: &hgo.point_index,
        joints: numbered(&hgo.joints, JointFacts::new),
        layers: numbered(&hgo.layers, LayerFacts::new),
        points_of_interest: numbered(&hgo.points, PointFacts::new),
        shadow: Seq::new(|| hgo.shadows.iter().map(ShadowFacts::new)),
    }
}

/// The properties in `info.json`, without the lists.
#[derive(Serialize)]
struct Head {
    format: &'static str,
    endian: &'static str,
    file_size: u64,
    declared_size: Option<u32>,
    bounds: Option<BoundsFacts>,
    warnings: Vec<String>,
}

impl Head {
    fn new(hgo: &Hgo) -> Self {
        Self {
            format: "HGO",
            endian: match hgo.endian {
                Endian::Big => "big",
                Endian::Little => "little",
            },
            file_size: hgo.file_size(),
            declared_size: hgo.blocks.first().map(|root| root.size),
            bounds: hgo.bounds.as_ref().map(BoundsFacts::new),
            warnings: hgo.warnings.texts(),
        }
    }
}

fn numbered<'a, T, F: 'a>(items: &'a [T], facts: fn(usize, &'a T) -> F) -> Seq<'a, F> {
    let items = move || items.iter().enumerate();
    Seq::new(move || items().map(move |(index, item)| facts(index, item)))
}

#[derive(Serialize)]
struct FileFacts<'a> {
    #[serde(flatten)]
    head: Head,
    chunks: Seq<'a, ChunkFacts<'a>>,
    textures: Seq<'a, TextureFacts>,
    materials: Seq<'a, MaterialFacts>,
    texture_animations: Seq<'a, TextureAnimationFacts<'a>>,
    joint_index: &'a [u8],
    poi_index: &'a [u8],
    joints: Seq<'a, JointFacts<'a>>,
    layers: Seq<'a, LayerFacts<'a>>,
    points_of_interest: Seq<'a, PointFacts<'a>>,
    shadow: Seq<'a, ShadowFacts>,
}

#[derive(Serialize)]
struct ChunkFacts<'a> {
    #[serde(rename = "type", serialize_with = "tag")]
    kind: [u8; 4],
    offset: u64,
    size: u32,
    consumed: u64,
    #[serde(serialize_with = "name_list", skip_serializing_if = "Option::is_none")]
    names: Option<&'a NameTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tids: Option<&'a [i16]>,
}

impl<'a> ChunkFacts<'a> {
    fn new(block: &Block, hgo: &'a Hgo) -> Self {
        let is = |kind| BlockKind::from_tag(block.tag) == Some(kind);
        Self {
            kind: block.tag,
            offset: block.offset,
            size: block.size,
            consumed: block.consumed,
            names: is(BlockKind::Names).then_some(&hgo.names),
            count: hgo.texture_count.filter(|_| is(BlockKind::Textures)),
            tids: is(BlockKind::TextureAnimations).then_some(&hgo.texture_ids),
        }
    }
}

fn tag<S: Serializer>(tag: &[u8; 4], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&tag.escape_ascii())
}

fn name_list<S: Serializer>(names: &Option<&NameTable>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.iter().flat_map(|names| names.iter()))
}

#[derive(Serialize)]
struct TextureFacts {
    index: usize,
    #[serde(rename = "type")]
    code: i32,
    format: &'static str,
    width: i32,
    height: i32,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mipmaps: Option<i32>,
    data_size: usize,
    palette_size: usize,
}

impl TextureFacts {
    fn new(index: usize, texture: &Texture) -> Self {
        Self {
            index,
            code: texture.code,
            format: texture.format.name(),
            width: texture.width,
            height: texture.height,
            offset: texture.offset,
            mipmaps: texture.mipmaps,
            data_size: texture.data.len(),
            palette_size: texture.palette.len(),
        }
    }
}

#[derive(Serialize)]
struct MaterialFacts {
    index: usize,
    next: i32,
    attributes: u32,
    #[serde(serialize_with = "attributes")]
    flags: Attributes,
    ambient: [f32; 3],
    diffuse: [f32; 3],
    fx: [u32; 4],
    power: f32,
    alpha: f32,
    texture: i32,
    alpha_sort: i16,
    fxid: u8,
    special_id: u8,
    unknown_40: i16,
    unknown_42: u8,
    unknown_43: u8,
    scroll: [f32; 4],
}

impl MaterialFacts {
    fn new(index: usize, material: &Material) -> Self {
        Self {
            index,
            next: material.next,
            attributes: material.attributes,
            flags: material.flags,
            ambient: material.ambient,
            diffuse: material.diffuse,
            fx: material.fx,
            power: material.power,
            alpha: material.alpha,
            texture: material.texture,
            alpha_sort: material.alpha_sort,
            fxid: material.fx_id,
            special_id: material.special_id,
            unknown_40: material.unknown_40,
            unknown_42: material.unknown_42,
            unknown_43: material.unknown_43,
            scroll: material.scroll,
        }
    }
}

fn attributes<S: Serializer>(flags: &Attributes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(flags.iter())
}

#[derive(Serialize)]
struct TextureAnimationFacts<'a> {
    index: usize,
    name: Option<&'a str>,
    script: Option<&'a str>,
    first_tid: i32,
    num_tids: i16,
    flag: i16,
    material: i32,
    environment: i32,
    name_ofs: i32,
    script_ofs: i32,
}

impl<'a> TextureAnimationFacts<'a> {
    fn new(index: usize, animation: &'a TextureAnimation) -> Self {
        Self {
            index,
            name: animation.name.as_deref(),
            script: animation.script.as_deref(),
            first_tid: animation.first_id,
            num_tids: animation.id_count,
            flag: animation.flag,
            material: animation.material,
            environment: animation.environment,
            name_ofs: animation.name_offset,
            script_ofs: animation.script_offset,
        }
    }
}

#[derive(Serialize)]
struct JointFacts<'a> {
    index: usize,
    name: Option<&'a str>,
    parent: i16,
    flags: u8,
    translation: [f32; 3],
    locator_offset: [f32; 3],
    local: [f32; 16],
    inverse_world: [f32; 16],
    orientation: [f32; 16],
}

impl<'a> JointFacts<'a> {
    fn new(index: usize, joint: &'a Joint) -> Self {
        Self {
            index,
            name: joint.name.as_deref(),
            parent: joint.parent.map_or(-1, i16::from),
            flags: joint.flags,
            translation: translation(&joint.local),
            locator_offset: joint.locator_offset,
            local: joint.local,
            inverse_world: joint.inverse_world,
            orientation: joint.orientation,
        }
    }
}

#[derive(Serialize)]
struct LayerFacts<'a> {
    index: usize,
    name: Option<&'a str>,
    #[serde(flatten)]
    slots: BTreeMap<&'static str, SlotFacts<'a>>,
}

/// The geometry in a slot: for every joint, or of the slot as a whole.
#[derive(Serialize)]
#[serde(untagged)]
enum SlotFacts<'a> {
    Rigid(BTreeMap<u8, Seq<'a, GeometryFacts<'a>>>),
    Skin(Seq<'a, GeometryFacts<'a>>),
}

impl<'a> LayerFacts<'a> {
    fn new(index: usize, layer: &'a Layer) -> Self {
        let mut slots = BTreeMap::new();
        for slot in Slot::ALL {
            let parts = || layer.parts.iter().filter(move |part| part.slot == slot);
            let geometry =
                |part: &'a Part| Seq::new(|| part.geometry.iter().map(GeometryFacts::new));
            let rigid = parts().filter_map(|part| Some((part.joint?, geometry(part))));
            let rigid: BTreeMap<_, _> = rigid.collect();
            if !rigid.is_empty() {
                slots.insert(slot.name(), SlotFacts::Rigid(rigid));
            } else if let Some(part) = parts().next() {
                slots.insert(slot.name(), SlotFacts::Skin(geometry(part)));
            }
        }
        Self {
            index,
            name: layer.name.as_deref(),
            slots,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum GeometryFacts<'a> {
    Meshes {
        #[serde(rename = "type")]
        kind: u8,
        origin: [f32; 3],
        meshes: Seq<'a, MeshFacts<'a>>,
    },
    Sprites {
        #[serde(rename = "type")]
        kind: u8,
        faces: Seq<'a, SpriteFacts>,
    },
}

impl<'a> GeometryFacts<'a> {
    fn new(geometry: &'a Geometry) -> Self {
        match geometry {
            Geometry::Meshes { origin, meshes } => Self::Meshes {
                kind: 0,
                origin: *origin,
                meshes: Seq::new(|| meshes.iter().map(MeshFacts::new)),
            },
            Geometry::Sprites(sprites) => Self::Sprites {
                kind: 1,
                faces: Seq::new(|| sprites.iter().map(SpriteFacts::new)),
            },
        }
    }
}

#[derive(Serialize)]
struct MeshFacts<'a> {
    material: i32,
    vertices: usize,
    triangles: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Extent>,
    control: i32,
    prims: Seq<'a, PrimitiveFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skin_joints: Option<Vec<i32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blend_shapes: Option<BlendFacts<'a>>,
}

#[derive(Serialize)]
struct PrimitiveFacts {
    #[serde(rename = "type")]
    kind: i32,
    indices: usize,
    triangles: usize,
}

#[derive(Serialize)]
struct BlendFacts<'a> {
    ids: &'a [i32],
    present: &'a [u8],
    bytes: u32,
}

impl<'a> MeshFacts<'a> {
    fn new(mesh: &'a Mesh) -> Self {
        let fact = |primitive: &Primitive| PrimitiveFacts {
            kind: primitive.kind.code(),
            indices: primitive.indices.len(),
            triangles: primitive.triangles().count(),
        };
        Self {
            material: mesh.material,
            vertices: mesh.vertices.len(),
            triangles: mesh.triangle_count(),
            bounds: Extent::around(&mesh.vertices),
            control: mesh.control,
            prims: Seq::new(move || mesh.primitives.iter().map(fact)),
            skin: mesh.skin.as_ref().map(|skin| match skin {
                Skin::Vertex(_) => "vertex",
                Skin::Grouped(_) => "grouped",
            }),
            skin_joints: mesh.skin.as_ref().map(Skin::joints),
            blend_shapes: mesh.blend_shapes.as_ref().map(|blend| BlendFacts {
                ids: &blend.ids,
                present: &blend.present,
                bytes: blend.byte_count,
            }),
        }
    }
}

/// The box around vertices.
#[derive(Serialize)]
struct Extent {
    min: [f32; 3],
    max: [f32; 3],
}

impl Extent {
    fn around(vertices: &[Vertex]) -> Option<Self> {
        let first = vertices.first()?.position;
        let start = Self {
            min: first,
            max: first,
        };
        Some(vertices.iter().fold(start, |found, vertex| Self {
            min: std::array::from_fn(|axis| found.min[axis].min(vertex.position[axis])),
            max: std::array::from_fn(|axis| found.max[axis].max(vertex.position[axis])),
        }))
    }
}

#[derive(Serialize)]
struct SpriteFacts {
    material: i32,
    count: usize,
    faceon_type: i32,
    radius: f32,
}

impl SpriteFacts {
    fn new(sprites: &Sprites) -> Self {
        Self {
            material: sprites.material,
            count: sprites.sprites.len(),
            faceon_type: sprites.kind,
            radius: sprites.radius,
        }
    }
}

#[derive(Serialize)]
struct PointFacts<'a> {
    index: usize,
    name: Option<&'a str>,
    joint: u8,
    position: [f32; 3],
    matrix: [f32; 16],
}

impl<'a> PointFacts<'a> {
    fn new(index: usize, point: &'a Point) -> Self {
        Self {
            index,
            name: point.name.as_deref(),
            joint: point.joint,
            position: translation(&point.matrix),
            matrix: point.matrix,
        }
    }
}

#[derive(Serialize)]
struct ShadowFacts {
    joint: u8,
    ellipsoids: usize,
    cylinders: usize,
    meshes: Vec<ShadowMeshFacts>,
}

#[derive(Serialize)]
struct ShadowMeshFacts {
    normals: usize,
    verts: usize,
}

impl ShadowFacts {
    fn new(shadow: &Shadow) -> Self {
        let meshes = shadow.meshes.iter().map(|mesh| ShadowMeshFacts {
            normals: mesh.normals.len(),
            verts: mesh.vertices.len(),
        });
        Self {
            joint: shadow.joint,
            ellipsoids: shadow.ellipsoids.len(),
            cylinders: shadow.cylinders.len(),
            meshes: meshes.collect(),
        }
    }
}

#[derive(Serialize)]
struct BoundsFacts {
    sphere_radius: f32,
    sphere_yoff: f32,
    min: [f32; 3],
    max: [f32; 3],
    cylinder_yoff: f32,
    cylinder_height: f32,
    cylinder_radius: f32,
}

impl BoundsFacts {
    fn new(bounds: &Bounds) -> Self {
        Self {
            sphere_radius: bounds.sphere_radius,
            sphere_yoff: bounds.sphere_y,
            min: bounds.min,
            max: bounds.max,
            cylinder_yoff: bounds.cylinder_y,
            cylinder_height: bounds.cylinder_height,
            cylinder_radius: bounds.cylinder_radius,
        }
    }
}

/// Writes `info.txt`.
pub(super) fn text(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    let order = match hgo.endian {
        Endian::Big => "big-endian, as on GameCube",
        Endian::Little => "little-endian",
    };
    let heading = format!("HGO model (Crash Bandicoot: The Wrath of Cortex; {order})");
    let mut summary = Summary::new(heading);
    let geometry = || {
        let parts = hgo.layers.iter().flat_map(|layer| &layer.parts);
        parts.flat_map(|part| &part.geometry)
    };
    let meshes = || geometry().flat_map(Geometry::meshes);
    let sprites = geometry().flat_map(Geometry::sprites);
    let sprites = sprites.map(|set| set.sprites.len());
    let vertices = meshes().map(|mesh| mesh.vertices.len());
    let triangles = meshes().map(Mesh::triangle_count);
    let unnamed = |name: &Option<String>| name.clone().unwrap_or_else(|| "(no name)".into());
    let textures = hgo.textures.iter().map(|texture| {
        let (format, width, height) = (texture.format.name(), texture.width, texture.height);
        format!("{format} {width}x{height}")
    });
    summary
        .line("file size", format!("{} bytes", hgo.file_size()))
        .line("joints", hgo.joints.len())
        .list(
            "layers",
            hgo.layers.iter().map(|layer| unnamed(&layer.name)),
        )
        .line("meshes", meshes().count())
        .line("vertices", vertices.sum::<usize>())
        .line("triangles", triangles.sum::<usize>())
        .line("sprites", sprites.sum::<usize>())
        .line(
            "blend shapes",
            meshes().map(blend_shapes).max().unwrap_or(0),
        )
        .line("materials", hgo.materials.len())
        .list("textures", textures)
        .line("animated", hgo.texture_animations.len())
        .list(
            "points",
            hgo.points.iter().map(|point| unnamed(&point.name)),
        );
    if let Some(bounds) = &hgo.bounds {
        let corner = |[x, y, z]: [f32; 3]| format!("({x}, {y}, {z})");
        let (min, max) = (corner(bounds.min), corner(bounds.max));
        let radius = bounds.sphere_radius;
        summary.line("bounds", format!("{min} to {max}, radius {radius}"));
    }
    summary.write(&hgo.warnings, out)
}
