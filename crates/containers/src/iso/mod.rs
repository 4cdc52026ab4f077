//! ISO 9660 discs, plain and as raw CD images, with Joliet names, and cue
//! sheets with their tracks. The format is described in `docs/formats/iso.md`.

mod apply;
mod cue;
mod directory;
mod sector;
mod wav;

use std::sync::Arc;

use serde_json::json;

use self::cue::{Kind, Track};
use self::directory::{Found, RECORD, Record, Visit, Walk};
use self::sector::{
    DESCRIPTORS, Form, Mode2File, SECTOR, Sectors, Slice, Spliced, XaFile, read_user,
};
use self::wav::{Samples, Wav};
use crate::file_type::FileType;
use crate::format::{Ambiguous, Format, Input};
use crate::io::{Compact, Error, ReadAt, Result, Warnings};
use crate::text::has_extension;
use crate::volume::{Content, DiscImage, Entry, FileId, Name, NodeId, Sink, Volume, no_such_file};

/// How ISO 9660 images are detected and opened.
pub const FORMAT: Format = Format {
    name: "ISO 9660",
    extensions: &["iso"],
    ambiguous: &[
        Ambiguous {
            extension: "bin",
            begins: sector::begins_frame,
            may_have: Some(sector::has_frames),
            sheet: Some("cue"),
        },
        Ambiguous {
            extension: "img",
            begins: sector::begins_frame,
            may_have: None,
            sheet: None,
        },
    ],
    pair: None,
    sheet: None,
    types: &[
        FileType::new("application/x-cd-image", None),
        FileType::new("application/vnd.efi.iso", None),
    ],
    matches,
    open,
    apply: Some(apply::apply),
    is_plain_folder: true,
    is_layered: false,
};

/// How cue sheets are detected and opened.
pub const CUE: Format = Format {
    name: "CUE",
    extensions: &["cue"],
    ambiguous: &[],
    pair: None,
    sheet: Some(sheet_files),
    types: &[FileType::new("application/x-cue", None)],
    matches: matches_cue,
    open: open_cue,
    apply: None,
    is_plain_folder: true,
    is_layered: false,
};

/// Maximum number of volume descriptors.
const MAX_DESCRIPTORS: u64 = 32;

const PRIMARY: u8 = 1;
const SUPPLEMENTARY: u8 = 2;
const TERMINATOR: u8 = 255;

/// Escape sequences of a Joliet descriptor.
const JOLIET: [&[u8]; 3] = [b"%/@", b"%/C", b"%/E"];

/// Identifiers of UDF discs without ISO 9660 in place of the first descriptor.
const UDF: [&[u8]; 2] = [b"BEA01", b"NSR02"];

/// Returns how a cue sheet calls the sectors of an image; `None` if the image
/// consists of user data alone, or is none.
pub fn cue_mode(image: &dyn ReadAt) -> Option<&'static str> {
    Form::detect(image, 0).ok()??.cue_mode(image)
}

/// A disc whose directories have been read.
#[derive(Default)]
struct Disc {
    sectors: Option<Arc<Sectors>>,
    files: Vec<Bytes>,
    images: Vec<DiscImage>,
    info: serde_json::Value,
    warnings: Vec<String>,
    /// Memory of the files that are not plain extents.
    other_memory: usize,
    /// The directory of the audio tracks.
    tracks: Option<NodeId>,
}

/// The data of a file.
enum Bytes {
    /// At this offset of the user data.
    At(u64),
    Other(Box<dyn ReadAt>),
}

fn matches(input: &Input<'_>) -> Result<bool> {
    if data_range(input).is_none() {
        return Ok(true);
    }
    Ok(data_form(input)?.is_some() || is_udf(input)?)
}

/// Returns the range of the first data track; `None` if all tracks are audio. A
/// source without a list of tracks is a single data track.
fn data_range(input: &Input<'_>) -> Option<(u64, u64)> {
    if input.tracks.is_empty() {
        return Some((0, input.source.len()));
    }
    let data = input.tracks.iter().find(|track| !track.is_audio)?;
    Some((data.start, data.end))
}

fn data_form(input: &Input<'_>) -> Result<Option<Form>> {
    let start = data_range(input).map_or(0, |(start, _)| start);
    Form::detect(&*input.source, start)
}

