//! The checksums of files: MD5, SHA-1 from 5.3.9 on, SHA-256 from 6.4 on.

use std::fmt::Write as _;

use md5::Md5;
use sha1::Sha1;
use sha2::Sha256;
use sha2::digest::{Digest as _, DynDigest};

/// A checksum. Its length determines the algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checksum(pub(super) Box<[u8]>);

/// The checksum of a file so far; `None` if the file has no checksum.
pub(super) type Hasher = Option<Box<dyn DynDigest + Send + Sync>>;

impl Checksum {
    /// Reads an MD5 in hexadecimal digits.
    pub(super) fn md5(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 32 || !text.is_ascii() {
            return None;
        }
        let bytes = (0..digits.len()).step_by(2);
        let bytes = bytes.map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok());
        Some(Self(bytes.collect::<Option<_>>()?))
    }

    /// Returns the name of its algorithm, and the checksum of no bytes.
    fn algorithm(&self) -> (&'static str, Box<dyn DynDigest + Send + Sync>) {
        match self.0.len() {
            16 => ("MD5", Box::new(Md5::new())),
            20 => ("SHA-1", Box::new(Sha1::new())),
            _ => ("SHA-256", Box::new(Sha256::new())),
        }
    }

    pub(super) fn hasher(&self) -> Hasher {
        Some(self.algorithm().1)
    }

    /// Compares it with the checksum that was found.
    ///
    /// # Errors
    /// Returns the problem if they differ, with the one that was found first.
    pub(super) fn check(&self, hasher: Hasher) -> Result<(), String> {
        let Some(found) = hasher.map(DynDigest::finalize) else {
            return Ok(());
        };
        match found == self.0 {
            true => Ok(()),
            false => Err(format!(
                "{} is {}, should be {}",
                self.algorithm().0,
                digits(&found),
                digits(&self.0)
            )),
        }
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string never fails.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_sum_is_named_after_that_of_the_bytes() {
        let sum = Checksum::md5("d41d8cd98f00b204e9800998ecf8427e").unwrap();
        assert_eq!(sum.check(sum.hasher()), Ok(()));
        let mut hasher = sum.hasher();
        hasher.as_mut().unwrap().update(b"a");
        let problem = "MD5 is 0cc175b9c0f1b6a831c399e269772661, \
                       should be d41d8cd98f00b204e9800998ecf8427e";
        assert_eq!(sum.check(hasher).unwrap_err(), problem);
        for other in ["", "d41d", "x41d8cd98f00b204e9800998ecf8427e"] {
            assert_eq!(Checksum::md5(other), None);
        }
    }
}
