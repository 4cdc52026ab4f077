//! The inodes of a mount, and the volumes of their files.
//!
//! A mount consists of trees of inodes (`namespace`), each with the volumes of its files.
//! The trees of the sources are permanent (`source_trees`, `merge`). The others are built
//! on demand: directories that folders and archives list, the contents of archives
//! (`X.d`), and the plain files of discs by this room, and the files that are generated
//! from assets by the room above it ([`Show`]). Those trees count towards the memory
//! budget and are evicted when memory is short. A tree that is built again gets the same
//! inode numbers, so that users do not notice.

pub(super) mod asset;
pub(super) mod control;
pub(super) mod grafts;
pub(super) mod invalidate;
pub(super) mod merge;
pub(super) mod nodes;
pub(super) mod on_demand;
pub(super) mod place;
pub(super) mod plain;
pub(super) mod source_trees;
pub(super) mod subtree;
pub(super) mod volume;

use std::sync::{Arc, Mutex};

use self::grafts::{Built, Grafts};
use self::invalidate::Invalidations;
use self::subtree::Node;
use super::{Options, Result};
use crate::content::{Reader, Spool};
use crate::memory::budget::Budget;
use crate::namespace::companion::{Companions, Shows};
use crate::namespace::transient::Transients;
use crate::namespace::tree::TreeBuilder;

/// Builds a directory of files that are generated: from the asset at the node, or from
/// the assets in the directory at the node, with this modification time.
pub(crate) type Show = fn(&MountTree, &Node<'_>, Shows, i64) -> Result<Built>;

/// The inodes of a mount, with everything that is needed to find them and to read the
/// files of their volumes.
pub(crate) struct MountTree {
    pub(crate) grafts: Grafts,
    /// Inodes that exist only while the kernel remembers them.
    pub(crate) transients: Mutex<Transients>,
    pub(crate) reader: Arc<Reader>,
    pub(crate) invalidations: Arc<Invalidations>,
    pub(crate) options: Options,
    show: Show,
}

impl MountTree {
    /// Creates a mount without subtrees, with a memory budget that others use as well.
    pub(crate) fn new(budget: &Arc<Budget>, options: Options, show: Show) -> Self {
        let spool = Spool::new(options.spool.clone(), options.spool_size);
        Self {
            grafts: Grafts::new(budget),
            transients: Mutex::default(),
            reader: Reader::new(budget, spool),
            invalidations: Arc::default(),
            options,
            show,
        }
    }

    /// Creates a builder whose tree counts towards the memory budget.
    pub(crate) fn new_builder(&self, modified: i64, companions: Companions) -> TreeBuilder {
        let mut builder = TreeBuilder::new(0, modified, companions);
        builder.charge(self.reader.budget().empty_charge("the directory"));
        builder
    }

    /// Returns whether upper and lower case are the same in names.
    pub(crate) fn folds(&self) -> bool {
        !self.options.case_sensitive
    }
}
