//! Cue sheets: the tracks of a disc whose sectors are in other files.

use std::borrow::Cow;

use encoding_rs::Encoding;

use super::track::{Kind, MAX_TRACKS, Track};
use crate::disc::sector::RAW;
use crate::io::{Error, Result};
use crate::text::Charset;

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
    for line in text.split(['\r', '\n']) {
        let words = words(line);
        let Some((command, arguments)) = words.split_first() else {
            continue;
        };
        match (command.to_ascii_uppercase().as_str(), arguments) {
            ("FILE", [name, kind, ..]) => {
                let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
                file = Some((name.to_owned(), kind.eq_ignore_ascii_case("BINARY")));
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
                    file: file.clone(),
                    is_binary: *is_binary,
                    gap: 0,
                    start: 0,
                    end: None,
                });
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
