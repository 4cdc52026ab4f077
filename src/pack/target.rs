//! The file of a new archive, which is created atomically.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::{Error, Result};

/// A file that appears at its path when it is complete. Until then it has a
/// temporary name in the same directory, and is deleted when dropped.
#[derive(Debug)]
pub struct Target {
    file: NamedTempFile,
    path: PathBuf,
    force: bool,
}

impl Target {
    /// Creates a file for `path`, which replaces an existing one only with
    /// `force`.
    ///
    /// # Errors
    /// Returns [`Error::Target`] if the path exists or cannot be written to.
    pub fn new(path: &Path, force: bool) -> Result<Self> {
        let problem = |problem: &str| Err(Error::target(path, problem));
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => return problem("is a directory"),
            // A device, a pipe or a link would be lost, and cannot be packed again.
            Ok(found) if !found.is_file() => return problem("is not a regular file"),
            Ok(_) if !force => return problem("exists; --force replaces it"),
            _ => {}
        }
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let file = Builder::new()
            .prefix(".hpipack-")
            .make_in(directory, |path| {
                File::options()
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .open(path)
            })
            // Without the temporary name, which `tempfile_in` would add.
            .map_err(|cause| Error::target(directory, cause))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            force,
        })
    }

    /// Returns the file to write to.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Returns the temporary path.
    pub fn temporary(&self) -> &Path {
        self.file.path()
    }

    /// Renames the file to its path.
    ///
    /// # Errors
    /// Returns [`Error::Target`] if the file cannot be written to disk, or if
    /// the path exists by now.
    pub fn keep(self) -> Result<()> {
        let failed = |cause| Error::target(&self.path, cause);
        self.file.as_file().sync_all().map_err(failed)?;
        let kept = if self.force {
            self.file.persist(&self.path)
        } else {
            self.file.persist_noclobber(&self.path)
        };
        kept.map_err(|error| failed(error.error))?;
        Ok(())
    }
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
            let error = Target::new(path, true).unwrap_err().to_string();
            assert!(error.ends_with("is not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_message_names_the_directory_and_not_the_temporary_file() {
        let missing = Path::new("/nonexistent/a.hpi");
        let error = Target::new(missing, false).unwrap_err().to_string();
        assert!(error.contains("/nonexistent: No such file"), "{error}");
        assert!(!error.contains(".hpipack"), "{error}");
    }
}
