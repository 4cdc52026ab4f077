//! 7z archives. Files are in solid blocks (7-Zip calls them folders), each
//! packed by a chain of coders, so that a file is decoded from the start of its
//! block. See `docs/formats/7z.md`.

mod block;
mod database;
mod decoder;
mod header;
mod keys;

use std::sync::Arc;

use serde_json::json;

use self::block::Block;
use self::database::Database;
use self::keys::Keys;
use super::paths::{Paths, plain_entry, record};
use crate::codec::Solid as _;
use crate::crypt::NEEDS_PASSWORD;
use crate::file_type::FileType;
use crate::format::{Format, Input, Options};
use crate::io::{Compact, Composed, Error, ReadAt, Result, Warnings};
use crate::text::{self, Charset};
use crate::volume::{
    Content, Decoder, Entry, FileId, MAX_LINK, Mountable, Needs, Sink, Streams, Volume,
};

/// The format of 7z archives.
pub const FORMAT: Format = Format {
    name: "7z",
    extensions: &["7z", "7z.001", "cb7"],
    types: &[FileType::new("application/x-7z-compressed", None)],
    matches: |input| Ok(header::start(&*input.source)?.is_some()),
    open,
    ..Format::PLAIN
};

/// A 7z archive.
struct SevenZip {
    source: Arc<dyn ReadAt>,
    members: Vec<Member>,
    blocks: Vec<Arc<Block>>,
    keys: Keys,
    options: Options,
    warnings: Vec<String>,
}

/// A file of the archive.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// Numbers of its block and of the file in the block; `None` if it is
    /// empty.
    location: Option<(u32, u32)>,
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    let start = header::start(&*input.source)?.ok_or(Error::UnknownFormat)?;
    let source = match start {
        0 => input.source,
        _ => Arc::new(Composed::part(&input.source, start..input.source.len())),
    };
    let keys = Keys::new(input.options.password.clone());
    let database = header::read(&source, &keys)?;
    let mut warnings = Warnings::default();
    let mut members = Vec::new();
    let Database { blocks, items } = database;
    let mut paths = Paths::new(sink);
    for item in items {
        let path = match &*item.name {
            "" => text::stem(&input.options.name),
            name => name,
        };
        let path = path.as_bytes();
        if item.is_directory {
            paths.directory_of(path, b"/", Charset::Utf8, item.modified)?;
            continue;
        }
        let size = item.location.map_or(0, |(block, file)| {
            blocks[block as usize]
                .file(file as usize)
                .map_or(0, |(_, size)| size)
        });
        let entry = Entry {
            modified: item.modified,
            ..plain_entry(members.len(), size)
        };
        let (parent, name) = paths.place(path, b"/", Charset::Utf8)?;
        if item.is_link && (1..=MAX_LINK).contains(&size) {
            paths.sink().stored_link(parent, name, entry)?;
        } else {
            let node = paths.sink().file(parent, name, entry)?;
            if let Some(mode) = item.mode {
                paths.sink().permissions(node, mode);
            }
        }
        members.push(Member {
            location: item.location,
        });
    }
    for (number, block) in blocks.iter().enumerate() {
        if let Some(problem) = block.problem() {
            warnings.push(format!("block {number} {problem}"));
        } else if block.is_encrypted() && !keys.has_password() {
            warnings.push(format!("block {number} {NEEDS_PASSWORD}"));
        }
    }
    members.compact();
    Ok(Box::new(SevenZip {
        source,
        keys,
        members,
        blocks: blocks
            .into_iter()
            .map(|mut block| {
                block.force(input.options.force);
                Arc::new(block)
            })
            .collect(),
        options: input.options,
        warnings: warnings.texts(),
    }))
}

impl SevenZip {
    /// Returns a block. Blocks are numbered after the files.
    fn block(&self, file: FileId) -> Result<&Arc<Block>> {
        let number = (file.0 as usize).checked_sub(self.members.len());
        let block = number.and_then(|number| self.blocks.get(number));
        block.ok_or_else(|| crate::volume::no_such_file(file))
    }
}

impl Streams for SevenZip {
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        self.decoder_before(file, 0)
    }

    fn restart_before(&self, file: FileId, position: u64) -> u64 {
        let block = self.block(file);
        block.map_or(0, |block| block.restart(position, &*self.source).decoded)
    }

    fn decoder_before(&self, file: FileId, position: u64) -> Result<Box<dyn Decoder>> {
        let block = self.block(file)?;
        let restart = block.restart(position, &*self.source);
        decoder::open(&self.source, block, &self.keys, restart)
    }

    fn needs(&self, file: FileId) -> Needs {
        Needs {
            memory: self.block(file).map_or(0, |block| block.decoder_memory()),
            is_copied: false,
            whole: None,
        }
    }
}

