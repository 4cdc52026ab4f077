//! A file of a volume as a source.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::extract;
use crate::io::{Error, Origin, ReadAt, Result, unit_in};
use crate::volume::{Content, Entry, Volume};

/// Maximum length of a packed file that is decoded for changes inside it, since
/// it is kept in memory.
const MAX_DECODED: u64 = 64 << 20;

/// Returns the bytes of a file of a volume. A stored one is read from there, and keeps
/// the volume unless it has a source of its own; a packed one is decoded.
///
/// # Errors
/// Returns an error if it cannot be read or decoded, or if it is packed and
/// larger than 64 MiB.
pub(crate) fn member(volume: &Arc<dyn Volume>, entry: Entry) -> Result<Arc<dyn ReadAt>> {
    if let Some(source) = volume.source_of(entry.file) {
        return Ok(source);
    }
    if let (true, Some(len)) = (is_stored(volume, entry)?, entry.size) {
        return Ok(Arc::new(Stored {
            volume: volume.clone(),
            entry,
            len,
        }));
    }
    if entry.size.is_some_and(|size| size > MAX_DECODED) {
        let text = "is packed and larger than 64 MiB: unpack it, and change it outside";
        return Err(Error::Unsupported(text.to_owned()));
    }
    let mut bytes = Vec::new();
    extract::copy(&**volume, entry, &mut bytes)?;
    Ok(Arc::new(bytes))
}

/// Returns whether the bytes of a file of a volume are read from there.
///
/// # Errors
/// Returns an error if the volume has no such file.
pub(crate) fn is_stored(volume: &Arc<dyn Volume>, entry: Entry) -> Result<bool> {
    let content = volume.content(entry.file)?;
    Ok(matches!(content, Content::Extent { .. }) && entry.size.is_some())
}

/// A stored file.
struct Stored {
    volume: Arc<dyn Volume>,
    entry: Entry,
    len: u64,
}

impl Stored {
    /// Calls `read` with the source of the file and its offset there.
    fn with<T>(&self, read: impl FnOnce(&dyn ReadAt, u64) -> T) -> io::Result<T> {
        match self.volume.content(self.entry.file) {
            Ok(Content::Extent { source, offset }) => Ok(read(source, offset)),
            Ok(_) => Err(io::Error::other("is not stored any more")),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl ReadAt for Stored {
    fn len(&self) -> u64 {
        self.len
    }

    fn origin_at(&self, offset: u64) -> Origin<'_> {
        match self.volume.content(self.entry.file) {
            Ok(Content::Extent {
                source,
                offset: start,
            }) => Origin {
                length: self.len.saturating_sub(offset),
                ..Origin::of(source, start.saturating_add(offset))
            },
            _ => Origin::OWN,
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        self.with(|source, start| source.read_exact_at(buf, start.saturating_add(offset)))?
    }

    fn will_need(&self, offset: u64, length: u64) {
        // Errors are reported by the read itself.
        let _ = self.with(|source, start| source.will_need(start.saturating_add(offset), length));
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        self.with(|source, start| unit_in(source, start, offset))
            .ok()?
    }
}
