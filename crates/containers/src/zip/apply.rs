//! Writing a zip archive with changes: the old members stay where they are, or move to
//! the front if the first one is gone; new ones follow them, and the directory is written
//! again.

use std::ops::Range;
use std::sync::Arc;

use super::entry::{DirectoryRecord, What};
use super::{Directory, END, END_64, LOCAL_HEADER, LOCATOR_64, STORED, Zip};
use crate::changes::{Composed, Job, NewFile, Written};
use crate::io::{Compact, Cursor, Endian, Error, ReadAt, Result, read_vec};

/// First bytes of a record of the directory, and the length of its fixed part.
const RECORD: &[u8; 4] = b"PK\x01\x02";
const RECORD_LENGTH: usize = 46;

/// Length of the record at the end without the comment, and the offset in it of
/// the directory's offset.
const END_LENGTH: u64 = 22;
const END_OFFSET: usize = 16;

/// The extra field with 64-bit numbers.
const LARGE: u16 = 1;

/// Versions that are needed to unpack stored files, and large ones.
const VERSION: u16 = 10;
const VERSION_64: u16 = 45;

/// Flag of names in UTF-8.
const UTF_8: u16 = 0x800;

/// The date of added members: 1980-01-01, the first one that can be stored.
const FIRST_DAY: u16 = 0x21;

/// Made on Unix, and the modes of files and directories there.
const MADE_ON_UNIX: u16 = 0x031E;
const FILE_MODE: u32 = 0o100_644 << 16;
const DIRECTORY_MODE: u32 = 0o040_755 << 16 | 0x10;

/// Writes the archive, which is in `whole`.
pub(super) fn apply(
    zip: &Zip,
    (whole, directory): (Arc<dyn ReadAt>, Directory),
    job: &mut Job<'_>,
) -> Result<Written> {
    let source = zip.summed.source();
    let Some(before) = whole.len().checked_sub(source.len()) else {
        let text = "is in several parts, and cannot be changed: join them first";
        return Err(Error::Unsupported(text.to_owned()));
    };
    let Directory { range, listed } = directory;
    let end = read_vec(&**source, range.end, END_LENGTH, "end record")?;
    let comment_start = range.end + END_LENGTH;
    let comment_length = u64::from(u16::from_le_bytes([end[20], end[21]]));
    let comment_length = comment_length.min(source.len() - comment_start);
    let stated = Cursor::new(&end[END_OFFSET..], range.end, Endian::Little).u32("offset")?;
    // A self-extractor counts from behind its program.
    let base = match stated {
        u32::MAX => 0,
        stated => range.start.saturating_sub(stated.into()),
    };
    let members = || listed.iter().map(|entry| (entry, fate(job, entry)));
    let cut = cut(base..range.start, members());
    let mut spliced = Composed::default();
    spliced.append(source, 0..base);
    spliced.append(source, base + cut..range.start);
    let mut out = Writer {
        spliced,
        base,
        directory: Vec::new(),
        records: 0,
    };
    for (entry, fate) in members() {
        match fate {
            Fate::Kept => out.keep(&read_record(&**source, entry)?, cut)?,
            Fate::New(new) => out.replaced(&read_record(&**source, entry)?, new)?,
            Fate::Deleted => {}
        }
    }
    for node in job.tree.added_directories() {
        if job.tree.children(node).next().is_none() {
            let name = format!("{}/", job.tree.path(node));
            out.added(name, None)?;
        }
    }
    for (node, new) in job.tree.added_files() {
        out.added(job.tree.path(node), Some(new))?;
    }
    let comment = comment_start..comment_start + comment_length;
    out.finish();
    let mut spliced = Composed::default();
    spliced.append(&whole, 0..before);
    spliced.append_composed(out.spliced);
    let length = (comment_length as u16).to_le_bytes();
    spliced.append_bytes(length.to_vec());
    spliced.append(source, comment);
    Ok(Written::alone(spliced))
}

/// Returns the bytes of a record of the directory.
fn read_record(source: &dyn ReadAt, entry: &DirectoryRecord) -> Result<Vec<u8>> {
    let fixed = read_vec(source, entry.record, RECORD_LENGTH as u64, "record")?;
    if !fixed.starts_with(RECORD) {
        let problem = "does not begin with PK 01 02";
        return Err(Error::damaged(entry.record, "record", problem));
    }
    let lengths = [28, 30, 32].map(|at| u64::from(u16::from_le_bytes([fixed[at], fixed[at + 1]])));
    let length = RECORD_LENGTH as u64 + lengths.iter().sum::<u64>();
    read_vec(source, entry.record, length, "record")
}

