use super::super::listing::{open as open_file, read};
use super::*;
use crate::apply::{Tools, apply};
use crate::changes::{Change, Folder, NewFile, Original, Report, listed};
use crate::extract::Listing;
use crate::format::Encoding;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file for an archive.
struct File {
    name: &'static [u8],
    data: Vec<u8>,
    method: u16,
    flags: u16,
    /// The system of the program that made it: 0 DOS, 3 Unix.
    system: u8,
    /// Added to the declared decoded size.
    size_error: u32,
}

fn file(name: &'static [u8], data: &[u8]) -> File {
    File {
        name,
        data: data.to_vec(),
        method: STORED,
        flags: 0,
        system: 0,
        size_error: 0,
    }
}

fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn archive(files: &[File]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for file in files {
        let packed = match file.method {
            DEFLATE => {
                let level = flate2::Compression::default();
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
                encoder.write_all(&file.data).unwrap();
                encoder.finish().unwrap()
            }
            _ => file.data.clone(),
        };
        let size = file.data.len() as u32 + file.size_error;
        // 2000-01-01, midnight.
        let mut common = shorts(&[20, file.flags, file.method, 0, 20 << 9 | 1 << 5 | 1]);
        common.extend(words(&[
            crc32fast::hash(&file.data),
            packed.len() as u32,
            size,
        ]));
        common.extend(shorts(&[file.name.len() as u16]));
        let header = bytes.len() as u32;
        bytes.extend_from_slice(LOCAL_HEADER);
        bytes.extend_from_slice(&common);
        // The local header has an extra field that the directory lacks.
        bytes.extend(shorts(&[4]));
        bytes.extend_from_slice(file.name);
        bytes.extend([0xFE, 0xCA, 0, 0]);
        bytes.extend_from_slice(&packed);
        directory.extend_from_slice(b"PK\x01\x02");
        directory.extend([20, file.system]);
        directory.extend_from_slice(&common);
        directory.extend(shorts(&[0, 0, 0, 0]));
        directory.extend(words(&[0, header]));
        directory.extend_from_slice(file.name);
    }
    let start = bytes.len() as u32;
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(END);
    let count = files.len() as u16;
    bytes.extend(shorts(&[0, 0, count, count]));
    bytes.extend(words(&[directory.len() as u32, start]));
    bytes.extend(shorts(&[0]));
    bytes
}

fn open(files: &[File]) -> (Listing, Box<dyn Volume>) {
    open_file(&FORMAT, "x.zip", archive(files), None).unwrap()
}

#[test]
fn stored_and_deflated_files_decode_to_their_contents() {
    let deflated = File {
        method: DEFLATE,
        ..file(b"d/deflated.txt", &[b'y'; 100_000])
    };
    let (listing, volume) = open(&[file(b"stored.txt", b"as it is"), deflated]);
    assert_eq!(listing.paths(), ["stored.txt", "d/", "d/deflated.txt"]);
    let files: Vec<_> = listing.files().map(|(_, entry)| entry).collect();
    assert_eq!(read(&*volume, files[0]).unwrap(), b"as it is");
    assert_eq!(read(&*volume, files[1]).unwrap(), [b'y'; 100_000]);
    assert_eq!(files[0].modified, Some(946_684_800));
}

#[test]
fn names_are_decoded_in_the_character_set_of_their_entry() {
    let of_dos = file(b"M\x81ll\\a.txt", b"");
    let flagged = File {
        flags: 1 << 11,
        ..file("é.txt".as_bytes(), b"")
    };
    let of_unix = File {
        system: 3,
        ..file("a\\ü.txt".as_bytes(), b"")
    };
    let (listing, _) = open(&[of_dos, flagged, of_unix]);
    let expected = ["Müll/", "Müll/a.txt", "é.txt", "a\\ü.txt"];
    assert_eq!(listing.paths(), expected);
}

