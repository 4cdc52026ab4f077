//! The files beside an installer that hold its data.

use std::sync::Arc;

use super::header::Setup;
use crate::format::Input;
use crate::io::{Composed, Cursor, Endian, Error, ReadAt, Result, read_vec};
use crate::text;

/// First bytes of a slice, of two families of compilers.
const MAGICS: [&[u8; 8]; 2] = [b"idska32\x1A", b"idska16\x1A"];

/// Length of what precedes the data of a slice: the first bytes and its size.
const HEADER: u64 = 12;

/// Maximum number of slices.
const MAX_SLICES: u32 = 999;

/// The data of an installer.
pub(super) struct Data {
    /// The data of all slices, or the installer itself.
    pub(super) source: Arc<dyn ReadAt>,
    /// The offset in it of the data of each slice, and after the last one. Chunks
    /// count their offsets from [`HEADER`] bytes before it.
    starts: Vec<u64>,
    /// Number of bytes that precede the data of a slice.
    header: u64,
    /// The name of the first slice that is missing, or what is missing of it.
    pub(super) missing: Option<String>,
}

impl Data {
    /// Returns the data in an installer from `offset` on.
    pub(super) fn inside(source: &Arc<dyn ReadAt>, offset: u64) -> Self {
        Self {
            source: source.clone(),
            starts: vec![offset, source.len()],
            header: 0,
            missing: None,
        }
    }

    /// Finds the slices that the data entries refer to, up to the first one that is
    /// missing, or is none.
    ///
    /// # Errors
    /// Returns an error if one cannot be read.
    pub(super) fn in_slices(setup: &Setup, input: &Input<'_>) -> Result<Self> {
        let last = setup.data.iter().map(|data| data.last_slice).max();
        let count = last.map_or(0, |last| last.saturating_add(1).min(MAX_SLICES));
        let own = stem(&input.options.name);
        let names = [own, &setup.base_name];
        let (mut source, mut starts) = (Composed::default(), Vec::new());
        let mut missing = None;
        for number in 0..count {
            let names = names.map(|name| slice_name(name, number, setup.slices_per_disk));
            let mut beside = names.iter().filter_map(|name| {
                let slice = (input.partner)(name)?;
                Some((name, slice))
            });
            let Some((name, slice)) = beside.next() else {
                let [first, _] = names;
                missing = Some(first);
                break;
            };
            let length = match length(&*slice) {
                Err(error) if error.is_fault() => return Err(error.within(name)),
                Err(_) => {
                    missing = Some(format!("the start of {name}"));
                    break;
                }
                Ok(length) => length,
            };
            let is_cut = slice.len() < length;
            starts.push(source.len());
            source.append(&slice, HEADER..length.min(slice.len()));
            if is_cut {
                missing = Some(format!("the end of {name}"));
                break;
            }
        }
        starts.push(source.len());
        Ok(Self {
            source: Arc::new(source),
            starts,
            header: HEADER,
            missing,
        })
    }

    /// Returns the offset of a chunk in the source; `None` if its slice is missing.
    pub(super) fn offset_of(&self, slice: u32, chunk: u64) -> Option<u64> {
        let number = usize::try_from(slice).ok()?;
        let [start, _] = *self.starts.get(number..)?.first_chunk()?;
        start.checked_add(chunk.checked_sub(self.header)?)
    }
}

/// Returns the length of a slice that its header declares.
fn length(slice: &dyn ReadAt) -> Result<u64> {
    let bytes = read_vec(slice, 0, HEADER, "slice")?;
    let mut fields = Cursor::new(&bytes, 0, Endian::Little);
    let magic = fields.take(MAGICS[0].len(), "slice")?;
    if !MAGICS.iter().any(|known| magic == *known) {
        return Err(Error::damaged(0, "slice", "does not begin with \"idska\""));
    }
    Ok(fields.u32("slice size")?.into())
}

/// Returns the name of an installer as its slices have it: without the extension and
/// the number of a header on its own.
fn stem(name: &str) -> &str {
    let stem = text::stem(name);
    stem.strip_suffix("-0").unwrap_or(stem)
}

/// Returns the name of a slice, counted from 0.
fn slice_name(stem: &str, number: u32, per_disk: u32) -> String {
    match per_disk {
        0 | 1 => format!("{stem}-{}.bin", number + 1),
        _ => {
            let letter = char::from(b'a' + (number % per_disk).min(25) as u8);
            format!("{stem}-{}{letter}.bin", number / per_disk + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_numbered_and_lettered_on_each_disk() {
        assert_eq!(slice_name("setup", 1, 1), "setup-2.bin");
        assert_eq!(slice_name("setup", 3, 2), "setup-2b.bin");
        assert_eq!(stem("mods/setup.x.exe"), "setup.x");
        assert_eq!(stem("setup-0.bin"), "setup");
    }
}
