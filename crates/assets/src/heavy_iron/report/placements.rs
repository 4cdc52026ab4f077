//! `tables/placements.tsv`: the positions of everything in a level.

use std::io::{self, Write};

use crate::heavy_iron::archive::{Archive, Member};
use crate::heavy_iron::object::{Object, is_object};
use crate::heavy_iron::record::Value;
use crate::heavy_iron::tables::parse_marker;
use crate::heavy_iron::tables::view::sheet::add_floats;
use crate::view::{AssetContext, Table};

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

/// Writes the table, in the order of the archive.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let archive = Archive::new(context);
    let mut table = Table::new(out, &COLUMNS)?;
    for member in archive.of_type(is_placed) {
        let Some(placed) = placement_of(&archive, &member)? else {
            continue;
        };
        table.cell(format_args!("{:08X}", member.asset.id));
        table.text(&archive.name(&member)).text(&member.code());
        add_floats(&placed.position, &mut table);
        for triple in [placed.angles, placed.scale] {
            match triple {
                Some(values) => add_floats(&values, &mut table),
                None => (0..3).for_each(|_| {
                    table.cell("");
                }),
            }
        }
        archive.names().cells(placed.model, &mut table);
        table.end_row()?;
    }
    Ok(())
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
    /// Returns the position of an object; `None` without one.
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
