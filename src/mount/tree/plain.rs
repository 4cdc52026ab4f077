//! Discs as plain files, without the compression around them: in the root of each
//! disc under fixed names, where they are not listed.

use std::sync::Arc;

use super::MountTree;
use super::grafts::{Built, Files};
use super::subtree::{Node, Rendered, Subtree};
use crate::content::OpenVolume;
use crate::mount::{Error, Result};
use crate::namespace::companion::Companions;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::ROOT;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{
    Content, Entry, FileId, Mountable, Name, Sink, Volume, no_such_file,
};

/// Stem of the names in the root of a disc.
const DISC: &str = "disc";

/// Returns the root of the plain files of the disc whose root is given.
///
/// # Errors
/// Returns [`Error::NotFound`] if it is no disc, or the errors of building the tree.
pub(crate) fn files<'v>(mount: &'v MountTree, root: &Node<'v>) -> Result<Node<'v>> {
    if root.origin() == Some(Origin::Control) || !mount.is_container_root(root) {
        return Err(Error::NotFound);
    }
    let subtree = mount.subtree(Origin::Plain(root.ino()))?;
    Ok(Node::entered_root(subtree))
}

/// Finds a plain file in the root of a disc.
///
/// # Errors
/// Returns an error under the same conditions as [`files`], or if there is no file
/// with this name.
pub(crate) fn find<'v>(mount: &'v MountTree, root: &Node<'v>, name: &str) -> Result<Node<'v>> {
    let files = files(mount, root)?;
    let found = files.tree().find(ROOT, name, mount.folds());
    let (_, index) = found.ok_or(Error::NotFound)?;
    Ok(files.other(index))
}

/// Builds the tree of the plain files of the disc whose root is given.
///
/// # Errors
/// Returns [`Error::NotFound`] if it is no disc, or an error if there is not enough
/// memory.
pub(crate) fn build(mount: &MountTree, root: &Node<'_>, modified: i64) -> Result<Built> {
    let [disc] = &root.subtree().volumes[..] else {
        return Err(Error::NotFound);
    };
    let files = disc.volume.plain_files(DISC);
    if files.is_empty() {
        return Err(Error::NotFound);
    }
    let mut builder = mount.new_builder(modified, Companions::NONE);
    let top = builder.root();
    for (number, (name, source)) in (0..).map(FileId).zip(&files) {
        let entry = Entry {
            file: number,
            size: Some(source.len()),
            modified: None,
            asset: None,
        };
        let added = builder.file(top, Name::utf_8(name), entry);
        added.map_err(|error| mount.failed(root, &error))?;
    }
    let volume = PlainDisc {
        files: files.into_iter().map(|(_, source)| source).collect(),
        _disc: root.held(),
    };
    Ok(Built {
        builder,
        files: Files::New(Box::new(OpenVolume::new(
            &disc.name,
            "plain disc",
            Box::new(volume),
        ))),
        rendered: Rendered::No,
        problem: None,
        fingerprint: 0,
    })
}

/// The plain files of a disc as a volume.
struct PlainDisc {
    files: Vec<Arc<dyn ReadAt>>,
    /// The subtree of the disc, which accounts for the memory of what the files are
    /// read from.
    _disc: Option<Arc<Subtree>>,
}

impl Volume for PlainDisc {
    fn content(&self, file: FileId) -> io::Result<Content<'_>> {
        let source = self.files.get(file.0 as usize);
        Ok(Content::Extent {
            source: &**source.ok_or_else(|| no_such_file(file))?,
            offset: 0,
        })
    }
}

impl Mountable for PlainDisc {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.files.capacity() * size_of::<Arc<dyn ReadAt>>()
    }
}
