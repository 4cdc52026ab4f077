//! Sections compressed by DJW: canonical Huffman codes for groups of sectors.

use hpimount_containers::io::{Error, Result};

use super::layout::PIECE;
use crate::stream::Stream;

/// Number of byte values.
const SYMBOLS: usize = 256;

/// Code lengths in the initial order of move-to-front.
const LENGTHS: [u8; 21] = [
    0, 4, 5, 6, 7, 8, 9, 10, 3, 11, 2, 12, 13, 1, 14, 15, 16, 17, 18, 19, 20,
];

/// Maximum length of a code in bits.
const MAX_LENGTH: usize = 20;

/// Number of symbols of the code for the lengths: two digits of runs, and positions
/// from 1 on.
const LENGTH_CODES: usize = LENGTHS.len() + 1;

/// Bits of a section, from the lowest bit of each byte.
struct Bits<'a> {
    section: &'a mut Stream,
    byte: u8,
    left: u32,
}

impl Bits<'_> {
    fn bit(&mut self) -> Result<u32> {
        if self.left == 0 {
            self.byte = self.section.byte("DJW")?;
            self.left = u8::BITS;
        }
        let bit = self.byte & 1;
        self.byte >>= 1;
        self.left -= 1;
        Ok(u32::from(bit))
    }

    /// Returns a number of `count` bits, most significant first.
    fn number(&mut self, count: u32) -> Result<u32> {
        (0..count).try_fold(0, |number, _| Ok(number << 1 | self.bit()?))
    }

    fn damaged(&self, problem: &str) -> Error {
        Error::damaged(self.section.offset(), "DJW", problem)
    }
}

/// A canonical code, ordered by length, then by symbol.
struct Code {
    /// For each length, the first code, the number of codes, and the index of the first
    /// symbol.
    lengths: [(u32, u32, usize); MAX_LENGTH + 1],
    symbols: Vec<u8>,
}

impl Code {
    /// Creates a code; `None` if it has no symbols or too many codes.
    fn new(lengths: &[u8]) -> Option<Self> {
        let mut code = Self {
            lengths: [(0, 0, 0); MAX_LENGTH + 1],
            symbols: Vec::new(),
        };
        let mut next = 0;
        for (length, entry) in (0_u8..).zip(&mut code.lengths).skip(1) {
            let symbols = (0_u8..=u8::MAX).zip(lengths);
            let symbols = symbols.filter(|(_, other)| **other == length);
            let index = code.symbols.len();
            code.symbols.extend(symbols.map(|(symbol, _)| symbol));
            let count = (code.symbols.len() - index) as u32;
            *entry = (next, count, index);
            if next + count > 1 << length {
                return None;
            }
            next = (next + count) << 1;
        }
        (!code.symbols.is_empty()).then_some(code)
    }

    fn read(&self, bits: &mut Bits<'_>) -> Result<u8> {
        let mut value = 0;
        for &(first, count, index) in &self.lengths[1..] {
            value = value << 1 | bits.bit()?;
            if let Some(number) = value.checked_sub(first).filter(|number| *number < count) {
                return Ok(self.symbols[index + number as usize]);
            }
        }
        Err(bits.damaged("has a code of no symbol"))
    }
}

/// Reads `lengths.len()` code lengths of `width` bits, and returns the code.
fn read_code(bits: &mut Bits<'_>, lengths: &mut [u8], width: u32) -> Result<Code> {
    for length in lengths.iter_mut() {
        *length = bits.number(width)? as u8;
    }
    Code::new(lengths).ok_or_else(|| bits.damaged("has impossible code lengths"))
}

/// Reads `count` move-to-front values. Codes 0 and 1 are digits of a run length of the
/// front value; others are positions plus one. If the value `row` positions earlier is
/// 0, this one is 0 too and has no code.
fn read_values(
    bits: &mut Bits<'_>,
    code: &Code,
    front: &mut [u8],
    count: usize,
    row: usize,
) -> Result<Vec<u8>> {
    let mut values = Vec::with_capacity(count);
    let (mut run, mut digits, mut moved) = (0_usize, 0_u32, false);
    while values.len() < count {
        let above = values.len().checked_sub(row);
        if above.and_then(|above| values.get(above)) == Some(&0) {
            values.push(0);
        } else if run > 0 || moved {
            values.push(front[0]);
            run = run.saturating_sub(usize::from(!moved));
            moved = false;
        } else {
            match usize::from(code.read(bits)?) {
                digit @ (0 | 1) => {
                    run = (digit + 1).checked_shl(digits).unwrap_or(usize::MAX);
                    digits += 1;
                    if run > count {
                        return Err(bits.damaged("has a run that is too long"));
                    }
                }
                position => {
                    let used = front.get_mut(..position);
                    let used = used.ok_or_else(|| bits.damaged("has an unknown value"))?;
                    used.rotate_right(1);
                    (digits, moved) = (0, true);
                }
            }
        }
    }
    match run > 0 || moved {
        true => Err(bits.damaged("has a run that is too long")),
        false => Ok(values),
    }
}

