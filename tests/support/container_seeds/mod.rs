//! Small containers of every format, built from their specifications.

mod chd;
mod discs;
mod games;
mod images;
mod packed;
mod packed_discs;

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

// Each test program uses a part of these.
#[allow(unused_imports)]
pub use self::{chd::*, discs::*, games::*, images::*, packed::*, packed_discs::*};

/// Length of a sector of IMG, WAD and XDVDFS.
pub const SECTOR: usize = 2048;

fn shorts(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Returns little-endian numbers.
pub fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Returns a text padded with zeros to a field of that length.
pub fn field(text: &[u8], length: usize) -> Vec<u8> {
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

fn big_words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// Returns the bytes of two sectors.
pub fn sectors() -> Vec<u8> {
    (0..2 * SECTOR).map(|at| (at / 7) as u8).collect()
}
