//! UPS: blocks that are combined with the original by XOR (section 5 of the
//! specification). Applying a patch to its result restores the original.

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result};

use crate::bps::Frame;
use crate::limits::check_count;
use crate::number::read_bps;
use crate::parts::{Data, Parts};
use crate::records::keep;

/// The start of a UPS patch.
pub(crate) const MAGIC: &[u8] = b"UPS1";

/// Returns the parts of a result of `size` bytes, which may take `limit` bytes of
/// memory. The original has `original` bytes.
pub(crate) fn parts(
    source: &Arc<dyn ReadAt>,
    frame: &Frame,
    (original, size): (u64, u64),
    limit: usize,
) -> Result<Parts> {
    let mut stream = frame.stream(source);
    let longest = frame.original.size.max(frame.result.size);
    let (mut parts, mut count, mut position) = (Parts::new(limit), 0, 0_u64);
    while stream.left() > 0 {
        let start = stream.offset();
        count += 1;
        check_count(start, count, "block")?;
        position = position.saturating_add(read_bps(&mut stream, "distance")?);
        let data = stream.offset();
        while stream.byte("block")? != 0 {}
        let length = stream.offset() - 1 - data;
        if position.saturating_add(length) > longest {
            let problem = format!("extends past the {longest} bytes of both files");
            return Err(Error::damaged(start, "block", problem));
        }
        // Bytes past the end of the result are only checked.
        if position < size {
            keep(&mut parts, original, position)?;
            parts.push(length.min(size - position), Data::Xor(data))?;
        }
        position += length + 1;
    }
    keep(&mut parts, original, size)?;
    parts.shrink();
    Ok(parts)
}
