//! Cue sheets: the tracks of a disc whose sectors are in other files.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;

use super::track::{Kind, MAX_TRACKS, Track};
use crate::disc::plain::{Mode, time};
use crate::disc::sector::RAW;
use crate::io::{Error, Result};
use crate::text::{Charset, to_windows_1252};

/// Commands that say nothing about where tracks are.
const KEPT: [&str; 8] = [
    "CATALOG",
    "FLAGS",
    "ISRC",
    "PERFORMER",
    "POSTGAP",
    "REM",
    "SONGWRITER",
    "TITLE",
];

/// Returns the words of a line; a quoted one may contain spaces.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() && words.len() < 4 {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// Returns a time in minutes, seconds and frames, in frames.
fn frames(time: &str) -> Option<u64> {
    let mut parts = time.splitn(3, ':').map(|part| part.parse::<u16>().ok());
    let (minutes, seconds, frames) = (parts.next()??, parts.next()??, parts.next()??);
    Some((u64::from(minutes) * 60 + u64::from(seconds)) * 75 + u64::from(frames))
}

/// Returns the text of a sheet: UTF-8 or UTF-16 if it has a byte order mark, else
/// UTF-8 or, if it is not valid, Windows-1252.
fn text(sheet: &[u8]) -> Cow<'_, str> {
    match Encoding::for_bom(sheet) {
        Some((encoding, mark)) => encoding.decode_without_bom_handling(&sheet[mark..]).0,
        None => Charset::Utf8.decode(sheet),
    }
}

/// Returns the tracks of a sheet.
///
/// # Errors
/// Returns an error if a track has no file, or if there are no tracks or too
/// many.
pub(super) fn parse(sheet: &[u8]) -> Result<Vec<Track>> {
    let text = text(sheet);
    let mut file: Option<(String, bool)> = None;
    let mut tracks: Vec<Track> = Vec::new();
    let mut of_sheet = Vec::new();
    for line in text.split(['\r', '\n']) {
        let words = words(line);
        let Some((command, arguments)) = words.split_first() else {
            continue;
        };
        match (command.to_ascii_uppercase().as_str(), arguments) {
            ("FILE", [name, kind, ..]) => {
                file = Some((
                    base_name(name).to_owned(),
                    kind.eq_ignore_ascii_case("BINARY"),
                ));
            }
            ("TRACK", [number, kind, ..]) => {
                let Some((file, is_binary)) = &file else {
                    return Err(Error::damaged(
                        0,
                        "cue sheet",
                        "has a TRACK before any FILE",
                    ));
                };
                if tracks.len() == MAX_TRACKS {
                    let problem = format!("has more than {MAX_TRACKS} tracks");
                    return Err(Error::damaged(0, "cue sheet", problem));
                }
                tracks.push(Track {
                    number: number.parse().unwrap_or(tracks.len() as u8 + 1),
                    kind: kind_of(kind),
                    mode: mode_of(kind),
                    file: file.clone(),
                    is_binary: *is_binary,
                    silence: 0,
                    gap: 0,
                    start: 0,
                    end: None,
                    of_sheet: std::mem::take(&mut of_sheet),
                    commands: Vec::new(),
                });
            }
            ("PREGAP", [time, ..]) => {
                if let (Some(track), Some(time)) = (tracks.last_mut(), frames(time)) {
                    track.silence = time;
                }
            }
            ("INDEX", [number, time, ..]) => {
                if let (Some(track), Some(time)) = (tracks.last_mut(), frames(time)) {
                    match number.parse() {
                        Ok(0_u8) => track.gap = time,
                        Ok(1) => {
                            track.start = time;
                            // Without an INDEX 00 there is no pregap.
                            track.gap = if track.gap == 0 { time } else { track.gap };
                        }
                        _ => {}
                    }
                }
            }
            (command, _) if KEPT.contains(&command) => {
                let commands = tracks.last_mut().map(|track| &mut track.commands);
                let commands = commands.unwrap_or(&mut of_sheet);
                commands.push(line.trim().to_owned());
            }
            _ => {}
        }
    }
    if tracks.is_empty() {
        return Err(Error::damaged(0, "cue sheet", "has no TRACK"));
    }
    Ok(tracks)
}

fn kind_of(kind: &str) -> Kind {
    let kind = kind.to_ascii_uppercase();
    match kind.as_str() {
        "AUDIO" => Kind::Audio(RAW),
        "MODE1/2048" | "MODE2/2048" => Kind::Data(2048),
        "MODE2/2336" => Kind::Data(2336),
        _ if kind.starts_with("MODE") => Kind::Data(RAW),
        _ => Kind::Other,
    }
}

