//! The facts, lists and tables: everything except vertices, normals, faces, colors,
//! pixels and keyframes, which are only counted. `docs/formats/psx.md` describes the
//! columns.

use std::collections::HashMap;

use hpimount_record::{FixedSize, Record, Value};

use super::{FORMAT, PsxView};
use crate::psx::{
    AnimationV1, ChnkItem, Chunk, Content, FaceCounts, Kind, Model, Object, Palette, Psx,
    SpriteFrame, TextureData, Version,
};
use crate::view::{hash_text, place_cell, stored};
use hpimount_assets::view::Measures;
use hpimount_assets::view::edit::Form;
use hpimount_assets::view::node::{self, Node, Nodes};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_containers::io::{Endian, Warnings};

/// Returns the page of a file. For a damaged file, it lacks facts that depend on all
/// parts.
pub(super) fn page(psx: &Psx, is_whole: bool, warnings: Warnings) -> Page<PsxView> {
    let mut page = Page::new(FORMAT.name, heading(psx, is_whole), warnings);
    page.fact("version", psx.version.number());
    if is_whole {
        page.fact("kind", kind(psx.kind()));
    }
    page.fact("file_size", psx.file_size)
        .fact("meta_offset", psx.meta_offset)
        .fact("pointer_table_end", psx.pointer_table_end);
    if is_whole {
        page.fact("end", psx.end)
            .fact("animated", psx.is_animated())
            .fact("vertex_scale", psx.vertex_scale());
    }
    page.fact("v3_has_lod", psx.v3_has_lod)
        .fact("gouraud_palette_size", psx.gouraud_colors().map(<[_]>::len));
    add_sums(psx, &mut page);
    page.edits();
    page.list("chunks", |shown| {
        Box::new(shown.psx.chunks.iter().map(chunk))
    })
    .list("objects", object_facts)
    .table("objects.tsv", objects)
    .cells(&[&["index"]], object_cell)
    .rows("models", models)
    .list("texture_names", |shown| {
        let ids = shown.psx.texture_ids.iter();
        Box::new(ids.map(|&id| hash_text(id).into()))
    });
    if psx.texture_refs.is_some() {
        page.list("v6_detail_refs", |shown| refs(shown, 0))
            .list("v6_cubemap_refs", |shown| refs(shown, 1));
    }
    page.rows("textures", textures)
        .rows("palettes", palettes)
        .table("chunks.tsv", chunks);
    if animations(psx).next().is_some() {
        page.table("animations.tsv", |shown| {
            let columns = [
                "index",
                "kind",
                "name",
                "frames",
                "stored_frames",
                "tween",
                "offset",
            ];
            Rows::new(columns, animations(&shown.psx))
        });
    }
    page
}

fn heading(psx: &Psx, is_whole: bool) -> String {
    let games = match (psx.version, psx.v3_has_lod) {
        (Version::V3, Some(false)) => "Apocalypse",
        (Version::V3, Some(true)) => "Tony Hawk's Pro Skater",
        (Version::V3, None) => "Apocalypse or Tony Hawk's Pro Skater",
        (Version::V4, _) => "THPS 2 to 4, Spider-Man, Mat Hoffman's Pro BMX, some ports",
        (Version::V6, _) => "Dreamcast, PC and Xbox ports",
    };
    let kind = if is_whole { kind(psx.kind()) } else { "file" };
    let version = psx.version.number();
    format!("PSX {kind} (version {version}: {games})")
}

/// Returns the word for a file's purpose.
fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Level => "level",
        Kind::Character => "character",
        Kind::TextureLibrary => "texture library",
        Kind::SpriteBank => "sprite bank",
        Kind::Empty => "empty file",
    }
}

/// Adds the totals of models and textures.
fn add_sums(psx: &Psx, page: &mut Page<PsxView>) {
    let vertices = psx.models.iter().map(|model| model.vertices.len());
    let counts: Vec<_> = psx.models.iter().map(Model::face_counts).collect();
    let sum = |count: fn(&FaceCounts) -> usize| counts.iter().map(count).sum::<usize>();
    page.fact("vertices", vertices.sum::<usize>())
        .fact("triangles", sum(|counts| counts.triangles))
        .fact("quads", sum(|counts| counts.quads))
        .fact("invisible", sum(|counts| counts.invisible));
    let [min, max] = bounds(psx).map_or([None; 2], |bounds| bounds.map(Some));
    let corner = |corner: [f64; 3]| corner.map(Value::Double).into_iter().collect::<Value>();
    let textures = psx.textures.iter();
    let missing = textures.filter(|texture| texture.palette_found() == Some(false));
    page.fact("bounds_min", min.map(corner))
        .fact("bounds_max", max.map(corner))
        .fact("palettes_missing", missing.count())
        .fact("animations", animations(psx).count())
        .measures(|shown| {
            let models = shown.psx.models.iter();
            let textures = shown.psx.textures.iter();
            Measures {
                vertices: Some(models.map(|model| model.vertices.len() as u64).sum()),
                ..Measures::pictures(textures.map(|texture| [texture.width, texture.height]))
            }
        });
}

