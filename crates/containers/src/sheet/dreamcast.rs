//! Dreamcast discs: the file system is in the second area of the disc, which begins
//! at sector 45000; positions in it are relative to the whole disc.

use std::ops::Range;
use std::sync::Arc;

use serde_json::json;

use crate::disc::plain::GdTrack;
use crate::disc::{Disc, Form, Frames, SECTOR, Sectors, Wav, image_of};
use crate::format::Input;
use crate::image::CdTrack;
use crate::io::{Error, ReadAt, Result, Warnings, read_vec};
use crate::text::windows_1252;
use crate::udf;
use crate::volume::{Sink, Volume};

/// First sector of the area with the file system.
pub(super) const AREA: u64 = 45_000;

/// Sectors of a disc at most.
pub(super) const SECTORS: u64 = 549_150;

/// First bytes of the area.
const HEADER: &[u8] = b"SEGA SEGAKATANA ";

/// Returns whether a block image with these tracks is a Dreamcast disc.
pub(super) fn is_in(tracks: &[CdTrack]) -> bool {
    tracks.iter().any(|track| track.place.is_some())
}

/// Opens a Dreamcast disc in a block image.
///
/// # Errors
/// Returns an error if the disc has no data in its second area, if that is damaged,
/// or if the source cannot be read.
pub(super) fn open_image(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let images = input.tracks.iter().map(|track| image_of(input, track));
    let tracks = input.tracks.iter().filter_map(|track| {
        Some(GdTrack {
            number: track.number,
            sector: track.place?,
            is_audio: track.is_audio,
            step: track.sector.into(),
            sectors: Arc::new(Frames::with_pregap(input.source.clone(), track)),
        })
    });
    let tracks: Vec<GdTrack> = tracks.collect();
    let mut disc = Disc::new(images.collect());
    disc.gd_tracks_are(tracks.clone());
    open(disc, &tracks, input, Warnings::default(), sink)
}

/// Adds the files and the audio tracks of a Dreamcast disc to `disc`.
///
/// # Errors
/// Returns the errors of [`open_image`].
pub(super) fn open(
    mut disc: Disc,
    tracks: &[GdTrack],
    input: &Input<'_>,
    mut warnings: Warnings,
    sink: &mut dyn Sink,
) -> Result<Box<dyn Volume>> {
    let area: Arc<dyn ReadAt> = Arc::new(Area::new(tracks, input.options.verify)?);
    let game = game(&*area)?;
    let range = (0, area.len());
    let sectors = Sectors::new(area, Form::of_step(SECTOR), range, false);
    udf::read(&mut disc, &Arc::new(sectors), sink, &mut warnings)?;
    if let Some(game) = game {
        disc.info["game"] = game;
    }
    for track in tracks.iter().filter(|track| track.is_audio) {
        let wav = Wav::new(track.sectors.clone(), (0, track.sectors.len()));
        disc.add_wav(sink, track.number, wav)?;
    }
    Ok(disc.finish(warnings))
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
    fn new(tracks: &[GdTrack], verify: bool) -> Result<Self> {
        let is_in_area = |track: &&GdTrack| !track.is_audio && track.sector >= AREA;
        let sectors = |track: &GdTrack| {
            let range = (0, track.sectors.len());
            let form = Form::of_step(track.step);
            let sectors = Sectors::new(track.sectors.clone(), form, range, verify);
            (track.sector, sectors)
        };
        let mut tracks: Vec<_> = tracks.iter().filter(is_in_area).map(sectors).collect();
        tracks.sort_by_key(|&(sector, _)| sector);
        let Some((sector, last)) = tracks.last() else {
            let text = format!("is a Dreamcast disc without data from sector {AREA} on");
            return Err(Error::Unsupported(text));
        };
        Ok(Self {
            len: sector * SECTOR + last.len().min(SECTORS.saturating_sub(*sector) * SECTOR),
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
    let text = |range: Range<usize>| windows_1252(&bytes[range]).trim().to_owned();
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
