//! Directories whose entries are found when somebody enters them: those of a
//! folder on disk, and the companions `X.d` and `X.meta`.
//!
//! Entering one plants a tree, once, whose root takes the directory's place.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::companion::{Companions, Shows};
use super::volumes::{Content, Inner, Problem, Volume};
use super::{Attr, Error, Ino, Result, Vfs};
use crate::content::cache::lock;
use crate::io;
use crate::namespace::table::Node;
use crate::namespace::tree::{Kind, Label, NewInode, Tree, TreeBuilder};
use crate::view::{self, Siblings, VIEW_FORMATS, View, ViewFormat};
use crate::volume::folder::Folder;
use crate::volume::{self, Archive, Entry, FileId, Sink};

/// Largest asset that is parsed, in bytes.
pub(super) const MAX_ASSET: u64 = 64 << 20;

/// A directory that is being entered: empty until its tree is there. Whoever
/// holds the lock makes it.
pub(super) type Entrance = Arc<Mutex<Option<Ino>>>;

/// A tree that is not planted yet, and what its files are read from.
struct Seedling {
    tree: Tree,
    volume: Volume,
}

impl Vfs {
    /// The node that holds the entries of a directory: itself, or the root of
    /// the tree that is planted for it.
    pub(super) fn enter<'a>(&'a self, node: Node<'a>) -> Result<Node<'a>> {
        let kind = node.kind().ok_or(Error::NotFound)?;
        let root = match kind {
            Kind::Dir { .. } => return Ok(node),
            Kind::HostDir { .. } | Kind::Companion { .. } | Kind::Place => {
                self.planted(node, kind)?
            }
            Kind::File { .. } | Kind::Symlink { .. } | Kind::Verbatim { .. } => {
                return Err(Error::NotADirectory);
            }
        };
        self.forest.get(root).ok_or(Error::NotFound)
    }

    fn planted(&self, node: Node<'_>, kind: Kind) -> Result<Ino> {
        let entrance = lock(&self.entrances).entry(node.ino()).or_default().clone();
        let mut root = lock(&entrance);
        if let Some(root) = *root {
            return Ok(root);
        }
        let attr = self.node_attr(node)?;
        let Seedling { mut tree, volume } = match kind {
            Kind::Companion { of, shows } => {
                let file = node.other(of);
                match shows {
                    Shows::Inside => self.archive_inside(file, attr)?,
                    Shows::Meta(format) => self.meta_of(file, attr, format)?,
                }
            }
            _ => self.folder_below(node, kind, attr)?,
        };
        tree.origin = Some(node.ino());
        let planted = self.plant(tree, vec![volume]).ok_or(Error::NoNumbers)?;
        *root = Some(planted);
        Ok(planted)
    }

    /// Adds a tree and its volumes to the mount.
    pub(super) fn plant(&self, mut tree: Tree, volumes: Vec<Volume>) -> Option<Ino> {
        let _one_at_a_time = lock(&self.planting);
        tree.first_volume = self.volumes.count() as u32;
        for volume in volumes {
            self.volumes.push(volume);
        }
        self.forest.plant(tree)
    }

    /// The tree of an archive that is a file of the mount.
    fn archive_inside(&self, file: Node<'_>, attr: Attr) -> Result<Seedling> {
        let nesting = self.volume(file).map_or(0, |volume| volume.nesting) + 1;
        let name = file.tree.name(file.index).to_owned();
        let source = Arc::new(Inner {
            vfs: self.me.clone(),
            ino: file.ino(),
            len: self.node_attr(file)?.size,
        });
        let companions = Companions::usual(nesting, &self.options);
        let mut builder = TreeBuilder::new(0, attr.modified, companions);
        let opened = volume::detect(&*source).and_then(|format| {
            let options = self.options.archive_options(&name);
            let archive = (format.open)(source, &mut builder, options)?;
            Ok((format.name, archive))
        });
        let (format, archive, builder) = match opened {
            Ok((format, archive)) => (format, archive, builder),
            // The tree stays for good, and the source may come back.
            Err(error) if error.is_fault() => return Err(self.failed(file, &error)),
            Err(error) => {
                log::warn!("{}: {error}", self.path(file));
                problem(attr, &error).ok_or(Error::Io)?
            }
        };
        let volume = Volume {
            name,
            path: Default::default(),
            format,
            content: Content::Archive(archive),
            nesting,
        };
        Ok(Seedling {
            tree: builder.finish(),
            volume,
        })
    }

    /// The tree of what an asset's view shows.
    fn meta_of(&self, file: Node<'_>, attr: Attr, format: u8) -> Result<Seedling> {
        let format = VIEW_FORMATS.get(format as usize).ok_or(Error::NotFound)?;
        let model = self
            .model(file, format)
            .map_err(|error| self.failed(file, &error))?;
        let tree = view_tree(&*model, attr.modified).map_err(|error| self.failed(file, &error))?;
        let volume = Volume {
            name: file.tree.name(file.index).to_owned(),
            path: Default::default(),
            format: format.name,
            content: Content::Meta {
                asset: file.ino(),
                format,
            },
            nesting: 0,
        };
        Ok(Seedling { tree, volume })
    }

