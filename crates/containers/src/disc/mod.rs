//! Discs with a track of data and tracks of audio: what the file systems and
//! the lists of tracks share.

mod frames;
pub(crate) mod plain;
pub(crate) mod raw;
pub(crate) mod sector;
mod system;
mod wav;

use std::sync::Arc;

pub(crate) use self::frames::Frames;
use self::plain::{GdTrack, Mode, PlainTrack, raw_sectors};
use self::sector::RAW;
pub(crate) use self::sector::{
    DESCRIPTORS, Extent, Form, Mode2File, SECTOR, Sectors, XaFile, file_in, read_user,
};
pub(crate) use self::wav::Wav;
use crate::format::Input;
use crate::image::{CdTrack, FRAME};
use crate::io::{Compact, Composed, ReadAt, Result, Warnings, read_vec};
use crate::volume::{
    Content, Description, DiscImage, Entry, FileId, Mountable, Name, NodeId, Part, Sink, Volume,
    no_such_file,
};

/// A disc whose directories have been read.
#[derive(Default)]
pub(crate) struct Disc {
    sectors: Option<Arc<Sectors>>,
    files: Vec<Bytes>,
    images: Vec<DiscImage>,
    /// The tracks of a CD; empty if the source does not list them.
    plain: Vec<PlainTrack>,
    /// The tracks of a Dreamcast disc.
    gd: Vec<GdTrack>,
    /// The metadata of its file system.
    pub(crate) info: serde_json::Value,
    /// The same, once the disc is complete.
    described: Description,
    warnings: Vec<String>,
    /// Memory of the files that are not plain extents.
    other_memory: usize,
    /// The directory of the audio tracks.
    tracks: Option<NodeId>,
    /// The file that says which game it is.
    system: Option<Composed>,
}

/// The data of a file.
enum Bytes {
    /// At this offset of the user data.
    At(u64),
    Other(Box<dyn ReadAt>),
}

/// A file of a disc, without its data.
pub(crate) struct NewFile<'a> {
    pub(crate) parent: NodeId,
    pub(crate) name: Name<'a>,
    pub(crate) modified: Option<i64>,
}

/// Reads a file system in sectors, and declares its entries to a disc.
pub(crate) type ReadFileSystem =
    fn(&mut Disc, &Arc<Sectors>, &mut dyn Sink, &mut Warnings) -> Result<()>;

/// Returns the range of the first data track; `None` if all tracks are audio. A
/// source without a list of tracks is a single data track.
pub(crate) fn data_range(input: &Input<'_>) -> Option<(u64, u64)> {
    if input.tracks.is_empty() {
        return Some((0, input.source.len()));
    }
    let data = input.tracks.iter().find(|track| !track.is_audio)?;
    Some((data.start, data.end))
}

/// Returns the form of the sectors of the first data track; `None` without a
/// data track, or if the track has no volume descriptors.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub(crate) fn data_form(input: &Input<'_>) -> Result<Option<Form>> {
    match data_range(input) {
        Some((start, _)) => Form::detect(&*input.source, start),
        None => Ok(None),
    }
}

/// Returns the sectors of the first data track, under the same conditions as
/// [`data_form`].
///
/// # Errors
/// Returns an error if the source cannot be read.
pub(crate) fn data_sectors(input: &Input<'_>) -> Result<Option<Sectors>> {
    let Some(range) = data_range(input) else {
        return Ok(None);
    };
    Ok(data_form(input)?
        .map(|form| Sectors::new(input.source.clone(), form, range, input.options.verify)))
}

/// Opens a source as a disc: the file system that `read` reads in the first data
/// track, and the audio tracks.
///
/// # Errors
/// Returns the errors of `read`, or an error if the source cannot be read.
pub(crate) fn open(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    read: ReadFileSystem,
) -> Result<Box<dyn Volume>> {
    let mut warnings = Warnings::default();
    let images = match input.tracks {
        [] => DiscImage::whole(&input.source),
        tracks => tracks.iter().map(|track| image_of(input, track)).collect(),
    };
    let mut disc = Disc::new(images);
    disc.tracks_are(plain_tracks(input));
    if let Some(sectors) = data_sectors(input)? {
        read(&mut disc, &Arc::new(sectors), sink, &mut warnings)?;
    }
    for track in input.tracks.iter().filter(|track| track.is_audio) {
        let frames = Frames::of(input.source.clone(), track);
        let range = (0, frames.len());
        let wav = Wav::new(Arc::new(frames), range);
        disc.add_wav(sink, track.number, wav)?;
    }
    Ok(disc.finish(warnings))
}

