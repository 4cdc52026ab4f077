//! Reading the central directory of a zip archive.

use std::ops::Range;
use std::sync::Arc;

use rawzip::time::ZipDateTimeKind;
use rawzip::{CreatorSystem, ErrorKind, ZipArchive, ZipFileHeaderRecord};

use super::entry::{DosTime, Entries, Header, Members};
use super::{END, END_64, LOCATOR_64};
use crate::format::Options;
use crate::io::{Composed, Error, ReadAt, Result, read_vec, undamaged};
use crate::volume::Sink;

/// A part of an archive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Its offset in the whole.
    pub(super) start: u64,
}

/// Number of bytes at the end of the source that are searched for the end
/// record: its length with the longest comment, and padding after it.
const SEARCHED: u64 = 256 << 10;

/// Bytes of the directory that are read at a time: more than the longest
/// record.
const BUFFER: usize = 256 << 10;

/// Maximum number of end records that are tried.
const MAX_TRIED: usize = 16;

/// Number of macOS in the field for the system that created an entry.
const MACOS: u8 = 19;

/// First bytes of a record of the directory.
const RECORD: &[u8; 4] = b"PK\x01\x02";

/// Lengths of the records at the end of large archives.
const END_64_LENGTH: usize = 56;
const LOCATOR_LENGTH: usize = 20;

/// Length of these and of the record at the end without the comment, and the maximum
/// length of that.
const LAST_RECORDS: u64 = END_64_LENGTH as u64 + LOCATOR_LENGTH as u64 + 22;
const MAX_COMMENT: u64 = u16::MAX as u64;

/// A source in the form that `rawzip` reads.
struct Source<'a> {
    source: &'a dyn ReadAt,
    /// Offsets of end records that are not shown: they are in a comment, or
    /// damaged.
    hidden: &'a [u64],
}

impl rawzip::ReaderAt for Source<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let left = self.source.len().saturating_sub(offset);
        let length = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(0);
        }
        let read = self.source.read_exact_at(&mut buf[..length], offset);
        // Wrapped, so that `Error::of_reader` can return the error of the
        // source.
        read.map_err(|cause| {
            std::io::Error::other(crate::io::read_error(offset, length as u64, cause))
        })?;
        for &hidden in self.hidden {
            let at = hidden
                .checked_sub(offset)
                .and_then(|at| usize::try_from(at).ok());
            if let Some(byte) = at.and_then(|at| buf[..length].get_mut(at)) {
                *byte = 0;
            }
        }
        Ok(length)
    }
}

/// Returns an archive from the byte on that its offsets count from. `rawzip` finds
/// that by itself, except where a Zip64 archive is behind a program: as in `unzip`, the
/// record that the locator does not find is in front of it.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub(super) fn counted(source: &Arc<dyn ReadAt>) -> Result<Arc<dyn ReadAt>> {
    let len = source.len();
    let is_end = |bytes: &[u8]| bytes == END;
    let mut uncounted = None;
    // Most archives have no comment.
    for length in [LAST_RECORDS, LAST_RECORDS + MAX_COMMENT] {
        let start = len.saturating_sub(length);
        let tail = read_vec(&**source, start, len - start, "end of the archive")?;
        if let Some(end) = tail.windows(END.len()).rposition(is_end) {
            uncounted = stated_end(&tail[..end]).map(|(at, stated)| (start + at, stated));
            break;
        }
    }
    match uncounted {
        Some((found, stated))
            if stated < found && read_vec(&**source, stated, 4, "record")? != END_64 =>
        {
            Ok(Arc::new(Composed::part(source, found - stated..len)))
        }
        _ => Ok(source.clone()),
    }
}

/// Returns where the last record of a Zip64 archive is that ends with these bytes, and
/// where it is said to be.
fn stated_end(bytes: &[u8]) -> Option<(u64, u64)> {
    let (rest, locator) = bytes.split_last_chunk::<LOCATOR_LENGTH>()?;
    let (rest, record) = rest.split_last_chunk::<END_64_LENGTH>()?;
    let stated = locator[8..].first_chunk()?;
    (locator.starts_with(LOCATOR_64) && record.starts_with(END_64))
        .then(|| (rest.len() as u64, u64::from_le_bytes(*stated)))
}

/// Returns whether there is a directory.
pub(super) fn exists(source: &Arc<dyn ReadAt>) -> Result<bool> {
    Ok(undamaged(end(&*counted(source)?))?.is_some())
}

/// The end record of an archive.
pub(super) struct End {
    /// Number of the part that it is in, from 0.
    pub(super) disk: u16,
    /// Declared offset of the directory, in the part with its start.
    declared: u32,
}

/// Finds the end record.
///
/// # Errors
/// Returns an error if there is none.
pub(super) fn end(source: &dyn ReadAt) -> Result<End> {
    let mut buffer = vec![0; BUFFER];
    let hidden = outdone(source, &mut buffer)?;
    let archive = locate(source, &hidden, &mut buffer)?;
    end_of(source, archive.eocd_offset())
}

fn end_of(source: &dyn ReadAt, offset: u64) -> Result<End> {
    let fields = read_vec(source, offset, 22, "end of the central directory")?;
    Ok(End {
        disk: u16::from_le_bytes([fields[4], fields[5]]),
        declared: u32::from_le_bytes([fields[16], fields[17], fields[18], fields[19]]),
    })
}

