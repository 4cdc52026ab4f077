//! The entries of a zip archive: their names, times, modes and encryption.

use std::borrow::Cow;
use std::sync::atomic::AtomicU64;

use rawzip::extra_fields::ExtraFields;

use super::{Encryption, Known, Member, UNKNOWN};
use crate::crypt::Strength;
use crate::format::Options;
use crate::io::{Compact, Error, Result, Warnings};
use crate::paths::Paths;
use crate::text::Charset;
use crate::volume::{Entry, FileId, MAX_ENTRIES, MAX_LINK, NodeId, Sink};

/// Method of files that are encrypted by AES; the real one is in an extra
/// field, with this number.
const AES: u16 = 99;
const AES_FIELD: u16 = 0x9901;

/// Extra field with the name in UTF-8.
const UNICODE_PATH: u16 = 0x7075;

/// Flags of an entry.
mod flag {
    pub(super) const ENCRYPTED: u16 = 1;
    pub(super) const DESCRIPTOR: u16 = 1 << 3;
    pub(super) const STRONG_ENCRYPTION: u16 = 1 << 6;
    pub(super) const UTF_8: u16 = 1 << 11;
}

/// An entry, from a record of the directory or from a header before a file.
pub(super) struct Header<'a> {
    pub(super) path: &'a [u8],
    pub(super) fields: ExtraFields<'a>,
    pub(super) flags: u16,
    /// True if it was made on Unix or macOS.
    pub(super) is_unix: bool,
    /// Permission bits.
    pub(super) mode: u16,
    /// True if it is a symbolic link.
    pub(super) is_link: bool,
    /// Modification time in seconds since 1970 UTC, if an extra field has it.
    pub(super) modified: Option<i64>,
    /// The same in DOS format.
    pub(super) dos: DosTime,
    pub(super) method: u16,
    /// Packed and decoded size in bytes.
    pub(super) stored: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
    /// Absolute offset of the header before the file.
    pub(super) offset: u64,
    /// Absolute offset of the record, if it is from one.
    pub(super) record: u64,
}

/// A date and a time in DOS format, which is local.
#[derive(Debug, Clone, Copy)]
pub(super) struct DosTime {
    pub(super) date: u16,
    pub(super) time: u16,
}

impl DosTime {
    /// Returns the seconds since 1970 UTC, if the date is valid.
    fn seconds(self, options: &Options) -> Option<i64> {
        let Self { date, time } = self;
        let date = [1980 + (date >> 9), date >> 5 & 15, date & 31];
        let second = (time & 31) * 2;
        // A second of 60 occurs.
        let time = [time >> 11, time >> 5 & 63, second.min(59)];
        options.local_time(date, time.map(|number| number as u8))
    }
}

impl Header<'_> {
    /// Returns whether the sizes and the checksum follow the data.
    pub(super) fn has_descriptor(&self) -> bool {
        self.flags & flag::DESCRIPTOR != 0
    }
}

/// The files of an archive.
pub(super) struct Members {
    pub(super) members: Vec<Member>,
    /// The records of the directory, if the archive is opened to be changed.
    pub(super) listed: Vec<DirectoryRecord>,
    pub(super) warnings: Warnings,
}

/// A record of the directory.
pub(super) struct DirectoryRecord {
    /// Absolute offset of the record.
    pub(super) record: u64,
    /// Absolute offset of the header before the file.
    pub(super) header: u64,
    pub(super) what: What,
}

/// The entry of a record.
pub(super) enum What {
    File(FileId),
    Directory(NodeId),
}

/// Declares entries to a sink.
pub(super) struct Entries<'a> {
    paths: Paths<'a>,
    options: &'a Options,
    members: Vec<Member>,
    listed: Vec<DirectoryRecord>,
    warnings: Warnings,
}

impl<'a> Entries<'a> {
    pub(super) fn new(options: &'a Options, sink: &'a mut dyn Sink) -> Self {
        Self {
            paths: Paths::new(sink),
            options,
            members: Vec::new(),
            listed: Vec::new(),
            warnings: Warnings::default(),
        }
    }

