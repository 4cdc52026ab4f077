//! Discs, and descriptions of them.

use super::{SECTOR, big_words, field, shorts, words};

/// Returns an entry of a directory of an Xbox disc; `position` has its sector and
/// its length.
fn xdvdfs_node(links: [u16; 2], position: [u32; 2], attributes: u8, name: &[u8]) -> Vec<u8> {
    let fixed = [
        shorts(&links),
        words(&position),
        vec![attributes, name.len() as u8],
    ]
    .concat();
    let length = (14 + name.len()).next_multiple_of(4);
    field(&[&fixed[..], name].concat(), length)
}

/// Returns the volume descriptor of an Xbox disc whose root, in sector 33, has this
/// length.
fn xdvdfs_descriptor(root: usize) -> Vec<u8> {
    let magic = b"MICROSOFT*XBOX*MEDIA";
    let position = words(&[33, root as u32, 0x4D9F_A000, 0x01C1_5C6C]);
    let descriptor = field(&[&magic[..], &position].concat(), SECTOR - magic.len());
    [descriptor, magic.to_vec()].concat()
}

/// Returns an Xbox disc with one file.
pub fn xdvdfs_with(name: &str, bytes: &[u8]) -> Vec<u8> {
    let root = xdvdfs_node([0, 0], [34, bytes.len() as u32], 0x20, name.as_bytes());
    let front = vec![0; 32 * SECTOR];
    let descriptor = xdvdfs_descriptor(root.len());
    let file = field(bytes, bytes.len().next_multiple_of(SECTOR));
    [front, descriptor, field(&root, SECTOR), file].concat()
}

/// Returns an Xbox disc from its volume descriptor on.
pub fn xdvdfs() -> Vec<u8> {
    let node = xdvdfs_node;
    let root = [
        node([5, 10], [35, 3], 0x20, b"m.txt"),
        node([0, 0], [35, 2000], 0x20, b"a.txt"),
        node([0, 0], [34, 20], 0x10, b"sub"),
    ]
    .concat();
    let sub = node([0, 0], [35, 9], 0x20, b"b.bin");
    [
        xdvdfs_descriptor(root.len()),
        field(&root, SECTOR),
        field(&sub, SECTOR),
        vec![7; SECTOR],
    ]
    .concat()
}

/// Offset of the files in [`gcm`], and its length.
const GCM_FILES: usize = 0x2700;
const GCM_LENGTH: usize = 0x2800;

/// Returns the description of a disc with a data track and an audio track.
pub fn mds() -> Vec<u8> {
    let mut mds = field(b"MEDIA DESCRIPTOR\x01\x03\0\0\x01", 0x50);
    mds.push(0x58);
    mds.resize(0x58 + 10, 0);
    mds.push(2);
    mds.resize(0x58 + 20, 0);
    mds.extend(words(&[0x70]));
    for (mode, number, step, sector) in [(0xAA, 1, 2048_u16, 0_u32), (0xA9, 2, 2352, 16)] {
        let mut track = vec![mode, 0, 0, 0, number];
        track.resize(12, 0);
        track.extend(words(&[0x70 + 2 * 80 + (u32::from(number) - 1) * 8]));
        track.extend(step.to_le_bytes());
        track.resize(40, 0);
        track.extend(words(&[sector * u32::from(step)]));
        track.resize(80, 0);
        mds.extend(track);
    }
    mds.extend(words(&[150, 20, 150, 2]));
    mds
}

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
