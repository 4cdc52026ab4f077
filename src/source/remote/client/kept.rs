//! All remote sources of a mount, and their caches.

use std::io;
use std::sync::Arc;

use ring::digest::{Context, SHA256};

use super::folder::RemoteFolder;
use super::network::Network;
use super::object::{BlockKey, Fetched, Id, RemoteFile};
use super::store::Pin;
use super::url::RemoteUrl;
use crate::memory::budget::Budget;
use crate::memory::cache::{Cache, Value};
use crate::sync::flights::Flights;
use crate::sync::tally::Tally;

/// Length of a block in bytes, except for the last one of an object. Because
/// requests are for runs of blocks, small blocks do not increase the number of
/// requests of sequential reads, and a random read fetches no more than one.
pub(super) const BLOCK: u64 = 128 << 10;

/// The fraction of the budget that blocks fetched ahead of one reader may use.
const AHEAD_SHARE: u64 = 4;

/// Number of shards for the blocks, which are few and large.
const SHARDS: usize = 4;

/// The bytes of a block.
#[derive(Debug, Clone)]
pub(super) struct Block(pub(super) Arc<Vec<u8>>);

impl Value for Block {
    fn weight(&self) -> usize {
        self.0.capacity()
    }
}

/// The remote sources of a mount.
pub struct Remote {
    pub(super) network: Arc<Network>,
    pub(super) blocks: Arc<Cache<BlockKey, Block, ()>>,
    pub(super) flights: Flights<BlockKey, Fetched>,
    /// Maximum number of bytes that are fetched ahead of a reader.
    pub(super) read_ahead: u64,
    /// Requested blocks that were found in memory.
    pub(super) hits: Tally,
    /// Blocks that were found on disk.
    pub(super) disk_hits: Tally,
    /// Objects that were found to have changed.
    pub(super) changed: Tally,
}

impl Remote {
    /// Creates the sources that are read by `network`, with blocks that count
    /// towards `budget`.
    pub fn new(network: &Arc<Network>, budget: &Arc<Budget>) -> Arc<Self> {
        let share = budget.limit() as u64 / AHEAD_SHARE;
        Arc::new(Self {
            network: network.clone(),
            blocks: Cache::new(budget, SHARDS),
            flights: Flights::default(),
            read_ahead: network.options.read_ahead.min(share),
            hits: Tally::default(),
            disk_hits: Tally::default(),
            changed: Tally::default(),
        })
    }

    /// Opens the object at `url`, in the version that it has now.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or if its server does not support
    /// ranges.
    pub fn file(self: &Arc<Self>, url: &RemoteUrl) -> io::Result<RemoteFile> {
        RemoteFile::open(self, url)
    }

    /// Returns the folder at `url`; it is listed later.
    ///
    /// # Errors
    /// Returns an error if the environment is contradictory.
    pub fn folder(self: &Arc<Self>, url: &RemoteUrl) -> io::Result<RemoteFolder> {
        RemoteFolder::open(self, url)
    }

    /// Returns its statistics for `stats.json`.
    pub fn to_json(&self) -> serde_json::Value {
        let network = &self.network;
        serde_json::json!({
            "requests": network.wire.requests.get(),
            "bytes": network.bytes.get(),
            "retries": network.retries.get(),
            "blocks_from_memory": self.hits.get(),
            "blocks_from_disk": self.disk_hits.get(),
            "changed": self.changed.get(),
        })
    }

    /// Returns the maximum number of blocks that are fetched ahead of a reader.
    pub(super) fn ahead_blocks(&self) -> u64 {
        self.read_ahead.div_ceil(BLOCK)
    }
}

/// Returns the key of the blocks of an object's version, in memory and on disk.
/// An ETag identifies versions of one URL, but may be equal for different URLs.
pub(super) fn identity(endpoint: &str, url: &str, pin: &Pin) -> Id {
    let mut hash = Context::new(&SHA256);
    for part in [endpoint, url, &pin.stamp()] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(&pin.len().to_le_bytes());
    hash.update(&BLOCK.to_le_bytes());
    let mut id = Id::default();
    id.copy_from_slice(hash.finish().as_ref());
    id
}
