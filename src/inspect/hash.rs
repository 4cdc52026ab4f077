//! Checksums of files as the mount shows them.

use std::io::{self, ErrorKind, Write};

use sha2::{Digest, Sha256};

use super::{Contents, Trouble};
use crate::mount::{Ino, Vfs};

/// Returns the SHA-256 of the bytes of a file.
///
/// # Errors
/// Returns an error if the file cannot be read to its end.
pub(super) fn sha256(vfs: &Vfs, ino: Ino) -> Result<[u8; 32], Trouble> {
    let mut hash = Sha256::new();
    for piece in Contents(vfs).pieces(ino) {
        hash.update(&*piece?);
    }
    Ok(hash.finalize().into())
}

/// SHA-256 and length of some bytes.
pub(super) type Hash = ([u8; 32], u64);

/// Hashes the bytes written to it, up to a limit. Writing beyond it fails with
/// [`ErrorKind::FileTooLarge`].
pub(super) struct Hasher {
    hash: Sha256,
    length: u64,
    most: u64,
}

impl Hasher {
    pub(super) fn new(most: u64) -> Self {
        Self {
            hash: Sha256::new(),
            length: 0,
            most,
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
    }

    pub(super) fn finish(self) -> Hash {
        (self.hash.finalize().into(), self.length)
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.length + bytes.len() as u64 > self.most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.update(bytes);
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
    fn bytes_up_to_the_limit_are_hashed_and_counted() {
        let mut hasher = Hasher::new(4);
        hasher.write_all(b"ab").unwrap();
        let refused = hasher.write_all(b"cde").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::FileTooLarge);
        hasher.write_all(b"cd").unwrap();
        assert_eq!(hasher.finish(), (Sha256::digest(b"abcd").into(), 4));
    }
}
