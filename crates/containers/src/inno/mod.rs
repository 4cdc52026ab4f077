//! Installers that Inno Setup has made. They show the tree that they would install.
//! See `docs/formats/inno.md`.

mod block;
mod calls;
mod chunk;
mod contents;
mod data;
mod fields;
mod file;
mod header;
mod item;
mod loader;
mod names;
mod path;
mod slices;
mod sum;
mod version;
mod whole;

use std::fmt::Display;
use std::sync::Arc;

use serde_json::json;

use self::contents::{Contents, Place};
use self::header::Setup;
use self::item::Item;
use self::slices::Data;
use self::version::Version;
use self::whole::{Chunks, Kind, Whole};
use super::paths::{Paths, Span, plain_entry, record};
use crate::codec::Solid as _;
use crate::format::{Ambiguous, Format, Input, Options};
use crate::io::{Error, Result, check_sum};
use crate::text::Charset;
use crate::volume::{
    Content, Decoder, Entry, FileId, Mountable, Needs, Sink, Streams, Volume, no_such_file,
};

/// The format of installers. `setup-0.bin` is the header of one without its program.
pub const FORMAT: Format = Format {
    name: "Inno Setup",
    ambiguous: &[Ambiguous {
        extension: "exe",
        at: 0,
        begins: |head| head.starts_with(PROGRAM),
        confirms: Some(|source| matches!(loader::find(source), Ok(Some(_)))),
        // Most programs are no installers.
        may_have: Some(|size| size > MIN_PROGRAM),
        sheet: None,
    }],
    matches: |input| Ok(offsets(input)?.is_some()),
    open,
    ..Format::PLAIN
};

/// First bytes of a program.
const PROGRAM: &[u8] = b"MZ";

/// Length of a program that is too short for an installer, in bytes.
const MIN_PROGRAM: u64 = 512;

/// The location of an installer's table.
enum Start {
    /// At this offset of the program.
    Table(u64),
    /// The source is the header alone.
    Header,
}

fn offsets(input: &Input<'_>) -> Result<Option<Start>> {
    let head = input.bytes(0, version::PREFIX.len() as u64)?;
    if head == version::PREFIX {
        return Ok(Some(Start::Header));
    }
    match head.starts_with(PROGRAM) {
        true => Ok(loader::find(&*input.source)?.map(Start::Table)),
        false => Ok(None),
    }
}

/// Verifies a CRC-32.
fn check_crc(bytes: &[u8], recorded: u32, offset: u64, field: &'static str) -> Result<()> {
    check_sum("checksum", crc32fast::hash(bytes), recorded)
        .map_err(|problem| Error::damaged(offset, field, problem))
}

/// Returns the error for an installer without a file that can be read.
fn encrypted(version: Version) -> Error {
    Error::Encrypted(format!(
        "is an encrypted installer by Inno Setup {version}; \
         `innoextract --password` unpacks it"
    ))
}

/// Returns the error for an installer of another version.
fn unsupported(version: impl Display) -> Error {
    Error::Unsupported(format!(
        "is an installer by Inno Setup {version}, which is not supported; \
         `innoextract` unpacks it"
    ))
}

/// An installer.
struct Installer {
    chunks: Arc<Chunks>,
    wholes: Vec<Arc<Whole>>,
    places: Vec<Place>,
    options: Options,
    info: serde_json::Value,
    /// Memory of the info in bytes.
    info_memory: usize,
    warnings: Vec<String>,
}

/// Memory of a text in the info in bytes, beside its own bytes: with the name of a field.
const VALUE: usize = size_of::<serde_json::Value>() + 32;

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let start = offsets(&input)?.ok_or(Error::UnknownFormat)?;
    let (header, data) = match start {
        Start::Table(offset) => {
            let table = loader::Offsets::read(&*input.source, offset)?;
            (table.header, table.data)
        }
        Start::Header => (0, 0),
    };
    let setup = header::read(&*input.source, header, input.options.encoding)?;
    let mut items = item::items(&setup.files);
    let is_encrypted = |item: &Item| {
        let entry = item
            .location()
            .and_then(|number| setup.data.get(number as usize));
        entry.is_some_and(|entry| entry.is_encrypted)
    };
    if !items.is_empty() && items.iter().all(is_encrypted) {
        return Err(encrypted(setup.version));
    }
    names::make_unique(&mut items, &setup.data);
    let data = match data {
        0 => Data::in_slices(&setup, &input)?,
        offset => Data::inside(&input.source, offset),
    };
    let missing = data.missing.clone();
    declare(&setup, &items, sink)?;
    let info = info(&setup, items.len());
    let names = setup.languages.iter().chain(&setup.components);
    let product = [&setup.name, &setup.publisher, &setup.product_version];
    let texts = names.chain(product).map(|text| VALUE + text.len());
    // The names of the fields.
    let info_memory = 16 * VALUE + texts.sum::<usize>();
    let Contents {
        chunks,
        wholes,
        places,
    } = contents::of(&setup, data, &items);
    let force = input.options.force;
    let wholes = wholes.into_iter().map(|mut whole| {
        whole.force = force;
        Arc::new(whole)
    });
    Ok(Box::new(Installer {
        chunks: Arc::new(chunks),
        wholes: wholes.collect(),
        places,
        options: input.options,
        info,
        info_memory,
        warnings: missing
            .into_iter()
            .map(|name| format!("{name} is missing, and so is the data of files in it"))
            .collect(),
    }))
}

