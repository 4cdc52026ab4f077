//! Volumes that are opened from a file of the disk, of a server, or of the mount
//! itself, and volumes of texts that the mount writes.

use std::io::Write;
use std::sync::Arc;

use super::subtree::volume_id;
use crate::content::{Images, OpenVolume, Reader, unwrap};
use crate::memory::budget::Charge;
use crate::mount::Options;
use crate::namespace::companion::Companions;
use crate::namespace::numbers::Range;
use crate::namespace::tree::TreeBuilder;
use crate::source::folder;
use hpimount_containers::format::{self, Format, Input};
use hpimount_containers::io::{self, BlockBuffer, ReadAt, Result};
use hpimount_containers::volume::{Content, FileId, Generate, LiveFolder, Volume};
use hpimount_containers::{formats, parts};

/// A volume before it has a number.
pub(crate) struct NewVolume {
    /// Name of its file, as users know it.
    pub(crate) name: String,
    /// The path of its file for messages; empty for a file inside another
    /// volume.
    pub(crate) location: String,
    /// Name of its format.
    pub(crate) format: &'static str,
    /// Whether companions of assets are listed in it, as in a folder.
    pub(crate) is_plain_folder: bool,
    /// Number of archives around it.
    pub(crate) nesting: u8,
    /// Number of bytes of its file; 0 for a folder, and for what has no file.
    pub(crate) stored: u64,
    /// Block images around it.
    pub(crate) images: Images,
    /// The opened container.
    pub(crate) volume: Box<dyn Volume>,
    /// Accounts for the memory of the changes that are applied to it.
    pub(crate) plan: Option<Charge>,
}

impl NewVolume {
    /// Creates a volume for a folder.
    pub(crate) fn folder(name: &str, location: &str, volume: Box<dyn Volume>) -> Self {
        Self {
            name: name.to_owned(),
            location: location.to_owned(),
            format: folder::FORMAT_NAME,
            is_plain_folder: true,
            nesting: 0,
            stored: 0,
            images: Images::default(),
            volume,
            plan: None,
        }
    }

    /// Creates a volume with one text: file number 0.
    pub(crate) fn text(name: &str, format: &'static str, text: Vec<u8>) -> Self {
        Self::generated(name, format, Box::new(Text(text)))
    }

    /// Creates a volume of files that the mount makes.
    pub(crate) fn generated(name: &str, format: &'static str, volume: Box<dyn Volume>) -> Self {
        Self {
            name: name.to_owned(),
            location: String::new(),
            format,
            is_plain_folder: false,
            nesting: 0,
            stored: 0,
            images: Images::default(),
            volume,
            plan: None,
        }
    }

    /// Returns the memory that it holds, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let texts = self.name.capacity() + self.location.capacity();
        let block = match self.stored {
            0 => 0,
            stored => BlockBuffer::memory(stored),
        };
        size_of::<Self>() + texts + block + self.volume.memory() + self.images.memory
    }

    /// Returns the warnings about it and the block images around it.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &String> {
        self.images.warnings_with(&*self.volume)
    }

    /// Returns the volume, which is number `number` of a subtree with these
    /// inode numbers.
    pub(crate) fn open(self, range: Range, number: usize) -> OpenVolume {
        OpenVolume {
            id: volume_id(range, number),
            name: self.name,
            location: self.location,
            format: self.format,
            images: self.images,
            is_plain_folder: self.is_plain_folder,
            nesting: self.nesting,
            stored: self.stored,
            volume: self.volume,
            plan: self.plan,
        }
    }
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
    pub(crate) volume: NewVolume,
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
    let volume = NewVolume {
        name: file.name.to_owned(),
        location: file.location.to_owned(),
        format: format.name,
        is_plain_folder: format.is_plain_folder,
        nesting: file.nesting,
        stored,
        images,
        volume,
        plan: None,
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

    fn memory(&self) -> usize {
        self.0.capacity()
    }
}
