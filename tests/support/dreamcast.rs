//! Builds Dreamcast discs.

use std::fs;
use std::path::{Path, PathBuf};

use super::container_seeds::{ChdTrack, chd_of};
use super::disc::{Disc, EDC};
use super::noise;

/// First sector of the area with the file system.
pub const AREA: usize = 45_000;

/// Bytes of user data in a sector, and of a raw sector.
pub const SECTOR: usize = 2048;
pub const RAW: usize = 2352;

/// The texts at the start of the area, with their offsets.
const HEADER: [(usize, &str); 4] = [
    (0x00, "SEGA SEGAKATANA "),
    (0x30, "JUE     "),
    (0x40, "T0000M    V1.000"),
    (0x80, "A GAME"),
];

/// A disc.
pub struct Gd {
    pub tracks: Vec<Track>,
}

/// A track of a disc.
pub struct Track {
    /// Number of its first sector.
    pub first: usize,
    pub is_audio: bool,
    /// Length of its sectors in bytes.
    pub step: usize,
    pub sectors: Vec<u8>,
}

impl Track {
    /// Returns a track of data in sectors of `step` bytes.
    pub fn data(data: &[u8], first: usize, step: usize) -> Self {
        let sectors = match step {
            SECTOR => data.to_vec(),
            _ => mode_1(data, first),
        };
        Self {
            first,
            is_audio: false,
            step,
            sectors,
        }
    }

    /// Returns a track of this many sectors of audio.
    pub fn audio(count: usize, first: usize) -> Self {
        Self {
            first,
            is_audio: true,
            step: RAW,
            sectors: noise(first as u64, count * RAW),
        }
    }
}

impl Gd {
    /// Returns a disc with a track of data and one of audio in its first area, and this
    /// user data in the second one, in sectors of `step` bytes.
    pub fn new(area: &[u8], step: usize) -> Self {
        let tracks = vec![
            Track::data(&noise(1, 2 * SECTOR), 0, step),
            Track::audio(3, 450),
            Track::data(area, AREA, step),
        ];
        Self { tracks }
    }

    /// Returns the tracks with the names of their files.
    pub fn named(&self) -> impl Iterator<Item = (String, &Track)> {
        let numbered = (1..).zip(&self.tracks);
        numbered.map(|(number, track)| {
            let extension = if track.is_audio { "raw" } else { "bin" };
            (format!("track{number:02}.{extension}"), track)
        })
    }

    /// Returns the description of the disc.
    pub fn sheet(&self) -> String {
        let mut sheet = format!("{}\n", self.tracks.len());
        for (number, (name, track)) in (1..).zip(self.named()) {
            let kind = if track.is_audio { 0 } else { 4 };
            let Track { first, step, .. } = track;
            sheet += &format!("{number} {first} {kind} {step} {name} 0\n");
        }
        sheet
    }

    /// Writes the disc to a folder, and returns the path of its description.
    pub fn write(&self, folder: &Path) -> PathBuf {
        for (name, track) in self.named() {
            fs::write(folder.join(name), &track.sectors).unwrap();
        }
        let path = folder.join("game.gdi");
        fs::write(&path, self.sheet()).unwrap();
        path
    }

    /// Returns the disc as a CHD.
    pub fn chd(&self) -> Vec<u8> {
        let next = self.tracks.iter().skip(1).map(|track| track.first);
        let tracks = self.tracks.iter().zip(next.map(Some).chain([None]));
        let tracks = tracks.map(|(track, next)| {
            let end = track.first + track.sectors.len() / track.step;
            ChdTrack {
                fields: match (track.is_audio, track.step) {
                    (true, _) => "TYPE:AUDIO SUBTYPE:NONE PREGAP:0",
                    (_, SECTOR) => "TYPE:MODE1 SUBTYPE:NONE PREGAP:0",
                    _ => "TYPE:MODE1_RAW SUBTYPE:NONE PREGAP:0",
                },
                sectors: &track.sectors,
                step: track.step,
                padding: next.unwrap_or(end) - end,
            }
        });
        chd_of(b"CHGD", &Vec::from_iter(tracks))
    }
}

