//! A process that shows desktop notifications of a mount, whose own threads may start no
//! programs.
//!
//! It is forked before anything is read, shows what it gets through a pipe, and ends with the
//! process of the mount, which holds the other end.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};

use nix::unistd::ForkResult;

use super::background::fork_alone;
use super::desktop::notify;
use super::guard::detach;

/// Maximum length of a text in bytes: a pipe takes a message of this length whole, or not.
const MAX_TEXT: usize = 1024;

/// The process, as that of the mount sees it.
#[derive(Debug)]
pub(super) struct Notifier(PipeWriter);

impl Notifier {
    /// Starts the process. No thread may have been started before.
    ///
    /// # Errors
    /// Returns an error if the system refuses.
    pub(super) fn start() -> io::Result<Self> {
        let (messages, notifier) = pipe()?;
        match fork_alone()? {
            ForkResult::Parent { .. } => {
                // Non-blocking: a report does not wait for a desktop that hangs.
                rustix::io::ioctl_fionbio(&notifier, true)?;
                Ok(Self(notifier))
            }
            ForkResult::Child => {
                // Otherwise the pipe would never end.
                drop(notifier);
                if detach(c"hpimount-notify", &messages).is_ok() {
                    show_all(messages);
                }
                std::process::exit(0);
            }
        }
    }

    /// Shows a notification, unless many wait to be shown.
    pub(super) fn notify(&self, title: &str, text: &str) {
        let message = [title, text].map(|text| &text[..text.floor_char_boundary(MAX_TEXT)]);
        let message = message.map(|text| text.replace('\0', " ") + "\0").concat();
        // It is in the log as well.
        let _ = (&self.0).write_all(message.as_bytes());
    }
}

/// Shows notifications until the pipe ends.
fn show_all(messages: PipeReader) {
    let mut texts = BufReader::new(messages).split(0).map_while(Result::ok);
    while let (Some(title), Some(text)) = (texts.next(), texts.next()) {
        let [title, text] = [title, text].map(|text| String::from_utf8_lossy(&text).into_owned());
        notify(&title, &text);
    }
}
