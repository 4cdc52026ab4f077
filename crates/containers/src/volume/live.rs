//! Live folders: folders on disks and servers, which other programs change while they are open.

use super::{FileId, Sink, Volume};
use crate::io::Result;

/// The version of a file that other programs may change.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Differs if the data may differ.
    pub stamp: u64,
    /// Its size in bytes, if that may have changed since it was declared.
    pub len: Option<u64>,
}

/// A folder whose subfolders are listed on demand, and whose files may change.
pub trait LiveFolder {
    /// Lists a directory that was declared by [`Sink::deferred_dir`], and
    /// returns a volume of its files.
    ///
    /// # Errors
    /// Returns [`Error::Listing`](crate::io::Error::Listing) if the source
    /// cannot list it.
    fn list(&self, directory: FileId, sink: &mut dyn Sink) -> Result<Box<dyn Volume>>;

    /// Returns the version of `file`, which changes when its data may have
    /// changed.
    ///
    /// # Errors
    /// Returns [`Error::Read`](crate::io::Error::Read) if the source cannot be
    /// read.
    fn version(&self, file: FileId) -> Result<Version>;

    /// Returns a number that changes if the file numbers refer to other files
    /// when the folder is listed again.
    fn fingerprint(&self) -> u64;

    /// Returns whether reading its files requires requests to a server, so that
    /// nothing should be read unnecessarily.
    fn is_remote(&self) -> bool;
}
