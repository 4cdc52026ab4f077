//! `.hpimount/stats.json`: the counters of a mount.

use serde_json::Value;

use crate::mount::{Ino, Vfs};
use crate::sync::lock;
use hpimount_assets::view::json;

/// Returns a new inode with the contents of `stats.json` at this moment, and
/// counts one lookup of it.
pub(crate) fn snapshot(vfs: &Vfs) -> Ino {
    let mut transients = lock(&vfs.mount.transients);
    let count = transients.count();
    transients.snapshot(vfs.mount.grafts.numbers(), || {
        json::pretty(&stats(vfs, count))
    })
}

/// Returns the contents of `stats.json`.
fn stats(vfs: &Vfs, transients: usize) -> Value {
    let mut stats = vfs.reader().stats.to_json();
    stats["cache"] = vfs.reader().cache_json();
    if let Some(remote) = &vfs.remote {
        stats["remote"] = remote.to_json();
    }
    stats["tree_bytes"] = vfs.mount.grafts.permanent_memory().into();
    stats["transient_inodes"] = transients.into();
    stats
}
