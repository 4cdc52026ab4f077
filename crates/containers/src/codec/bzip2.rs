//! Decoder for bzip2 with bounded output.
//!
//! A stream is `BZh` and a digit, the size of a block in units of 100,000
//! bytes, then blocks. A block is run-length encoded, sorted (Burrows-Wheeler),
//! move-to-front coded, with run lengths of zeros, and Huffman coded with a
//! table that may change after every 50 symbols. The highest bit of a byte
//! comes first.

use crc::{CRC_32_BZIP2, Crc, Table};

use super::bits::Bits;
use crate::codec::block::Decoded;

const CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_BZIP2);

const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
const END_MAGIC: u64 = 0x1772_4538_5090;

/// Maximum length of a Huffman code in bits.
const MAX_CODE: usize = 20;

/// Number of symbols coded by the same table.
const GROUP: usize = 50;

/// Maximum number of selectors that a block can use.
const MAX_SELECTORS: usize = 900_000 / GROUP + 2;

/// Decodes the first `wanted` bytes of a stream; fewer if it ends earlier.
///
/// # Errors
/// Returns a message if the stream is damaged.
pub(super) fn decode(packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
    let mut bits = Bits::new(packed);
    if bits.take(24)? != 0x42_5A68 {
        return Err("is not a bzip2 stream".into());
    }
    let level = bits.take(8)?.wrapping_sub(u32::from(b'0'));
    if !(1..=9).contains(&level) {
        return Err("has an unknown size of blocks".into());
    }
    let most = level as usize * 100_000;
    let mut out = Vec::new();
    while out.len() < wanted {
        match u64::from(bits.take(24)?) << 24 | u64::from(bits.take(24)?) {
            BLOCK_MAGIC => {
                let sum = bits.take(32)?;
                let start = out.len();
                let sorted = Sorted::read(&mut bits, most)?;
                let is_whole = sorted.restore(&mut out, wanted)?;
                if is_whole && CRC.checksum(&out[start..]) != sum {
                    return Err("checksum of a block is wrong".into());
                }
            }
            END_MAGIC => break,
            _ => return Err("has no block where one should begin".into()),
        }
    }
    Ok(out)
}

/// A Huffman table: for every length of codes, the first code after those of
/// that length, and the position of their symbols.
struct Codes {
    /// The code after the last one of each length.
    limits: [u32; MAX_CODE + 1],
    /// The offset from a code of each length to its index in `symbols`.
    bases: [i64; MAX_CODE + 1],
    symbols: Vec<u16>,
}

impl Codes {
    fn new(lengths: &[u8]) -> Self {
        let mut limits = [0; MAX_CODE + 1];
        let mut bases = [0; MAX_CODE + 1];
        let mut symbols = Vec::with_capacity(lengths.len());
        let mut code = 0_u32;
        for length in 1..=MAX_CODE {
            bases[length] = symbols.len() as i64 - i64::from(code);
            for (symbol, &own) in lengths.iter().enumerate() {
                if usize::from(own) == length {
                    symbols.push(symbol as u16);
                    code += 1;
                }
            }
            limits[length] = code;
            code <<= 1;
        }
        Self {
            limits,
            bases,
            symbols,
        }
    }

    fn symbol(&self, bits: &mut Bits<'_>) -> Decoded<u16> {
        let mut code = 0;
        for length in 1..=MAX_CODE {
            code = code << 1 | u32::from(bits.bit()?);
            if code < self.limits[length] {
                let index = i64::from(code) + self.bases[length];
                let index = usize::try_from(index).ok();
                let symbol = index.and_then(|index| self.symbols.get(index));
                return symbol
                    .copied()
                    .ok_or_else(|| "has a code without symbol".into());
            }
        }
        Err("has a code that is too long".into())
    }
}

/// A sorted block.
struct Sorted {
    bytes: Vec<u8>,
    /// The index of the unsorted block's first byte.
    origin: usize,
}

impl Sorted {
    fn read(bits: &mut Bits<'_>, most: usize) -> Decoded<Self> {
        if bits.bit()? {
            return Err("has a randomised block".into());
        }
        let origin = bits.take(24)? as usize;
        let mut order = used_bytes(bits)?;
        let end_of_block = order.len() as u16 + 1;
        let tables = bits.take(3)? as usize;
        if !(2..=6).contains(&tables) {
            return Err(format!("has {tables} tables of codes"));
        }
        let selectors = selectors(bits, tables)?;
        let tables: Vec<Codes> = (0..tables)
            .map(|_| Ok(Codes::new(&code_lengths(bits, order.len() + 2)?)))
            .collect::<Decoded<_>>()?;

        let mut bytes = Vec::new();
        let mut selectors = selectors.into_iter();
        let mut codes = None;
        let mut left = 0;
        // A run of the previous byte: its length, and the weight of the next
        // digit of the length.
        let (mut run, mut weight) = (0_usize, 1_usize);
        loop {
            if left == 0 {
                let selector = selectors.next().ok_or("has too few selectors")?;
                codes = tables.get(usize::from(selector));
                left = GROUP;
            }
            left -= 1;
            let codes = codes.ok_or("has a selector of no table")?;
            let symbol = codes.symbol(bits)?;
            if symbol <= 1 {
                run += weight << symbol;
                weight <<= 1;
                if run > most {
                    return Err("has a block that is too long".into());
                }
                continue;
            }
            if run > 0 {
                let length = bytes.len() + run;
                if length > most {
                    return Err("has a block that is too long".into());
                }
                bytes.resize(length, order[0]);
                (run, weight) = (0, 1);
            }
            if symbol == end_of_block {
                break;
            }
            if bytes.len() == most {
                return Err("has a block that is too long".into());
            }
            let index = usize::from(symbol) - 1;
            let byte = *order.get(index).ok_or("has a symbol of no byte")?;
            order.copy_within(..index, 1);
            order[0] = byte;
            bytes.push(byte);
        }
        if origin >= bytes.len() {
            return Err("has a block that begins outside".into());
        }
        Ok(Self { bytes, origin })
    }

