//! Huffman codes of CHD: among symbols with codes of the same length the first
//! has the lowest code, and longer codes come before shorter ones.

use crate::codec::bits::Bits;
use crate::codec::block::Decoded;

/// Number of symbols for bytes, and the maximum length of their codes.
const BYTES: usize = 256;
const MAX_BITS: u8 = 16;

/// Number of symbols and maximum code length of the code for code lengths.
const LENGTHS: usize = 24;
const MAX_LENGTH_BITS: u8 = 6;

/// A table of codes.
pub(super) struct Codes {
    longest: u8,
    /// For every number of `longest` bits, the symbol with the code at its
    /// start, and the length of that code; 0 if no code matches.
    table: Vec<(u8, u8)>,
}

impl Codes {
    /// Creates the codes of these lengths, 0 for symbols without one.
    fn new(lengths: &[u8], longest: u8) -> Decoded<Self> {
        let mut starts = [0_u32; 33];
        for &length in lengths.iter().filter(|&&length| length > 0) {
            if length > longest {
                return Err(format!("has a code of {length} bits"));
            }
            starts[usize::from(length)] += 1;
        }
        let mut start = 0;
        for (length, count) in starts.iter_mut().enumerate().skip(1).rev() {
            let end = start + *count;
            if length > 1 && end % 2 != 0 {
                return Err("has codes that do not fit together".into());
            }
            (*count, start) = (start, end / 2);
        }
        let mut table = vec![(0, 0); 1 << longest];
        for (symbol, &length) in lengths
            .iter()
            .enumerate()
            .filter(|(_, length)| **length > 0)
        {
            let code = &mut starts[usize::from(length)];
            let shift = longest - length;
            let entries = (*code << shift) as usize..((*code + 1) << shift) as usize;
            let entries = table.get_mut(entries);
            entries
                .ok_or("has more codes than there are")?
                .fill((symbol as u8, length));
            *code += 1;
        }
        Ok(Self { longest, table })
    }

    /// Reads codes whose lengths are stored in order; runs follow a 1.
    pub(super) fn read_short(bits: &mut Bits<'_>, symbols: usize, longest: u8) -> Decoded<Self> {
        // The number of bits of the longest length, at most 5.
        let width = match longest {
            16.. => 5,
            8.. => 4,
            _ => 3,
        };
        let mut lengths = Vec::with_capacity(symbols);
        while lengths.len() < symbols {
            let first = bits.take(width)? as u8;
            let (length, count) = match first {
                1 => match bits.take(width)? as u8 {
                    1 => (1, 1),
                    length => (length, bits.take(width)? as usize + 3),
                },
                length => (length, 1),
            };
            if lengths.len() + count > symbols {
                return Err("has more lengths than symbols".into());
            }
            lengths.resize(lengths.len() + count, length);
        }
        Self::new(&lengths, longest)
    }

    /// Reads the codes of all bytes, whose lengths are Huffman coded too.
    fn read_long(bits: &mut Bits<'_>) -> Decoded<Self> {
        let mut small = [0; LENGTHS];
        small[0] = bits.take(3)? as u8;
        let start = bits.take(3)? as usize + 1;
        for length in &mut small[start..] {
            match bits.take(3)? as u8 {
                // The rest is zeros.
                7 => break,
                found => *length = found,
            }
        }
        let small = Self::new(&small, MAX_LENGTH_BITS)?;
        let mut lengths = Vec::with_capacity(BYTES);
        let mut last = 0;
        while lengths.len() < BYTES {
            match small.symbol(bits)? {
                0 => {
                    let mut count = bits.take(3)? as usize + 2;
                    if count == 9 {
                        count += bits.take(8)? as usize;
                    }
                    let count = count.min(BYTES - lengths.len());
                    lengths.resize(lengths.len() + count, last);
                }
                length => {
                    last = length - 1;
                    lengths.push(last);
                }
            }
        }
        Self::new(&lengths, MAX_BITS)
    }

    /// Returns the next symbol.
    pub(super) fn symbol(&self, bits: &mut Bits<'_>) -> Decoded<u8> {
        let (symbol, length) = self.table[bits.peek(self.longest.into()) as usize];
        if length == 0 {
            return Err("has a code of no symbol".into());
        }
        bits.skip(length.into())?;
        Ok(symbol)
    }
}

/// Decodes `wanted` bytes, each a symbol.
pub(super) fn decode(packed: &[u8], wanted: usize) -> Decoded<Vec<u8>> {
    let mut bits = Bits::new(packed);
    let codes = Codes::read_long(&mut bits)?;
    (0..wanted).map(|_| codes.symbol(&mut bits)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_codes_come_before_shorter_ones() {
        // Symbols of 1, 2, 3 and 3 bits: 1, 01, 000, 001.
        let codes = Codes::new(&[1, 2, 3, 3], 4).unwrap();
        let mut bits = Bits::new(&[0b1010_0000, 0b1111_1111]);
        let symbols: Vec<u8> = (0..5).map(|_| codes.symbol(&mut bits).unwrap()).collect();
        assert_eq!(symbols, [0, 1, 2, 3, 0]);
    }

    #[test]
    fn impossible_code_lengths_are_refused() {
        assert!(Codes::new(&[2, 2, 2], 4).is_err(), "an odd number");
        assert!(Codes::new(&[1, 1, 1, 1], 4).is_err(), "too many");
        assert!(Codes::new(&[5], 4).is_err(), "too long");
        let none = Codes::new(&[0, 0], 4).unwrap();
        assert!(none.symbol(&mut Bits::new(&[0])).is_err());
    }
}
