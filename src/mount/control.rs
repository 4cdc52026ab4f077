//! `.hpimount/`, the directory that describes the mount itself.
//!
//! It can be looked up but is never listed, like `.zfs`.

use std::io::Write;

use super::merge::{self, Shadow};
use crate::namespace::companion::Companions;
use crate::namespace::tree::{Index, Label, NewInode, Tree, TreeBuilder};
use hpimount_containers::io;
use hpimount_containers::volume::{Content, Entry, FileId, Generate, Name, NodeId, Sink, Volume};

/// Name of the directory in the root of the mount.
pub(super) const NAME: &str = ".hpimount";

/// The file with everything that does not change: sources, formats, warnings.
const INFO: FileId = FileId(0);

/// The file with the counters, generated again for each lookup.
const STATS: FileId = FileId(1);

/// Texts as a volume: file `n` is text `n`; files without a text are empty.
pub(super) struct Texts(Vec<Vec<u8>>);

impl Texts {
    /// Creates a volume of these texts.
    pub(super) fn new(texts: Vec<Vec<u8>>) -> Self {
        Self(texts)
    }
}

impl Generate for Texts {
    fn generate(&self, file: FileId, out: &mut dyn Write) -> io::Result<()> {
        let text = self.0.get(file.0 as usize).map_or(&[][..], Vec::as_slice);
        out.write_all(text)
            .map_err(|error| io::Error::of_output(&error))
    }
}

impl Volume for Texts {
    fn content(&self, _file: FileId) -> io::Result<Content<'_>> {
        Ok(Content::Generated(self))
    }

    fn memory(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}

/// Returns the tree of the directory, whose `info.json` has `info_size` bytes,
/// and the index of its `stats.json`. The files of the directory itself are in
/// volume `volume`; those below `shadowed`, in directories named after their
/// archives, are in the volumes of the layers.
pub(super) fn tree(
    info_size: u64,
    volume: u32,
    modified: i64,
    layers: &[Tree],
    names: &[String],
    shadowed: &[Shadow],
) -> io::Result<(Tree, Index)> {
    let mut builder = TreeBuilder::new(volume, modified, Companions::NONE);
    let root = builder.root();
    let entry = |file, size| Entry {
        file,
        size: Some(size),
        modified: None,
        asset: None,
    };
    builder.file(root, Name::utf_8("info.json"), entry(INFO, info_size))?;
    let stats = builder.file(root, Name::utf_8("stats.json"), entry(STATS, 0))?;
    if !layers.is_empty() {
        let directory = builder.dir(root, Name::utf_8("shadowed"), None)?;
        for shadow in shadowed {
            let name = names.get(shadow.layer).map_or("", String::as_str);
            let archive = add_dir(&mut builder, directory, name)?;
            merge::add_shadow(&mut builder, archive, &layers[shadow.layer], shadow)?;
        }
    }
    Ok((builder.finish(), stats.0))
}

fn add_dir(builder: &mut TreeBuilder, parent: NodeId, name: &str) -> io::Result<NodeId> {
    builder.add(parent, &Label::new(Name::utf_8(name)), NewInode::DIR)
}
