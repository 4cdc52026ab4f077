//! IMG, the container of Grand Theft Auto III, Vice City, Bully (version 1: a
//! `.dir` with the directory and an `.img` with the bytes) and San Andreas
//! (version 2: one file). See `docs/formats/img.md`.

mod apply;
mod directory;

use std::sync::Arc;

use serde_json::json;

use self::directory::{Directory, RECORD, read_records};
use super::paths::{Span, first_wins, plain_entry, record};
use crate::changes::Changeable;
use crate::file_type::{FileType, Magic};
use crate::format::{Ambiguous, Format, Input, Options, Pair, PairedFiles};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, Warnings, read_vec};
use crate::volume::{Content, FileId, MAX_ENTRIES, Mountable, Name, Sink, Volume};

/// The format of IMG archives. No extension is listed, because many other kinds of
/// files are called `.img`.
pub const FORMAT: Format = Format {
    name: "IMG",
    ambiguous: &[Ambiguous {
        extension: "img",
        at: 0,
        begins: |head| head.starts_with(VERSION_2),
        confirms: None,
        may_have: None,
        sheet: None,
    }],
    pair: Some(PAIR),
    types: &[FileType {
        magic: &[Magic::at(0, VERSION_2)],
        // In the database, other names with .img are raw disk images.
        patterns: &[
            "gta3.img",
            "gta_int.img",
            "player.img",
            "cuts.img",
            "cutscene.img",
        ],
        ..FileType::archive("application/x-gta-img", "Grand Theft Auto archive")
    }],
    matches,
    open,
    change: Some(|input, sink| Ok(Changeable::new(read(input, sink)?, apply::apply))),
    ..Format::PLAIN
};

/// The two files of version 1.
const PAIR: Pair = Pair {
    data: "img",
    directory: "dir",
};

/// Unit of positions and sizes, in bytes.
const SECTOR: u64 = 2048;

/// First bytes of version 2.
const VERSION_2: &[u8; 4] = b"VER2";

/// First bytes of version 3 (Grand Theft Auto IV).
const VERSION_3: [u8; 4] = [0x52, 0x2A, 0x4E, 0xA9];

/// Length of the header of version 2: the magic and the number of records.
const HEADER: u64 = 8;

/// Number of records that are examined to detect a directory of version 1.
const EXAMINED: usize = 64;

/// An IMG archive of either version.
struct Img {
    source: Arc<dyn ReadAt>,
    files: Vec<Span>,
    options: Options,
    version: u8,
    warnings: Vec<String>,
}

fn matches(input: &Input<'_>) -> Result<bool> {
    let head = input.bytes(0, VERSION_2.len() as u64)?;
    if head.starts_with(b"VER") && head.len() == VERSION_2.len() || head == VERSION_3 {
        return Ok(true);
    }
    let Some(pair) = PAIR.find(input) else {
        return Ok(false);
    };
    let length = pair.directory.len().min((EXAMINED * RECORD) as u64);
    let start = read_vec(&*pair.directory, 0, length, "directory")?;
    Ok(directory::is_plausible(&start, pair.data.len()))
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    Ok(Box::new(read(input, sink)?.0))
}

/// Reads the directory, declares its files, and returns its bytes as well.
fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<(Img, Vec<u8>)> {
    let head = input.bytes(0, HEADER)?;
    let mut warnings = Warnings::default();
    let (version, source, directory) = if head.starts_with(VERSION_2) {
        let directory = version_2(&*input.source, &mut warnings)?;
        (2, input.source, directory)
    } else if head.starts_with(&VERSION_3) || head.starts_with(b"VER") {
        return Err(Error::Unsupported(
            "is an IMG archive of version 3 (Grand Theft Auto IV) or of an unknown version; \
             known are 1 and 2"
                .to_owned(),
        ));
    } else {
        let pair = PAIR.find(&input).ok_or(Error::UnknownFormat)?;
        let directory = version_1(&pair, &mut warnings)?;
        (1, pair.data, directory)
    };
    announce(&directory, sink)?;
    let img = Img {
        source,
        files: directory.files,
        options: input.options,
        version,
        warnings: warnings.texts(),
    };
    Ok((img, directory.bytes))
}

fn version_2(source: &dyn ReadAt, warnings: &mut Warnings) -> Result<Directory> {
    let header = read_vec(source, 0, HEADER, "header")?;
    let mut cursor = Cursor::new(&header, 0, Endian::Little);
    cursor.take(VERSION_2.len(), "magic")?;
    let count = check_count(cursor.u32("number of entries")?.into())?;
    let length = count * RECORD as u64;
    let records = read_vec(source, HEADER, length, "directory")?;
    let layout = directory::Layout {
        halves: true,
        image: source.len(),
        directory_end: HEADER + length,
    };
    Ok(read_records(records, layout, warnings))
}

fn version_1(pair: &PairedFiles, warnings: &mut Warnings) -> Result<Directory> {
    let length = pair.directory.len();
    check_count(length / RECORD as u64)?;
    if !length.is_multiple_of(RECORD as u64) {
        let odd = length % RECORD as u64;
        warnings.push(format!("the directory has {odd} bytes after its records"));
    }
    let records = read_vec(&*pair.directory, 0, length, "directory")?;
    let layout = directory::Layout::version_1(pair.data.len());
    Ok(read_records(records, layout, warnings))
}

