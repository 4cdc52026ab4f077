//! Folders on disks and servers with changes on top.

use std::collections::HashMap;
use std::sync::Arc;

use super::layer::{Layer, LayerEntry, entry_of};
use hpimount_containers::changes::NewFile;
use hpimount_containers::io::Result;
use hpimount_containers::text::file_name;
use hpimount_containers::volume::{
    Content, Entry, FileId, LiveFolder, Mountable, Name, NodeId, Sink, Version, Volume,
    no_such_file,
};

/// First number of the entries that the changes have. Those of the directory below
/// are fewer.
const FIRST_NEW: u32 = 1 << 31;

/// Lists a directory without changes.
pub(in crate::mount) type List<'a> = &'a dyn Fn(&mut dyn Sink) -> Result<Box<dyn Volume>>;

/// A directory of a folder with changes on top, as it was when it was listed.
pub(in crate::mount) struct ChangedFolder {
    /// The directory below; `None` for one that only the changes have.
    below: Option<Box<dyn Volume>>,
    /// The changes in directories of the one below, by their numbers there.
    merged: HashMap<FileId, Arc<Layer>>,
    /// The entries that the changes have, by their numbers after [`FIRST_NEW`].
    new: Vec<NewEntry>,
}

/// An entry that the changes have.
enum NewEntry {
    File(NewFile),
    Directory(Arc<Layer>),
}

impl ChangedFolder {
    /// Lists a directory with the changes of `layer`; `below` lists it without.
    ///
    /// # Errors
    /// Returns the errors of `below` and of `sink`.
    pub(in crate::mount) fn list(
        below: Option<List<'_>>,
        layer: &Layer,
        sink: &mut dyn Sink,
    ) -> Result<Self> {
        let mut kept = Kept {
            sink,
            layer,
            merged: HashMap::new(),
        };
        let below = below.map(|list| list(&mut kept)).transpose()?;
        let merged = kept.merged;
        let mut new = Vec::new();
        let root = sink.root();
        for (name, entry) in &layer.entries {
            let number = FileId(FIRST_NEW + new.len() as u32);
            let name = Name::utf_8(name);
            match entry {
                LayerEntry::File {
                    new: file,
                    original,
                } => {
                    sink.file(root, name, entry_of(file, *original, number))?;
                    new.push(NewEntry::File(file.clone()));
                }
                LayerEntry::Directory { layer, is_opaque } if *is_opaque => {
                    sink.deferred_dir(root, name, number, None)?;
                    new.push(NewEntry::Directory(layer.clone()));
                }
                LayerEntry::Directory { .. } | LayerEntry::Whiteout => {}
            }
        }
        Ok(Self { below, merged, new })
    }

    /// Returns the entry that the changes have under a number; `None` for a number of
    /// the directory below.
    fn new_entry(&self, number: FileId) -> Result<Option<&NewEntry>> {
        let Some(number) = number.0.checked_sub(FIRST_NEW) else {
            return Ok(None);
        };
        let found = self.new.get(number as usize);
        found.map(Some).ok_or_else(|| no_such_file(FileId(number)))
    }

    fn below(&self, number: FileId) -> Result<&dyn Volume> {
        self.below.as_deref().ok_or_else(|| no_such_file(number))
    }

    fn live_below(&self, number: FileId) -> Result<&dyn LiveFolder> {
        let live = self.below(number)?.live();
        live.ok_or_else(|| no_such_file(number))
    }
}

impl Volume for ChangedFolder {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        match self.new_entry(file)? {
            None => self.below(file)?.content(file),
            Some(NewEntry::File(new)) => Ok(Content::Extent {
                source: new,
                offset: 0,
            }),
            Some(NewEntry::Directory(_)) => Err(no_such_file(file)),
        }
    }
}

impl Mountable for ChangedFolder {
    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.below.as_ref().map_or(0, |below| below.memory())
            + self.merged.capacity() * size_of::<(FileId, Arc<Layer>)>()
            + self.new.capacity() * size_of::<NewEntry>()
    }

    fn live(&self) -> Option<&dyn LiveFolder> {
        Some(self)
    }
}

impl LiveFolder for ChangedFolder {
    fn list(&self, directory: FileId, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
        let layer = match self.new_entry(directory)? {
            Some(NewEntry::Directory(layer)) => {
                return Ok(Box::new(Self::list(None, layer, sink)?));
            }
            Some(NewEntry::File(_)) => return Err(no_such_file(directory)),
            None => self.merged.get(&directory),
        };
        let live = self.live_below(directory)?;
        match layer {
            Some(layer) => {
                let below = |sink: &mut dyn Sink| live.list(directory, sink);
                Ok(Box::new(Self::list(Some(&below), layer, sink)?))
            }
            None => live.list(directory, sink),
        }
    }

    fn version(&self, file: FileId) -> Result<Version> {
        match self.new_entry(file)? {
            None => self.live_below(file)?.version(file),
            // A file of the folder of changes that is not the same any more cannot be
            // read.
            Some(_) => Ok(Version::default()),
        }
    }

    fn fingerprint(&self) -> u64 {
        let live = self.below.as_ref().and_then(|below| below.live());
        live.map_or(0, LiveFolder::fingerprint)
    }

    fn is_remote(&self) -> bool {
        let live = self.below.as_ref().and_then(|below| below.live());
        live.is_some_and(LiveFolder::is_remote)
    }
}

/// A sink for the entries of the directory below that the changes keep.
struct Kept<'a> {
    sink: &'a mut dyn Sink,
    layer: &'a Layer,
    merged: HashMap<FileId, Arc<Layer>>,
}

impl Kept<'_> {
    /// Returns whether the changes hide an entry that is no directory.
    fn is_hidden(&self, name: &Name<'_>) -> bool {
        let change = self.layer.entries.get(&*file_name(name.clone()));
        !matches!(
            change,
            None | Some(LayerEntry::Directory {
                is_opaque: false,
                ..
            })
        )
    }
}

impl Sink for Kept<'_> {
    fn root(&self) -> NodeId {
        self.sink.root()
    }

    fn expect(&mut self, entries: usize) {
        self.sink.expect(entries);
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, modified: Option<i64>) -> Result<NodeId> {
        self.sink.dir(parent, name, modified)
    }

    fn deferred_dir(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        directory: FileId,
        modified: Option<i64>,
    ) -> Result<NodeId> {
        if self.is_hidden(&name) {
            return Ok(parent);
        }
        let change = self.layer.entries.get(&*file_name(name.clone()));
        if let Some(LayerEntry::Directory { layer, .. }) = change {
            self.merged.insert(directory, layer.clone());
        }
        self.sink.deferred_dir(parent, name, directory, modified)
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        match self.is_hidden(&name) {
            true => Ok(parent),
            false => self.sink.file(parent, name, entry),
        }
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        self.sink.link(parent, name, file)
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()> {
        self.sink.symlink(parent, name, asset)
    }

    fn text_link(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        text: &[u8],
        modified: Option<i64>,
    ) -> Result<()> {
        match self.is_hidden(&name) {
            true => Ok(()),
            false => self.sink.text_link(parent, name, text, modified),
        }
    }
}
