//! A sink that records all declarations of an archive.

use std::collections::BTreeMap;
use std::sync::Arc;

use hpimount_containers::format::{Input, Options};
use hpimount_containers::formats;
use hpimount_containers::io::{Error, ReadAt, Result};
use hpimount_containers::volume::{Content, Entry, FileId, Name, NodeId, Sink, Volume};

/// One node of a recorded tree.
#[derive(Debug, Clone)]
pub enum Node {
    Dir(Vec<(Vec<u8>, NodeId)>),
    File(Entry),
    Symlink(Entry),
}

/// A recorded tree. Node 0 is the root.
#[derive(Debug, Clone)]
pub struct Recorder {
    pub nodes: Vec<Node>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            nodes: vec![Node::Dir(Vec::new())],
        }
    }
}

impl Recorder {
    /// Returns the entries of a directory, in the order of the listing.
    pub fn list(&self, dir: NodeId) -> &[(Vec<u8>, NodeId)] {
        match &self.nodes[dir.0 as usize] {
            Node::Dir(entries) => entries,
            other => panic!("{dir:?} is not a directory but {other:?}"),
        }
    }

    /// Returns the node at a path below the root.
    ///
    /// # Panics
    /// Panics if the path has no node.
    pub fn find(&self, path: &str) -> NodeId {
        path.split('/').fold(self.root(), |dir, name| {
            let entries = self.list(dir);
            let found = entries.iter().find(|(entry, _)| entry == name.as_bytes());
            let names: Vec<_> = entries.iter().map(|(name, _)| text(name)).collect();
            found
                .unwrap_or_else(|| panic!("no {name} of {path} in {names:?}"))
                .1
        })
    }

    /// Returns the names in the directory at `path`.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = self.list(self.find(path));
        entries.iter().map(|(name, _)| text(name)).collect()
    }

    /// Returns the file of a node, following a symbolic link.
    pub fn entry(&self, node: NodeId) -> Entry {
        match &self.nodes[node.0 as usize] {
            Node::File(entry) | Node::Symlink(entry) => *entry,
            Node::Dir(_) => panic!("{node:?} is a directory"),
        }
    }

    fn add(&mut self, parent: NodeId, name: &[u8], node: Node) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.name(parent, name, id);
        id
    }

    fn name(&mut self, parent: NodeId, name: &[u8], node: NodeId) {
        match &mut self.nodes[parent.0 as usize] {
            Node::Dir(entries) => entries.push((name.to_vec(), node)),
            other => panic!("{parent:?} is not a directory but {other:?}"),
        }
    }
}

impl Sink for Recorder {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, _modified: Option<i64>) -> Result<NodeId> {
        Ok(self.add(parent, name.raw, Node::Dir(Vec::new())))
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        Ok(self.add(parent, name.raw, Node::File(entry)))
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        assert!(matches!(self.nodes[file.0 as usize], Node::File(_)));
        self.name(parent, name.raw, file);
        Ok(())
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()> {
        self.add(parent, name.raw, Node::Symlink(asset));
        Ok(())
    }
}

/// Reads bytes of a file stored in its source.
pub fn read_extent(volume: &dyn Volume, file: FileId, position: u64, buf: &mut [u8]) -> Result<()> {
    let Content::Extent { source, offset } = volume.content(file)? else {
        panic!("file {} is not in the source", file.0);
    };
    let read = source.read_exact_at(buf, offset + position);
    read.map_err(|cause| Error::Read {
        offset: offset + position,
        length: buf.len() as u64,
        cause: Arc::new(cause),
    })
}

/// Returns the bytes of a file that is generated.
pub fn generated(volume: &dyn Volume, file: FileId) -> Result<Vec<u8>> {
    let Content::Generated(generate) = volume.content(file)? else {
        panic!("file {} is not generated", file.0);
    };
    let mut bytes = Vec::new();
    generate.generate(file, &mut bytes)?;
    Ok(bytes)
}

/// An archive and its recorded tree.
pub struct Opened {
    pub archive: Box<dyn Volume>,
    pub tree: Recorder,
}

/// Opens an archive, detecting its format.
pub fn open(bytes: Vec<u8>, options: Options) -> Result<Opened> {
    let source: Arc<dyn ReadAt> = Arc::new(bytes);
    let input = Input::alone(source, options);
    let format = formats::detect(&input)?;
    let mut tree = Recorder::default();
    let archive = (format.open)(input, &mut tree)?;
    Ok(Opened { archive, tree })
}

/// Opens the bytes of an archive that is not damaged.
pub fn opened(bytes: impl AsRef<[u8]>) -> Opened {
    open(bytes.as_ref().to_vec(), Options::default()).unwrap()
}

impl Opened {
    /// Returns the bytes of a stored file, or the text of a generated one.
    pub fn read(&self, entry: Entry) -> Result<Vec<u8>> {
        match self.archive.content(entry.file)? {
            Content::Generated(_) => generated(&*self.archive, entry.file),
            Content::Extent { .. } => {
                let size = entry.size.expect("a stored file has a size");
                assert!(size < 1 << 30, "too large to be read at once");
                let mut bytes = vec![0; size as usize];
                read_extent(&*self.archive, entry.file, 0, &mut bytes)?;
                Ok(bytes)
            }
            Content::Chunks(_) | Content::Stream(_) | Content::Part { .. } => {
                panic!("nothing is packed here")
            }
        }
    }

    /// Returns the text of the generated file at `path`.
    pub fn text(&self, path: &str) -> String {
        let entry = self.tree.entry(self.tree.find(path));
        String::from_utf8(self.read(entry).expect("is generated")).expect("is UTF-8")
    }

    /// Returns the attributes of a file.
    pub fn attributes(&self, file: FileId) -> BTreeMap<&'static str, Result<String>> {
        let names = self.archive.xattr_names(file);
        names
            .into_iter()
            .map(|name| {
                let value = self.archive.xattr(file, name);
                (name, value.map(|value| value.expect("a named attribute")))
            })
            .collect()
    }
}

fn text(name: &[u8]) -> String {
    hpimount_containers::text::windows_1252(name).into_owned()
}
