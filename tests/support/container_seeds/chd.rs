//! CHD images without compression.

use std::collections::BTreeMap;

use super::big_words;

/// Bytes of a frame, and frames of a hunk.
const FRAME: usize = 2448;
const HUNK: usize = 8;

/// Length of the header.
const HEADER: usize = 124;

/// A track of a disc.
pub struct ChdTrack<'a> {
    /// The fields of its text in the metadata, except for its number and its frames.
    pub fields: &'a str,
    /// Its sectors, with samples little-endian, and the length of each in bytes.
    pub sectors: &'a [u8],
    pub step: usize,
    /// Number of frames of zeros behind it.
    pub padding: usize,
}

/// Returns an image of sectors of 2048 bytes in hunks of one sector.
pub fn chd(bytes: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 2048;
    let count = bytes.len().div_ceil(SECTOR);
    let first = (HEADER + 4 * count).div_ceil(SECTOR);
    let map: Vec<u32> = (first..first + count).map(|hunk| hunk as u32).collect();
    let mut image = header(bytes.len(), 0, SECTOR, SECTOR);
    image.extend(big_words(&map));
    image.resize(first * SECTOR, 0);
    image.extend(bytes);
    image
}

/// Returns an image of a disc whose metadata has a text with this tag for each track.
pub fn chd_of(tag: &[u8; 4], tracks: &[ChdTrack<'_>]) -> Vec<u8> {
    let (mut frames, mut texts) = (BTreeMap::new(), Vec::new());
    let mut next = 0;
    for (number, track) in (1..).zip(tracks) {
        let ChdTrack {
            fields, padding, ..
        } = track;
        let sectors = track.sectors.chunks(track.step);
        let count = sectors.len() + padding;
        let padding = match padding {
            0 => String::new(),
            padding => format!(" PAD:{padding}"),
        };
        texts.push(format!("TRACK:{number} {fields} FRAMES:{count}{padding}\0"));
        for (number, sector) in sectors.enumerate() {
            let mut frame = sector.to_vec();
            if fields.starts_with("TYPE:AUDIO") {
                frame.chunks_mut(2).for_each(<[u8]>::reverse);
            }
            frame.resize(FRAME, 0xEE);
            frames.insert(next + number, frame);
        }
        next = (next + count).next_multiple_of(4);
    }
    let hunks = next.div_ceil(HUNK);
    // Hunks begin at multiples of their size, after the header and the map.
    let first = (HEADER + 4 * hunks).div_ceil(HUNK * FRAME);
    let (mut map, mut stored) = (Vec::new(), Vec::new());
    for hunk in 0..hunks {
        let mut own = frames.range(hunk * HUNK..(hunk + 1) * HUNK).peekable();
        if own.peek().is_none() {
            // It has only zeros.
            map.push(0);
            continue;
        }
        map.push((first + stored.len()) as u32);
        let mut bytes = vec![0; HUNK * FRAME];
        for (number, frame) in own {
            bytes[number % HUNK * FRAME..][..FRAME].copy_from_slice(frame);
        }
        stored.push(bytes);
    }
    let metadata = (first + stored.len()) * HUNK * FRAME;
    let mut image = header(next * FRAME, metadata, HUNK * FRAME, FRAME);
    image.extend(big_words(&map));
    image.resize(first * HUNK * FRAME, 0);
    image.extend(stored.concat());
    for (number, text) in texts.iter().enumerate() {
        let end = image.len() + 16 + text.len();
        let next = if number + 1 < texts.len() { end } else { 0 };
        image.extend(tag);
        image.extend(big_words(&[text.len() as u32, 0, next as u32]));
        image.extend(text.as_bytes());
    }
    image
}

/// Returns the header of an image of `length` bytes.
fn header(length: usize, metadata: usize, hunk: usize, unit: usize) -> Vec<u8> {
    let mut header = b"MComprHD".to_vec();
    header.extend(big_words(&[HEADER as u32, 5, 0, 0, 0, 0]));
    for number in [length, HEADER, metadata] {
        header.extend((number as u64).to_be_bytes());
    }
    header.extend(big_words(&[hunk as u32, unit as u32]));
    header.resize(HEADER, 0);
    header
}