fn is_udf(input: &Input<'_>) -> Result<bool> {
    let id = input.bytes(DESCRIPTORS * SECTOR + 1, 5)?;
    Ok(UDF.contains(&&id[..]))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let mut warnings = Warnings::default();
    let mut disc = Disc {
        // No database lists the frames of a CD in a block image.
        images: match input.tracks {
            [] => DiscImage::whole(&input.source),
            _ => Vec::new(),
        },
        ..Disc::default()
    };
    if let Some(range) = data_range(&input) {
        let Some(form) = data_form(&input)? else {
            let text = "is a UDF disc without ISO 9660, which is not supported";
            return Err(Error::Unsupported(text.into()));
        };
        let source = input.source.clone();
        let sectors = Sectors::new(source, form, range, input.options.verify);
        disc.read(sectors, sink, &mut warnings)?;
    }
    for track in input.tracks.iter().filter(|track| track.is_audio) {
        let source = input.source.clone();
        let wav = Wav::new(source, (track.start, track.end), Samples::Frames);
        disc.add_wav(sink, track.number, wav)?;
    }
    Ok(disc.finish(warnings))
}

fn matches_cue(input: &Input<'_>) -> Result<bool> {
    if input.source.len() > cue::MAX_SHEET || !cue::begins_sheet(&input.bytes(0, 512)?) {
        return Ok(false);
    }
    let sheet = input.bytes(0, cue::MAX_SHEET)?;
    Ok(cue::parse(&sheet).is_ok())
}

fn open_cue(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let sheet = input.bytes(0, cue::MAX_SHEET)?;
    let tracks = cue::parse(&sheet)?;
    let mut warnings = Warnings::default();
    let mut disc = Disc {
        images: images(&input, &tracks),
        ..Disc::default()
    };
    let data = tracks
        .iter()
        .position(|track| matches!(track.kind, Kind::Data(_)));
    if let Some(number) = data {
        let (source, range) = track_bytes(&input, &tracks, number)?;
        let declared = Form::of_step(tracks[number].step());
        let form = Form::detect(&*source, range.0)?.unwrap_or(declared);
        let sectors = Sectors::new(source, form, range, input.options.verify);
        disc.read(sectors, sink, &mut warnings)?;
    }
    disc.add_audio(&input, &tracks, sink, &mut warnings)?;
    if disc.files.is_empty() && data.is_none() {
        let text = "is a cue sheet without data or audio tracks";
        return Err(Error::Unsupported(text.into()));
    }
    Ok(disc.finish(warnings))
}

/// Returns the names of the files that a cue sheet refers to; empty if `sheet`
/// is not a cue sheet.
fn sheet_files(sheet: &[u8]) -> Vec<String> {
    if sheet.len() as u64 > cue::MAX_SHEET || !cue::begins_sheet(sheet) {
        return Vec::new();
    }
    let tracks = cue::parse(sheet).unwrap_or_default();
    let mut names: Vec<String> = tracks.into_iter().map(|track| track.file).collect();
    names.dedup();
    names
}

/// Returns the file of a track, and the range of the track in it.
fn track_bytes(
    input: &Input<'_>,
    tracks: &[Track],
    number: usize,
) -> Result<(Arc<dyn ReadAt>, (u64, u64))> {
    let track = &tracks[number];
    let named = || format!("track {:02}", track.number);
    let missing = || Error::Unsupported(format!("{}: {} is missing", named(), track.file));
    let source = (input.partner)(&track.file).ok_or_else(missing)?;
    let next = tracks.get(number + 1);
    let next = next.filter(|next| next.file.eq_ignore_ascii_case(&track.file));
    let start = track.start * track.step();
    let end = next.map_or(source.len(), |next| next.gap * track.step());
    if start >= source.len() {
        let problem = format!("begins at {start:#x} of {}, past its end", track.file);
        return Err(Error::damaged(0, named(), problem));
    }
    Ok((source, (start, end)))
}

/// Returns the files of a cue sheet that consist of sectors only, each followed
/// by its tracks if it has several, including their pregaps.
fn images(input: &Input<'_>, tracks: &[Track]) -> Vec<DiscImage> {
    let mut images = Vec::new();
    let of_one_file = |one: &Track, other: &Track| one.file.eq_ignore_ascii_case(&other.file);
    for tracks in tracks.chunk_by(of_one_file) {
        let file = &tracks[0].file;
        let Some(source) = (input.partner)(file).filter(|_| tracks[0].is_binary) else {
            continue;
        };
        let image = |track, bytes| DiscImage {
            file: Some(file.clone()),
            track,
            bytes,
        };
        images.push(image(None, source.clone()));
        let mut start = 0;
        for (number, track) in tracks.iter().enumerate().filter(|_| tracks.len() > 1) {
            let next = tracks.get(number + 1);
            let end = next.map_or(source.len(), |next| next.gap * track.step());
            let part = Slice::new(source.clone(), start..end.min(source.len()));
            images.push(image(Some(track.number), Arc::new(part)));
            start = end;
        }
    }
    images
}

