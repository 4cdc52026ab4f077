//! Secrets that are asked for on the terminal.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use self::guard::Deferred;
pub use self::guard::keep_from_others;

/// Asks on the terminal, without echo; `read` reads the answer. A signal that ends
/// the process takes effect when the terminal is as before.
///
/// # Errors
/// Returns the error of `read` or of the operating system.
pub fn ask_secretly<T>(
    question: &str,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<T> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes -= LocalModes::ECHO;
    let signals = Deferred::begin()?;
    // Before the question, so that an answer that is typed at once is neither shown
    // nor dropped.
    tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
    let asked = (&terminal).write_all(question.as_bytes());
    let mut answer = Answer {
        terminal: &terminal,
        signals: &signals,
    };
    let secret = asked.and_then(|()| read(&mut answer));
    tcsetattr(&terminal, OptionalActions::Flush, &shown)?;
    (&terminal).write_all(b"\n")?;
    secret
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
    pub fn keep_from_others() {
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

    /// Has no effect.
    pub fn keep_from_others() {}

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
