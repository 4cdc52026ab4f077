//! The console, and how a program ends.

use std::io::{self, Read};

use console::Term;
use zeroize::Zeroizing;

/// The exit code of programs that Ctrl-C ends.
const CONTROL_C_EXIT: i32 = 0xC000_013A_u32 as i32;

/// Asks on the console, without echo; `read` reads the answer.
///
/// # Errors
/// Returns the error of `read` or of the operating system.
pub fn ask_secretly<T>(
    question: &str,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<T> {
    let console = Term::stderr();
    console.write_str(question)?;
    let answer = Zeroizing::new(console.read_secure_line()?);
    read(&mut answer.as_bytes())
}

/// Calls `clean_up` when Ctrl-C, or closing the console, ends the program.
///
/// # Errors
/// Returns an error if that cannot be noticed.
pub fn clean_up_on_signals(clean_up: impl Fn() + Send + 'static) -> io::Result<()> {
    let handled = ctrlc::set_handler(move || {
        clean_up();
        std::process::exit(CONTROL_C_EXIT);
    });
    handled.map_err(io::Error::other)
}

/// Ends the program as others in a pipeline whose reader is gone: in silence.
pub fn end_without_reader() {
    std::process::exit(1);
}

/// Has no effect: only programs of the same user can read the memory of this one.
pub fn keep_from_others() {}

/// Has no effect: there is no limit of open files.
pub fn raise_file_limit() {}

/// Returns false: no thread is confined, and files are the same for all users.
pub fn is_root() -> bool {
    false
}
