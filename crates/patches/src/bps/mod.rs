//! BPS: actions that copy from the original, from the patch and from the result
//! (section 4 of the specification).

#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result};

use crate::error::Sums;
use crate::limits::{check_count, check_result};
use crate::number::read_bps;
use crate::parts::{Data, Inputs, Parts};
use crate::stream::Stream;

/// The start of a BPS patch.
pub(crate) const MAGIC: &[u8] = b"BPS1";

/// Length of the trailing checksums in bytes.
const FOOTER: u64 = 12;

/// Read size in bytes.
const PIECE: usize = 64 << 10;

/// The sizes and checksums at the start and the end of BPS and UPS patches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) original: Sums,
    pub(crate) result: Sums,
    /// Range of the metadata and the actions, or of the blocks, in the patch.
    start: u64,
    end: u64,
}

impl Frame {
    /// Reads the sizes after the magic bytes, and the checksums. Verifies the checksum
    /// of the patch.
    pub(crate) fn read(source: &Arc<dyn ReadAt>) -> Result<Self> {
        let magic = MAGIC.len() as u64;
        let end = source.len().saturating_sub(FOOTER).max(magic);
        let mut footer = Stream::new(source, end..source.len(), FOOTER as usize);
        let [original, result, patch] = [
            u32::from_le_bytes(footer.array("CRC-32 of the original")?),
            u32::from_le_bytes(footer.array("CRC-32 of the result")?),
            u32::from_le_bytes(footer.array("CRC-32 of the patch")?),
        ];
        let found = crc32(source, source.len() - 4)?;
        if found != patch {
            let problem = format!("is {patch:08x}; that of the bytes is {found:08x}");
            return Err(Error::damaged(end + 8, "CRC-32 of the patch", problem));
        }
        let mut stream = Stream::new(source, magic..end, 32);
        let mut size = |field, crc32| -> Result<Sums> {
            let offset = stream.offset();
            let size = read_bps(&mut stream, field)?;
            check_result(offset, size)?;
            Ok(Sums {
                size,
                crc32: Some(crc32),
            })
        };
        Ok(Self {
            original: size("size of the original", original)?,
            result: size("size of the result", result)?,
            start: stream.offset(),
            end,
        })
    }

    /// Returns a stream of the bytes between the sizes and the checksums.
    pub(crate) fn stream(&self, source: &Arc<dyn ReadAt>) -> Stream {
        Stream::new(source, self.start..self.end, PIECE)
    }
}

/// Returns the CRC-32 of the first `length` bytes.
fn crc32(source: &Arc<dyn ReadAt>, length: u64) -> Result<u32> {
    let mut stream = Stream::new(source, 0..length, 16);
    let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), vec![0; PIECE]);
    while stream.left() > 0 {
        let now = stream.left().min(PIECE as u64) as usize;
        stream.fill(&mut buffer[..now], "patch")?;
        hasher.update(&buffer[..now]);
    }
    Ok(hasher.finalize())
}

/// Reads the length of the metadata, and returns the metadata, up to `most` bytes.
pub(crate) fn metadata(source: &Arc<dyn ReadAt>, frame: &Frame, most: u64) -> Result<Vec<u8>> {
    let mut stream = frame.stream(source);
    let length = read_bps(&mut stream, "length of the metadata")?;
    stream.check(length, "metadata")?;
    let mut bytes = vec![0; length.min(most) as usize];
    stream.fill(&mut bytes, "metadata")?;
    Ok(bytes)
}

/// The actions of a patch, and their cursors.
struct Actions {
    stream: Stream,
    frame: Frame,
    from_original: u64,
    from_result: u64,
}

/// Returns the parts of the result, which may take `limit` bytes of memory.
pub(crate) fn parts(
    source: &Arc<dyn ReadAt>,
    original: &dyn ReadAt,
    frame: &Frame,
    limit: usize,
) -> Result<Parts> {
    let mut stream = frame.stream(source);
    let length = read_bps(&mut stream, "length of the metadata")?;
    stream.skip(length, "metadata")?;
    let inputs = Inputs {
        original,
        patch: &**source,
    };
    let (mut parts, mut count) = (Parts::new(limit), 0);
    let mut actions = Actions {
        stream,
        frame: *frame,
        from_original: 0,
        from_result: 0,
    };
    while actions.stream.left() > 0 {
        count += 1;
        check_count(actions.stream.offset(), count, "action")?;
        actions.next(&mut parts, inputs)?;
    }
    if parts.len() != frame.result.size {
        let problem = format!(
            "make {} bytes instead of {}",
            parts.len(),
            frame.result.size
        );
        return Err(Error::damaged(frame.end, "actions", problem));
    }
    parts.shrink();
    Ok(parts)
}

impl Actions {
    /// Appends what the next action copies.
    fn next(&mut self, parts: &mut Parts, inputs: Inputs<'_>) -> Result<()> {
        let (start, position) = (self.stream.offset(), parts.len());
        let action = read_bps(&mut self.stream, "action")?;
        let length = (action >> 2) + 1;
        let left = self.frame.result.size - position;
        if length > left {
            let problem = format!("has {length} bytes, {left} of the result are left");
            return Err(Error::damaged(start, "action", problem));
        }
        let size = self.frame.original.size;
        match action & 3 {
            0 => {
                check_range(start, Some(position), length, size)?;
                parts.push(length, Data::Original(position))
            }
            1 => {
                let offset = self.stream.skip(length, "data")?;
                parts.push(length, Data::Patch(offset))
            }
            2 => {
                let from = self.moved(self.from_original)?;
                let from = check_range(start, from, length, size)?;
                self.from_original = from + length;
                parts.push(length, Data::Original(from))
            }
            _ => {
                let from = self.moved(self.from_result)?;
                // The copy may overlap the appended bytes.
                let from = check_range(start, from, 1, position)?;
                self.from_result = from + length;
                parts.copy(from, length, inputs)
            }
        }
    }

    /// Reads a distance, and returns the moved cursor; `None` if it is not a valid
    /// position.
    fn moved(&mut self, cursor: u64) -> Result<Option<u64>> {
        let number = read_bps(&mut self.stream, "distance")?;
        let distance = number >> 1;
        Ok(match number & 1 {
            0 => cursor.checked_add(distance),
            _ => cursor.checked_sub(distance),
        })
    }
}

/// Checks that `length` bytes at a position end before `end`.
fn check_range(start: u64, from: Option<u64>, length: u64, end: u64) -> Result<u64> {
    let is_inside = |from: &u64| from.checked_add(length).is_some_and(|last| last <= end);
    from.filter(is_inside).ok_or_else(|| {
        let problem = format!("copies {length} bytes from outside the {end} bytes there are");
        Error::damaged(start, "action", problem)
    })
}
