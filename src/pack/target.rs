//! The file of a new archive, which is created atomically.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, RawMode};
use tempfile::{Builder, NamedTempFile, TempPath};

use super::{Error, Result};
use crate::source::mode_for_group;

/// The permissions of an unfinished file.
const PRIVATE: u32 = 0o600;

/// A file that appears at its path when it is complete. Until then it has no
/// name, so that nothing is left of it even if the process is killed; where the
/// file system needs a name, it has a temporary one in the same directory, and
/// is deleted when dropped.
#[derive(Debug)]
pub struct Target {
    file: File,
    temporary: Option<TempPath>,
    path: PathBuf,
    force: bool,
    mode: u32,
    /// The ID of the group that the permissions are meant for.
    group: Option<u32>,
    /// User and group ID of the file that is replaced.
    owner: Option<(u32, u32)>,
}

impl Target {
    /// Creates a file for `path`, which replaces an existing one only with
    /// `force`, and then gets its permissions and, if possible, its owner.
    /// Otherwise those who may not read `source` may not read the new file. A group that
    /// has neither of them may do what all others may.
    ///
    /// # Errors
    /// Returns [`Error::Target`] if the path exists or cannot be written to.
    pub fn new(path: &Path, force: bool, source: &Path) -> Result<Self> {
        Self::with(path, force, source, unnamed)
    }

    /// Like [`Target::new`], with a function that creates files without names.
    fn with(
        path: &Path,
        force: bool,
        source: &Path,
        unnamed: impl FnOnce(&Path) -> Option<File>,
    ) -> Result<Self> {
        let problem = |problem: &str| Err(Error::target(path, problem));
        let found = path.symlink_metadata().ok();
        match &found {
            Some(found) if found.is_dir() => return problem("is a directory"),
            // A device, a pipe or a link would be lost, and cannot be packed again.
            Some(found) if !found.is_file() => return problem("is not a regular file"),
            Some(_) if !force => return problem("exists; --force replaces it"),
            _ => {}
        }
        let (file, temporary) = match unnamed(directory(path)) {
            Some(file) => (file, None),
            None => {
                let create = |path: &Path| {
                    let mut options = File::options();
                    options.read(true).write(true).create_new(true);
                    options.mode(PRIVATE).open(path)
                };
                let (file, temporary) = made(path, create)?.into_parts();
                (file, Some(temporary))
            }
        };
        let source = source.metadata().ok();
        Ok(Self {
            file,
            temporary,
            path: path.to_owned(),
            force,
            mode: match &found {
                Some(found) => found.mode() & 0o777,
                None => new_mode(source.as_ref()),
            },
            group: found.as_ref().or(source.as_ref()).map(Metadata::gid),
            owner: found.map(|found| (found.uid(), found.gid())),
        })
    }

    /// Returns the file to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the temporary path, if the file has one.
    pub fn temporary(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Moves the file to its path.
    ///
    /// # Errors
    /// Returns [`Error::Target`] if the file cannot be written to disk, or if
    /// the path exists by now.
    pub fn keep(self) -> Result<()> {
        let failed = |cause| Error::target(&self.path, cause);
        if let Some((user, group)) = self.owner {
            // Only root may give a file away; a user may keep one of their groups.
            let _ = fchown(&self.file, Some(user), Some(group))
                .or_else(|_| fchown(&self.file, None, Some(group)));
        }
        let group = self.file.metadata().map_err(failed)?.gid();
        let mode = mode_for_group(self.mode, self.group == Some(group));
        let mode = Permissions::from_mode(mode);
        self.file.set_permissions(mode).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        let temporary = match self.temporary {
            Some(temporary) => temporary,
            None if !self.force => return link(&self.file, &self.path).map_err(failed),
            // A link replaces no file, a renamed one does.
            None => made(&self.path, |path| link(&self.file, path))?.into_temp_path(),
        };
        let kept = match self.force {
            true => temporary.persist(&self.path),
            false => temporary.persist_noclobber(&self.path),
        };
        kept.map_err(|error| failed(error.error))
    }
}

/// Returns the directory of a path.
fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// Makes a file with a temporary name beside `path`.
fn made<T>(path: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> Result<NamedTempFile<T>> {
    let directory = directory(path);
    let made = Builder::new().prefix(".hpipack-").make_in(directory, make);
    // Without the temporary name, which `tempfile_in` would add.
    made.map_err(|cause| Error::target(directory, cause))
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

/// Creates a file without a name; `None` if the file system has none.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path) -> Option<File> {
    use rustix::fs::OFlags;

    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::from_raw_mode(PRIVATE)).ok()?;
    // Without /proc it could not get a name.
    descriptor(&file).exists().then(|| file.into())
}

/// Gives a name to a file that has none.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    let follow = AtFlags::SYMLINK_FOLLOW;
    Ok(linkat(CWD, descriptor(file), CWD, path, follow)?)
}

