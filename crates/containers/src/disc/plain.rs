//! Discs as plain files, as other programs read them: an image of user data, or a
//! cue sheet and the raw sectors of all tracks in one file.

use std::fmt::Write;
use std::sync::Arc;

use super::raw::Made;
use super::sector::{Form, MODE_2, RAW, SECTOR};
use crate::io::{Composed, ReadAt};

/// The mode of a track's sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Samples.
    Audio,
    /// Data of Mode 1.
    Mode1,
    /// Data of Mode 2.
    Mode2,
}

/// A track of a CD.
#[derive(Clone)]
pub(crate) struct PlainTrack {
    pub(crate) number: u8,
    pub(crate) mode: Mode,
    /// Its sectors of 2352 bytes, with the pregap that is stored.
    pub(crate) sectors: Arc<dyn ReadAt>,
    /// Number of sectors of the pregap in `sectors`.
    pub(crate) stored_gap: u64,
    /// Number of sectors of a pregap that is not stored, which are silent.
    pub(crate) silent_gap: u64,
    /// Lines for a cue sheet: in the first track about the disc, and about the track.
    pub(crate) of_sheet: Vec<String>,
    pub(crate) commands: Vec<String>,
}

/// Returns sectors of 2352 bytes made of sectors of `step` bytes: user data, or
/// Mode 2 from the subheaders on; others as they are. `first` is the number of the
/// first one on the disc.
pub(crate) fn raw_sectors(
    data: Arc<dyn ReadAt>,
    step: u64,
    mode: Mode,
    first: u64,
) -> Arc<dyn ReadAt> {
    match step {
        SECTOR | MODE_2 => Arc::new(Made {
            data,
            unit: step,
            first,
            is_mode_1: mode == Mode::Mode1,
        }),
        _ => data,
    }
}

/// A file with its name.
type Named = (String, Arc<dyn ReadAt>);

/// Returns a plain image of a disc; `stem` is the name of the file without its
/// extension.
pub(crate) fn iso(stem: &str, disc: &Arc<dyn ReadAt>) -> Vec<Named> {
    vec![(format!("{stem}.iso"), disc.clone())]
}

/// Returns a disc of one file: an image of user data as it is, or raw sectors with
/// a cue sheet.
pub(super) fn image(stem: &str, disc: &Arc<dyn ReadAt>) -> Vec<Named> {
    let form = Form::detect(&**disc, 0).ok().flatten();
    let Some(mode) = form.and_then(|form| form.cue_mode(&**disc)) else {
        return iso(stem, disc);
    };
    let sheet = format!(
        "{}  TRACK 01 {mode}\n    INDEX 01 00:00:00\n",
        file_line(stem)
    );
    cd(stem, sheet, disc.clone())
}

/// Returns a CD of these tracks: a cue sheet, and one file; nothing without tracks.
pub(super) fn tracks(stem: &str, tracks: &[PlainTrack]) -> Vec<Named> {
    if tracks.is_empty() {
        return Vec::new();
    }
    let mut sheet = String::new();
    for line in tracks.iter().flat_map(|track| &track.of_sheet) {
        sheet.push_str(line);
        sheet.push('\n');
    }
    sheet.push_str(&file_line(stem));
    let mut sectors = Composed::default();
    for track in tracks {
        let mode = match track.mode {
            Mode::Audio => "AUDIO",
            Mode::Mode1 => "MODE1/2352",
            Mode::Mode2 => "MODE2/2352",
        };
        let start = sectors.len() / RAW;
        let mut line = |text: String| {
            writeln!(sheet, "{text}").expect("writing to a String cannot fail");
        };
        line(format!("  TRACK {:02} {mode}", track.number));
        for command in &track.commands {
            line(format!("    {command}"));
        }
        if track.silent_gap > 0 {
            line(format!("    PREGAP {}", time(track.silent_gap)));
        }
        if track.stored_gap > 0 {
            line(format!("    INDEX 00 {}", time(start)));
        }
        line(format!("    INDEX 01 {}", time(start + track.stored_gap)));
        sectors.append_all(&track.sectors);
    }
    cd(stem, sheet, Arc::new(sectors))
}

fn cd(stem: &str, sheet: String, sectors: Arc<dyn ReadAt>) -> Vec<Named> {
    let sheet: Arc<dyn ReadAt> = Arc::new(sheet.into_bytes());
    vec![
        (format!("{stem}.cue"), sheet),
        (format!("{}.bin", in_quotes(stem)), sectors),
    ]
}

fn file_line(stem: &str) -> String {
    format!("FILE \"{}.bin\" BINARY\n", in_quotes(stem))
}

