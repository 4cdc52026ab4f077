//! Dreamcast discs, in a block image or as a description with the files of the tracks:
//! the file system is in the second area of the disc, which begins at sector 45000;
//! positions in it are relative to the whole disc.

use std::ops::Range;
use std::sync::Arc;

use serde_json::json;

use super::apply;
use super::gdi::{AREA, SECTORS, parse};
use crate::changes::Changeable;
use crate::disc::plain::GdTrack;
use crate::disc::{Disc, Form, Frames, SECTOR, Sectors, Wav, image_of};
use crate::format::{Format, Input, MAX_SHEET};
use crate::io::{Composed, Error, ReadAt, Result, Warnings, read_vec, undamaged};
use crate::text::windows_1252;
use crate::udf;
use crate::volume::{DiscImage, Part, Sink, Volume};

/// The format of these discs.
pub const FORMAT: Format = Format {
    name: "GDI",
    extensions: &["gdi"],
    sheet: Some(sheet_files),
    matches,
    open: |input, sink| read(&input, sink),
    change: Some(|input, sink| {
        let disc = read(&input, sink)?;
        Ok(Changeable::of_input(disc, input, apply::gdi::apply))
    }),
    ..Format::PLAIN
};

/// First bytes of the area.
const HEADER: &[u8] = b"SEGA SEGAKATANA ";

fn matches(input: &Input<'_>) -> Result<bool> {
    if is_image(input) {
        return Ok(true);
    }
    if input.source.len() > MAX_SHEET {
        return Ok(false);
    }
    Ok(parse(&input.bytes(0, MAX_SHEET)?).is_some())
}

/// Returns the names of the files of the tracks.
pub(super) fn sheet_files(sheet: &[u8]) -> Vec<String> {
    let tracks = parse(sheet).unwrap_or_default();
    tracks.into_iter().map(|line| line.file).collect()
}

/// Returns whether the source is a Dreamcast disc in a block image.
fn is_image(input: &Input<'_>) -> bool {
    input.tracks.iter().any(|track| track.place.is_some())
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    match is_image(input) {
        true => open_image(input, sink),
        false => open_description(input, sink),
    }
}

/// Opens a disc in a block image, whose metadata has its tracks.
fn open_image(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
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
    open_tracks(disc, &tracks, input, Warnings::default(), sink)
}

/// Opens a disc by its description, which names the files of its tracks.
fn open_description(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let lines = parse(&input.bytes(0, MAX_SHEET)?).ok_or(Error::UnknownFormat)?;
    let (mut tracks, mut images) = (Vec::new(), Vec::new());
    let mut warnings = Warnings::default();
    for line in &lines {
        let Some(source) = (input.partner)(&line.file) else {
            let missing = line.missing();
            if line.has_files() {
                return Err(missing);
            }
            warnings.push(missing.to_string());
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
    open_tracks(disc, &tracks, input, warnings, sink)
}

/// Adds the files and the audio tracks of a Dreamcast disc to `disc`.
fn open_tracks(
    mut disc: Disc,
    tracks: &[GdTrack],
    input: &Input<'_>,
    mut warnings: Warnings,
    sink: &mut dyn Sink,
) -> Result<Box<dyn Volume>> {
    let area: Arc<dyn ReadAt> = Arc::new(area_of(tracks, input.options.verify)?);
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

/// Returns the user data of the area with the file system, by the sectors of the disc.
fn area_of(tracks: &[GdTrack], verify: bool) -> Result<Composed> {
    let is_in_area = |track: &&GdTrack| !track.is_audio && track.sector >= AREA;
    let sectors = |track: &GdTrack| {
        let range = (0, track.sectors.len());
        let form = Form::of_step(track.step);
        let sectors = Sectors::new(track.sectors.clone(), form, range, verify);
        (track.sector, Arc::new(sectors) as Arc<dyn ReadAt>)
    };
    let mut tracks: Vec<_> = tracks.iter().filter(is_in_area).map(sectors).collect();
    tracks.sort_by_key(|&(sector, _)| sector);
    if tracks.is_empty() {
        let text = format!("is a Dreamcast disc without data from sector {AREA} on");
        return Err(Error::Unsupported(text));
    }
    Ok(area(&tracks))
}

/// Returns the user data of data tracks with their first sectors, which ascend. The
/// sectors before the area are copies of those at its start, where a reader expects the
/// volume descriptors. Sectors that no track has are zeros.
fn area(tracks: &[(u64, Arc<dyn ReadAt>)]) -> Composed {
    let start = AREA * SECTOR;
    let mut own = Composed::default();
    let next = tracks.iter().skip(1).map(|&(sector, _)| sector);
    for ((sector, track), next) in tracks.iter().zip(next.chain([SECTORS])) {
        own.append_fill(0, sector * SECTOR - start - own.len());
        let longest = next.saturating_sub(*sector) * SECTOR;
        own.append(track, 0..track.len().min(longest));
    }
    let own: Arc<dyn ReadAt> = Arc::new(own);
    let mut area = Composed::part(&own, 0..own.len().min(start));
    area.append_fill(0, start - area.len());
    area.append_all(&own);
    area
}

/// Returns the facts about a game at the start of the area, for `info.json`.
fn game(area: &dyn ReadAt) -> Result<Option<serde_json::Value>> {
    let bytes = undamaged(read_vec(area, 0, 0x100, "header"))?;
    let Some(bytes) = bytes.filter(|bytes| bytes.starts_with(HEADER)) else {
        return Ok(None);
    };
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
            let range = (0, count * SECTOR);
            let sectors = Sectors::new(bytes, Form::of_step(SECTOR), range, false);
            Arc::new(sectors) as Arc<dyn ReadAt>
        };
        let area = area(&[(AREA, track(1, 3)), (AREA + 5, track(2, 2))]);
        assert_eq!(area.len(), (AREA + 7) * SECTOR);
        let read = |sector: u64, count: u64| {
            let mut bytes = vec![9; (count * SECTOR) as usize];
            area.read_exact_at(&mut bytes, sector * SECTOR).unwrap();
            let firsts = bytes.chunks(SECTOR as usize).map(|sector| sector[0]);
            firsts.collect::<Vec<_>>()
        };
        assert_eq!(read(0, 7), [1, 1, 1, 0, 0, 2, 2]);
        assert_eq!(read(AREA, 7), [1, 1, 1, 0, 0, 2, 2]);
        assert_eq!(read(AREA - 1, 2), [0, 1]);
        assert!(area.read_exact_at(&mut [0], area.len()).is_err());
    }
}
