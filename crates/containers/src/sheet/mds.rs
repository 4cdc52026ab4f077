//! Descriptions of discs by Alcohol 120%, `.mds`, whose sectors are in the file
//! with the extension `.mdf`. All numbers are little-endian.

use super::track::{Kind, MAX_TRACKS, Track};
use super::{begin_of, described, open_described};
use crate::disc::plain::Mode;
use crate::disc::sector::{RAW, SECTOR, WITH_SUBCHANNELS};
use crate::format::{Format, Input, Pair};
use crate::io::{Cursor, Endian, Error, Result};
use crate::volume::{Sink, Volume};

/// The format of these descriptions.
pub const FORMAT: Format = described("MDS", PAIR, matches, open);

/// The two files.
const PAIR: Pair = Pair {
    data: "mdf",
    directory: "mds",
};

/// First bytes of a description.
const MAGIC: &[u8] = b"MEDIA DESCRIPTOR";

/// Length of a description in bytes at most.
const LONGEST: u64 = 1 << 20;

/// Offsets of the number and of the position of the sessions.
const SESSION_COUNT: u64 = 0x14;
const SESSIONS: u64 = 0x50;

/// Maximum number of sessions.
const MAX_SESSIONS: u16 = 99;

/// Modes of tracks: audio, Mode 1, and the track of a DVD. The others are of Mode 2.
const AUDIO: u8 = 0xA9;
const MODE_1: u8 = 0xAA;
const DVD: u8 = 0x02;

/// Length of the description of a session and of a track, in bytes.
const SESSION: usize = 24;
const TRACK: usize = 80;

fn matches(input: &Input<'_>) -> Result<bool> {
    let begin = begin_of(input, &PAIR, MAGIC)?;
    Ok(begin.is_some_and(|begin| begin == MAGIC))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    open_described(&input, &PAIR, LONGEST, parse, sink)
}

/// Returns the tracks of all sessions.
fn parse(bytes: &[u8]) -> Result<Vec<Track>> {
    let whole = Cursor::new(bytes, 0, Endian::Little);
    let mut cursor = whole.clone();
    cursor.seek(SESSION_COUNT, "number of sessions")?;
    let count = cursor.u16("number of sessions")?;
    if count > MAX_SESSIONS {
        let problem = format!("is {count}");
        return Err(Error::damaged(SESSION_COUNT, "number of sessions", problem));
    }
    cursor.seek(SESSIONS, "sessions")?;
    let at = u64::from(cursor.u32("sessions")?);
    let mut sessions = whole.follow(at, SESSIONS, "sessions")?;
    let mut tracks = Vec::new();
    for _ in 0..count {
        let mut session = sessions.section(SESSION, "session")?;
        session.take(10, "sectors and number")?;
        let blocks = session.u8("number of blocks")?;
        session.take(9, "tracks")?;
        let at = session.offset();
        let mut list = whole.follow(session.u32("tracks")?.into(), at, "tracks")?;
        for _ in 0..blocks {
            let block = list.section(TRACK, "track")?;
            tracks.extend(track(&whole, block)?);
        }
    }
    if tracks.is_empty() || tracks.len() > MAX_TRACKS {
        let problem = format!("has {} tracks", tracks.len());
        return Err(Error::damaged(0, "description", problem));
    }
    Ok(tracks)
}

