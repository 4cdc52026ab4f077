//! Shared state of the remote sources of a mount: the network, and the cache of blocks.

use std::sync::{Arc, Mutex};

use super::BLOCK;
use super::block::{Block, BlockKey, Fetched};
use super::network::Network;
use crate::memory::budget::Budget;
use crate::memory::cache::Cache;
use crate::sync::flights::Flights;
use crate::sync::lock;
use crate::sync::tally::Tally;

/// The fraction of the budget that blocks fetched ahead of one reader may use.
const AHEAD_SHARE: u64 = 4;

/// Number of shards for the blocks, which are few and large.
const SHARDS: usize = 4;

/// The remote sources of a mount.
pub struct Remote {
    pub(super) network: Arc<Network>,
    pub(super) blocks: Arc<Cache<BlockKey, Block, ()>>,
    pub(super) flights: Mutex<Flights<BlockKey, Fetched>>,
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
            flights: Mutex::default(),
            read_ahead: network.options.read_ahead.min(share),
            hits: Tally::default(),
            disk_hits: Tally::default(),
            changed: Tally::default(),
        })
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

    /// Passes a block, or the reason for its failure, to the threads that wait for it.
    pub(super) fn land(&self, key: &BlockKey, fetched: Fetched) {
        let flight = lock(&self.flights).end(key);
        if let Some(flight) = flight {
            flight.land(fetched);
        }
    }

    /// Returns the maximum number of blocks that are fetched ahead of a reader.
    pub(super) fn ahead_blocks(&self) -> u64 {
        self.read_ahead.div_ceil(BLOCK)
    }
}
