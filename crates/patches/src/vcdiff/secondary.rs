//! Compressed sections (section 3.5 of the specification).

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result};

use super::djw;
use super::layout::{ADDRESSES, DATA, INSTRUCTIONS, PIECE, Section, Window};
use super::lzma::Lzma;
use crate::number::read_vcdiff;
use crate::spool::Spool;
use crate::stream::Stream;

/// The method of compressed sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compressor {
    /// Static Huffman codes; each section stands alone.
    Djw,
    /// One xz stream for each kind of section, across all windows.
    Lzma,
}

/// The decoders of the sections of a patch.
pub(super) struct Decoders {
    source: Arc<dyn ReadAt>,
    /// Memory that they may take, in bytes.
    limit: usize,
    /// The streams of LZMA, by the kind of section.
    lzma: Option<[Lzma; 3]>,
}

impl Decoders {
    /// Creates decoders for these windows, which may take `limit` bytes of memory.
    pub(super) fn new(
        source: &Arc<dyn ReadAt>,
        compressor: Compressor,
        windows: &[Window],
        limit: usize,
    ) -> Result<Self> {
        // No dictionary needs to be longer than the decoded data.
        let mut totals = [0_u64; 3];
        for window in windows {
            for (total, number) in totals.iter_mut().zip(0..) {
                let section = &window.sections[number];
                if section.is_spooled {
                    let (length, _) = compressed(source, window, number)?;
                    *total = total.saturating_add(length);
                }
            }
        }
        Ok(Self {
            source: source.clone(),
            limit,
            lzma: (compressor == Compressor::Lzma)
                .then(|| totals.map(|total| Lzma::new(total, limit / 3))),
        })
    }

    /// Decodes the compressed sections of a window, which must be the next one.
    pub(super) fn decode(&mut self, window: &mut Window, spool: &dyn Spool) -> Result<()> {
        for number in [DATA, INSTRUCTIONS, ADDRESSES] {
            if !window.sections[number].is_spooled {
                continue;
            }
            let (length, mut stream) = compressed(&self.source, window, number)?;
            let start = spool.len();
            let mut append = |bytes: &[u8]| {
                let appended = spool.append(bytes);
                appended.map_err(|error| Error::of_output(&error))
            };
            match &mut self.lzma {
                Some(streams) => streams[number].decode(&mut stream, length, &mut append)?,
                None => djw::decode(&mut stream, length, self.limit, &mut append)?,
            }
            window.sections[number] = Section {
                start,
                length,
                is_spooled: true,
            };
        }
        Ok(())
    }
}

/// Returns the decoded length of a compressed section, and a stream of what follows it.
fn compressed(source: &Arc<dyn ReadAt>, window: &Window, number: usize) -> Result<(u64, Stream)> {
    let section = &window.sections[number];
    let range = section.start..section.start + section.length;
    let mut stream = Stream::new(source, range, PIECE.min(section.length as usize));
    let length = read_vcdiff(&mut stream, "decoded length")?;
    // The maximum length of an instruction: an index, a size of ten bytes, an address
    // of ten bytes.
    let most = match number {
        DATA => window.length,
        INSTRUCTIONS => 11 * window.length + 16,
        _ => 10 * window.length + 16,
    };
    if length == 0 || length > most {
        let problem = format!("is {length} bytes for a window of {} bytes", window.length);
        return Err(Error::damaged(section.start, "decoded length", problem));
    }
    Ok((length, stream))
}