    pub(super) fn finish(mut self) -> Members {
        self.members.compact();
        Members {
            members: self.members,
            listed: self.listed,
            warnings: self.warnings,
        }
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    /// Declares an entry.
    ///
    /// # Errors
    /// Returns an error if there are too many.
    pub(super) fn add(&mut self, header: &Header<'_>) -> Result<()> {
        let (path, charset) = name(header, self.options);
        let path = &*path;
        let separators = separators(header, path);
        let modified = header.modified.or_else(|| header.dos.seconds(self.options));
        if path.last().is_some_and(|last| separators.contains(last)) {
            let directory = self
                .paths
                .directory_of(path, separators, charset, modified)?;
            self.list(header, What::Directory(directory));
            return Ok(());
        }
        if self.members.len() >= MAX_ENTRIES {
            return Err(Error::Unsupported(format!(
                "has more than {MAX_ENTRIES} files"
            )));
        }
        let entry = Entry {
            file: FileId(self.members.len() as u32),
            size: Some(header.size),
            modified,
            asset: None,
        };
        let (parent, name) = self.paths.place(path, separators, charset)?;
        let sink = self.paths.sink();
        if header.is_link && (1..=MAX_LINK).contains(&header.size) {
            sink.stored_link(parent, name, entry)?;
        } else {
            let node = sink.file(parent, name, entry)?;
            if header.is_unix {
                sink.permissions(node, header.mode);
            }
        }
        self.list(header, What::File(entry.file));
        self.members.make_room(1);
        self.members.push(member(header));
        Ok(())
    }

    fn list(&mut self, header: &Header<'_>, what: What) {
        if self.options.to_change {
            self.listed.make_room(1);
            self.listed.push(DirectoryRecord {
                record: header.record,
                header: header.offset,
                what,
            });
        }
    }
}

/// Returns the path of an entry, and its character set.
fn name<'h>(header: &Header<'h>, options: &Options) -> (Cow<'h, [u8]>, Charset) {
    let raw = header.path;
    if let Some(unicode) = unicode_path(header.fields, raw) {
        return (unicode.into(), Charset::Utf8);
    }
    if header.flags & flag::UTF_8 != 0 {
        return (raw.into(), Charset::Utf8);
    }
    if let Some(encoding) = options.encoding {
        // Decoded before it is split: a separator may be the second byte of
        // a character.
        let text = Charset::Other(encoding).decode(raw).into_owned();
        return (text.into_bytes().into(), Charset::Utf8);
    }
    match header.is_unix && str::from_utf8(raw).is_ok() {
        true => (raw.into(), Charset::Utf8),
        false => (raw.into(), Charset::Cp437),
    }
}

fn member(header: &Header<'_>) -> Member {
    let (encryption, method, crc) = encryption(header);
    Member {
        header: header.offset,
        data: AtomicU64::new(UNKNOWN),
        stored: header.stored,
        size: header.size,
        crc,
        method,
        encryption,
        known: Known::default(),
    }
}

/// Returns how an entry is encrypted, its method and its checksum, if it has
/// one.
fn encryption(header: &Header<'_>) -> (Encryption, u16, Option<u32>) {
    let (method, crc) = (header.method, Some(header.crc));
    if method == AES {
        return aes(header).unwrap_or((Encryption::Unknown, method, crc));
    }
    let encryption = match header.flags & flag::ENCRYPTED != 0 {
        false => Encryption::None,
        true if header.flags & flag::STRONG_ENCRYPTION != 0 => Encryption::Unknown,
        // The checksum was not known when the header was written.
        true if header.has_descriptor() => Encryption::Traditional {
            check: (header.dos.time >> 8) as u8,
        },
        true => Encryption::Traditional {
            check: (header.crc >> 24) as u8,
        },
    };
    (encryption, method, crc)
}

/// Reads the extra field of AES: the version, `AE`, the length of the key and
/// the method.
fn aes(header: &Header<'_>) -> Option<(Encryption, u16, Option<u32>)> {
    let mut fields = header.fields;
    let (_, field) = fields.find(|(id, _)| id.as_u16() == AES_FIELD)?;
    let [version, _, b'A', b'E', strength, low, high] = *field.first_chunk()? else {
        return None;
    };
    let encryption = Encryption::Aes(Strength::of(strength)?);
    // The second version has no checksum.
    let crc = (version == 1).then_some(header.crc);
    Some((encryption, u16::from_le_bytes([low, high]), crc))
}

/// Returns the UTF-8 name in the extra fields (0x7075), if it belongs to the
/// name in the directory.
fn unicode_path<'a>(mut fields: ExtraFields<'a>, name: &[u8]) -> Option<&'a [u8]> {
    let (_, field) = fields.find(|(id, _)| id.as_u16() == UNICODE_PATH)?;
    let (version, rest) = field.split_first()?;
    let (crc, path) = rest.split_first_chunk()?;
    let belongs = u32::from_le_bytes(*crc) == crc32fast::hash(name);
    (*version == 1 && belongs && str::from_utf8(path).is_ok()).then_some(path)
}

/// Returns the separators of a path. Some programs on Windows write
/// backslashes; on Unix a name can contain them.
fn separators(header: &Header<'_>, path: &[u8]) -> &'static [u8] {
    if header.is_unix || path.contains(&b'/') {
        b"/"
    } else {
        b"\\"
    }
}
