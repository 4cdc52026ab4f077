//! Finding the files of a zip archive without its directory, by the headers
//! before them ([`Options::force`]).

use rawzip::extra_fields::ExtraFields;

use super::entry::{DosTime, Entries, Header, Members};
use super::{LOCAL_HEADER, LOCAL_LENGTH};
use crate::format::Options;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};
use crate::volume::Sink;

/// First bytes of what may follow the data of a file: its sizes, and a record of
/// the directory.
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";
const RECORD: &[u8; 4] = b"PK\x01\x02";

/// Extra field with long sizes.
const ZIP64: u16 = 1;

/// Bytes that are searched at a time.
const PIECE: u64 = 64 << 10;

/// Maximum number of bytes that are searched, as a multiple of the source's length: the
/// ends of files without sizes are searched for again and again.
const MAX_SEARCHES: u64 = 8;

/// Maximum number of bytes that are searched in all.
const MAX_SEARCHED: u64 = 16 << 30;

/// Maximum number of zero bytes in a row that are searched: a sparse file costs nothing,
/// and may be of any length.
const MAX_ZEROS: u64 = 64 << 20;

/// Finds the files and declares them. `cause` is why the directory cannot be
/// read.
///
/// # Errors
/// Returns `cause` if there are none, or an error if the source cannot be read.
pub(super) fn read(
    source: &dyn ReadAt,
    options: &Options,
    sink: &mut dyn Sink,
    cause: &Error,
) -> Result<Members> {
    let mut entries = Entries::new(options, sink);
    entries.warn(format!(
        "the files are found by their headers, because the directory is damaged: {cause}"
    ));
    let searched = source.len().saturating_mul(MAX_SEARCHES);
    let mut scan = Scan {
        source,
        options,
        left: searched.min(MAX_SEARCHED),
        left_out: None,
    };
    let mut at = 0;
    let mut found = 0;
    while let Some((header, _)) = scan.next(at, &[LOCAL_HEADER])? {
        at = header + LOCAL_HEADER.len() as u64;
        if let Some(end) = scan.file(header, &mut entries)? {
            found += 1;
            at = end;
        }
    }
    if let Some(left_out) = scan.left_out {
        entries.warn(left_out.to_owned());
    }
    match found {
        0 => Err(cause.clone()),
        _ => Ok(entries.finish()),
    }
}

struct Scan<'a> {
    source: &'a dyn ReadAt,
    options: &'a Options,
    /// Number of bytes that may still be searched.
    left: u64,
    /// The reason why a search has ended before the end of the source.
    left_out: Option<&'static str>,
}

/// The sizes of a file and its checksum, and where it ends.
struct Sizes {
    crc: u32,
    stored: u64,
    size: u64,
    end: u64,
}

