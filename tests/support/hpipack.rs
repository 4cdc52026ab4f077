//! hpipack as users run it.

use std::path::Path;
use std::process::{Command, Output};

/// The program.
pub const HPIPACK: &str = env!("CARGO_BIN_EXE_hpipack");

/// Runs it with these options to pack a directory.
pub fn hpipack(options: &[&str], dir: &Path, out: &Path) -> Output {
    let mut command = Command::new(HPIPACK);
    command.args(options).arg(dir).arg(out).output().unwrap()
}

/// Returns what it wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
