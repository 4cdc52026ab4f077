//! `tables/placements.tsv` and `tables/placements.png`: the positions of everything
//! in a level.

use std::io::{self, Write};

use crate::archive::{Archive, Member};
use crate::object::{Object, is_object};
use crate::record::Value;
use crate::tables::parse_marker;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::{Picture, Pixels, png};
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_record::Value as Cell;

const COLUMNS: [&str; 14] = [
    "id",
    "name",
    "type",
    "x",
    "y",
    "z",
    "yaw",
    "pitch",
    "roll",
    "scale_x",
    "scale_y",
    "scale_z",
    "model",
    "model_name",
];

/// Returns whether assets of a type may have a position.
pub(super) fn is_placed(code: [u8; 4]) -> bool {
    is_object(code) || code == *b"MRKR"
}

/// Sends the table in archive order.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    out.columns(&COLUMNS)?;
    for member in archive.of_type(is_placed) {
        let Some(placed) = placement_of(&archive, &member)? else {
            continue;
        };
        let mut row = Vec::from(archive.key_and_type(&member));
        let triples = [Some(placed.position), placed.angles, placed.scale];
        row.extend(triples.into_iter().flat_map(parts));
        row.extend(archive.names().pair(placed.model));
        out.row(row)?;
    }
    Ok(())
}

/// Returns the cells of three numbers, which may be missing.
pub(super) fn parts(vector: Option<[f32; 3]>) -> [Cell; 3] {
    vector.map_or([const { Cell::Null }; 3], |vector| vector.map(Cell::from))
}

/// Width and height of the map, its margin, and the width of a dot, in pixels.
const EDGE: usize = 256;
const MARGIN: usize = 8;
const DOT: usize = 3;

/// Writes a map: a dot for each position seen from above, with x to the right and
/// z down, in a color for each type.
pub(super) fn map(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let archive = Archive::new(context);
    let mut places = Vec::new();
    for member in archive.of_type(is_placed) {
        if let Some(placed) = placement_of(&archive, &member)? {
            let [x, _, z] = placed.position.map(finite);
            places.push((member.asset.code, [x, z]));
        }
    }
    let ends = |axis: usize, pick: fn(f32, f32) -> f32| {
        let places = places.iter().map(|(_, place)| place[axis]);
        places.reduce(pick).unwrap_or_default()
    };
    let least = [ends(0, f32::min), ends(1, f32::min)];
    let most = [ends(0, f32::max), ends(1, f32::max)];
    let sizes = [most[0] - least[0], most[1] - least[1]];
    let inner = (EDGE - 2 * MARGIN - DOT) as f32;
    let scale = inner / sizes[0].max(sizes[1]).max(1e-6);
    let mut pixels = vec![[0; 4]; EDGE * EDGE];
    for (code, place) in &places {
        let [left, top] = [0, 1].map(|axis| {
            let empty = (inner - sizes[axis] * scale) / 2.0;
            MARGIN + ((place[axis] - least[axis]) * scale + empty) as usize
        });
        for row in pixels.chunks_mut(EDGE).skip(top).take(DOT) {
            row[left..left + DOT].fill(color_of(*code));
        }
    }
    let picture = Picture {
        width: EDGE as u32,
        height: EDGE as u32,
        pixels: Pixels::Rgba(pixels),
    };
    png::write(&picture, out)
}

/// Returns the color of a type, one of 125 bright colors.
fn color_of(code: [u8; 4]) -> [u8; 4] {
    let sum = code
        .iter()
        .fold(0_usize, |sum, &letter| 31 * sum + usize::from(letter));
    let part = |divisor: usize| 75 + 45 * (sum / divisor % 5) as u8;
    [part(1), part(5), part(25), 255]
}

/// The placement of an object.
pub(super) struct Placed {
    pub(super) position: [f32; 3],
    /// Yaw, pitch and roll in radians.
    pub(super) angles: Option<[f32; 3]>,
    pub(super) scale: Option<[f32; 3]>,
    /// Id of its model, 0 for none.
    pub(super) model: u32,
}

impl Placed {
    /// Returns the position of an object, or `None` without a position.
    pub(super) fn of(object: &Object) -> Option<Self> {
        let vector = |name| match object.field(name) {
            Some(Value::Vec3(vector)) => Some(vector),
            _ => None,
        };
        let model = match object.field("model") {
            Some(Value::Id(id)) => id,
            _ => 0,
        };
        Some(Self {
            position: vector("pos").or_else(|| vector("center"))?,
            angles: vector("ang"),
            scale: vector("scale"),
            model,
        })
    }
}

fn placement_of(archive: &Archive<'_>, member: &Member) -> io::Result<Option<Placed>> {
    if member.asset.code != *b"MRKR" {
        return Ok(archive.object(member)?.as_ref().and_then(Placed::of));
    }
    let facts = member.origin().facts;
    let bytes = archive.read(member)?;
    let marker = bytes.and_then(|bytes| parse_marker(&bytes, &facts).ok());
    let position = marker.and_then(|marker| marker.position);
    Ok(position.map(|position| Placed {
        position,
        angles: None,
        scale: None,
        model: 0,
    }))
}
