//! The programs that tests run: our own, and others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::skip;

/// Returns the path of one of our own programs, which Cargo builds in the parent folder
/// of the test program.
///
/// # Panics
/// Panics if it is not there.
pub fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let program = folder.join(name);
    assert!(
        program.exists(),
        "{} is missing; `cargo build --bins` builds it",
        program.display()
    );
    program
}

/// Runs a program in a directory; false if it is not installed.
pub fn run_in(directory: &Path, program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    // Arguments may have letters beyond ASCII.
    command.env("LC_ALL", "C.UTF-8");
    let output = command.stdin(Stdio::null()).output();
    if !skip::possible(output.is_ok(), &format!("{program} is missing")) {
        return false;
    }
    let output = output.unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    true
}

/// Runs a script of Python in a directory; false if it is not installed with these
/// modules.
pub fn run_python(directory: &Path, modules: &[&str], script: &str, arguments: &[&str]) -> bool {
    let import = format!("import {}", modules.join(", "));
    let imported = Command::new("python3").args(["-c", &import]).output();
    let has_modules = imported.is_ok_and(|output| output.status.success());
    if !skip::possible(has_modules, &format!("Python has no {modules:?}")) {
        return false;
    }
    run_in(directory, "python3", &[&["-c", script], arguments].concat())
}

/// Returns the programs that are installed.
pub fn installed(programs: &[&'static str]) -> Vec<&'static str> {
    let mut found = programs.to_vec();
    found.retain(|program| {
        let ran = Command::new(program).arg("--help").output();
        if ran.is_err() {
            skip::skip_anywhere(&format!("needs {program}"));
        }
        ran.is_ok()
    });
    found
}

/// Asserts that a program accepts a file.
pub fn accepts(program: &str, arguments: &[&str], file: &Path) {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}: {output:?}", file.display());
}
