//! Attributes of inodes.

use super::stats;
use crate::mount::tree::place;
use crate::mount::tree::subtree::Node;
use crate::mount::{Error, FileKind, Ino, Result, Vfs};
use crate::namespace::transient::TransientKind;
use crate::namespace::tree::Inode;
use crate::sync::lock;

/// Attributes of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attr {
    /// Its number.
    pub ino: Ino,
    /// Its kind.
    pub kind: FileKind,
    /// Decoded size in bytes.
    pub size: u64,
    /// Permission bits, without those for writing.
    pub mode: u16,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    /// Number of its links.
    pub nlink: u32,
    /// True if its name and attributes never change while mounted.
    pub lasting: bool,
}

/// Returns the permission bits of an inode. Everything can be read, because the
/// owners that a volume records are not those of the mount; whether a file can be
/// executed is up to the volume.
fn mode(kind: FileKind, of_volume: Option<u16>) -> u16 {
    match kind {
        FileKind::Directory => 0o555,
        FileKind::File => 0o444 | of_volume.unwrap_or(0) & 0o111,
        FileKind::Symlink => 0o777,
    }
}

impl Attr {
    fn new(node: &Node<'_>, inode: &Inode, size: u64) -> Self {
        Self {
            ino: node.ino(),
            kind: inode.kind.file_kind(),
            size,
            mode: mode(inode.kind.file_kind(), node.tree().mode(node.index)),
            modified: inode.modified,
            nlink: inode.nlink,
            lasting: true,
        }
    }

    /// Returns the attributes of an inode of a subtree. A generated file whose
    /// size is unknown is rendered to determine it.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], the errors of rendering, or an error if the tree
    /// that a symbolic link leads to cannot be built again.
    pub(crate) fn of_node(vfs: &Vfs, node: &Node<'_>) -> Result<Self> {
        let inode = node.tree().inode(node.index).ok_or(Error::NotFound)?;
        let size = match place::text_of(&vfs.mount, node)? {
            Some(text) => text.len() as u64,
            None => vfs
                .assets()
                .size_of(node)
                .map_err(|error| vfs.mount.failed(node, &error))?,
        };
        Ok(Self::new(node, inode, size))
    }

    /// Returns the attributes of the entry `name` of `parent`, which the kernel will
    /// remember, and counts one lookup. `is_aliased` is whether the directory was reached
    /// by another spelling.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Attr::of_node`].
    pub(crate) fn of_entry(
        vfs: &Vfs,
        parent: Ino,
        name: &str,
        node: &Node<'_>,
        is_aliased: bool,
    ) -> Result<Self> {
        if vfs
            .control
            .as_ref()
            .is_some_and(|control| control.is_stats(node))
        {
            return Self::of_transient(vfs, stats::snapshot(vfs));
        }
        let attr = Self::of_node(vfs, node)?;
        let attr = match is_aliased && attr.kind == FileKind::Directory {
            true => attr.aliased(vfs, parent, name)?,
            false => attr,
        };
        vfs.look(attr.ino);
        Ok(attr)
    }

    /// Returns the attributes for a listing of a generated file whose size is
    /// unknown; `None` for all others. They have size 0 and are not kept by the
    /// kernel.
    pub(crate) fn of_unknown_size(vfs: &Vfs, node: &Node<'_>) -> Option<Self> {
        let inode = node.tree().inode(node.index)?;
        let is_generated = inode.kind.file_kind() == FileKind::File && inode.size().is_none();
        if !is_generated || vfs.assets().known_size(node).is_some() {
            return None;
        }
        Some(Self {
            lasting: false,
            ..Self::new(node, inode, 0)
        })
    }

    /// Returns the attributes of an inode that exists only while the kernel
    /// remembers it.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`].
    pub(crate) fn of_transient(vfs: &Vfs, ino: Ino) -> Result<Self> {
        let kind = lock(&vfs.mount.transients).get(ino).cloned();
        match kind.ok_or(Error::NotFound)? {
            TransientKind::Alias { directory, .. } => {
                let attr = Self::of_node(vfs, &vfs.node(directory)?)?;
                Ok(Self { ino, ..attr })
            }
            TransientKind::Snapshot(text) => Ok(Self {
                ino,
                kind: FileKind::File,
                size: text.len() as u64,
                mode: mode(FileKind::File, None),
                modified: vfs.getattr(Ino::ROOT)?.modified,
                nlink: 1,
                lasting: false,
            }),
        }
    }

    /// Returns the attributes of the symbolic link that replaces an alias of a
    /// directory (see [`Ino::shortcut`]).
    ///
    /// # Errors
    /// Returns [`Error::NotFound`].
    pub(crate) fn of_shortcut(vfs: &Vfs, directory: Ino) -> Result<Self> {
        let node = vfs.node(directory)?;
        Ok(Self {
            ino: directory.shortcut(),
            kind: FileKind::Symlink,
            size: place::link_text(&vfs.mount, &node)?.len() as u64,
            mode: mode(FileKind::Symlink, None),
            nlink: 1,
            ..Self::of_node(vfs, &node)?
        })
    }

    /// Returns the attributes of the directory `self` under another spelling,
    /// `name` in `parent`, where it has an inode of its own; if too many
    /// spellings are in use, it is a symbolic link to the exact one instead.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`].
    pub(crate) fn aliased(self, vfs: &Vfs, parent: Ino, name: &str) -> Result<Self> {
        let numbers = vfs.mount.grafts.numbers();
        let alias = lock(&vfs.mount.transients).alias(numbers, parent, name, self.ino);
        match alias {
            Some(ino) => Ok(Self { ino, ..self }),
            None => Self::of_shortcut(vfs, self.ino),
        }
    }
}
