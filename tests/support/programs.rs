//! Other programs that tests run.

use std::path::Path;
use std::process::{Command, Stdio};

use super::skip;

/// Runs a program in a directory; false if it is not installed.
pub fn run_in(directory: &Path, program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    // Arguments may have letters beyond ASCII.
    command.env("LC_ALL", "C.UTF-8");
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !skip::possible(status.is_ok(), &format!("{program} is missing")) {
        return false;
    }
    assert!(status.unwrap().success(), "{program} {arguments:?}");
    true
}
