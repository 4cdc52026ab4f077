//! Archives of games.

use super::{SECTOR, c_text, field, words, zlib};

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