/// The fate of a member of the original.
enum Fate<'a> {
    Kept,
    New(&'a NewFile),
    Deleted,
}

fn fate<'a>(job: &'a Job<'_>, entry: &DirectoryRecord) -> Fate<'a> {
    match entry.what {
        What::Directory(node) if job.tree.is_deleted(node) => Fate::Deleted,
        What::Directory(_) => Fate::Kept,
        What::File(file) if job.tree.is_file_deleted(file) => Fate::Deleted,
        What::File(file) => job.tree.new_of(file).map_or(Fate::Kept, Fate::New),
    }
}

/// Returns the number of bytes at the start of the members' range that are left out: the
/// members that are deleted or replaced before the first one that is kept. Programs such as
/// 7-Zip trust the directory only if its first record is of the first local header; else
/// they scan for headers, and find those members again.
fn cut<'a>(
    range: Range<u64>,
    members: impl Iterator<Item = (&'a DirectoryRecord, Fate<'a>)>,
) -> u64 {
    let mut first_kept = range.end;
    let mut begins_with_kept = true;
    for (entry, fate) in members {
        match fate {
            Fate::Kept => first_kept = first_kept.min(entry.header),
            Fate::New(_) | Fate::Deleted => begins_with_kept &= entry.header != range.start,
        }
    }
    match begins_with_kept {
        true => 0,
        false => first_kept.saturating_sub(range.start),
    }
}

/// Moves the local header that a record points to by `cut` bytes to the front.
fn move_header(record: &mut [u8], cut: u64) -> Option<()> {
    let is_large = |record: &[u8], at: usize| record[at..at + 4] == [0xFF; 4];
    if !is_large(record, 42) {
        let field = record[42..46].first_chunk_mut()?;
        let moved = u64::from(u32::from_le_bytes(*field)).checked_sub(cut)?;
        *field = (moved as u32).to_le_bytes();
        return Some(());
    }
    // The 64-bit field has only the numbers that do not fit into 32 bits.
    let sizes = [20, 24].map(|at| usize::from(is_large(record, at)) * 8);
    let mut at = RECORD_LENGTH + usize::from(u16::from_le_bytes([record[28], record[29]]));
    loop {
        let [id, id_high, length, length_high] = *record.get(at..)?.first_chunk()?;
        at += 4;
        if u16::from_le_bytes([id, id_high]) == LARGE {
            break;
        }
        at += usize::from(u16::from_le_bytes([length, length_high]));
    }
    let field = record
        .get_mut(at + sizes[0] + sizes[1]..)?
        .first_chunk_mut()?;
    *field = u64::from_le_bytes(*field).checked_sub(cut)?.to_le_bytes();
    Some(())
}

/// An archive that is being written.
struct Writer {
    spliced: Composed,
    /// Offset that positions count from.
    base: u64,
    /// The records of the directory.
    directory: Vec<u8>,
    records: u64,
}

/// The fields of a member that do not follow from its content.
struct Fields<'a> {
    name: &'a [u8],
    made_by: u16,
    flags: u16,
    /// Time and date.
    time: [u16; 2],
    attributes: u32,
}

impl Writer {
    /// Adds a record of the original, whose member was moved by `cut` bytes to the
    /// front.
    fn keep(&mut self, record: &[u8], cut: u64) -> Result<()> {
        let start = self.directory.len();
        self.directory.make_room(record.len());
        self.directory.extend_from_slice(record);
        self.records += 1;
        if cut > 0 && move_header(&mut self.directory[start..], cut).is_none() {
            let text = "has a record without the offset of its member";
            return Err(Error::Unsupported(text.into()));
        }
        Ok(())
    }

    /// Adds a member with new contents and the name and time of an old record.
    fn replaced(&mut self, record: &[u8], new: &NewFile) -> Result<()> {
        let word = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let fields = Fields {
            name: &record[RECORD_LENGTH..][..word(28).into()],
            made_by: word(4),
            flags: word(8) & UTF_8,
            time: [word(12), word(14)],
            attributes: u32::from(word(38)) | u32::from(word(40)) << 16,
        };
        self.member(&fields, Some(new))
    }

