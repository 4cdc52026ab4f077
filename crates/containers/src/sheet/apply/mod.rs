//! Writing discs whose tracks are in other files than their description with changes
//! of their file systems.

pub(super) mod cue;
pub(super) mod gdi;

use crate::changes::{Composed, FindPartner, Job, Weight, Written};

/// Returns a changed disc of a description and the files of its tracks.
fn written(sheet: Vec<u8>, files: Vec<(String, Composed)>) -> Written {
    Written {
        files,
        ..Written::alone(Composed::of_bytes(sheet))
    }
}

/// Adds the files of tracks as they are, given their numbers and the names of their
/// files, unless they are in `files` already.
fn add_other_files<'t>(
    find: FindPartner<'_>,
    job: &mut Job<'_>,
    tracks: impl Iterator<Item = (u8, &'t str)>,
    files: &mut Vec<(String, Composed)>,
) {
    for (number, file) in tracks {
        if files
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(file))
        {
            continue;
        }
        match find(file) {
            Some(source) => files.push((file.to_owned(), Composed::whole(&source))),
            None => {
                let text = format!("track {number:02} is missing");
                job.report.note(Weight::Warning, file, text);
            }
        }
    }
}
