//! Programs that wait for changes of a file system, by inotify(7) or
//! fanotify(7).
//!
//! The kernel does not count them as users of a mount, but lists what they wait
//! for in `/proc/PID/fdinfo` (proc_pid_fdinfo(5)). That of other users can be
//! read by root only.

use std::fs;
use std::path::Path;

/// Link targets of the descriptors of these programs.
const KINDS: [&str; 2] = ["anon_inode:inotify", "anon_inode:[fanotify]"];

/// Returns whether some program waits for changes in the file system on
/// `device`, the kernel's internal number of it.
pub(super) fn any(device: u32) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .any(|process| waits(&process.path(), device))
}

/// Returns whether the process with this directory waits for changes.
fn waits(process: &Path, device: u32) -> bool {
    // Processes end at any time, and those of other users are hidden.
    let open = fs::read_dir(process.join("fd"))
        .into_iter()
        .flatten()
        .flatten();
    open.filter(|entry| {
        let target = fs::read_link(entry.path());
        target.is_ok_and(|target| KINDS.iter().any(|kind| target == Path::new(kind)))
    })
    .any(|entry| {
        let info = process.join("fdinfo").join(entry.file_name());
        let info = fs::read_to_string(info).unwrap_or_default();
        info.lines().any(|line| is_of(line, device))
    })
}

/// Returns whether a line describes a mark in the file system on `device`.
fn is_of(line: &str, device: u32) -> bool {
    let mut fields = line.split_ascii_whitespace();
    let is_mark = matches!(fields.next(), Some("inotify" | "fanotify"));
    let number = fields.find_map(|field| field.strip_prefix("sdev:"));
    let number = number.and_then(|number| u32::from_str_radix(number, 16).ok());
    is_mark && number == Some(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_of_its_file_system_only() {
        let line = "inotify wd:1 ino:1 sdev:33 mask:fc6 ignored_mask:0 fhandle-bytes:8";
        assert!(is_of(line, 0x33));
        assert!(!is_of(line, 0x34));
        assert!(is_of("fanotify ino:1 sdev:33 mflags:0 mask:3b", 0x33));
        assert!(!is_of("pos:\t0 sdev:33", 0x33));
    }
}