/// The volume descriptors of a disc.
struct Descriptors {
    /// The descriptor in use: the primary or the Joliet one.
    used: Vec<u8>,
    is_joliet: bool,
    is_xa: bool,
}

impl Descriptors {
    fn read(sectors: &Sectors, warnings: &mut Warnings) -> Result<Self> {
        let (mut primary, mut joliet) = (None, None);
        let mut ended = false;
        for number in DESCRIPTORS..DESCRIPTORS + MAX_DESCRIPTORS {
            let mut bytes = vec![0; SECTOR as usize];
            match read_user(sectors, number * SECTOR, &mut bytes) {
                Ok(()) => {}
                Err(error) if error.is_fault() && sectors.len() >= (number + 1) * SECTOR => {
                    return Err(error);
                }
                Err(_) => break,
            }
            if bytes[1..6] != *b"CD001" {
                break;
            }
            match bytes[0] {
                PRIMARY if primary.is_none() => primary = Some(bytes),
                SUPPLEMENTARY if joliet.is_none() && JOLIET.contains(&&bytes[88..91]) => {
                    joliet = Some(bytes);
                }
                TERMINATOR => {
                    ended = true;
                    break;
                }
                _ => {}
            }
        }
        if !ended {
            warnings.push("the volume descriptors have no terminator");
        }
        let is_xa = primary
            .as_ref()
            .is_some_and(|bytes| bytes[1024..].starts_with(b"CD-XA001"));
        let is_joliet = joliet.is_some();
        let missing = || {
            let offset = DESCRIPTORS * SECTOR;
            Error::damaged(offset, "volume descriptor", "is missing")
        };
        Ok(Self {
            used: joliet.or(primary).ok_or_else(missing)?,
            is_joliet,
            is_xa,
        })
    }

    fn text(&self, range: std::ops::Range<usize>) -> String {
        let bytes = &self.used[range];
        let text = match self.is_joliet {
            true => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
            false => crate::text::windows_1252(bytes),
        };
        text.trim_end_matches([' ', '\0']).to_owned()
    }
}

/// A visitor that adds the results of the walk to a disc.
struct Adder<'a> {
    disc: &'a mut Disc,
    sectors: &'a Arc<Sectors>,
    sink: &'a mut dyn Sink,
}

impl Visit for Adder<'_> {
    fn directory(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        modified: Option<i64>,
    ) -> Result<NodeId> {
        self.sink.dir(parent, name, modified)
    }

    fn file(&mut self, file: Found<'_>, _: &mut Warnings) -> Result<()> {
        let size = file.extents.iter().map(|(_, size)| size).sum();
        let bytes = match *file.extents {
            [(offset, _)] => Bytes::At(offset),
            ref extents => {
                let spliced = Spliced::new(self.sectors, extents);
                self.disc.other_memory += spliced.memory();
                Bytes::Other(Box::new(spliced))
            }
        };
        if let [(offset, size)] = *file.extents
            && file.is_form_2
            && self.sectors.has_mode_2()
            && let Some(raw) = Mode2File::new(self.sectors, offset, size)
        {
            self.add_whole(&file, raw)?;
        }
        let name = file.name;
        self.disc
            .add(self.sink, file.parent, name, size, file.modified, bytes)
    }
}

impl Adder<'_> {
    /// Adds the files that show the whole sectors of a file: bare, and as
    /// players open them.
    fn add_whole(&mut self, file: &Found<'_>, raw: Mode2File) -> Result<()> {
        if let Some(played) = XaFile::new(&raw) {
            // Players expect one of these extensions.
            let is_sound = has_extension(file.name.text.as_bytes(), "xa");
            let suffix = if is_sound { ".cdxa.xa" } else { ".cdxa.str" };
            self.add_beside(file, suffix, Box::new(played))?;
        }
        self.add_beside(file, ".raw2336", Box::new(raw))
    }

    /// Adds a file beside another one, with this suffix.
    fn add_beside(&mut self, file: &Found<'_>, suffix: &str, bytes: Box<dyn ReadAt>) -> Result<()> {
        self.disc.other_memory += size_of::<Mode2File>();
        let text = format!("{}{suffix}", file.name.text);
        let name = Name {
            text: text.as_str().into(),
            raw: text.as_bytes(),
            escaped: file.name.escaped,
        };
        let size = bytes.len();
        let bytes = Bytes::Other(bytes);
        self.disc
            .add(self.sink, file.parent, name, size, file.modified, bytes)
    }
}

