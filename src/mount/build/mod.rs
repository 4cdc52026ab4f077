//! Subtrees that are built on demand: directories that a folder lists on demand
//! ([`folder`]), or an archive ([`links`]), the contents of archives (`X.d`,
//! [`archive`]), the files that show an asset (`X.meta`, [`view`]), the directories of
//! converted trees ([`super::converted`]), and the plain files of discs
//! ([`super::plain`]).

mod archive;
mod folder;
mod links;
mod view;

use std::sync::Arc;

use super::subtree::{Node, Rendered, Subtree};
use super::volume::NewVolume;
use super::{Attr, Error, Result, Vfs, converted, plain};
use crate::content::OpenVolume;
use crate::namespace::companion::{Companions, Shows};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{InodeKind, TreeBuilder};
use hpimount_containers::io;

/// The contents of a subtree before it has numbers.
pub(super) struct Built {
    pub(super) builder: TreeBuilder,
    pub(super) files: Files,
    /// The assets that its files are rendered from.
    pub(super) rendered: Rendered,
    /// Why it is empty.
    pub(super) problem: Option<io::Error>,
    /// Changes when the files behind the entries change.
    pub(super) fingerprint: u64,
}

/// Where the bytes of the files of a subtree are.
pub(super) enum Files {
    /// In no volume: they are rendered.
    Rendered,
    /// In a volume that only this subtree has.
    New(NewVolume),
    /// In a volume of the subtree around this one. That subtree is kept for as long
    /// as this one, so that the memory of the volume is accounted for; a permanent
    /// one need not be kept.
    Around {
        volume: Arc<OpenVolume>,
        subtree: Option<Arc<Subtree>>,
    },
}

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

/// Creates a builder whose tree counts towards the memory budget.
pub(super) fn new_builder(vfs: &Vfs, attr: Attr, companions: Companions) -> TreeBuilder {
    let mut builder = TreeBuilder::new(0, attr.modified, companions);
    builder.charge(vfs.reader.budget().empty_charge("the directory"));
    builder
}
