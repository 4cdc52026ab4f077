//! Place of an inode in the mount: its path, its parent, and the entry under which the kernel
//! knows a subtree.
//!
//! Users see the root of a subtree as the directory where the subtree is
//! grafted.

use std::borrow::Cow;

use super::MountTree;
use super::control;
use super::subtree::Node;
use crate::mount::{Error, Ino, Result};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{InodeKind, ROOT};
use hpimount_containers::volume::FileId;

/// Returns the path of an inode relative to the mount point.
///
/// # Errors
/// Returns an error if a subtree around it cannot be built again.
pub(crate) fn path(mount: &MountTree, node: &Node<'_>) -> Result<String> {
    let inner = node.tree().path(node.index);
    let outer = match node.subtree().range.origin {
        Origin::Root | Origin::Files => return Ok(inner),
        Origin::Control => control::NAME.to_owned(),
        Origin::Directory(directory) | Origin::Plain(directory) => {
            path(mount, &mount.node(directory)?)?
        }
        Origin::Hidden(directory, shows @ Shows::Converted) => {
            let directory = path(mount, &mount.node(directory)?)?;
            joined(directory, &shows.name_beside(""))
        }
        Origin::Hidden(asset, shows) => shows.name_beside(&path(mount, &mount.node(asset)?)?),
    };
    Ok(joined(outer, &inner))
}

/// Returns the text of a symbolic link that is in a tree, or leads to an asset;
/// `None` for all others.
///
/// # Errors
/// Returns an error if the subtree with the asset cannot be built again.
pub(crate) fn text_of<'n>(mount: &MountTree, node: &'n Node<'_>) -> Result<Option<Cow<'n, [u8]>>> {
    match node.kind() {
        Some(InodeKind::AssetLink { asset }) => {
            let text = link_to_asset(mount, node, asset)?;
            Ok(Some(text.into_bytes().into()))
        }
        _ => Ok(node.tree().link(node.index).map(Cow::Borrowed)),
    }
}

/// Returns the text of a symbolic link to an asset, whose file is in the tree around
/// the tree of the link.
fn link_to_asset(mount: &MountTree, link: &Node<'_>, asset: FileId) -> Result<String> {
    let Origin::Directory(directory) = link.subtree().range.origin else {
        return Err(Error::NotFound);
    };
    let directory = mount.node(directory)?;
    let around = directory.tree();
    let target = around.asset(asset).ok_or(Error::NotFound)?;
    let inner = link.tree().directories_to(link.index).len();
    let up = around.directories_to(directory.index).len() + 1 + inner;
    Ok("../".repeat(up) + &around.path(target))
}

/// Returns the text of a symbolic link to a directory from its parent. It is
/// also valid if the directories above are spelled differently, since it leads
/// up to the mount point and down by the exact names.
///
/// # Errors
/// Returns an error under the same conditions as [`path`].
pub(crate) fn link_text(mount: &MountTree, directory: &Node<'_>) -> Result<String> {
    let path = path(mount, directory)?;
    Ok("../".repeat(path.matches('/').count()) + &path)
}

/// Returns the parent of an inode.
///
/// # Errors
/// Returns [`Error::NotFound`].
pub(crate) fn parent(mount: &MountTree, node: &Node<'_>) -> Result<Ino> {
    match node.origin() {
        Some(origin) => parent_of_root(mount, origin),
        None => directory_of(mount, node),
    }
}

/// Returns the directory that lists an inode.
fn directory_of(mount: &MountTree, node: &Node<'_>) -> Result<Ino> {
    let inode = node.tree().inode(node.index).ok_or(Error::NotFound)?;
    match node.subtree().range.origin {
        Origin::Directory(directory) if inode.parent == ROOT => Ok(directory),
        origin @ Origin::Plain(_) => parent_of_root(mount, origin),
        _ => Ok(node.ino_of(inode.parent)),
    }
}

/// Returns the parent of the subtree at `origin`.
fn parent_of_root(mount: &MountTree, origin: Origin) -> Result<Ino> {
    match origin {
        Origin::Root | Origin::Files | Origin::Control => Ok(Ino::ROOT),
        Origin::Directory(directory) => parent(mount, &mount.node(directory)?),
        Origin::Hidden(directory, Shows::Converted) | Origin::Plain(directory) => {
            match mount.node(directory)?.origin() {
                Some(Origin::Directory(seen)) => Ok(seen),
                _ => Ok(directory),
            }
        }
        Origin::Hidden(asset, _) => directory_of(mount, &mount.node(asset)?),
    }
}

/// Returns the entry under which the kernel knows the subtree at `origin`: its
/// parent and its name. A permanent part of the mount has no such entry.
pub(crate) fn entry_of(mount: &MountTree, origin: Origin) -> Option<(Ino, String)> {
    let name = match origin {
        Origin::Directory(directory) => {
            let directory = mount.node(directory).ok()?;
            directory.tree().name(directory.index).to_owned()
        }
        Origin::Hidden(of, shows) => {
            let of = mount.node(of).ok()?;
            shows.name_beside(of.tree().name(of.index))
        }
        // They are forgotten together with the root of the disc.
        Origin::Plain(disc) => return entry_of(mount, mount.node(disc).ok()?.origin()?),
        Origin::Root | Origin::Files | Origin::Control => return None,
    };
    Some((parent_of_root(mount, origin).ok()?, name))
}

/// Joins two paths.
fn joined(outer: String, path: &str) -> String {
    match (outer.is_empty(), path.is_empty()) {
        (_, true) => outer,
        (true, false) => path.to_owned(),
        (false, false) => format!("{outer}/{path}"),
    }
}