/// Returns the user data of the area with the files of a disc, which has one directory
/// in its root.
pub fn area(disc: &Disc) -> Vec<u8> {
    let mut area = moved(disc.iso());
    area[..0x100].fill(b' ');
    for (at, text) in HEADER {
        area[at..at + text.len()].copy_from_slice(text.as_bytes());
    }
    area
}

/// Has the positions of the root and of all records count from the start of the disc.
fn moved(mut image: Vec<u8>) -> Vec<u8> {
    fn both(image: &mut [u8], at: usize) {
        let word = image[at..at + 4].try_into().map(u32::from_le_bytes);
        let word = word.unwrap() + AREA as u32;
        image[at..at + 4].copy_from_slice(&word.to_le_bytes());
        image[at + 4..at + 8].copy_from_slice(&word.to_be_bytes());
    }
    both(&mut image, 16 * SECTOR + 156 + 2);
    for sector in [18, 19] {
        let mut at = sector * SECTOR;
        while image[at] != 0 {
            both(&mut image, at + 2);
            at += usize::from(image[at]);
        }
    }
    image
}

/// Returns user data as raw sectors of Mode 1, without error correction. The first one
/// is number `first` of the disc.
pub fn mode_1(data: &[u8], first: usize) -> Vec<u8> {
    let sectors = data.chunks(SECTOR).zip(first..);
    let raw = sectors.flat_map(|(data, number)| {
        let mut raw = head(number).to_vec();
        raw.extend(data);
        raw.extend(EDC.checksum(&raw).to_le_bytes());
        raw.resize(RAW, 0);
        raw
    });
    raw.collect()
}

/// Returns the sync, the address and the mode of a sector.
pub fn head(number: usize) -> [u8; 16] {
    let address = number + 150;
    let parts = [address / 75 / 60, address / 75 % 60, address % 75];
    let [minute, second, sector] = parts.map(|part| (part / 10 * 16 + part % 10) as u8);
    let sync = [255; 10];
    let mut head = [0; 16];
    head[1..11].copy_from_slice(&sync);
    head[12..].copy_from_slice(&[minute, second, sector, 1]);
    head
}

/// Returns whether a raw sector of Mode 1 has the right EDC and error correction.
pub fn is_whole(sector: &[u8]) -> bool {
    let sum = EDC.checksum(&sector[..2064]).to_le_bytes();
    sector[2064..2068] == sum && has_right_parity(sector)
}

/// Returns whether the code words of a sector (ECMA-130, Annex A) have no errors: each
/// plane of bytes is 24 rows of 43 columns of data, with two rows of parity P and two of
/// parity Q behind them.
fn has_right_parity(sector: &[u8]) -> bool {
    let words = &sector[12..];
    (0..2).all(|plane| {
        let symbol = |word: usize| words[2 * word + plane];
        let columns = (0..43).map(|column| {
            let word = (0..26).map(|row| symbol(43 * row + column));
            word.collect::<Vec<u8>>()
        });
        let diagonals = (0..26).map(|row| {
            let data = (0..43).map(|step| symbol((44 * step + 43 * row) % 1118));
            let parity = [1118 + row, 1144 + row].map(symbol);
            data.chain(parity).collect()
        });
        columns
            .chain(diagonals)
            .all(|word: Vec<u8>| has_no_errors(&word))
    })
}

/// Returns whether both syndromes of a code word are 0.
fn has_no_errors(word: &[u8]) -> bool {
    let doubled = |byte: u8| byte << 1 ^ if byte & 0x80 != 0 { 0x1D } else { 0 };
    let sum = word.iter().fold(0, |sum, symbol| sum ^ symbol);
    let weighted = word.iter().fold(0, |sum, symbol| doubled(sum) ^ symbol);
    (sum, weighted) == (0, 0)
}
