//! The facts of a model: everything except the contents of pictures and models.
//! Vertices, triangles, weights and pixels are only counted.

use hpimount_record::{FixedSize, Record, Value};

use super::tables::{blend_shapes, tag, translation};
use super::{FORMAT, PlannedHgo};
use crate::hgo::{
    Block, BlockKind, Geometry, Hgo, Layer, Matrix, Mesh, Part, Primitive, Shadow, Skin, Slot,
    Sprites, Texture, Vertex,
};
use hpimount_assets::view::Measures;
use hpimount_assets::view::edit::{Form, Place};
use hpimount_assets::view::node::{Entry, Node, Nodes, known, map, numbered, stored};
use hpimount_assets::view::page::Page;
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
    page.fact("endian", endian)
        .fact("file_size", hgo.file_size())
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
        .measures(|model: &PlannedHgo| {
            let meshes = geometry(&model.hgo).flat_map(Geometry::meshes);
            let textures = model.hgo.textures.iter();
            Measures {
                vertices: Some(meshes.map(|mesh| mesh.vertices.len() as u64).sum()),
                ..Measures::pictures(textures.map(|texture| [texture.width, texture.height]))
            }
        })
        .edits()
        .computed(|model: &PlannedHgo| vec![("bounds", bounds(&model.hgo))])
        .list("chunks", chunks)
        .list("textures", |model| list(&model.hgo.textures, texture))
        .list("materials", |model| {
            let hgo = &model.hgo;
            records(hgo, &hgo.materials, hgo.places.materials, |_| None)
        })
        .list("texture_animations", |model| {
            let (hgo, start) = (&model.hgo, model.hgo.places.texture_animations);
            records(hgo, &hgo.texture_animations, start, |_| None)
        })
        .list("joint_index", |model| {
            list(&model.hgo.joint_index, |_, &joint| joint.into())
        })
        .list("poi_index", |model| {
            list(&model.hgo.point_index, |_, &point| point.into())
        })
        .list("joints", |model| {
            let hgo = &model.hgo;
            records(hgo, &hgo.joints, hgo.places.joints, |joint| {
                Some(("translation", position(&joint.local)))
            })
        })
        .list("layers", |model| {
            let layers = model.hgo.layers.iter().enumerate();
            Box::new(layers.map(|(index, one)| layer(index, one, model.hgo.endian)))
        })
        .list("points_of_interest", |model| {
            let hgo = &model.hgo;
            records(hgo, &hgo.points, hgo.places.points, |point| {
                Some(("position", position(&point.matrix)))
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

/// Returns the facts of each item.
fn list<'a, T>(items: &'a [T], facts: fn(usize, &'a T) -> Node<'a>) -> Nodes<'a> {
    let items = items.iter().enumerate();
    Box::new(items.map(move |(index, item)| facts(index, item)))
}

/// Returns the facts of contiguous records at an offset of the file.
fn records<'a, R: Record + Clone + FixedSize>(
    hgo: &Hgo,
    records: &'a [R],
    start: usize,
    computed: fn(&R) -> Option<Entry<'a>>,
) -> Nodes<'a> {
    let endian = hgo.endian;
    let records = records.iter().enumerate();
    Box::new(records.map(move |(index, record)| {
        let fields = stored(record, start + index * R::SIZE, endian);
        numbered(index, fields, computed(record))
    }))
}

/// Returns the bounds of the object.
fn bounds(hgo: &Hgo) -> Node<'_> {
    match &hgo.bounds {
        Some(bounds) => map(stored(bounds, hgo.places.bounds, hgo.endian)),
        None => Value::Null.into(),
    }
}

/// Returns the position in a matrix.
fn position<'a>(matrix: &Matrix) -> Node<'a> {
    let position: Value = translation(matrix).into_iter().collect();
    position.into()
}

fn chunks(model: &PlannedHgo) -> Nodes<'_> {
    let hgo = &model.hgo;
    let blocks = hgo.blocks.iter().filter(|block| block.depth == 1);
    Box::new(blocks.map(|block| chunk(block, hgo)))
}

fn chunk<'a>(block: &Block, hgo: &'a Hgo) -> Node<'a> {
    let mut chunk = vec![
        ("type", tag(block.tag).into()),
        ("offset", block.offset.into()),
        ("size", block.size.into()),
        ("consumed", block.consumed.into()),
    ];
    match BlockKind::from_tag(block.tag) {
        Some(BlockKind::Names) => {
            let names = || -> Nodes<'a> { Box::new(hgo.names.iter().map(Node::from)) };
            chunk.push(("names", Node::Each(Box::new(names))));
        }
        Some(BlockKind::Textures) => chunk.push(("count", hgo.texture_count.into())),
        Some(BlockKind::TextureAnimations) => {
            chunk.push(("tids", Node::numbers(&hgo.texture_ids)));
        }
        _ => {}
    }
    known(chunk)
}