    /// Adds a member that the original does not have; a directory without
    /// contents.
    fn added(&mut self, name: String, new: Option<&NewFile>) -> Result<()> {
        let fields = Fields {
            name: name.as_bytes(),
            made_by: MADE_ON_UNIX,
            flags: if name.is_ascii() { 0 } else { UTF_8 },
            time: [0, FIRST_DAY],
            attributes: new.map_or(DIRECTORY_MODE, |_| FILE_MODE),
        };
        self.member(&fields, new)
    }

    fn member(&mut self, fields: &Fields<'_>, new: Option<&NewFile>) -> Result<()> {
        let Ok(name_length) = u16::try_from(fields.name.len()) else {
            return Err(Error::Unsupported(
                "has a name of more than 65535 bytes".into(),
            ));
        };
        let size = new.map_or(0, NewFile::len);
        let crc = new.map_or(Ok(0), NewFile::crc32)?;
        let offset = self.position();
        // Each number that does not fit is in the extra field instead.
        let shown = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let is_large = |number: u64| number >= u32::MAX.into();
        let mut local_extra = Vec::new();
        let mut extra = Vec::new();
        if is_large(size) {
            local_extra = [size, size].map(u64::to_le_bytes).concat();
            extra.clone_from(&local_extra);
        }
        if is_large(offset) {
            extra.extend(offset.to_le_bytes());
        }
        let field = |numbers: Vec<u8>| match numbers.len() as u16 {
            0 => numbers,
            length => [&LARGE.to_le_bytes()[..], &length.to_le_bytes(), &numbers].concat(),
        };
        let (local_extra, extra) = (field(local_extra), field(extra));
        let version = match extra.is_empty() {
            true => VERSION,
            false => VERSION_64,
        };
        let common = {
            let [time, date] = fields.time;
            let words = [version, fields.flags, STORED, time, date];
            let words = words.map(u16::to_le_bytes).concat();
            let numbers = [crc, shown(size), shown(size)]
                .map(u32::to_le_bytes)
                .concat();
            [words, numbers, name_length.to_le_bytes().to_vec()].concat()
        };
        let length = |extra: &[u8]| (extra.len() as u16).to_le_bytes();
        self.spliced.append_bytes(
            [
                LOCAL_HEADER,
                &common[..],
                &length(&local_extra),
                fields.name,
                &local_extra,
            ]
            .concat(),
        );
        if let Some(new) = new {
            self.spliced.append_file(new);
        }
        let position = [fields.attributes, shown(offset)]
            .map(u32::to_le_bytes)
            .concat();
        self.directory
            .make_room(RECORD_LENGTH + fields.name.len() + extra.len());
        self.directory
            .extend([&RECORD[..], &fields.made_by.to_le_bytes(), &common].concat());
        self.directory.extend(length(&extra));
        // No comment, first disk, binary.
        self.directory.extend([0; 6]);
        self.directory
            .extend([&position, fields.name, &extra].concat());
        self.records += 1;
        Ok(())
    }

    /// Writes the directory and the record at its end up to the comment.
    fn finish(&mut self) {
        let (offset, length) = (self.position(), self.directory.len() as u64);
        let end_64 = offset + length;
        self.directory.compact();
        self.spliced
            .append_bytes(std::mem::take(&mut self.directory));
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let count = u16::try_from(self.records)
            .unwrap_or(u16::MAX)
            .to_le_bytes();
        if self.records >= u16::MAX.into() || end_64 >= u32::MAX.into() {
            let mut bytes = END_64.to_vec();
            // The length of the rest.
            bytes.extend(44_u64.to_le_bytes());
            bytes.extend([VERSION_64, VERSION_64].map(u16::to_le_bytes).concat());
            bytes.extend([0; 8]);
            let numbers = [self.records, self.records, length, offset];
            bytes.extend(numbers.map(u64::to_le_bytes).concat());
            bytes.extend_from_slice(LOCATOR_64);
            bytes.extend([0; 4]);
            bytes.extend(end_64.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
            self.spliced.append_bytes(bytes);
        }
        let end = [
            END,
            &[0; 4][..],
            &count,
            &count,
            &short(length),
            &short(offset),
        ];
        self.spliced.append_bytes(end.concat());
    }

    /// Returns the position of the next byte, as records count.
    fn position(&self) -> u64 {
        self.spliced.len() - self.base
    }
}
