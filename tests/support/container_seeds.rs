//! Small containers of every format, built from their specifications.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

/// Length of a sector of IMG, WAD and XDVDFS.
pub const SECTOR: usize = 2048;

fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// A text in a field of that length.
fn field(text: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = text.to_vec();
    bytes.resize(length, 0);
    bytes
}

/// A text with its NUL and the padding to four bytes.
fn c_text(text: &[u8]) -> Vec<u8> {
    field(text, (text.len() + 1).next_multiple_of(4))
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A directory of an IMG of version 1 for the bytes of [`sectors`].
pub fn img_directory() -> Vec<u8> {
    let record = |place: [u32; 2], name: &[u8]| [words(&place), field(name, 24)].concat();
    [
        record([0, 1], b"a.ifp"),
        record([1, 1], b"B.DFF\0\xCD\xCD"),
        record([0, 2], b"a.ifp"),
        record([0, 0], b"empty.txd"),
    ]
    .concat()
}

/// Two sectors.
pub fn sectors() -> Vec<u8> {
    (0..2 * SECTOR).map(|at| (at / 7) as u8).collect()
}

/// An IMG of version 2.
pub fn img() -> Vec<u8> {
    let records = [
        words(&[1, 1]),
        field(b"a.ifp", 24),
        words(&[1, 1 << 16]),
        field(b"abcdefghijklmnopqrst.ifp", 24),
    ];
    let head = [b"VER2".to_vec(), words(&[2]), records.concat()].concat();
    field(
        &[field(&head, SECTOR), vec![7; SECTOR]].concat(),
        2 * SECTOR,
    )
}

/// The three forms of a WAD's directory for the bytes of [`sectors`].
pub fn wad_directories() -> [Vec<u8>; 3] {
    let names = [
        c_text(b"bits.psx"),
        words(&[0, 100]),
        c_text(b"..\\b.vab"),
        words(&[2048, 9]),
        vec![0xFF],
    ];
    let offsets = [
        words(&[0, 2000]),
        c_text(b"\\levels\\x.psx"),
        words(&[0, 0x8000_0009]),
        c_text(b"m.str"),
        words(&[u32::MAX]),
    ];
    let hashed = words(&[0x31A1_EA54, 0, 100, 0x1234_5678, 2048, 9, 0, 0, 0]);
    [names.concat(), offsets.concat(), hashed]
}

/// A PKR3 with a file of either kind.
pub fn pkr() -> Vec<u8> {
    let text = [b'x'; 500];
    let packed = zlib(&text);
    [
        b"PKR3".to_vec(),
        words(&[8 + 3 + packed.len() as u32]),
        b"raw".to_vec(),
        packed.clone(),
        words(&[1, 2, 2]),
        field(b"data/", 32),
        words(&[0, 1]),
        field(b"data/levels/", 32),
        words(&[1, 1]),
        field(b"a.txt", 32),
        words(&[crc32fast::hash(b"raw"), 0xFFFF_FFFE, 8, 3, 3]),
        field(b"b.txt", 32),
        words(&[crc32fast::hash(&text), 2, 11, 500, packed.len() as u32]),
    ]
    .concat()
}

/// A PRE of form 1.
pub fn pre_flat() -> Vec<u8> {
    [
        words(&[2]),
        c_text(b"abc"),
        words(&[5]),
        c_text(b"12345"),
        c_text(b"levels\\x.psx"),
        words(&[1]),
        b"6".to_vec(),
    ]
    .concat()
}

/// A PRE of form 3 with a file of either kind.
pub fn pre_packed() -> Vec<u8> {
    let stored = [0b001, b'x', 0x00, 0x00, 0xEE, 0xFF];
    let files = [
        words(&[3, 0, 4, 0]),
        c_text(b"abc"),
        c_text(b"raw"),
        words(&[22, 6, 8, 0]),
        c_text(b"d\\e.qb"),
        stored.to_vec(),
        vec![0; 2],
    ]
    .concat();
    let total = 12 + files.len() as u32;
    [words(&[total, 0xABCD_0003, 2]), files].concat()
}

/// An Xbox disc from its volume descriptor on.
pub fn xdvdfs() -> Vec<u8> {
    let node = |links: [u16; 2], place: [u32; 2], attributes: u8, name: &[u8]| {
        let fixed = [
            shorts(&links),
            words(&place),
            vec![attributes, name.len() as u8],
        ]
        .concat();
        let length = (14 + name.len()).next_multiple_of(4);
        field(&[&fixed[..], name].concat(), length)
    };
    let root = [
        node([5, 10], [35, 3], 0x20, b"m.txt"),
        node([0, 0], [35, 2000], 0x20, b"a.txt"),
        node([0, 0], [34, 20], 0x10, b"sub"),
    ]
    .concat();
    let sub = node([0, 0], [35, 9], 0x20, b"b.bin");
    let magic = b"MICROSOFT*XBOX*MEDIA";
    let place = words(&[33, root.len() as u32, 0x4D9F_A000, 0x01C1_5C6C]);
    let descriptor = field(&[&magic[..], &place].concat(), SECTOR - magic.len());
    [
        descriptor,
        magic.to_vec(),
        field(&root, SECTOR),
        field(&sub, SECTOR),
        vec![7; SECTOR],
    ]
    .concat()
}

/// A file of a zip: name, flags, method, stored and decoded bytes.
type ZipFile<'a> = (&'a [u8], u16, u16, Vec<u8>, &'a [u8]);

/// A zip with a stored, a packed and an encrypted file.
pub fn zip() -> Vec<u8> {
    let text = [b'y'; 700];
    let files: [ZipFile<'_>; 3] = [
        (b"stored.txt", 0, 0, b"as it is".to_vec(), b"as it is"),
        (b"d/packed.txt", 0, 8, deflated(&text), &text),
        (b"d\\secret", 1, 0, b"secret".to_vec(), b"secret"),
    ];
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, flags, method, stored, data) in &files {
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
        let place = words(&[0, bytes.len() as u32]);
        bytes.extend([&b"PK\x03\x04"[..], &common, name, stored].concat());
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &[0; 6], &place, name].concat());
    }
    let end = [
        words(&[directory.len() as u32, bytes.len() as u32]),
        vec![0; 2],
    ]
    .concat();
    let counts = shorts(&[0, 0, 3, 3]);
    [bytes, directory, b"PK\x05\x06".to_vec(), counts, end].concat()
}
