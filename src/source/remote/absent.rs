//! Stubs for programs that are built without remote sources.

use std::io;
use std::sync::Arc;

use super::{Access, RemoteEntry, RemoteOptions, RemoteUrl, Task};
use crate::memory::budget::Budget;
use hpimount_containers::io::ReadAt;

/// The type of values that cannot exist.
#[derive(Debug, Clone)]
enum Never {}

/// The network, which does not exist.
#[derive(Debug)]
pub struct Network(Never);

impl Network {
    /// Fails, because there are no remote sources.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn start<'a>(
        _options: &RemoteOptions,
        _urls: impl Iterator<Item = &'a RemoteUrl>,
        _enter: impl Fn(Task, &Access) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Result<Arc<Self>, String> {
        Err("this program was built without remote sources".to_owned())
    }

    /// Cannot be called.
    pub fn received(&self) -> u64 {
        match self.0 {}
    }
}

/// The remote sources, which do not exist.
pub struct Remote(Never);

impl Remote {
    /// Cannot be called.
    pub fn new(network: &Arc<Network>, _budget: &Arc<Budget>) -> Arc<Self> {
        match network.0 {}
    }

    /// Cannot be called.
    pub fn to_json(&self) -> serde_json::Value {
        match self.0 {}
    }
}

/// An object, which does not exist.
pub struct RemoteFile(Never);

impl RemoteFile {
    /// Cannot be called.
    ///
    /// # Errors
    /// Returns no errors.
    pub fn open(remote: &Arc<Remote>, _url: &RemoteUrl) -> io::Result<Self> {
        match remote.0 {}
    }

    /// Cannot be called.
    pub fn modified(&self) -> Option<i64> {
        match self.0 {}
    }
}

impl ReadAt for RemoteFile {
    fn len(&self) -> u64 {
        match self.0 {}
    }

    fn read_exact_at(&self, _buf: &mut [u8], _offset: u64) -> io::Result<()> {
        match self.0 {}
    }
}

/// A folder, which does not exist.
#[derive(Clone)]
pub struct RemoteFolder(Never);

/// An object in a folder, which does not exist.
pub struct ListedFile {
    /// The last part of its key.
    pub name: String,
    /// Its length in bytes.
    pub len: u64,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    file: RemoteFile,
}

impl ListedFile {
    /// Cannot be called.
    pub fn source(&self) -> &RemoteFile {
        &self.file
    }

    /// Cannot be called.
    pub fn stamp(&self) -> String {
        match self.file.0 {}
    }
}

impl RemoteFolder {
    /// Cannot be called.
    ///
    /// # Errors
    /// Returns no errors.
    pub fn open(remote: &Arc<Remote>, _url: &RemoteUrl) -> io::Result<Self> {
        match remote.0 {}
    }

    /// Cannot be called.
    #[must_use]
    pub fn subfolder(&self, _name: &str) -> Self {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn shown(&self) -> String {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// Returns no errors.
    pub fn list(&self, _limit: usize) -> io::Result<Vec<RemoteEntry>> {
        match self.0 {}
    }
}
