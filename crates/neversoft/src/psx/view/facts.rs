//! `info.json`: everything except vertices, normals, faces, colors, pixels and
//! keyframes, which it only counts.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::psx::{
    AnimationV1, AnimationV2, ChnkItem, Chunk, Content, Kind, Model, Object, Psx, Pulse,
    SpriteAnimation, SpriteFrame, Texture, TextureData, Wibble,
};
use hpimount_assets::view::json::{self, Seq};

/// Writes `info.json`.
pub(super) fn json(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&Facts::new(psx), out)
}

/// Fields that require the whole file.
const CONCLUSIONS: [&str; 4] = ["kind", "end", "animated", "vertex_scale"];

/// Returns the known facts of an incomplete file. Empty lists and zeros are
/// omitted, because they may not have been reached, and so are all lists if
/// they are very long.
pub(super) fn partial(psx: &Psx) -> Value {
    let mut facts = json::bounded_value(&Facts::new(psx), &Head::new(psx));
    if let Value::Object(fields) = &mut facts {
        fields.retain(|key, value| {
            let is_empty = *value == 0 || value.as_array().is_some_and(Vec::is_empty);
            !is_empty && !CONCLUSIONS.contains(&key.as_str())
        });
    }
    facts
}

#[derive(Serialize)]
struct Facts<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    lists: Lists<'a>,
}

impl<'a> Facts<'a> {
    fn new(psx: &'a Psx) -> Self {
        Self {
            head: Head::new(psx),
            lists: Lists::new(psx),
        }
    }
}

#[derive(Serialize)]
struct Head {
    format: &'static str,
    version: u16,
    kind: &'static str,
    file_size: u64,
    meta_offset: u32,
    pointer_table_end: u64,
    end: u64,
    animated: bool,
    vertex_scale: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    v3_has_lod: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gouraud_palette_size: Option<usize>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Lists<'a> {
    chunks: Seq<'a, ChunkFacts<'a>>,
    objects: Seq<'a, ObjectFacts>,
    models: Seq<'a, ModelFacts>,
    texture_names: &'a [u32],
    palettes_16: Seq<'a, u32>,
    palettes_256: Seq<'a, u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v6_detail_refs: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v6_cubemap_refs: Option<&'a [String]>,
    textures: Seq<'a, TextureFacts>,
}

impl Head {
    fn new(psx: &Psx) -> Self {
        Self {
            format: super::FORMAT.name,
            version: psx.version.number(),
            kind: kind(psx.kind()),
            file_size: psx.file_size,
            meta_offset: psx.meta_offset,
            pointer_table_end: psx.pointer_table_end,
            end: psx.end,
            animated: psx.is_animated(),
            vertex_scale: psx.vertex_scale(),
            v3_has_lod: psx.v3_has_lod,
            gouraud_palette_size: psx.gouraud_colors().map(<[_]>::len),
            warnings: psx.warnings.texts(),
        }
    }
}

/// Returns the word for the purpose of a file.
pub(super) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Level => "level",
        Kind::Character => "character",
        Kind::TextureLibrary => "texture library",
        Kind::SpriteBank => "sprite bank",
        Kind::Empty => "empty file",
    }
}

impl<'a> Lists<'a> {
    fn new(psx: &'a Psx) -> Self {
        let palettes = |size| {
            Seq::new(move || {
                let palettes = psx.palettes.iter();
                let fitting = palettes.filter(move |palette| palette.colors.len() == size);
                fitting.map(|palette| palette.id)
            })
        };
        let refs = psx.texture_refs.as_ref();
        let objects = || psx.objects.iter().enumerate();
        let models = || psx.models.iter().enumerate();
        let textures = || psx.textures.iter();
        Self {
            chunks: Seq::new(|| psx.chunks.iter().map(ChunkFacts::new)),
            objects: Seq::new(move || objects().map(|(i, one)| ObjectFacts::new(psx, i, one))),
            models: Seq::new(move || models().map(|(i, one)| ModelFacts::new(psx, i, one))),
            texture_names: &psx.texture_ids,
            palettes_16: palettes(16),
            palettes_256: palettes(256),
            v6_detail_refs: refs.map(|[detail, _]| detail.as_slice()),
            v6_cubemap_refs: refs.map(|[_, cubemap]| cubemap.as_slice()),
            textures: Seq::new(move || textures().map(|one| TextureFacts::new(psx, one))),
        }
    }
}

#[derive(Serialize)]
struct ObjectFacts {
    index: usize,
    flags: u16,
    inquiry: u16,
    position: [i32; 3],
    angles: [i16; 3],
    model: u16,
    extra: [i16; 2],
    next: u32,
    palette_offset: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<i32>,
}

