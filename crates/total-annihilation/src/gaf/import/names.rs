//! What the paths of edited files stand for.

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
    let found = path.split_once('/').and_then(|(directory, name)| {
        let digits = name.strip_suffix(".png")?;
        let frame = number(digits)?;
        let mut sequences = gaf.sequences.iter().enumerate();
        let sequence = sequences.find(|&(index, sequence)| {
            folder(count, index, sequence).eq_ignore_ascii_case(directory)
        });
        if let Some((index, sequence)) = sequence {
            let is_old = frame < sequence.len() && frame_name(frame, sequence) == name;
            return match is_old {
                true => Some(FileKind::Frame((index, frame))),
                false if frame < sequence.len() => None,
                false => Some(FileKind::Added((index, frame), None)),
            };
        }
        let (digits, name) = directory.split_once(' ').unwrap_or((directory, ""));
        let sequence = number(digits).filter(|&number| number >= count)?;
        Some(FileKind::Added((sequence, frame), Some(name.to_owned())))
    });
    found.unwrap_or(FileKind::Other)
}

fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = is_number.then(|| digits.parse().ok())??;
    (number < MAX_NUMBER).then_some(number)
}

/// Returns the reason that these numbers are missing, which have at least `width` digits.
pub(super) fn missing(what: &str, numbers: &[usize], width: usize) -> String {
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
        [one] => format!("needs the {what} {one} before it, which is missing"),
        all => format!(
            "needs the {what}s {}{more} before it, which are missing",
            all.join(", ")
        ),
    }
}
