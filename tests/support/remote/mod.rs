//! Servers on loopback for the tests of remote sources.

pub mod big;
pub mod line;
pub mod origin;
pub mod servers;

use std::ffi::OsStr;
use std::path::PathBuf;

use super::mount::{Fixture, Mount, Run, can_mount, hpimount, run};

/// Mounts `url` with `-o options`. If nothing can be mounted, returns `None`
/// and reports that the test is skipped.
pub fn mounted(url: &str, options: &str) -> Option<Mount> {
    mounted_with(url, options, &[])
}

/// Returns the same with variables in the environment.
pub fn mounted_with(url: &str, options: &str, variables: &[(&str, &str)]) -> Option<Mount> {
    mounted_all(&[url.to_owned()], &["-o", options], variables)
}

/// Mounts several sources, which are not merged, with any arguments.
pub fn mounted_all<S: AsRef<OsStr>>(
    sources: &[S],
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Option<Mount> {
    if !can_mount() {
        return None;
    }
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.args(sources).arg(&fixture.point).arg("--separate");
    program.args(arguments).envs(variables.iter().copied());
    Some(fixture.mount_by(program))
}

/// Runs the program on a `url` that it should refuse.
pub fn refused(url: &str, options: &str) -> Option<Run> {
    refused_with(url, options, &[])
}

/// Returns the same with variables in the environment.
pub fn refused_with(url: &str, options: &str, variables: &[(&str, &str)]) -> Option<Run> {
    if !can_mount() {
        return None;
    }
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.arg(url).arg(&fixture.point).args(["-o", options]);
    Some(run(program.envs(variables.iter().copied())))
}

/// Returns a path that is a URL.
pub fn source(url: &str) -> PathBuf {
    PathBuf::from(url)
}
