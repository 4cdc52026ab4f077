//! Small files in the formats of Total Annihilation, built according to
//! `docs/formats/ta.md`. The numbers in section comments are its sections.

// Every integration test is a separate program, where nothing is public, and
// uses a part of this module.
#![allow(dead_code, unreachable_pub)]

pub mod bmp;
pub mod bombs;
pub mod bos;
pub mod cob;
pub mod gaf;
pub mod pcx;
pub mod tdf;
pub mod tdo;
pub mod tnt;

/// A growing buffer of bytes, with numbers in little-endian order.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    /// Returns the offset of the next byte.
    pub fn at(&self) -> u32 {
        self.bytes.len() as u32
    }

    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn i16(&mut self, value: i16) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u32s(&mut self, values: &[u32]) {
        values.iter().for_each(|&value| self.u32(value));
    }

    pub fn i32s(&mut self, values: &[i32]) {
        values.iter().for_each(|&value| self.u32(value as u32));
    }

    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Appends a name in a field of fixed size.
    pub fn fixed(&mut self, name: &str, size: usize) {
        let end = self.bytes.len() + size;
        self.extend(&name.as_bytes()[..name.len().min(size)]);
        self.bytes.resize(end, 0);
    }

    /// Appends a name with a NUL after it, and returns its offset.
    pub fn name(&mut self, name: &str) -> u32 {
        let at = self.at();
        self.extend(name.as_bytes());
        self.u8(0);
        at
    }

    /// Replaces the number at an offset.
    pub fn put(&mut self, at: u32, value: u32) {
        put(&mut self.bytes, at as usize, &value.to_le_bytes());
    }
}

/// Replaces bytes.
pub fn put(bytes: &mut [u8], at: usize, with: &[u8]) {
    bytes[at..at + with.len()].copy_from_slice(with);
}

/// Returns the number at an offset.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
