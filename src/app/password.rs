//! The password of encrypted archives, read before the process is confined.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::Failure;
use hpimount_containers::crypt::Password;

/// Maximum length of a password in bytes.
const MAX_LENGTH: u64 = 4096;

/// Where the password comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSource {
    /// The first line of a file.
    File(PathBuf),
    /// The terminal, which is asked.
    Terminal,
}

/// Reads the password.
///
/// # Errors
/// Returns [`Failure::Usage`] if the file or the terminal cannot be read.
pub(super) fn read(source: &PasswordSource) -> Result<Password, Failure> {
    let (shown, line) = match source {
        PasswordSource::File(path) => {
            let line = File::open(path).and_then(|file| first_line(BufReader::new(file)));
            (format!("@{}", path.display()), line)
        }
        PasswordSource::Terminal => ("ask".to_owned(), ask()),
    };
    match line {
        Ok(line) => Ok(Password::new(&line)),
        Err(error) => Err(Failure::Usage(format!("-o password={shown}: {error}"))),
    }
}

fn first_line(from: impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.take(MAX_LENGTH).read_line(&mut line)?;
    let password = line.trim_end_matches(['\r', '\n']);
    match password {
        "" => Err(io::Error::other("is empty")),
        password => Ok(password.to_owned()),
    }
}

/// Asks on the terminal, which does not show what is typed.
fn ask() -> io::Result<String> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes -= LocalModes::ECHO;
    // Before the question, so that an answer that is typed at once is neither shown
    // nor dropped.
    tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
    let asked = (&terminal).write_all(b"Password: ");
    let line = asked.and_then(|()| first_line(BufReader::new(&terminal)));
    tcsetattr(&terminal, OptionalActions::Flush, &shown)?;
    (&terminal).write_all(b"\n")?;
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_the_first_line_without_its_end() {
        assert_eq!(first_line(&b" a b \r\nmore"[..]).unwrap(), " a b ");
        assert_eq!(first_line(&b"alone"[..]).unwrap(), "alone");
        assert!(first_line(&b"\nmore"[..]).is_err());
    }
}