/// Decodes a section to exactly `length` bytes. The groups of its sectors may take
/// `limit` bytes of memory.
pub(super) fn decode(
    section: &mut Stream,
    length: u64,
    limit: usize,
    append: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let bits = &mut Bits {
        section,
        byte: 0,
        left: 0,
    };
    let groups = bits.number(3)? as usize + 1;
    let sector = match groups {
        1 => length,
        _ => (u64::from(bits.number(5)?) + 1) * 5,
    };
    let mut lengths = [0; LENGTH_CODES];
    let coded = bits.number(4)? as usize + 7;
    let code = read_code(bits, &mut lengths[..coded], 4)?;
    let table = read_values(bits, &code, &mut LENGTHS.clone(), SYMBOLS * groups, SYMBOLS)?;
    let codes = table.chunks(SYMBOLS).map(|lengths| {
        let is_used = lengths.iter().any(|length| *length > 0);
        let code = Code::new(lengths);
        match is_used && code.is_none() {
            true => Err(bits.damaged("has impossible code lengths")),
            false => Ok(code),
        }
    });
    let codes = codes.collect::<Result<Vec<_>>>()?;
    let mut groups_of_sectors = vec![0; 1];
    if groups > 1 {
        let mut lengths = vec![0; groups + 1];
        let code = read_code(bits, &mut lengths, 3)?;
        let sectors = length.div_ceil(sector) as usize;
        if sectors > limit {
            return Err(Error::no_memory("DJW", sectors, limit));
        }
        let mut front: Vec<u8> = (0..groups as u8).collect();
        groups_of_sectors = read_values(bits, &code, &mut front, sectors, 0)?;
    }
    let (mut left, mut output) = (length, Vec::with_capacity(PIECE));
    for group in groups_of_sectors {
        let code = codes[usize::from(group)].as_ref();
        let code = code.ok_or_else(|| bits.damaged("uses a group without codes"))?;
        for _ in 0..left.min(sector) {
            output.push(code.read(bits)?);
            if output.len() == PIECE {
                append(&output)?;
                output.clear();
            }
        }
        left = left.saturating_sub(sector);
    }
    append(&output)?;
    match bits.byte == 0 && bits.section.left() == 0 {
        true => Ok(()),
        false => Err(bits.damaged("has bytes that are left over")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::io::ReadAt;
    use std::sync::Arc;

    /// Packs bits from the lowest bit of each byte.
    fn pack(bits: &[u8]) -> Vec<u8> {
        let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
        bits.chunks(8).map(byte).collect()
    }

    /// Returns the bits of a number, most significant first.
    fn number(value: u8, count: u32) -> impl Iterator<Item = u8> {
        (0..count).rev().map(move |bit| value >> bit & 1)
    }

    /// Returns the bits of a section with an eight-bit code in each byte.
    fn section(bytes: &[u8]) -> Vec<u8> {
        // One group; a code for lengths with two symbols: digit 0 of a run, and
        // position 5, which is length 8.
        let mut bits: Vec<u8> = number(0, 3).chain(number(0, 4)).collect();
        for length in [1, 0, 0, 0, 0, 0, 1] {
            bits.extend(number(length, 4));
        }
        // Length 8, repeated 255 times.
        bits.extend([1, 0, 0, 0, 0, 0, 0, 0, 0]);
        bits.extend(bytes.iter().flat_map(|byte| number(*byte, 8)));
        bits
    }

    fn decode_all(bits: &[u8], length: u64) -> Result<Vec<u8>> {
        let source: Arc<dyn ReadAt> = Arc::new(pack(bits));
        let mut stream = Stream::new(&source, 0..source.len(), 16);
        let mut bytes = Vec::new();
        decode(&mut stream, length, 1 << 20, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    #[test]
    fn bytes_are_decoded_with_codes_of_equal_length() {
        let bytes: Vec<u8> = (0..=u8::MAX).chain(*b"some bytes").collect();
        assert_eq!(
            decode_all(&section(&bytes), bytes.len() as u64).unwrap(),
            bytes
        );
    }

    #[test]
    fn sections_of_another_length_are_damaged() {
        let bits = section(b"some bytes");
        for length in [1, 9, 11, 100] {
            decode_all(&bits, length).unwrap_err();
        }
    }

    #[test]
    fn codes_that_cannot_be_are_damaged() {
        assert!(Code::new(&[0, 0]).is_none(), "no symbol");
        assert!(Code::new(&[1, 1, 1]).is_none(), "too many codes");
        assert!(
            Code::new(&[1, 2]).is_some(),
            "an incomplete code is used by xdelta3"
        );
        decode_all(&[1; 300], 10).unwrap_err();
        decode_all(&[0; 300], 10).unwrap_err();
    }
}
