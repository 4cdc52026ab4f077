//! Writing a CD that a cue sheet describes with changes: of the file system in its
//! data track, which may grow. The tracks that follow it in the same file move, and
//! their times in the sheet with them.

use std::sync::Arc;

use super::track::Kind;
use super::{cue, track_bytes};
use crate::changes::{Job, Spliced, Weight, Written};
use crate::disc::{Form, Slice};
use crate::format::MAX_SHEET;
use crate::io::{Error, ReadAt, Result};
use crate::iso;

/// Writes the sheet and the files of its tracks.
pub(super) fn apply(job: &mut Job<'_>) -> Result<Written> {
    let refused = |text: &str| Err(Error::Unsupported(text.to_owned()));
    let sheet = job.input.bytes(0, MAX_SHEET)?;
    let tracks = cue::parse(&sheet)?;
    let Some(data) = tracks
        .iter()
        .position(|track| matches!(track.kind, Kind::Data(_)))
    else {
        return refused("has no data track, and audio tracks cannot be changed");
    };
    if data > 0 {
        return refused("has its data track behind others, and cannot be changed");
    }
    let track = &tracks[data];
    let is_same_file = |other: &str| other.eq_ignore_ascii_case(&track.file);
    let mut with_it = tracks.iter().filter(|other| is_same_file(&other.file));
    let step = track.step();
    if !with_it.all(|other| other.step() == step) {
        return refused("has tracks with sectors of different lengths in one file");
    }
    let (source, (start, end)) = track_bytes(job.input.partner, &tracks, data)?;
    let (len, end) = (source.len(), end.min(source.len()));
    let track_of_data: Arc<dyn ReadAt> = Arc::new(Slice::new(source.clone(), start..end));
    let form = Form::detect(&*track_of_data, 0)?;
    let form = form.filter(|form| form.step == step);
    let Some(form) = form else {
        return refused("has no ISO 9660 file system in its data track");
    };
    let changed = iso::splice(job, track_of_data, form)?;
    let grown = (changed.len() - (end - start)) / step;
    let mut file = Spliced::default();
    file.append(&source, 0..start);
    file.append_spliced(changed);
    file.append(&source, end..len);

    let moved = tracks[data + 1..]
        .iter()
        .filter(|other| is_same_file(&other.file))
        .count();
    let sheet = match grown > 0 && moved > 0 {
        true => {
            let text = format!(
                "the {moved} tracks behind the data move by {grown} sectors; a game that plays \
                 them by time plays others"
            );
            job.report.note(Weight::Risk, "", text);
            cue::moved(&sheet, &track.file, grown)?
        }
        false => sheet,
    };
    let mut files = vec![(track.file.clone(), file)];
    for other in tracks.iter().filter(|other| !is_same_file(&other.file)) {
        let is_known = files
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(&other.file));
        match (job.input.partner)(&other.file) {
            _ if is_known => {}
            Some(source) => {
                let mut whole = Spliced::default();
                whole.append_all(&source);
                files.push((other.file.clone(), whole));
            }
            None => {
                let text = format!("track {:02} is missing", other.number);
                job.report.note(Weight::Warning, &*other.file, text);
            }
        }
    }
    let mut data = Spliced::default();
    data.append_bytes(sheet);
    Ok(Written {
        files,
        ..Written::alone(data)
    })
}
