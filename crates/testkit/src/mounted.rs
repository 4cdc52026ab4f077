//! Mounts of test archives, and their control files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::test_runner::Config;
use serde_json::Value;

use crate::mount::{Fixture, Mount, hpimount};

/// Mounts the bytes of an archive with `-o options`.
pub fn mounted(archive: &[u8], options: &str) -> Mount {
    mounted_by(hpimount(), archive, options)
}

/// Returns the same, mounted by a command with the arguments added.
pub fn mounted_by(mut program: Command, archive: &[u8], options: &str) -> Mount {
    let fixture = Fixture::new();
    fs::write(&fixture.archive, archive).unwrap();
    program.args([&fixture.archive, &fixture.point]);
    fixture.mount_by(with_options(program, options))
}

/// Mounts files as they are on disk.
pub fn mounted_files(sources: &[PathBuf], options: &str) -> Mount {
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.args(sources).arg(&fixture.point);
    fixture.mount_by(with_options(program, options))
}

fn with_options(mut program: Command, options: &str) -> Command {
    if !options.is_empty() {
        program.args(["-o", options]);
    }
    program
}

/// Returns a configuration with few cases, because mounts are slow. The environment can
/// override their number.
pub fn few_cases() -> Config {
    let default = Config::default();
    Config {
        cases: match std::env::var_os("PROPTEST_CASES") {
            Some(_) => default.cases,
            None => 12,
        },
        failure_persistence: None,
        ..default
    }
}

/// Returns the contents of a file in `.hpimount`.
fn control(mount: &Mount, name: &str) -> Value {
    let path = mount.path().join(".hpimount").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns the counters of a mount.
pub fn stats(mount: &Mount) -> Value {
    control(mount, "stats.json")
}

/// Returns one of the counters.
pub fn counter(mount: &Mount, name: &str) -> u64 {
    stats(mount)[name].as_u64().unwrap()
}

/// Returns the constant facts about a mount.
pub fn info(mount: &Mount) -> Value {
    control(mount, "info.json")
}

/// Returns the output of a command, which must succeed without messages.
pub fn output(program: &str, arguments: &[&str], directory: &Path) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{command:?}: {:?} {}",
        output.status,
        text(&output.stderr)
    );
    text(&output.stdout)
}