impl ObjectFacts {
    fn new(psx: &Psx, index: usize, object: &Object) -> Self {
        let [frame, tint, animation, region] = object.runtime;
        let parent = psx.parents().and_then(|parents| parents.get(index));
        Self {
            index,
            flags: object.flags,
            inquiry: object.inquiry,
            position: object.position,
            angles: object.angles,
            model: object.model,
            extra: [[frame, tint], [animation, region]].map(i16::from_le_bytes),
            next: object.next,
            palette_offset: object.palette_offset,
            parent: parent.map(|&parent| parent_or_root(index, parent)),
        }
    }
}

/// Returns a parent, or -1 for an object that is its own parent.
fn parent_or_root(index: usize, parent: u16) -> i32 {
    if usize::from(parent) == index {
        -1
    } else {
        parent.into()
    }
}

#[derive(Serialize)]
struct ModelFacts {
    index: usize,
    name: Option<u32>,
    offset: u64,
    end: u64,
    flags: u32,
    vertices: usize,
    normals: usize,
    faces: usize,
    radius: u32,
    bounds: BoundsFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    lod_distance: Option<i16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_lod: Option<u16>,
    triangles: usize,
    quads: usize,
    textured: usize,
    gouraud: usize,
    semi_transparent: usize,
    invisible: usize,
    lit: usize,
    collides: usize,
    textures_used: Vec<u32>,
    stitch_sources: usize,
    stitched: usize,
    sprite_corners: usize,
}

#[derive(Serialize)]
struct BoundsFacts {
    min: [i16; 3],
    max: [i16; 3],
}

impl ModelFacts {
    fn new(psx: &Psx, index: usize, model: &Model) -> Self {
        let counts = model.face_counts();
        let vertices = &model.vertices;
        let sources = vertices.iter().filter(|vertex| vertex.is_stitch_source());
        let stitched = vertices.iter().filter_map(|vertex| vertex.stitched_to());
        let sprites = vertices.iter().filter(|vertex| vertex.is_sprite_corner());
        Self {
            index,
            name: psx.model_names.get(index).copied(),
            offset: model.offset,
            end: model.end,
            flags: model.flags,
            vertices: vertices.len(),
            normals: model.normals.len(),
            faces: model.faces.len(),
            radius: model.radius,
            bounds: BoundsFacts {
                min: model.bounds.min,
                max: model.bounds.max,
            },
            lod_distance: model.lod.map(|lod| lod.distance),
            next_lod: model.lod.map(|lod| lod.next),
            triangles: counts.triangles,
            quads: counts.quads,
            textured: counts.textured,
            gouraud: counts.gouraud,
            semi_transparent: counts.semi_transparent,
            invisible: counts.invisible,
            lit: counts.lit,
            collides: counts.colliding,
            textures_used: model.textures_used(),
            stitch_sources: sources.count(),
            stitched: stitched.count(),
            sprite_corners: sprites.count(),
        }
    }
}

#[derive(Serialize)]
struct TextureFacts {
    index: u32,
    name: Option<u32>,
    offset: u64,
    flags: u32,
    colors: u32,
    palette: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    palette_found: Option<bool>,
    width: u16,
    height: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pixel_format: Option<u32>,
    data_size: u64,
}

impl TextureFacts {
    fn new(psx: &Psx, texture: &Texture) -> Self {
        let pixel_format = match &texture.data {
            TextureData::Pvr { pixel_format, .. } => Some(*pixel_format),
            _ => None,
        };
        Self {
            index: texture.index,
            name: psx.texture_ids.get(texture.index as usize).copied(),
            offset: texture.offset,
            flags: texture.flags,
            colors: texture.colors,
            palette: texture.palette,
            palette_found: texture.palette_found(),
            width: texture.width,
            height: texture.height,
            pixel_format,
            data_size: texture.data_size,
        }
    }
}

#[derive(Serialize)]
struct ChunkFacts<'a> {
    tag: u32,
    name: &'static str,
    offset: u64,
    length: u32,
    #[serde(flatten)]
    content: ContentFacts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> ChunkFacts<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        Self {
            tag: chunk.tag,
            name: chunk.name(),
            offset: chunk.offset,
            length: chunk.length,
            content: ContentFacts::new(&chunk.content),
            error: chunk.problem.as_ref().map(ToString::to_string),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentFacts<'a> {
    Colors {
        colors: usize,
    },
    Hierarchy {
        parents: Seq<'a, i32>,
    },
    BlockMap {
        xmin: i32,
        zmin: i32,
        xmax: i32,
        zmax: i32,
        width: u16,
        height: u16,
        entries: u64,
        max_per_cell: u32,
        consumed: u64,
    },
    Animations {
        animations: Seq<'a, AnimationFacts>,
    },
    Sprites {
        sprites: Seq<'a, SpriteFacts<'a>>,
    },
    Wibbles {
        items: Seq<'a, WibbleFacts>,
    },
    Pulses {
        pulses: Seq<'a, PulseFacts>,
    },
    Chnk {
        items: Seq<'a, ChnkFacts>,
    },
    Unknown {},
}