fn check_count(count: u64) -> Result<u64> {
    if count > MAX_ENTRIES as u64 {
        return Err(Error::damaged(
            4,
            "number of entries",
            format!("is {count}, at most {MAX_ENTRIES} are read"),
        ));
    }
    Ok(count)
}

/// Declares the files, all in the root. If several have the same name, the
/// games use the first.
fn announce(directory: &Directory, sink: &mut dyn Sink) -> Result<()> {
    let root = sink.root();
    sink.expect(directory.files.len());
    for number in first_wins(directory.names()) {
        let number = number as usize;
        let entry = plain_entry(number, directory.files[number].size);
        sink.file(root, Name::windows_1252(directory.name(number)), entry)?;
    }
    Ok(())
}

impl Volume for Img {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        record(&self.files, file)?.content(&*self.source, self.options.force)
    }

    fn info(&self) -> serde_json::Value {
        json!({ "version": self.version, "files": self.files.len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Img {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.files.capacity() * size_of::<Span>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::{Beside, open, read};
    use super::*;

    /// Returns a record of version 1.
    fn record(sector: u32, sectors: u32, name: &[u8]) -> Vec<u8> {
        let mut bytes = [sector.to_le_bytes(), sectors.to_le_bytes()].concat();
        bytes.extend_from_slice(name);
        bytes.resize(RECORD, 0);
        bytes
    }

    fn image(sectors: usize) -> Vec<u8> {
        (0..sectors * 2048).map(|at| (at / 2048) as u8).collect()
    }

    fn version_2(records: &[Vec<u8>], sectors: usize) -> Vec<u8> {
        let mut bytes = image(sectors);
        let count = (records.len() as u32).to_le_bytes();
        let directory = [&VERSION_2[..], &count, &records.concat()].concat();
        bytes[..directory.len()].copy_from_slice(&directory);
        bytes
    }

    #[test]
    fn either_file_of_a_pair_opens_it() {
        let directory = record(1, 2, b"a.ifp\0\xCD\xCD");
        let beside: Beside = Some(("GTA3.DIR", directory.clone()));
        let (listing, volume) = open(&FORMAT, "gta3.img", image(3), beside).unwrap();
        let (name, entry) = listing.files().next().unwrap();
        assert_eq!((name, entry.size), ("a.ifp", Some(4096)));
        assert_eq!(read(&*volume, entry).unwrap()[2047..2049], [1, 2]);
        let beside: Beside = Some(("gta3.img", image(3)));
        let (listing, volume) = open(&FORMAT, "gta3.dir", directory, beside).unwrap();
        let (_, entry) = listing.files().next().unwrap();
        assert_eq!(read(&*volume, entry).unwrap()[0], 1);
    }

    #[test]
    fn an_image_without_its_directory_has_an_unknown_format() {
        let opened = open(&FORMAT, "gta3.img", image(3), None);
        assert!(matches!(opened, Err(Error::UnknownFormat)));
    }

    #[test]
    fn the_size_in_the_archive_takes_precedence_unless_it_is_0() {
        let stream = record(1, 2, b"a.dff");
        let archive = record(1, 1 << 16 | 2, b"b.dff");
        let bytes = version_2(&[stream, archive], 3);
        let (listing, _) = open(&FORMAT, "x", bytes, None).unwrap();
        let sizes: Vec<_> = listing.files().map(|(_, entry)| entry.size).collect();
        assert_eq!(sizes, [Some(4096), Some(2048)]);
    }

    #[test]
    fn the_last_sector_may_be_cut_and_no_more() {
        let mut bytes = version_2(&[record(1, 2, b"a.dff"), record(1, 9, b"b.dff")], 3);
        bytes.truncate(3 * 2048 - 100);
        let (listing, volume) = open(&FORMAT, "x", bytes, None).unwrap();
        let entries: Vec<_> = listing.files().map(|(_, entry)| entry).collect();
        assert_eq!(entries[0].size, Some(4096 - 100));
        assert!(read(&*volume, entries[0]).is_ok());
        assert_eq!(entries[1].size, Some(9 * 2048));
        let error = volume.content(entries[1].file).err().unwrap();
        assert!(matches!(error, Error::Damaged { offset: 2048, .. }));
    }

    #[test]
    fn the_first_of_equal_names_is_declared_last() {
        let bytes = version_2(&[record(1, 1, b"a"), record(1, 2, b"a")], 3);
        let (listing, _) = open(&FORMAT, "x", bytes, None).unwrap();
        let last = listing.files().last().unwrap();
        assert_eq!(last.1.size, Some(2048));
    }

    #[test]
    fn a_count_beyond_the_file_is_refused() {
        let mut bytes = version_2(&[], 1);
        bytes[4..8].fill(0xFF);
        assert!(open(&FORMAT, "x", bytes, None).is_err());
    }

    #[test]
    fn the_error_for_another_version_names_it() {
        for head in [VERSION_3, *b"VER3"] {
            let opened = open(&FORMAT, "x.img", [&head[..], &[0; 60]].concat(), None);
            let error = opened.err().unwrap().to_string();
            assert!(error.contains("version 3"), "{error}");
        }
    }
}
