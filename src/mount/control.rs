//! `.hpimount/`, the directory that tells about the mount itself.
//!
//! It can be entered by name and is never listed, as `.zfs` is.

use std::ffi::OsStr;

use super::companion::Companions;
use super::merge::{self, Shadow};
use crate::io;
use crate::namespace::tree::{Index, Label, NewInode, Tree, TreeBuilder};
use crate::view::json;
use crate::volume::{Archive, Entry, FileId, Sink, Storage};

/// Name of the directory in the root of the mount.
pub(super) const NAME: &str = ".hpimount";

/// The file with what does not change: sources, formats, warnings.
const INFO: FileId = FileId(0);

/// The file with the counters, made anew for everybody who looks it up.
const STATS: FileId = FileId(1);

/// The generated files as an archive of their own.
pub(super) struct Control {
    info: Vec<u8>,
    /// File names of the merged archives.
    names: Vec<String>,
}

impl Control {
    /// The files for a mount that `info` describes; `names` are those of its
    /// merged archives.
    pub(super) fn new(info: &serde_json::Value, names: Vec<String>) -> Self {
        Self {
            info: json::pretty(info),
            names,
        }
    }

    /// The tree of the directory, and the index of its `stats.json`. The
    /// files of the directory itself are of archive number `number`; what is
    /// below `shadowed` is of the layers.
    pub(super) fn tree(
        &self,
        number: u32,
        modified: i64,
        layers: &[Tree],
        shadowed: &[Shadow],
    ) -> io::Result<(Tree, Index)> {
        let mut builder = TreeBuilder::new(number, modified, Companions::NONE);
        let root = builder.root();
        let entry = |file, size| Entry {
            file,
            size: Some(size),
            modified: None,
        };
        builder.file(root, b"info.json", entry(INFO, self.info.len() as u64))?;
        let stats = builder.file(root, b"stats.json", entry(STATS, 0))?;
        if layers.is_empty() {
            // Nothing was merged, so nothing can be hidden.
            return Ok((builder.finish(), stats.0));
        }
        let directory = builder.dir(root, b"shadowed")?;
        for shadow in shadowed {
            let name = self.names.get(shadow.layer).map_or("", String::as_str);
            let label = Label::host(OsStr::new(name));
            let archive = builder.add(directory, &label, NewInode::DIR)?;
            merge::add_shadow(&mut builder, archive, &layers[shadow.layer], shadow)?;
        }
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