/// Parses the description of a track; `None` if it is one of the first, the last
/// or the end of the tracks.
fn track(whole: &Cursor<'_>, mut block: Cursor<'_>) -> Result<Option<Track>> {
    let mode = block.u8("mode")?;
    block.take(3, "subchannels")?;
    let number = block.u8("number")?;
    block.take(7, "address")?;
    let at = block.offset();
    let extra = u64::from(block.u32("extra")?);
    let step = u64::from(block.u16("length of a sector")?);
    block.take(22, "first sector")?;
    let start_at = block.offset();
    let (low, high) = (block.u32("start")?, block.u32("start")?);
    if usize::from(number) > MAX_TRACKS || number == 0 {
        return Ok(None);
    }
    let start = u64::from(high) << 32 | u64::from(low);
    let is_frame = matches!(step, SECTOR | 2336 | RAW | WITH_SUBCHANNELS);
    if !is_frame || !start.is_multiple_of(step) {
        let problem = format!("is at {start:#x} in sectors of {step} bytes");
        return Err(Error::damaged(start_at, format!("track {number}"), problem));
    }
    // Of a DVD, this is the number of sectors itself.
    let length = match whole.follow(extra, at, "extra") {
        Ok(mut extra) if mode != DVD => {
            extra.u32("pregap")?;
            Some(extra.u32("length")?)
        }
        _ => None,
    };
    let start = start / step;
    Ok(Some(Track {
        number,
        kind: match mode {
            AUDIO => Kind::Audio(step),
            _ => Kind::Data(step),
        },
        mode: match mode {
            AUDIO => Mode::Audio,
            MODE_1 | DVD => Mode::Mode1,
            _ => Mode::Mode2,
        },
        silence: 0,
        file: String::new(),
        is_binary: true,
        gap: start,
        start,
        end: length.map(|length| start + u64::from(length)),
        of_sheet: Vec::new(),
        commands: Vec::new(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a description of these tracks: mode, length of a sector, position,
    /// number of sectors.
    fn description(tracks: &[(u8, u16, u64, u32)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.resize(0x58, 0);
        bytes[0x14] = 1;
        bytes[0x50] = 0x58;
        let mut session = [0; SESSION];
        session[10] = tracks.len() as u8 + 1;
        session[20] = 0x70;
        bytes.extend(session);
        let end = bytes.len() + (tracks.len() + 1) * TRACK;
        // The first block is that of the first track.
        let mut first = [0; TRACK];
        first[4] = 0xA0;
        bytes.extend(first);
        for (number, (mode, step, start, _)) in tracks.iter().enumerate() {
            let mut block = [0; TRACK];
            block[0] = *mode;
            block[4] = number as u8 + 1;
            block[12..16].copy_from_slice(&((end + number * 8) as u32).to_le_bytes());
            block[16..18].copy_from_slice(&step.to_le_bytes());
            block[40..48].copy_from_slice(&start.to_le_bytes());
            bytes.extend(block);
        }
        for (_, _, _, length) in tracks {
            bytes.extend([150_u32, *length].map(u32::to_le_bytes).concat());
        }
        bytes
    }

    #[test]
    fn tracks_have_their_places_and_lengths() {
        let bytes = description(&[(0xAA, 2448, 0, 20), (0xA9, 2448, 2448 * 170, 10)]);
        let tracks = parse(&bytes).unwrap();
        assert_eq!(tracks.len(), 2);
        assert_eq!((tracks[0].number, tracks[0].kind), (1, Kind::Data(2448)));
        assert_eq!((tracks[0].start, tracks[0].end), (0, Some(20)));
        assert_eq!((tracks[1].number, tracks[1].kind), (2, Kind::Audio(2448)));
        assert_eq!((tracks[1].start, tracks[1].end), (170, Some(180)));
        let dvd = parse(&description(&[(0x02, 2048, 0, 0)])).unwrap();
        assert_eq!((dvd[0].kind, dvd[0].end), (Kind::Data(2048), None));
    }

    #[test]
    fn descriptions_that_are_cut_or_have_odd_sectors_are_damaged() {
        let whole = description(&[(0xAA, 2352, 0, 20)]);
        for length in [0, 0x16, 0x52, 0x60, 0x80, 0xC0] {
            assert!(parse(&whole[..length]).is_err(), "{length:#x}");
        }
        for wrong in [(0xAA, 2000, 0, 20), (0xAA, 2352, 7, 20)] {
            assert!(parse(&description(&[wrong])).is_err(), "{wrong:?}");
        }
        assert!(parse(&description(&[])).is_err());
    }
}
