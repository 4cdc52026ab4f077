//! LZSS of PRE archives (FORMATS, PRE 4).

use std::sync::Arc;

use super::{Codec, Packed};
use crate::io::{Error, Result};

/// Length of the ring of decoded bytes.
const RING: usize = 4096;

/// Position in the ring of the first decoded byte.
const START: usize = 0xFEE;

/// Length of the shortest match.
const MIN_MATCH: u8 = 3;

/// The state of decoding an LZSS stream.
#[derive(Clone)]
pub(crate) struct Lzss {
    ring: Box<[u8; RING]>,
    /// Position in the ring of the next byte.
    at: usize,
    /// Flags of the next items, lowest bit first, below a bit that marks their
    /// end.
    flags: u16,
    /// Next position in the ring to copy for the current match, and how many
    /// bytes of the match remain.
    from: usize,
    run: u8,
    /// True if the packed bytes have ended inside a match.
    is_cut: bool,
}

/// Decodes a stream that extends to the end of `packed`, without a declared
/// size.
///
/// # Errors
/// Returns [`Error::Damaged`] if it ends inside a match, or decodes to more than
/// `limit` bytes.
pub fn unpack_lzss(packed: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut source = Packed {
        source: Arc::new(packed.to_vec()),
        next: 0,
        end: packed.len() as u64,
        buffer: Vec::new(),
        taken: 0,
    };
    let mut codec = Lzss::new();
    let mut out = Vec::new();
    while let Some(byte) = codec.next(&mut source)? {
        if out.len() == limit {
            let problem = format!("decodes to more than {limit} bytes");
            return Err(Error::damaged(source.position(), "packed data", problem));
        }
        out.push(byte);
    }
    match codec.is_cut {
        true => Err(Error::damaged(
            source.position().saturating_sub(1),
            "match",
            "ends with the packed data",
        )),
        false => Ok(out),
    }
}

impl Lzss {
    /// Creates the state at the start of a stream.
    pub(crate) fn new() -> Self {
        Self {
            ring: Box::new([b' '; RING]),
            at: START,
            flags: 1,
            from: 0,
            run: 0,
            is_cut: false,
        }
    }

    /// Returns the maximum decoded size of `packed` bytes: two bytes and a flag
    /// decode to 18.
    pub(crate) fn longest(packed: u64) -> u64 {
        packed.saturating_mul(9).saturating_add(18)
    }

    fn put(&mut self, byte: u8) -> u8 {
        self.ring[self.at] = byte;
        self.at = (self.at + 1) % RING;
        byte
    }

    /// Returns the next decoded byte; `None` at the end of the packed bytes.
    fn next(&mut self, packed: &mut Packed) -> Result<Option<u8>> {
        while self.run == 0 {
            if self.flags == 1 {
                let Some(flags) = packed.byte()? else {
                    return Ok(None);
                };
                self.flags = u16::from(flags) | 0x100;
            }
            let is_literal = self.flags & 1 != 0;
            self.flags >>= 1;
            let Some(first) = packed.byte()? else {
                return Ok(None);
            };
            if is_literal {
                return Ok(Some(self.put(first)));
            }
            let Some(second) = packed.byte()? else {
                self.is_cut = true;
                return Ok(None);
            };
            self.from = usize::from(first) | usize::from(second & 0xF0) << 4;
            self.run = (second & 0x0F) + MIN_MATCH;
        }
        let byte = self.ring[self.from];
        self.from = (self.from + 1) % RING;
        self.run -= 1;
        Ok(Some(self.put(byte)))
    }
}

impl Codec for Lzss {
    // Decoding stops at the declared size (FORMATS, PRE 4).
    const RUNS_ON: bool = true;

    fn decode(&mut self, packed: &mut Packed, out: &mut [u8]) -> Result<usize> {
        for (position, byte) in out.iter_mut().enumerate() {
            match self.next(packed)? {
                Some(decoded) => *byte = decoded,
                None => return Ok(position),
            }
        }
        Ok(out.len())
    }

    fn fork(&self, packed: &Packed) -> (Self, u64) {
        (self.clone(), packed.position())
    }

    fn memory(&self) -> usize {
        RING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_a_size_ends_with_its_bytes() {
        // Three letters, and a match of nine that overlaps itself.
        let packed = [0b0111, b'a', b'b', b'c', 0xEE, 0xF6];
        assert_eq!(unpack_lzss(&packed, 12).unwrap(), b"abcabcabcabc");
        assert_eq!(unpack_lzss(&packed[..4], 12).unwrap(), b"abc");
        assert_eq!(unpack_lzss(&[], 0).unwrap(), b"");
        assert!(unpack_lzss(&packed, 11).is_err());
        let cut = unpack_lzss(&packed[..5], 12).unwrap_err();
        assert_eq!(cut.to_string(), "match at 0x4: ends with the packed data");
    }
}
