//! Descriptions of discs whose tracks are in other files: cue sheets, CCD, GDI
//! and MDS. The formats are described in `docs/formats/iso.md`.

mod apply;
mod ccd;
mod cue;
mod dreamcast;
mod gdi;
mod mds;
mod track;

use std::sync::Arc;

pub use self::ccd::FORMAT as CCD;
pub use self::dreamcast::FORMAT as GDI;
pub use self::mds::FORMAT as MDS;
use self::track::{Kind, Track};
use crate::changes::Changeable;
use crate::disc::plain::{PlainTrack, raw_sectors};
use crate::disc::sector::{RAW, WITH_SUBCHANNELS};
use crate::disc::{Disc, Form, Frames, Sectors, Wav};
use crate::file_type::FileType;
use crate::format::{Format, Input, MAX_SHEET, Pair};
use crate::io::{Composed, Error, ReadAt, Result, Warnings, read_vec};
use crate::udf;
use crate::volume::{DiscImage, Part, Sink, Volume};

/// The format of cue sheets.
pub const CUE: Format = Format {
    name: "CUE",
    extensions: &["cue"],
    sheet: Some(sheet_files),
    types: &[FileType {
        has_thumbnail: true,
        ..FileType::new("application/x-cue", None)
    }],
    matches: matches_cue,
    open: |input, sink| read_cue(&input, sink),
    change: Some(|input, sink| {
        let disc = read_cue(&input, sink)?;
        Ok(Changeable::of_input(disc, input, apply::cue::apply))
    }),
    ..Format::PLAIN
};

fn matches_cue(input: &Input<'_>) -> Result<bool> {
    if input.source.len() > MAX_SHEET || !cue::begins_sheet(&input.bytes(0, 512)?) {
        return Ok(false);
    }
    let sheet = input.bytes(0, MAX_SHEET)?;
    Ok(cue::parse(&sheet).is_ok())
}

fn read_cue(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let tracks = cue::parse(&input.bytes(0, MAX_SHEET)?)?;
    let sheet = DiscImage {
        file: None,
        part: Part::Sheet,
        bytes: input.source.clone(),
    };
    open_tracks(input, Some(sheet), &tracks, input.partner, sink)
}

/// Returns a format of descriptions, whose sectors are in the other file of a pair.
const fn described(
    name: &'static str,
    pair: Pair,
    matches: fn(&Input<'_>) -> Result<bool>,
    open: fn(Input<'_>, &mut dyn Sink) -> Result<Box<dyn Volume>>,
) -> Format {
    Format {
        name,
        pair: Some(pair),
        matches,
        open,
        ..Format::PLAIN
    }
}

/// Returns the first bytes of a description, as many as `magic` has or fewer;
/// `None` if one of the two files is missing.
fn begin_of(input: &Input<'_>, pair: &Pair, magic: &[u8]) -> Result<Option<Vec<u8>>> {
    let Some(pair) = pair.find(input) else {
        return Ok(None);
    };
    let length = pair.directory.len().min(magic.len() as u64);
    read_vec(&*pair.directory, 0, length, "magic").map(Some)
}

/// Opens a disc with the tracks that `parse` finds in a description of at most
/// `longest` bytes.
fn open_described(
    input: &Input<'_>,
    pair: &Pair,
    longest: u64,
    parse: fn(&[u8]) -> Result<Vec<Track>>,
    sink: &mut dyn Sink,
) -> Result<Box<dyn Volume>> {
    let pair = pair.find(input).ok_or(Error::UnknownFormat)?;
    let length = pair.directory.len().min(longest);
    let tracks = parse(&read_vec(&*pair.directory, 0, length, "description")?)?;
    open_tracks(input, None, &tracks, &|_| Some(pair.data.clone()), sink)
}

/// Returns a description with other names of its files: a cue sheet, or a GDI.
pub fn renamed(sheet: &[u8], rename: impl Fn(&str) -> String) -> Vec<u8> {
    match gdi::parse(sheet) {
        Some(_) => gdi::renamed(sheet, rename),
        None => cue::renamed(sheet, rename),
    }
}

/// Returns the extension of files with such a description.
pub fn extension(sheet: &[u8]) -> &'static str {
    let format = match gdi::parse(sheet) {
        Some(_) => &GDI,
        None => &CUE,
    };
    format.extensions[0]
}

/// Finds a file by its name.
type Find<'a> = &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>;

/// Returns the names of the files that a cue sheet or a GDI refers to; none if `source`
/// is neither.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn files(source: &dyn ReadAt) -> Result<Vec<String>> {
    if source.len() > MAX_SHEET {
        return Ok(Vec::new());
    }
    let sheet = read_vec(source, 0, source.len(), "description")?;
    Ok(match gdi::parse(&sheet) {
        Some(_) => dreamcast::sheet_files(&sheet),
        None => sheet_files(&sheet),
    })
}

/// Returns the names of the files that a cue sheet refers to; empty if `sheet`
/// is not a cue sheet.
fn sheet_files(sheet: &[u8]) -> Vec<String> {
    if sheet.len() as u64 > MAX_SHEET || !cue::begins_sheet(sheet) {
        return Vec::new();
    }
    let tracks = cue::parse(sheet).unwrap_or_default();
    let mut names: Vec<String> = tracks.into_iter().map(|track| track.file).collect();
    names.dedup();
    names
}

