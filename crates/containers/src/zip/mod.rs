//! Zip archives. The directory is read by the `rawzip` crate; the files are
//! stored, or packed by deflate. See `docs/formats/zip.md`.

mod apply;
mod directory;
mod entry;
mod method;
mod parts;
mod scan;
mod summed;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use self::entry::{DirectoryRecord, Members};
use self::parts::Archive;
use self::summed::{Known, Summed};
use super::changes::Changeable;
use super::codec::{Copy, Inflate, MAX_DEFLATE_RATIO, PackedFile, Wrapping};
use super::crypt::{NEEDS_PASSWORD, Strength, Traditional, WRONG_PASSWORD, WinZip};
use super::paths::{Span, record};
use crate::file_type::FileType;
use crate::format::{Format, Input, Options};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};
use crate::volume::{
    Content, DataFacts, Decoder, FileId, Mountable, Needs, Packed, Sink, Streams, Volume, Whole,
};

/// The format of zip archives.
pub const FORMAT: Format = Format {
    name: "zip",
    extensions: &["zip", "zip.001", "zipx", "jar", "pk3", "pk4", "cbz"],
    types: &[FileType::new("application/zip", None)],
    matches,
    open: |input, sink| Ok(Box::new(read(input, sink)?.0)),
    change: Some(change),
    ..Format::PLAIN
};

/// The format of zip archives behind other data, detected by their directory. This is
/// tried last, since other archives may end with a zip that is one of their files.
pub const PREFIXED: Format = Format {
    extensions: &[],
    matches: |input| directory::exists(&input.source),
    ..FORMAT
};

/// First bytes of the header before each file.
const LOCAL_HEADER: &[u8; 4] = b"PK\x03\x04";

/// First bytes of the record at the end. An empty archive consists of this
/// record alone.
const END: &[u8; 4] = b"PK\x05\x06";

/// First bytes of the records at the end of large archives.
const END_64: &[u8; 4] = b"PK\x06\x06";
const LOCATOR_64: &[u8; 4] = b"PK\x06\x07";

/// First bytes of an archive in several parts, and of an archive that was made
/// for several parts but fits into one.
const SPANNED: &[u8; 4] = b"PK\x07\x08";
const NOT_SPANNED: &[u8; 4] = b"PK00";

/// First bytes of a program for DOS or Windows, which may be self-extracting.
const PROGRAM: &[u8; 2] = b"MZ";

/// Length of the fixed part of a local header, and the offset in it of the
/// lengths of the name and the extra fields.
const LOCAL_LENGTH: u64 = 30;
const LOCAL_LENGTHS: usize = 26;

/// Compression methods.
const STORED: u16 = 0;
const DEFLATE: u16 = 8;

/// The offset of file data that has not been looked up.
const UNKNOWN: u64 = u64::MAX;

/// A zip archive.
struct Zip {
    /// The source and the files.
    summed: Summed,
    options: Options,
    warnings: Vec<String>,
}

/// The place of a directory, and its records.
struct Directory {
    /// From the first record to the record at the end.
    range: Range<u64>,
    listed: Vec<DirectoryRecord>,
}

/// A file of the archive.
struct Member {
    /// Absolute offset of the local header.
    header: u64,
    /// Absolute offset of the data after the local header; [`UNKNOWN`] until
    /// the header, which contains its own length, has been read.
    data: AtomicU64,
    /// Packed size in bytes.
    stored: u64,
    /// Decoded size in bytes.
    size: u64,
    /// CRC-32 of the decoded bytes; `None` if they are encrypted in a way that
    /// has another code.
    crc: Option<u32>,
    method: u16,
    encryption: Encryption,
    /// The state of the checksum if the data is stored, or of the code if it is
    /// encrypted.
    known: Known,
}

/// The encryption of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    None,
    /// By PKWARE's old cipher, whose header ends with this byte.
    Traditional {
        check: u8,
    },
    Aes(Strength),
    /// In a way that is not supported.
    Unknown,
}

