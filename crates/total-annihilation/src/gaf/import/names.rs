//! What the paths of edited files stand for.

use std::ops::Range;

use super::table::Place;
use crate::gaf::Gaf;
use crate::gaf::frames::TABLE;
use crate::gaf::names::{folder, frame_name};

/// Maximum number of frames and sequences that a name may stand for.
const MAX_NUMBER: usize = 1 << 16;

/// Maximum number of missing numbers that a message lists.
const MAX_LISTED: usize = 10;

/// What an edited file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// The table of the frames.
    Table,
    /// A frame of the file.
    Frame(Place),
    /// A frame that the file does not have, maybe in a new sequence with this name.
    Added(Place, Option<String>),
    Other,
}

/// Returns what the file with this path is.
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

/// Returns the reason to refuse what follows some numbers if the last of them is missing,
/// with those before it that are missing too. They have at least `width` digits.
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