#[test]
fn encrypted_files_and_other_methods_are_listed_and_refused() {
    let encrypted = File {
        flags: 1,
        ..file(b"a", b"secret")
    };
    let other = File {
        method: 6,
        ..file(b"b", b"packed")
    };
    let (listing, volume) = open(&[encrypted, other]);
    let files: Vec<_> = listing.files().map(|(_, entry)| entry.file).collect();
    assert!(matches!(volume.content(files[0]), Err(Error::Encrypted(_))));
    let error = volume.content(files[1]).err().unwrap();
    assert!(matches!(&error, Error::Unsupported(text) if text.contains("imploded")));
}

#[test]
fn wrong_sizes_are_detected_before_memory_is_allocated() {
    let stored = File {
        size_error: 1 << 30,
        ..file(b"a", b"short")
    };
    let deflated = File {
        method: DEFLATE,
        ..stored
    };
    let deflated = File {
        data: b"short".to_vec(),
        name: b"b",
        ..deflated
    };
    let stored = File {
        size_error: 1 << 30,
        ..file(b"a", b"short")
    };
    let (listing, volume) = open(&[stored, deflated]);
    let files: Vec<_> = listing.files().map(|(_, entry)| entry.file).collect();
    assert!(volume.content(files[0]).is_err());
    let Ok(Content::Stream(streams)) = volume.content(files[1]) else {
        panic!("is packed");
    };
    assert!(streams.decoder(files[1]).is_err());
}

#[test]
fn a_program_before_the_archive_is_ignored() {
    let bytes = [&b"MZ some program"[..], &archive(&[file(b"a", b"text")])].concat();
    let (listing, volume) = open_file(&FORMAT, "setup.exe", bytes, None).unwrap();
    let (_, entry) = listing.files().next().unwrap();
    assert_eq!(read(&*volume, entry).unwrap(), b"text");
}

#[test]
fn an_archive_that_is_cut_anywhere_is_refused() {
    let bytes = archive(&[file(b"a", b"text")]);
    for length in 4..bytes.len() {
        let opened = open_file(&FORMAT, "x.zip", bytes[..length].to_vec(), None);
        assert!(opened.is_err(), "{length}");
    }
}

#[test]
fn the_error_for_a_part_of_an_archive_names_the_cause() {
    let opened = open_file(&FORMAT, "x.zip", [*SPANNED, *LOCAL_HEADER].concat(), None);
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("several parts"), "{error}");
}

#[test]
fn an_archive_in_several_parts_cannot_be_changed() {
    let mut last = archive(&[file(b"a", b"text")]);
    let is_record = |bytes: &[u8]| bytes == b"PK\x01\x02";
    let directory = last.windows(4).position(is_record).unwrap();
    let first: Arc<dyn ReadAt> = Arc::new(last.drain(..directory).collect::<Vec<u8>>());
    let end = last.len() - 22;
    // The numbers of the last part, and the offset of the directory in it.
    last[end + 4..][..4].copy_from_slice(&[1, 0, 1, 0]);
    last[end + 16..][..4].fill(0);
    let original = Original {
        partner: &|name| (name == "a.z01").then(|| first.clone()),
        ..Original::alone(Arc::new(last), "a.zip")
    };
    let mut changes = Folder::default();
    let new: Arc<dyn ReadAt> = Arc::new(&b"new"[..]);
    changes.insert("b", Change::File(NewFile::new("b", new)));
    let mut report = Report::default();
    let written = apply(&original, changes, "", Tools::PLAIN, &mut report);
    assert!(written.is_none());
    let refused = listed(&report.refusals);
    assert!(refused.contains("in several parts"), "{refused}");
}

/// Returns the paths of an archive that is opened with `force`.
fn forced(bytes: Vec<u8>) -> Result<(Vec<String>, Box<dyn Volume>)> {
    let options = Options {
        force: true,
        ..Options::default()
    };
    let mut listing = Listing::default();
    let volume = (FORMAT.open)(Input::alone(Arc::new(bytes), options), &mut listing)?;
    Ok((listing.paths(), volume))
}

