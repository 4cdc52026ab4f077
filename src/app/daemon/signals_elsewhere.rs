//! Windows: what ends a server.

use std::io;
use std::sync::mpsc::{Receiver, channel};

/// Ctrl-C, the end of the session, or the closing of the console.
pub(super) type Signals = Receiver<()>;

/// Catches what ends a program.
///
/// # Errors
/// Returns an error if that cannot be noticed.
pub(super) fn catch() -> io::Result<Signals> {
    let (sender, signals) = channel();
    let handled = ctrlc::set_handler(move || {
        // The receiver may have seen one already.
        let _ = sender.send(());
    });
    handled.map_err(io::Error::other)?;
    Ok(signals)
}

/// Waits for what ends the program.
pub(super) fn wait(signals: Signals) {
    // An error means that it comes no more.
    let _ = signals.recv();
}

/// Has no effect: child processes can always be waited for.
///
/// # Errors
/// Never fails.
pub(super) fn reset_sigchld() -> io::Result<()> {
    Ok(())
}