/// Returns a name that can stand in quotes.
fn in_quotes(stem: &str) -> String {
    stem.replace('"', "_")
}

/// A track of a Dreamcast disc, in a file of its own.
#[derive(Clone)]
pub(crate) struct GdTrack {
    pub(crate) number: u8,
    /// Number of its first sector on the disc.
    pub(crate) sector: u64,
    pub(crate) is_audio: bool,
    /// Length of its sectors in bytes.
    pub(crate) step: u64,
    pub(crate) sectors: Arc<dyn ReadAt>,
}

/// Returns a Dreamcast disc: its description, and a file for each track; nothing if there
/// are sectors that a description has no name for.
pub(super) fn gd(stem: &str, tracks: &[GdTrack]) -> Vec<Named> {
    if tracks
        .iter()
        .any(|track| !matches!(track.step, SECTOR | RAW))
    {
        return Vec::new();
    }
    let mut sheet = format!("{}\n", tracks.len());
    let mut files = Vec::with_capacity(tracks.len() + 1);
    for track in tracks {
        let (kind, extension) = match track.is_audio {
            true => (0, "raw"),
            false => (4, "bin"),
        };
        let name = format!("track{:02}.{extension}", track.number);
        let GdTrack {
            number,
            sector,
            step,
            ..
        } = track;
        writeln!(sheet, "{number} {sector} {kind} {step} {name} 0")
            .expect("writing to a String cannot fail");
        files.push((name, track.sectors.clone()));
    }
    let sheet: Arc<dyn ReadAt> = Arc::new(sheet.into_bytes());
    files.insert(0, (format!("{stem}.gdi"), sheet));
    files
}

/// Returns a number of sectors as minutes, seconds and frames.
pub(crate) fn time(sectors: u64) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        sectors / 75 / 60,
        sectors / 75 % 60,
        sectors % 75
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_the_gaps_of_tracks_that_are_stored_and_those_that_are_not() {
        let sectors = |count: u64| -> Arc<dyn ReadAt> { Arc::new(vec![1; (count * RAW) as usize]) };
        let track = |number, mode, count, stored_gap, silent_gap| PlainTrack {
            number,
            mode,
            sectors: sectors(count),
            stored_gap,
            silent_gap,
            of_sheet: match number {
                1 => vec!["REM a disc".to_owned()],
                _ => Vec::new(),
            },
            commands: vec![format!("TITLE {number}")],
        };
        let disc = [
            track(1, Mode::Mode2, 80, 0, 0),
            track(2, Mode::Audio, 200, 150, 0),
            track(3, Mode::Audio, 10, 0, 75),
        ];
        let files = tracks("a \"b\"", &disc);
        assert_eq!((&*files[0].0, &*files[1].0), ("a \"b\".cue", "a _b_.bin"));
        let mut sheet = vec![0; files[0].1.len() as usize];
        files[0].1.read_exact_at(&mut sheet, 0).unwrap();
        let expected = "REM a disc\nFILE \"a _b_.bin\" BINARY\n\
            \x20 TRACK 01 MODE2/2352\n    TITLE 1\n    INDEX 01 00:00:00\n\
            \x20 TRACK 02 AUDIO\n    TITLE 2\n    INDEX 00 00:01:05\n    INDEX 01 00:03:05\n\
            \x20 TRACK 03 AUDIO\n    TITLE 3\n    PREGAP 00:01:00\n    INDEX 01 00:03:55\n";
        assert_eq!(String::from_utf8(sheet).unwrap(), expected);
        assert_eq!(files[1].1.len(), 290 * RAW);
    }

    #[test]
    fn raw_sectors_are_made_of_what_a_track_has() {
        let data: Arc<dyn ReadAt> = Arc::new(vec![7; 4096]);
        let raw = |mode| {
            let sectors = raw_sectors(data.clone(), SECTOR, mode, 0);
            let mut bytes = vec![0; sectors.len() as usize];
            sectors.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        let (one, two) = (raw(Mode::Mode1), raw(Mode::Mode2));
        assert_eq!((one.len(), two.len()), (2 * RAW as usize, 2 * RAW as usize));
        // The addresses begin at two seconds.
        assert_eq!(one[12..16], [0, 2, 0, 1]);
        assert_eq!(
            two[RAW as usize..][12..24],
            [0, 2, 1, 2, 0, 0, 8, 0, 0, 0, 8, 0]
        );
        assert_eq!((one[16], two[24]), (7, 7));
        // Bare frames are left as they are.
        assert_eq!(raw_sectors(data.clone(), RAW, Mode::Mode1, 0).len(), 4096);
    }
}
