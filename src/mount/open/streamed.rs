//! Mods of Grand Theft Auto: the files that the game streams from its archives
//! are found by name alone, in whatever folder of a mod they are (SEMANTICS,
//! Merging).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::mount::order::gta;
use hpimount_containers::io;
use hpimount_containers::volume::{Entry, Name, NodeId, Sink};

/// A sink that puts streamed files of a mod into the root, as if an archive had
/// them, unless the folder of the game has a file at their path.
pub(super) struct Streamed<'a, S> {
    sink: &'a mut S,
    game: &'a Path,
    /// The paths of the directories below the root.
    directories: HashMap<NodeId, PathBuf>,
}

impl<'a, S: Sink> Streamed<'a, S> {
    pub(super) fn new(sink: &'a mut S, game: &'a Path) -> Self {
        Self {
            sink,
            game,
            directories: HashMap::new(),
        }
    }

    /// Returns the path of an entry of a directory.
    fn path(&self, parent: NodeId, name: &Name<'_>) -> PathBuf {
        let parent = self.directories.get(&parent);
        parent
            .map_or_else(PathBuf::new, Clone::clone)
            .join(&*name.text)
    }

    /// Returns the directory where a file is shown.
    fn place(&self, parent: NodeId, name: &Name<'_>) -> NodeId {
        let replaces = || {
            let path = self.path(parent, name);
            path.to_str()
                .is_some_and(|path| gta::find(self.game, path).is_some())
        };
        match gta::is_streamed(&name.text) && !replaces() {
            true => self.sink.root(),
            false => parent,
        }
    }
}

impl<S: Sink> Sink for Streamed<'_, S> {
    fn root(&self) -> NodeId {
        self.sink.root()
    }

    fn expect(&mut self, entries: usize) {
        self.sink.expect(entries);
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, modified: Option<i64>) -> io::Result<NodeId> {
        let path = self.path(parent, &name);
        let node = self.sink.dir(parent, name, modified)?;
        self.directories.insert(node, path);
        Ok(node)
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> io::Result<NodeId> {
        let place = self.place(parent, &name);
        self.sink.file(place, name, entry)
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> io::Result<()> {
        let place = self.place(parent, &name);
        self.sink.link(place, name, file)
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, target: NodeId) -> io::Result<()> {
        self.sink.symlink(parent, name, target)
    }

    fn text_link(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        text: &[u8],
        modified: Option<i64>,
    ) -> io::Result<()> {
        self.sink.text_link(parent, name, text, modified)
    }

    fn stored_link(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> io::Result<NodeId> {
        self.sink.stored_link(parent, name, entry)
    }

    fn permissions(&mut self, node: NodeId, mode: u16) {
        self.sink.permissions(node, mode);
    }
}
