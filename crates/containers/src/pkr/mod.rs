//! PKR, the container of Tony Hawk's Pro Skater 2 and Mat Hoffman's Pro BMX
//! (PKR2) and of Spider-Man (PKR3), all for PC. See `docs/formats/pkr.md`.

mod apply;

use std::ops::Range;
use std::sync::Arc;

use serde_json::json;

use crate::changes::Changeable;
use crate::codec::{Copy, Inflate, MAX_DEFLATE_RATIO, PackedFile, Wrapping};
use crate::file_type::{FileType, Magic};
use crate::format::{Format, Input, Options};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, Warnings, read_vec};
use crate::paths::{Paths, Span, plain_entry, record, until_nul};
use crate::text::Charset;
use crate::volume::{
    Content, DataFacts, Decoder, FileId, MAX_ENTRIES, Mountable, Name, Needs, NodeId, Packed, Sink,
    Streams, Volume, Whole,
};

/// The format of PKR archives.
pub const FORMAT: Format = Format {
    name: "PKR",
    extensions: &["pkr"],
    types: &[FileType {
        magic: &[Magic::at(0, b"PKR2"), Magic::at(0, b"PKR3")],
        // PGP keys have this extension, too: the magic bytes decide.
        patterns: &["*.pkr"],
        ..FileType::archive("application/x-neversoft-pkr", "Neversoft archive")
    }],
    matches: |input| Ok(input.bytes(0, MAGIC_LENGTH)?.starts_with(b"PKR")),
    open: |input, sink| Ok(Box::new(read(input, sink)?.0)),
    change: Some(|input, sink| Ok(Changeable::new(read(input, sink)?, apply::apply))),
    ..Format::PLAIN
};

/// Length of the magic in bytes.
const MAGIC_LENGTH: u64 = 4;

/// Length of the field for a name.
const NAME: usize = 32;

/// Length of the counts before the directories.
const COUNTS: u64 = 12;

/// Length of a directory's record.
const DIRECTORY: usize = 40;

/// Compression value of a file that is not packed. The games treat all other
/// values as zlib (FORMATS, PKR 2).
const RAW: u32 = 0xFFFF_FFFE;

/// Separators in the names of directories.
const SEPARATORS: &[u8] = b"/\\";

/// The two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// A directory's record has the absolute offset of its first file's record.
    Two,
    /// A directory's record has the number of its first file, and a file's
    /// record has a checksum.
    Three,
}

impl Version {
    /// Returns the length of a file's record.
    fn record(self) -> usize {
        match self {
            Self::Two => 48,
            Self::Three => 52,
        }
    }
}

/// A file of the archive.
#[derive(Debug, Clone, Copy)]
struct Member {
    offset: u32,
    /// Decoded size in bytes.
    size: u32,
    /// Packed size in bytes.
    stored: u32,
    /// CRC-32 of the decoded bytes (PKR3).
    crc: Option<u32>,
    is_raw: bool,
}

impl Member {
    /// Returns the range of its data in the archive.
    fn range(&self) -> Range<u64> {
        let length = if self.is_raw { self.size } else { self.stored };
        let start = u64::from(self.offset);
        start..start + u64::from(length)
    }
}

/// A PKR archive.
struct Pkr {
    source: Arc<dyn ReadAt>,
    version: Version,
    members: Vec<Member>,
    options: Options,
    warnings: Vec<String>,
}

/// Reads the directory of an archive, and declares its files.
fn read(input: Input<'_>, sink: &mut dyn Sink) -> Result<(Pkr, Directory)> {
    let Input {
        source, options, ..
    } = input;
    let (version, counts) = start(&*source)?;
    let mut warnings = Warnings::default();
    let mut directory = Directory::read(&*source, version, counts)?;
    let members = directory.announce(sink, &mut warnings)?;
    let pkr = Pkr {
        source,
        version,
        members,
        options,
        warnings: warnings.texts(),
    };
    Ok((pkr, directory))
}