fn info(setup: &Setup, files: usize) -> serde_json::Value {
    json!({
        "name": setup.name,
        "version": setup.product_version,
        "publisher": setup.publisher,
        "inno_setup": setup.version.to_string(),
        "compression": setup.compression.name(),
        "languages": setup.languages,
        "components": setup.components,
        "files": files,
    })
}

/// Declares the directories and the files.
fn declare(setup: &Setup, items: &[Item], sink: &mut dyn Sink) -> Result<()> {
    sink.expect(items.len());
    let mut paths = Paths::ignoring_case(sink);
    for directory in &setup.directories {
        let path = path::expanded(directory);
        paths.directory(path.as_bytes(), b"/", Charset::Utf8)?;
    }
    for (number, item) in items.iter().enumerate() {
        let data = |number: u32| &setup.data[number as usize];
        let entry = Entry {
            modified: item.location().and_then(|number| data(number).modified),
            ..plain_entry(number, item.size(|number| data(number).size))
        };
        paths.file(item.path.as_bytes(), b"/", Charset::Utf8, entry)?;
    }
    Ok(())
}

impl Installer {
    /// Returns a whole. Wholes are numbered after the files.
    fn whole(&self, file: FileId) -> Result<&Arc<Whole>> {
        let number = (file.0 as usize).checked_sub(self.places.len());
        let whole = number.and_then(|number| self.wholes.get(number));
        whole.ok_or_else(|| no_such_file(file))
    }

    /// Returns the offset of a member in the data, if it is stored as it is.
    fn stored(&self, whole: &Whole, member: usize) -> Result<Option<u64>> {
        // A member that is stored has one segment. Empty ones may begin there, too.
        let (start, _) = whole.file(member).unwrap_or_default();
        let segments = &whole.segments;
        let number = segments.partition_point(|segment| segment.end_in_whole() <= start);
        let Some(segment) = segments
            .get(number)
            .filter(|found| found.kind == Kind::Plain)
        else {
            return Ok(None);
        };
        let chunk = self.chunks.of(segment);
        match chunk.compression {
            header::Compression::Stored => {
                Ok(Some(chunk.stored_at(segment.offset, &*self.chunks.data)?))
            }
            _ => Ok(None),
        }
    }
}

impl Streams for Installer {
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        self.decoder_before(file, 0)
    }

    fn restart_before(&self, file: FileId, position: u64) -> u64 {
        let whole = self.whole(file);
        whole.map_or(0, |whole| whole.restart(position, &self.chunks))
    }

    fn decoder_before(&self, file: FileId, position: u64) -> Result<Box<dyn Decoder>> {
        self.whole(file)?.decoder_before(position, &self.chunks)
    }

    fn needs(&self, file: FileId) -> Needs {
        let whole = self.whole(file);
        Needs {
            memory: whole.map_or(0, |whole| whole.decoder_memory_in(&self.chunks)),
            is_copied: false,
            whole: None,
        }
    }
}

impl Volume for Installer {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        if file.0 as usize >= self.places.len() {
            self.whole(file)?;
            return Ok(Content::Stream(self));
        }
        let (number, member) = match record(&self.places, file)? {
            Place::Empty => {
                return Ok(Content::Extent {
                    source: &*self.chunks.data,
                    offset: 0,
                });
            }
            Place::Broken(error) => return Err((**error).clone()),
            Place::Member { whole, member } => (*whole, *member as usize),
        };
        let whole = &self.wholes[number as usize];
        whole.check(member)?;
        let (offset, size) = whole.file(member).unwrap_or_default();
        if !self.options.verify
            && let Some(offset) = self.stored(whole, member)?
        {
            let span = Span { offset, size };
            return span.content(&*self.chunks.data, self.options.force);
        }
        Ok(Content::Part {
            whole: FileId(self.places.len() as u32 + number),
            offset,
        })
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn info(&self) -> serde_json::Value {
        self.info.clone()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Installer {
    fn memory(&self) -> usize {
        let chunks = self.chunks.chunks.iter().map(chunk::Chunk::memory);
        let wholes = self.wholes.iter().map(|whole| whole.memory());
        let broken = self.places.iter().map(Place::memory);
        size_of::<Self>()
            + self.info_memory
            + self.places.capacity() * size_of::<Place>()
            + broken.sum::<usize>()
            + chunks.sum::<usize>()
            + wholes.sum::<usize>()
    }
}
