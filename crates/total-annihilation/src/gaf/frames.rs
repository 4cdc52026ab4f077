//! The frames of a file as rows of a table.

use crate::gaf::{Frame, Gaf};
use hpimount_record::Value;

/// The name of the table.
pub(super) const TABLE: &str = "frames.tsv";

/// Columns of `frames.tsv`.
pub(super) const COLUMNS: [&str; 15] = [
    "sequence",
    "name",
    "frame",
    "width",
    "height",
    "x",
    "y",
    "ticks",
    "format",
    "layers",
    "key",
    "offset",
    "unknown_12",
    "unknown_20",
    "problem",
];

/// Returns the rows of `frames.tsv`.
pub(super) fn rows(gaf: &Gaf) -> impl Iterator<Item = [Value; COLUMNS.len()]> + use<'_> {
    gaf.sequences
        .iter()
        .enumerate()
        .flat_map(move |(index, sequence)| {
            sequence
                .frames()
                .enumerate()
                .map(move |(number, reference)| {
                    let frame = gaf.frame(reference);
                    let problem = frame.as_ref().err().map(ToString::to_string);
                    let frame = frame.ok();
                    let of = |field: fn(Frame) -> Value| frame.map_or(Value::Null, field);
                    [
                        index.into(),
                        sequence.name.clone().into(),
                        number.into(),
                        of(|frame| frame.width.into()),
                        of(|frame| frame.height.into()),
                        of(|frame| frame.x.into()),
                        of(|frame| frame.y.into()),
                        reference.ticks.into(),
                        of(|frame| frame.format.into()),
                        of(|frame| frame.layers.into()),
                        of(|frame| frame.key.into()),
                        reference.frame.into(),
                        of(|frame| frame.unknown_12.into()),
                        of(|frame| frame.unknown_20.into()),
                        problem.into(),
                    ]
                })
        })
}
