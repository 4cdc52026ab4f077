//! ISO 9660 discs, plain and as raw CD images, with Joliet names, and cue
//! sheets with their tracks. The facts are those of `docs/formats/iso.md`.

mod cue;
mod directory;
mod sector;

use std::sync::Arc;

use serde_json::json;

use self::cue::{Kind, Track};
use self::directory::{Found, RECORD, Record, Visit, Walk};
use self::sector::{DESCRIPTORS, Form, Mode2File, SECTOR, Sectors, Spliced, Wav, read_user};
use super::{Content, Entry, FileId, Format, Input, Name, NodeId, Sink, Volume, no_such_file};
use crate::io::{Error, ReadAt, Result, Warnings};

/// How ISO 9660 images are told and opened.
pub const FORMAT: Format = Format {
    name: "ISO 9660",
    extensions: &["iso"],
    matches,
    open,
    is_plain_folder: true,
    is_layered: false,
};

/// How cue sheets are told and opened.
pub const CUE: Format = Format {
    name: "CUE",
    extensions: &["cue"],
    matches: matches_cue,
    open: open_cue,
    is_plain_folder: true,
    is_layered: false,
};

/// Most volume descriptors that are looked at.
const MAX_DESCRIPTORS: u64 = 32;

const PRIMARY: u8 = 1;
const SUPPLEMENTARY: u8 = 2;
const TERMINATOR: u8 = 255;

/// What the escape sequences of a Joliet descriptor are.
const JOLIET: [&[u8]; 3] = [b"%/@", b"%/C", b"%/E"];

/// What UDF discs without ISO 9660 have where the first descriptor would be.
const UDF: [&[u8]; 2] = [b"BEA01", b"NSR02"];

/// A disc whose directories have been read.
#[derive(Default)]
struct Disc {
    sectors: Option<Arc<Sectors>>,
    files: Vec<Bytes>,
    info: serde_json::Value,
    warnings: Vec<String>,
    /// Memory of the files that are more than a number.
    other_memory: usize,
}

/// Where the bytes of a file are.
enum Bytes {
    /// At this offset of the user data.
    At(u64),
    Other(Box<dyn ReadAt>),
}

fn matches(input: &Input<'_>) -> Result<bool> {
    let source = &*input.source;
    Ok(Form::detect(source, 0)?.is_some() || is_udf(input)?)
}

fn is_udf(input: &Input<'_>) -> Result<bool> {
    let id = input.bytes(DESCRIPTORS * SECTOR + 1, 5)?;
    Ok(UDF.contains(&&id[..]))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let Some(form) = Form::detect(&*input.source, 0)? else {
        let text = "is a UDF disc without ISO 9660, which is not supported";
        return Err(Error::Unsupported(text.into()));
    };
    let range = (0, input.source.len());
    let sectors = Sectors::new(input.source, form, range, input.options.verify);
    let mut warnings = Warnings::default();
    let mut disc = Disc::default();
    disc.read(sectors, sink, &mut warnings)?;
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
    let mut disc = Disc::default();
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
        let text = "is a cue sheet of no data and no audio tracks";
        return Err(Error::Unsupported(text.into()));
    }
    Ok(disc.finish(warnings))
}

/// Names of the files that a cue sheet needs beside it; none where `sheet` is
/// no cue sheet.
pub fn sheet_files(sheet: &[u8]) -> Vec<String> {
    if sheet.len() as u64 > cue::MAX_SHEET || !cue::begins_sheet(sheet) {
        return Vec::new();
    }
    let tracks = cue::parse(sheet).unwrap_or_default();
    let mut names: Vec<String> = tracks.into_iter().map(|track| track.file).collect();
    names.dedup();
    names
}

/// The file of a track, and where in it the track begins and ends.
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

/// The volume descriptors of a disc.
struct Descriptors {
    /// The primary one, or that of Joliet.
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
            warnings.push("the volume descriptors have no end");
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

/// Adds what the walk finds to a disc.
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
        let name = file.name;
        let raw = match *file.extents {
            [(offset, size)] if file.is_form_2 && self.sectors.has_mode_2() => {
                Mode2File::new(self.sectors, offset, size)
            }
            _ => None,
        };
        if let Some(raw) = raw {
            self.disc.other_memory += size_of::<Mode2File>();
            let text = format!("{}.raw2336", name.text);
            let name = Name {
                text: text.as_str().into(),
                raw: text.as_bytes(),
                escaped: name.escaped,
            };
            let size = raw.len();
            let bytes = Bytes::Other(Box::new(raw));
            self.disc
                .add(self.sink, file.parent, name, size, file.modified, bytes)?;
        }
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
        let mut directory = None;
        for (number, track) in tracks.iter().enumerate() {
            let name = format!("{:02}.wav", track.number);
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
            let parent = match directory {
                Some(parent) => parent,
                None => *directory.insert(sink.dir(sink.root(), Name::utf_8("tracks"), None)?),
            };
            let wav = Wav::new(source, range);
            self.other_memory += size_of::<Wav>();
            let size = wav.len();
            let bytes = Bytes::Other(Box::new(wav));
            self.add(sink, parent, Name::utf_8(&name), size, None, bytes)?;
        }
        Ok(())
    }

    fn finish(mut self, warnings: Warnings) -> Box<dyn Volume> {
        self.files.shrink_to_fit();
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

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A track without sectors.
    pub(super) fn no_sectors() -> Sectors {
        let form = Form::of_step(SECTOR);
        Sectors::new(Arc::new(Vec::new()), form, (0, 0), false)
    }
}
