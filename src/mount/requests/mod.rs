//! The state of a mount.

pub(super) mod applied;
pub(super) mod attributes;
mod compare;
pub(super) mod hidden;
mod identity;
mod listing;
mod operations;
mod read;
mod stats;
pub(super) mod xattr;

use std::sync::{Arc, Mutex, OnceLock};

use self::applied::AppliedFiles;
use crate::content::{Reader, Spool};
use crate::memory::budget::Budget;
use crate::mount::Options;
use crate::mount::tree::control::ControlInodes;
use crate::mount::tree::grafts::{Extent, Grafts};
use crate::mount::tree::invalidate::Invalidations;
use crate::namespace::companion::Companions;
use crate::namespace::transient::Transients;
use crate::namespace::tree::TreeBuilder;
use crate::source::remote::Remote;
use crate::sync::tally::Tally;

/// The mounted file system.
pub struct Vfs {
    pub(crate) grafts: Grafts,
    /// The inodes of `.hpimount`, which is missing if there are too many entries for it.
    pub(crate) control: Option<ControlInodes>,
    pub(crate) transients: Mutex<Transients>,
    pub(crate) reader: Arc<Reader>,
    /// The sources on servers.
    pub(crate) remote: OnceLock<Arc<Remote>>,
    pub(crate) invalidations: Arc<Invalidations>,
    /// What the mount shows of folders of changes.
    pub(crate) applied: AppliedFiles,
    pub(crate) options: Options,
}

impl Vfs {
    /// Creates a mount without subtrees, with a memory budget that others use as well.
    pub(crate) fn within(budget: &Arc<Budget>, options: Options) -> Self {
        let spool = Spool::new(options.spool.clone(), options.spool_size);
        Self {
            grafts: Grafts::new(budget),
            control: None,
            transients: Mutex::new(Transients::default()),
            reader: Reader::new(budget, spool),
            remote: OnceLock::new(),
            invalidations: Arc::default(),
            applied: AppliedFiles::default(),
            options,
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

    /// Returns the queue of entries that the kernel must forget.
    pub fn invalidations(&self) -> &Arc<Invalidations> {
        &self.invalidations
    }

    /// Returns the number of lookups, attribute requests, listings and reads so
    /// far; it grows with every use that reaches this process.
    pub fn uses(&self) -> u64 {
        let stats = &self.reader.stats;
        let counters = [
            &stats.lookups,
            &stats.getattrs,
            &stats.readdirs,
            &stats.reads,
        ];
        counters.into_iter().map(Tally::get).sum()
    }

    /// Returns the size of the mount.
    pub fn extent(&self) -> Extent {
        self.grafts.extent()
    }

    /// Returns the reader of the bytes of files, for those who fill caches.
    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns the number of bytes that were decoded so far.
    pub(crate) fn decoded(&self) -> u64 {
        self.reader.stats.decoded()
    }

    /// Returns whether some sources are on servers.
    pub(crate) fn has_servers(&self) -> bool {
        self.remote.get().is_some()
    }
}