/// Returns the offsets of the end records after the right one: those whose
/// directory is not where they say.
fn outdone(source: &dyn ReadAt, buffer: &mut [u8]) -> Result<Vec<u64>> {
    let mut hidden = Vec::new();
    while hidden.len() < MAX_TRIED {
        let view = Source {
            source,
            hidden: &hidden,
        };
        let located = ZipArchive::with_max_search_space(SEARCHED).locate_in_reader(
            view,
            buffer,
            source.len(),
        );
        let offset = match located {
            Ok(archive) if archive.entries_hint() == 0 => return Ok(hidden),
            Ok(archive) => {
                let start = archive.directory_offset();
                let offset = archive.eocd_offset();
                if start.saturating_add(4) <= source.len()
                    && read_vec(source, start, 4, "central directory")? == RECORD
                {
                    return Ok(hidden);
                }
                offset
            }
            Err((_, error)) => match (error.eocd_offset(), error_of(&error, source.len())) {
                (_, error) if error.is_fault() => return Err(error),
                (Some(offset), _) => offset,
                (None, _) => break,
            },
        };
        hidden.push(offset);
    }
    // None of them is right: the last one is reported.
    Ok(Vec::new())
}

fn locate<'a>(
    source: &'a dyn ReadAt,
    hidden: &'a [u64],
    buffer: &mut [u8],
) -> Result<ZipArchive<Source<'a>>> {
    ZipArchive::with_max_search_space(SEARCHED)
        .locate_in_reader(Source { source, hidden }, buffer, source.len())
        .map_err(|(_, error)| error_of(&error, source.len()))
}

/// Reads the directory and declares the files. `parts` are the parts of the source. Returns
/// the range of the directory as well.
///
/// # Errors
/// Returns an error if the directory is damaged, or there are too many files.
pub(super) fn read(
    source: &dyn ReadAt,
    parts: &[Part],
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<(Members, Range<u64>)> {
    let mut entries = Entries::new(options, sink);
    let mut count = 0;
    let (announced, range) = each(source, parts, &mut |header| {
        count += 1;
        entries.add(header)
    })?;
    let mut members = entries.finish();
    if count != announced {
        members.warnings.push(format!(
            "the directory has {count} entries, {announced} are declared"
        ));
    }
    Ok((members, range))
}

/// Checks that all of the directory can be read.
///
/// # Errors
/// Returns an error if it is damaged.
pub(super) fn check(source: &dyn ReadAt, parts: &[Part]) -> Result<()> {
    let mut count = 0;
    let (announced, _) = each(source, parts, &mut |_| {
        count += 1;
        Ok(())
    })?;
    match count < announced {
        true => Err(Error::damaged(
            source.len(),
            "central directory",
            format!("has {count} entries, {announced} are declared"),
        )),
        false => Ok(()),
    }
}

/// Calls `found` with each record, and returns the declared number of them, and the range
/// from the first one to the record at the end.
fn each(
    source: &dyn ReadAt,
    parts: &[Part],
    found: &mut dyn FnMut(&Header<'_>) -> Result<()>,
) -> Result<(u64, Range<u64>)> {
    let mut buffer = vec![0; BUFFER];
    let hidden = outdone(source, &mut buffer)?;
    let archive = locate(source, &hidden, &mut buffer)?;
    let last = archive.eocd_offset();
    let end = end_of(source, last)?;
    // The amount that rawzip adds to offsets, if data before the archive is not counted.
    let shift = archive
        .directory_offset()
        .saturating_sub(end.declared.into());
    let announced = archive.entries_hint();
    let start = archive.directory_offset();
    let mut entries = archive.entries(&mut buffer);
    loop {
        let next = entries.next_entry();
        let Some(record) = next.map_err(|error| error_of(&error, start))? else {
            return Ok((announced, start..last));
        };
        let mut header = header_of(&record);
        if parts.len() > 1 {
            let of_part = record.local_header_offset().saturating_sub(shift);
            header.offset = in_part(source, parts, &record, of_part)?;
        }
        found(&header)?;
    }
}

/// Returns the absolute offset of a header that is at `offset` of a part, whose
/// number is in the record of the directory.
fn in_part(
    source: &dyn ReadAt,
    parts: &[Part],
    record: &ZipFileHeaderRecord<'_>,
    offset: u64,
) -> Result<u64> {
    let at = record.central_directory_offset().saturating_add(34);
    let number = read_vec(source, at, 2, "number of the part")?;
    let number = u16::from_le_bytes([number[0], number[1]]);
    let part = parts.get(usize::from(number)).ok_or_else(|| {
        let problem = format!("is {number}, of {} parts", parts.len());
        Error::damaged(at, "number of the part", problem)
    })?;
    Ok(part.start.saturating_add(offset))
}

fn header_of<'a>(record: &'a ZipFileHeaderRecord<'_>) -> Header<'a> {
    let system = record.version_made_by().creator_system();
    let (mode, dos) = (record.mode(), record.last_modified_dos());
    Header {
        path: record.file_path().as_bytes(),
        fields: record.extra_fields(),
        flags: record.flags().bits(),
        is_unix: system == CreatorSystem::UNIX || system.as_u8() == MACOS,
        mode: mode.permissions() as u16,
        is_link: mode.is_symlink(),
        modified: match record.last_modified() {
            ZipDateTimeKind::Utc(time) => Some(time.to_unix()),
            ZipDateTimeKind::Local(_) => None,
        },
        dos: DosTime {
            date: (dos.year().saturating_sub(1980)) << 9
                | u16::from(dos.month()) << 5
                | u16::from(dos.day()),
            time: u16::from(dos.hour()) << 11
                | u16::from(dos.minute()) << 5
                | (u16::from(dos.second()) / 2),
        },
        method: record.compression_method().as_u16(),
        stored: record.compressed_size_hint(),
        size: record.uncompressed_size_hint(),
        crc: record.crc32(),
        offset: record.local_header_offset(),
        record: record.central_directory_offset(),
    }
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
