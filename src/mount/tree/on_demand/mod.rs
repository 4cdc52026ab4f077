//! Subtrees that are built on demand: directories that a folder lists on demand
//! ([`folder`]), or an archive ([`links`]), the contents of archives (`X.d`,
//! [`archive`]), and the plain files of discs ([`super::plain`]).

mod archive;
mod folder;
mod links;

use std::sync::Arc;

use super::MountTree;
use super::grafts::Built;
use super::plain;
use super::subtree::{Node, Subtree};
use crate::mount::{Error, Result};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::InodeKind;

/// Builds the subtree at `origin`.
///
/// # Errors
/// Returns [`Error::NotFound`] for an origin that is not built on demand, and
/// the errors of reading the file or the directory that it shows.
pub(super) fn subtree(mount: &MountTree, origin: Origin) -> Result<Arc<Subtree>> {
    let (node, built) = match origin {
        Origin::Root | Origin::Files | Origin::Control => return Err(Error::NotFound),
        Origin::Hidden(shown, shows) => {
            let shown = mount.node(shown)?;
            let modified = modified(&shown)?;
            let built = companion(mount, &shown, shows, modified)?;
            (shown, built)
        }
        Origin::Plain(root) => {
            let root = mount.node(root)?;
            let modified = modified(&root)?;
            let built = plain::build(mount, &root, modified)?;
            (root, built)
        }
        Origin::Directory(directory) => {
            let node = mount.node(directory)?;
            let modified = modified(&node)?;
            let built = directory_at(mount, &node, modified)?;
            (node, built)
        }
    };
    mount
        .grafts
        .number(origin, built)
        .map_err(|error| mount.failed(&node, &error))
}

/// Builds the entries of a directory that has none in its own tree.
fn directory_at(mount: &MountTree, node: &Node<'_>, modified: i64) -> Result<Built> {
    match node.kind() {
        Some(InodeKind::Companion { of, shows }) => {
            companion(mount, &node.other(of), shows, modified)
        }
        Some(InodeKind::ForeignCompanion { of, shows }) => {
            let shown = mount.node(of).inspect_err(|_| mount.give_up(node))?;
            companion(mount, &shown, shows, modified)
        }
        Some(InodeKind::Deferred { directory, .. }) => {
            let volume = node.volume().ok_or(Error::NotFound)?;
            match volume.volume.live() {
                Some(folder) => {
                    folder::build(mount, node, (&**volume, folder), directory, modified)
                }
                None => links::build(mount, node, volume, directory, modified),
            }
        }
        _ => Err(Error::NotADirectory),
    }
}

/// Builds the companion of a file or a directory.
fn companion(mount: &MountTree, shown: &Node<'_>, shows: Shows, modified: i64) -> Result<Built> {
    match shows {
        Shows::Inside => archive::build(mount, shown, modified),
        Shows::Meta(_) | Shows::Converted => (mount.show)(mount, shown, shows, modified),
    }
}

/// Returns the modification time of an inode.
fn modified(node: &Node<'_>) -> Result<i64> {
    let inode = node.tree().inode(node.index).ok_or(Error::NotFound)?;
    Ok(inode.modified)
}
