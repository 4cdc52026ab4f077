//! PRE, the container of Neversoft's games: flat (form 1: Tony Hawk's Pro
//! Skater 1 and 2, Spider-Man) and with packed files (forms 2 and 3: later
//! ones; `.prx`, `.prd`, `.prf` too). See `docs/formats/pre.md`.

mod apply;
mod flat;
mod packed;

use std::sync::Arc;

use serde_json::json;

use super::codec::{Lzss, PackedFile};
use super::paths::{Paths, Span, plain_entry, record};
use crate::changes::Changeable;
use crate::file_type::{FileType, Magic};
use crate::format::{Ambiguous, Format, Options};
use crate::io::{Compact, Error, ReadAt, Result, Warnings};
use crate::text::Charset;
use crate::volume::{
    Content, DataFacts, Decoder, FileId, MAX_ENTRIES, Mountable, Packed, Sink, Streams, Volume,
};

/// The type of both forms on desktops. The magic bytes of packed files decide
/// about names that other programs use.
const TYPE: FileType = FileType {
    has_thumbnail: true,
    ..FileType::archive("application/x-neversoft-pre", "Neversoft archive")
};

/// The format of archives of form 1.
pub const FLAT_FORMAT: Format = Format {
    name: "PRE",
    ambiguous: &[Ambiguous {
        begins: flat::begins,
        ..BEGINS_AS_PACKED
    }],
    types: &[FileType {
        shared_patterns: &["*.pre"],
        ..TYPE
    }],
    matches: flat::matches,
    open: |input, sink| Ok(Box::new(flat::read(input, sink)?)),
    change: Some(|input, sink| {
        Ok(Changeable::new(
            (flat::read(input, sink)?, ()),
            apply::apply,
        ))
    }),
    ..Format::PLAIN
};

/// The format of archives of forms 2 and 3.
pub const PACKED_FORMAT: Format = Format {
    extensions: &["prx", "prd", "prf"],
    ambiguous: &[BEGINS_AS_PACKED],
    types: &[FileType {
        magic: &[
            Magic::at(4, &0xABCD_0002_u32.to_le_bytes()),
            Magic::at(4, &0xABCD_0003_u32.to_le_bytes()),
        ],
        shared_patterns: &["*.prx", "*.prd"],
        ..TYPE
    }],
    matches: packed::matches,
    open: |input, sink| Ok(Box::new(packed::read(input, sink)?)),
    change: Some(|input, sink| {
        Ok(Changeable::new(
            (packed::read(input, sink)?, ()),
            apply::apply,
        ))
    }),
    ..FLAT_FORMAT
};

/// The extension of archives of all forms, for forms 2 and 3.
const BEGINS_AS_PACKED: Ambiguous = Ambiguous {
    extension: "pre",
    at: 0,
    begins: |head| packed::has_magic(head, 2..=3),
    confirms: None,
    may_have: None,
    sheet: None,
};

/// Separators in names.
const SEPARATORS: &[u8] = b"/\\";

/// A file of the archive.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// Absolute offset of its data.
    offset: u64,
    /// Decoded size in bytes.
    size: u32,
    /// Packed size in bytes; 0 if it is not packed.
    packed: u32,
}

impl Member {
    /// Returns its length in the archive in bytes, without the padding.
    fn stored(self) -> u64 {
        match self.packed {
            0 => self.size.into(),
            packed => packed.into(),
        }
    }

    /// Returns the absolute offset after it and its padding, where the next header is.
    fn end(self) -> u64 {
        self.offset + padded(self.stored())
    }
}

/// Returns a length with the padding to a multiple of four bytes.
fn padded(length: u64) -> u64 {
    length.next_multiple_of(4)
}

/// A PRE archive.
struct Pre {
    source: Arc<dyn ReadAt>,
    members: Vec<Member>,
    options: Options,
    /// The form, 1 to 3.
    form: u8,
    /// The separator of the names, if one has any.
    separator: Option<u8>,
    warnings: Vec<String>,
}

/// The files of an archive that is being opened.
struct Files<'a> {
    paths: Paths<'a>,
    members: Vec<Member>,
    separator: Option<u8>,
    warnings: Warnings,
}

impl<'a> Files<'a> {
    fn new(sink: &'a mut dyn Sink) -> Self {
        Self {
            paths: Paths::new(sink),
            members: Vec::new(),
            separator: None,
            warnings: Warnings::default(),
        }
    }

    fn add(&mut self, name: &[u8], member: Member) -> Result<()> {
        let entry = plain_entry(self.members.len(), member.size.into());
        self.paths
            .file(name, SEPARATORS, Charset::Windows1252, entry)?;
        self.members.push(member);
        let mut separators = name.iter().filter(|byte| SEPARATORS.contains(byte));
        self.separator = self.separator.or_else(|| separators.next().copied());
        Ok(())
    }

    fn into_volume(self, source: Arc<dyn ReadAt>, options: Options, form: u8) -> Pre {
        let mut members = self.members;
        members.compact();
        Pre {
            source,
            members,
            options,
            form,
            separator: self.separator,
            warnings: self.warnings.texts(),
        }
    }
}

/// Checks a number of files, whose headers have at least `header` bytes each,
/// against `length`.
fn check_count(count: u32, length: u64, header: u64, offset: u64) -> Result<()> {
    let most = (length / header).min(MAX_ENTRIES as u64);
    if u64::from(count) > most {
        let problem = format!("is {count}, at most {most} fit");
        return Err(Error::damaged(offset, "number of files", problem));
    }
    Ok(())
}

impl Streams for Pre {
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        let member = record(&self.members, file)?;
        let packed = PackedFile {
            source: self.source.clone(),
            offset: member.offset,
            stored: member.packed.into(),
            size: member.size.into(),
            crc: None,
            force: self.options.force,
        };
        packed.check(Lzss::longest(packed.stored))?;
        Ok(packed.decoder(Lzss::new()))
    }
}

impl Volume for Pre {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let member = record(&self.members, file)?;
        if member.packed != 0 {
            return Ok(Content::Stream(self));
        }
        let span = Span {
            offset: member.offset,
            size: member.size.into(),
        };
        span.content(&*self.source, self.options.force)
    }

    fn data_facts(&self, file: FileId) -> Result<DataFacts<'_>> {
        let member = record(&self.members, file)?;
        if member.packed == 0 {
            return Ok(DataFacts::default());
        }
        Ok(DataFacts {
            crc32: None,
            packed: Some(Packed {
                method: (PACKED_FORMAT.name, 0),
                source: &*self.source,
                offset: member.offset,
                length: member.packed.into(),
            }),
        })
    }

    fn info(&self) -> serde_json::Value {
        json!({ "form": self.form, "files": self.members.len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Pre {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.members.capacity() * size_of::<Member>()
    }
}

#[cfg(test)]
mod tests;
