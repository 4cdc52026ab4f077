//! Small containers of every format, built from their specifications.

use std::io::Write;

use flate2::write::{DeflateEncoder, ZlibEncoder};
use flate2::{Compression, GzBuilder};
use sha1::{Digest, Sha1};

/// Length of a sector of IMG, WAD and XDVDFS.
pub const SECTOR: usize = 2048;

fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Returns a text padded with zeros to a field of that length.
fn field(text: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = text.to_vec();
    bytes.resize(length, 0);
    bytes
}

/// Returns a text with its NUL and the padding to four bytes.
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

/// Returns a directory of an IMG of version 1 for the bytes of [`sectors`].
pub fn img_directory() -> Vec<u8> {
    let record = |position: [u32; 2], name: &[u8]| [words(&position), field(name, 24)].concat();
    [
        record([0, 1], b"a.ifp"),
        record([1, 1], b"B.DFF\0\xCD\xCD"),
        record([0, 2], b"a.ifp"),
        record([0, 0], b"empty.txd"),
    ]
    .concat()
}

/// Returns the bytes of two sectors.
pub fn sectors() -> Vec<u8> {
    (0..2 * SECTOR).map(|at| (at / 7) as u8).collect()
}

/// Returns an IMG of version 2.
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

/// Returns the three forms of a WAD's directory for the bytes of [`sectors`].
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

/// Returns a PKR3 with a stored and a packed file.
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

/// Returns a PRE of form 1.
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

/// Returns a PRE of form 3 with a stored and a packed file.
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

