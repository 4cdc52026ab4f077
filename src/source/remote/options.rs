//! Options of remote sources.

use std::path::PathBuf;
use std::time::Duration;

/// Options for reading remote sources.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Maximum number of bytes that are fetched ahead of a reader.
    pub read_ahead: u64,
    /// Timeout of a read while no byte arrives.
    pub timeout: Duration,
    /// Directory of the cache for concurrent and later mounts.
    pub block_cache: Option<PathBuf>,
    /// Maximum size of this directory in bytes.
    pub block_cache_size: u64,
    /// File with an Authorization header for web servers.
    pub header: Option<PathBuf>,
    /// True if public servers may redirect to local addresses.
    pub allow_local: bool,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            read_ahead: 8 << 20,
            timeout: Duration::from_secs(10),
            block_cache: None,
            block_cache_size: 1 << 30,
            header: None,
            allow_local: false,
        }
    }
}
