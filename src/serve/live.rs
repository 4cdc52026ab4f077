//! Trees that follow a folder of edits (DIR), as `site` and `nfs` see them. `edited` has the
//! implementation, on systems that can watch DIR.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::nodes::Nodes;
use crate::content::OverlayFile;
use crate::mount::Vfs;

/// A tree that follows DIR.
pub(super) trait LiveTree: Nodes + Send + Sync {
    /// Returns the version after all changes so far.
    fn now(&self) -> Arc<dyn Snapshot>;
}

/// A version, which stays as it is.
pub(super) trait Snapshot: Send + Sync {
    /// Returns the tree of the sources with the changes.
    fn vfs(&self) -> &Arc<Vfs>;

    /// Returns a number that changes with DIR.
    fn folder_version(&self) -> u64;

    /// Returns the file of the overlay at a path.
    fn overlay(&self, path: &str) -> Option<OverlayFile>;

    /// Returns the names of the overlay's files in a directory.
    fn overlay_names(&self, directory: &str) -> BTreeSet<String>;

    /// Returns the paths of all files of DIR that are shown.
    fn paths(&self) -> BTreeSet<String>;
}
