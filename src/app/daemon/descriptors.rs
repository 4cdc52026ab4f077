//! The open files of the process: those that it was started with, and how many
//! it may have.

use std::ffi::OsString;

use rustix::process::{Resource, getrlimit};

use crate::source::MAX_OPEN;

/// Open files of a mount, besides sources and what each thread opens: standard
/// streams, the FUSE device, logs, signals, and what is open for a moment.
const OTHERS: usize = 20;

/// Open files of each thread: the FUSE device, and a source or a connection.
const OF_A_THREAD: usize = 2;

/// Warns if a mount with this many threads may need more open files than are
/// permitted.
pub(super) fn warn_of_few(threads: usize) {
    let needed = (MAX_OPEN + OTHERS + OF_A_THREAD * threads) as u64;
    if let Some(permitted) = getrlimit(Resource::Nofile).current
        && permitted < needed
    {
        log::warn!(
            "only {permitted} files may be open, so reading many archives may fail; \
             `ulimit -n {needed}` is enough"
        );
    }
}

/// Closes what the process was started with besides the standard streams, since
/// a mount would keep it open as long as it exists. Descriptors that an argument
/// names, such as `@/dev/fd/63`, stay open. Nothing may have been opened before.
pub fn close_inherited(arguments: impl Iterator<Item = OsString>) {
    close_all_but(named(arguments));
}

/// Closes all but the standard streams and those in `kept`, which is in ascending order,
/// also what this process owns: it must not use that any more.
pub(super) fn close_all_but(kept: impl IntoIterator<Item = u32>) {
    let mut next = 3;
    for kept in kept {
        if next < kept {
            close(next, kept - 1);
        }
        next = next.max(kept.saturating_add(1));
    }
    close(next, u32::MAX);
}

/// Returns the descriptors that arguments name, in ascending order.
fn named(arguments: impl Iterator<Item = OsString>) -> Vec<u32> {
    let mut named = Vec::new();
    for argument in arguments {
        let argument = argument.to_string_lossy();
        for directory in ["/dev/fd/", "/proc/self/fd/"] {
            for (at, _) in argument.match_indices(directory) {
                let rest = &argument[at + directory.len()..];
                let end = rest.find(|c: char| !c.is_ascii_digit());
                named.extend(rest[..end.unwrap_or(rest.len())].parse::<u32>());
            }
        }
    }
    named.sort_unstable();
    named
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate has a safe interface")]
fn close(first: u32, last: u32) {
    // SAFETY: the call takes three numbers. Nothing of this process owns one of
    // the descriptors, or uses it any more. Where the call is missing or forbidden,
    // they stay open: until the mount ends, what it was started with stays in use.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
}

#[cfg(not(target_os = "linux"))]
fn close(_first: u32, _last: u32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_that_arguments_name_are_found() {
        let arguments = [
            "hpimount",
            "/dev/fd/7",
            "-o",
            "password=@/dev/fd/63,header=@/proc/self/fd/5",
            "/dev/fd/",
            "/dev/fd/99999999999",
        ];
        let found = named(arguments.into_iter().map(OsString::from));
        assert_eq!(found, [5, 7, 63]);
    }
}
