//! The tables; their columns are described in `docs/formats/hgo.md`.

use std::io::{self, Write};

use hpimount_record::Value;

use crate::hgo::{BlockKind, Geometry, Hgo, Layer, Matrix, Mesh, Part, Point};
use hpimount_assets::view::cells;
use hpimount_assets::view::page::Rows;
use hpimount_containers::text::push_escaped;

/// The first of the three elements of a matrix with its translation.
const TRANSLATION: usize = 12;

/// Returns the translation of a matrix.
pub(super) fn translation(matrix: &Matrix) -> [f32; 3] {
    std::array::from_fn(|axis| matrix[TRANSLATION + axis])
}

/// Returns the name of the joint with this number.
fn joint_name(hgo: &Hgo, joint: Option<usize>) -> Value {
    let joint = joint.and_then(|joint| hgo.joints.get(joint));
    let name = joint.and_then(|joint| joint.name.get());
    name.map(str::to_owned).into()
}

/// Returns the rows of `joints.tsv`.
pub(super) fn joints(hgo: &Hgo) -> Rows<'_> {
    Rows::of(&hgo.joints).and(["parent_name", "x", "y", "z"], |index| {
        let joint = &hgo.joints[index];
        let [x, y, z] = translation(&joint.local).map(Value::Float);
        [joint_name(hgo, joint.parent.get()), x, y, z]
    })
}

/// Totals of the meshes of a part.
#[derive(Default)]
struct Totals {
    meshes: usize,
    vertices: usize,
    triangles: usize,
    skinned: bool,
    blend_shapes: usize,
}

impl Totals {
    fn of(part: &Part) -> Self {
        let mut totals = Self::default();
        for mesh in part.geometry.iter().flat_map(Geometry::meshes) {
            totals.meshes += 1;
            totals.vertices += mesh.vertices.len();
            totals.triangles += mesh.triangle_count();
            totals.skinned |= mesh.skin.is_some();
            totals.blend_shapes = totals.blend_shapes.max(blend_shapes(mesh));
        }
        totals
    }
}

/// Returns the number of blend shapes of a mesh.
pub(super) fn blend_shapes(mesh: &Mesh) -> usize {
    mesh.blend_shapes
        .as_ref()
        .map_or(0, |blend| blend.ids.len())
}

/// Returns the rows of `layers.tsv`: one for each part of a layer, or for a layer
/// without parts.
pub(super) fn layers(hgo: &Hgo) -> Rows<'_> {
    let columns = [
        "name",
        "slot",
        "joint",
        "meshes",
        "vertices",
        "triangles",
        "skinned",
        "blend_shapes",
    ];
    let rows = hgo.layers.iter().flat_map(|layer| {
        let parts = layer.parts.iter().map(Some);
        let none = layer.parts.is_empty().then_some(None);
        parts.chain(none).map(|part| layer_row(layer, part))
    });
    Rows::new(columns, rows)
}

fn layer_row(layer: &Layer, part: Option<&Part>) -> [Value; 8] {
    let totals = part.map(Totals::of).unwrap_or_default();
    [
        layer.name.get().map(str::to_owned).into(),
        part.map(|part| part.slot.name()).into(),
        part.and_then(|part| part.joint).into(),
        totals.meshes.into(),
        totals.vertices.into(),
        totals.triangles.into(),
        totals.skinned.into(),
        totals.blend_shapes.into(),
    ]
}

/// Returns the rows of `textures.tsv`.
pub(super) fn textures(hgo: &Hgo) -> Rows<'_> {
    let columns = [
        "index",
        "type",
        "format",
        "width",
        "height",
        "mipmaps",
        "offset",
        "data_size",
        "palette_size",
    ];
    let rows = hgo.textures.iter().enumerate().map(|(index, texture)| {
        [
            index.into(),
            texture.code.into(),
            texture.format.name().into(),
            texture.width.into(),
            texture.height.into(),
            texture.mipmaps.into(),
            texture.offset.into(),
            texture.data.len().into(),
            texture.palette.len().into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Writes `names.txt`.
pub(super) fn names(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for name in hgo.names.iter() {
        push_escaped(&mut line, &name);
        line.push('\n');
        out.write_all(line.as_bytes())?;
        line.clear();
    }
    Ok(())
}

/// Returns the rows of `points.tsv`.
pub(super) fn points(hgo: &Hgo) -> Rows<'_> {
    Rows::of(&hgo.points).and(["joint_name", "x", "y", "z"], |index| {
        let point = &hgo.points[index];
        let [x, y, z] = translation(&point.matrix).map(Value::Float);
        [joint_name(hgo, Some(point.joint.into())), x, y, z]
    })
}

/// Returns the value of a text in a row of `points.tsv`.
pub(super) fn point_cell(
    point: &Point,
    row: usize,
    column: &str,
    text: &str,
) -> Option<(String, Value)> {
    let path = format!("points_of_interest[{row}]");
    let axis = ["x", "y", "z"].iter().position(|axis| *axis == column);
    match axis {
        Some(axis) => {
            let element = TRANSLATION + axis;
            Some((
                format!("{path}.matrix[{element}]"),
                Value::text(text.to_owned()),
            ))
        }
        None => cells::of_record(point, path, column, text),
    }
}

/// Returns the rows of `blocks.tsv`.
pub(super) fn blocks(hgo: &Hgo) -> Rows<'_> {
    let columns = [
        "index", "depth", "type", "offset", "size", "consumed", "meaning",
    ];
    let rows = hgo.blocks.iter().enumerate().map(|(index, block)| {
        [
            index.into(),
            block.depth.into(),
            tag(block.tag).into(),
            block.offset.into(),
            block.size.into(),
            block.consumed.into(),
            meaning(block.tag).into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns the type of a block as text.
pub(super) fn tag(tag: [u8; 4]) -> String {
    tag.escape_ascii().to_string()
}

/// Returns the meaning of a block type.
pub(super) fn meaning(tag: [u8; 4]) -> &'static str {
    BlockKind::from_tag(tag).map_or("unknown", BlockKind::meaning)
}
