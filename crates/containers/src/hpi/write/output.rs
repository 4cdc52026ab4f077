//! The output file of an archive, with the cipher.

use std::io::{Seek, SeekFrom, Write};

use super::number;
use crate::hpi::cipher::Cipher;
use crate::write::{Error, Result};

/// An archive under construction. It grows at its end. The writer fills in
/// offsets and sizes later by overwriting their placeholders.
pub(crate) struct Output<W> {
    out: W,
    cipher: Cipher,
    end: u32,
}

impl<W: Write + Seek> Output<W> {
    /// Creates an archive that begins at the start of `out`, enciphered as a
    /// whole.
    pub(crate) fn new(out: W, cipher: Cipher) -> Self {
        Self {
            out,
            cipher,
            end: 0,
        }
    }

    /// Returns the absolute offset of the next append.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Appends bytes, enciphered.
    pub(crate) fn append(&mut self, mut bytes: Vec<u8>) -> Result<()> {
        self.cipher.apply(self.end.into(), &mut bytes);
        self.append_plain(&bytes)
    }

    /// Appends bytes without enciphering them.
    pub(crate) fn append_plain(&mut self, bytes: &[u8]) -> Result<()> {
        let end = number(u64::from(self.end) + bytes.len() as u64)?;
        self.out.write_all(bytes).map_err(Error::Output)?;
        self.end = end;
        Ok(())
    }

    /// Overwrites bytes at `offset`, enciphered.
    pub(crate) fn overwrite(&mut self, offset: u32, mut bytes: Vec<u8>) -> Result<()> {
        self.cipher.apply(offset.into(), &mut bytes);
        self.overwrite_plain(offset, &bytes)
    }

    /// Overwrites bytes at `offset` without enciphering them.
    pub(crate) fn overwrite_plain(&mut self, offset: u32, bytes: &[u8]) -> Result<()> {
        let mut write = || {
            self.out.seek(SeekFrom::Start(offset.into()))?;
            self.out.write_all(bytes)?;
            self.out.seek(SeekFrom::Start(self.end.into()))
        };
        write().map_err(Error::Output)?;
        Ok(())
    }

    /// Flushes all bytes to the operating system.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(Error::Output)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn an_archive_stays_below_4_gib() {
        let mut written = Cursor::new(Vec::new());
        let mut out = Output {
            end: u32::MAX - 3,
            ..Output::new(&mut written, Cipher::PLAIN)
        };
        assert!(out.append(vec![0; 3]).is_ok());
        assert!(matches!(out.append(vec![0]), Err(Error::ArchiveTooLarge)));
        assert_eq!(written.into_inner().len(), 3);
    }

    #[test]
    fn overwritten_bytes_are_enciphered_for_their_offset() {
        let cipher = Cipher::from_header(0x7D);
        let mut written = Cursor::new(Vec::new());
        let mut out = Output::new(&mut written, cipher);
        out.append_plain(b"head").unwrap();
        out.append(vec![0; 6]).unwrap();
        out.overwrite(6, b"hpi".to_vec()).unwrap();
        out.append(b"end".to_vec()).unwrap();
        assert_eq!(out.end(), 13);
        out.finish().unwrap();
        let mut bytes = written.into_inner();
        cipher.apply(4, &mut bytes[4..]);
        assert_eq!(bytes, b"head\0\0hpi\0end");
    }
}