impl Volume for SevenZip {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        if file.0 as usize >= self.members.len() {
            self.block(file)?;
            return Ok(Content::Stream(self));
        }
        let Some((block, within)) = record(&self.members, file)?.location else {
            return Ok(Content::Extent {
                source: &*self.source,
                offset: 0,
            });
        };
        let number = self.members.len() + block as usize;
        let block = &self.blocks[block as usize];
        if let Some(problem) = block.problem() {
            return Err(problem.error());
        }
        if block.is_encrypted() && !self.keys.has_password() {
            return Err(Error::Encrypted(NEEDS_PASSWORD.to_owned()));
        }
        block.check_sum(within as usize)?;
        let (offset, _) = block.file(within as usize).unwrap_or((0, 0));
        if let Some(stored) = block.stored_at()
            && !self.options.verify
        {
            return Ok(Content::Extent {
                source: &*self.source,
                offset: stored + offset,
            });
        }
        Ok(Content::Part {
            whole: FileId(number as u32),
            offset,
        })
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn info(&self) -> serde_json::Value {
        json!({ "files": self.members.len(), "blocks": self.blocks.len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for SevenZip {
    fn memory(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.memory());
        size_of::<Self>() + self.members.capacity() * size_of::<Member>() + blocks.sum::<usize>()
    }
}

/// The reason why a block cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    Unsupported(String),
}

impl Problem {
    fn error(&self) -> Error {
        match self {
            Self::Unsupported(_) => Error::Unsupported(self.to_string()),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(what) => write!(f, "{what}, which is not supported"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::{open as open_named, read};
    use super::*;
    use crate::extract::Listing;

    /// An archive with one stored block of one file, without names, and the checksum
    /// that it records.
    fn archive(sum: u32) -> Vec<u8> {
        let database = [
            &[1, 4, 6, 0, 1, 9, 4, 0, 7, 11, 1, 0, 1, 1, 0, 12, 4, 10, 1][..],
            &sum.to_le_bytes(),
            &[0, 0, 5, 1, 0, 0],
        ]
        .concat();
        let mut end = [4_u64, database.len() as u64]
            .map(u64::to_le_bytes)
            .concat();
        end.extend(crc32fast::hash(&database).to_le_bytes());
        let start = crc32fast::hash(&end).to_le_bytes();
        [header::MAGIC, &[0, 4][..], &start, &end, b"text", &database].concat()
    }

    #[test]
    fn wrong_checksums_are_named_after_those_of_the_bytes() {
        let sum = crc32fast::hash(b"text");
        let input = Input {
            source: Arc::new(archive(7)),
            partner: &|_| None,
            tracks: &[],
            options: Options {
                verify: true,
                ..Options::default()
            },
        };
        let mut listing = Listing::default();
        let volume = (FORMAT.open)(input, &mut listing).unwrap();
        let (_, entry) = listing.files().next().unwrap();
        let error = read(&*volume, entry).unwrap_err().to_string();
        let problem = format!("checksum is {sum:08x}, should be 00000007");
        assert_eq!(error, format!("file 0 of a block at 0x20: {problem}"));
        let bytes = archive(sum);
        // The database last: its checksum is a part of the header.
        for (at, covered, field) in [(8, 12..32, "header"), (28, 36..bytes.len(), "database")] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            if field == "database" {
                let start = crc32fast::hash(&bytes[12..32]);
                bytes[8..12].copy_from_slice(&start.to_le_bytes());
            }
            let recorded = u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
            let found = crc32fast::hash(&bytes[covered]);
            let error = open_named(&FORMAT, "x", bytes, None).err().unwrap();
            let problem = format!("checksum is {found:08x}, should be {recorded:08x}");
            assert_eq!(error.to_string(), format!("{field} at {at:#x}: {problem}"));
        }
    }

    #[test]
    fn a_file_without_a_name_has_that_of_the_archive() {
        let bytes = archive(crc32fast::hash(b"text"));
        for name in ["piped.7z", "mods/piped.7z"] {
            let (listing, _) = open_named(&FORMAT, name, bytes.clone(), None).unwrap();
            assert_eq!(listing.paths(), ["piped"]);
        }
        let (listing, volume) = open_named(&FORMAT, "x", bytes, None).unwrap();
        let (name, entry) = listing.files().next().unwrap();
        assert_eq!(
            (name, read(&*volume, entry).unwrap()),
            ("x", b"text".to_vec())
        );
    }
}
