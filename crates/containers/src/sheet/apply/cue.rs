//! Writing a CD that a cue sheet describes with changes: of the file system in its
//! data track, which may grow. The tracks that follow it in the same file move, and
//! their times in the sheet with them.

use std::sync::Arc;

use super::{add_other_files, written};
use crate::changes::{Composed, FindPartner, Job, Weight, Written};
use crate::disc::Form;
use crate::format::{Input, MAX_SHEET};
use crate::io::{Error, ReadAt, Result};
use crate::iso::{self, Space};
use crate::sheet::track::{Kind, Track};
use crate::sheet::{cue, track_bytes};

/// Writes the sheet and the files of its tracks.
pub(in crate::sheet) fn apply(input: &Input<'_>, job: &mut Job<'_>) -> Result<Written> {
    let sheet = input.bytes(0, MAX_SHEET)?;
    let tracks = cue::parse(&sheet)?;
    let track = data_track(&tracks)?;
    let (file, grown) = changed_file(input.partner, job, &tracks)?;
    let sheet = match tracks_behind(&tracks) {
        moved @ 1.. if grown > 0 => {
            let text = format!(
                "the {moved} tracks behind the data move by {grown} sectors; a game that plays \
                 them by time plays others"
            );
            job.report.note(Weight::Risk, "", text);
            cue::moved(&sheet, &track.file, grown)?
        }
        _ => sheet,
    };
    let mut files = vec![(track.file.clone(), file)];
    let names = tracks.iter().map(|track| (track.number, &*track.file));
    add_other_files(input.partner, job, names, &mut files);
    Ok(written(sheet, files))
}

/// Returns the track with the file system, which is the first one.
fn data_track(tracks: &[Track]) -> Result<&Track> {
    let refused = |text: &str| Err(Error::Unsupported(text.to_owned()));
    let is_data = |track: &Track| matches!(track.kind, Kind::Data(_));
    match tracks.iter().position(is_data) {
        Some(0) => {}
        Some(_) => return refused("has its data track behind others, and cannot be changed"),
        None => return refused("has no data track, and audio tracks cannot be changed"),
    }
    let track = &tracks[0];
    let mut with_it = tracks.iter().filter(|other| is_in_file(other, &track.file));
    match with_it.all(|other| other.step() == track.step()) {
        true => Ok(track),
        false => refused("has tracks with sectors of different lengths in one file"),
    }
}

fn is_in_file(track: &Track, file: &str) -> bool {
    track.file.eq_ignore_ascii_case(file)
}

/// Returns the number of tracks behind the first one in its file.
fn tracks_behind(tracks: &[Track]) -> usize {
    let behind = tracks.iter().skip(1);
    behind
        .filter(|track| is_in_file(track, &tracks[0].file))
        .count()
}

/// Returns the file of the first track with the changes in it, and how many sectors
/// longer that track is.
fn changed_file(
    find: FindPartner<'_>,
    job: &mut Job<'_>,
    tracks: &[Track],
) -> Result<(Composed, u64)> {
    let step = tracks[0].step();
    let (source, (start, end)) = track_bytes(find, tracks, 0)?;
    let (len, end) = (source.len(), end.min(source.len()));
    let track: Arc<dyn ReadAt> = Arc::new(Composed::part(&source, start..end));
    let form = Form::detect(&*track, 0)?.filter(|form| form.step == step);
    let no_file_system = || {
        let text = "has no ISO 9660 file system in its data track";
        Error::Unsupported(text.to_owned())
    };
    let space = Space::whole(track, form.ok_or_else(no_file_system)?);
    let changed = iso::splice(job, space)?;
    let grown = (changed.len() - (end - start)) / step;
    let mut file = Composed::default();
    file.append(&source, 0..start);
    file.append_composed(changed);
    file.append(&source, end..len);
    Ok((file, grown))
}
