//! The tables; their columns are described in `docs/formats/hgo.md`.

use std::io::{self, Write};

use crate::crash::hgo::{Attributes, BlockKind, Geometry, Hgo, Layer, Matrix, Mesh, Part};
use crate::view::Table;
use hpimount_containers::text::push_escaped;

/// Returns the translation of a matrix.
pub(super) fn translation(matrix: &Matrix) -> [f32; 3] {
    [matrix[12], matrix[13], matrix[14]]
}

fn floats(table: &mut Table<'_>, values: &[f32]) {
    for &value in values {
        table.float(value);
    }
}

/// Returns the name of the joint with this number.
fn joint_name(hgo: &Hgo, joint: Option<u8>) -> Option<&str> {
    hgo.joints.get(usize::from(joint?))?.name.as_deref()
}

/// Writes `joints.tsv`.
pub(super) fn joints(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "name",
        "parent",
        "parent_name",
        "flags",
        "x",
        "y",
        "z",
        "locator_x",
        "locator_y",
        "locator_z",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, joint) in hgo.joints.iter().enumerate() {
        table
            .cell(index)
            .optional_text(joint.name.as_deref())
            .optional(joint.parent)
            .optional_text(joint_name(hgo, joint.parent))
            .cell(joint.flags);
        floats(&mut table, &translation(&joint.local));
        floats(&mut table, &joint.locator_offset);
        table.end_row()?;
    }
    Ok(())
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

/// Writes `layers.tsv`.
pub(super) fn layers(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
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
    let mut table = Table::new(out, &columns)?;
    for layer in &hgo.layers {
        if layer.parts.is_empty() {
            layer_row(&mut table, layer, None)?;
        }
        for part in &layer.parts {
            layer_row(&mut table, layer, Some(part))?;
        }
    }
    Ok(())
}

/// Writes a row for a part of a layer, or for a layer without parts.
fn layer_row(table: &mut Table<'_>, layer: &Layer, part: Option<&Part>) -> io::Result<()> {
    let totals = part.map(Totals::of).unwrap_or_default();
    table
        .optional_text(layer.name.as_deref())
        .optional(part.map(|part| part.slot.name()))
        .optional(part.and_then(|part| part.joint))
        .cell(totals.meshes)
        .cell(totals.vertices)
        .cell(totals.triangles)
        .cell(totals.skinned)
        .cell(totals.blend_shapes)
        .end_row()
}

/// Writes `materials.tsv`.
pub(super) fn materials(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    let attributes: Vec<_> = Attributes::names()
        .map(|name| format!("attr_{name}"))
        .collect();
    let before = ["index", "next", "attributes"];
    let after = [
        "ambient_r",
        "ambient_g",
        "ambient_b",
        "diffuse_r",
        "diffuse_g",
        "diffuse_b",
        "fx_0",
        "fx_1",
        "fx_2",
        "fx_3",
        "power",
        "alpha",
        "texture",
        "alpha_sort",
        "fx_id",
        "special_id",
        "unknown_40",
        "unknown_42",
        "unknown_43",
        "scroll_u",
        "scroll_v",
        "scale_u",
        "scale_v",
    ];
    let attributes = attributes.iter().map(String::as_str);
    let columns: Vec<_> = before.into_iter().chain(attributes).chain(after).collect();
    let mut table = Table::new(out, &columns)?;
    for (index, material) in hgo.materials.iter().enumerate() {
        table
            .cell(index)
            .cell(material.next)
            .cell(format_args!("{:#010x}", material.attributes));
        for (_, value) in material.flags.iter() {
            table.cell(value);
        }
        floats(&mut table, &material.ambient);
        floats(&mut table, &material.diffuse);
        for word in material.fx {
            table.cell(format_args!("{word:#010x}"));
        }
        table
            .float(material.power)
            .float(material.alpha)
            .cell(material.texture)
            .cell(material.alpha_sort)
            .cell(material.fx_id)
            .cell(material.special_id)
            .cell(material.unknown_40)
            .cell(material.unknown_42)
            .cell(material.unknown_43);
        floats(&mut table, &material.scroll);
        table.end_row()?;
    }
    Ok(())
}

/// Writes `textures.tsv`.
pub(super) fn textures(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
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
    let mut table = Table::new(out, &columns)?;
    for (index, texture) in hgo.textures.iter().enumerate() {
        table
            .cell(index)
            .cell(format_args!("{:#04x}", texture.code))
            .cell(texture.format.name())
            .cell(texture.width)
            .cell(texture.height)
            .optional(texture.mipmaps)
            .cell(texture.offset)
            .cell(texture.data.len())
            .cell(texture.palette.len())
            .end_row()?;
    }
    Ok(())
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

/// Writes `points.tsv`.
pub(super) fn points(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["index", "name", "joint", "joint_name", "x", "y", "z"];
    let mut table = Table::new(out, &columns)?;
    for (index, point) in hgo.points.iter().enumerate() {
        table
            .cell(index)
            .optional_text(point.name.as_deref())
            .cell(point.joint)
            .optional_text(joint_name(hgo, Some(point.joint)));
        floats(&mut table, &translation(&point.matrix));
        table.end_row()?;
    }
    Ok(())
}

/// Writes `blocks.tsv`.
pub(super) fn blocks(hgo: &Hgo, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index", "depth", "type", "offset", "size", "consumed", "meaning",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, block) in hgo.blocks.iter().enumerate() {
        table
            .cell(index)
            .cell(block.depth)
            .text(&tag(block.tag))
            .cell(block.offset)
            .cell(block.size)
            .cell(block.consumed)
            .cell(meaning(block.tag))
            .end_row()?;
    }
    Ok(())
}

/// Returns the type of a block as text.
pub(super) fn tag(tag: [u8; 4]) -> String {
    tag.escape_ascii().to_string()
}

/// Returns the meaning of a block type.
pub(super) fn meaning(tag: [u8; 4]) -> &'static str {
    BlockKind::from_tag(tag).map_or("unknown", BlockKind::meaning)
}
