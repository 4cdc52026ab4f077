//! Decryption of files in archives. Each cipher is a source over the encrypted
//! bytes, which can be read anywhere.

mod seven_zip;
mod traditional;
mod winzip;

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

pub(crate) use self::seven_zip::{Key as SevenZipKey, Parameters as SevenZipParameters};
pub(crate) use self::traditional::Traditional;
pub(crate) use self::winzip::{Strength, WinZip};

/// A password. Its memory is overwritten after use.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Arc<Zeroizing<String>>);

impl Password {
    /// Creates a password from its text.
    pub fn new(text: &str) -> Self {
        Self(Arc::new(Zeroizing::new(text.to_owned())))
    }

    /// Returns its bytes in UTF-8.
    fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns its bytes in UTF-16, little-endian.
    fn utf_16(&self) -> Zeroizing<Vec<u8>> {
        // Not growing, which would leave copies.
        let mut bytes = Zeroizing::new(Vec::with_capacity(2 * self.0.len()));
        bytes.extend(self.0.encode_utf16().flat_map(u16::to_le_bytes));
        bytes
    }
}

/// Does not show it.
impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

/// The message for a file without a password.
pub(crate) const NEEDS_PASSWORD: &str = "is encrypted, and needs a password";

/// The message for a password that is not the one of a file.
pub(crate) const WRONG_PASSWORD: &str = "is encrypted with another password";