    /// Restores order and runs, until `out` has `wanted` bytes. Returns false
    /// if a part of the block was not needed.
    fn restore(&self, out: &mut Vec<u8>, wanted: usize) -> Decoded<bool> {
        let mut starts = [0_u32; 256];
        for &byte in &self.bytes {
            starts[usize::from(byte)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        let mut next = vec![0_u32; self.bytes.len()];
        for (index, &byte) in self.bytes.iter().enumerate() {
            let start = &mut starts[usize::from(byte)];
            next[*start as usize] = index as u32;
            *start += 1;
        }
        let mut index = next[self.origin] as usize;
        let (mut last, mut repeats) = (None, 0);
        for _ in 0..self.bytes.len() {
            if out.len() >= wanted {
                return Ok(false);
            }
            let byte = self.bytes[index];
            index = next[index] as usize;
            if repeats == 4 {
                // After four equal bytes: the number of further ones.
                let length = (out.len() + usize::from(byte)).min(wanted);
                let is_cut = length < out.len() + usize::from(byte);
                out.resize(length, last.unwrap_or(0));
                if is_cut {
                    return Ok(false);
                }
                (last, repeats) = (None, 0);
                continue;
            }
            repeats = if last == Some(byte) { repeats + 1 } else { 1 };
            last = Some(byte);
            out.push(byte);
        }
        Ok(true)
    }
}

/// Returns the bytes that occur in a block, in ascending order. They are stored
/// as a bitmap of 16 bitmaps.
fn used_bytes(bits: &mut Bits<'_>) -> Decoded<Vec<u8>> {
    let mut used = Vec::new();
    let rows = bits.take(16)?;
    for row in (0..16_u8).filter(|row| rows >> (15 - row) & 1 == 1) {
        let columns = bits.take(16)?;
        let columns = (0..16_u8).filter(|column| columns >> (15 - column) & 1 == 1);
        used.extend(columns.map(|column| row * 16 + column));
    }
    if used.is_empty() {
        return Err("has a block of no bytes".into());
    }
    Ok(used)
}

/// Returns the numbers of the tables of the groups, which are move-to-front
/// coded.
fn selectors(bits: &mut Bits<'_>, tables: usize) -> Decoded<Vec<u8>> {
    let count = bits.take(15)? as usize;
    let mut order: Vec<u8> = (0..tables as u8).collect();
    let mut selectors = Vec::new();
    for _ in 0..count {
        let mut index = 0;
        while bits.bit()? {
            index += 1;
            if index >= tables {
                return Err("has a selector of no table".into());
            }
        }
        order[..=index].rotate_right(1);
        // Some writers store more than a block can use.
        if selectors.len() < MAX_SELECTORS {
            selectors.push(order[0]);
        }
    }
    Ok(selectors)
}

/// Returns the lengths of the codes of `count` symbols, each by its difference
/// from the one before.
fn code_lengths(bits: &mut Bits<'_>, count: usize) -> Decoded<Vec<u8>> {
    let mut length = bits.take(5)? as usize;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        loop {
            if !(1..=MAX_CODE).contains(&length) {
                return Err(format!("has a code of {length} bits"));
            }
            if !bits.bit()? {
                break;
            }
            length = if bits.bit()? { length - 1 } else { length + 1 };
        }
        lengths.push(length as u8);
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three bananas and 1,000 times `a`, as Python's `bz2` packs them.
    const BANANAS: &[u8] = &[
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x17, 0xf1, 0xf7, 0x38, 0x00,
        0x00, 0x0d, 0x11, 0x01, 0xc0, 0x00, 0x30, 0x01, 0x00, 0x40, 0x00, 0x08, 0x20, 0x00, 0x30,
        0xc0, 0x04, 0x45, 0x36, 0xa4, 0x3c, 0x66, 0x50, 0x23, 0xcd, 0x0d, 0x8a, 0x27, 0xc5, 0xdc,
        0x91, 0x4e, 0x14, 0x24, 0x05, 0xfc, 0x7d, 0xce, 0x00,
    ];

    #[test]
    fn runs_and_sorted_bytes_are_restored() {
        let whole = [b"banana banana banana".as_slice(), &[b'a'; 1000]].concat();
        assert_eq!(decode(BANANAS, whole.len()).unwrap(), whole);
        assert_eq!(decode(BANANAS, 1 << 20).unwrap(), whole);
        assert_eq!(decode(BANANAS, 500).unwrap(), whole[..500]);
    }

    #[test]
    fn damaged_streams_do_not_panic() {
        for at in 0..BANANAS.len() {
            for bit in 0..8 {
                let mut bytes = BANANAS.to_vec();
                bytes[at] ^= 1 << bit;
                let _ = decode(&bytes, 1 << 20);
            }
        }
    }

    #[test]
    fn other_data_is_refused() {
        assert!(decode(b"", 10).is_err());
        assert!(decode(b"BZh0", 10).is_err());
        assert!(decode(b"BZx9123456", 10).is_err());
        assert_eq!(decode(&BANANAS[..10], 10).unwrap_err(), "ends too early");
    }
}
