//! Offsets of files and their records, for replacing data.

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use super::chunk::Method;
use super::cipher::Cipher;
use super::record::{Directory, File1, VERSION_1, VERSION_2};
use super::{Hpi, Packing, TRAILER, has_trailer, v1, v2, version};
use crate::format::Options;
use crate::io::{self, Error, ReadAt, Result};
use crate::volume::{FileId, Sink};

/// Offset of `compression` in a record of version 1.
const COMPRESSION: u64 = offset_of!(File1, compression) as u64;

/// The properties of an archive that are needed to replace data.
pub struct Offsets {
    hpi: Hpi,
    /// The position of each file's record: its absolute offset, or in version 2
    /// its offset in the decoded directory block.
    pub records: Vec<u32>,
    /// The directory.
    pub directory: Directory,
    /// Absolute offset of the line at the end, or of the end of the source.
    pub end: u64,
}

impl Offsets {
    /// Reads the directory of an archive of either version.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, is not an HPI archive, or
    /// is damaged.
    pub fn read(source: &Arc<dyn ReadAt>, sink: &mut dyn Sink) -> Result<Self> {
        let options = Options::default();
        let (hpi, records, directory) = match version(&**source) {
            Some(VERSION_1) => v1::read(source.clone(), sink, options)?,
            Some(VERSION_2) => v2::read(source.clone(), sink, options)?,
            _ => return Err(Error::UnknownFormat),
        };
        let end = match has_trailer(&**source)? {
            true => source.len() - TRAILER.len() as u64,
            false => source.len(),
        };
        Ok(Self {
            hpi,
            records,
            directory,
            end,
        })
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
        let start = self.start(file)?;
        match self.hpi.stored_size(file) {
            Ok(size) => Ok(start..start + size),
            Err(error) if error.is_fault() => Err(error),
            Err(_) => Ok(start..start),
        }
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
            Packing::Table => match self.hpi.method(file) {
                Ok(name) if name == Method::Lz77.name() => Ok(Method::Lz77),
                Ok(name) if name == Method::Zlib.name() => Ok(Method::Zlib),
                Err(error) if error.is_fault() => Err(error),
                _ => self.stated_method(file),
            },
        }
    }

    /// Returns the method in the record of a file of version 1.
    fn stated_method(&self, file: FileId) -> Result<Method> {
        let record = self.records.get(file.0 as usize).copied();
        let offset = u64::from(record.unwrap_or_default()) + COMPRESSION;
        let mut byte = io::read_vec(&*self.hpi.source, offset, 1, "compression")?;
        self.hpi.cipher.apply(offset, &mut byte);
        Ok(match Method::from_number(byte[0]) {
            Some(Method::Lz77) => Method::Lz77,
            _ => Method::Zlib,
        })
    }
}
