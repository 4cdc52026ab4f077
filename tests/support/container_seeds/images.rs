//! Block images.

use sha1::{Digest, Sha1};

use super::{big_words, chd, dax, deflated, ecm, field, pbp, sectors, words, zlib};

/// Returns block images: CISO, GCZ, CSO, ZSO, RVZ, CHD, DAX, ECM and PBP of the same
/// few bytes, and a WBFS.
pub fn images() -> Vec<Vec<u8>> {
    let block = sectors();
    // Two literals, and a copy of 2,046 bytes at a distance of two.
    let lz4 = [&[0x2F, b'a', b'b', 2, 0][..], &[255; 7], &[242]].concat();
    vec![
        ciso(&block, 0x8000),
        gcz(&block, 4096),
        cso(&block),
        in_blocks(b"ZISO", &block, |_| lz4.clone()),
        rvz(&block),
        chd(&block),
        wbfs(),
        dax(&block),
        ecm(&block),
        pbp(&block),
    ]
}

/// Returns a CISO with blocks of `unit` bytes, where blocks of zeros are absent.
pub fn ciso(bytes: &[u8], unit: usize) -> Vec<u8> {
    let blocks = bytes.chunks(unit);
    let is_present = |block: &[u8]| block.iter().any(|&byte| byte != 0);
    let map: Vec<u8> = blocks
        .clone()
        .map(|block| is_present(block).into())
        .collect();
    let header = [&b"CISO"[..], &words(&[unit as u32]), &map].concat();
    let present = blocks.filter(|block| is_present(block));
    let present = present.flat_map(|block| field(block, unit));
    field(&header, 0x8000).into_iter().chain(present).collect()
}

/// Returns a CSO. Every second sector is stored.
pub fn cso(bytes: &[u8]) -> Vec<u8> {
    in_blocks(b"CISO", bytes, deflated)
}

/// Returns a ZSO. Every second sector is stored, and the others consist of literals.
pub fn zso(bytes: &[u8]) -> Vec<u8> {
    in_blocks(b"ZISO", bytes, |block| {
        // A token without a copy, and the rest of the number of literals.
        let rest = block.len() - 15;
        let count = [vec![255; rest / 255], vec![(rest % 255) as u8]].concat();
        [&[0xF0][..], &count, block].concat()
    })
}

/// Returns an image in blocks of a sector. The first one and every second one behind it
/// are packed.
fn in_blocks(magic: &[u8; 4], bytes: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    const STORED: u32 = 1 << 31;
    let blocks = bytes.chunks(2048).enumerate();
    let blocks = blocks.map(|(number, block)| match number % 2 {
        0 => (pack(block), 0),
        _ => (block.to_vec(), STORED),
    });
    let blocks: Vec<(Vec<u8>, u32)> = blocks.collect();
    let mut at = 24 + 4 * (blocks.len() as u32 + 1);
    let mut index = Vec::new();
    for (bytes, flag) in &blocks {
        index.push(at | flag);
        at += bytes.len() as u32;
    }
    index.push(at);
    let size = bytes.len() as u32;
    let header = [&magic[..], &words(&[24, size, 0, 2048]), &[1, 0, 0, 0]].concat();
    let blocks = blocks.into_iter().flat_map(|(bytes, _)| bytes);
    [header, words(&index), blocks.collect()].concat()
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

/// Returns a GCZ with blocks of `unit` bytes, stored if they do not become smaller.
pub fn gcz(bytes: &[u8], unit: usize) -> Vec<u8> {
    let blocks = bytes.chunks(unit).map(|block| {
        let mut block = block.to_vec();
        block.resize(unit, 0);
        Some(zlib(&block))
            .filter(|packed| packed.len() < unit)
            .unwrap_or(block)
    });
    let blocks: Vec<Vec<u8>> = blocks.collect();
    let (mut offsets, mut end) = (Vec::new(), 0);
    for block in &blocks {
        let is_stored = u32::from(block.len() == unit);
        offsets.extend([end, is_stored << 31]);
        end += block.len() as u32;
    }
    let sums = blocks.iter().map(|block| libdeflater::adler32(block));
    let sums: Vec<u32> = sums.collect();
    let (length, count) = (bytes.len() as u32, blocks.len() as u32);
    let header = words(&[0xB10B_C001, 0, end, 0, length, 0, unit as u32, count]);
    [header, words(&offsets), words(&sums), blocks.concat()].concat()
}

/// Returns an RVZ without compression.
pub fn rvz(bytes: &[u8]) -> Vec<u8> {
    in_groups(b"RVZ\x01", 0x8000, bytes)
}

/// Returns a WIA without compression.
pub fn wia(bytes: &[u8]) -> Vec<u8> {
    in_groups(b"WIA\x01", 2 << 20, bytes)
}

/// Returns an image of a GameCube disc in groups of `chunk` bytes.
fn in_groups(magic: &[u8; 4], chunk: usize, bytes: &[u8]) -> Vec<u8> {
    const DATA: u32 = 0x48 + 0xDC;
    let length = bytes.len() as u32;
    let (mut groups, mut data) = (Vec::new(), Vec::new());
    for chunk in bytes.chunks(chunk) {
        groups.extend(big_words(&[
            (DATA + data.len() as u32) / 4,
            chunk.len() as u32,
        ]));
        if magic == b"RVZ\x01" {
            groups.extend(big_words(&[0]));
        }
        data.extend(field(chunk, chunk.len().next_multiple_of(4)));
    }
    let count = bytes.len().div_ceil(chunk) as u32;
    let areas = DATA + data.len() as u32;
    // The first bytes of the disc, which no group has.
    let mut disc = big_words(&[1, 0, 5, chunk as u32]);
    disc.extend(field(&bytes[..bytes.len().min(0x80)], 0x80));
    disc.resize(0xB4, 0);
    disc.extend(big_words(&[1, 0, areas, 24]));
    disc.extend(big_words(&[count, 0, areas + 24, groups.len() as u32]));
    disc.resize(0xDC, 0);
    let mut header = [&magic[..], &big_words(&[0, 0, 0xDC])].concat();
    header.resize(0x24, 0);
    header.extend(big_words(&[0, length, 0, 0]));
    header.resize(0x48, 0);
    let area = big_words(&[0, 0x80, 0, length - 0x80, 0, count]);
    let mut image = [header, disc, data, area, groups].concat();
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