#[test]
fn files_without_a_directory_are_found_by_their_headers_with_force() {
    let deflated = File {
        method: DEFLATE,
        ..file(b"d/b.txt", &[b'b'; 5000])
    };
    let bytes = archive(&[file(b"a.txt", b"PK\x03\x04 in the data"), deflated]);
    let end = bytes
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap();
    for length in [end, end + 30] {
        let cut = bytes[..length].to_vec();
        assert!(open_file(&FORMAT, "x.zip", cut.clone(), None).is_err());
        let (paths, volume) = forced(cut).unwrap();
        assert_eq!(paths, ["a.txt", "d/", "d/b.txt"]);
        assert!(volume.warnings()[0].contains("directory is damaged"));
        for (number, size) in [(0, 16), (1, 5000)] {
            let entry = crate::paths::plain_entry(number, size);
            assert_eq!(read(&*volume, entry).unwrap().len() as u64, size);
        }
    }
    // A good archive is read by its directory.
    assert_eq!(forced(bytes).unwrap().1.warnings(), [""; 0]);
    assert!(forced(b"PK\x03\x04".to_vec()).is_err());
}

#[test]
fn sizes_after_the_data_are_found_in_their_forms() {
    let forms: [(&[u8], bool); 3] = [(b"PK\x07\x08", false), (b"PK\x07\x08", true), (b"", false)];
    for (signature, is_long) in forms {
        // The data contains what looks like the end.
        let data = [&b"PK\x07\x08"[..], &[0; 40], b"PK\x03\x04"].concat();
        let mut bytes = Vec::new();
        for name in [b"a", b"b"] {
            let fields = [
                shorts(&[20, 8, STORED, 0, 0]),
                words(&[0; 3]),
                shorts(&[1, 0]),
            ];
            bytes.extend([&LOCAL_HEADER[..], &fields.concat(), name, &data, signature].concat());
            bytes.extend(crc32fast::hash(&data).to_le_bytes());
            for _ in 0..2 {
                let length = (data.len() as u64).to_le_bytes();
                bytes.extend(if is_long { &length[..] } else { &length[..4] });
            }
        }
        bytes.extend(b"PK\x01\x02");
        let (paths, volume) = forced(bytes).unwrap();
        assert_eq!(paths, ["a", "b"]);
        for number in 0..2 {
            let entry = crate::paths::plain_entry(number, data.len() as u64);
            assert_eq!(
                read(&*volume, entry).unwrap(),
                data,
                "{signature:?} {is_long}"
            );
        }
    }
}

/// A sparse file that begins with some bytes. It counts the bytes that are read.
struct Sparse {
    start: Vec<u8>,
    read: AtomicU64,
}

impl ReadAt for Sparse {
    fn len(&self) -> u64 {
        1 << 40
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.read.fetch_add(out.len() as u64, Ordering::Relaxed);
        let start = self.start.iter().skip(offset as usize);
        let bytes = start.copied().chain(std::iter::repeat(0));
        out.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        Ok(())
    }
}

#[test]
fn headers_are_not_searched_for_in_a_sparse_file_of_any_length() {
    let found = archive(&[file(b"a", b"text")]);
    let found = &found[..LOCAL_LENGTH as usize + 5];
    let without_sizes = [&LOCAL_HEADER[..], &shorts(&[20, 8, STORED, 0, 0]), &[0; 12]].concat();
    let without_sizes = [&without_sizes[..], &shorts(&[1, 0]), b"b"].concat();
    for start in [found.to_vec(), [found, &without_sizes].concat()] {
        let source = Arc::new(Sparse {
            start,
            read: AtomicU64::new(0),
        });
        let options = Options {
            force: true,
            ..Options::default()
        };
        let mut listing = Listing::default();
        let input = Input::alone(source.clone(), options);
        let volume = (FORMAT.open)(input, &mut listing).unwrap();
        assert_eq!(listing.paths(), ["a"]);
        assert!(volume.warnings()[1].contains("large gaps"));
        let read = source.read.load(Ordering::Relaxed);
        assert!(read < 256 << 20, "{read}");
    }
}