fn matches(input: &Input<'_>) -> Result<bool> {
    let head = input.bytes(0, LOCAL_HEADER.len() as u64)?;
    let known = [LOCAL_HEADER, END, SPANNED, NOT_SPANNED];
    if known.iter().any(|magic| head == magic[..]) {
        return Ok(true);
    }
    Ok(head.starts_with(PROGRAM) && directory::exists(&input.source)?)
}

fn change<'a>(input: Input<'a>, sink: &mut dyn Sink) -> Result<Changeable<'a>> {
    let whole = input.source.clone();
    let (zip, directory) = read(input, sink)?;
    Ok(Changeable::new((zip, (whole, directory)), apply::apply))
}

/// Reads the directory, and declares its files. The records are listed if the archive is
/// opened to be changed.
fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<(Zip, Directory)> {
    let Archive { source, parts } = parts::join(&input)?;
    let broken = match input.options.force {
        true => directory::check(&*source, &parts).err(),
        false => None,
    };
    let (found, range) = match broken {
        Some(error) if !error.is_fault() => {
            let found = scan::read(&*source, &input.options, sink, &error)?;
            (found, 0..0)
        }
        _ => directory::read(&*source, &parts, &input.options, sink)?,
    };
    let Members {
        members,
        listed,
        warnings,
    } = found;
    let zip = Zip {
        summed: Summed::new(source, members, input.options.force),
        options: input.options,
        warnings: warnings.texts(),
    };
    Ok((zip, Directory { range, listed }))
}

impl Zip {
    /// Returns the absolute offset of the first byte of a file's data.
    fn data_offset(&self, member: &Member) -> Result<u64> {
        let known = member.data.load(Ordering::Relaxed);
        if known != UNKNOWN {
            return Ok(known);
        }
        let header = read_vec(
            &**self.summed.source(),
            member.header,
            LOCAL_LENGTH,
            "local header",
        )?;
        if !header.starts_with(LOCAL_HEADER) {
            return Err(Error::damaged(
                member.header,
                "local header",
                "does not begin with PK 03 04",
            ));
        }
        let mut cursor = Cursor::new(&header, member.header, Endian::Little);
        cursor.take(LOCAL_LENGTHS, "local header")?;
        let name = cursor.u16("name length")?;
        let extra = cursor.u16("extra field length")?;
        // The header lies in the source, whose length is a `u64`.
        let data = (member.header + LOCAL_LENGTH)
            .saturating_add(name.into())
            .saturating_add(extra.into());
        member.data.store(data, Ordering::Relaxed);
        Ok(data)
    }

    /// Returns the packed bytes of a file, decrypted.
    fn packed(&self, member: &Member) -> Result<PackedFile> {
        let offset = self.data_offset(member)?;
        let decrypted = self.decrypted(member, offset)?;
        let is_whole = decrypted.is_none();
        let source = decrypted.unwrap_or_else(|| self.summed.source().clone());
        Ok(PackedFile {
            offset: if is_whole { offset } else { 0 },
            stored: if is_whole {
                member.stored
            } else {
                source.len()
            },
            source,
            size: member.size,
            crc: member.crc,
            force: self.options.force,
        })
    }

    /// Returns the decrypted bytes of a file at `offset`; `None` if they are not
    /// encrypted.
    fn decrypted(&self, member: &Member, offset: u64) -> Result<Option<Arc<dyn ReadAt>>> {
        let source = self.summed.source();
        let wrong = || Error::Encrypted(WRONG_PASSWORD.to_owned());
        let password = || {
            let password = self.options.password.as_ref();
            password.ok_or_else(|| Error::Encrypted(NEEDS_PASSWORD.to_owned()))
        };
        let place = (offset, member.stored);
        Ok(Some(match member.encryption {
            Encryption::None => return Ok(None),
            Encryption::Unknown => {
                let problem = "is encrypted in a way that is not supported";
                return Err(Error::Encrypted(problem.to_owned()));
            }
            Encryption::Traditional { check } => {
                let file = Traditional::open(source, place, check, password()?)?;
                Arc::new(file.ok_or_else(wrong)?)
            }
            Encryption::Aes(strength) => {
                let file = WinZip::open(source, place, strength, password()?)?;
                let file = file.ok_or_else(wrong)?;
                if !member.known.is_right() {
                    match file.verify() {
                        Err(error) if self.options.force && !error.is_fault() => {
                            log::warn!("{error}; ignored");
                        }
                        verified => verified?,
                    }
                    member.known.set_right();
                }
                Arc::new(file)
            }
        }))
    }
}

