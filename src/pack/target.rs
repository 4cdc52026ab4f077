//! The file of a new archive, which is created atomically.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempPath};

use super::{Error, Result};
use crate::platform::{Ownership, create_private, name_file, not_replaced, unnamed_file};

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
    ownership: Ownership,
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
        Self::with(path, force, source, unnamed_file)
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
                let (file, temporary) = made(path, create_private)?.into_parts();
                (file, Some(temporary))
            }
        };
        let source = source.metadata().ok();
        Ok(Self {
            file,
            temporary,
            path: path.to_owned(),
            force,
            ownership: Ownership::of(found.as_ref(), source.as_ref()),
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
        self.ownership.give(&self.file).map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        let temporary = match self.temporary {
            Some(temporary) => temporary,
            None if !self.force => return name_file(&self.file, &self.path).map_err(failed),
            // A link replaces no file, a renamed one does.
            None => made(&self.path, |path| name_file(&self.file, path))?.into_temp_path(),
        };
        let kept = match self.force {
            true => temporary.persist(&self.path),
            false => temporary.persist_noclobber(&self.path),
        };
        kept.map_err(|error| failed(not_replaced(error.error)))
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

#[cfg(test)]
mod tests {
    use std::fs::{Metadata, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;
    use crate::platform::unix::PRIVATE;

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
        let ways: [Unnamed; 2] = [|_| None, unnamed_file];
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
        let ways: [Unnamed; 2] = [|_| None, unnamed_file];
        for unnamed in ways {
            let target = Target::with(&path, false, work.path(), unnamed).unwrap();
            std::fs::write(&path, "other").unwrap();
            assert!(target.keep().is_err());
            assert_eq!(std::fs::read(&path).unwrap(), b"other");
            std::fs::remove_file(&path).unwrap();
        }
    }
}