#[test]
fn headers_without_an_end_are_not_searched_for_again_and_again() {
    let found = archive(&[file(b"a", b"text")]);
    let found = &found[..LOCAL_LENGTH as usize + 5];
    let endless = [&LOCAL_HEADER[..], &shorts(&[20, 8, STORED, 0, 0]), &[0; 12]].concat();
    let endless = [&endless[..], &shorts(&[1, 0]), b"b"].concat();
    let bytes = [found, &endless.repeat(20), &[b'x'; 100_000]].concat();
    let (paths, volume) = forced(bytes).unwrap();
    assert_eq!(paths, ["a"]);
    assert!(volume.warnings()[1].contains("too many damaged"));
}

#[test]
fn an_end_in_a_comment_is_not_the_end() {
    let mut bytes = archive(&[file(b"a", b"text")]);
    let false_end = [&END[..], &shorts(&[0, 0, 1, 1]), &words(&[46, 7]), &[0, 0]].concat();
    let comment = [&false_end[..], b"and", &false_end].concat();
    let length = bytes.len();
    bytes[length - 2..].copy_from_slice(&(comment.len() as u16).to_le_bytes());
    bytes.extend(comment);
    let (listing, volume) = open_file(&FORMAT, "x.zip", bytes, None).unwrap();
    let (_, entry) = listing.files().next().unwrap();
    assert_eq!(read(&*volume, entry).unwrap(), b"text");
}

#[test]
fn a_second_byte_that_is_a_separator_does_not_split_a_name_in_its_encoding() {
    // The katakana SO: 83 5C.
    let bytes = archive(&[file(b"\x83\x5C.txt", b"")]);
    let paths = |encoding: Option<&str>| {
        let options = Options {
            encoding: encoding.and_then(|name| Encoding::for_label(name.as_bytes())),
            ..Options::default()
        };
        let mut listing = Listing::default();
        (FORMAT.open)(Input::alone(Arc::new(bytes.clone()), options), &mut listing).unwrap();
        listing.paths()
    };
    assert_eq!(paths(Some("shift_jis")), ["ソ.txt"]);
    assert_eq!(paths(None), ["â/", "â/.txt"]);
}

#[test]
fn times_without_a_zone_are_local() {
    let bytes = archive(&[file(b"a", b"")]);
    let options = Options {
        of_local_time: Some(|seconds| seconds - 3600),
        ..Options::default()
    };
    let mut listing = Listing::default();
    (FORMAT.open)(Input::alone(Arc::new(bytes), options), &mut listing).unwrap();
    let (_, entry) = listing.files().next().unwrap();
    assert_eq!(entry.modified, Some(946_684_800 - 3600));
}

#[test]
fn a_stored_file_with_a_wrong_checksum_cannot_be_read_to_its_end() {
    let mut bytes = archive(&[file(b"a", b"text")]);
    let at = bytes.windows(4).position(|window| window == b"text");
    bytes[at.unwrap()] = b'T';
    let read_with = |verify, force| {
        let options = Options {
            verify,
            force,
            ..Options::default()
        };
        let mut listing = Listing::default();
        let input = Input::alone(Arc::new(bytes.clone()), options);
        let volume = (FORMAT.open)(input, &mut listing).unwrap();
        let (_, entry) = listing.files().next().unwrap();
        read(&*volume, entry)
    };
    assert!(read_with(false, false).is_err());
    assert!(read_with(true, false).is_err());
    assert_eq!(read_with(false, true).unwrap(), b"Text");
}

#[test]
fn archives_behind_other_data_and_before_padding_are_found() {
    let plain = archive(&[file(b"a", b"text")]);
    let padding = vec![0; 70_000];
    for (before, after) in [
        (b"#!/bin/sh\nexit\n".as_slice(), [].as_slice()),
        (b"\x7FELF\x02\x01\x01", &[]),
        (&[0; 4096], &[]),
        (&[], &padding),
        (b"#!", &padding),
    ] {
        let bytes = [before, &plain, after].concat();
        let input = Input::alone(Arc::new(bytes), Options::default());
        let format = crate::formats::detect(&input).unwrap();
        assert_eq!(format.name, "zip");
        let mut listing = Listing::default();
        let volume = (format.open)(input, &mut listing).unwrap();
        let (name, entry) = listing.files().next().unwrap();
        assert_eq!(
            (name, read(&*volume, entry).unwrap()),
            ("a", b"text".to_vec())
        );
    }
}
