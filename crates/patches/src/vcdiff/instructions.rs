//! The instructions of a window, with the default code table (RFC 3284, section 5.6).

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result};

use super::addresses::Addresses;
use super::layout::{ADDRESSES, DATA, INSTRUCTIONS, Section, Window};
use crate::limits::check_count;
use crate::number::read_vcdiff;
use crate::stream::Stream;

/// Read size of sections, in bytes.
const PIECE: usize = 16 << 10;

/// An instruction of the code table. If the size is 0, a number with the size follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Add(u8),
    Run,
    Copy { size: u8, mode: u8 },
}

/// Returns the one or two instructions of an index of the code table.
fn codes(index: u8) -> (Code, Option<Code>) {
    let copy = |size, mode| Code::Copy { size, mode };
    match index {
        0 => (Code::Run, None),
        1..=18 => (Code::Add(index - 1), None),
        19..=162 => {
            let (mode, size) = ((index - 19) / 16, (index - 19) % 16);
            (copy(if size == 0 { 0 } else { size + 3 }, mode), None)
        }
        163..=234 => {
            let (mode, pair) = ((index - 163) / 12, (index - 163) % 12);
            (Code::Add(pair / 3 + 1), Some(copy(pair % 3 + 4, mode)))
        }
        235..=246 => {
            let (mode, size) = ((index - 235) / 4 + 6, (index - 235) % 4 + 1);
            (Code::Add(size), Some(copy(4, mode)))
        }
        247..=255 => (copy(4, index - 247), Some(Code::Add(1))),
    }
}

/// A range of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instruction {
    /// Bytes of the data section, from this offset of its source on.
    Add(u64),
    /// All bytes are equal.
    Run(u8),
    /// From this offset of the original on.
    Original(u64),
    /// The window from this offset on. The copy may overlap the appended bytes.
    Window(u64),
}

/// The instructions of a window in order, with their lengths in bytes, which are
/// positive. Together they are as long as the window.
pub(super) struct Instructions {
    window: Window,
    data: Stream,
    instructions: Stream,
    addresses: Stream,
    cache: Addresses,
    /// Length of the window so far.
    position: u64,
    second: Option<Code>,
    count: usize,
}

impl Instructions {
    /// Begins the window. `source` returns the source of a section.
    pub(super) fn new(window: &Window, source: impl Fn(&Section) -> Arc<dyn ReadAt>) -> Self {
        let stream = |number: usize| {
            let section = &window.sections[number];
            let range = section.start..section.start + section.length;
            Stream::new(&source(section), range, PIECE)
        };
        Self {
            window: *window,
            data: stream(DATA),
            instructions: stream(INSTRUCTIONS),
            addresses: stream(ADDRESSES),
            cache: Addresses::new(),
            position: 0,
            second: None,
            count: 0,
        }
    }

    /// Returns the next nonempty instruction; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Instruction)>> {
        loop {
            let code = match self.second.take() {
                Some(code) => code,
                None if self.instructions.left() == 0 => return self.finish().map(|()| None),
                None => {
                    let (first, second) = codes(self.instructions.byte("instruction")?);
                    self.second = second;
                    first
                }
            };
            self.count += 1;
            check_count(self.instructions.offset(), self.count, "instruction")?;
            let (length, instruction) = self.decode(code)?;
            self.position += length;
            if length > 0 {
                return Ok(Some((length, instruction)));
            }
        }
    }

    fn decode(&mut self, code: Code) -> Result<(u64, Instruction)> {
        let start = self.instructions.offset();
        let length = match code {
            Code::Add(size) | Code::Copy { size, .. } if size > 0 => u64::from(size),
            _ => read_vcdiff(&mut self.instructions, "size of an instruction")?,
        };
        let left = self.window.length - self.position;
        if length > left {
            let problem = format!("is {length} bytes, {left} of the window are left");
            return Err(Error::damaged(start, "size of an instruction", problem));
        }
        let instruction = match code {
            Code::Add(_) => Instruction::Add(self.data.skip(length, "data of a window")?),
            Code::Run => Instruction::Run(self.data.byte("data of a window")?),
            Code::Copy { mode, .. } => self.copy(length, mode)?,
        };
        Ok((length, instruction))
    }

    fn copy(&mut self, length: u64, mode: u8) -> Result<Instruction> {
        let (from, segment) = self.window.segment;
        let (start, here) = (self.addresses.offset(), segment + self.position);
        let address = self.cache.read(mode, here, &mut self.addresses)?;
        if address >= segment {
            return Ok(Instruction::Window(address - segment));
        }
        if length > segment - address {
            let problem = "is of a copy that leaves the segment of the original";
            return Err(Error::damaged(start, "address", problem));
        }
        Ok(Instruction::Original(from + address))
    }

    /// Checks for missing and surplus data.
    fn finish(&mut self) -> Result<()> {
        if self.position != self.window.length {
            let problem = format!(
                "has instructions for {} of {} bytes",
                self.position, self.window.length
            );
            return Err(Error::damaged(self.window.offset, "window", problem));
        }
        for (stream, field) in [(&self.data, "data"), (&self.addresses, "addresses")] {
            if stream.left() > 0 {
                let problem = format!("{} bytes are left over", stream.left());
                return Err(Error::damaged(stream.offset(), field, problem));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_table_is_that_of_the_specification() {
        let copy = |size, mode| Code::Copy { size, mode };
        for (index, first, second) in [
            (0, Code::Run, None),
            (1, Code::Add(0), None),
            (18, Code::Add(17), None),
            (19, copy(0, 0), None),
            (20, copy(4, 0), None),
            (34, copy(18, 0), None),
            (162, copy(18, 8), None),
            (163, Code::Add(1), Some(copy(4, 0))),
            (166, Code::Add(2), Some(copy(4, 0))),
            (234, Code::Add(4), Some(copy(6, 5))),
            (235, Code::Add(1), Some(copy(4, 6))),
            (246, Code::Add(4), Some(copy(4, 8))),
            (247, copy(4, 0), Some(Code::Add(1))),
            (255, copy(4, 8), Some(Code::Add(1))),
        ] {
            assert_eq!(codes(index), (first, second), "{index}");
        }
    }
}