/// Returns the corners of the box around all objects, in the unit of object positions.
/// Ignores angles, which are almost always 0.
fn bounds(psx: &Psx) -> Option<[[f64; 3]; 2]> {
    let scale = f64::from(psx.vertex_scale());
    let mut whole: Option<[[f64; 3]; 2]> = None;
    for (object, model) in psx.objects.iter().zip(psx.shown_models()) {
        let Some(model) = psx.models.get(model) else {
            continue;
        };
        let corners = [model.bounds.min, model.bounds.max];
        let [low, high] = corners.map(|corner| -> [f64; 3] {
            std::array::from_fn(|axis| {
                units(object.position[axis].into()) + f64::from(corner[axis]) / scale
            })
        });
        let [min, max] = whole.unwrap_or([low, high]);
        whole = Some([
            std::array::from_fn(|axis| min[axis].min(low[axis])),
            std::array::from_fn(|axis| max[axis].max(high[axis])),
        ]);
    }
    whole
}

/// Converts a number with 12 fractional bits.
fn units(fixed: i64) -> f64 {
    fixed as f64 / 4096.0
}

fn object_facts(shown: &PsxView) -> Nodes<'_> {
    let parents = shown.psx.parents();
    let objects = shown.psx.objects.iter().enumerate();
    Box::new(objects.map(move |(index, object)| {
        let parent = parents.and_then(|parents| parents.get(index));
        let parent = parent.map(|&parent| ("parent", parent_or_root(index, parent).into()));
        let fields = node::stored(object, Object::offset(index), Endian::Little);
        node::numbered(index, fields, parent)
    }))
}

/// Returns a parent, or -1 for a root, which is its own parent.
fn parent_or_root(index: usize, parent: u16) -> i32 {
    if usize::from(parent) == index {
        -1
    } else {
        parent.into()
    }
}

fn objects(shown: &PsxView) -> Rows<'_> {
    let columns = ["index", "model", "x", "y", "z", "angles", "flags", "parent"];
    let parents = shown.psx.parents().unwrap_or_default();
    let objects = shown.psx.objects.iter().enumerate();
    let rows = objects.map(move |(index, object)| {
        let Object {
            position, angles, ..
        } = object;
        let [x, y, z] = position.map(|part| Value::Double(units(part.into())));
        // 4096 is a full turn.
        let angles = angles.map(|angle| Value::Double(360.0 * units(angle.into())));
        let parent = parents.get(index).copied();
        [
            index.into(),
            object.model.into(),
            x,
            y,
            z,
            angles.into_iter().collect(),
            Value::text(format!("0x{:04X}", object.flags.0)),
            parent.filter(|&parent| usize::from(parent) != index).into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns the value of a text in a row of `objects.tsv`.
fn object_cell(_: &PsxView, row: usize, column: &str, text: &str) -> Option<(String, Value)> {
    let (field, value) = match column {
        "model" | "flags" => (column, Value::text(text.to_owned())),
        _ => place_cell(column, text)?,
    };
    Some((format!("objects[{row}].{field}"), value))
}

fn models(shown: &PsxView) -> Rows<'_> {
    let columns = [
        "index",
        "name",
        "offset",
        "end",
        "flags",
        "vertices",
        "normals",
        "faces",
        "triangles",
        "quads",
        "textured",
        "gouraud",
        "semi_transparent",
        "invisible",
        "lit",
        "collides",
        "radius",
        "bounds",
        "lod_distance",
        "next_lod",
        "textures_used",
        "stitch_sources",
        "stitched",
        "sprite_corners",
    ];
    let models = shown.psx.models.iter().enumerate();
    let rows = models.map(|(index, model)| {
        let counts = model.face_counts();
        let bounds = [model.bounds.min, model.bounds.max].concat();
        let vertices = || model.vertices.iter();
        [
            index.into(),
            shown
                .psx
                .model_names
                .get(index)
                .map(|&name| hash_text(name))
                .into(),
            model.offset.into(),
            model.end.into(),
            model.flags.into(),
            model.vertices.len().into(),
            model.normals.len().into(),
            model.faces.len().into(),
            counts.triangles.into(),
            counts.quads.into(),
            counts.textured.into(),
            counts.gouraud.into(),
            counts.semi_transparent.into(),
            counts.invisible.into(),
            counts.lit.into(),
            counts.colliding.into(),
            Value::Double(units(model.radius.into())),
            bounds.into_iter().collect(),
            model.lod.map(|lod| lod.distance).into(),
            model.lod.and_then(|lod| lod.next_model()).into(),
            model.textures_used().into_iter().collect(),
            vertices()
                .filter(|one| one.is_stitch_source())
                .count()
                .into(),
            vertices()
                .filter_map(|one| one.stitched_to())
                .count()
                .into(),
            vertices()
                .filter(|one| one.is_sprite_corner())
                .count()
                .into(),
        ]
    });
    Rows::new(columns, rows)
}

fn refs(shown: &PsxView, list: usize) -> Nodes<'_> {
    let refs = shown
        .psx
        .texture_refs
        .iter()
        .flat_map(move |refs| &refs[list]);
    Box::new(refs.map(|name| name.clone().into()))
}

fn textures(shown: &PsxView) -> Rows<'_> {
    let columns = [
        "index",
        "name",
        "name_index",
        "offset",
        "flags",
        "colors",
        "palette",
        "palette_found",
        "width",
        "height",
        "bits",
        "pixel_format",
        "data_size",
    ];
    let textures = shown.psx.textures.iter().enumerate();
    let rows = textures.map(|(index, texture)| {
        let name = shown.psx.texture_ids.get(texture.index as usize);
        let pixel_format = match &texture.data {
            TextureData::Pvr { pixel_format, .. } => Some(*pixel_format),
            _ => None,
        };
        [
            index.into(),
            name.map(|&name| hash_text(name)).into(),
            texture.index.into(),
            texture.offset.into(),
            texture.flags.into(),
            texture.colors.into(),
            hash_text(texture.palette).into(),
            texture.palette_found().into(),
            texture.width.into(),
            texture.height.into(),
            texture.data.bits().into(),
            pixel_format.into(),
            texture.data_size.into(),
        ]
    });
    Rows::new(columns, rows)
}

