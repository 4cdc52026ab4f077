//! Permissions and owners of new files.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, RawMode};
use tempfile::tempfile_in;

/// The permissions of a file for its owner alone.
pub const PRIVATE: u32 = 0o600;

/// The permissions of new files, as far as the umask permits.
#[derive(Debug, Clone, Copy)]
pub struct FileMode(u32);

impl FileMode {
    /// Returns the permissions of new files in a directory: who may not read one of the
    /// files and directories `readable` may not read them.
    ///
    /// # Errors
    /// Returns the error of creating a file in the directory.
    pub fn in_directory(directory: &Path, readable: &[PathBuf]) -> io::Result<Self> {
        let sources = readable.iter().filter_map(|path| path.metadata().ok());
        let sources: Vec<_> = sources.collect();
        let mode = sources
            .iter()
            .fold(0o666, |mode, source| mode & source.mode());
        // It depends on the directory and on how its file system is mounted.
        let group = tempfile_in(directory)?.metadata()?.gid();
        let is_same = sources.iter().all(|source| source.gid() == group);
        Ok(Self(PRIVATE | mode_for_group(mode, is_same)))
    }

    /// Returns the permissions of directories for such files.
    fn of_directory(self) -> u32 {
        self.0 | (self.0 & 0o444) >> 2
    }

    /// Creates a directory for such files.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_directory(self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(self.of_directory()).create(path)
    }

    /// Creates a directory for such files, and those around it, unless they exist.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_directories(self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(self.of_directory());
        builder.create(path)
    }

    /// Creates a file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn create_file(self, path: &Path) -> io::Result<File> {
        let mut options = File::options();
        options.write(true).create_new(true).mode(self.0).open(path)
    }

    /// Returns the permissions of files for calls of the system.
    pub(super) fn file(self) -> Mode {
        Mode::from_raw_mode(self.0 as RawMode)
    }

    /// Returns the permissions of directories for calls of the system.
    pub(super) fn directory(self) -> Mode {
        Mode::from_raw_mode(self.of_directory() as RawMode)
    }
}

/// The permissions and the owner of a file that is complete.
#[derive(Debug)]
pub struct Ownership {
    mode: u32,
    /// The ID of the group that the permissions are meant for.
    group: Option<u32>,
    /// User and group ID of the file that is replaced.
    owner: Option<(u32, u32)>,
}

impl Ownership {
    /// Returns those of a file that replaces another one: the same, if possible. Without
    /// one, who may not read `source` may not read the new file, and a group that has
    /// neither of them may do what all others may.
    pub fn of(replaced: Option<&Metadata>, source: Option<&Metadata>) -> Self {
        Self {
            mode: match replaced {
                Some(replaced) => replaced.mode() & 0o777,
                None => new_mode(source),
            },
            group: replaced.or(source).map(Metadata::gid),
            owner: replaced.map(|replaced| (replaced.uid(), replaced.gid())),
        }
    }

    /// Gives them to a file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn give(&self, file: &File) -> io::Result<()> {
        if let Some((user, group)) = self.owner {
            // Only root may give a file away; a user may keep one of their groups.
            let _ =
                fchown(file, Some(user), Some(group)).or_else(|_| fchown(file, None, Some(group)));
        }
        let group = file.metadata()?.gid();
        let mode = mode_for_group(self.mode, self.group == Some(group));
        file.set_permissions(Permissions::from_mode(mode))
    }
}

/// Returns permissions for a file that has the same group, or else another one, whose
/// members may do what all others may.
fn mode_for_group(mode: u32, is_same: bool) -> u32 {
    match is_same {
        true => mode,
        false => mode & (!0o070 | (mode & 0o007) << 3),
    }
}

/// Returns the permissions of a new file that is made of a file or directory:
/// who may read that may read the new file, as far as the umask permits.
// The width of permissions differs between systems.
#[allow(clippy::unnecessary_cast)]
fn new_mode(source: Option<&Metadata>) -> u32 {
    let umask = umask().as_raw_mode() as u32;
    let mode = source.map_or(0, |source| source.mode() & 0o666);
    (mode | PRIVATE) & !umask
}

/// Returns the umask. Where it must be changed to be read, threads that create files
/// meanwhile create private ones.
fn umask() -> Mode {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let bits = line.and_then(|bits| RawMode::from_str_radix(bits.trim(), 8).ok());
    bits.map(Mode::from_bits_truncate).unwrap_or_else(|| {
        let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
        rustix::process::umask(umask);
        umask
    })
}

/// Creates a file for this user alone, to read and to write it.
///
/// # Errors
/// Returns the error of the operating system.
pub fn create_private(path: &Path) -> io::Result<File> {
    private_file().read(true).create_new(true).open(path)
}

/// Opens a file for this user alone, or creates it. A symbolic link is not followed.
///
/// # Errors
/// Returns the error of the operating system.
pub fn open_or_create_private(path: &Path) -> io::Result<File> {
    let mut options = private_file();
    options.create(true).custom_flags(libc::O_NOFOLLOW);
    options.open(path)
}

/// Returns options for writing to a file that is created for this user alone.
fn private_file() -> OpenOptions {
    let mut options = File::options();
    options.write(true).truncate(false).mode(PRIVATE);
    options
}

/// Opens a file that was created for this user alone to read it, with its metadata; `None`
/// if it is not such a file, or cannot be opened. A symbolic link is not followed.
pub fn open_private(path: &Path) -> Option<(File, Metadata)> {
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).ok()?;
    let found = file.metadata().ok()?;
    is_private(&found).then_some((file, found))
}

/// Creates a directory for this user alone if it does not exist.
///
/// # Errors
/// Returns the error of the operating system.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Returns whether only this user can have written a file or directory.
pub fn is_private(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}
