//! The mount table of this process, `/proc/self/mountinfo` (proc(5)).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The identity of a mount: the number of its device, and its id. Once it is
/// gone, a later mount may get the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountId {
    mount: OsString,
    device: OsString,
}

impl MountId {
    /// Creates the identity of a mount from what [`parts`](Self::parts) returns.
    pub(super) fn new(mount: &OsStr, device: &OsStr) -> Self {
        Self {
            mount: mount.to_owned(),
            device: device.to_owned(),
        }
    }

    /// Returns its id and the number of its device, as the table has them.
    pub(super) fn parts(&self) -> [&OsStr; 2] {
        [&self.mount, &self.device]
    }

    /// Returns the number of the device as the kernel has it internally: the
    /// minor number in the lower 20 bits, the major number above.
    pub(super) fn device(&self) -> Option<u32> {
        let (major, minor) = self.device.to_str()?.split_once(':')?;
        let [major, minor] = [major, minor].map(str::parse::<u32>);
        Some(major.ok()? << 20 | minor.ok()?)
    }
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its identity.
    pub(super) id: MountId,
    /// Its current mount point.
    pub(super) point: PathBuf,
    /// Type of the file system.
    pub(super) fs_type: OsString,
}

/// The mounts that are visible to this process.
#[derive(Debug)]
pub(super) struct MountTable {
    /// A mount comes after those that it covers.
    entries: Vec<Entry>,
}

impl MountTable {
    /// Reads the current table.
    pub(super) fn read() -> io::Result<Self> {
        Ok(Self::parse(&fs::read("/proc/self/mountinfo")?))
    }

    fn parse(table: &[u8]) -> Self {
        let lines = table.split(|&byte| byte == b'\n');
        Self {
            entries: lines.filter_map(entry).collect(),
        }
    }

    /// Returns the mount that is visible at `point`, an absolute path; `None`
    /// if it is not a mount point.
    pub(super) fn topmost(&self, point: &Path) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.point == point)
    }

    /// Returns the mount with this `id`, wherever it is now.
    pub(super) fn find(&self, id: &MountId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == *id)
    }
}

/// Parses one line of the table.
fn entry(line: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|&byte| byte == b' ').map(OsStr::from_bytes);
    let mount = fields.next()?;
    let device = fields.nth(1)?;
    let point = fields.nth(1)?;
    fields.find(|&field| field == "-")?;
    Some(Entry {
        id: MountId::new(mount, device),
        point: OsString::from_vec(unescape(point.as_bytes())).into(),
        fs_type: fields.next()?.to_owned(),
    })
}

/// Decodes the `\ooo` escapes of spaces, tabs, newlines and backslashes.
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
        let table = MountTable::parse(
            b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            40 22 0:50 / /mnt/a\\040b rw,nosuid shared:2 - tmpfs tmpfs rw\n\
            41 40 0:51 / /mnt/a\\040b ro - fuse.hpimount x.hpi ro\n\
            42 22 0:52 / /mnt/c rw - tmpfs tmpfs rw\n",
        );
        let top = table.topmost(Path::new("/mnt/a b")).unwrap();
        assert_eq!(top.fs_type, "fuse.hpimount");
        assert_eq!(top.id.device, "0:51");
        assert_eq!(top.id.device(), Some(51));
        assert_eq!(table.find(&top.id).unwrap().point, Path::new("/mnt/a b"));
        assert!(table.topmost(Path::new("/mnt")).is_none());
    }

    #[test]
    fn backslashes_are_octal_only_before_three_digits() {
        assert_eq!(unescape(b"a\\134b\\x"), b"a\\b\\x");
    }
}