/// Returns the path of an open file.
#[cfg(target_os = "linux")]
fn descriptor(file: &impl std::os::fd::AsRawFd) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_directory: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_regular_file_is_never_replaced() {
        let work = tempfile::tempdir().unwrap();
        let link = work.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let socket = work.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [Path::new("/dev/null"), &link, &socket] {
            let error = Target::new(path, true, path).unwrap_err().to_string();
            assert!(error.ends_with("is not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_message_names_the_directory_and_not_the_temporary_file() {
        let missing = Path::new("/nonexistent/a.hpi");
        let error = Target::new(missing, false, missing)
            .unwrap_err()
            .to_string();
        assert!(error.contains("/nonexistent: No such file"), "{error}");
        assert!(!error.contains(".hpipack"), "{error}");
    }

    type Unnamed = fn(&Path) -> Option<File>;

    /// Writes a file with each way to create it, and returns its metadata.
    fn written(path: &Path, force: bool, source: &Path) -> [Metadata; 2] {
        let ways: [Unnamed; 2] = [|_| None, unnamed];
        let before = path.symlink_metadata();
        ways.map(|unnamed| {
            let target = Target::with(path, force, source, unnamed).unwrap();
            let begun = target.file().metadata().unwrap();
            assert_eq!(begun.mode() & 0o777, PRIVATE, "until it is complete");
            target.keep().unwrap();
            let metadata = path.metadata().unwrap();
            let directory = std::fs::read_dir(directory(path)).unwrap();
            let names = directory.map(|entry| entry.unwrap().file_name());
            let names: Vec<_> = names
                .filter(|name| name.as_encoded_bytes()[0] == b'.')
                .collect();
            assert!(names.is_empty(), "{names:?}");
            if before.is_err() {
                std::fs::remove_file(path).unwrap();
            }
            metadata
        })
    }

    fn file(path: PathBuf, mode: u32) -> PathBuf {
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Returns the permissions that a new file has.
    fn file_by_default(path: &Path) -> u32 {
        File::create(path).unwrap().metadata().unwrap().mode()
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions_and_owner() {
        let work = tempfile::tempdir().unwrap();
        let source = file(work.path().join("source"), 0o644);
        let path = file(work.path().join("old"), 0o640);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65534), Some(65533)).unwrap();
        }
        let old = path.metadata().unwrap();
        for new in written(&path, true, &source) {
            let of = |file: &Metadata| (file.mode(), file.uid(), file.gid());
            assert_eq!(of(&new), of(&old));
        }
    }

    #[test]
    fn a_new_file_is_as_private_as_its_source() {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("new");
        // As far as the umask of the tests permits.
        let usual = file_by_default(&work.path().join("usual"));
        for (mode, expected) in [(0o644, 0o644), (0o600, 0o600), (0o555, 0o644)] {
            let source = file(work.path().join(format!("{mode:o}")), mode);
            for new in written(&path, false, &source) {
                assert_eq!(new.mode() & 0o777, expected & usual, "{mode:o}");
            }
        }
    }

    #[test]
    fn another_group_may_read_a_new_file_if_all_may_read_its_source() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("new");
        let usual = file_by_default(&work.path().join("usual"));
        for (mode, expected) in [(0o640, 0o600), (0o644, 0o644)] {
            let source = file(work.path().join(format!("{mode:o}")), mode);
            std::os::unix::fs::chown(&source, None, Some(65533)).unwrap();
            for new in written(&path, false, &source) {
                assert_eq!(new.mode() & 0o777, expected & usual, "{mode:o}");
            }
        }
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_replaced() {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().join("new");
        let ways: [Unnamed; 2] = [|_| None, unnamed];
        for unnamed in ways {
            let target = Target::with(&path, false, work.path(), unnamed).unwrap();
            std::fs::write(&path, "other").unwrap();
            assert!(target.keep().is_err());
            assert_eq!(std::fs::read(&path).unwrap(), b"other");
            std::fs::remove_file(&path).unwrap();
        }
    }
}
