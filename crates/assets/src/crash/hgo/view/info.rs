//! The facts of a model: everything except the contents of pictures and models. Of
//! vertices, triangles, weights and pixels, there are only the counts.

use hpimount_record::{self as record, Scope, Value};

use super::tables::{blend_shapes, tag, translation};
use super::{FORMAT, PlannedHgo};
use crate::crash::hgo::{
    Block, BlockKind, Geometry, Hgo, Layer, Matrix, Mesh, Primitive, Shadow, Skin, Slot, Sprites,
    Texture, Vertex,
};
use crate::view::page::{Page, Values, known, map, numbered};
use hpimount_containers::io::{Endian, Warnings};

/// Returns the page of a model with its facts and lists.
pub(super) fn page(hgo: &Hgo, warnings: Warnings) -> Page<PlannedHgo> {
    let (endian, order) = match hgo.endian {
        Endian::Big => ("big", "big-endian, as on GameCube"),
        Endian::Little => ("little", "little-endian"),
    };
    let heading = format!("HGO model (Crash Bandicoot: The Wrath of Cortex; {order})");
    let mut page = Page::new(FORMAT.name, heading, warnings);
    let meshes = || geometry(hgo).flat_map(Geometry::meshes);
    let sprites = geometry(hgo).flat_map(Geometry::sprites);
    let bounds = hgo.bounds.as_ref();
    page.fact("endian", endian)
        .fact("file_size", Value::Integer(hgo.file_size() as i64))
        .fact("declared_size", hgo.blocks.first().map(|root| root.size))
        .fact("meshes", meshes().count())
        .fact(
            "vertices",
            meshes().map(|mesh| mesh.vertices.len()).sum::<usize>(),
        )
        .fact(
            "triangles",
            meshes().map(Mesh::triangle_count).sum::<usize>(),
        )
        .fact(
            "sprites",
            sprites.map(|set| set.sprites.len()).sum::<usize>(),
        )
        .fact(
            "blend_shapes",
            meshes().map(blend_shapes).max().unwrap_or(0),
        )
        .fact(
            "bounds",
            bounds.map(|bounds| record::value(bounds, &Scope::default())),
        )
        .list("chunks", chunks)
        .list("textures", |model| list(&model.hgo.textures, texture))
        .list("materials", |model| {
            list(&model.hgo.materials, |index, material| {
                numbered(index, material, [])
            })
        })
        .list("texture_animations", |model| {
            let animations = &model.hgo.texture_animations;
            list(animations, |index, animation| {
                numbered(index, animation, [])
            })
        })
        .list("joint_index", |model| {
            list(&model.hgo.joint_index, |_, &joint| joint.into())
        })
        .list("poi_index", |model| {
            list(&model.hgo.point_index, |_, &point| point.into())
        })
        .list("joints", |model| {
            list(&model.hgo.joints, |index, joint| {
                numbered(index, joint, [("translation", position(&joint.local))])
            })
        })
        .list("layers", |model| list(&model.hgo.layers, layer))
        .list("points_of_interest", |model| {
            list(&model.hgo.points, |index, point| {
                numbered(index, point, [("position", position(&point.matrix))])
            })
        })
        .list("shadow", |model| {
            list(&model.hgo.shadows, |_, one| shadow(one))
        });
    page
}

fn geometry(hgo: &Hgo) -> impl Iterator<Item = &Geometry> {
    let parts = hgo.layers.iter().flat_map(|layer| &layer.parts);
    parts.flat_map(|part| &part.geometry)
}

/// Returns the value of each item.
fn list<T>(items: &[T], value: fn(usize, &T) -> Value) -> Values<'_> {
    let items = items.iter().enumerate();
    Box::new(items.map(move |(index, item)| value(index, item)))
}

/// Returns the position in a matrix.
fn position(matrix: &Matrix) -> Value {
    translation(matrix).into_iter().collect()
}

fn chunks(model: &PlannedHgo) -> Values<'_> {
    let hgo = &model.hgo;
    let blocks = hgo.blocks.iter().filter(|block| block.depth == 1);
    Box::new(blocks.map(|block| chunk(block, hgo)))
}

fn chunk(block: &Block, hgo: &Hgo) -> Value {
    let is = |kind| BlockKind::from_tag(block.tag) == Some(kind);
    let ids = || hgo.texture_ids.iter().copied().collect::<Value>();
    known([
        ("type", tag(block.tag).into()),
        ("offset", Value::Integer(block.offset as i64)),
        ("size", block.size.into()),
        ("consumed", Value::Integer(block.consumed as i64)),
        (
            "names",
            is(BlockKind::Names)
                .then(|| hgo.names.iter().collect::<Value>())
                .into(),
        ),
        (
            "count",
            hgo.texture_count.filter(|_| is(BlockKind::Textures)).into(),
        ),
        ("tids", is(BlockKind::TextureAnimations).then(ids).into()),
    ])
}

