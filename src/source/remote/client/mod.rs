//! The client for objects on servers, and its cache.
//!
//! * `wire`, `store`: requests and responses, by the crate `object_store`;
//! * `network`: the threads for requests, and retries;
//! * `ahead`: how far ahead of a reader blocks are fetched;
//! * `object`, `folder`: one object, and the objects of a prefix;
//! * `disk`: the cache of blocks for concurrent and later mounts.

mod ahead;
mod credentials;
mod disk;
mod folder;
mod kept;
mod network;
mod object;
mod store;
mod wire;

pub use self::folder::{ListedFile, RemoteFolder};
pub use self::kept::Remote;
use self::kept::{BLOCK, Block, identity};
pub use self::network::Network;
pub use self::object::RemoteFile;
use super::{Access, RemoteEntry, RemoteOptions, url};
