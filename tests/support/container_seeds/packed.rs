//! Archives of general programs, and compressed files.

use std::io::Write;

use flate2::{Compression, GzBuilder};

use super::{deflated, field, shorts, words};

/// A file of a zip: name, flags, method, stored and decoded bytes.
type ZipFile<'a> = (&'a [u8], u16, u16, Vec<u8>, &'a [u8]);

/// Returns a zip with a stored, a packed and an encrypted file.
pub fn zip() -> Vec<u8> {
    let text = [b'y'; 700];
    zip_of(&[
        (b"stored.txt", 0, 0, b"as it is".to_vec(), b"as it is"),
        (b"d/packed.txt", 0, 8, deflated(&text), &text),
        (b"d\\secret", 1, 0, b"secret".to_vec(), b"secret"),
    ])
}

/// Returns a zip with one file, packed.
pub fn zip_with(name: &str, bytes: &[u8]) -> Vec<u8> {
    zip_of(&[(name.as_bytes(), 0, 8, deflated(bytes), bytes)])
}

/// Returns a zip whose directory lists one stored file many times, under names
/// with this extension.
pub fn zip_of_copies(extension: &str, bytes: &[u8], count: usize) -> Vec<u8> {
    let one = zip_of(&[(b"", 0, 0, bytes.to_vec(), bytes)]);
    // The entry in the directory has 46 bytes, and its end 22.
    let (data, directory) = one.split_at(one.len() - 46 - 22);
    let (entry, end) = directory.split_at(46);
    let name = |number: usize| format!("{number:05}.{extension}");
    let length = (name(0).len() as u16).to_le_bytes();
    let entry = [&entry[..28], &length, &entry[30..]].concat();
    let mut zip = data.to_vec();
    for number in 0..count {
        zip.extend([&entry, name(number).as_bytes()].concat());
    }
    let length = (zip.len() - data.len()) as u32;
    let counts = shorts(&[0, 0, count as u16, count as u16]);
    let place = words(&[length, data.len() as u32]);
    zip.extend([&end[..4], &counts, &place, &[0; 2]].concat());
    zip
}

/// Returns a zip of these files.
fn zip_of(files: &[ZipFile<'_>]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, flags, method, stored, data) in files {
        let sizes = [
            crc32fast::hash(data),
            stored.len() as u32,
            data.len() as u32,
        ];
        let common = [
            shorts(&[20, *flags, *method, 0, 0x2821]),
            words(&sizes),
            shorts(&[name.len() as u16, 0]),
        ]
        .concat();
        let position = words(&[0, bytes.len() as u32]);
        bytes.extend([&b"PK\x03\x04"[..], &common, name, stored].concat());
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &[0; 6], &position, name].concat());
    }
    let end = [
        words(&[directory.len() as u32, bytes.len() as u32]),
        vec![0; 2],
    ]
    .concat();
    let count = files.len() as u16;
    let counts = shorts(&[0, 0, count, count]);
    [bytes, directory, b"PK\x05\x06".to_vec(), counts, end].concat()
}

