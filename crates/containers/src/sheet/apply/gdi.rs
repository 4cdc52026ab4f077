//! Writing a Dreamcast disc that a `.gdi` describes with changes of the file system in
//! its second area. That may be in several tracks with others between them. Only the
//! last one becomes longer, and none moves, so that the description stays as it is.

use std::ops::Range;
use std::sync::Arc;

use super::{add_other_files, written};
use crate::changes::{Composed, FindPartner, Job, Written};
use crate::disc::Form;
use crate::format::{Input, MAX_SHEET};
use crate::io::{Error, ReadAt, Result};
use crate::iso::{self, Space};
use crate::sheet::gdi::{AREA, Line, SECTORS, parse};

/// Writes the description and the files of the tracks.
pub(in crate::sheet) fn apply(input: &Input<'_>, job: &mut Job<'_>) -> Result<Written> {
    let sheet = input.bytes(0, MAX_SHEET)?;
    let lines = parse(&sheet).ok_or(Error::UnknownFormat)?;
    let area = Area::new(&lines, input.partner)?;
    let changed = iso::splice(job, area.space())?;
    let mut files = area.divided(changed);
    let names = lines.iter().map(|line| (line.number, &*line.file));
    add_other_files(input.partner, job, names, &mut files);
    Ok(written(sheet, files))
}

/// The tracks with the file system.
struct Area {
    /// In the order of their sectors; there is at least one.
    tracks: Vec<Track>,
    /// The form of the sectors of all of them.
    form: Form,
    /// The sector after the last one that the last track can have.
    limit: u64,
}

/// A track in its file.
struct Track {
    name: String,
    file: Arc<dyn ReadAt>,
    /// Number of its first sector on the disc.
    first: u64,
    /// Its bytes in the file, up to the next track of data.
    bytes: Range<u64>,
}

impl Area {
    /// Finds the tracks.
    fn new(lines: &[Line], find: FindPartner<'_>) -> Result<Self> {
        let mut data: Vec<&Line> = lines.iter().filter(|line| line.has_files()).collect();
        data.sort_by_key(|line| line.sector);
        let refused = |text: &str| Error::Unsupported(text.to_owned());
        let (Some(first), Some(last)) = (data.first(), data.last()) else {
            return Err(refused(&format!("has no data from sector {AREA} on")));
        };
        if data.iter().any(|line| line.step != first.step) {
            let text = "has data tracks with sectors of different lengths, and cannot be \
                        changed: convert them to sectors of 2352 bytes";
            return Err(refused(text));
        }
        let is_alone = |line: &&Line| {
            let of_file = lines.iter().filter(|other| other.is_in(&line.file));
            of_file.count() == 1
        };
        if !data.iter().all(is_alone) {
            let text = "has several tracks in one file, and cannot be changed: write each \
                        track to a file of its own";
            return Err(refused(text));
        }
        let next = data.iter().skip(1).map(|line| line.sector);
        let tracks = data.iter().zip(next.chain([SECTORS]));
        let tracks = tracks.map(|(line, next)| Track::new(line, next, find));
        let behind = lines.iter().map(|line| line.sector);
        let behind = behind.filter(|&sector| sector > last.sector);
        Ok(Self {
            tracks: tracks.collect::<Result<_>>()?,
            form: Form::of_step(first.step),
            limit: behind.min().unwrap_or(SECTORS),
        })
    }

    /// Returns the sectors of the disc up to the end of the last track. Those outside
    /// these tracks cannot be written.
    fn space(&self) -> Space {
        let step = self.form.step;
        let mut source = Composed::default();
        let mut gaps = Vec::with_capacity(self.tracks.len());
        for track in &self.tracks {
            // The last sector may be truncated.
            gaps.push(source.len() / step..track.first);
            source.append_fill(0, track.first * step - source.len());
            source.append(&track.file, track.bytes.clone());
        }
        Space {
            source: Arc::new(source),
            form: self.form,
            first: self.tracks[0].first,
            gaps,
            limit: Some(self.limit),
        }
    }

    /// Returns the files of the tracks, given the changed sectors of the disc.
    fn divided(self, mut changed: Composed) -> Vec<(String, Composed)> {
        let mut files = Vec::with_capacity(self.tracks.len());
        let mut is_last = true;
        for track in self.tracks.into_iter().rev() {
            let mut own = changed.split_off(track.first * self.form.step);
            if !is_last {
                own.truncate(track.bytes.end - track.bytes.start);
            }
            is_last = false;
            let mut file = Composed::default();
            file.append(&track.file, 0..track.bytes.start);
            file.append_composed(own);
            file.append(&track.file, track.bytes.end..track.file.len());
            files.push((track.name, file));
        }
        files.reverse();
        files
    }
}

impl Track {
    /// Returns the track of a line up to the sector `next`.
    fn new(line: &Line, next: u64, find: FindPartner<'_>) -> Result<Self> {
        let file = find(&line.file).ok_or_else(|| line.missing())?;
        let start = line.offset.min(file.len());
        let longest = (next - line.sector) * line.step;
        Ok(Self {
            name: line.file.clone(),
            first: line.sector,
            bytes: start..file.len().min(start.saturating_add(longest)),
            file,
        })
    }
}