/// Returns the version, and the offset of the counts.
fn start(source: &dyn ReadAt) -> Result<(Version, u64)> {
    let magic = read_vec(source, 0, MAGIC_LENGTH, "magic")?;
    match magic[..] {
        [.., b'2'] => Ok((Version::Two, MAGIC_LENGTH)),
        [.., b'3'] => {
            let bytes = read_vec(source, MAGIC_LENGTH, 4, "directory offset")?;
            let offset = Cursor::new(&bytes, MAGIC_LENGTH, Endian::Little).u32("offset")?;
            Ok((Version::Three, offset.into()))
        }
        _ => Err(Error::Unsupported(format!(
            "is a PKR archive of an unknown version ({}); known are PKR2 and PKR3",
            magic.escape_ascii()
        ))),
    }
}

/// The directory of an archive.
struct Directory {
    version: Version,
    /// Absolute offset of the counts.
    counts_at: u64,
    /// The number before the counts.
    unknown: u32,
    directories: Vec<u8>,
    /// For each directory that was declared its node, and the numbers of its records in
    /// the table.
    declared: Vec<(NodeId, Range<usize>)>,
    files: Vec<u8>,
    /// Absolute offset of the files' records.
    files_at: u64,
    /// Length of the source.
    end: u64,
}

impl Directory {
    fn read(source: &dyn ReadAt, version: Version, counts_at: u64) -> Result<Self> {
        let counts = read_vec(source, counts_at, COUNTS, "counts")?;
        let mut cursor = Cursor::new(&counts, counts_at, Endian::Little);
        let unknown = cursor.u32("unknown")?;
        let directories = u64::from(cursor.u32("number of directories")?);
        let files = u64::from(cursor.u32("number of files")?);
        if directories.max(files) > MAX_ENTRIES as u64 {
            let problem = format!("is more than {MAX_ENTRIES}");
            return Err(Error::damaged(counts_at, "number of entries", problem));
        }
        let directories_at = counts_at + COUNTS;
        let length = directories * DIRECTORY as u64;
        let files_at = directories_at + length;
        let files_length = files * version.record() as u64;
        Ok(Self {
            version,
            counts_at,
            unknown,
            directories: read_vec(source, directories_at, length, "directories")?,
            declared: Vec::new(),
            files: read_vec(source, files_at, files_length, "files")?,
            files_at,
            end: source.len(),
        })
    }

    /// Declares all directories with their files and returns the files.
    fn announce(&mut self, sink: &mut dyn Sink, warnings: &mut Warnings) -> Result<Vec<Member>> {
        let announced = self.files.len() / self.version.record();
        let mut paths = Paths::new(sink);
        let mut members = Vec::with_capacity(announced);
        for number in 0..self.directories.len() / DIRECTORY {
            let offset = self.counts_at + COUNTS + (number * DIRECTORY) as u64;
            let bytes = &self.directories[number * DIRECTORY..][..DIRECTORY];
            let mut cursor = Cursor::new(bytes, offset, Endian::Little);
            let name = until_nul(cursor.take(NAME, "name")?);
            let first = cursor.u32("first file")?;
            let count = cursor.u32("number of files")? as usize;
            let at = self.first_file(first);
            if at != Some(members.len()) {
                warnings.push(format!(
                    "directory {number}: its files do not follow those of the previous one"
                ));
            }
            let in_table = at.and_then(|at| at.checked_add(count));
            let fits = in_table.is_some_and(|end| end <= announced);
            let Some(at) = at.filter(|_| fits && members.len() + count <= announced) else {
                let problem = format!("{count} files at {first:#x} are not in the table");
                return Err(Error::damaged(offset, "directory", problem));
            };
            let parent = paths.directory(name, SEPARATORS, Charset::Windows1252)?;
            for file in at..at + count {
                let (name, member) = self.file(file)?;
                let entry = plain_entry(members.len(), member.size.into());
                let name = Name::windows_1252(name);
                paths.sink().file(parent, name, entry)?;
                self.check(&member, file, warnings);
                members.push(member);
            }
            self.declared.push((parent, at..at + count));
        }
        if members.len() != announced {
            let found = members.len();
            warnings.push(format!(
                "the directories have {found} files, {announced} are declared"
            ));
        }
        Ok(members)
    }

