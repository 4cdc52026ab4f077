//! Descriptions of Dreamcast discs, `.gdi`: a line for each track, whose sectors
//! are in a file of their own. The file system is in the second area of the disc,
//! which begins at sector 45000; its positions are those of the whole disc.

use std::sync::Arc;

use serde_json::json;

use super::track::{Kind, MAX_TRACKS, Track};
use super::{add_audio, images};
use crate::disc::plain::{GdTrack, Mode};
use crate::disc::sector::{RAW, SECTOR};
use crate::disc::{Disc, Form, Sectors, Slice};
use crate::format::{Format, Input, MAX_SHEET};
use crate::io::{Error, ReadAt, Result, Warnings, read_vec};
use crate::text::{Charset, windows_1252};
use crate::udf;
use crate::volume::{Sink, Volume};

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

/// First sector of the area with the file system.
const AREA: u64 = 45_000;

/// Sectors of a disc at most.
const SECTORS: u64 = 549_150;

/// First bytes of the area.
const HEADER: &[u8] = b"SEGA SEGAKATANA ";

/// A track with its place on the disc.
struct Placed {
    /// Number of its first sector.
    sector: u64,
    /// Offset in its file.
    offset: u64,
    track: Track,
}

fn matches(input: &Input<'_>) -> Result<bool> {
    if input.source.len() > MAX_SHEET {
        return Ok(false);
    }
    Ok(parse(&input.bytes(0, MAX_SHEET)?).is_some())
}

/// Returns the names of the files of the tracks.
fn sheet_files(sheet: &[u8]) -> Vec<String> {
    let tracks = parse(sheet).unwrap_or_default();
    tracks.into_iter().map(|placed| placed.track.file).collect()
}

/// Returns the tracks; `None` if the text is not such a description.
fn parse(sheet: &[u8]) -> Option<Vec<Placed>> {
    let text = Charset::Utf8.decode(sheet);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let count: usize = lines.next()?.trim().parse().ok()?;
    let tracks: Option<Vec<_>> = lines.map(line).collect();
    tracks.filter(|tracks| tracks.len() == count && (1..=MAX_TRACKS).contains(&count))
}

/// Parses a line: number, first sector, kind (0 or 4), length of a sector, file,
/// offset in it.
fn line(line: &str) -> Option<Placed> {
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
    let (kind, mode) = match (kind, step) {
        (0, RAW) => (Kind::Audio(RAW), Mode::Audio),
        (4, SECTOR | RAW) => (Kind::Data(step), Mode::Mode1),
        _ => return None,
    };
    Some(Placed {
        sector,
        offset: offset.parse().ok()?,
        track: Track {
            number,
            kind,
            mode,
            silence: 0,
            file: file.to_owned(),
            is_binary: true,
            gap: 0,
            start: 0,
            end: None,
        },
    })
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let placed = parse(&input.bytes(0, MAX_SHEET)?).ok_or(Error::UnknownFormat)?;
    let area = Area::find(&input, &placed)?;
    let gd = gd_tracks(&input, &placed);
    let tracks: Vec<Track> = placed.into_iter().map(|placed| placed.track).collect();
    let mut disc = Disc::new(images(input.partner, &tracks));
    disc.gd_tracks_are(gd);
    let mut warnings = Warnings::default();
    let area: Arc<dyn ReadAt> = Arc::new(area);
    let game = game(&*area)?;
    let range = (0, area.len());
    let sectors = Sectors::new(area, Form::of_step(SECTOR), range, false);
    udf::read(&mut disc, &Arc::new(sectors), sink, &mut warnings)?;
    if let Some(game) = game {
        disc.info["game"] = game;
    }
    add_audio(&mut disc, input.partner, &tracks, sink, &mut warnings)?;
    Ok(disc.finish(warnings))
}

/// Returns the tracks; none if a file is missing.
fn gd_tracks(input: &Input<'_>, placed: &[Placed]) -> Vec<GdTrack> {
    let tracks = placed.iter().map(
        |Placed {
             sector,
             offset,
             track,
         }| {
            let source = (input.partner)(&track.file)?;
            let range = *offset..source.len();
            Some(GdTrack {
                number: track.number,
                sector: *sector,
                is_audio: track.mode == Mode::Audio,
                step: track.step(),
                sectors: Arc::new(Slice::new(source, range)),
            })
        },
    );
    tracks.collect::<Option<_>>().unwrap_or_default()
}

/// The user data of the area with the file system, by the sectors of the disc.
/// The sectors before it are those at its start, where a reader expects the
/// volume descriptors. What no track has is zeros.
struct Area {
    /// The data tracks, and their first sectors; ascending.
    tracks: Vec<(u64, Sectors)>,
    len: u64,
}

