//! The archive as it is written: where it ends, what is enciphered.

use std::io::{Seek, SeekFrom, Write};

use super::{Error, Result, number};
use crate::archive::hpi::cipher::Cipher;

/// An archive in the making. It grows at its end, and what could not be known
/// before is written over later.
pub(super) struct Output<W> {
    out: W,
    cipher: Cipher,
    end: u32,
}

impl<W: Write + Seek> Output<W> {
    /// An archive that begins where `out` begins, enciphered as a whole.
    pub(super) fn new(out: W, cipher: Cipher) -> Self {
        Self {
            out,
            cipher,
            end: 0,
        }
    }

    /// Absolute offset of what will be appended next.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Appends bytes that are enciphered.
    pub(super) fn append(&mut self, mut bytes: Vec<u8>) -> Result<()> {
        self.cipher.apply(self.end.into(), &mut bytes);
        self.append_plain(&bytes)
    }

    /// Appends bytes as they are.
    pub(super) fn append_plain(&mut self, bytes: &[u8]) -> Result<()> {
        let end = number(u64::from(self.end) + bytes.len() as u64)?;
        self.out.write_all(bytes).map_err(Error::Output)?;
        self.end = end;
        Ok(())
    }

    /// Writes bytes that are enciphered over earlier ones at `offset`.
    pub(super) fn overwrite(&mut self, offset: u32, mut bytes: Vec<u8>) -> Result<()> {
        self.cipher.apply(offset.into(), &mut bytes);
        self.overwrite_plain(offset, &bytes)
    }

    /// Writes bytes as they are over earlier ones at `offset`.
    pub(super) fn overwrite_plain(&mut self, offset: u32, bytes: &[u8]) -> Result<()> {
        let mut write = || {
            self.out.seek(SeekFrom::Start(offset.into()))?;
            self.out.write_all(bytes)?;
            self.out.seek(SeekFrom::Start(self.end.into()))
        };
        write().map_err(Error::Output)?;
        Ok(())
    }

    /// Hands all bytes on to the operating system.
    pub(super) fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(Error::Output)
    }
}
