//! Unix: files by descriptors.

mod beneath;
mod directory;
mod end;
mod mode;
mod stat;
mod terminal;
mod written;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub use self::beneath::{DIRECTORY_HANDLE, open_beneath, rename_without_replacing};
pub use self::directory::{Directory, open_at, overlay_attribute};
pub use self::end::{clean_up_on_signals, end_without_reader};
pub use self::mode::{
    FileMode, Ownership, PRIVATE, create_private, is_private, make_private_directory,
    open_or_create_private, open_private,
};
pub use self::terminal::{ask_secretly, keep_from_others};
pub use self::written::{copy_range, name_file, unnamed_file};

/// True if extracted files always get names that are valid on Windows.
pub const WINDOWS_NAMES: bool = false;

/// Fills `buf` with the bytes of a file at `offset`.
///
/// # Errors
/// Returns the error of the operating system, or `UnexpectedEof` at the end of the file.
pub fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buf, offset)
}

/// Writes bytes to a file at `offset`.
///
/// # Errors
/// Returns the error of the operating system.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Returns the local path that a `file://` URI has, without percent-encoding.
pub fn path_of_uri(path: Vec<u8>) -> Option<PathBuf> {
    Some(PathBuf::from(OsString::from_vec(path)))
}

/// Returns the size of a page of the kernel's cache, in bytes.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Niceness of a thread in the background. A higher one would delay readers who need a block
/// that the thread is decoding, while all cores are busy.
#[cfg(target_os = "linux")]
const LOW_PRIORITY: i32 = 10;

/// Lowers the priority of the calling thread on Linux. Elsewhere that would be the priority of
/// the process.
pub fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, LOW_PRIORITY) {
        log::debug!("the priority of a thread cannot be lowered: {error}");
    }
}

/// Returns whether the process runs with the rights of root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the numbers of the user and the group of the process.
pub fn user_and_group() -> (u32, u32) {
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    (user.as_raw(), group.as_raw())
}

/// Returns whether the send buffer of a socket has room for a third of its size, by which
/// the kernel calls it writable.
pub fn is_writable(socket: &impl AsFd) -> bool {
    let mut sockets = [PollFd::new(socket, PollFlags::OUT)];
    match poll(&mut sockets, Some(&Timespec::default())) {
        Ok(ready) => ready > 0,
        Err(_) => true,
    }
}

/// Opens a database with a file that has no name afterwards. `open` gets the path of the file
/// and the name of SQLite's access to it, which neither locks it nor opens another one.
///
/// # Errors
/// Returns the error of making a temporary folder, or of removing it.
pub fn unnamed_database<T>(open: impl FnOnce(&Path, &str) -> T) -> io::Result<T> {
    let folder = tempfile::tempdir()?;
    let opened = open(&folder.path().join("database"), "unix-none");
    folder.close()?;
    Ok(opened)
}

/// Permits the process as many open files as its hard limit does.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        log::debug!("the limit of open files is not raised: {error}");
    }
}

/// Reads an extended attribute of a file into `value`, and returns its length; `None` if
/// there is none.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub fn attribute(path: &Path, name: &str, value: &mut [u8]) -> Option<usize> {
    rustix::fs::getxattr(path, name, value).ok()
}

/// Returns `None`: there are no attributes of other kinds.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn attribute(_path: &Path, _name: &str, _value: &mut [u8]) -> Option<usize> {
    None
}

/// Returns the files that an argument means: itself, since shells have expanded wildcards.
pub fn matching(argument: &OsStr) -> Vec<OsString> {
    vec![argument.to_owned()]
}

/// Returns why a file could not be replaced: what the system says.
pub fn not_replaced(error: io::Error) -> io::Error {
    error
}

/// Has no effect: no window is closed with the program.
pub fn keep_window_open(_why: &str) {}

/// Returns the program that opens a URL.
pub fn url_opener() -> Command {
    Command::new(match cfg!(target_vendor = "apple") {
        true => "open",
        false => "xdg-open",
    })
}

/// Checks that files can have the names of a path with slashes: they can.
///
/// # Errors
/// Never fails.
pub fn check_names(_path: &str) -> io::Result<()> {
    Ok(())
}

/// Returns the full path of a file without symbolic links.
///
/// # Errors
/// Returns the error of the operating system.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