fn texture(index: usize, texture: &Texture) -> Value {
    known([
        ("index", index.into()),
        ("type", texture.code.into()),
        ("format", texture.format.name().into()),
        ("width", texture.width.into()),
        ("height", texture.height.into()),
        ("offset", Value::Integer(texture.offset as i64)),
        ("mipmaps", texture.mipmaps.into()),
        ("data_size", texture.data.len().into()),
        ("palette_size", texture.palette.len().into()),
    ])
}

/// Returns a layer with its slots: geometry for each joint, or of the slot as a
/// whole.
fn layer(index: usize, layer: &Layer) -> Value {
    let name = layer.name.get().map(str::to_owned);
    let mut entries = vec![("index".into(), index.into()), ("name".into(), name.into())];
    for slot in Slot::ALL {
        let parts = || layer.parts.iter().filter(move |part| part.slot == slot);
        let geometry = |part: &crate::crash::hgo::Part| -> Value {
            part.geometry.iter().map(geometry_value).collect()
        };
        let rigid =
            parts().filter_map(|part| Some((part.joint?.to_string().into(), geometry(part))));
        let rigid: Vec<_> = rigid.collect();
        if !rigid.is_empty() {
            entries.push((slot.name().into(), Value::Map(rigid)));
        } else if let Some(part) = parts().next() {
            entries.push((slot.name().into(), geometry(part)));
        }
    }
    Value::Map(entries)
}

fn geometry_value(geometry: &Geometry) -> Value {
    match geometry {
        Geometry::Meshes { origin, meshes } => map([
            ("type", 0.into()),
            ("origin", origin.iter().copied().collect()),
            ("meshes", meshes.iter().map(mesh).collect()),
        ]),
        Geometry::Sprites(sets) => map([
            ("type", 1.into()),
            ("faces", sets.iter().map(sprites).collect()),
        ]),
    }
}

fn mesh(mesh: &Mesh) -> Value {
    let skin = mesh.skin.as_ref();
    known([
        ("material", mesh.material.into()),
        ("vertices", mesh.vertices.len().into()),
        ("triangles", mesh.triangle_count().into()),
        ("bounds", extent(&mesh.vertices)),
        ("control", mesh.control.into()),
        ("prims", mesh.primitives.iter().map(primitive).collect()),
        (
            "skin",
            skin.map(|skin| match skin {
                Skin::Vertex(_) => "vertex",
                Skin::Grouped(_) => "grouped",
            })
            .into(),
        ),
        (
            "skin_joints",
            skin.map(|skin| skin.joints().into_iter().collect::<Value>())
                .into(),
        ),
        (
            "blend_shapes",
            mesh.blend_shapes
                .as_ref()
                .map(|blend| {
                    map([
                        ("ids", blend.ids.iter().copied().collect()),
                        ("present", blend.present.iter().copied().collect()),
                        ("bytes", blend.byte_count.into()),
                    ])
                })
                .into(),
        ),
    ])
}

fn primitive(primitive: &Primitive) -> Value {
    map([
        ("type", primitive.kind.code().into()),
        ("indices", primitive.indices.len().into()),
        ("triangles", primitive.triangles().count().into()),
    ])
}

/// Returns the box around vertices.
fn extent(vertices: &[Vertex]) -> Value {
    let corner = |least: fn(f32, f32) -> f32| {
        let positions = vertices.iter().map(|vertex| vertex.position);
        positions.reduce(|a, b| std::array::from_fn(|axis| least(a[axis], b[axis])))
    };
    match (corner(f32::min), corner(f32::max)) {
        (Some(min), Some(max)) => map([
            ("min", min.into_iter().collect()),
            ("max", max.into_iter().collect()),
        ]),
        _ => Value::Null,
    }
}

fn sprites(sprites: &Sprites) -> Value {
    map([
        ("material", sprites.material.into()),
        ("count", sprites.sprites.len().into()),
        ("faceon_type", sprites.kind.into()),
        ("radius", sprites.radius.into()),
    ])
}

fn shadow(shadow: &Shadow) -> Value {
    let meshes = shadow.meshes.iter().map(|mesh| {
        map([
            ("normals", mesh.normals.len().into()),
            ("verts", mesh.vertices.len().into()),
        ])
    });
    map([
        ("joint", shadow.joint.into()),
        ("ellipsoids", shadow.ellipsoids.len().into()),
        ("cylinders", shadow.cylinders.len().into()),
        ("meshes", meshes.collect()),
    ])
}