fn texture(index: usize, texture: &Texture) -> Node<'_> {
    known([
        ("index", index.into()),
        ("type", texture.code.into()),
        ("format", texture.format.name().into()),
        ("width", texture.width.into()),
        ("height", texture.height.into()),
        ("offset", texture.offset.into()),
        ("mipmaps", texture.mipmaps.into()),
        ("data_size", texture.data.len().into()),
        ("palette_size", texture.palette.len().into()),
    ])
}

/// Returns a layer with its slots: geometry for each joint, or of the slot as a
/// whole.
fn layer(index: usize, layer: &Layer, endian: Endian) -> Node<'_> {
    let name = layer.name.get().map(str::to_owned);
    let mut entries = vec![("index".into(), index.into()), ("name".into(), name.into())];
    for slot in Slot::ALL {
        let parts = || layer.parts.iter().filter(move |part| part.slot == slot);
        let rigid = parts()
            .filter_map(|part| Some((part.joint?.to_string().into(), geometries(part, endian))));
        let rigid: Vec<_> = rigid.collect();
        if !rigid.is_empty() {
            entries.push((slot.name().into(), Node::Map(rigid)));
        } else if let Some(part) = parts().next() {
            entries.push((slot.name().into(), geometries(part, endian)));
        }
    }
    Node::Map(entries)
}

fn geometries(part: &Part, endian: Endian) -> Node<'_> {
    Node::each(&part.geometry, move |geometry| match geometry {
        Geometry::Meshes {
            offset,
            origin,
            meshes,
        } => map([
            ("type", 0.into()),
            ("origin", floats(origin, *offset, endian)),
            ("meshes", Node::each(meshes, move |one| mesh(one, endian))),
        ]),
        Geometry::Sprites(sets) => map([
            ("type", 1.into()),
            ("faces", Node::each(sets, move |set| sprites(set, endian))),
        ]),
    })
}

/// Returns editable floats at an offset of the file.
fn floats(values: &[f32], offset: usize, endian: Endian) -> Node<'_> {
    let places = (offset..).step_by(4);
    let places = places.map(|offset| Place::new(offset, endian, Form::Float));
    let values = values.iter().zip(places);
    Node::List(
        values
            .map(|(&value, place)| Node::from(value).stored(place))
            .collect(),
    )
}

fn mesh(mesh: &Mesh, endian: Endian) -> Node<'_> {
    let material = Place::new(mesh.offset, endian, Form::I32);
    let mut facts = vec![
        ("material", Node::from(mesh.material).stored(material)),
        ("vertices", mesh.vertices.len().into()),
        ("triangles", mesh.triangle_count().into()),
        ("bounds", extent(&mesh.vertices)),
        ("control", mesh.control.into()),
        ("prims", Node::each(&mesh.primitives, primitive)),
    ];
    if let Some(skin) = &mesh.skin {
        let kind = match skin {
            Skin::Vertex(_) => "vertex",
            Skin::Grouped(_) => "grouped",
        };
        let joints: Value = skin.joints().into_iter().collect();
        facts.extend([("skin", kind.into()), ("skin_joints", joints.into())]);
    }
    if let Some(blend) = &mesh.blend_shapes {
        let shapes = map([
            ("ids", Node::numbers(&blend.ids)),
            ("present", Node::numbers(&blend.present)),
            ("bytes", blend.byte_count.into()),
        ]);
        facts.push(("blend_shapes", shapes));
    }
    known(facts)
}

fn primitive(primitive: &Primitive) -> Node<'_> {
    map([
        ("type", primitive.kind.code().into()),
        ("indices", primitive.indices.len().into()),
        ("triangles", primitive.triangles().count().into()),
    ])
}

/// Returns the box around vertices.
fn extent<'a>(vertices: &[Vertex]) -> Node<'a> {
    let corner = |choose: fn(f32, f32) -> f32| -> Option<Value> {
        let positions = vertices.iter().map(|vertex| vertex.position);
        let corner = positions.reduce(|a, b| std::array::from_fn(|axis| choose(a[axis], b[axis])));
        Some(corner?.into_iter().collect())
    };
    match (corner(f32::min), corner(f32::max)) {
        (Some(min), Some(max)) => map([("min", min.into()), ("max", max.into())]),
        _ => Value::Null.into(),
    }
}

fn sprites(set: &Sprites, endian: Endian) -> Node<'_> {
    map(stored(&set.header, set.offset, endian))
}

fn shadow(shadow: &Shadow) -> Node<'_> {
    map([
        ("joint", shadow.joint.into()),
        ("ellipsoids", shadow.ellipsoids.len().into()),
        ("cylinders", shadow.cylinders.len().into()),
        (
            "meshes",
            Node::each(&shadow.meshes, |mesh| {
                map([
                    ("normals", mesh.normals.len().into()),
                    ("verts", mesh.vertices.len().into()),
                ])
            }),
        ),
    ])
}
