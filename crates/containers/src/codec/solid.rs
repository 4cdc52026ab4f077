//! Decoding of a solid stream: files that are packed together, one after another.
//! The checksum of each is computed on the way.

use std::sync::Arc;

use super::PIECE;
use super::reader::Stream;
use crate::io::{Error, Result};
use crate::volume::Decoder;

/// The files of a solid stream.
pub(crate) trait Solid: Send + Sync + 'static {
    /// The checksum of a file so far.
    type Hasher: Send + Sync;

    /// Returns the number of decoded bytes.
    fn size(&self) -> u64;

    /// Returns the number of the first file that begins at `position` or later.
    fn first_file_from(&self, position: u64) -> usize;

    /// Returns the offset of a file in the decoded stream, and its size.
    fn file(&self, number: usize) -> Option<(u64, u64)>;

    /// Returns the checksum of no bytes of a file.
    fn hasher(&self, number: usize) -> Self::Hasher;

    /// Adds bytes to a checksum.
    fn update(hasher: &mut Self::Hasher, bytes: &[u8]);

    /// Compares the checksum of all bytes of a file with the recorded one.
    fn found_sum(&self, number: usize, hasher: Self::Hasher);

    /// Returns the error for damage after `position` of the decoded stream.
    fn damaged(&self, position: u64, problem: &str) -> Error;

    /// Returns the memory of its decoder, in bytes, without small buffers.
    fn decoder_memory(&self) -> usize;
}

/// A decoder of a solid stream.
pub(crate) struct SolidDecoder<S: Solid> {
    reader: Stream,
    files: Arc<S>,
    /// Offset in the decoded stream of the next byte.
    position: u64,
    /// Number of bytes before the first file whose checksum can be computed.
    unsummed: u64,
    /// The file at that position, or the first one after it whose checksum can be
    /// computed, and its checksum so far.
    file: usize,
    hasher: S::Hasher,
}

impl<S: Solid> SolidDecoder<S> {
    /// Creates a decoder whose reader returns the bytes from `position` on.
    pub(crate) fn new(reader: Stream, files: &Arc<S>, position: u64) -> Self {
        let file = files.first_file_from(position);
        let start = files.file(file).map_or(files.size(), |(start, _)| start);
        Self {
            reader,
            files: files.clone(),
            position,
            unsummed: start.saturating_sub(position),
            file,
            hasher: files.hasher(file),
        }
    }

    /// Adds decoded bytes to the checksums of their files.
    fn sum(&mut self, bytes: &[u8]) {
        let unsummed = usize::try_from(self.unsummed).unwrap_or(usize::MAX);
        let (before, mut bytes) = bytes.split_at(unsummed.min(bytes.len()));
        self.unsummed -= before.len() as u64;
        self.position += before.len() as u64;
        while let Some((start, size)) = self.files.file(self.file) {
            let left = usize::try_from(start + size - self.position).unwrap_or(usize::MAX);
            let (of_file, rest) = bytes.split_at(left.min(bytes.len()));
            S::update(&mut self.hasher, of_file);
            self.position += of_file.len() as u64;
            if of_file.len() < left {
                return;
            }
            let next = self.files.hasher(self.file + 1);
            let hasher = std::mem::replace(&mut self.hasher, next);
            self.files.found_sum(self.file, hasher);
            self.file += 1;
            bytes = rest;
        }
        self.position += bytes.len() as u64;
    }
}

impl<S: Solid> Decoder for SolidDecoder<S> {
    fn left(&self) -> u64 {
        self.files.size() - self.position
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        self.reader.read_exact(out).map_err(|error| {
            Error::of_reader(&error, |text| self.files.damaged(self.position, &text))
        })?;
        self.sum(out);
        Ok(())
    }

    /// Not supported, because a copy would use as much memory again.
    fn fork(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + 2 * PIECE as usize + self.files.decoder_memory()
    }
}
