//! The mount table of this process, `/proc/self/mountinfo` (proc(5)).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What tells a mount from all others, also from a later one at its place:
/// the number of its device, and its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountId {
    mount: OsString,
    device: OsString,
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Entry {
    /// What tells it from other mounts.
    pub(super) id: MountId,
    /// Type of the file system.
    pub(super) fs_type: OsString,
}

/// The mount that is visible at `point`, an absolute path, if it is a mount
/// point at all.
pub(super) fn topmost(point: &Path) -> io::Result<Option<Entry>> {
    let table = fs::read("/proc/self/mountinfo")?;
    Ok(find_last(&table, point.as_os_str()))
}

/// The last line for a mount point is that of the mount on top.
fn find_last(table: &[u8], point: &OsStr) -> Option<Entry> {
    table.rsplit(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b' ').map(OsStr::from_bytes);
        let mount = fields.next()?;
        let device = fields.nth(1)?;
        let path = fields.nth(1)?;
        if unescape(path.as_bytes()) != point.as_bytes() {
            return None;
        }
        fields.find(|&field| field == "-")?;
        Some(Entry {
            id: MountId {
                mount: mount.to_owned(),
                device: device.to_owned(),
            },
            fs_type: fields.next()?.to_owned(),
        })
    })
}

/// Undoes the `\ooo` with which spaces, tabs, newlines and backslashes are
/// written.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| {
            let digits = str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match octal {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_on_a_path_is_the_one_on_top() {
        let table = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            40 22 0:50 / /mnt/a\\040b rw,nosuid shared:2 - tmpfs tmpfs rw\n\
            41 40 0:51 / /mnt/a\\040b ro - fuse.hpimount x.hpi ro\n\
            42 22 0:52 / /mnt/c rw - tmpfs tmpfs rw\n";
        let top = find_last(table, OsStr::new("/mnt/a b")).unwrap();
        assert_eq!(top.fs_type, "fuse.hpimount");
        assert_eq!(top.id.device, "0:51");
        assert!(find_last(table, OsStr::new("/mnt")).is_none());
    }

    #[test]
    fn backslashes_are_octal_only_before_three_digits() {
        assert_eq!(unescape(b"a\\134b\\x"), b"a\\b\\x");
    }
}