fn palettes(shown: &PsxView) -> Rows<'_> {
    let mut uses: HashMap<usize, usize> = HashMap::new();
    let textures = shown.psx.textures.iter();
    for index in textures.filter_map(|texture| texture.palette_index) {
        *uses.entry(index).or_default() += 1;
    }
    let palettes = shown.psx.palettes.iter().enumerate();
    let rows = palettes.map(move |(index, palette)| {
        let colors = palette.colors.iter();
        let transparent = colors.filter(|&&color| Palette::is_transparent(color));
        [
            index.into(),
            hash_text(palette.id).into(),
            palette.colors.len().into(),
            transparent.count().into(),
            uses.get(&index).copied().unwrap_or(0).into(),
        ]
    });
    Rows::new(["index", "id", "colors", "transparent", "textures"], rows)
}

fn chunk(chunk: &Chunk) -> Node<'_> {
    let start = chunk.offset as usize;
    let mut facts = vec![
        ("tag", chunk.tag.into()),
        ("name", chunk.name().into()),
        ("offset", chunk.offset.into()),
        ("length", chunk.length.into()),
    ];
    match &chunk.content {
        Content::Colors(colors) => facts.push(("colors", colors.len().into())),
        Content::Hierarchy(parents) => {
            let parents = parents.iter().enumerate();
            let parents = parents.map(|(index, &parent)| parent_or_root(index, parent));
            facts.push(("parents", parents.collect::<Value>().into()));
        }
        Content::BlockMap(map) => {
            facts.extend(node::stored(&map.grid, start, Endian::Little));
            facts.extend([
                ("entries", map.entries.into()),
                ("max_per_cell", map.max_per_cell.into()),
                ("consumed", map.consumed.into()),
            ]);
        }
        Content::AnimationsV1(list) => facts.push(("animations", Node::each(list, keyframes))),
        Content::AnimationsV2(list) => {
            let animations = Node::each(list, |animation| {
                node::map([
                    ("offset", animation.offset.into()),
                    ("frames", animation.frames.into()),
                ])
            });
            facts.push(("animations", animations));
        }
        Content::Sprites(list) => {
            let sprites = Node::each(list, |sprite| {
                let frames = records(&sprite.frames, |number| {
                    sprite.frames_offset + number * SpriteFrame::SIZE
                });
                node::map([("name", sprite.name.clone().into()), ("frames", frames)])
            });
            facts.push(("sprites", sprites));
        }
        Content::Wibbles(list) => {
            let items = Node::each(list, |wibble| {
                let motion = node::stored(&wibble.motion, wibble.offset, Endian::Little);
                node::map([("object", wibble.object.into())].into_iter().chain(motion))
            });
            facts.push(("items", items));
        }
        Content::Pulses(list) => {
            let pulses = Node::each(list, |pulse| {
                node::map([
                    ("color", stored(pulse.color, pulse.offset, Form::U8)),
                    ("key", stored(pulse.key, pulse.offset + 2, Form::U8)),
                    ("time", stored(pulse.time, pulse.offset + 3, Form::U8)),
                    ("keys", pulse.keys.len().into()),
                ])
            });
            facts.push(("pulses", pulses));
        }
        Content::Chnk(list) => {
            let items = records(list, move |number| start + ChnkItem::place(number));
            facts.push(("items", items));
        }
        Content::Unknown => {}
    }
    let problem = chunk.problem.as_ref();
    facts.extend(problem.map(|problem| ("error", problem.to_string().into())));
    node::map(facts)
}

