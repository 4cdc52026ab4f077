//! Interpretation of the paths of edited files.

use std::ops::Range;

use super::table::Place;
use crate::gaf::Gaf;
use crate::gaf::frames::TABLE;
use crate::gaf::names::{folder, frame_name};

/// Maximum number of a frame or sequence in a name.
const MAX_NUMBER: usize = 1 << 16;

/// Maximum number of missing numbers in a message.
const MAX_LISTED: usize = 10;

/// The meaning of an edited file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// The table of the frames.
    Table,
    /// A frame of the file.
    Frame(Place),
    /// A new frame, optionally in a new sequence with this name.
    Added(Place, Option<String>),
    Other,
}

/// Returns the kind of the file with this path.
pub(super) fn kind_of(gaf: &Gaf, path: &str) -> FileKind {
    if path == TABLE {
        return FileKind::Table;
    }
    let count = gaf.sequences.len();
    let found = path.split_once('/').and_then(|(directory, file)| {
        let frame = number(file.strip_suffix(".png")?)?;
        let (digits, name) = directory.split_once(' ').unwrap_or((directory, ""));
        let index = number(digits)?;
        let Some(sequence) = gaf.sequences.get(index) else {
            return Some(FileKind::Added((index, frame), Some(name.to_owned())));
        };
        if !folder(count, index, sequence).eq_ignore_ascii_case(directory) {
            return None;
        }
        match frame < sequence.len() {
            false => Some(FileKind::Added((index, frame), None)),
            true => {
                (frame_name(frame, sequence) == file).then_some(FileKind::Frame((index, frame)))
            }
        }
    });
    found.unwrap_or(FileKind::Other)
}

fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = is_number.then(|| digits.parse().ok())??;
    (number < MAX_NUMBER).then_some(number)
}

/// Returns the refusal of an item whose predecessor is missing, with the other missing
/// numbers before it. They have at least `width` digits.
pub(super) fn missing(
    what: &str,
    numbers: Range<usize>,
    is_there: impl Fn(&usize) -> bool,
    width: usize,
) -> Option<String> {
    let gap = numbers.rev().take_while(|number| !is_there(number));
    let mut numbers: Vec<usize> = gap.collect();
    numbers.reverse();
    let listed = numbers
        .iter()
        .take(MAX_LISTED)
        .map(|number| format!("{number:0width$}"));
    let listed: Vec<_> = listed.collect();
    let more = if numbers.len() > MAX_LISTED {
        " and more"
    } else {
        ""
    };
    match listed.as_slice() {
        [] => None,
        [one] => Some(format!(
            "needs the {what} {one} before it, which is missing"
        )),
        all => Some(format!(
            "needs the {what}s {}{more} before it, which are missing",
            all.join(", ")
        )),
    }
}