/// Opens a disc with these tracks in the files that `find` finds: the file system
/// of the first data track, and the audio tracks. `sheet` is their description, if lists
/// of discs have it.
fn open_tracks(
    input: &Input<'_>,
    sheet: Option<DiscImage>,
    tracks: &[Track],
    find: Find<'_>,
    sink: &mut dyn Sink,
) -> Result<Box<dyn Volume>> {
    let mut warnings = Warnings::default();
    let images = sheet.into_iter().chain(images(find, tracks));
    let mut disc = Disc::new(images.collect());
    disc.tracks_are(plain_tracks(find, tracks));
    let data = tracks
        .iter()
        .position(|track| matches!(track.kind, Kind::Data(_)));
    if let Some(number) = data {
        let (source, range) = track_bytes(find, tracks, number)?;
        let declared = Form::of_step(tracks[number].step());
        let form = Form::detect(&*source, range.0)?.unwrap_or(declared);
        let sectors = Sectors::new(source, form, range, input.options.verify);
        udf::read(&mut disc, &Arc::new(sectors), sink, &mut warnings)?;
    }
    add_audio(&mut disc, find, tracks, sink, &mut warnings)?;
    if disc.is_empty() && data.is_none() {
        let text = "describes a disc without data or audio tracks";
        return Err(Error::Unsupported(text.into()));
    }
    Ok(disc.finish(warnings))
}

/// Adds the audio tracks as WAV files.
fn add_audio(
    disc: &mut Disc,
    find: Find<'_>,
    tracks: &[Track],
    sink: &mut dyn Sink,
    warnings: &mut Warnings,
) -> Result<()> {
    for (number, track) in tracks.iter().enumerate() {
        if !matches!(track.kind, Kind::Audio(_)) {
            continue;
        }
        if !track.is_binary {
            let text = format!(
                "track {:02}: {} is not bare sectors",
                track.number, track.file
            );
            warnings.push(text);
            continue;
        }
        match track_bytes(find, tracks, number) {
            Ok((source, range)) => {
                disc.add_wav(sink, track.number, wav_of(track, source, range))?;
            }
            Err(error) if error.is_fault() => return Err(error),
            Err(error) => warnings.push(error.to_string()),
        }
    }
    Ok(())
}

/// Returns the samples in a range of `source` as a WAV file.
fn wav_of(track: &Track, source: Arc<dyn ReadAt>, range: (u64, u64)) -> Wav {
    if track.step() == RAW {
        return Wav::new(source, range);
    }
    let frames = Frames::without_subchannels(source, range);
    let range = (0, frames.len());
    Wav::new(Arc::new(frames), range)
}

/// Returns the file of a track, and the range of the track in it.
fn track_bytes(
    find: Find<'_>,
    tracks: &[Track],
    number: usize,
) -> Result<(Arc<dyn ReadAt>, (u64, u64))> {
    let track = &tracks[number];
    let named = || format!("track {:02}", track.number);
    let missing = || Error::Unsupported(format!("{}: {} is missing", named(), track.file));
    let source = find(&track.file).ok_or_else(missing)?;
    let next = tracks.get(number + 1);
    let next = next.filter(|next| next.file.eq_ignore_ascii_case(&track.file));
    let start = track.start * track.step();
    let end = next.map_or(source.len(), |next| next.gap * track.step());
    let end = track.end.map_or(end, |end| end * track.step());
    if start >= source.len() {
        let problem = format!("begins at {start:#x} of {}, past its end", track.file);
        return Err(Error::damaged(0, named(), problem));
    }
    Ok((source, (start, end)))
}

/// Returns the tracks as raw sectors; none if a file is missing or has another form.
fn plain_tracks(find: Find<'_>, tracks: &[Track]) -> Vec<PlainTrack> {
    let mut first = 0;
    let plain = (0..tracks.len()).map(|number| {
        let track = &tracks[number];
        let (source, (start, end)) = track_bytes(find, tracks, number).ok()?;
        let is_known = track.is_binary && !matches!(track.kind, Kind::Other);
        let step = Some(track.step()).filter(|_| is_known)?;
        let gap = track.start.saturating_sub(track.gap);
        let range = (start - gap * step)..end.min(source.len());
        first += track.silence;
        let (sectors, step): (Arc<dyn ReadAt>, _) = match step {
            WITH_SUBCHANNELS => {
                let range = (range.start, range.end);
                (Arc::new(Frames::without_subchannels(source, range)), RAW)
            }
            _ => (Arc::new(Composed::part(&source, range)), step),
        };
        let count = sectors.len() / step;
        let plain = PlainTrack {
            number: track.number,
            mode: track.mode,
            sectors: raw_sectors(sectors, step, track.mode, first),
            stored_gap: gap,
            silent_gap: track.silence,
            of_sheet: track.of_sheet.clone(),
            commands: track.commands.clone(),
        };
        first += count;
        Some(plain)
    });
    plain.collect::<Option<_>>().unwrap_or_default()
}

/// Returns the files of a disc that consist of sectors only, each followed by its
/// tracks if it has several, including their pregaps.
fn images(find: Find<'_>, tracks: &[Track]) -> Vec<DiscImage> {
    let mut images = Vec::new();
    let of_one_file = |one: &Track, other: &Track| one.file.eq_ignore_ascii_case(&other.file);
    for tracks in tracks.chunk_by(of_one_file) {
        let file = &tracks[0].file;
        let Some(source) = find(file).filter(|_| tracks[0].is_binary) else {
            continue;
        };
        let image = |part, bytes| DiscImage {
            file: Some(file.clone()),
            part,
            bytes,
        };
        images.push(image(Part::Whole, source.clone()));
        let mut start = 0;
        for (number, track) in tracks.iter().enumerate().filter(|_| tracks.len() > 1) {
            let next = tracks.get(number + 1);
            let end = next.map_or(source.len(), |next| next.gap * track.step());
            let part = Composed::part(&source, start..end.min(source.len()));
            images.push(image(Part::Track(track.number), Arc::new(part)));
            start = end;
        }
    }
    images
}
