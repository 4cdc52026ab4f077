//! Comparison of the bytes of two files that decodes as little as possible.

use super::Side;
use crate::content::{Access, BLOCK_SIZE};
use crate::inspect::{Contents, Trouble};
use crate::mount::{Ino, Vfs};
use hpimount_containers::io::{ReadAt, read_error};
use hpimount_containers::volume::{DataFacts, Packed};

/// Number of packed bytes that are compared at a time.
const PIECE: u64 = 256 << 10;

/// The result of comparing two files.
pub(super) struct Verdict {
    pub(super) is_same: bool,
    /// Their sizes in bytes.
    pub(super) sizes: [u64; 2],
}

/// Compares two files. Files of the same size whose packed bytes are equal are
/// equal; files with different CRC-32 are not. All others are decoded up to their first difference.
///
/// # Errors
/// Returns the side that cannot be read, and the cause.
pub(super) fn files(sides: [&Vfs; 2], inos: [Ino; 2]) -> Result<Verdict, (Side, Trouble)> {
    let size = |side: Side| {
        let attr = sides[side].getattr(inos[side]);
        attr.map(|attr| attr.size)
            .map_err(|error| (side, Trouble::from(error)))
    };
    let sizes = [size(0)?, size(1)?];
    let is_same = sizes[0] == sizes[1]
        && match by_facts(sides, inos)? {
            Some(is_same) => is_same,
            None => by_bytes(sides, inos)?,
        };
    Ok(Verdict { is_same, sizes })
}

/// Compares two files of the same size by what their volumes know about them;
/// `None` if that is not enough.
fn by_facts(sides: [&Vfs; 2], inos: [Ino; 2]) -> Result<Option<bool>, (Side, Trouble)> {
    let node = |side: Side| {
        let node = sides[side].node(inos[side]);
        node.map_err(|error| (side, Trouble::from(error)))
    };
    let nodes = [node(0)?, node(1)?];
    let known = |side: Side| {
        let Some(file) = nodes[side].file() else {
            return Ok(DataFacts::default());
        };
        match file.volume.volume.data_facts(file.file) {
            Err(error) if error.is_fault() => Err((side, Trouble::from(error))),
            // Reading the file reports the damage.
            known => Ok(known.unwrap_or_default()),
        }
    };
    let [old, new] = [known(0)?, known(1)?];
    if let (Some(old), Some(new)) = (&old.packed, &new.packed)
        && old.method == new.method
        && old.length == new.length
        && are_equal([old, new])?
    {
        return Ok(Some(true));
    }
    match (old.crc32, new.crc32) {
        (Some(old), Some(new)) if old != new => Ok(Some(false)),
        _ => Ok(None),
    }
}

/// Compares packed bytes of the same length.
fn are_equal(packed: [&Packed<'_>; 2]) -> Result<bool, (Side, Trouble)> {
    let length = packed[0].length;
    let mut buffers = [const { Vec::new() }; 2];
    let mut position = 0;
    while position < length {
        let piece = (length - position).min(PIECE);
        for (side, buffer) in buffers.iter_mut().enumerate() {
            buffer.resize(piece as usize, 0);
            let Packed { source, offset, .. } = packed[side];
            let source: &dyn ReadAt = *source;
            let at = offset.saturating_add(position);
            if let Err(error) = source.read_exact_at(buffer, at) {
                let error = read_error(at, piece, error);
                return match error.is_fault() {
                    true => Err((side, Trouble::from(error))),
                    // Reading the file reports the damage.
                    false => Ok(false),
                };
            }
        }
        if buffers[0] != buffers[1] {
            return Ok(false);
        }
        position += piece;
    }
    Ok(true)
}

/// Returns whether two files that differ have the same bytes but for where their archives
/// have which files.
pub(super) fn differ_in_layout(sides: [&Vfs; 2], inos: [Ino; 2], sizes: [u64; 2]) -> bool {
    let outside = |side: Side| {
        let layout = Contents(sides[side]).layout(inos[side]);
        if layout.is_empty() {
            return None;
        }
        let mut bytes = Vec::new();
        for range in [0..layout.start, layout.end..sizes[side]] {
            // All of these are short.
            let length = range.end.saturating_sub(range.start);
            let length = u32::try_from(length)
                .ok()
                .filter(|&length| length <= BLOCK_SIZE)?;
            let read = Contents(sides[side]).read_explained(
                inos[side],
                range.start,
                length,
                Access::Unknown,
            );
            bytes.extend_from_slice(&read.ok()?);
        }
        Some(bytes)
    };
    outside(0).is_some_and(|old| outside(1) == Some(old))
}

/// Returns whether the decoded bytes of two files are equal.
fn by_bytes(sides: [&Vfs; 2], inos: [Ino; 2]) -> Result<bool, (Side, Trouble)> {
    let mut position = 0;
    loop {
        let read = |side: Side| {
            let bytes = Contents(sides[side]).read_explained(
                inos[side],
                position,
                BLOCK_SIZE,
                Access::Unknown,
            );
            bytes.map_err(|trouble| (side, trouble))
        };
        let [old, new] = [read(0)?, read(1)?];
        let length = old.len().min(new.len());
        if old[..length] != new[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(old.is_empty() && new.is_empty());
        }
        position += length as u64;
    }
}
