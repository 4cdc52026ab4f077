//! HED/WAD, the containers of Neversoft's games on discs: a directory
//! (`CD.HED`) and the bytes (`CD.WAD`). See `docs/formats/wad.md`.

mod apply;
mod directory;
mod names;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;

use self::directory::{Directory, Form, Record};
use super::paths::{Paths, Span, plain_entry, record};
use crate::changes::Changeable;
use crate::file_type::FileType;
use crate::format::{Format, Input, Options, Pair};
use crate::io::{Compact, Error, ReadAt, Result, Warnings, read_vec};
use crate::text::{Charset, has_extension};
use crate::volume::{Content, FileId, Mountable, Sink, Volume};

/// The format of HED/WAD pairs. No extension is listed, because other formats have `.wad` too.
pub const FORMAT: Format = Format {
    name: "HED/WAD",
    pair: Some(PAIR),
    types: &[FileType {
        // In the database, other names with .wad are files of Doom.
        patterns: &["cd.wad", "*.hed"],
        ..FileType::archive("application/x-neversoft-wad", "Neversoft archive")
    }],
    matches,
    open: |input, sink| Ok(Box::new(read(input, sink)?.0)),
    change: Some(|input, sink| Ok(Changeable::new(read(input, sink)?, apply::apply))),
    ..Format::PLAIN
};

/// The two files.
const PAIR: Pair = Pair {
    data: "wad",
    directory: "hed",
};

/// Maximum length of a directory.
const MAX_DIRECTORY: u64 = 8 << 20;

/// Separators in names.
const SEPARATORS: &[u8] = b"/\\";

/// Other formats with the same extension: magic bytes and name.
const OTHER_WADS: [(&[u8], &str); 5] = [
    (b"IWAD", "Doom"),
    (b"PWAD", "Doom"),
    (b"WAD2", "Quake"),
    (b"WAD3", "Half-Life"),
    (b"\x00\x00\x00\x20\x49\x73", "the Wii"),
];

/// A directory and its data file.
struct Wad {
    bytes: Arc<dyn ReadAt>,
    files: Vec<Span>,
    options: Options,
    form: Form,
    warnings: Vec<String>,
}

/// The directory and the data file of a volume.
struct Parts {
    directory: Vec<u8>,
    bytes: Arc<dyn ReadAt>,
}

impl Parts {
    /// Finds both files; the source may be either.
    fn read(input: &Input<'_>) -> Result<Option<Self>> {
        let Some(found) = PAIR.find(input) else {
            return Ok(None);
        };
        let length = found.directory.len();
        if length > MAX_DIRECTORY {
            return Ok(None);
        }
        Ok(Some(Self {
            directory: read_vec(&*found.directory, 0, length, "directory")?,
            bytes: found.data,
        }))
    }
}

fn matches(input: &Input<'_>) -> Result<bool> {
    if other_wad(input)?.is_some() {
        return Ok(true);
    }
    let Some(pair) = Parts::read(input)? else {
        return Ok(false);
    };
    Ok(directory::read(&pair.directory, pair.bytes.len()).is_ok())
}

/// Returns the game that a `.wad` of another format is for.
fn other_wad(input: &Input<'_>) -> Result<Option<&'static str>> {
    if !has_extension(input.options.name.as_bytes(), "wad") {
        return Ok(None);
    }
    let head = input.bytes(0, 8)?;
    let known = OTHER_WADS.iter().find(|(magic, _)| head.starts_with(magic));
    Ok(known.map(|(_, game)| *game))
}

/// Reads the directory, and declares its files.
fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<(Wad, Directory)> {
    if let Some(game) = other_wad(&input)? {
        let text = format!("is a WAD of {game}, which is not supported");
        return Err(Error::Unsupported(text));
    }
    let pair = Parts::read(&input)?.ok_or(Error::UnknownFormat)?;
    let directory = directory::read(&pair.directory, pair.bytes.len())?;
    let mut warnings = Warnings::default();
    let files = announce(&directory, &*pair.bytes, sink, &mut warnings)?;
    let wad = Wad {
        bytes: pair.bytes,
        files,
        options: input.options,
        form: directory.form,
        warnings: warnings.texts(),
    };
    Ok((wad, directory))
}

/// Declares the files in the WAD, and returns their extents.
fn announce(
    directory: &Directory,
    bytes: &dyn ReadAt,
    sink: &mut dyn Sink,
    warnings: &mut Warnings,
) -> Result<Vec<Span>> {
    let mut paths = Paths::new(sink);
    let mut files = Vec::with_capacity(directory.records.len());
    let trailing = directory.trailing;
    if trailing > 0 {
        warnings.push(format!("{trailing} bytes follow the directory"));
    }
    for record in &directory.records {
        let span = directory.span(record);
        let name = name(record, span, bytes)?;
        if record.is_elsewhere {
            let name = name.escape_ascii();
            warnings.push(format!("{name} is beside the WAD on the disc"));
            continue;
        }
        if !span.is_inside(bytes.len()) {
            let name = name.escape_ascii();
            warnings.push(format!("{name} extends past the end of the WAD"));
        }
        let entry = plain_entry(files.len(), span.size);
        paths.file(&name, SEPARATORS, Charset::Windows1252, entry)?;
        files.push(span);
    }
    files.compact();
    Ok(files)
}

/// Returns the name of a file: the name in its record, the known name with its
/// hash, or its hash with an extension determined by its first bytes.
fn name<'a>(record: &'a Record, span: Span, bytes: &dyn ReadAt) -> Result<Cow<'a, [u8]>> {
    let hash = match &record.name {
        directory::FileName::Plain(name) => return Ok(Cow::Borrowed(name)),
        directory::FileName::Hash(hash) => *hash,
    };
    if let Some(name) = names::find(hash) {
        return Ok(Cow::Borrowed(name.as_bytes()));
    }
    let length = span.size.min(names::HEAD);
    let head = match span.is_inside(bytes.len()) {
        true => read_vec(bytes, span.offset, length, "file")?,
        false => Vec::new(),
    };
    let extension = names::extension(&head);
    Ok(Cow::Owned(format!("{hash:08X}.{extension}").into_bytes()))
}

impl Volume for Wad {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        record(&self.files, file)?.content(&*self.bytes, self.options.force)
    }

    fn info(&self) -> serde_json::Value {
        json!({ "form": self.form.name(), "files": self.files.len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Wad {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.files.capacity() * size_of::<Span>()
    }
}

#[cfg(test)]
mod tests;