/// Returns the tracks of a CD in a block image as raw sectors.
fn plain_tracks(input: &Input<'_>) -> Vec<PlainTrack> {
    let mut first = 0;
    let tracks = input.tracks.iter().map(|track| {
        let mode = match (track.is_audio, track.is_mode_2) {
            (true, _) => Mode::Audio,
            (false, true) => Mode::Mode2,
            (false, false) => Mode::Mode1,
        };
        let step = track.sector.into();
        let sectors: Arc<dyn ReadAt> = Arc::new(Frames::with_pregap(input.source.clone(), track));
        first += track.silence;
        let count = sectors.len() / step;
        let plain = PlainTrack {
            number: track.number,
            mode,
            sectors: raw_sectors(sectors, step, mode, first),
            stored_gap: (track.start - track.first) / FRAME,
            silent_gap: track.silence,
            of_sheet: Vec::new(),
            commands: Vec::new(),
        };
        first += count;
        // Sectors of Form 2 without their subheaders cannot be made whole.
        (plain.sectors.len() == count * RAW).then_some(plain)
    });
    tracks.collect::<Option<_>>().unwrap_or_default()
}

/// Returns a track of a CD in a block image as databases list it.
pub(crate) fn image_of(input: &Input<'_>, track: &CdTrack) -> DiscImage {
    DiscImage {
        file: None,
        part: Part::Track(track.number),
        bytes: Arc::new(Frames::with_pregap(input.source.clone(), track)),
    }
}

impl Disc {
    /// Creates a disc without files.
    pub(crate) fn new(images: Vec<DiscImage>) -> Self {
        Self {
            images,
            ..Self::default()
        }
    }

    /// Sets the tracks, before the file system is read.
    pub(crate) fn tracks_are(&mut self, tracks: Vec<PlainTrack>) {
        self.plain = tracks;
    }

    /// Returns the audio track that has a sector of the disc.
    pub(crate) fn audio_at(&self, sector: u64) -> Option<Wav> {
        let (track, _) = self.track_at(sector)?;
        let is_audio = track.mode == Mode::Audio;
        let range = (track.stored_gap * RAW, track.sectors.len());
        is_audio.then(|| Wav::new(track.sectors.clone(), range))
    }

    /// Returns the frames of the data track that has a sector of the disc, and the
    /// number of the first one.
    pub(crate) fn data_at(&self, sector: u64) -> Option<(Arc<dyn ReadAt>, u64)> {
        let (track, start) = self.track_at(sector)?;
        let first = start + track.silent_gap;
        let is_data = track.mode != Mode::Audio && sector >= first;
        is_data.then(|| (track.sectors.clone(), first))
    }

    /// Returns the track that has a sector of the disc, and the sector where it
    /// begins, with its pregap.
    fn track_at(&self, sector: u64) -> Option<(&PlainTrack, u64)> {
        let mut end = 0;
        let mut tracks = self.plain.iter().map(|track| {
            let start = end;
            end += track.silent_gap + track.sectors.len() / RAW;
            (track, start..end)
        });
        let (track, range) = tracks.find(|(_, range)| range.contains(&sector))?;
        Some((track, range.start))
    }

    /// Sets the tracks of a Dreamcast disc.
    pub(crate) fn gd_tracks_are(&mut self, tracks: Vec<GdTrack>) {
        self.gd = tracks;
    }

