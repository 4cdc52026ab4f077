//! `.hpimount/`, the directory that tells about the mount itself.
//!
//! It can be entered by name and is never listed, as `.zfs` is.

use super::companion::Companions;
use super::tree::{Index, Tree, TreeBuilder};
use crate::archive::{Archive, Entry, FileId, Sink, Storage};
use crate::io;
use crate::view::json;

/// Name of the directory in the root of the mount.
pub(super) const NAME: &str = ".hpimount";

/// The file with what does not change: sources, formats, warnings.
const INFO: FileId = FileId(0);

/// The file with the counters, made anew for everybody who looks it up.
const STATS: FileId = FileId(1);

/// The generated files as an archive of their own.
pub(super) struct Control {
    info: Vec<u8>,
}

impl Control {
    /// The files for a mount that `info` describes.
    pub(super) fn new(info: &serde_json::Value) -> Self {
        Self {
            info: json::pretty(info),
        }
    }

    /// The tree of the directory, and the index of its `stats.json`.
    pub(super) fn tree(&self, modified: i64) -> io::Result<(Tree, Index)> {
        let mut builder = TreeBuilder::new(modified, Companions::NONE);
        let root = builder.root();
        let entry = |file, size| Entry {
            file,
            size: Some(size),
            modified: None,
        };
        builder.file(root, b"info.json", entry(INFO, self.info.len() as u64))?;
        let stats = builder.file(root, b"stats.json", entry(STATS, 0))?;
        Ok((builder.finish(), stats.0))
    }
}

impl Archive for Control {
    fn storage(&self, _file: FileId) -> Storage {
        Storage::Generated
    }

    fn generate(&self, file: FileId) -> io::Result<Vec<u8>> {
        Ok(match file {
            INFO => self.info.clone(),
            _ => Vec::new(),
        })
    }
}