    /// Returns the number of a directory's first file; `None` if its record is
    /// not in the table.
    fn first_file(&self, word: u32) -> Option<usize> {
        match self.version {
            Version::Three => Some(word as usize),
            Version::Two => {
                let into = u64::from(word).checked_sub(self.files_at)? as usize;
                let record = self.version.record();
                into.is_multiple_of(record).then_some(into / record)
            }
        }
    }

    /// Returns the name of a file, and its record.
    fn file(&self, number: usize) -> Result<(&[u8], Member)> {
        let length = self.version.record();
        let bytes = &self.files[number * length..][..length];
        let offset = self.files_at + (number * length) as u64;
        let mut cursor = Cursor::new(bytes, offset, Endian::Little);
        let name = until_nul(cursor.take(NAME, "name")?);
        let crc = match self.version {
            Version::Two => None,
            Version::Three => Some(cursor.u32("checksum")?),
        };
        let member = Member {
            crc,
            is_raw: cursor.u32("compression")? == RAW,
            offset: cursor.u32("offset")?,
            // The decoded size comes first (FORMATS, PKR 1).
            size: cursor.u32("size")?,
            stored: cursor.u32("stored size")?,
        };
        Ok((name, member))
    }

    fn check(&self, member: &Member, number: usize, warnings: &mut Warnings) {
        let length = if member.is_raw {
            member.size
        } else {
            member.stored
        };
        if u64::from(member.offset) + u64::from(length) > self.end {
            let text = format!("file {number} extends past the end of the archive");
            warnings.push(text);
        } else if member.is_raw && member.size != member.stored {
            warnings.push(format!(
                "file {number} is not packed, but its sizes are {} and {}",
                member.size, member.stored
            ));
        }
    }
}

impl Pkr {
    fn packed(&self, member: &Member) -> PackedFile {
        let stored = match member.is_raw {
            true => member.size,
            false => member.stored,
        };
        PackedFile {
            source: self.source.clone(),
            offset: member.offset.into(),
            stored: stored.into(),
            size: member.size.into(),
            crc: member.crc,
            force: self.options.force,
        }
    }
}

impl Streams for Pkr {
    fn decoder(&self, file: FileId) -> Result<Box<dyn Decoder>> {
        let member = record(&self.members, file)?;
        let packed = self.packed(member);
        if member.is_raw {
            packed.check(packed.stored)?;
            return Ok(packed.decoder(Copy));
        }
        packed.check(packed.stored * MAX_DEFLATE_RATIO)?;
        Ok(packed.decoder(Inflate::new(Wrapping::Zlib)))
    }

    fn decode_whole(&self, file: FileId) -> Option<Vec<u8>> {
        let packed = self.packed(record(&self.members, file).ok()?);
        packed.check(packed.stored * MAX_DEFLATE_RATIO).ok()?;
        packed.inflate_whole(Wrapping::Zlib)
    }

    fn needs(&self, file: FileId) -> Needs {
        let member = record(&self.members, file).ok();
        let member = member.filter(|member| !member.is_raw);
        Needs {
            whole: member.map(|member| {
                let packed = self.packed(member);
                Whole {
                    packed: packed.stored,
                    size: packed.size,
                }
            }),
            ..Needs::default()
        }
    }
}