impl Area {
    fn find(input: &Input<'_>, placed: &[Placed]) -> Result<Self> {
        let mut tracks = Vec::new();
        for Placed {
            sector,
            offset,
            track,
        } in placed.iter().filter(|placed| placed.sector >= AREA)
        {
            let Kind::Data(step) = track.kind else {
                continue;
            };
            let named = || format!("track {:02}", track.number);
            let missing = || Error::Unsupported(format!("{}: {} is missing", named(), track.file));
            let source = (input.partner)(&track.file).ok_or_else(missing)?;
            let range = (*offset, source.len());
            let sectors = Sectors::new(source, Form::of_step(step), range, input.options.verify);
            tracks.push((*sector, sectors));
        }
        tracks.sort_by_key(|&(sector, _)| sector);
        let Some((sector, last)) = tracks.last() else {
            let text = format!("describes a disc without data from sector {AREA} on");
            return Err(Error::Unsupported(text));
        };
        Ok(Self {
            len: sector * SECTOR + last.len().min((SECTORS - sector) * SECTOR),
            tracks,
        })
    }

    /// Returns how many of `length` bytes at `offset` are stored alike, and where:
    /// in a track, or nowhere.
    fn place(&self, offset: u64, length: u64) -> (u64, Option<(&Sectors, u64)>) {
        let start = AREA * SECTOR;
        let (offset, length) = match offset < start {
            true => (start + offset, length.min(start - offset)),
            false => (offset, length),
        };
        let after = self
            .tracks
            .partition_point(|(sector, _)| sector * SECTOR <= offset);
        let next = self.tracks.get(after).map(|(sector, _)| sector * SECTOR);
        let length = next.map_or(length, |next| length.min(next - offset));
        let Some((sector, sectors)) = after.checked_sub(1).map(|at| &self.tracks[at]) else {
            return (length, None);
        };
        let into = offset - sector * SECTOR;
        match sectors.len().checked_sub(into) {
            Some(left @ 1..) => (length.min(left), Some((sectors, into))),
            _ => (length, None),
        }
    }
}

impl ReadAt for Area {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        while !buf.is_empty() {
            let (length, stored) = self.place(offset, buf.len() as u64);
            let (part, rest) = buf.split_at_mut(length as usize);
            match stored {
                Some((sectors, at)) => sectors.read_exact_at(part, at)?,
                None => part.fill(0),
            }
            buf = rest;
            offset += length;
        }
        Ok(())
    }
}

/// Returns the facts about a game at the start of the area, for `info.json`.
fn game(area: &dyn ReadAt) -> Result<Option<serde_json::Value>> {
    let bytes = match read_vec(area, 0, 0x100, "header") {
        Ok(bytes) => bytes,
        Err(error) if error.is_fault() => return Err(error),
        Err(_) => return Ok(None),
    };
    if !bytes.starts_with(HEADER) {
        return Ok(None);
    }
    let text = |range: std::ops::Range<usize>| windows_1252(&bytes[range]).trim().to_owned();
    let regions = [('J', "Japan"), ('U', "America"), ('E', "Europe")];
    let symbols = text(0x30..0x38);
    let regions = regions
        .iter()
        .filter(|(symbol, _)| symbols.contains(*symbol));
    let regions: Vec<_> = regions.map(|(_, region)| *region).collect();
    Ok(Some(json!({
        "console": "Dreamcast",
        "title": text(0x80..0x100),
        "id": text(0x40..0x4A),
        "version": text(0x4A..0x50),
        "date": text(0x50..0x58),
        "program": text(0x60..0x70),
        "maker": text(0x70..0x80),
        "region": regions.join(", "),
    })))
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
        let kinds: Vec<_> = tracks.iter().map(|placed| placed.track.kind).collect();
        assert_eq!(
            kinds,
            [Kind::Data(RAW), Kind::Audio(RAW), Kind::Data(SECTOR)]
        );
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

    #[test]
    fn sectors_before_the_area_are_its_first_ones_and_gaps_are_zeros() {
        let track = |byte: u8, count: u64| {
            let bytes = Arc::new(vec![byte; (count * SECTOR) as usize]);
            Sectors::new(bytes, Form::of_step(SECTOR), (0, count * SECTOR), false)
        };
        let area = Area {
            tracks: vec![(AREA, track(1, 3)), (AREA + 5, track(2, 2))],
            len: (AREA + 7) * SECTOR,
        };
        let read = |sector: u64, count: u64| {
            let mut bytes = vec![9; (count * SECTOR) as usize];
            area.read_exact_at(&mut bytes, sector * SECTOR).unwrap();
            let firsts = bytes.chunks(SECTOR as usize).map(|sector| sector[0]);
            firsts.collect::<Vec<_>>()
        };
        assert_eq!(read(0, 7), [1, 1, 1, 0, 0, 2, 2]);
        assert_eq!(read(AREA, 7), [1, 1, 1, 0, 0, 2, 2]);
        assert_eq!(read(AREA - 1, 2), [0, 1]);
        assert!(area.read_exact_at(&mut [0], area.len).is_err());
    }
}
