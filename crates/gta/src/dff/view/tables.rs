//! Tables of a model.

use super::DffView;
use crate::dff::coats;
use crate::table;
use hpimount_assets::view::page::Rows;
use hpimount_record::Value;
use hpimount_renderware::clump::{Clump, Material};
use hpimount_renderware::export::TextureState;
use hpimount_renderware::texture::Sampling;

/// Returns the clumps with their numbers.
fn clumps(shown: &DffView) -> impl Iterator<Item = (usize, &Clump)> {
    shown.model.clumps.iter().enumerate()
}

pub(super) fn frames(shown: &DffView) -> Rows<'_> {
    let columns = [
        "clump", "frame", "name", "parent", "bone", "x", "y", "z", "right_x", "right_y", "right_z",
        "up_x", "up_y", "up_z", "at_x", "at_y", "at_z",
    ];
    let rows = clumps(shown).flat_map(|(number, clump)| {
        let frames = clump.frames.iter().enumerate();
        frames.map(move |(index, frame)| {
            let mut row = vec![
                number.into(),
                index.into(),
                frame.name.clone().into(),
                frame.parent.into(),
                frame.node.as_ref().map(|node| node.id).into(),
            ];
            let place = &frame.placement;
            let vectors = [place.position, place.right, place.up, place.at];
            row.extend(vectors.into_iter().flatten().map(Value::from));
            row
        })
    });
    table(columns, rows)
}

/// Returns a row for each material of each geometry.
pub(super) fn materials(shown: &DffView) -> Rows<'_> {
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
    let rows = clumps(shown).flat_map(|(number, clump)| {
        let geometries = clump.geometries.iter().enumerate();
        geometries.flat_map(move |(at, geometry)| {
            let materials = geometry.materials.iter().enumerate();
            materials.map(move |(index, one)| material([number, at, index], one))
        })
    });
    Rows::new(columns, rows)
}

fn material(place: [usize; 3], material: &Material) -> [Value; 17] {
    let [clump, geometry, index] = place.map(Value::from);
    let [red, green, blue, alpha] = material.color.map(Value::from);
    let texture = material.texture.as_ref();
    let sampling = texture.map(|texture| texture.sampling);
    let address = |address: Option<u8>| Value::from(address.and_then(Sampling::address_name));
    let surface = |index: usize| Value::from(material.surface.map(|surface| surface[index]));
    let (coats, error) = coats(material);
    let coats = coats.iter().map(|coat| {
        let names = coat.names.iter().map(|name| format!(" {name}"));
        let intensity = coat.intensity.map(|value| format!(" {value}"));
        let parts = intensity.into_iter().chain(names);
        parts.fold(coat.kind.to_owned(), |text, part| text + &part)
    });
    [
        clump,
        geometry,
        index,
        red,
        green,
        blue,
        alpha,
        texture.map(|texture| texture.name.clone()).into(),
        texture.map(|texture| texture.mask.clone()).into(),
        sampling.and_then(Sampling::filter_name).into(),
        address(sampling.map(|one| one.address_u)),
        address(sampling.map(|one| one.address_v)),
        surface(0),
        surface(1),
        surface(2),
        coats.collect::<Vec<_>>().join("; ").into(),
        error.map(|error| error.to_string()).into(),
    ]
}

/// Returns the source of each texture of the materials.
pub(super) fn textures(shown: &DffView) -> Rows<'_> {
    let columns = ["index", "name", "txd", "file", "width", "height", "problem"];
    let textures = shown.plan.textures.iter().enumerate();
    let rows = textures.map(|(index, texture)| {
        let source = shown.sources[index].as_ref();
        let (size, problem) = match &texture.state {
            TextureState::Found { width, height, .. } => (Some([*width, *height]), None),
            TextureState::Missing => (None, Some("is in no dictionary".to_owned())),
            TextureState::Unreadable(why) => (None, Some(why.clone())),
        };
        [
            index.into(),
            texture.name.clone().into(),
            source.map(|source| source.dictionary.clone()).into(),
            shown.paths[index].clone().into(),
            size.map(|[width, _]| width).into(),
            size.map(|[_, height]| height).into(),
            problem.into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns the effects. Their fields depend on the type.
pub(super) fn effects(shown: &DffView) -> Rows<'_> {
    let columns = [
        "clump", "geometry", "index", "type", "x", "y", "z", "bytes", "fields",
    ];
    let effects = shown.model.effects.iter().enumerate();
    let rows = effects.map(|(index, effect)| {
        let kind = effect.kind_name().map(Value::from);
        let [x, y, z] = effect.position.map(Value::from);
        let fields = effect.fields.iter().map(|(name, value)| {
            let mut values = Vec::new();
            value
                .clone()
                .into_leaves(&mut |leaf| values.push(leaf.to_string()));
            format!("{name}={}", values.join(","))
        });
        [
            effect.clump.into(),
            effect.geometry.into(),
            index.into(),
            kind.unwrap_or(effect.kind.into()),
            x,
            y,
            z,
            effect.size.into(),
            fields.collect::<Vec<_>>().join(" ").into(),
        ]
    });
    Rows::new(columns, rows)
}

/// Returns a row for each material.
pub(super) fn breakables(shown: &DffView) -> Rows<'_> {
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
    let rows = shown.model.breakables.iter().flat_map(|breakable| {
        let pieces = breakable.pieces.iter().enumerate();
        pieces.map(|(index, piece)| {
            let [red, green, blue] = piece.ambient.map(Value::from);
            [
                breakable.clump.into(),
                breakable.geometry.into(),
                breakable.rule.into(),
                breakable.vertices.into(),
                breakable.triangles.into(),
                index.into(),
                piece.texture.clone().into(),
                piece.mask.clone().into(),
                red,
                green,
                blue,
            ]
        })
    });
    Rows::new(columns, rows)
}
