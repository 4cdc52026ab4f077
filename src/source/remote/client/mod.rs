//! The client for objects on servers, and its cache.
//!
//! * `wire`, `store`: requests and responses, by the crate `object_store`; `answer`: the
//!   checks of responses;
//! * `network`: the threads for requests, and retries; `access`: their permissions;
//! * `resolver`: the addresses of servers;
//! * `ahead`: how far ahead of a reader blocks are fetched;
//! * `object`, `folder`: one object, and the objects of a prefix; `pages`: its listing;
//! * `kept`: what all of them share, and the cache of blocks in memory;
//! * `disk`: the cache of blocks for concurrent and later mounts;
//! * `block`: the blocks and their keys.

mod access;
mod ahead;
#[doc(hidden)]
pub mod answer;
mod block;
mod credentials;
mod disk;
mod folder;
mod kept;
mod network;
mod object;
#[doc(hidden)]
pub mod pages;
mod resolver;
mod store;
mod wire;

pub use self::folder::{ListedFile, RemoteFolder};
pub use self::kept::Remote;
pub use self::network::Network;
pub use self::object::RemoteFile;
use super::{Access, RemoteEntry, RemoteOptions, Task, url};

/// Length of a block in bytes, except for the last one of an object. Because
/// requests are for runs of blocks, small blocks do not increase the number of
/// requests of sequential reads, and a random read fetches no more than one.
const BLOCK: u64 = 128 << 10;
