//! Block images.

use sha1::{Digest, Sha1};

use super::{big_words, dax, deflated, ecm, field, pbp, sectors, words, zlib};

/// Returns block images: CISO, GCZ, CSO, ZSO, RVZ, CHD, DAX, ECM and PBP of the same
/// few bytes, and a WBFS.
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
        wbfs(),
        dax(&block),
        ecm(&block),
        pbp(&block),
    ]
}

/// Returns a WBFS of a GameCube disc with two blocks that are absent and one that
/// is past the end of the file.
fn wbfs() -> Vec<u8> {
    const BLOCK_SHIFT: u8 = 22;
    let sectors = [9, BLOCK_SHIFT, 0, 0, 1];
    let header = [&b"WBFS"[..], &big_words(&[0]), &sectors].concat();
    let mut disc = field(b"GTSTXX", 0x1C);
    disc.extend(big_words(&[0xC233_9F3D]));
    disc.resize(0x100, 0);
    disc.extend([0, 0, 0, 0, 0, 1]);
    // A disc of the Wii with two layers has 2,241 such blocks.
    [field(&header, 512), field(&disc, 0x100 + 2 * 2241)].concat()
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