impl Volume for Pkr {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        let member = record(&self.members, file)?;
        let is_checked = self.options.verify && member.crc.is_some();
        if !member.is_raw || is_checked {
            return Ok(Content::Stream(self));
        }
        let span = Span {
            offset: member.offset.into(),
            size: member.size.into(),
        };
        span.content(&*self.source, self.options.force)
    }

    fn data_facts(&self, file: FileId) -> Result<DataFacts<'_>> {
        let member = record(&self.members, file)?;
        if member.is_raw {
            return Ok(DataFacts::default());
        }
        Ok(DataFacts {
            crc32: member.crc,
            packed: Some(Packed {
                method: (FORMAT.name, 0),
                source: &*self.source,
                offset: member.offset.into(),
                length: member.stored.into(),
            }),
        })
    }

    fn info(&self) -> serde_json::Value {
        let version = match self.version {
            Version::Two => 2,
            Version::Three => 3,
        };
        json!({ "version": version, "files": self.members.len() })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Pkr {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.members.capacity() * size_of::<Member>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::{open, read};
    use std::io::Write;

    fn name(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(NAME, 0);
        bytes
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns a PKR3 with two directories: one stored file, one packed.
    fn pkr3(crc: u32, size: u32) -> Vec<u8> {
        let packed = zlib(&[b'x'; 1000]);
        let directory = 8 + 3 + packed.len() as u32;
        [
            b"PKR3".to_vec(),
            words(&[directory]),
            b"raw".to_vec(),
            packed.clone(),
            words(&[1, 2, 2]),
            name("data/"),
            words(&[0, 1]),
            name("data\\levels\\"),
            words(&[1, 1]),
            name("a.txt"),
            words(&[crc32fast::hash(b"raw"), RAW, 8, 3, 3]),
            name("b.txt"),
            words(&[crc, 2, 11, size, packed.len() as u32]),
        ]
        .concat()
    }

    #[test]
    fn directories_are_paths_and_the_decoded_size_comes_first() {
        let bytes = pkr3(crc32fast::hash(&[b'x'; 1000]), 1000);
        let (listing, volume) = open(&FORMAT, "x", bytes, None).unwrap();
        let paths = ["data/", "data/a.txt", "data/levels/", "data/levels/b.txt"];
        assert_eq!(listing.paths(), paths);
        let contents = listing.files().map(|(_, entry)| read(&*volume, entry));
        let contents: Vec<_> = contents.map(Result::unwrap).collect();
        assert_eq!(contents, [b"raw".to_vec(), vec![b'x'; 1000]]);
        assert!(volume.warnings().is_empty());
    }

    #[test]
    fn wrong_checksums_and_sizes_are_detected_when_the_file_is_read() {
        let crc = crc32fast::hash(&[b'x'; 1000]);
        for (crc, size) in [(1, 1000), (crc, 999), (crc, 1001), (crc, u32::MAX)] {
            let (listing, volume) = open(&FORMAT, "x", pkr3(crc, size), None).unwrap();
            let (_, entry) = listing.files().nth(1).unwrap();
            let Ok(Content::Stream(streams)) = volume.content(entry.file) else {
                panic!("is packed");
            };
            let decoder = streams.decoder(entry.file);
            let read = decoder.and_then(|mut decoder| decoder.read(&mut vec![0; size as usize]));
            assert!(matches!(read, Err(Error::Damaged { .. })), "{size}");
        }
    }

    #[test]
    fn records_outside_the_table_are_refused() {
        let bytes = pkr3(0, 0);
        let counts = bytes.len() - 2 * 52 - 2 * 40 - 12;
        for (at, value) in [
            (4, 0xFFFF_FFF0),
            (counts + 4, 0x7FFF_FFFF),
            (counts + 8, 0x7FFF_FFFF),
            (counts + 12 + 32, 0xFFFF_FFFF),
            (counts + 12 + 36, 0xFFFF_FFFF),
            (counts + 12 + 36, 2),
        ] {
            let mut bytes = bytes.clone();
            bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
            assert!(open(&FORMAT, "x", bytes, None).is_err(), "{at}");
        }
    }

    #[test]
    fn directories_of_version_2_point_to_their_first_record() {
        let bytes = [
            b"PKR2".to_vec(),
            words(&[1, 1, 1]),
            name("data/"),
            words(&[16 + 40, 1]),
            name("a.txt"),
            words(&[RAW, 16 + 40 + 48, 2, 2]),
            b"ok".to_vec(),
        ]
        .concat();
        let (listing, volume) = open(&FORMAT, "x", bytes, None).unwrap();
        let (path, entry) = listing.files().next().unwrap();
        assert_eq!(path, "data/a.txt");
        assert_eq!(read(&*volume, entry).unwrap(), b"ok");
    }

    #[test]
    fn other_versions_are_refused_with_a_message() {
        let error = open(&FORMAT, "x", b"PKR4    ".to_vec(), None).err();
        assert!(error.unwrap().to_string().contains("PKR4"));
    }
}
