//! The tables; their columns are described in `docs/formats/psx.md`.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::psx::{Chunk, Content, Palette, Psx};
use hpimount_assets::view::Table;

/// Writes `objects.tsv`.
pub(super) fn objects(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["index", "model", "x", "y", "z", "angles", "flags", "parent"];
    let mut table = Table::new(out, &columns)?;
    let parents = psx.parents().unwrap_or_default();
    for (index, object) in psx.objects.iter().enumerate() {
        table.cell(index).cell(object.model);
        for coordinate in object.position {
            table.cell(units(coordinate.into()));
        }
        let parent = parents.get(index).copied();
        table
            .cell(spaced(object.angles.map(degrees)))
            .cell(format_args!("{:#06x}", object.flags))
            .optional(parent.filter(|&parent| usize::from(parent) != index))
            .end_row()?;
    }
    Ok(())
}

/// Converts a number with 12 fractional bits.
pub(super) fn units(fixed: i64) -> f64 {
    fixed as f64 / 4096.0
}

/// Converts an angle (4096 is a full turn) to degrees.
fn degrees(angle: i16) -> f64 {
    f64::from(angle) * 360.0 / 4096.0
}

fn spaced<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    texts.join(" ")
}

/// Writes `models.tsv`.
pub(super) fn models(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "name_hash",
        "vertices",
        "normals",
        "faces",
        "triangles",
        "quads",
        "textured",
        "gouraud",
        "invisible",
        "lit",
        "collides",
        "radius",
        "bounds",
        "lod_distance",
        "next_lod",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, model) in psx.models.iter().enumerate() {
        let counts = model.face_counts();
        let bounds = model.bounds;
        table
            .cell(index)
            .optional(psx.model_names.get(index).map(hash))
            .cell(model.vertices.len())
            .cell(model.normals.len())
            .cell(model.faces.len())
            .cell(counts.triangles)
            .cell(counts.quads)
            .cell(counts.textured)
            .cell(counts.gouraud)
            .cell(counts.invisible)
            .cell(counts.lit)
            .cell(counts.colliding)
            .cell(units(model.radius.into()))
            .cell(spaced([bounds.min, bounds.max].concat()))
            .optional(model.lod.map(|lod| lod.distance))
            .optional(model.lod.and_then(|lod| lod.next_model()))
            .end_row()?;
    }
    Ok(())
}

/// Returns a hash or id in the usual notation.
fn hash(hash: &u32) -> String {
    format!("{hash:08x}")
}

/// Writes `textures.tsv`.
pub(super) fn textures(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "id",
        "width",
        "height",
        "bits",
        "palette_id",
        "palette_found",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, texture) in psx.textures.iter().enumerate() {
        let found = texture.palette_found();
        table
            .cell(index)
            .optional(psx.texture_ids.get(texture.index as usize).map(hash))
            .cell(texture.width)
            .cell(texture.height)
            .optional(texture.data.bits())
            .optional(found.map(|_| hash(&texture.palette)))
            .optional(found)
            .end_row()?;
    }
    Ok(())
}

/// Writes `palettes.tsv`.
pub(super) fn palettes(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["index", "id", "colors", "transparent", "textures"];
    let mut table = Table::new(out, &columns)?;
    let mut uses: HashMap<usize, usize> = HashMap::new();
    for index in psx.textures.iter().filter_map(|t| t.palette_index) {
        *uses.entry(index).or_default() += 1;
    }
    for (index, palette) in psx.palettes.iter().enumerate() {
        let colors = palette.colors.iter();
        let transparent = colors.filter(|&&color| Palette::is_transparent(color));
        table
            .cell(index)
            .cell(hash(&palette.id))
            .cell(palette.colors.len())
            .cell(transparent.count())
            .cell(uses.get(&index).unwrap_or(&0))
            .end_row()?;
    }
    Ok(())
}

/// Writes `chunks.tsv`.
pub(super) fn chunks(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["tag", "offset", "length", "meaning"];
    let mut table = Table::new(out, &columns)?;
    for chunk in &psx.chunks {
        table
            .text(&tag(chunk.tag))
            .cell(chunk.offset)
            .cell(chunk.length)
            .text(&meaning(chunk))
            .end_row()?;
    }
    Ok(())
}

/// Returns a tag as its four letters, if it has them, otherwise as a number.
pub(super) fn tag(tag: u32) -> String {
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
            map.width, map.height, map.entries
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

/// Returns whether there is an `animations.tsv`.
pub(super) fn has_animations(psx: &Psx) -> bool {
    psx.chunks.iter().any(|chunk| match &chunk.content {
        Content::AnimationsV1(list) => !list.is_empty(),
        Content::AnimationsV2(list) => !list.is_empty(),
        Content::Sprites(list) => !list.is_empty(),
        _ => false,
    })
}

/// Writes `animations.tsv`.
pub(super) fn animations(psx: &Psx, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "kind",
        "name",
        "frames",
        "stored_frames",
        "tween",
        "offset",
    ];
    let mut table = Table::new(out, &columns)?;
    for chunk in &psx.chunks {
        let position = |offset: u32| chunk.offset + u64::from(offset);
        match &chunk.content {
            Content::AnimationsV1(list) => {
                for (index, animation) in list.iter().enumerate() {
                    table.cell(index).cell("keyframes").cell("");
                    table.cell(animation.frames).cell(animation.stored_frames());
                    table.cell(animation.tween).cell(position(animation.offset));
                    table.end_row()?;
                }
            }
            Content::AnimationsV2(list) => {
                for (index, animation) in list.iter().enumerate() {
                    table.cell(index).cell("compressed").cell("");
                    table.cell(animation.frames).cell("").cell("");
                    table.cell(position(animation.offset)).end_row()?;
                }
            }
            Content::Sprites(list) => {
                for (index, sprite) in list.iter().enumerate() {
                    table.cell(index).cell("sprite").text(&sprite.name);
                    table.cell(sprite.frames.len()).cell("").cell("").cell("");
                    table.end_row()?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