    /// Returns whether it has no files.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a file of these extents of the sectors. `size` is its length; what
    /// the extents lack of it cannot be read.
    ///
    /// # Errors
    /// Returns an error of the sink.
    pub(crate) fn add_extents(
        &mut self,
        sink: &mut dyn Sink,
        file: NewFile<'_>,
        (sectors, extents): (&Arc<Sectors>, &[Extent]),
        size: u64,
    ) -> Result<NodeId> {
        self.sectors.get_or_insert_with(|| sectors.clone());
        let is_system = file.name.text.eq_ignore_ascii_case(system::NAME);
        if is_system && file.parent == sink.root() && size <= system::LONGEST {
            self.system = Some(file_in(sectors, extents));
        }
        let bytes = match *extents {
            [] if size == 0 => Bytes::At(0),
            [
                Extent {
                    at: Some(at),
                    length,
                },
            ] if length >= size => Bytes::At(at),
            _ => {
                let file = file_in(sectors, extents);
                self.other_memory += file.memory();
                Bytes::Other(Box::new(file))
            }
        };
        self.add(sink, file, size, bytes)
    }

    /// Adds a file whose bytes are read from elsewhere. `memory` is the memory
    /// that they use, in bytes.
    ///
    /// # Errors
    /// Returns an error of the sink.
    pub(crate) fn add_source(
        &mut self,
        sink: &mut dyn Sink,
        file: NewFile<'_>,
        bytes: Box<dyn ReadAt>,
        memory: usize,
    ) -> Result<NodeId> {
        self.other_memory += memory;
        let size = bytes.len();
        self.add(sink, file, size, Bytes::Other(bytes))
    }

    fn add(
        &mut self,
        sink: &mut dyn Sink,
        file: NewFile<'_>,
        size: u64,
        bytes: Bytes,
    ) -> Result<NodeId> {
        let entry = Entry {
            file: FileId(self.files.len() as u32),
            size: Some(size),
            modified: file.modified,
            asset: None,
        };
        self.files.push(bytes);
        sink.file(file.parent, file.name, entry)
    }

    /// Adds an audio track.
    ///
    /// # Errors
    /// Returns an error of the sink.
    pub(crate) fn add_wav(&mut self, sink: &mut dyn Sink, number: u8, wav: Wav) -> Result<()> {
        let parent = match self.tracks {
            Some(parent) => parent,
            None => {
                let root = sink.root();
                *self
                    .tracks
                    .insert(sink.dir(root, Name::utf_8("tracks"), None)?)
            }
        };
        let name = format!("{number:02}.wav");
        let file = NewFile {
            parent,
            name: Name::utf_8(&name),
            modified: None,
        };
        self.add_source(sink, file, Box::new(wav), size_of::<Wav>())?;
        Ok(())
    }

    /// Returns it as a volume.
    pub(crate) fn finish(mut self, warnings: Warnings) -> Box<dyn Volume> {
        self.files.compact();
        if let Some(game) = self.system.take().and_then(|file| game_of(&file)) {
            self.info["game"] = game;
        }
        self.described = self.info.take().into();
        self.warnings = warnings.texts();
        Box::new(self)
    }
}

/// Returns the facts about the game of a disc. Unreadable files are reported when they are read.
fn game_of(system: &Composed) -> Option<serde_json::Value> {
    let bytes = read_vec(system, 0, system.len(), system::NAME).ok()?;
    system::facts(&bytes)
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

    fn info(&self) -> serde_json::Value {
        self.described.value()
    }

    fn images(&self) -> Vec<DiscImage> {
        self.images.clone()
    }

    fn plain_files(&self, stem: &str) -> Vec<(String, Arc<dyn ReadAt>)> {
        if !self.gd.is_empty() {
            return plain::gd(stem, &self.gd);
        }
        let mut files = match (&self.plain[..], &self.images[..]) {
            ([], [image]) if image.file.is_none() && image.part == Part::Whole => {
                plain::image(stem, &image.bytes)
            }
            (tracks, _) => plain::tracks(stem, tracks),
        };
        // Only Mode 1 has nothing but user data in each sector.
        if let ([track], Some(sectors)) = (&self.plain[..], &self.sectors)
            && track.mode == Mode::Mode1
        {
            let data: Arc<dyn ReadAt> = sectors.clone();
            files.extend(plain::iso(stem, &data));
        }
        files
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Disc {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.files.capacity() * size_of::<Bytes>()
            + self.other_memory
            + self.described.memory()
    }
}
