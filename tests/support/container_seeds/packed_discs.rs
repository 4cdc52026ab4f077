//! Disc images packed as by the programs of the PlayStation's users: DAX, ECM and
//! PBP.

use super::{words, zlib};

/// Returns an image as DAX. Its second frame is not packed.
pub fn dax(image: &[u8]) -> Vec<u8> {
    const FRAME: usize = 8192;
    let frames = image.chunks(FRAME).enumerate();
    let frames: Vec<Vec<u8>> = frames
        .map(|(number, frame)| match number {
            1 => frame.to_vec(),
            _ => zlib(frame),
        })
        .collect();
    let mut at = 32 + frames.len() * 6 + 8;
    let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
    for frame in &frames {
        offsets.push(at as u32);
        lengths.extend((frame.len() as u16).to_le_bytes());
        at += frame.len();
    }
    let header = words(&[image.len() as u32, 1, 1, 0, 0, 0, 0]);
    let parts = [
        b"DAX\0",
        &header[..],
        &words(&offsets),
        &lengths,
        &words(&[1, 1]),
    ];
    [parts.concat(), frames.concat()].concat()
}

/// Returns raw sectors as ECM: those in Mode 2, Form 1, without what can be
/// computed, and those in Form 2, whose sums are wrong in the tests, as they are.
pub fn ecm(raw: &[u8]) -> Vec<u8> {
    const SIXTEEN_BYTES: u8 = 15 << 2;
    const ONE_FORM_1: u8 = 2;
    // 2352 less 1 is 73 times 32 and 15.
    const A_SECTOR_OF_BYTES: [u8; 2] = [0x80 | 15 << 2, 73];
    let mut ecm = b"ECM\0".to_vec();
    for sector in raw.chunks(2352) {
        let mut sector = sector.to_vec();
        sector.resize(2352, 0);
        if sector[18] & 0x20 != 0 {
            ecm.extend(A_SECTOR_OF_BYTES);
            ecm.extend(&sector);
            continue;
        }
        ecm.push(SIXTEEN_BYTES);
        ecm.extend(&sector[..16]);
        ecm.push(ONE_FORM_1);
        ecm.extend(&sector[20..2072]);
    }
    ecm.extend([0xFC, 0xFF, 0xFF, 0xFF, 0x3F, 0, 0, 0, 0]);
    ecm
}

/// Returns raw sectors as PBP.
pub fn pbp(raw: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 16 * 2352;
    let mut data = b"PSISOIMG0000".to_vec();
    data.resize(0x4000, 0);
    let mut blocks = Vec::new();
    for block in raw.chunks(BLOCK) {
        let mut block = block.to_vec();
        block.resize(BLOCK, 0);
        // What follows the header of zlib is deflate.
        let packed = &zlib(&block)[2..];
        data.extend(words(&[blocks.len() as u32, packed.len() as u32]));
        data.resize(data.len() + 24, 0);
        blocks.extend(packed);
    }
    data.resize(0x10_0000, 0);
    let mut package = b"\0PBP".to_vec();
    package.resize(0x24, 0);
    [package, words(&[0x28]), data, blocks].concat()
}
