//! The password of encrypted archives, read before the process is confined and
//! before it starts threads.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use self::guard::{Deferred, keep_from_others};
use super::Failure;
use hpimount_containers::crypt::Password;

/// Maximum length of a password in bytes.
const MAX_LENGTH: usize = 4096;

/// Where the password comes from.
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
        PasswordSource::Terminal => ("ask".to_owned(), ask()),
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

/// Asks on the terminal, without echo. A signal that ends
/// the process takes effect when the terminal is as before.
fn ask() -> io::Result<Password> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes -= LocalModes::ECHO;
    let signals = Deferred::begin()?;
    // Before the question, so that an answer that is typed at once is neither shown
    // nor dropped.
    tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
    let asked = (&terminal).write_all(b"Password: ");
    let answer = Answer {
        terminal: &terminal,
        signals: &signals,
    };
    let password = asked.and_then(|()| first_line(answer));
    tcsetattr(&terminal, OptionalActions::Flush, &shown)?;
    (&terminal).write_all(b"\n")?;
    password
}

/// The input on a terminal, until a signal arrives.
struct Answer<'a> {
    terminal: &'a File,
    signals: &'a Deferred,
}

impl Read for Answer<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.signals.wait(self.terminal)?;
        self.terminal.read(buf)
    }
}

#[cfg(target_os = "linux")]
mod guard {
    use std::fs::File;
    use std::io;

    use nix::sys::signal::{SigSet, SigmaskHow, Signal};
    use nix::sys::signalfd::{SfdFlags, SignalFd};
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::retry_on_intr;
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    /// Signals that end the process, and come from the terminal or other programs.
    const ENDING: [Signal; 4] = [
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTERM,
    ];

    /// Keeps other processes of the user from reading the memory of this one.
    pub(super) fn keep_from_others() {
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            log::debug!("the memory is not protected: {error}");
        }
    }

    /// While it exists, signals that end the process are deferred. There must be no
    /// other thread that they could end it in.
    pub(super) struct Deferred {
        arrived: SignalFd,
        /// The mask to be restored.
        mask: SigSet,
    }

    impl Deferred {
        pub(super) fn begin() -> io::Result<Self> {
            let ending = SigSet::from_iter(ENDING);
            Ok(Self {
                arrived: SignalFd::with_flags(&ending, SfdFlags::SFD_CLOEXEC)?,
                mask: ending.thread_swap_mask(SigmaskHow::SIG_BLOCK)?,
            })
        }

        /// Waits until a terminal can be read.
        ///
        /// # Errors
        /// Returns `Interrupted` if a signal has arrived.
        pub(super) fn wait(&self, terminal: &File) -> io::Result<()> {
            let mut either = [
                PollFd::new(terminal, PollFlags::IN),
                PollFd::new(&self.arrived, PollFlags::IN),
            ];
            retry_on_intr(|| poll(&mut either, None))?;
            match either[1].revents().is_empty() {
                true => Ok(()),
                false => Err(io::ErrorKind::Interrupted.into()),
            }
        }
    }

    impl Drop for Deferred {
        fn drop(&mut self) {
            // A signal that has arrived ends the process here. The mask was valid.
            let _ = self.mask.thread_set_mask();
        }
    }
}

/// Other systems: nothing is deferred.
#[cfg(not(target_os = "linux"))]
mod guard {
    use std::fs::File;
    use std::io;

    pub(super) fn keep_from_others() {}

    pub(super) struct Deferred;

    impl Deferred {
        pub(super) fn begin() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn wait(&self, _terminal: &File) -> io::Result<()> {
            Ok(())
        }
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