impl Disc {
    /// Reads the directories of a data track.
    fn read(
        &mut self,
        sectors: Sectors,
        sink: &mut dyn Sink,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let descriptors = Descriptors::read(&sectors, warnings)?;
        let used = &descriptors.used;
        let block = u64::from(u16::from_le_bytes([used[128], used[129]]));
        if !matches!(block, 512 | 1024 | 2048) {
            let offset = DESCRIPTORS * SECTOR + 128;
            return Err(Error::damaged(offset, "block size", format!("is {block}")));
        }
        let blocks = used[80..].first_chunk().copied().unwrap_or_default();
        let size = u64::from(u32::from_le_bytes(blocks)) * block;
        if size > sectors.len() {
            warnings.push(format!(
                "the volume has {size} bytes, the image {}: it is cut",
                sectors.len()
            ));
        }
        self.info = json!({
            "system": descriptors.text(8..40),
            "volume": descriptors.text(40..72),
            "joliet": descriptors.is_joliet,
            "xa": descriptors.is_xa,
            "size": size,
        });
        let sectors = Arc::new(sectors);
        let mut odd = |text| warnings.push(format!("root: {text}"));
        let root = Record::parse(&used[156..=156 + RECORD], &mut odd).map_err(|problem| {
            let offset = DESCRIPTORS * SECTOR + 156;
            Error::damaged(offset, "root", problem)
        })?;
        let mut walk = Walk {
            sectors: &sectors,
            block,
            is_joliet: descriptors.is_joliet,
            warnings,
        };
        let node = sink.root();
        let disc = &mut *self;
        let mut adder = Adder {
            disc,
            sectors: &sectors,
            sink,
        };
        walk.all(&root, node, &mut adder)?;
        self.sectors = Some(sectors);
        Ok(())
    }

    fn add(
        &mut self,
        sink: &mut dyn Sink,
        parent: NodeId,
        name: Name<'_>,
        size: u64,
        modified: Option<i64>,
        bytes: Bytes,
    ) -> Result<()> {
        let entry = Entry {
            file: FileId(self.files.len() as u32),
            size: Some(size),
            modified,
            asset: None,
        };
        self.files.push(bytes);
        sink.file(parent, name, entry)?;
        Ok(())
    }

    /// Adds the audio tracks as WAV files.
    fn add_audio(
        &mut self,
        input: &Input<'_>,
        tracks: &[Track],
        sink: &mut dyn Sink,
        warnings: &mut Warnings,
    ) -> Result<()> {
        for (number, track) in tracks.iter().enumerate() {
            if track.kind != Kind::Audio {
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
            let (source, range) = match track_bytes(input, tracks, number) {
                Ok(found) => found,
                Err(error) if error.is_fault() => return Err(error),
                Err(error) => {
                    warnings.push(error.to_string());
                    continue;
                }
            };
            self.add_wav(sink, track.number, Wav::new(source, range, Samples::Bare))?;
        }
        Ok(())
    }

    /// Adds an audio track.
    fn add_wav(&mut self, sink: &mut dyn Sink, number: u8, wav: Wav) -> Result<()> {
        let parent = match self.tracks {
            Some(parent) => parent,
            None => {
                let root = sink.root();
                *self
                    .tracks
                    .insert(sink.dir(root, Name::utf_8("tracks"), None)?)
            }
        };
        self.other_memory += size_of::<Wav>();
        let name = format!("{number:02}.wav");
        let size = wav.len();
        let bytes = Bytes::Other(Box::new(wav));
        self.add(sink, parent, Name::utf_8(&name), size, None, bytes)
    }

    fn finish(mut self, warnings: Warnings) -> Box<dyn Volume> {
        self.files.compact();
        self.warnings = warnings.texts();
        Box::new(self)
    }
}

impl Volume for Disc {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let bytes = self.files.get(file.0 as usize);
        match (bytes.ok_or_else(|| no_such_file(file))?, &self.sectors) {
            (Bytes::At(offset), Some(sectors)) => Ok(Content::Extent {
                source: &**sectors,
                offset: *offset,
            }),
            (Bytes::At(_), None) => Err(no_such_file(file)),
            (Bytes::Other(source), _) => Ok(Content::Extent {
                source: &**source,
                offset: 0,
            }),
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.files.capacity() * size_of::<Bytes>() + self.other_memory
    }

    fn info(&self) -> serde_json::Value {
        self.info.clone()
    }

    fn images(&self) -> Vec<DiscImage> {
        self.images.clone()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a track without sectors.
    pub(super) fn no_sectors() -> Sectors {
        let form = Form::of_step(SECTOR);
        Sectors::new(Arc::new(Vec::new()), form, (0, 0), false)
    }
}
