//! Reading the central directory of a zip archive.

use std::sync::atomic::AtomicU64;

use rawzip::extra_fields::ExtraFields;
use rawzip::{CreatorSystem, ErrorKind, ZipArchive, ZipFileHeaderRecord};

use super::super::paths::{Paths, components};
use super::super::time;
use super::{Known, Member, UNKNOWN};
use crate::io::{Compact, Error, ReadAt, Result, Warnings};
use crate::text::Charset;
use crate::volume::{Entry, FileId, MAX_ENTRIES, Sink};

/// Number of bytes at the end of the source that are searched for the end
/// record: its length with the longest comment, and padding after it.
const SEARCHED: u64 = 256 << 10;

/// Bytes of the directory that are read at a time: more than the longest
/// record.
const BUFFER: usize = 256 << 10;

/// Method of files that are encrypted by AES; the real one is in an extra
/// field.
const AES: u16 = 99;

/// Extra field with the name in UTF-8.
const UNICODE_PATH: u16 = 0x7075;

/// Number of macOS in the field for the system that created an entry.
const MACOS: u8 = 19;

/// The contents of the directory.
pub(super) struct Directory {
    pub(super) members: Vec<Member>,
    pub(super) warnings: Warnings,
}

/// A source in the form that `rawzip` reads.
struct Source<'a>(&'a dyn ReadAt);

impl rawzip::ReaderAt for Source<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let left = self.0.len().saturating_sub(offset);
        let length = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(0);
        }
        let read = self.0.read_exact_at(&mut buf[..length], offset);
        // Wrapped, so that `Error::of_reader` can return the error of the
        // source.
        read.map_err(|cause| {
            std::io::Error::other(crate::io::read_error(offset, length as u64, cause))
        })?;
        Ok(length)
    }
}

/// Returns whether there is a directory.
pub(super) fn exists(source: &dyn ReadAt) -> Result<bool> {
    let mut buffer = vec![0; BUFFER];
    match locate(source, &mut buffer) {
        Ok(_) => Ok(true),
        Err(error) if error.is_fault() => Err(error),
        Err(_) => Ok(false),
    }
}

fn locate<'a>(source: &'a dyn ReadAt, buffer: &mut [u8]) -> Result<ZipArchive<Source<'a>>> {
    ZipArchive::with_max_search_space(SEARCHED)
        .locate_in_reader(Source(source), buffer, source.len())
        .map_err(|(_, error)| error_of(&error, source.len()))
}

/// Reads the directory and declares the files.
pub(super) fn read(source: &dyn ReadAt, sink: &mut dyn Sink) -> Result<Directory> {
    let mut buffer = vec![0; BUFFER];
    let archive = locate(source, &mut buffer)?;
    let announced = archive.entries_hint();
    let mut reader = Reader {
        paths: Paths::new(sink),
        members: Vec::new(),
        warnings: Warnings::default(),
    };
    let mut entries = archive.entries(&mut buffer);
    let mut count = 0;
    loop {
        let start = archive.directory_offset();
        let next = entries.next_entry();
        match next.map_err(|error| error_of(&error, start))? {
            Some(entry) => reader.entry(&entry)?,
            None => break,
        }
        count += 1;
    }
    let Reader {
        mut members,
        mut warnings,
        ..
    } = reader;
    if count != announced {
        warnings.push(format!(
            "the directory has {count} entries, {announced} are declared"
        ));
    }
    members.compact();
    Ok(Directory { members, warnings })
}

/// An entry of the directory.
pub(super) struct Listed {
    /// Absolute offset of its record.
    pub(super) offset: u64,
    /// The number of the file; `None` for a directory.
    pub(super) file: Option<FileId>,
    /// The path of a directory.
    pub(super) components: Vec<Box<[u8]>>,
}

/// The records of the directory, and where it is.
pub(super) struct List {
    /// Absolute offset of the first record.
    pub(super) start: u64,
    /// Absolute offset of the record at the end.
    pub(super) end: u64,
    /// The entries in the order of the directory.
    pub(super) entries: Vec<Listed>,
}

/// Returns the positions of the records of the directory.
pub(super) fn list(source: &dyn ReadAt) -> Result<List> {
    let mut buffer = vec![0; BUFFER];
    let archive = locate(source, &mut buffer)?;
    let (start, end) = (archive.directory_offset(), archive.eocd_offset());
    let mut listed = Vec::new();
    let mut files = 0;
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries
        .next_entry()
        .map_err(|error| error_of(&error, start))?
    {
        let raw = entry.file_path();
        let unicode = unicode_path(entry.extra_fields(), raw.as_bytes());
        let path = unicode.unwrap_or(raw.as_bytes());
        let separators = separators(&entry, path);
        let is_directory = path.last().is_some_and(|last| separators.contains(last));
        listed.push(Listed {
            offset: entry.central_directory_offset(),
            file: (!is_directory).then_some(FileId(files)),
            components: match is_directory {
                true => components(path, separators).map(Box::from).collect(),
                false => Vec::new(),
            },
        });
        files += u32::from(!is_directory);
    }
    Ok(List {
        start,
        end,
        entries: listed,
    })
}