impl Scan<'_> {
    /// Returns the offset of the next of these signatures from `at` on, and its
    /// number; `None` if there is none, or too much was searched.
    fn next(&mut self, mut at: u64, signatures: &[&[u8; 4]]) -> Result<Option<(u64, usize)>> {
        let mut zeros = 0;
        while at.saturating_add(4) <= self.source.len() {
            if self.left == 0 {
                self.left_out = Some("files after too many damaged ones are not found");
                break;
            }
            if zeros > MAX_ZEROS {
                self.left_out = Some("files after large gaps are not found");
                break;
            }
            self.options.step()?;
            let length = PIECE.min(self.source.len() - at);
            let bytes = read_vec(self.source, at, length, "local headers")?;
            zeros = match bytes.iter().all(|&byte| byte == 0) {
                true => zeros + length,
                false => 0,
            };
            let found = bytes.windows(4).enumerate().find_map(|(position, window)| {
                let number = signatures
                    .iter()
                    .position(|signature| window == *signature)?;
                Some((at + position as u64, number))
            });
            let searched = found.map_or(length - 3, |(offset, _)| offset - at + 1);
            self.left = self.left.saturating_sub(searched);
            if found.is_some() {
                return Ok(found);
            }
            at += length - 3;
        }
        Ok(None)
    }

    /// Declares the file whose header is at `at`. Returns the offset after it;
    /// `None` if there is none.
    fn file(&mut self, at: u64, entries: &mut Entries<'_>) -> Result<Option<u64>> {
        let left = self.source.len() - at;
        if left < LOCAL_LENGTH {
            return Ok(None);
        }
        let bytes = read_vec(self.source, at, LOCAL_LENGTH, "local header")?;
        let mut fields = Cursor::new(&bytes, at, Endian::Little);
        fields.take(6, "signature")?;
        let (flags, method) = (fields.u16("flags")?, fields.u16("method")?);
        let dos = DosTime {
            time: fields.u16("time")?,
            date: fields.u16("date")?,
        };
        let crc = fields.u32("checksum")?;
        let (stored, size) = (fields.u32("packed size")?, fields.u32("size")?);
        let name = u64::from(fields.u16("name length")?);
        let extra = u64::from(fields.u16("extra field length")?);
        let data = at + LOCAL_LENGTH + name + extra;
        if name == 0 || data > self.source.len() {
            return Ok(None);
        }
        let texts = read_vec(self.source, at + LOCAL_LENGTH, name + extra, "name")?;
        let (path, extra) = texts.split_at(name as usize);
        let mut header = Header {
            path,
            fields: ExtraFields::new(extra),
            flags,
            is_unix: false,
            mode: 0,
            is_link: false,
            modified: None,
            dos,
            method,
            stored: stored.into(),
            size: size.into(),
            crc,
            offset: at,
            record: 0,
        };
        if let (u32::MAX, u32::MAX, Some(long)) = (stored, size, long_sizes(extra)) {
            (header.size, header.stored) = long;
        }
        let mut end = data.saturating_add(header.stored);
        if header.has_descriptor() && header.stored == 0 && !path.ends_with(b"/") {
            let Some(sizes) = self.sizes_after(data)? else {
                return Ok(None);
            };
            (header.crc, header.stored, header.size) = (sizes.crc, sizes.stored, sizes.size);
            end = sizes.end;
        }
        entries.add(&header)?;
        Ok(Some(end))
    }

    /// Finds the sizes that follow the data of a file, which begins at `data`:
    /// those that agree with its length.
    fn sizes_after(&mut self, data: u64) -> Result<Option<Sizes>> {
        let mut at = data;
        let signatures = [DESCRIPTOR, LOCAL_HEADER, RECORD];
        while let Some((found, number)) = self.next(at, &signatures)? {
            // Without its signature, it ends where the next header begins.
            let (start, length) = match number {
                0 => (found + 4, found - data),
                _ => match (found - data).checked_sub(12) {
                    Some(length) => (found - 12, length),
                    None => (found, u64::MAX),
                },
            };
            if let Some(sizes) = self.sizes_at(start, length)? {
                return Ok(Some(sizes));
            }
            at = found + 1;
        }
        Ok(None)
    }

    /// Reads the sizes at `start`, in their short or long form, if the packed
    /// one is `length`.
    fn sizes_at(&self, start: u64, length: u64) -> Result<Option<Sizes>> {
        let there = 20.min(self.source.len().saturating_sub(start));
        let bytes = read_vec(self.source, start, there, "data descriptor")?;
        let short = |at: usize| {
            let field = bytes.get(at..)?.first_chunk()?;
            Some(u32::from_le_bytes(*field))
        };
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let Some(crc) = short(0) else {
            return Ok(None);
        };
        let sizes = |stored, size, end| Sizes {
            crc,
            stored,
            size,
            end: start + end,
        };
        let forms = [
            short(4)
                .zip(short(8))
                .map(|(stored, size)| sizes(stored.into(), size.into(), 12)),
            long(4)
                .zip(long(12))
                .map(|(stored, size)| sizes(stored, size, 20)),
        ];
        for sizes in forms.into_iter().flatten() {
            // The lower half of a long packed size equals a short one.
            if sizes.stored == length && self.is_end_of_file(sizes.end)? {
                return Ok(Some(sizes));
            }
        }
        Ok(None)
    }

    /// Returns whether a header or a record of the directory begins at `at`, or
    /// the source ends there.
    fn is_end_of_file(&self, at: u64) -> Result<bool> {
        let left = self.source.len().saturating_sub(at);
        let bytes = read_vec(self.source, at, left.min(4), "signature")?;
        Ok(left == 0 || [&LOCAL_HEADER[..], &RECORD[..]].contains(&&bytes[..]))
    }
}

/// Returns the decoded and the packed size in the extra field for long ones.
fn long_sizes(extra: &[u8]) -> Option<(u64, u64)> {
    let (_, field) = ExtraFields::new(extra).find(|(id, _)| id.as_u16() == ZIP64)?;
    let (size, rest) = field.split_first_chunk()?;
    let stored = rest.first_chunk()?;
    Some((u64::from_le_bytes(*size), u64::from_le_bytes(*stored)))
}