#[derive(Serialize)]
struct AnimationFacts {
    offset: u32,
    frames: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tween: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_frames: Option<u16>,
}

#[derive(Serialize)]
struct SpriteFacts<'a> {
    name: &'a str,
    frames: Seq<'a, SpriteFrameFacts>,
}

#[derive(Serialize)]
struct SpriteFrameFacts {
    offx: i8,
    offy: i8,
    width: u8,
    height: u8,
    texture: u32,
}

#[derive(Serialize)]
struct WibbleFacts {
    object: Option<u32>,
    u_velocity: i16,
    v_velocity: i16,
    frequency: i32,
    faces: u16,
}

#[derive(Serialize)]
struct PulseFacts {
    color: u8,
    key: u8,
    time: u8,
    keys: usize,
}

#[derive(Serialize)]
struct ChnkFacts {
    checksum: u32,
    offset: u32,
}

impl<'a> ContentFacts<'a> {
    fn new(content: &'a Content) -> Self {
        match content {
            Content::Colors(colors) => Self::Colors {
                colors: colors.len(),
            },
            Content::Hierarchy(parents) => Self::Hierarchy {
                parents: Seq::new(|| {
                    let parents = parents.iter().enumerate();
                    parents.map(|(index, &parent)| parent_or_root(index, parent))
                }),
            },
            Content::BlockMap(map) => Self::BlockMap {
                xmin: map.xmin,
                zmin: map.zmin,
                xmax: map.xmax,
                zmax: map.zmax,
                width: map.width,
                height: map.height,
                entries: map.entries,
                max_per_cell: map.max_per_cell,
                consumed: map.consumed,
            },
            Content::AnimationsV1(list) => Self::Animations {
                animations: Seq::new(|| list.iter().map(AnimationFacts::of_v1)),
            },
            Content::AnimationsV2(list) => Self::Animations {
                animations: Seq::new(|| list.iter().map(AnimationFacts::of_v2)),
            },
            Content::Sprites(list) => Self::Sprites {
                sprites: Seq::new(|| list.iter().map(SpriteFacts::new)),
            },
            Content::Wibbles(list) => Self::Wibbles {
                items: Seq::new(|| list.iter().map(WibbleFacts::new)),
            },
            Content::Pulses(list) => Self::Pulses {
                pulses: Seq::new(|| list.iter().map(PulseFacts::new)),
            },
            Content::Chnk(list) => Self::Chnk {
                items: Seq::new(|| list.iter().map(ChnkFacts::new)),
            },
            Content::Unknown => Self::Unknown {},
        }
    }
}

impl AnimationFacts {
    fn of_v1(animation: &AnimationV1) -> Self {
        Self {
            offset: animation.offset,
            frames: animation.frames.into(),
            tween: Some(animation.tween),
            stored_frames: Some(animation.stored_frames()),
        }
    }

    fn of_v2(animation: &AnimationV2) -> Self {
        Self {
            offset: animation.offset,
            frames: animation.frames,
            tween: None,
            stored_frames: None,
        }
    }
}

impl<'a> SpriteFacts<'a> {
    fn new(sprite: &'a SpriteAnimation) -> Self {
        Self {
            name: &sprite.name,
            frames: Seq::new(|| sprite.frames.iter().map(SpriteFrameFacts::new)),
        }
    }
}

impl WibbleFacts {
    fn new(wibble: &Wibble) -> Self {
        Self {
            object: wibble.object,
            u_velocity: wibble.u_velocity,
            v_velocity: wibble.v_velocity,
            frequency: wibble.frequency,
            faces: wibble.faces,
        }
    }
}

impl PulseFacts {
    fn new(pulse: &Pulse) -> Self {
        Self {
            color: pulse.color,
            key: pulse.key,
            time: pulse.time,
            keys: pulse.keys.len(),
        }
    }
}

impl SpriteFrameFacts {
    fn new(frame: &SpriteFrame) -> Self {
        Self {
            offx: frame.offx,
            offy: frame.offy,
            width: frame.width,
            height: frame.height,
            texture: frame.texture,
        }
    }
}

impl ChnkFacts {
    fn new(item: &ChnkItem) -> Self {
        Self {
            checksum: item.checksum,
            offset: item.offset,
        }
    }
}