/// Returns a tar with a file, a hard link, one with a long name, and one of pax.
pub fn tar() -> Vec<u8> {
    let long = [b'n'; 120];
    let parts: [(&[u8], u8, &[u8]); 6] = [
        (b"a.txt", b'0', b"some text"),
        (b"link.txt", b'1', b""),
        (b"././@LongLink", b'L', &long),
        (b"short", b'0', &[7; 600]),
        (b"fields", b'x', b"14 path=d/e.f\n12 mtime=77\n"),
        (b"e.f", b'0', b"the last one"),
    ];
    let mut bytes = Vec::new();
    for (name, kind, data) in parts {
        let size = format!("{:011o}\0", data.len());
        let mut header = [
            field(name, 100),
            field(b"0000644", 8),
            vec![0; 16],
            size.into_bytes(),
            field(b"00000000011", 12),
            vec![0; 8],
            vec![kind],
            field(b"a.txt", 100),
            field(b"ustar\x0000", 255),
        ]
        .concat();
        sign_tar(&mut header);
        bytes.extend(header);
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// Corrects the checksum of a header of tar.
pub fn sign_tar(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// `text that is packed `, 50 times, as Python packs it.
const BZIP2: &[u8] = &[
    0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x89, 0x3A, 0xD7, 0x8C, 0x00, 0x01,
    0xC1, 0x91, 0x80, 0x40, 0x00, 0x2E, 0x68, 0x4C, 0x40, 0x20, 0x00, 0x60, 0x29, 0x54, 0x03, 0x4F,
    0x50, 0x40, 0xD0, 0x34, 0x31, 0x16, 0x22, 0xE9, 0x16, 0xE8, 0xB1, 0x16, 0x91, 0x76, 0x8B, 0x48,
    0xB1, 0x17, 0x44, 0x5A, 0x45, 0xEA, 0x2D, 0x91, 0x62, 0x2E, 0xD1, 0x7C, 0x8B, 0x82, 0x2F, 0x11,
    0x7E, 0x2E, 0xE4, 0x8A, 0x70, 0xA1, 0x21, 0x12, 0x75, 0xAF, 0x18,
];
const XZ: &[u8] = &[
    0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04, 0xE6, 0xD6, 0xB4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0xE0, 0x03, 0xE7, 0x00, 0x20, 0x5D, 0x00, 0x3A,
    0x19, 0x4B, 0x78, 0x10, 0x36, 0xD2, 0x24, 0x8C, 0xD7, 0x93, 0x78, 0xDB, 0x10, 0xD3, 0x97, 0x50,
    0xFD, 0xAA, 0xB3, 0x82, 0xDE, 0x49, 0x13, 0x5F, 0x57, 0xF1, 0x51, 0x17, 0x89, 0x89, 0x00, 0x00,
    0xFC, 0x9A, 0xD0, 0xF9, 0x45, 0xAA, 0xF1, 0x92, 0x00, 0x01, 0x3C, 0xE8, 0x07, 0x00, 0x00, 0x00,
    0xAC, 0xA7, 0x9E, 0x35, 0xB1, 0xC4, 0x67, 0xFB, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5A,
];

/// Returns a compressed file of each kind, with the same text.
pub fn compressed() -> Vec<Vec<u8>> {
    let text = b"text that is packed ".repeat(50);
    let mut gzip = GzBuilder::new()
        .filename("text.txt")
        .write(Vec::new(), Compression::default());
    gzip.write_all(&text).unwrap();
    // A Zstandard frame with one block that is stored.
    let length = text.len() as u32;
    let block = (length << 3 | 1).to_le_bytes();
    let head = [&[0x28, 0xB5, 0x2F, 0xFD, 0xA0][..], &length.to_le_bytes()].concat();
    vec![
        gzip.finish().unwrap(),
        BZIP2.to_vec(),
        XZ.to_vec(),
        [&head[..], &block[..3], &text].concat(),
    ]
}

/// Encodes a number of 7z: in one byte if it has at most seven bits, otherwise
/// in nine.
fn number(number: u64) -> Vec<u8> {
    match number {
        ..0x80 => vec![number as u8],
        _ => [&[0xFF][..], &number.to_le_bytes()].concat(),
    }
}

/// Returns a property of the files in a 7z database.
fn property(id: u8, bytes: &[u8]) -> Vec<u8> {
    [&[id][..], &number(bytes.len() as u64), bytes].concat()
}

/// The compression method of a 7z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method7z {
    Copy,
    Deflate,
    /// An id that no method has.
    Unknown,
}

/// Returns a 7z of these files in one block, a directory `d` and an empty file
/// `empty`. The checksum of every file is computed from its bytes, plus `wrong`.
pub fn seven_zip_of(method: Method7z, files: &[(&str, &[u8])], wrong: u32) -> Vec<u8> {
    let all: Vec<u8> = files.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
    let (id, packed): (&[u8], _) = match method {
        Method7z::Copy => (&[0], all.clone()),
        Method7z::Deflate => (&[4, 1, 8], deflated(&all)),
        Method7z::Unknown => (&[9, 9], all.clone()),
    };
    let sizes = files[..files.len() - 1].iter();
    let sizes: Vec<u8> = sizes
        .flat_map(|(_, bytes)| number(bytes.len() as u64))
        .collect();
    let sums = files
        .iter()
        .map(|(_, bytes)| crc32fast::hash(bytes).wrapping_add(wrong));
    let names = files.iter().map(|(name, _)| *name).chain(["d", "empty"]);
    let names = names.flat_map(|name| name.encode_utf16().chain([0]).collect::<Vec<_>>());
    let names = shorts(&names.collect::<Vec<u16>>());
    let count = files.len() + 2;
    let empty = |at: usize| u8::from(at + 2 >= count && at < count);
    let empty = (0..count.div_ceil(8))
        .map(|byte| (0..8).fold(0, |bits, at| bits << 1 | empty(8 * byte + at)));
    let times =
        (0..count as u64).flat_map(|at| (132_000_000_000_000_000 + at * 10_000_000).to_le_bytes());
    let times: Vec<u8> = [1, 0].into_iter().chain(times).collect();
    let database = [
        vec![0x01, 0x04, 0x06, 0, 1, 0x09],
        number(packed.len() as u64),
        vec![0, 0x07, 0x0B, 1, 0, 1, id.len() as u8],
        id.to_vec(),
        vec![0x0C],
        number(all.len() as u64),
        vec![0, 0x08, 0x0D],
        number(files.len() as u64),
        vec![0x09],
        sizes,
        vec![0x0A, 1],
        words(&sums.collect::<Vec<u32>>()),
        vec![0, 0, 0x05],
        number(count as u64),
        property(0x0E, &empty.collect::<Vec<u8>>()),
        property(0x0F, &[0b0100_0000]),
        property(0x11, &[&[0][..], &names].concat()),
        property(0x14, &times),
        vec![0, 0],
    ]
    .concat();
    let position = [
        (packed.len() as u64).to_le_bytes(),
        (database.len() as u64).to_le_bytes(),
    ]
    .concat();
    let position = [position, words(&[crc32fast::hash(&database)])].concat();
    let start = words(&[crc32fast::hash(&position)]);
    [
        b"7z\xBC\xAF\x27\x1C\0\x04".to_vec(),
        start,
        position,
        packed,
        database,
    ]
    .concat()
}

/// Returns a 7z with two files in a packed block.
pub fn seven_zip() -> Vec<u8> {
    let text = [b'z'; 900];
    seven_zip_of(
        Method7z::Deflate,
        &[("d/a.txt", &text), ("b.txt", b"bytes")],
        0,
    )
}
