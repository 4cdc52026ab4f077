//! The names of the files that show sprites.

use crate::gaf::{Gaf, Reference, Sequence};
use crate::view::file_part;
use hpimount_assets::model::padded;
use hpimount_assets::view::ViewFile;

/// Returns the name of the folder of a sequence, and of its animation.
pub(super) fn folder(count: usize, index: usize, sequence: &Sequence) -> String {
    let number = padded(index, count, 3);
    match file_part(&sequence.name).as_str() {
        "" => number,
        name => format!("{number} {name}"),
    }
}

/// Returns the name of the picture of a frame.
pub(super) fn frame_name(number: usize, sequence: &Sequence) -> String {
    format!("{}.png", padded(number, sequence.len(), 2))
}

/// Returns the frame that a file shows alone.
pub(super) fn frame_of(gaf: &Gaf, file: &ViewFile) -> Option<Reference> {
    let count = gaf.sequences.len();
    let mut sequences = gaf.sequences.iter().enumerate();
    let (_, sequence) = sequences.find(|&(index, sequence)| {
        Some(&*folder(count, index, sequence)) == file.folder.as_deref()
    })?;
    let number = file.name.strip_suffix(".png")?.parse().ok()?;
    (frame_name(number, sequence) == file.name).then_some(sequence.get(number)?)
}