/// Returns what the sectors of a kind are.
fn mode_of(kind: &str) -> Mode {
    let kind = kind.to_ascii_uppercase();
    match kind.as_str() {
        "AUDIO" => Mode::Audio,
        _ if kind.starts_with("MODE2") => Mode::Mode2,
        _ => Mode::Mode1,
    }
}

/// Returns a sheet where all tracks of a file but the first begin `by` sectors
/// later.
///
/// # Errors
/// Returns an error if a time exceeds those that a sheet can have.
pub(super) fn moved(sheet: &[u8], file: &str, by: u64) -> Result<Vec<u8>> {
    let (mut is_here, mut before) = (false, 0);
    let mut is_too_long = false;
    let edited = edited_commands(sheet, |command, words, _| match (command, words) {
        ("FILE", [_, name, ..]) => {
            is_here = base_name(name).eq_ignore_ascii_case(file);
            None
        }
        ("TRACK", _) if is_here => {
            before += 1;
            None
        }
        ("INDEX", [_, _, old, ..]) if is_here && before > 1 => {
            let new = frames(old)? + by;
            is_too_long |= new > u64::from(u16::MAX) * 60 * 75;
            Some((old, time(new)))
        }
        _ => None,
    });
    match is_too_long {
        false => Ok(edited),
        true => Err(Error::damaged(
            0,
            "cue sheet",
            "has a time that is too long",
        )),
    }
}

/// Returns a sheet with other names of its files.
pub(super) fn renamed(sheet: &[u8], rename: impl Fn(&str) -> String) -> Vec<u8> {
    edited_commands(sheet, |command, words, line| match (command, words) {
        ("FILE", [_, name, ..]) => {
            let new = rename(base_name(name)).replace('"', "_");
            let is_quoted = line.contains(&format!("\"{name}\""));
            Some((name, if is_quoted { new } else { format!("\"{new}\"") }))
        }
        _ => None,
    })
}

/// Returns the name of a file without directories, of any system.
pub(super) fn base_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Returns a sheet with other words: `edit` gets the command of each line in capital
/// letters, its words and the line, and returns a word and its replacement.
fn edited_commands(
    sheet: &[u8],
    mut edit: impl for<'l> FnMut(&str, &[&'l str], &'l str) -> Option<(&'l str, String)>,
) -> Vec<u8> {
    edited(sheet, |line| {
        let words = words(line);
        let command = words.first().map(|word| word.to_ascii_uppercase());
        edit(&command.unwrap_or_default(), &words, line)
    })
}

/// Returns a sheet with other words: `edit` gets each line, and returns a word in it and
/// its replacement.
pub(super) fn edited(
    sheet: &[u8],
    mut edit: impl for<'l> FnMut(&'l str) -> Option<(&'l str, String)>,
) -> Vec<u8> {
    let text = text(sheet);
    let mut new = String::with_capacity(text.len());
    for line in text.split_inclusive(['\r', '\n']) {
        match edit(line).and_then(|(word, by)| Some((place(line, word)?, by))) {
            Some((place, by)) => {
                new.push_str(&line[..place.start]);
                new.push_str(&by);
                new.push_str(&line[place.end..]);
            }
            None => new.push_str(line),
        }
    }
    encoded(sheet, &new)
}

/// Returns where a word of a line stands in it.
fn place(line: &str, word: &str) -> Option<Range<usize>> {
    let start = (word.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let end = start + word.len();
    line.get(start..end).map(|_| start..end)
}

/// Returns a text in the encoding of a sheet.
fn encoded(sheet: &[u8], text: &str) -> Vec<u8> {
    let units = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
        mark.iter()
            .copied()
            .chain(text.encode_utf16().flat_map(bytes))
            .collect()
    };
    match sheet {
        [0xFF, 0xFE, ..] => units(&[0xFF, 0xFE], u16::to_le_bytes),
        [0xFE, 0xFF, ..] => units(&[0xFE, 0xFF], u16::to_be_bytes),
        [0xEF, 0xBB, 0xBF, ..] => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        _ if std::str::from_utf8(sheet).is_ok() => text.as_bytes().to_vec(),
        _ => to_windows_1252(text).into_owned(),
    }
}

