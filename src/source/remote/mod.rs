//! Objects on web servers and in buckets as sources.
//!
//! An object is read in blocks of 128 KiB, which count towards the memory
//! budget. Missing blocks are fetched in runs, one request for each; readers of
//! a pending block wait for it. All bytes are of the version that the object
//! had when it was opened.
//!
//! * `client`: requests, responses, and the cache;
//! * `absent`: the same types for a program that is built without the feature
//!   `remote`. None of them has a value, so that the rest of the program needs
//!   no conditions;
//! * `url`, `options`: URLs, which parts of them may be displayed, and options.

#[cfg(not(feature = "remote"))]
mod absent;
#[cfg(feature = "remote")]
mod client;
mod options;
mod url;

#[cfg(not(feature = "remote"))]
use self::absent as client;

use std::path::PathBuf;

pub use self::client::{ListedFile, Network, Remote, RemoteFile, RemoteFolder};
#[cfg(feature = "remote")]
#[doc(hidden)]
pub use self::client::{answer, pages};
pub use self::options::RemoteOptions;
pub use self::url::{RemoteUrl, Scheme};

/// An entry of a folder.
pub enum RemoteEntry {
    /// Another folder, by its name.
    Folder(String),
    /// An object.
    File(ListedFile),
}

/// Task of a network thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// It looks up the addresses of names.
    Names,
    /// It communicates with servers.
    Servers,
}

/// The access to the system that the network threads need.
#[derive(Debug)]
pub struct Access {
    /// TCP ports of servers to connect to.
    pub ports: Vec<u16>,
    /// Names in lower case of servers that may have local addresses, since users name
    /// them. One that begins with a dot stands for all names below it, as of the buckets
    /// of an endpoint of S3.
    pub hosts: Vec<String>,
    /// Files and directories to read.
    pub readable: Vec<PathBuf>,
    /// Directories to write to.
    pub writable: Vec<PathBuf>,
}
