//! The filter of programs: the targets of CALL and JMP instructions are stored as
//! absolute addresses, which compress better, and become relative again.

use std::io::{self, Read};

use super::version::Version;

/// Length of a block. From 5.2 on, each is filtered by itself.
pub(super) const BLOCK: u64 = 64 << 10;

/// Length of an instruction with its target.
const INSTRUCTION: usize = 5;

/// A version of the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// Before 5.2: targets of 32 bits, and a file is filtered as a whole.
    Whole,
    /// Targets of 24 bits with a sign, in blocks.
    Blocks {
        /// True if the sign is inverted for negative targets, as from 5.3.9 on.
        inverts: bool,
    },
}

impl Filter {
    pub(super) fn of(version: Version) -> Self {
        match version.since(5, 2, 0) {
            false => Self::Whole,
            true => Self::Blocks {
                inverts: version.since(5, 3, 9),
            },
        }
    }
}

/// A reader of a filtered file.
pub(super) struct Calls<R> {
    packed: R,
    filter: Filter,
    /// Offset in the file of the next byte to be read.
    position: u64,
    /// Filtered bytes, and how many of them were returned.
    buffer: Vec<u8>,
    returned: usize,
    /// The rest of a target that continues in the next bytes, of [`Filter::Whole`]:
    /// the number of bytes that are left, and the number to be added to them.
    target: (u8, u32),
}

impl<R: Read> Calls<R> {
    /// Begins to read a file at `position`, where a block begins.
    pub(super) fn new(packed: R, filter: Filter, position: u64) -> Self {
        Self {
            packed,
            filter,
            position,
            buffer: Vec::new(),
            returned: 0,
            target: (0, 0),
        }
    }

    pub(super) fn into_inner(self) -> R {
        self.packed
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.returned = 0;
        self.packed
            .by_ref()
            .take(BLOCK)
            .read_to_end(&mut self.buffer)?;
        match self.filter {
            Filter::Blocks { inverts } => restore(&mut self.buffer, self.position, inverts),
            Filter::Whole => self.restore_whole(),
        }
        self.position += self.buffer.len() as u64;
        Ok(())
    }

    fn restore_whole(&mut self) {
        let (mut left, mut target) = self.target;
        for (at, byte) in (self.position..).zip(&mut self.buffer) {
            if left > 0 {
                target = target.wrapping_add((*byte).into());
                *byte = target as u8;
                target >>= 8;
                left -= 1;
            } else if matches!(*byte, 0xE8 | 0xE9) {
                // Programs have at most 4 GiB.
                target = (at as u32).wrapping_add(INSTRUCTION as u32).wrapping_neg();
                left = 4;
            }
        }
        self.target = (left, target);
    }
}

impl<R: Read> Read for Calls<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.buffer.len() {
            self.fill()?;
        }
        let length = (&self.buffer[self.returned..]).read(buf)?;
        self.returned += length;
        Ok(length)
    }
}

/// Makes the targets of a block relative, which begins at `position` of its file.
fn restore(block: &mut [u8], position: u64, inverts: bool) {
    let mut at = 0;
    while let Some([code, target @ .., sign]) = block.get_mut(at..at + INSTRUCTION) {
        if !matches!(*code, 0xE8 | 0xE9) {
            at += 1;
            continue;
        }
        at += INSTRUCTION;
        if !matches!(*sign, 0 | 0xFF) {
            continue;
        }
        let absolute = u32::from_le_bytes([target[0], target[1], target[2], 0]);
        // Addresses have 24 bits.
        let relative = absolute.wrapping_sub((position as u32).wrapping_add(at as u32));
        target.copy_from_slice(&relative.to_le_bytes()[..3]);
        if inverts && relative & 0x80_0000 != 0 {
            *sign = !*sign;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(bytes: &[u8], filter: Filter) -> Vec<u8> {
        let mut out = Vec::new();
        Calls::new(bytes, filter, 0).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn targets_are_relative_to_the_next_instruction() {
        let old = Filter::Blocks { inverts: false };
        let new = Filter::Blocks { inverts: true };
        let far = [0x90, 0xE8, 0x16, 0, 0, 0];
        assert_eq!(filtered(&far, new), [0x90, 0xE8, 0x10, 0, 0, 0]);
        // Before the instruction.
        let back = [0xE9, 1, 0, 0, 0];
        assert_eq!(filtered(&back, new), [0xE9, 0xFC, 0xFF, 0xFF, 0xFF]);
        assert_eq!(filtered(&back, old), [0xE9, 0xFC, 0xFF, 0xFF, 0]);
        assert_eq!(
            filtered(&back, Filter::Whole),
            [0xE9, 0xFC, 0xFF, 0xFF, 0xFF]
        );
        // A sign that is none, and an instruction that is cut off.
        for same in [&[0xE8, 1, 2, 3, 4][..], &[0x90, 0xE8, 9, 0, 0]] {
            assert_eq!(filtered(same, new), same);
        }
        assert_eq!(filtered(&[0xE8, 9], Filter::Whole), [0xE8, 4]);
    }

    #[test]
    fn an_instruction_across_two_blocks_is_left_alone_except_before_5_2() {
        let start = BLOCK as usize - 2;
        let mut bytes = vec![0x90; BLOCK as usize + 10];
        bytes[start..start + 5].copy_from_slice(&[0xE8, 0, 0, 1, 0]);
        assert_eq!(filtered(&bytes, Filter::Blocks { inverts: true }), bytes);
        let whole = filtered(&bytes, Filter::Whole);
        let target = 0x1_0000_u32.wrapping_sub(start as u32 + 5);
        assert_eq!(whole[start + 1..start + 5], target.to_le_bytes());
    }
}
