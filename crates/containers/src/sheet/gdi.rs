//! Descriptions of Dreamcast discs, `.gdi`: a line for each track, whose sectors
//! are in a file of their own.

use std::sync::Arc;

use super::cue::{base_name, edited};
use super::track::MAX_TRACKS;
use crate::disc::plain::GdTrack;
use crate::disc::sector::{RAW, SECTOR};
use crate::io::{Composed, Error, ReadAt};
use crate::text::Charset;

/// First sector of the area with the file system.
pub(super) const AREA: u64 = 45_000;

/// Sectors of a disc at most.
pub(super) const SECTORS: u64 = 549_150;

/// A line of a description.
pub(super) struct Line {
    pub(super) number: u8,
    /// Number of the first sector on the disc.
    pub(super) sector: u64,
    is_audio: bool,
    /// Length of the sectors in bytes.
    pub(super) step: u64,
    /// Name of the file, without directories.
    pub(super) file: String,
    /// Offset of the first sector in the file.
    pub(super) offset: u64,
}

/// Returns the tracks; `None` if the text is not such a description.
pub(super) fn parse(sheet: &[u8]) -> Option<Vec<Line>> {
    let text = Charset::Utf8.decode(sheet);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let count: usize = lines.next()?.trim().parse().ok()?;
    let tracks: Option<Vec<_>> = lines.map(line).collect();
    tracks.filter(|tracks| tracks.len() == count && (1..=MAX_TRACKS).contains(&count))
}

/// The words of a line: number, first sector, kind (0 or 4) and length of a sector;
/// the file as it is written; and the offset in it.
struct Words<'l> {
    numbers: [&'l str; 4],
    file: &'l str,
    offset: &'l str,
}

fn words(line: &str) -> Option<Words<'_>> {
    let mut rest = line.trim();
    let mut next = || {
        let (word, after) = rest.split_once(char::is_whitespace)?;
        rest = after.trim_start();
        Some(word)
    };
    let numbers = [next()?, next()?, next()?, next()?];
    let (file, offset) = rest.rsplit_once(char::is_whitespace)?;
    Some(Words {
        numbers,
        file: file.trim_end(),
        offset,
    })
}

/// Parses a line.
fn line(line: &str) -> Option<Line> {
    let Words {
        numbers: [number, sector, kind, step],
        file,
        offset,
    } = words(line)?;
    let number = number.parse().ok()?;
    let sector = sector.parse().ok().filter(|&sector| sector < SECTORS)?;
    let kind: u8 = kind.parse().ok()?;
    let step: u64 = step.parse().ok()?;
    let file = base_name(file.trim_matches('"'));
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

/// Returns a description with other names of its files.
pub(super) fn renamed(sheet: &[u8], rename: impl Fn(&str) -> String) -> Vec<u8> {
    edited(sheet, |line| {
        let file = words(line)?.file;
        let new = rename(base_name(file.trim_matches('"'))).replace('"', "_");
        let is_quoted = file.starts_with('"') || new.contains(char::is_whitespace);
        Some((file, if is_quoted { format!("\"{new}\"") } else { new }))
    })
}

impl Line {
    /// Returns whether the track has the files of the disc.
    pub(super) fn has_files(&self) -> bool {
        !self.is_audio && self.sector >= AREA
    }

    /// Returns whether the track is in this file.
    pub(super) fn is_in(&self, file: &str) -> bool {
        self.file.eq_ignore_ascii_case(file)
    }

    /// Returns the error that the file is missing.
    pub(super) fn missing(&self) -> Error {
        Error::Unsupported(format!(
            "track {:02}: {} is missing",
            self.number, self.file
        ))
    }

    /// Returns the track in its file.
    pub(super) fn track(&self, file: Arc<dyn ReadAt>) -> GdTrack {
        let end = file.len();
        GdTrack {
            number: self.number,
            sector: self.sector,
            is_audio: self.is_audio,
            step: self.step,
            sectors: Arc::new(Composed::part(&file, self.offset..end)),
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
        let files: Vec<_> = tracks.iter().map(|line| &*line.file).collect();
        assert_eq!(files, ["track01.bin", "track 02.raw", "track03.bin"]);
        let kinds = tracks.iter().map(|line| (line.is_audio, line.step));
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(kinds, [(false, RAW), (true, RAW), (false, SECTOR)]);
        assert_eq!((tracks[2].sector, tracks[2].offset), (45_000, 16));
    }

    #[test]
    fn columns_may_be_aligned_and_files_renamed() {
        let aligned = b"2\n1     0 4 2352 track01.bin  0\n 2  45000 4 2352 \"a b.bin\" 0\n";
        let tracks = parse(aligned).unwrap();
        assert_eq!((tracks[1].sector, &*tracks[1].file), (45_000, "a b.bin"));
        let renamed = renamed(aligned, |name| format!("new {name}"));
        let expected = String::from_utf8_lossy(aligned)
            .replace("track01.bin", "\"new track01.bin\"")
            .replace("a b.bin", "new a b.bin");
        assert_eq!(String::from_utf8_lossy(&renamed), expected);
        // The directories of another computer are left out.
        let renamed = super::renamed(SHEET, str::to_owned);
        let expected = String::from_utf8_lossy(SHEET).replace("d\\", "");
        assert_eq!(String::from_utf8_lossy(&renamed), expected);
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
