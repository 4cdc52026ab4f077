//! Subtrees that are built on demand: directories that a folder lists on demand
//! ([`folder`]), or an archive ([`links`]), the contents of archives (`X.d`,
//! [`archive`]), the files that show an asset (`X.meta`, [`super::super::assets::view`]), the directories of
//! converted trees ([`super::super::assets::converted`]), and the plain files of discs
//! ([`super::plain`]).

mod archive;
mod folder;
mod links;

use std::sync::Arc;

use super::grafts::Built;
use super::plain;
use super::subtree::{Node, Subtree};
use crate::mount::assets::{converted, view};
use crate::mount::{Attr, Error, Result, Vfs};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::InodeKind;

/// Builds the subtree at `origin`.
///
/// # Errors
/// Returns [`Error::NotFound`] for an origin that is not built on demand, and
/// the errors of reading the file or the directory that it shows.
pub(super) fn subtree(vfs: &Vfs, origin: Origin) -> Result<Arc<Subtree>> {
    let (node, built) = match origin {
        Origin::Root | Origin::Files | Origin::Control => return Err(Error::NotFound),
        Origin::Hidden(shown, shows) => {
            let shown = vfs.node(shown)?;
            let attr = Attr::of_node(vfs, &shown)?;
            let built = companion(vfs, &shown, shows, attr)?;
            (shown, built)
        }
        Origin::Plain(root) => {
            let root = vfs.node(root)?;
            let attr = Attr::of_node(vfs, &root)?;
            let built = plain::build(vfs, &root, attr)?;
            (root, built)
        }
        Origin::Directory(directory) => {
            let node = vfs.node(directory)?;
            let attr = Attr::of_node(vfs, &node)?;
            let built = directory_at(vfs, &node, attr)?;
            (node, built)
        }
    };
    vfs.grafts
        .number(origin, built)
        .map_err(|error| vfs.failed(&node, &error))
}

/// Builds the entries of a directory that has none in its own tree.
fn directory_at(vfs: &Vfs, node: &Node<'_>, attr: Attr) -> Result<Built> {
    match node.kind() {
        Some(InodeKind::Companion { of, shows }) => companion(vfs, &node.other(of), shows, attr),
        Some(InodeKind::ForeignCompanion { of, shows }) => {
            let shown = vfs.node(of).inspect_err(|_| vfs.give_up(node))?;
            companion(vfs, &shown, shows, attr)
        }
        Some(InodeKind::Deferred { directory, .. }) => {
            let volume = node.volume().ok_or(Error::NotFound)?;
            match volume.volume.live() {
                Some(folder) => folder::build(vfs, node, (&**volume, folder), directory, attr),
                None => links::build(vfs, node, volume, directory, attr),
            }
        }
        _ => Err(Error::NotADirectory),
    }
}

/// Builds the companion of a file or a directory.
fn companion(vfs: &Vfs, shown: &Node<'_>, shows: Shows, attr: Attr) -> Result<Built> {
    match shows {
        Shows::Inside => archive::build(vfs, shown, attr),
        Shows::Meta(format) => view::build(vfs, shown, attr, format),
        Shows::Converted => converted::build(vfs, shown, attr),
    }
}
