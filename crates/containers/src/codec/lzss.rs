//! LZSS of PRE archives (FORMATS, PRE 4).

use super::{Codec, Packed};
use crate::io::Result;

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
