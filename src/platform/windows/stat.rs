//! Metadata of files by handles.

use std::fs::File;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use winapi_util::file::information;

use crate::platform::{FileIdentity, FileKind, FileStat};

/// Opens directories as well as files.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
/// Opens a link itself.
pub(super) const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Reads the names in a directory. With no right at all, sharing would not be checked.
const FILE_LIST_DIRECTORY: u32 = 1;
/// Others may read and write, and neither rename nor remove.
const FILE_SHARE_READ_AND_WRITE: u32 = 3;

/// Units of times of the system in a second.
const SECOND: i64 = 10_000_000;
/// The year 1970 as a time of the system, which counts from 1601 on.
const EPOCH: i64 = 116_444_736_000_000_000;

/// Opens a file or directory for nothing but questions about it, or a link if `is_link` is
/// set and it is one.
///
/// # Errors
/// Returns the error of the operating system.
pub(super) fn open_to_ask(path: &Path, is_link: bool) -> io::Result<File> {
    let flags = match is_link {
        true => FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
        false => FILE_FLAG_BACKUP_SEMANTICS,
    };
    let mut options = File::options();
    options.access_mode(0).custom_flags(flags).open(path)
}

/// Opens a directory, or a link itself, so that others can neither rename nor remove it.
///
/// # Errors
/// Returns the error of the operating system.
pub(super) fn hold(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options
        .access_mode(FILE_LIST_DIRECTORY)
        .share_mode(FILE_SHARE_READ_AND_WRITE);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    options.open(path)
}

impl FileStat {
    /// Returns the metadata of an open file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn of(file: &File) -> io::Result<Self> {
        let found = information(file)?;
        let kind = file.metadata()?.file_type();
        let written = found.last_write_time().unwrap_or_default();
        let written = i64::try_from(written).unwrap_or_default() - EPOCH;
        let modified = written.div_euclid(SECOND);
        let nanoseconds = written.rem_euclid(SECOND) * 100;
        let born = found.creation_time().unwrap_or_default() as i64;
        Ok(Self {
            identity: FileIdentity::new(found.volume_serial_number(), found.file_index(), born),
            kind: match kind {
                _ if kind.is_symlink() => FileKind::Link,
                _ if kind.is_dir() => FileKind::Directory,
                _ if kind.is_file() => FileKind::File,
                _ => FileKind::Other,
            },
            size: found.file_size(),
            modified,
            // There is no time of a change of attributes.
            times: (nanoseconds, modified, nanoseconds),
        })
    }

    /// Like [`FileStat::of`]: an open handle has no older metadata.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn now_of(file: &File) -> io::Result<Self> {
        Self::of(file)
    }
}
