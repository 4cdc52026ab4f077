//! Objects on web servers and in buckets as sources.
//!
//! An object is read in blocks of 128 KiB, which count towards the memory
//! budget. Missing blocks are fetched in runs, one request for each; readers of
//! a pending block wait for it. All bytes are of the version that the object
//! had when it was opened.
//!
//! * `url`: URLs, and which parts of them may be displayed;
//! * `wire`, `store`: requests and responses, by the crate `object_store`;
//! * `network`: the threads for requests, and retries;
//! * `ahead`: how far ahead of a reader blocks are fetched;
//! * `object`, `folder`: one object, and the objects of a prefix;
//! * `disk`: the cache of blocks for concurrent and later mounts.

#[cfg(not(feature = "remote"))]
mod absent;
#[cfg(feature = "remote")]
mod ahead;
#[cfg(feature = "remote")]
mod credentials;
#[cfg(feature = "remote")]
mod disk;
#[cfg(feature = "remote")]
mod folder;
#[cfg(feature = "remote")]
mod kept;
#[cfg(feature = "remote")]
mod network;
#[cfg(feature = "remote")]
mod object;
mod options;
#[cfg(feature = "remote")]
mod store;
mod url;
#[cfg(feature = "remote")]
mod wire;

use std::path::PathBuf;

#[cfg(not(feature = "remote"))]
pub use self::absent::{ListedFile, Network, Remote, RemoteFile, RemoteFolder};
#[cfg(feature = "remote")]
pub use self::folder::{ListedFile, RemoteFolder};
#[cfg(feature = "remote")]
pub use self::kept::Remote;
#[cfg(feature = "remote")]
use self::kept::{BLOCK, Block, identity};
#[cfg(feature = "remote")]
pub use self::network::Network;
#[cfg(feature = "remote")]
pub use self::object::RemoteFile;
pub use self::options::RemoteOptions;
pub use self::url::{RemoteUrl, Scheme};

/// An entry of a folder.
pub enum RemoteEntry {
    /// Another folder, by its name.
    Folder(String),
    /// An object.
    File(ListedFile),
}

/// The access to the system that the network threads need.
#[derive(Debug)]
pub struct Access {
    /// TCP ports to connect to.
    pub ports: Vec<u16>,
    /// Files and directories to read.
    pub readable: Vec<PathBuf>,
    /// Directories to write to.
    pub writable: Vec<PathBuf>,
}