/// Returns whether a file that begins with `head` may be a cue sheet: text that
/// starts with one of its commands.
pub(super) fn begins_sheet(head: &[u8]) -> bool {
    const COMMANDS: [&str; 9] = [
        "REM",
        "FILE",
        "CATALOG",
        "TITLE",
        "PERFORMER",
        "SONGWRITER",
        "CDTEXTFILE",
        "TRACK",
        "INDEX",
    ];
    let head = text(head);
    let first = head.split_ascii_whitespace().next().unwrap_or_default();
    let is_command = |command: &str| first.eq_ignore_ascii_case(command);
    COMMANDS.iter().any(|command| is_command(command)) && !head.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tracks_and_times_are_parsed() {
        let sheet = b"\xEF\xBB\xBFREM made elsewhere\r\nFILE \"C:\\dumps\\A game.bin\" BINARY\r\n\
            TRACK 01 MODE2/2352\r\nINDEX 01 00:00:00\r\nTRACK 02 AUDIO\r\n INDEX 00 01:02:03\r\n\
            INDEX 01 01:04:03\r\nfile b.wav wave\n track 03 audio\n index 01 00:02:00\n";
        assert!(begins_sheet(sheet));
        let tracks = parse(sheet).unwrap();
        assert_eq!(tracks.len(), 3);
        assert_eq!(tracks[0].file, "A game.bin");
        assert_eq!((tracks[0].kind, tracks[0].start), (Kind::Data(2352), 0));
        assert_eq!((tracks[1].number, tracks[1].gap), (2, 62 * 75 + 3));
        assert_eq!(tracks[1].start, 64 * 75 + 3);
        assert!(!tracks[2].is_binary);
        assert_eq!((tracks[2].gap, tracks[2].start), (150, 150));
        assert_eq!(tracks[0].of_sheet, ["REM made elsewhere"]);
    }

    #[test]
    fn later_tracks_of_a_file_move_and_everything_else_stays() {
        let sheet = b"REM caf\xE9\r\nFILE \"dir\\A.bin\" BINARY\r\n  TRACK 01 MODE2/2352\r\n\
            \x20   INDEX 01 00:00:00\r\n  TRACK 02 AUDIO\r\n    PREGAP 00:02:00\r\n\
            \x20   INDEX 00 01:02:03\r\n    INDEX 01  01:04:03 \r\nFILE b.bin BINARY\n\
            TRACK 03 AUDIO\nINDEX 01 00:02:00\n";
        let expected = String::from_utf8_lossy(sheet)
            .replace("01:02:03", "01:03:04")
            .replace("01:04:03", "01:05:04");
        let moved = moved(sheet, "a.BIN", 76).unwrap();
        assert_eq!(String::from_utf8_lossy(&moved), expected);
        assert!(moved.contains(&0xE9));
        assert_eq!(parse(&moved).unwrap()[1].silence, 150);
        let renamed = renamed(sheet, |name| format!("new {name}"));
        let expected = String::from_utf8_lossy(sheet)
            .replace("dir\\A.bin", "new A.bin")
            .replace("b.bin", "\"new b.bin\"");
        assert_eq!(String::from_utf8_lossy(&renamed), expected);
    }

    #[test]
    fn a_sheet_may_be_in_utf_16() {
        let text = "FILE \"テスト.bin\" BINARY\r\nTRACK 01 MODE1/2048\r\nINDEX 01 00:00:00\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for sheet in [[b"\xFF\xFE", &little[..]], [b"\xFE\xFF", &big[..]]] {
            let sheet = sheet.concat();
            assert!(begins_sheet(&sheet) && begins_sheet(&sheet[..31]));
            let tracks = parse(&sheet).unwrap();
            assert_eq!((tracks.len(), tracks[0].file.as_str()), (1, "テスト.bin"));
            let renamed = renamed(&sheet, |name| name.to_owned());
            assert!(renamed == sheet);
        }
        assert!(!begins_sheet(&little));
    }

    #[test]
    fn a_sheet_without_files_or_tracks_is_damaged() {
        let error = |sheet: &[u8]| parse(sheet).unwrap_err().to_string();
        assert!(error(b"TRACK 01 AUDIO\n").contains("before any FILE"));
        assert!(error(b"FILE a BINARY\n").contains("no TRACK"));
        let many = "FILE a BINARY\n".to_owned() + &"TRACK 01 AUDIO\n".repeat(100);
        assert!(error(many.as_bytes()).contains("more than 99"));
        assert!(!begins_sheet(b"") && !begins_sheet(b"FILES are here"));
    }
}