/// Returns records, each at an offset of the file.
fn records<'a, R: Record + Clone>(
    records: &'a [R],
    offset: impl Fn(usize) -> usize + Copy + 'a,
) -> Node<'a> {
    Node::Each(Box::new(move || {
        let records = records.iter().enumerate();
        Box::new(records.map(move |(number, record)| {
            node::map(node::stored(record, offset(number), Endian::Little))
        }))
    }))
}

fn keyframes(animation: &AnimationV1) -> Node<'_> {
    node::map([
        ("offset", animation.offset.into()),
        ("frames", animation.frames.into()),
        ("tween", animation.tween.into()),
        ("stored_frames", animation.stored_frames().into()),
    ])
}

fn chunks(shown: &PsxView) -> Rows<'_> {
    let rows = shown.psx.chunks.iter().map(|chunk| {
        [
            tag(chunk.tag).into(),
            chunk.offset.into(),
            chunk.length.into(),
            meaning(chunk).into(),
        ]
    });
    Rows::new(["tag", "offset", "length", "meaning"], rows)
}

/// Returns a tag as four letters if possible, otherwise as a number.
fn tag(tag: u32) -> String {
    let letters = tag.to_le_bytes();
    if letters.iter().all(u8::is_ascii_graphic) {
        letters.iter().copied().map(char::from).collect()
    } else {
        format!("{tag:#04x}")
    }
}

/// Returns the meaning of a chunk, and its number of items.
fn meaning(chunk: &Chunk) -> String {
    let what = match &chunk.content {
        Content::Colors(list) => format!("gouraud colors: {}", list.len()),
        Content::Hierarchy(list) => format!("parents of objects: {}", list.len()),
        Content::BlockMap(map) => format!(
            "collision grid: {} x {} cells, {} entries",
            map.grid.width, map.grid.height, map.entries
        ),
        Content::AnimationsV1(list) => format!("keyframe animations: {}", list.len()),
        Content::AnimationsV2(list) => format!("compressed animations: {}", list.len()),
        Content::Sprites(list) => format!("sprite animations: {}", list.len()),
        Content::Wibbles(list) => format!("moving textures: {}", list.len()),
        Content::Pulses(list) => format!("pulsing colors: {}", list.len()),
        Content::Chnk(list) => format!("destructible items: {}", list.len()),
        Content::Unknown => "unknown".into(),
    };
    match chunk.problem {
        Some(_) => what + ", damaged",
        None => what,
    }
}

/// Returns the rows of the table of animations.
fn animations(psx: &Psx) -> impl Iterator<Item = [Value; 7]> {
    psx.chunks.iter().flat_map(|chunk| {
        let offset = |offset: u32| Value::from(chunk.offset + u64::from(offset));
        let rows: Box<dyn Iterator<Item = [Value; 7]>> = match &chunk.content {
            Content::AnimationsV1(list) => {
                Box::new(list.iter().enumerate().map(move |(index, one)| {
                    [
                        index.into(),
                        "keyframes".into(),
                        Value::Null,
                        one.frames.into(),
                        one.stored_frames().into(),
                        one.tween.into(),
                        offset(one.offset),
                    ]
                }))
            }
            Content::AnimationsV2(list) => {
                Box::new(list.iter().enumerate().map(move |(index, one)| {
                    let (frames, offset) = (one.frames.into(), offset(one.offset));
                    let none = || Value::Null;
                    [
                        index.into(),
                        "compressed".into(),
                        none(),
                        frames,
                        none(),
                        none(),
                        offset,
                    ]
                }))
            }
            Content::Sprites(list) => Box::new(list.iter().enumerate().map(|(index, one)| {
                let (name, frames) = (one.name.clone().into(), one.frames.len().into());
                let none = || Value::Null;
                [
                    index.into(),
                    "sprite".into(),
                    name,
                    frames,
                    none(),
                    none(),
                    none(),
                ]
            })),
            _ => Box::new(std::iter::empty()),
        };
        rows
    })
}
