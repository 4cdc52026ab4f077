//! The names of the files that show sprites.

use crate::gaf::Sequence;
use crate::view::file_part;
use hpimount_assets::model::padded;

/// Returns the name of a sequence's folder and animation.
pub(super) fn folder(count: usize, index: usize, sequence: &Sequence) -> String {
    let number = padded(index, count, 3);
    match file_part(&sequence.name).as_str() {
        "" => number,
        name => format!("{number} {name}"),
    }
}

/// Returns the name of a frame's picture.
pub(super) fn frame_name(number: usize, sequence: &Sequence) -> String {
    format!("{}.png", padded(number, sequence.len(), 2))
}
