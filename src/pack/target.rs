//! The file of a new archive, which is created atomically.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
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
            Ok(_) if !force => return problem("exists; --force replaces it"),
            _ => {}
        }
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let file = Builder::new()
            .prefix(".hpipack-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)
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
