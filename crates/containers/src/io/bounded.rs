//! A buffer of limited length.

use std::io::{self, Write};

/// Bytes in memory, up to a limit. Writing beyond it fails with
/// [`io::ErrorKind::FileTooLarge`].
#[derive(Debug)]
pub struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Bounded {
    /// Creates an empty buffer for at most this number of bytes.
    pub fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            most,
        }
    }

    /// Returns what was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.most - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_limit_is_an_error_and_not_kept() {
        let mut buffer = Bounded::new(4);
        buffer.write_all(b"abc").unwrap();
        let error = buffer.write_all(b"de").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        buffer.write_all(b"d").unwrap();
        assert_eq!(buffer.into_bytes(), b"abcd");
    }
}
