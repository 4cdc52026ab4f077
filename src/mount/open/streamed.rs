//! Mods of Grand Theft Auto: loaders of mods find files by name alone, in
//! whatever folder of a mod they are (SEMANTICS, Merging).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::order::gta::{self, DataFiles};
use hpimount_containers::io;
use hpimount_containers::volume::{Entry, Name, NodeId, Sink};

/// Places a mod's files where the game looks for them: streamed files in the root, as if
/// an archive had them, and data files beside the game's file of that name. A file at
/// the game folder's own path wins.
pub(super) struct Streamed<'a, S> {
    sink: &'a mut S,
    game: &'a Path,
    data: DataFiles,
    /// The paths of the directories below the root.
    paths: HashMap<NodeId, PathBuf>,
    /// The directories by their paths in lower case.
    directories: HashMap<String, NodeId>,
}

impl<'a, S: Sink> Streamed<'a, S> {
    pub(super) fn new(sink: &'a mut S, game: &'a Path) -> Self {
        Self {
            sink,
            game,
            data: DataFiles::of(game),
            paths: HashMap::new(),
            directories: HashMap::new(),
        }
    }

    /// Returns the path of an entry of a directory.
    fn path(&self, parent: NodeId, name: &str) -> PathBuf {
        let parent = self.paths.get(&parent);
        parent.map_or_else(PathBuf::new, Clone::clone).join(name)
    }

    /// Returns the directory where a file is shown.
    fn place(&mut self, parent: NodeId, name: &Name<'_>) -> io::Result<NodeId> {
        let path = self.path(parent, &name.text);
        let path = path.to_str();
        if path.is_some_and(|path| gta::find(self.game, path).is_some()) {
            return Ok(parent);
        }
        if gta::is_streamed(&name.text) {
            return Ok(self.sink.root());
        }
        match self.data.folder_of(&name.text).map(Path::to_owned) {
            Some(folder) => self.directory(&folder),
            None => Ok(parent),
        }
    }

    /// Returns the directory at a path of the game.
    fn directory(&mut self, path: &Path) -> io::Result<NodeId> {
        let mut directory = self.sink.root();
        for part in path.iter() {
            let name = part.to_string_lossy();
            directory = self.dir(directory, Name::utf_8(&name), None)?;
        }
        Ok(directory)
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
        let path = self.path(parent, &name.text);
        let key = path.to_string_lossy().to_ascii_lowercase();
        // It may be there already, for a data file from another folder.
        if let Some(&node) = self.directories.get(&key) {
            return Ok(node);
        }
        let node = self.sink.dir(parent, name, modified)?;
        self.directories.insert(key, node);
        self.paths.insert(node, path);
        Ok(node)
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> io::Result<NodeId> {
        let place = self.place(parent, &name)?;
        self.sink.file(place, name, entry)
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> io::Result<()> {
        let place = self.place(parent, &name)?;
        self.sink.link(place, name, file)
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> io::Result<()> {
        self.sink.symlink(parent, name, asset)
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
