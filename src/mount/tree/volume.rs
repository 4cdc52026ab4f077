//! Volumes that are opened from a file of the disk, of a server, or of the mount
//! itself, and volumes of texts that the mount writes.

use std::io::Write;
use std::sync::Arc;

use crate::content::{OpenVolume, Reader, unwrap};
use crate::mount::Options;
use crate::namespace::companion::Companions;
use crate::namespace::tree::TreeBuilder;
use crate::source::folder;
use hpimount_containers::format::{self, Format, Input};
use hpimount_containers::io::{self, BlockBuffer, ReadAt, Result};
use hpimount_containers::volume::{Content, FileId, Generate, LiveFolder, Mountable, Volume};
use hpimount_containers::{formats, parts};

/// Creates the volume of a folder.
pub(crate) fn folder(name: &str, location: &str, volume: Box<dyn Volume>) -> OpenVolume {
    OpenVolume {
        location: location.to_owned(),
        is_plain_folder: true,
        ..OpenVolume::new(name, folder::FORMAT_NAME, volume)
    }
}

/// Creates a volume with one text: file number 0.
pub(crate) fn text(name: &str, format: &'static str, text: Vec<u8>) -> OpenVolume {
    OpenVolume::new(name, format, Box::new(Text(text)))
}

/// A file that is opened as a volume.
pub(crate) struct VolumeFile<'a> {
    /// Its name, as users know it.
    pub(crate) name: &'a str,
    /// Its path for messages.
    pub(crate) location: &'a str,
    /// Number of archives around it.
    pub(crate) nesting: u8,
    /// Its bytes.
    pub(crate) source: Arc<dyn ReadAt>,
    /// Finds the other files of a volume that consists of several.
    pub(crate) partner: &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>,
}

/// A volume that was opened from a file, with its unfinished tree.
pub(crate) struct OpenedFile {
    /// Its tree.
    pub(crate) builder: TreeBuilder,
    /// The volume.
    pub(crate) volume: OpenVolume,
    /// Its format.
    pub(crate) format: &'static Format,
}

/// Opens a file as a volume: removes the block images around it, detects its
/// format, and reads its directory into the tree that `new_builder` begins. A
/// format that `accepts` refuses is unknown.
///
/// # Errors
/// Returns [`io::Error::UnknownFormat`] if no format recognizes the file, and
/// the errors of reading its directory.
pub(crate) fn open(
    file: VolumeFile<'_>,
    reader: &Arc<Reader>,
    options: &Options,
    accepts: fn(&Format) -> bool,
    new_builder: impl FnOnce(Companions) -> TreeBuilder,
) -> Result<OpenedFile> {
    let split = parts::join(file.name, &file.source, file.partner);
    let Some(split) = split else {
        return open_whole(file, reader, options, accepts, new_builder);
    };
    let whole = VolumeFile {
        source: split.whole,
        ..file
    };
    let opened = open_whole(whole, reader, options, accepts, new_builder);
    opened.map_err(|error| match error {
        error if error.is_fault() => error,
        error => io::Error::Unsupported(format!(
            "cannot be opened with its parts before {}, which is missing: {error}",
            split.next
        )),
    })
}

fn open_whole(
    file: VolumeFile<'_>,
    reader: &Arc<Reader>,
    options: &Options,
    accepts: fn(&Format) -> bool,
    new_builder: impl FnOnce(Companions) -> TreeBuilder,
) -> Result<OpenedFile> {
    let stored = file.source.len();
    let buffered = Arc::new(BlockBuffer::new(file.source));
    let of_volume = options.of_volume(file.name);
    let (source, images) = unwrap(reader, buffered, &of_volume)?;
    let input = Input {
        source,
        partner: file.partner,
        tracks: &images.tracks,
        options: of_volume,
    };
    let format = formats::detect(&input)?;
    if !accepts(format) {
        return Err(io::Error::UnknownFormat);
    }
    let mut builder = new_builder(options.companions_in(file.nesting, format.is_plain_folder));
    let volume = (format.open)(input, &mut builder)?;
    probe(&mut builder, &*volume, !images.formats.is_empty());
    let volume = OpenVolume {
        location: file.location.to_owned(),
        is_plain_folder: format.is_plain_folder,
        nesting: file.nesting,
        stored,
        images,
        ..OpenVolume::new(file.name, format.name, volume)
    };
    Ok(OpenedFile {
        builder,
        volume,
        format,
    })
}

/// Detects which files of a volume are archives if their names are ambiguous.
/// `in_blocks` is set if the volume is in a block image.
pub(crate) fn probe(builder: &mut TreeBuilder, volume: &dyn Volume, in_blocks: bool) {
    match volume.live().is_some_and(LiveFolder::is_remote) {
        true => builder.trust_extensions(),
        false => builder.probe(in_blocks, &|file, size, extensions| {
            format::is_archive(volume, file, size, extensions)
        }),
    }
}

/// A text as a volume.
struct Text(Vec<u8>);

impl Generate for Text {
    fn generate(&self, _file: FileId, out: &mut dyn Write) -> Result<()> {
        out.write_all(&self.0)
            .map_err(|error| io::Error::of_output(&error))
    }
}

impl Volume for Text {
    fn content(&self, _file: FileId) -> Result<Content<'_>> {
        Ok(Content::Generated(self))
    }
}

impl Mountable for Text {
    fn memory(&self) -> usize {
        self.0.capacity()
    }
}
