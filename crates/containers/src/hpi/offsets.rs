//! Offsets of files and their records, for replacing data.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::Method;
use super::cipher::Cipher;
use super::{Directory, Hpi, Packing};
use crate::format::Options;
use crate::io::{ReadAt, Result};
use crate::volume::{FileId, Sink};

/// The properties of an archive that are needed to replace data.
pub struct Offsets {
    hpi: Hpi,
    /// The directory.
    pub directory: Directory,
}

impl Offsets {
    /// Reads the directory of an archive of either version.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, is not an HPI archive, or
    /// is damaged.
    pub fn read(source: &Arc<dyn ReadAt>, sink: &mut dyn Sink) -> Result<Self> {
        let (hpi, directory) = super::read(source.clone(), sink, Options::default())?;
        Ok(Self { hpi, directory })
    }

    /// Returns the cipher of all bytes except for the header and the line at
    /// the end.
    pub fn cipher(&self) -> Cipher {
        self.hpi.cipher
    }

    /// Returns the absolute offset of the first byte of a file, or of its chunk
    /// table.
    ///
    /// # Errors
    /// Returns an error if there is no such file.
    pub fn start(&self, file: FileId) -> Result<u64> {
        Ok(self.hpi.record(file)?.data_offset.into())
    }

    /// Returns the range of a file's data, including its chunk table. It is
    /// empty if damage hides its end.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or the source cannot be read.
    pub fn data(&self, file: FileId) -> Result<Range<u64>> {
        self.hpi.data(file)
    }

    /// Returns how a file is packed: a method of version 1, or [`Method::Zlib`]
    /// for a packed file of version 2.
    ///
    /// # Errors
    /// Returns an error if there is no such file, or the source cannot be read.
    pub fn method(&self, file: FileId) -> Result<Method> {
        match self.hpi.record(file)?.packing {
            Packing::Stored => Ok(Method::Stored),
            Packing::Run { .. } => Ok(Method::Zlib),
            // In some archives the record differs from the chunks.
            Packing::Table { compression } => match self.hpi.method(file) {
                Ok(name) if name == Method::Lz77.name() => Ok(Method::Lz77),
                Ok(name) if name == Method::Zlib.name() => Ok(Method::Zlib),
                Err(error) if error.is_fault() => Err(error),
                _ => Ok(match Method::from_number(compression) {
                    Some(Method::Lz77) => Method::Lz77,
                    _ => Method::Zlib,
                }),
            },
        }
    }
}
