//! Metadata of files, which systems give differently.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType};

use super::Directory;
use crate::platform::{FileIdentity, FileKind, FileStat};

impl Directory {
    /// Returns its metadata.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn stat(&self) -> io::Result<FileStat> {
        FileStat::of(self)
    }

    /// Returns the metadata of a path in it, without following a symbolic link in the last
    /// component.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn stat_of(&self, path: &Path) -> io::Result<FileStat> {
        FileStat::at(self, path)
    }
}

impl FileStat {
    /// Returns the metadata of `path` below the directory `at`, without
    /// following a symbolic link in the last component.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn at(at: impl AsFd, path: &Path) -> io::Result<Self> {
        system::at(at.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Returns the metadata of a path in a directory, or in the current one, following
    /// symbolic links.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn through_links(at: Option<&Directory>, path: &Path) -> io::Result<Self> {
        system::at(at.map_or(CWD, AsFd::as_fd), path, AtFlags::empty())
    }

    /// Returns the metadata of an open file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        system::of(file.as_fd())
    }

    /// Like [`FileStat::at`], as the file system has it now: what the kernel remembers of a
    /// network or FUSE file system is asked for again.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn now_at(at: impl AsFd, path: &Path) -> io::Result<Self> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | system::NOW;
        system::at(at.as_fd(), path, flags)
    }

    /// Like [`FileStat::of`], as the file system has it now.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn now_of(file: impl AsFd) -> io::Result<Self> {
        system::now_of(file.as_fd())
    }
}

/// Returns the type of a file. `device` is the number of a device.
fn kind(file_type: FileType, device: u64) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        FileType::CharacterDevice if device == 0 => FileKind::Whiteout,
        _ => FileKind::Other,
    }
}

/// Returns a time as one number. Times that are centuries apart may have the same.
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .wrapping_mul(1_000_000_000)
        .wrapping_add(nanoseconds)
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use rustix::fs::{Statx, StatxFlags, makedev, statx};

    pub(super) const NOW: AtFlags = AtFlags::STATX_FORCE_SYNC;

    pub(super) fn at(at: BorrowedFd<'_>, path: &Path, flags: AtFlags) -> io::Result<FileStat> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        Ok(from(&statx(at, path, flags, wanted)?))
    }

    pub(super) fn of(file: BorrowedFd<'_>) -> io::Result<FileStat> {
        at(file, Path::new(""), AtFlags::EMPTY_PATH)
    }

    pub(super) fn now_of(file: BorrowedFd<'_>) -> io::Result<FileStat> {
        at(file, Path::new(""), AtFlags::EMPTY_PATH | NOW)
    }

    pub(super) fn from(stat: &Statx) -> FileStat {
        let is_born = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let changed = (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec.into());
        let born = match is_born {
            true => nanoseconds(stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec.into()),
            false => 0,
        };
        let device = makedev(stat.stx_dev_major, stat.stx_dev_minor);
        FileStat {
            identity: FileIdentity::new(device, stat.stx_ino, born),
            kind: kind(
                FileType::from_raw_mode(stat.stx_mode.into()),
                makedev(stat.stx_rdev_major, stat.stx_rdev_minor),
            ),
            size: stat.stx_size,
            modified: stat.stx_mtime.tv_sec,
            times: (stat.stx_mtime.tv_nsec.into(), changed.0, changed.1),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;
    use rustix::fs::{Stat, fstat, statat};

    pub(super) const NOW: AtFlags = AtFlags::empty();

    pub(super) fn at(at: BorrowedFd<'_>, path: &Path, flags: AtFlags) -> io::Result<FileStat> {
        Ok(from(&statat(at, path, flags)?))
    }

    pub(super) fn of(file: BorrowedFd<'_>) -> io::Result<FileStat> {
        Ok(from(&fstat(file)?))
    }

    pub(super) use of as now_of;

    // Integer widths differ between systems.
    #[allow(clippy::unnecessary_cast)]
    fn from(stat: &Stat) -> FileStat {
        let changed = (stat.st_ctime as i64, stat.st_ctime_nsec as i64);
        // File systems without birth times have -1 or 0 there.
        let born = match stat.st_birthtime > 0 {
            true => nanoseconds(stat.st_birthtime as i64, stat.st_birthtime_nsec as i64),
            false => 0,
        };
        FileStat {
            identity: FileIdentity::new(stat.st_dev as u64, stat.st_ino as u64, born),
            kind: kind(FileType::from_raw_mode(stat.st_mode), stat.st_rdev as u64),
            size: stat.st_size as u64,
            modified: stat.st_mtime as i64,
            times: (stat.st_mtime_nsec as i64, changed.0, changed.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_without_a_birth_time_stays_the_same_when_it_changes() {
        use rustix::fs::{StatxFlags, statx};

        let file = tempfile::NamedTempFile::new().unwrap();
        let stat = || {
            let wanted = StatxFlags::BASIC_STATS;
            let mut stat = statx(CWD, file.path(), AtFlags::empty(), wanted).unwrap();
            // Most file systems give it unasked.
            stat.stx_mask &= !StatxFlags::BTIME.bits();
            system::from(&stat)
        };
        let before = stat();
        std::fs::write(&file, "longer").unwrap();
        let after = stat();
        assert_eq!(before.identity, after.identity);
        assert_ne!(before.version(), after.version());
    }
}
