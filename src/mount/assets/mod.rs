//! The view of assets: their models, and the files that are generated from them.
//!
//! `picture` finds the picture that represents an asset, and `render` makes the files that
//! are generated. `view` builds the directories of the files that show an asset (`X.meta`),
//! and `converted` the directories of converted trees. `context` gives views access to other
//! files, which `folder_ids`, `beside`, `find` and `game` find. `checks` has the checks and
//! reports that combine many assets, and `editable` says which files can be edited.

pub(super) mod beside;
mod checks;
pub(super) mod context;
mod converted;
pub(super) mod editable;
mod find;
mod folder_ids;
mod game;
pub(super) mod picture;
mod render;
mod view;

use std::sync::Arc;

use super::tree::MountTree;
use super::tree::grafts::Built;
use super::tree::subtree::Node;
use super::{Error, Options, Result};
use crate::memory::budget::Budget;
use crate::namespace::companion::Shows;

/// The assets of a mount.
#[derive(Clone, Copy)]
pub(crate) struct Assets<'m> {
    mount: &'m MountTree,
}

impl<'m> Assets<'m> {
    /// Returns the assets of a mount.
    pub(crate) fn of(mount: &'m MountTree) -> Self {
        Self { mount }
    }
}

/// Creates the inodes of a mount, without subtrees, with a memory budget that others use as
/// well.
pub(super) fn new_tree(budget: &Arc<Budget>, options: Options) -> MountTree {
    MountTree::new(budget, options, show)
}

/// Builds a directory of files that are generated (see [`Show`](super::tree::Show)).
fn show(mount: &MountTree, of: &Node<'_>, shows: Shows, modified: i64) -> Result<Built> {
    match shows {
        Shows::Meta(format) => view::build(mount, of, modified, format),
        Shows::Converted => converted::build(mount, of, modified),
        Shows::Inside => Err(Error::NotADirectory),
    }
}
