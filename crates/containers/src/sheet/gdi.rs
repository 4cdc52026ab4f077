//! Descriptions of Dreamcast discs, `.gdi`: a line for each track, whose sectors
//! are in a file of their own. A block image has the same tracks in its metadata.

use std::sync::Arc;

use super::dreamcast::{self, AREA, SECTORS};
use super::track::MAX_TRACKS;
use crate::disc::plain::GdTrack;
use crate::disc::sector::{RAW, SECTOR};
use crate::disc::{Disc, Slice};
use crate::format::{Format, Input, MAX_SHEET};
use crate::io::{Error, ReadAt, Result, Warnings};
use crate::text::Charset;
use crate::volume::{DiscImage, Part, Sink, Volume};

/// How these descriptions are detected and opened.
pub const FORMAT: Format = Format {
    name: "GDI",
    extensions: &["gdi"],
    ambiguous: &[],
    pair: None,
    sheet: Some(sheet_files),
    types: &[],
    matches,
    open,
    apply: None,
    is_plain_folder: true,
    is_layered: false,
};

/// A line of a description.
struct Line {
    number: u8,
    /// Number of the first sector on the disc.
    sector: u64,
    is_audio: bool,
    /// Length of the sectors in bytes.
    step: u64,
    /// Name of the file, without directories.
    file: String,
    /// Offset of the first sector in the file.
    offset: u64,
}

fn matches(input: &Input<'_>) -> Result<bool> {
    if dreamcast::is_in(input.tracks) {
        return Ok(true);
    }
    if input.source.len() > MAX_SHEET {
        return Ok(false);
    }
    Ok(parse(&input.bytes(0, MAX_SHEET)?).is_some())
}

/// Returns the names of the files of the tracks.
fn sheet_files(sheet: &[u8]) -> Vec<String> {
    let tracks = parse(sheet).unwrap_or_default();
    tracks.into_iter().map(|line| line.file).collect()
}

/// Returns the tracks; `None` if the text is not such a description.
fn parse(sheet: &[u8]) -> Option<Vec<Line>> {
    let text = Charset::Utf8.decode(sheet);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let count: usize = lines.next()?.trim().parse().ok()?;
    let tracks: Option<Vec<_>> = lines.map(line).collect();
    tracks.filter(|tracks| tracks.len() == count && (1..=MAX_TRACKS).contains(&count))
}

/// Parses a line: number, first sector, kind (0 or 4), length of a sector, file,
/// offset in it.
fn line(line: &str) -> Option<Line> {
    let line = line.trim();
    let mut words = line.splitn(5, char::is_whitespace);
    let number = words.next()?.parse().ok()?;
    let sector = words
        .next()?
        .parse()
        .ok()
        .filter(|&sector| sector < SECTORS)?;
    let kind: u8 = words.next()?.parse().ok()?;
    let step: u64 = words.next()?.parse().ok()?;
    let (file, offset) = words.next()?.trim().rsplit_once(char::is_whitespace)?;
    let file = file.trim().trim_matches('"');
    let file = file.rsplit(['/', '\\']).next()?;
    let is_audio = match (kind, step) {
        (0, RAW) => true,
        (4, SECTOR | RAW) => false,
        _ => return None,
    };
    Some(Line {
        number,
        sector,
        is_audio,
        step,
        file: file.to_owned(),
        offset: offset.parse().ok()?,
    })
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    if dreamcast::is_in(input.tracks) {
        return dreamcast::open_image(&input, sink);
    }
    let lines = parse(&input.bytes(0, MAX_SHEET)?).ok_or(Error::UnknownFormat)?;
    let (mut tracks, mut images) = (Vec::new(), Vec::new());
    let mut warnings = Warnings::default();
    for line in &lines {
        let Some(source) = (input.partner)(&line.file) else {
            let text = format!("track {:02}: {} is missing", line.number, line.file);
            if !line.is_audio && line.sector >= AREA {
                return Err(Error::Unsupported(text));
            }
            warnings.push(text);
            continue;
        };
        tracks.push(line.track(source.clone()));
        images.push(DiscImage {
            file: Some(line.file.clone()),
            part: Part::Whole,
            bytes: source,
        });
    }
    images.dedup_by(|next, last| next.file == last.file);
    let mut disc = Disc::new(images);
    if tracks.len() == lines.len() {
        disc.gd_tracks_are(tracks.clone());
    }
    dreamcast::open(disc, &tracks, &input, warnings, sink)
}

impl Line {
    /// Returns the track in its file.
    fn track(&self, file: Arc<dyn ReadAt>) -> GdTrack {
        let end = file.len();
        GdTrack {
            number: self.number,
            sector: self.sector,
            is_audio: self.is_audio,
            step: self.step,
            sectors: Arc::new(Slice::new(file, self.offset..end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &[u8] = b"3\r\n1 0 4 2352 track01.bin 0\r\n2 756 0 2352 \"track 02.raw\" 0\r\n\
        3 45000 4 2048 d\\track03.bin 16\r\n";

    #[test]
    fn a_line_has_the_place_and_the_file_of_a_track() {
        let tracks = parse(SHEET).unwrap();
        assert_eq!(
            sheet_files(SHEET),
            ["track01.bin", "track 02.raw", "track03.bin"]
        );
        let kinds = tracks.iter().map(|line| (line.is_audio, line.step));
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(kinds, [(false, RAW), (true, RAW), (false, SECTOR)]);
        assert_eq!((tracks[2].sector, tracks[2].offset), (45_000, 16));
    }

    #[test]
    fn other_texts_are_not_descriptions() {
        for text in [
            &b""[..],
            b"3\n",
            b"2\n1 0 4 2352 a.bin 0\n",
            b"1\n1 0 7 2352 a.bin 0\n",
            b"1\n1 0 4 2000 a.bin 0\n",
            b"1\n1 549150 4 2352 a.bin 0\n",
            b"1\n1 0 4 2352 a.bin\n",
            b"one\n",
        ] {
            assert!(parse(text).is_none(), "{}", text.escape_ascii());
        }
    }
}
