//! The contents of block images as a source.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::{BlockImage, CdTrack, detect};
use crate::io::{Error, ReadAt, Result};

/// Maximum number of nested block images around a source.
pub const MAX_NESTED: usize = 4;

/// Returns the source inside the block images around `source`, and the tracks of a CD.
///
/// The last decoded block is kept. A program that reads at many places at once caches
/// the blocks of a [`BlockImage`] itself.
///
/// # Errors
/// Returns an error if the tables of an image are damaged, or if images are nested too
/// deep.
pub fn unwrap(mut source: Arc<dyn ReadAt>) -> Result<(Arc<dyn ReadAt>, Vec<CdTrack>)> {
    let mut tracks = Vec::new();
    for _ in 0..=MAX_NESTED {
        let Some(format) = detect(&*source)? else {
            return Ok((source, tracks));
        };
        let image = (format.open)(source)?;
        tracks = image.tracks().to_vec();
        source = Arc::new(Contents {
            image,
            last: Mutex::default(),
        });
    }
    let text = format!("is a block image in more than {MAX_NESTED} others");
    Err(Error::Unsupported(text))
}

/// The source in a block image.
struct Contents {
    image: Box<dyn BlockImage>,
    /// The block that was decoded last, and its number.
    last: Mutex<Option<(u64, Arc<Vec<u8>>)>>,
}

impl Contents {
    fn block(&self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, block)) if *known == number => Ok(block.clone()),
            _ => {
                let block = self.image.decode(number).map_err(io::Error::other)?;
                let block = Arc::new(block);
                *last = Some((number, block.clone()));
                Ok(block)
            }
        }
    }
}

impl ReadAt for Contents {
    fn len(&self) -> u64 {
        self.image.len()
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        let size = u64::from(self.image.block_size());
        while !buf.is_empty() {
            let block = self.block(offset / size)?;
            let part = block.get((offset % size) as usize..).unwrap_or_default();
            if part.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let (now, later) = buf.split_at_mut(part.len().min(buf.len()));
            now.copy_from_slice(&part[..now.len()]);
            offset += now.len() as u64;
            buf = later;
        }
        Ok(())
    }
}