/// Converts an error of `rawzip` to one about the directory at `offset`.
fn error_of(error: &rawzip::Error, offset: u64) -> Error {
    let damaged = |text| Error::damaged(offset, "central directory", text);
    match error.kind() {
        ErrorKind::IO(cause) => Error::of_reader(cause, damaged),
        ErrorKind::MissingEndOfCentralDirectory => {
            damaged("its end is not found; the archive may be cut short".to_owned())
        }
        other => damaged(other.to_string()),
    }
}

struct Reader<'a> {
    paths: Paths<'a>,
    members: Vec<Member>,
    warnings: Warnings,
}

impl Reader<'_> {
    fn entry(&mut self, record: &ZipFileHeaderRecord<'_>) -> Result<()> {
        let raw = record.file_path();
        let unicode = unicode_path(record.extra_fields(), raw.as_bytes());
        let path = unicode.unwrap_or(raw.as_bytes());
        let charset = match unicode {
            Some(_) => Charset::Utf8,
            None => charset(record, path),
        };
        let separators = separators(record, path);
        if path.last().is_some_and(|last| separators.contains(last)) {
            self.paths.directory(path, separators, charset)?;
            return Ok(());
        }
        if self.members.len() >= MAX_ENTRIES {
            return Err(Error::Unsupported(format!(
                "has more than {MAX_ENTRIES} files"
            )));
        }
        if record.mode().is_symlink() {
            let name = charset.decode(path);
            self.warnings.push(format!(
                "{name} is a symbolic link, shown as a file with its text"
            ));
        }
        let entry = Entry {
            file: FileId(self.members.len() as u32),
            size: Some(record.uncompressed_size_hint()),
            modified: modified(record),
            asset: None,
        };
        self.paths.file(path, separators, charset, entry)?;
        let method = record.compression_method().as_u16();
        self.members.push(Member {
            header: record.local_header_offset(),
            data: AtomicU64::new(UNKNOWN),
            stored: record.compressed_size_hint(),
            size: record.uncompressed_size_hint(),
            crc: record.crc32(),
            method,
            is_encrypted: record.flags().is_encrypted() || method == AES,
            known: Known::default(),
        });
        Ok(())
    }
}

/// Returns the UTF-8 name in the extra fields (0x7075), if it belongs to the
/// name in the directory.
fn unicode_path<'a>(fields: ExtraFields<'a>, name: &[u8]) -> Option<&'a [u8]> {
    let mut fields = fields;
    let (_, field) = fields.find(|(id, _)| id.as_u16() == UNICODE_PATH)?;
    let (version, rest) = field.split_first()?;
    let (crc, path) = rest.split_first_chunk()?;
    let belongs = u32::from_le_bytes(*crc) == crc32fast::hash(name);
    (*version == 1 && belongs && str::from_utf8(path).is_ok()).then_some(path)
}

/// Returns the character set of a name: UTF-8 if a flag is set, or if a program
/// on Unix wrote valid UTF-8; otherwise the code page of DOS.
fn charset(record: &ZipFileHeaderRecord<'_>, name: &[u8]) -> Charset {
    if record.flags().is_utf8() || was_made_on_unix(record) && str::from_utf8(name).is_ok() {
        Charset::Utf8
    } else {
        Charset::Cp437
    }
}

/// Returns the separators of a path. Some programs on Windows write
/// backslashes; on Unix a name can contain them.
fn separators(record: &ZipFileHeaderRecord<'_>, path: &[u8]) -> &'static [u8] {
    if was_made_on_unix(record) || path.contains(&b'/') {
        b"/"
    } else {
        b"\\"
    }
}

fn was_made_on_unix(record: &ZipFileHeaderRecord<'_>) -> bool {
    let system = record.version_made_by().creator_system();
    system == CreatorSystem::UNIX || system.as_u8() == MACOS
}

/// Returns the modification time: from the extra fields, in UTC, or else the
/// one in DOS format.
fn modified(record: &ZipFileHeaderRecord<'_>) -> Option<i64> {
    match record.last_modified() {
        rawzip::time::ZipDateTimeKind::Utc(time) => Some(time.to_unix()),
        rawzip::time::ZipDateTimeKind::Local(_) => {
            let time = record.last_modified_dos();
            time::seconds(
                [time.year(), time.month().into(), time.day().into()],
                [time.hour(), time.minute(), time.second()],
            )
        }
    }
}
