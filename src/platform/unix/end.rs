//! Ends of a program: by a signal, or without a reader.

use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Calls `clean_up` when a signal ends the program.
///
/// # Errors
/// Returns an error if the signals cannot be handled.
pub fn clean_up_on_signals(clean_up: impl Fn() + Send + 'static) -> io::Result<()> {
    // With SIGXFSZ handled, a write past the file size limit fails like one to
    // a full disk, instead of terminating the program.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM, SIGXFSZ])?;
    thread::spawn(move || {
        for signal in signals.forever().filter(|&signal| signal != SIGXFSZ) {
            clean_up();
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Ends the program as others in a pipeline whose reader is gone: by SIGPIPE.
pub fn end_without_reader() {
    // Does not return; if it did, the error would be reported.
    let _ = emulate_default_handler(SIGPIPE);
}
