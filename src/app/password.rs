//! The password of encrypted archives, read before the process is confined and
//! before it starts threads.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use zeroize::Zeroizing;

use super::Failure;
use crate::platform::{ask_secretly, keep_from_others};
use hpimount_containers::crypt::Password;

/// Maximum length of a password in bytes.
const MAX_LENGTH: usize = 4096;

/// Source of the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSource {
    /// The first line of a file.
    File(PathBuf),
    /// The terminal, which is asked.
    Terminal,
}

/// Reads the password. From now on other processes of the user can neither
/// trace this one nor find the password in a dump of its memory.
///
/// # Errors
/// Returns [`Failure::Usage`] if the file or the terminal cannot be read.
pub(super) fn read(source: &PasswordSource) -> Result<Password, Failure> {
    keep_from_others();
    let (shown, password) = match source {
        PasswordSource::File(path) => (
            format!("@{}", path.display()),
            File::open(path).and_then(first_line),
        ),
        PasswordSource::Terminal => (
            "ask".to_owned(),
            ask_secretly("Password: ", |answer| first_line(answer)),
        ),
    };
    password.map_err(|error| Failure::Usage(format!("-o password={shown}: {error}")))
}

fn first_line(mut from: impl Read) -> io::Result<Password> {
    // Of a fixed size, since growing would leave copies.
    let mut bytes = Zeroizing::new([0; MAX_LENGTH]);
    let mut length = 0;
    while length < MAX_LENGTH && !bytes[..length].contains(&b'\n') {
        match from.read(&mut bytes[length..])? {
            0 => break,
            read => length += read,
        }
    }
    let line = bytes[..length].split(|byte| *byte == b'\n').next();
    let text = str::from_utf8(line.unwrap_or_default()).map_err(io::Error::other)?;
    match text.trim_end_matches('\r') {
        "" => Err(io::Error::other("is empty")),
        text => Ok(Password::new(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_the_first_line_without_its_end() {
        let is = |text: &[u8], password: &str| {
            assert_eq!(first_line(text).unwrap(), Password::new(password));
        };
        is(b" a b \r\nmore", " a b ");
        is(b"alone", "alone");
        assert!(first_line(&b"\nmore"[..]).is_err());
        assert!(first_line(&b"\xff\n"[..]).is_err());
        let long = "x".repeat(2 * MAX_LENGTH);
        is(long.as_bytes(), &long[..MAX_LENGTH]);
    }
}