/// Returns an Xbox disc from its volume descriptor on.
pub fn xdvdfs() -> Vec<u8> {
    let node = |links: [u16; 2], position: [u32; 2], attributes: u8, name: &[u8]| {
        let fixed = [
            shorts(&links),
            words(&position),
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
    let position = words(&[33, root.len() as u32, 0x4D9F_A000, 0x01C1_5C6C]);
    let descriptor = field(&[&magic[..], &position].concat(), SECTOR - magic.len());
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

fn big_words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// Offset of the files in [`gcm`], and its length.
const GCM_FILES: usize = 0x2700;
const GCM_LENGTH: usize = 0x2800;

/// Returns a GameCube disc with a directory and two files.
pub fn gcm() -> Vec<u8> {
    let mut disc = field(b"GTSTXX", 0x1C);
    disc.extend(big_words(&[0xC233_9F3D]));
    disc.extend(b"A disc");
    disc.resize(0x420, 0);
    // DOL, FST and its size.
    disc.extend(big_words(&[0x2480, 0x2600, 63, 63]));
    disc.resize(0x2440, 0);
    // The apploader: a date, and the sizes of two parts.
    disc.extend(field(b"2003/09/10", 0x14));
    disc.extend(big_words(&[8, 8, 0]));
    disc.resize(0x2480, 0);
    // A DOL with one section of 16 bytes.
    disc.extend(big_words(&[0x100]));
    disc.resize(0x2480 + 0x90, 0);
    disc.extend(big_words(&[16]));
    disc.resize(0x2600, 0);
    let files = GCM_FILES as u32;
    let fst = [
        big_words(&[0x0100_0000, 0, 4]),
        big_words(&[0, files, 7]),
        big_words(&[0x0100_0006, 0, 4]),
        big_words(&[0x0000_0009, files + 8, 100]),
        b"a.txt\0bb\0c.HIP\0".to_vec(),
    ];
    disc.extend(fst.concat());
    disc.resize(GCM_FILES, 0);
    disc.extend(b"GCM txt\0");
    disc.extend([9; 100]);
    disc.resize(GCM_LENGTH, 0);
    disc
}

/// Returns the same disc as a TGC. The positions of files in its FST are larger
/// by `shift`.
pub fn tgc(shift: u32) -> Vec<u8> {
    const HEADER: u32 = 0x8000;
    let mut disc = gcm();
    for at in [0x2600 + 12 + 4, 0x2600 + 36 + 4] {
        let number = disc[at..at + 4].try_into().map(u32::from_be_bytes).unwrap();
        disc[at..at + 4].copy_from_slice(&(number + shift).to_be_bytes());
    }
    let mut numbers = [0; 14];
    numbers[0] = 0xAE0F_38A2;
    numbers[2] = HEADER;
    numbers[4] = HEADER + 0x2600;
    numbers[5] = 63;
    numbers[7] = HEADER + 0x2480;
    numbers[9] = HEADER + GCM_FILES as u32;
    numbers[13] = GCM_FILES as u32 + shift;
    let header = field(&big_words(&numbers), HEADER as usize);
    [header, disc].concat()
}

/// Returns block images, each of the same few bytes: CISO, GCZ, CSO, ZSO, RVZ
/// and CHD.
pub fn images() -> Vec<Vec<u8>> {
    let block = sectors();
    let ciso = [
        field(&[&b"CISO"[..], &words(&[0x8000]), &[1]].concat(), 0x8000),
        field(&block, 0x8000),
    ];
    let cso = |magic: &[u8; 4], blocks: &[(Vec<u8>, u32)]| {
        let mut at = 24 + 4 * (blocks.len() as u32 + 1);
        let mut index = Vec::new();
        for (bytes, flag) in blocks {
            index.push(at | flag);
            at += bytes.len() as u32;
        }
        index.push(at);
        let header = [&magic[..], &words(&[24, 4096, 0, 2048]), &[1, 0, 0, 0]].concat();
        let blocks = blocks.iter().flat_map(|(bytes, _)| bytes.clone());
        [header, words(&index), blocks.collect()].concat()
    };
    let stored = (block[2048..].to_vec(), 1 << 31);
    // Two literals, and a copy of 2,046 bytes at a distance of two.
    let lz4 = [&[0x2F, b'a', b'b', 2, 0][..], &[255; 7], &[242]].concat();
    vec![
        ciso.concat(),
        gcz(&block, 4096),
        cso(b"CISO", &[(deflated(&block[..2048]), 0), stored.clone()]),
        cso(b"ZISO", &[(lz4, 0), stored]),
        rvz(&block),
        chd(&block),
    ]
}

/// Returns a GCZ with blocks of `unit` bytes.
pub fn gcz(bytes: &[u8], unit: usize) -> Vec<u8> {
    let blocks = bytes.chunks(unit).map(|block| {
        let mut block = block.to_vec();
        block.resize(unit, 0);
        zlib(&block)
    });
    let blocks: Vec<Vec<u8>> = blocks.collect();
    let (mut offsets, mut end) = (Vec::new(), 0);
    for block in &blocks {
        offsets.extend([end, 0]);
        end += block.len() as u32;
    }
    let sums = blocks.iter().map(|block| libdeflater::adler32(block));
    let sums: Vec<u32> = sums.collect();
    let (length, count) = (bytes.len() as u32, blocks.len() as u32);
    let header = words(&[0xB10B_C001, 0, end, 0, length, 0, unit as u32, count]);
    [header, words(&offsets), words(&sums), blocks.concat()].concat()
}

/// Returns an RVZ of one chunk without compression.
fn rvz(block: &[u8]) -> Vec<u8> {
    const CHUNK: u32 = 0x8000;
    const DATA: u32 = 0x48 + 0xDC;
    let areas = DATA + CHUNK;
    let groups = areas + 24;
    let mut disc = field(&big_words(&[1, 0, 5, CHUNK]), 0xB4);
    disc.extend(big_words(&[1, 0, areas, 24, 1, 0, groups, 12]));
    disc.resize(0xDC, 0);
    let mut header = [&b"RVZ\x01"[..], &big_words(&[0, 0, 0xDC])].concat();
    header.resize(0x24, 0);
    header.extend(big_words(&[0, CHUNK, 0, 0]));
    header.resize(0x48, 0);
    let tables = big_words(&[0, 0x80, 0, CHUNK - 0x80, 0, 1, DATA / 4, CHUNK, 0]);
    let mut image = [header, disc, field(block, CHUNK as usize), tables].concat();
    sign_rvz(&mut image);
    image
}

/// Writes the right checksums to the headers of a WIA or RVZ.
pub fn sign_rvz(image: &mut [u8]) {
    if image.len() < 0x48 + 0xDC {
        return;
    }
    let sum = |bytes: &[u8]| Sha1::digest(bytes);
    let length = image[0x0C..0x10]
        .try_into()
        .map(u32::from_be_bytes)
        .unwrap() as usize;
    if let Some(disc) = image.get(0x48..0x48 + length.min(0x1000)) {
        let disc = sum(disc);
        image[0x10..0x24].copy_from_slice(&disc);
    }
    let header = sum(&image[..0x34]);
    image[0x34..0x48].copy_from_slice(&header);
}

/// Returns a CHD without codecs, with hunks of half the block.
fn chd(block: &[u8]) -> Vec<u8> {
    let mut image = [&b"MComprHD"[..], &big_words(&[124, 5, 0, 0, 0, 0])].concat();
    image.extend(big_words(&[0, 4096, 0, 124, 0, 0, 2048, 2048]));
    image.resize(124, 0);
    image.extend(big_words(&[1, 2]));
    image.resize(2048, 0);
    image.extend(block);
    image
}
