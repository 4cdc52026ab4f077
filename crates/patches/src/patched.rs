//! Patched files.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, read_error};

use crate::Format;
use crate::error::{Mismatch, Result, Sums, check_same};
use crate::extents::Extents;
use crate::parts::{Data, Inputs, Parts};
use crate::vcdiff::Windows;

/// Maximum number of extents of a result, of about 40 bytes each.
const MAX_EXTENTS: usize = 1 << 22;

/// Read size for checksums.
const PIECE: usize = 256 << 10;

/// Metadata of a patch and of both files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The original (BPS, UPS), or only its size (PPF 2, where it is informative).
    pub original: Option<Sums>,
    /// The result (BPS, UPS).
    pub result: Option<Sums>,
    /// The application header of VCDIFF, the metadata of BPS or the description of PPF,
    /// up to 256 bytes. It is untrusted: never open it as a path, and escape it for
    /// display.
    pub description: Vec<u8>,
}

/// The computation of the result.
pub(crate) enum Content {
    /// Ranges of the original and of the patch.
    Parts(Parts, Arc<dyn ReadAt>),
    /// Windows, which are resolved when they are read.
    Windows(Windows),
}

/// A file with a patch applied to it. A read computes only its range. Only the parts,
/// or the recently used windows, are kept in memory.
pub struct Patched {
    original: Arc<dyn ReadAt>,
    content: Content,
    format: Format,
    metadata: Metadata,
}

impl Patched {
    pub(crate) fn new(
        original: Arc<dyn ReadAt>,
        content: Content,
        format: Format,
        metadata: Metadata,
    ) -> Self {
        Self {
            original,
            content,
            format,
            metadata,
        }
    }

    /// Returns the unpatched file.
    pub fn original(&self) -> &Arc<dyn ReadAt> {
        &self.original
    }

    /// Returns the memory of its parts, or the memory limit of its windows, in bytes.
    pub fn memory(&self) -> usize {
        match &self.content {
            Content::Parts(parts, _) => parts.memory(),
            Content::Windows(windows) => windows.memory(),
        }
    }

    /// Verifies all checksums of the patch: original and result (BPS, UPS), all windows
    /// (VCDIFF). PPF and IPS have none. This reads the whole original and the whole
    /// result.
    ///
    /// # Errors
    /// Returns [`Error::WrongOriginal`](crate::Error::WrongOriginal) if one differs, or an
    /// error if a source cannot be read or the patch is damaged.
    pub fn verify(&self) -> Result<()> {
        if let Content::Windows(windows) = &self.content {
            return windows.verify();
        }
        let (Some(original), Some(result)) = (self.metadata.original, self.metadata.result) else {
            return Ok(());
        };
        let found = Some(crc32(&*self.original)?);
        let is_result = result.size == original.size && found == result.crc32;
        let mut expected = result;
        if is_result && found != original.crc32 {
            // UPS undoes itself.
            if self.format != Format::Ups {
                return Err(Mismatch::Patched(result).into());
            }
            expected = original;
        } else {
            check_same(original, self.original.len(), found)?;
        }
        let found = crc32(self)?;
        match Some(found) == expected.crc32 {
            true => Ok(()),
            false => Err(Mismatch::Result { expected, found }.into()),
        }
    }

    /// Returns the result as extents of the original, for writing a patch of another
    /// format. Other bytes are read from the patched file itself.
    ///
    /// # Errors
    /// Returns an error if the patch is damaged or cannot be read.
    pub fn extents(self: &Arc<Self>) -> Result<Extents> {
        let mut extents = Extents::default();
        let whole: Arc<dyn ReadAt> = self.clone();
        let mut is_whole = true;
        self.pieces(0..self.len(), |length, data| {
            is_whole &= extents.count() < MAX_EXTENTS;
            if !is_whole {
                return;
            }
            let start = extents.len();
            match data {
                Some(Data::Original(from)) => extents.append_original(from..from + length),
                Some(Data::Fill(byte)) => extents.append_fill(byte, length),
                _ => extents.append_source(&whole, start..start + length),
            }
        })?;
        match is_whole {
            true => Ok(extents),
            false => {
                let problem = format!("changes more than {MAX_EXTENTS} places");
                Err(Error::Unsupported(problem).into())
            }
        }
    }

    /// Calls `visit` with the length and the data of each piece of a range, in order.
    /// Bytes of a decoded window have no data.
    fn pieces(&self, range: Range<u64>, mut visit: impl FnMut(u64, Option<Data>)) -> Result<()> {
        match &self.content {
            Content::Windows(windows) => windows.pieces(range, visit),
            Content::Parts(parts, _) => {
                let pieces = parts.pieces(range.start, range.end);
                pieces.for_each(|(length, data)| visit(length, Some(data)));
                Ok(())
            }
        }
    }
}

impl ReadAt for Patched {
    fn len(&self) -> u64 {
        match &self.content {
            Content::Parts(parts, _) => parts.len(),
            Content::Windows(windows) => windows.len(),
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        match &self.content {
            Content::Windows(windows) => windows.read(buf, offset),
            Content::Parts(parts, patch) => {
                let inputs = Inputs {
                    original: &*self.original,
                    patch: &**patch,
                };
                parts.read(inputs, buf, offset)
            }
        }
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        let (mut whole, mut pieces) = (None, 0);
        let found = self.pieces(range, |_, data| {
            whole = data;
            pieces += 1;
        });
        match (found, whole, pieces) {
            (Ok(()), Some(Data::Original(from)), 1) => Some((&*self.original, from)),
            _ => None,
        }
    }
}

/// Returns the CRC-32 of a source.
fn crc32(source: &dyn ReadAt) -> Result<u32> {
    let (mut hasher, mut offset) = (crc32fast::Hasher::new(), 0);
    let mut buffer = vec![0; PIECE.min(source.len() as usize)];
    while offset < source.len() {
        let now = (source.len() - offset).min(PIECE as u64);
        let piece = &mut buffer[..now as usize];
        source
            .read_exact_at(piece, offset)
            .map_err(|cause| read_error(offset, now, cause))?;
        hasher.update(piece);
        offset += now;
    }
    Ok(hasher.finalize())
}
