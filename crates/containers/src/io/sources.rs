//! Sources of the standard library: bytes in memory, files, shared sources.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::{Origin, ReadAt};

impl ReadAt for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let found = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(buf.len())?));
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buf, offset)
    }
}

impl ReadAt for Bytes {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_ref().read_exact_at(buf, offset)
    }
}

/// An open file. Its length is that of the moment, and 0 if it cannot be found out.
impl ReadAt for File {
    fn len(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buf, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, buf, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    buf = &mut buf[read..];
                    offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buf, offset)
    }

    fn will_need(&self, offset: u64, length: u64) {
        (**self).will_need(offset, length);
    }

    fn origin_at(&self, offset: u64) -> Origin<'_> {
        (**self).origin_at(offset)
    }

    fn unit_at(&self, offset: u64) -> Option<Range<u64>> {
        (**self).unit_at(offset)
    }

    fn beneath(&self, range: Range<u64>) -> Option<(&dyn ReadAt, u64)> {
        (**self).beneath(range)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn all_sources_return_the_same_bytes_and_end_at_the_same_place() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"12345").unwrap();
        let bytes = Bytes::from_static(b"12345");
        let shared: Arc<dyn ReadAt> = Arc::new(bytes.clone());
        let sources: [&dyn ReadAt; 5] =
            [&&b"12345"[..], &b"12345".to_vec(), &bytes, &file, &shared];
        for source in sources {
            let mut read = [0; 3];
            source.read_exact_at(&mut read, 2).unwrap();
            assert_eq!((source.len(), &read), (5, b"345"));
            source.read_exact_at(&mut [], 9).unwrap();
            let error = source.read_exact_at(&mut read, 3).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            assert!(source.read_exact_at(&mut read, u64::MAX - 1).is_err());
        }
    }
}
