//! Reading and writing files. The permissions of new ones are those of their folder: in the
//! profile of a user, only that user can read them.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::stat::FILE_FLAG_OPEN_REPARSE_POINT;
use hpimount_containers::text::is_windows_name;

/// Error of a file that may not be used in some way, or that is open elsewhere.
const ACCESS_DENIED: i32 = 5;
/// Error of a file that another program does not share.
pub(super) const SHARING_VIOLATION: i32 = 32;
/// Error of reading at the end of a file.
const HANDLE_EOF: i32 = 38;

/// Returns the full path of a file without links. It begins with `\\?\`, so it may be long,
/// and names of devices are plain names in it.
///
/// # Errors
/// Returns the error of the operating system.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => Err(error),
        // Some drivers of file systems cannot say it.
        _ => std::path::absolute(path),
    })
}

/// Checks that files can have the names of a path with slashes. A colon would begin the name
/// of a stream that nobody sees, and a backslash another name.
///
/// # Errors
/// Returns an error if one is not such a name.
pub fn check_names(path: &str) -> io::Result<()> {
    match path.split('/').all(is_windows_name) {
        true => Ok(()),
        false => Err(io::Error::new(
            ErrorKind::InvalidFilename,
            "is not a name that Windows can have",
        )),
    }
}

/// Fills `buf` with the bytes of a file at `offset`.
///
/// # Errors
/// Returns the error of the operating system, or `UnexpectedEof` at the end of the file.
pub fn read_exact_at(file: &File, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buf.is_empty() {
        let read = match file.seek_read(buf, offset) {
            Err(error) if error.raw_os_error() == Some(HANDLE_EOF) => 0,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        buf = &mut buf[read..];
        offset += read as u64;
    }
    Ok(())
}

/// Writes bytes to a file at `offset`.
///
/// # Errors
/// Returns the error of the operating system.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match file.seek_write(bytes, offset) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            written => written?,
        };
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// The permissions of new files: those of their folder.
#[derive(Debug, Clone, Copy)]
pub struct FileMode;

impl FileMode {
    /// Returns the permissions of new files in a directory.
    ///
    /// # Errors
    /// Never fails.
    pub fn in_directory(_directory: &Path, _readable: &[PathBuf]) -> io::Result<Self> {
        Ok(Self)
    }

    /// Creates a directory.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_directory(self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    /// Creates a directory, and those around it, unless they exist.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_directories(self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    /// Creates a file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_file(self, path: &Path) -> io::Result<File> {
        File::options().write(true).create_new(true).open(path)
    }
}

/// The permissions and the owner of a file that is complete: those it has.
#[derive(Debug)]
pub struct Ownership;

impl Ownership {
    /// Returns those of a file that replaces another one.
    pub fn of(_replaced: Option<&Metadata>, _source: Option<&Metadata>) -> Self {
        Self
    }

    /// Has no effect.
    ///
    /// # Errors
    /// Never fails.
    pub fn give(&self, _file: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Creates a file, to read and to write it.
///
/// # Errors
/// Returns the error of the operating system.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true).open(path)
}

/// Opens a file, or creates it. A link is not followed.
///
/// # Errors
/// Returns the error of the operating system.
pub fn open_or_create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    options.open(path)
}

/// Opens a file to read it, and to change its times, with its metadata; `None` if it cannot
/// be opened, or is a link.
pub fn open_private(path: &Path) -> Option<(File, Metadata)> {
    let mut options = File::options();
    options.read(true).write(true);
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    let file = options.open(path).ok()?;
    let found = file.metadata().ok()?;
    found.is_file().then_some((file, found))
}

/// Creates a directory if it does not exist.
///
/// # Errors
/// Returns the error of the operating system.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Returns true: the folder decides who can write to it.
pub fn is_private(_found: &Metadata) -> bool {
    true
}

/// Returns why a file could not be replaced: the system says only that access is denied if
/// another program has it open.
pub fn not_replaced(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(ACCESS_DENIED | SHARING_VIOLATION) => {
            let text = format!("is in use by another program, or protected ({error})");
            io::Error::new(error.kind(), text)
        }
        _ => error,
    }
}

/// Returns `None`: files have names.
pub fn unnamed_file(_directory: &Path) -> Option<File> {
    None
}

/// Is not called: all files have names.
///
/// # Errors
/// Always fails.
pub fn name_file(_file: &File, _path: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Copies nothing.
///
/// # Errors
/// Always fails.
pub fn copy_range(_from: &File, _start: u64, _to: &File, _length: u64) -> io::Result<u64> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns `None`: files have no such attributes.
pub fn attribute(_path: &Path, _name: &str, _value: &mut [u8]) -> Option<usize> {
    None
}

/// Returns the local path that a `file://` URI has, without percent-encoding: `/C:/x`.
pub fn path_of_uri(path: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(path).ok()?;
    let path = text.strip_prefix('/')?;
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    has_drive.then(|| PathBuf::from(path))
}
