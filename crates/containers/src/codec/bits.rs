//! Reading of bits; the highest bit of a byte comes first.

use crate::codec::block::Decoded;

/// A bit reader.
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    /// Position in bits.
    position: usize,
}

impl<'a> Bits<'a> {
    /// Creates a reader at the first bit.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Returns the number of bytes that were used at least partly.
    pub(crate) fn bytes_taken(&self) -> usize {
        self.position.div_ceil(8)
    }

    /// Skips to the next whole byte.
    pub(crate) fn align(&mut self) {
        self.position = self.position.next_multiple_of(8);
    }

    /// Returns at least the next 57 bits, in the highest positions; zeros after
    /// the end.
    fn window(&self) -> u64 {
        let first = self.position / 8;
        let word = match self.bytes.get(first..first + 8) {
            Some(word) => u64::from_be_bytes(*word.first_chunk().expect("8 bytes")),
            None => {
                let rest = self.bytes.get(first..).unwrap_or_default();
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(word)
            }
        };
        word << (self.position % 8)
    }

    /// Returns the next `count` bits, at most 32, zeros after the end.
    pub(crate) fn peek(&self, count: usize) -> u32 {
        (self.window() >> 1 >> (63 - count)) as u32
    }

    /// Skips `count` bits.
    ///
    /// # Errors
    /// Returns a message if there are fewer.
    pub(crate) fn skip(&mut self, count: usize) -> Decoded<()> {
        let end = self.position + count;
        if end > self.bytes.len() * 8 {
            return Err("ends too early".into());
        }
        self.position = end;
        Ok(())
    }

    /// Reads `count` bits, at most 32.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Bits::skip`].
    pub(crate) fn take(&mut self, count: usize) -> Decoded<u32> {
        let bits = self.peek(count);
        self.skip(count)?;
        Ok(bits)
    }

    /// Reads one bit.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Bits::skip`].
    pub(crate) fn bit(&mut self) -> Decoded<bool> {
        Ok(self.take(1)? == 1)
    }

    /// Reads zeros up to and including the next one bit, and returns their
    /// number.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Bits::skip`].
    pub(crate) fn zeros(&mut self) -> Decoded<u32> {
        let mut zeros = 0;
        loop {
            let window = self.window();
            if window != 0 {
                let more = window.leading_zeros();
                self.skip(more as usize + 1)?;
                return Ok(zeros + more);
            }
            // The window contains at least that many bits of the stream.
            self.skip(57)?;
            zeros += 57;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bit_of_a_byte_comes_first() {
        let mut bits = Bits::new(&[0b1010_0000, 0xFF, 0x01]);
        assert_eq!(bits.take(0).unwrap(), 0);
        assert_eq!(bits.take(3).unwrap(), 0b101);
        assert_eq!(bits.peek(32), 0x07F8_0800);
        assert_eq!(bits.take(13).unwrap(), 0xFF);
        assert_eq!(bits.bytes_taken(), 2);
        assert_eq!(bits.take(8).unwrap(), 1);
        assert!(bits.take(1).is_err());
    }

    #[test]
    fn zeros_are_counted_over_any_number_of_bytes() {
        let bytes = [&[0; 20][..], &[0b0000_0110]].concat();
        let mut bits = Bits::new(&bytes);
        assert_eq!(bits.zeros().unwrap(), 165);
        assert_eq!(bits.zeros().unwrap(), 0);
        bits.align();
        assert!(bits.zeros().is_err());
        assert!(Bits::new(&[0; 20]).zeros().is_err());
    }
}
