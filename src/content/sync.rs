//! The locks of what `tests/locks.rs` tries with those of a model checker,
//! and the order in which the locks of a mount are taken.
//!
//! Whoever holds one of these may take one that comes later, and none before:
//!
//! 1. the entrance of a directory (`enter.rs`), while its tree is made;
//! 2. the flight of a block (`cache.rs`), while it is made: of a text, then of
//!    the model that it shows, then of the bytes of a file of the model, then
//!    of those of the archive around that one, and so on outwards;
//! 3. the stream of a long chunk (`read.rs`), between the flight of its piece
//!    and those of the archive around it;
//! 4. `Vfs::planting`, and `Vfs::guests`;
//! 5. all others: the shards of the cache, the heavy model, the lists of
//!    entrances, streams, open files, text sizes and errors, the next inode
//!    number, what the prefetch waits for. They are held for a few
//!    instructions, and nothing is called meanwhile that takes a lock.
//!
//! Nothing is held while the kernel is told something, be it an answer or
//! bytes for its page cache.

pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
