//! Disco floors: DSCO (FORMATS, HIP assets 6).

use bytes::Bytes;

use super::HEADER;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// The patterns of a disco floor, and the prefixes of the names of its tiles.
#[derive(Debug)]
pub struct Floor {
    /// The prefixes of tiles that are off, changing and on, in the games' character
    /// set.
    pub prefixes: [Bytes; 3],
    /// Number of tiles.
    pub tiles: usize,
    /// Two bits for each tile in each state, from the lowest bits.
    states: Vec<Bytes>,
}

/// The fields of a floor that refer to its texts and states. Offsets count from the end
/// of the object's header.
pub(super) struct FloorFields {
    pub(super) prefixes: [u32; 3],
    pub(super) tiles: u32,
    pub(super) states: u32,
    pub(super) count: u32,
}

impl Floor {
    /// Reads the texts and states in `bytes`, an object without its links.
    pub(super) fn read(bytes: &Bytes, endian: Endian, fields: &FloorFields) -> Result<Self> {
        let mut prefixes = [const { Bytes::new() }; 3];
        for (prefix, &offset) in prefixes.iter_mut().zip(&fields.prefixes) {
            *prefix = text(bytes, offset)?;
        }
        let length = (fields.tiles as usize).div_ceil(4);
        let count = fields.count as usize;
        // States do not overlap, so they are not larger than the asset.
        let needed = count.saturating_mul(length.saturating_add(4));
        if needed > bytes.len() {
            return Err(Error::damaged(
                u64::from(fields.states) + HEADER as u64,
                "state count",
                format!(
                    "{count} states of {} tiles do not fit into {} bytes",
                    fields.tiles,
                    bytes.len()
                ),
            ));
        }
        let mut cursor = Cursor::new(bytes, 0, endian);
        cursor.seek(u64::from(fields.states) + HEADER as u64, "states")?;
        let mut states = Vec::with_capacity(count);
        for _ in 0..count {
            let start = cursor.u32("offset of a state")? as usize + HEADER;
            let end = start.saturating_add(length);
            if end > bytes.len() {
                return Err(Error::damaged(
                    start as u64,
                    "state",
                    format!("{length} bytes are past the end of {}", bytes.len()),
                ));
            }
            states.push(bytes.slice(start..end));
        }
        Ok(Self {
            prefixes,
            tiles: fields.tiles as usize,
            states,
        })
    }

    /// Returns the states, with a digit from 0 to 3 for each tile.
    pub fn states(&self) -> impl Iterator<Item = String> {
        let digit = |state: &Bytes, tile: usize| {
            let bits = state.get(tile / 4).copied().unwrap_or_default();
            char::from(b'0' + (bits >> (2 * (tile % 4)) & 3))
        };
        self.states
            .iter()
            .map(move |state| (0..self.tiles).map(|tile| digit(state, tile)).collect())
    }
}

/// Returns the text at an offset, up to a NUL.
fn text(bytes: &Bytes, offset: u32) -> Result<Bytes> {
    let start = offset as usize + HEADER;
    let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) else {
        return Err(Error::damaged(
            start as u64,
            "text",
            format!("is past the end of {} bytes", bytes.len()),
        ));
    };
    let end = rest.iter().position(|&byte| byte == 0);
    Ok(bytes.slice(start..start + end.unwrap_or(rest.len())))
}
