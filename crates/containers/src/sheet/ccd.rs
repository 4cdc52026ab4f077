//! Descriptions of discs by CloneCD, `.ccd`: the raw sectors are in the file with
//! the extension `.img`, and their subchannels in one with `.sub`, which is not
//! used.

use std::collections::BTreeMap;

use super::track::{Kind, Track};
use super::{begin_of, described, open_described};
use crate::disc::plain::Mode;
use crate::disc::sector::RAW;
use crate::format::{Format, Input, MAX_SHEET, Pair};
use crate::io::{Error, Result};
use crate::text::has_extension;
use crate::volume::{Sink, Volume};

/// The format of these descriptions.
pub const FORMAT: Format = described("CCD", PAIR, matches, open);

/// The two files.
const PAIR: Pair = Pair {
    data: "img",
    directory: "ccd",
};

/// First section of a description.
const FIRST: &[u8] = b"[CloneCD]";

/// The bit of `Control` that marks a track with data.
const DATA: u64 = 4;

fn matches(input: &Input<'_>) -> Result<bool> {
    let is_data = has_extension(input.options.name.as_bytes(), PAIR.data);
    // On a server, looking for another file takes a few requests.
    if is_data && !input.source.len().is_multiple_of(RAW) {
        return Ok(false);
    }
    let begin = begin_of(input, &PAIR, FIRST)?;
    Ok(begin.is_some_and(|begin| begin.eq_ignore_ascii_case(FIRST)))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let parse = |text: &[u8]| parse(&String::from_utf8_lossy(text));
    open_described(&input, &PAIR, MAX_SHEET, parse, sink)
}

/// The properties of a section, with names in lower case.
type Properties = BTreeMap<String, u64>;

/// Returns the tracks of the first session. The image has no sectors for the gap
/// before another one.
fn parse(text: &str) -> Result<Vec<Track>> {
    let mut points = BTreeMap::new();
    let mut modes = BTreeMap::new();
    for (name, properties) in sections(text) {
        let get = |key: &str| properties.get(key).copied();
        if name.starts_with("entry") {
            let number = get("point").and_then(|point| u8::try_from(point).ok());
            // Larger points are the first and the last track, and the end.
            let number = number.filter(|number| (1..=99).contains(number));
            let is_first = get("session").is_none_or(|session| session == 1);
            if let (Some(number), Some(start), true) = (number, get("plba"), is_first) {
                points.insert(number, (start, get("control").unwrap_or(DATA) & DATA != 0));
            }
        } else if let Some(number) = name.strip_prefix("track") {
            let number = number.trim().parse::<u8>().ok();
            modes.extend(number.map(|number| (number, properties)));
        }
    }
    let mut tracks: Vec<Track> = Vec::new();
    for (number, (start, is_data)) in points {
        let get = |key: &str| modes.get(&number)?.get(key).copied();
        let start = get("index 1").unwrap_or(start);
        let before = tracks.last().map_or(0, |track| track.start);
        let gap = get("index 0").unwrap_or(start);
        if !(before..=start).contains(&gap) || start > u32::MAX.into() {
            let problem = format!("begins at {gap} and {start}, after one at {before}");
            return Err(Error::damaged(0, format!("track {number}"), problem));
        }
        let is_data = get("mode").map_or(is_data, |mode| mode > 0);
        tracks.push(Track {
            number,
            kind: match is_data {
                true => Kind::Data(RAW),
                false => Kind::Audio(RAW),
            },
            mode: match (is_data, get("mode")) {
                (false, _) => Mode::Audio,
                (true, Some(2)) => Mode::Mode2,
                (true, _) => Mode::Mode1,
            },
            silence: 0,
            file: String::new(),
            is_binary: true,
            gap,
            start,
            end: None,
            of_sheet: Vec::new(),
            commands: Vec::new(),
        });
    }
    if tracks.is_empty() {
        return Err(Error::damaged(0, "description", "has no tracks"));
    }
    Ok(tracks)
}

/// Returns the sections with their names in lower case. Values that are not
/// numbers are left out.
fn sections(text: &str) -> Vec<(String, Properties)> {
    let mut sections: Vec<(String, Properties)> = Vec::new();
    for line in text.split(['\r', '\n']).map(str::trim) {
        let name = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = name {
            sections.push((name.to_ascii_lowercase(), Properties::new()));
        } else if let (Some((key, value)), Some((_, properties))) =
            (line.split_once('='), sections.last_mut())
        {
            let value = value.trim().to_ascii_lowercase();
            let number = match value.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            };
            let key = key.trim().to_ascii_lowercase();
            properties.extend(number.map(|number| (key, number)));
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: &str = "[CloneCD]\r\nVersion=3\r\n[Disc]\r\nTocEntries=5\r\n\
        [Entry 0]\r\nSession=1\r\nPoint=0xa0\r\nControl=0x04\r\nPLBA=4350\r\n\
        [Entry 3]\r\nSession=1\r\nPoint=0x01\r\nControl=0x04\r\nPLBA=0\r\n\
        [Entry 4]\r\nSession=1\r\nPoint=0x02\r\nControl=0x00\r\nPLBA=320\r\n\
        [Entry 5]\r\nSession=2\r\nPoint=0x03\r\nControl=0x04\r\nPLBA=12000\r\n";

    #[test]
    fn tracks_of_the_first_session_have_kinds_and_positions() {
        let with_tracks = format!(
            "{ENTRIES}[TRACK 1]\nMODE=2\nINDEX 1=0\n[TRACK 2]\nMODE=0\nINDEX 0=170\nINDEX 1=320\n"
        );
        for (text, gap) in [(ENTRIES, 320), (&with_tracks, 170)] {
            let tracks = parse(text).unwrap();
            assert_eq!(tracks.len(), 2);
            assert_eq!((tracks[0].number, tracks[0].kind), (1, Kind::Data(RAW)));
            assert_eq!((tracks[0].gap, tracks[0].start), (0, 0));
            assert_eq!((tracks[1].number, tracks[1].kind), (2, Kind::Audio(RAW)));
            assert_eq!((tracks[1].gap, tracks[1].start), (gap, 320));
        }
    }

    #[test]
    fn descriptions_without_tracks_or_with_wrong_positions_are_damaged() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("[CloneCD]\nVersion=3\n").contains("no tracks"));
        assert!(error("PLBA=1\n[Entry 0]\nPoint=1\nPLBA=x\n").contains("no tracks"));
        let backward = format!("{ENTRIES}[TRACK 2]\nINDEX 0=400\n");
        assert!(error(&backward).contains("begins at 400 and 320"));
        let far = "[Entry 0]\nPoint=1\nPLBA=99999999999\n";
        assert!(error(far).contains("track 1"));
    }
}