impl Streams for Zip {
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        let member = record(self.summed.members(), file)?;
        let packed = self.packed(member)?;
        if member.method == STORED {
            packed.check(packed.stored)?;
            return Ok(packed.decoder(Copy));
        }
        if member.method != DEFLATE {
            packed.check(u64::MAX)?;
            let (method, skipped) = method::of(member, &packed)?;
            return packed.reader(method, skipped);
        }
        packed.check(packed.stored.saturating_mul(MAX_DEFLATE_RATIO))?;
        Ok(packed.decoder(Inflate::new(Wrapping::None)))
    }

    fn decode_whole(&self, file: FileId) -> Option<Vec<u8>> {
        let member = record(self.summed.members(), file).ok()?;
        let packed = self.packed(member).ok()?;
        packed
            .check(member.stored.saturating_mul(MAX_DEFLATE_RATIO))
            .ok()?;
        packed.inflate_whole(Wrapping::None)
    }

    fn needs(&self, file: FileId) -> Needs {
        let Ok(member) = record(self.summed.members(), file) else {
            return Needs::default();
        };
        let whole = Whole {
            packed: member.stored,
            size: member.size,
        };
        match member.method {
            STORED => Needs::default(),
            DEFLATE => Needs {
                whole: Some(whole),
                ..Needs::default()
            },
            _ => {
                let packed = self.packed(member);
                let method = packed.and_then(|packed| method::of(member, &packed));
                Needs {
                    memory: method.map_or(0, |(method, _)| method.memory()),
                    is_copied: false,
                    whole: None,
                }
            }
        }
    }
}

impl Volume for Zip {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let member = record(self.summed.members(), file)?;
        if member.encryption != Encryption::None && self.options.password.is_none() {
            return Err(Error::Encrypted(NEEDS_PASSWORD.to_owned()));
        }
        match member.method {
            STORED if self.options.verify || member.encryption != Encryption::None => {
                Ok(Content::Stream(self))
            }
            STORED if member.stored != member.size => Err(Error::damaged(
                member.header,
                "compressed size",
                format!(
                    "of a stored file is {}, should be {}",
                    member.stored, member.size
                ),
            )),
            STORED => {
                let span = Span {
                    offset: self.data_offset(member)?,
                    size: member.size,
                };
                span.content(&self.summed, self.options.force)
            }
            DEFLATE => Ok(Content::Stream(self)),
            method if method::is_supported(method) => Ok(Content::Stream(self)),
            method => Err(Error::Unsupported(format!(
                "is packed by method {method}{}, which is not supported",
                method::name(method)
            ))),
        }
    }

    fn data_facts(&self, file: FileId) -> Result<DataFacts<'_>> {
        let member = record(self.summed.members(), file)?;
        if member.method == STORED || member.encryption != Encryption::None {
            return Ok(DataFacts::default());
        }
        Ok(DataFacts {
            crc32: member.crc,
            packed: Some(Packed {
                method: (FORMAT.name, member.method),
                source: &**self.summed.source(),
                offset: self.data_offset(member)?,
                length: member.stored,
            }),
        })
    }

    fn info(&self) -> serde_json::Value {
        json!({ "files": self.summed.members().len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Zip {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.summed.memory()
    }
}

#[cfg(test)]
mod tests;
