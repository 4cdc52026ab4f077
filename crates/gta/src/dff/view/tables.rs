//! Tables of a model.

use std::io::{self, Write};

use super::Shown;
use crate::dff::{Value, coats};
use hpimount_assets::view::{AssetContext, Table};
use hpimount_renderware::export::TextureState;
use hpimount_renderware::texture::Sampling;

/// Writes `frames.tsv`.
pub(super) fn frames(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "clump", "frame", "name", "parent", "bone", "x", "y", "z", "right_x", "right_y", "right_z",
        "up_x", "up_y", "up_z", "at_x", "at_y", "at_z",
    ];
    let mut table = Table::new(out, &columns)?;
    for (number, clump) in shown.model.clumps.iter().enumerate() {
        for (index, frame) in clump.frames.iter().enumerate() {
            table.cell(number).cell(index).text(&frame.name);
            table.optional(frame.parent);
            table.optional(frame.node.as_ref().map(|node| node.id));
            let place = &frame.placement;
            for vector in [place.position, place.right, place.up, place.at] {
                for part in vector {
                    table.float(part);
                }
            }
            table.end_row()?;
        }
    }
    Ok(())
}

/// Writes `materials.tsv`, with a row for each material of each geometry.
pub(super) fn materials(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "clump",
        "geometry",
        "material",
        "red",
        "green",
        "blue",
        "alpha",
        "texture",
        "mask",
        "filter",
        "address_u",
        "address_v",
        "ambient",
        "specular",
        "diffuse",
        "effects",
        "error",
    ];
    let mut table = Table::new(out, &columns)?;
    for (number, clump) in shown.model.clumps.iter().enumerate() {
        for (at, geometry) in clump.geometries.iter().enumerate() {
            for (index, material) in geometry.materials.iter().enumerate() {
                table.cell(number).cell(at).cell(index);
                for part in material.color {
                    table.cell(part);
                }
                let texture = material.texture.as_ref();
                let sampling = texture.map(|texture| texture.sampling);
                let address = |address: Option<u8>| address.and_then(Sampling::address_name);
                table
                    .optional_text(texture.map(|texture| texture.name.as_str()))
                    .optional_text(texture.map(|texture| texture.mask.as_str()))
                    .optional(sampling.and_then(Sampling::filter_name))
                    .optional(address(sampling.map(|one| one.address_u)))
                    .optional(address(sampling.map(|one| one.address_v)));
                for index in 0..3 {
                    match material.surface {
                        Some(surface) => table.float(surface[index]),
                        None => table.cell(""),
                    };
                }
                let (coats, error) = coats(material);
                let coats = coats.iter().map(|coat| {
                    let names = coat.names.iter().map(|name| format!(" {name}"));
                    let intensity = coat.intensity.map(|value| format!(" {value}"));
                    let parts = intensity.into_iter().chain(names);
                    parts.fold(coat.kind.to_owned(), |text, part| text + &part)
                });
                table.text(&coats.collect::<Vec<_>>().join("; "));
                table.text(&error.map_or_else(String::new, |error| error.to_string()));
                table.end_row()?;
            }
        }
    }
    Ok(())
}

/// Writes `textures.tsv`: where each texture of the materials was found.
pub(super) fn textures(
    shown: &Shown,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = ["index", "name", "txd", "file", "width", "height", "problem"];
    let mut table = Table::new(out, &columns)?;
    let textures = shown.plan.textures.iter().zip(&shown.sources);
    for (index, (texture, source)) in textures.enumerate() {
        table.cell(index).text(&texture.name);
        let path = source.as_ref().map(|source| context.path_of(source.file));
        table
            .optional_text(source.as_ref().map(|source| source.dictionary.as_str()))
            .optional_text(path.as_deref());
        match &texture.state {
            TextureState::Found { width, height, .. } => table.cell(width).cell(height).cell(""),
            TextureState::Missing => table.cell("").cell("").text("is in no dictionary"),
            TextureState::Unreadable(why) => table.cell("").cell("").text(why),
        };
        table.end_row()?;
    }
    Ok(())
}

/// Writes `effects.tsv`. The fields depend on the type.
pub(super) fn effects(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "clump", "geometry", "index", "type", "x", "y", "z", "bytes", "fields",
    ];
    let mut table = Table::new(out, &columns)?;
    for (index, effect) in shown.model.effects.iter().enumerate() {
        table.cell(effect.clump).cell(effect.geometry).cell(index);
        match effect.kind_name() {
            Some(name) => table.cell(name),
            None => table.cell(effect.kind),
        };
        for part in effect.position {
            table.float(part);
        }
        let fields = effect.fields.iter();
        let fields = fields.map(|(name, value)| format!("{name}={}", shown_value(value)));
        table.cell(effect.size);
        table.text(&fields.collect::<Vec<_>>().join(" "));
        table.end_row()?;
    }
    Ok(())
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Integers(values) => joined(values.iter().map(ToString::to_string)),
        Value::Floats(values) => joined(values.iter().map(ToString::to_string)),
        Value::Text(text) => text.clone(),
    }
}

fn joined(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(",")
}

/// Writes `breakables.tsv`, with a row for each material.
pub(super) fn breakables(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "clump",
        "geometry",
        "rule",
        "vertices",
        "triangles",
        "material",
        "texture",
        "mask",
        "ambient_red",
        "ambient_green",
        "ambient_blue",
    ];
    let mut table = Table::new(out, &columns)?;
    for breakable in &shown.model.breakables {
        for (index, piece) in breakable.pieces.iter().enumerate() {
            table.cell(breakable.clump).cell(breakable.geometry);
            table.cell(breakable.rule).cell(breakable.vertices);
            table.cell(breakable.triangles).cell(index);
            table.text(&piece.texture).text(&piece.mask);
            for part in piece.ambient {
                table.float(part);
            }
            table.end_row()?;
        }
    }
    Ok(())
}