    /// The parsed model of an asset.
    pub(super) fn model(&self, asset: Node<'_>, format: &ViewFormat) -> io::Result<Arc<dyn View>> {
        self.reader.model(asset.ino(), || {
            self.stats.count(|stats| &stats.parsed);
            let size = self.node_attr(asset).map_or(0, |attr| attr.size);
            if size > MAX_ASSET {
                return Ok(Arc::from(view::refused(io::Error::Unsupported(format!(
                    "has {size} bytes; assets are shown up to {MAX_ASSET}"
                )))));
            }
            let bytes = self.asset_bytes(asset, size)?;
            let siblings = Beside {
                vfs: self,
                asset,
                fault: Cell::default(),
            };
            let view = view::open(format, &bytes, &siblings);
            // A model without what could not be read must not be kept.
            match siblings.fault.take() {
                Some(fault) => Err(fault),
                None => Ok(Arc::from(view)),
            }
        })
    }

    /// All `len` bytes of an asset.
    fn asset_bytes(&self, asset: Node<'_>, len: u64) -> io::Result<Vec<u8>> {
        let source = Inner {
            vfs: self.me.clone(),
            ino: asset.ino(),
            len,
        };
        io::read_vec(&source, 0, len, "asset")
    }

    /// The tree of one directory of a folder on disk.
    fn folder_below(&self, node: Node<'_>, kind: Kind, attr: Attr) -> Result<Seedling> {
        let Kind::HostDir { file, .. } = kind else {
            return Err(Error::NotADirectory);
        };
        let Some(Content::Folder(folder)) = self.volume(node).map(|volume| &volume.content) else {
            return Err(Error::NotFound);
        };
        let companions = Companions::usual(0, &self.options);
        let mut builder = TreeBuilder::new(0, attr.modified, companions);
        let entered = folder.enter(file, &mut builder).map_err(|error| {
            let path = folder.path_of(file);
            self.stats.failed(format!("{}: {error}", path.display()));
            Error::Io
        })?;
        Ok(Seedling {
            tree: builder.finish(),
            volume: folder_volume(entered),
        })
    }
}

/// The files beside an asset, in the same directory of the mount.
struct Beside<'a> {
    vfs: &'a Vfs,
    asset: Node<'a>,
    /// Why one of them could not be read, where that may pass.
    fault: Cell<Option<io::Error>>,
}

impl Siblings for Beside<'_> {
    fn name(&self) -> &str {
        self.asset.tree.name(self.asset.index)
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let tree = self.asset.tree;
        let directory = tree.inode(self.asset.index)?.parent;
        let (_, index) = tree.find(directory, name, true)?;
        let sibling = self.asset.other(index);
        let Some(Kind::File { .. }) = sibling.kind() else {
            return None;
        };
        let size = self.vfs.node_attr(sibling).ok()?.size;
        let is_small = size <= MAX_ASSET;
        match is_small.then(|| self.vfs.asset_bytes(sibling, size))? {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                if error.is_fault() {
                    self.fault.set(Some(error));
                }
                None
            }
        }
    }
}

/// The volume of a directory on disk.
pub(super) fn folder_volume(folder: Folder) -> Volume {
    let path = folder.path();
    Volume {
        name: file_name(&path),
        path,
        format: "folder",
        content: Content::Folder(folder),
        nesting: 0,
    }
}

/// The last part of a path, as text.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// In the place of an archive that cannot be opened: `error.txt`.
fn problem(attr: Attr, error: &io::Error) -> Option<(&'static str, Box<dyn Archive>, TreeBuilder)> {
    let text = format!("{error}\n");
    let mut builder = TreeBuilder::new(0, attr.modified, Companions::NONE);
    let entry = Entry {
        file: FileId(0),
        size: Some(text.len() as u64),
        modified: None,
    };
    let root = builder.root();
    builder.file(root, b"error.txt", entry).ok()?;
    Some(("unknown", Box::new(Problem(text)), builder))
}

/// The files of a view, with their folders.
fn view_tree(view: &dyn View, modified: i64) -> io::Result<Tree> {
    let mut builder = TreeBuilder::new(0, modified, Companions::NONE);
    let root = builder.root();
    let mut folders: Vec<(&str, volume::NodeId)> = Vec::new();
    for (number, file) in view.files().into_iter().enumerate() {
        let parent = match file.folder {
            None => root,
            Some(name) => match folders.iter().find(|(known, _)| *known == name) {
                Some(&(_, folder)) => folder,
                None => {
                    let folder = builder.dir(root, name.as_bytes())?;
                    folders.push((name, folder));
                    folder
                }
            },
        };
        let inode = NewInode {
            kind: builder.file_kind(FileId(number as u32)),
            size: None,
            modified: None,
        };
        builder.add(parent, &Label::host(OsStr::new(&file.name)), inode)?;
    }
    Ok(builder.finish())
}
