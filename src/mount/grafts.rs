//! The subtrees of a mount, found by inode numbers.

use std::sync::{Arc, Mutex};

use super::subtree::{Node, Rendered, Subtree};
use super::volume::NewVolume;
use super::{Error, Ino, Result};
use crate::content::OpenVolume;
use crate::memory::budget::{Budget, Charge};
use crate::memory::cache::Cache;
use crate::namespace::numbers::{Numbers, Origin, Range};
use crate::namespace::tree::{Index, ROOT, Tree, TreeBuilder};
use crate::sync::lock;
use hpimount_containers::io;

/// Number of shards of the cache of subtrees; with more, the oldest subtree
/// would be harder to find.
const SHARDS: usize = 4;

/// All subtrees: permanent ones, and those that are built on demand and evicted
/// when memory is short.
pub(super) struct Grafts {
    numbers: Numbers,
    /// The charge for the memory of `numbers`, which are never evicted.
    numbers_charge: Mutex<Charge>,
    /// The subtrees of the sources and of `.hpimount`. Their numbers precede all
    /// others.
    permanent: boxcar::Vec<Subtree>,
    /// The other subtrees, within the budget.
    entered: Arc<Cache<Origin, Arc<Subtree>, Error>>,
}

/// The place of an inode number.
pub(super) enum Numbered<'a> {
    /// In a permanent subtree.
    Permanent(Node<'a>),
    /// In a subtree that was built on demand, with these numbers.
    Entered(Range, Index),
}

/// Size of the mount as `statfs` reports it.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Decoded bytes of all files.
    pub bytes: u64,
    /// Number of inodes.
    pub inodes: u64,
}

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

impl Grafts {
    /// Creates an empty set within a budget.
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Self {
            numbers: Numbers::default(),
            numbers_charge: Mutex::new(budget.empty_charge("inode numbers")),
            permanent: boxcar::Vec::new(),
            entered: Cache::new(budget, SHARDS),
        }
    }

    /// Returns the numbers, which are assigned to transient inodes too.
    pub(super) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Returns the place of a number; `None` if it belongs to no subtree.
    pub(super) fn find(&self, ino: Ino) -> Option<Numbered<'_>> {
        let (range_number, range) = self.numbers.find(ino)?;
        let index = ino.0 - range.first;
        Some(match self.permanent.get(range_number) {
            Some(subtree) => Numbered::Permanent(Node::permanent(subtree, index)),
            None => Numbered::Entered(range, index),
        })
    }

    /// Returns the permanent subtrees.
    pub(super) fn permanent(&self) -> impl Iterator<Item = &Subtree> {
        self.permanent.iter().map(|(_, subtree)| subtree)
    }

    /// Returns the root of the permanent subtree at `origin`.
    pub(super) fn permanent_at(&self, origin: Origin) -> Option<Node<'_>> {
        let mut permanent = self.permanent();
        let subtree = permanent.find(|subtree| subtree.range.origin == origin)?;
        Some(Node::permanent(subtree, ROOT))
    }

    /// Returns the subtree at `origin`; `build` is called if it is not cached.
    pub(super) fn entered(
        &self,
        origin: Origin,
        build: impl FnOnce() -> Result<Arc<Subtree>>,
    ) -> Result<Arc<Subtree>> {
        self.entered.get(&origin, build)
    }

    /// Discards the subtree at `origin`, so that its next use builds it again.
    pub(super) fn discard(&self, origin: Origin) {
        self.entered.remove(&origin);
    }

    /// Adds a permanent subtree with its volumes, and returns these.
    pub(super) fn add(
        &self,
        origin: Origin,
        tree: Tree,
        volumes: Vec<NewVolume>,
    ) -> Vec<Arc<OpenVolume>> {
        self.add_with(origin, tree, |range| {
            let volumes = volumes.into_iter().enumerate();
            volumes
                .map(|(number, volume)| Arc::new(volume.open(range, number)))
                .collect()
        })
        .map_or_else(Vec::new, |subtree| subtree.volumes.clone())
    }

    /// Adds a permanent subtree; `volumes` returns its volumes for its inode
    /// numbers. Returns `None` if there are no numbers left, which is logged.
    pub(super) fn add_with(
        &self,
        origin: Origin,
        tree: Tree,
        volumes: impl FnOnce(Range) -> Vec<Arc<OpenVolume>>,
    ) -> Option<&Subtree> {
        let Some((range, _)) = self.numbers.assign(origin, tree.inodes(), 0) else {
            log::error!("there are no inode numbers left");
            return None;
        };
        let number = self.permanent.push(Subtree {
            range,
            tree,
            volumes: volumes(range),
            _around: None,
            rendered: Rendered::No,
            problem: None,
            _charge: None,
        });
        self.permanent.get(number)
    }

    /// Assigns inode numbers to a subtree that was built on demand, and charges
    /// its memory.
    pub(super) fn number(&self, origin: Origin, built: Built) -> io::Result<Arc<Subtree>> {
        let (tree, mut charge) = built.builder.finish_charged()?;
        let volume_memory = match &built.files {
            Files::New(volume) => volume.memory(),
            Files::Rendered | Files::Around { .. } => 0,
        };
        if let Some(charge) = &mut charge {
            let memory = tree.memory() + volume_memory + built.rendered.memory();
            charge.grow_beyond(memory)?;
        }
        let fingerprint = tree.fingerprint() ^ built.fingerprint;
        let (range, is_new) = self
            .numbers
            .assign(origin, tree.inodes(), fingerprint)
            .ok_or_else(|| io::Error::Unsupported("there are no inode numbers left".into()))?;
        if is_new {
            let mut charge = lock(&self.numbers_charge);
            let bytes = charge.bytes() + Range::MEMORY;
            charge.grow_to(bytes)?;
        }
        let (volume, around) = match built.files {
            Files::Rendered => (None, None),
            Files::New(new) => (Some(Arc::new(new.open(range, 0))), None),
            Files::Around { volume, subtree } => (Some(volume), subtree),
        };
        Ok(Arc::new(Subtree {
            range,
            tree,
            volumes: volume.into_iter().collect(),
            _around: around,
            rendered: built.rendered,
            problem: built.problem,
            _charge: charge,
        }))
    }

    /// Returns the size of the mount: the bytes of the permanent trees, and all
    /// inodes that have numbers.
    pub(super) fn extent(&self) -> Extent {
        Extent {
            bytes: self
                .permanent()
                .map(|subtree| subtree.tree.total_size())
                .sum(),
            inodes: self.numbers.inodes(),
        }
    }

    /// Returns the memory of the permanent trees, in bytes.
    pub(super) fn permanent_memory(&self) -> usize {
        self.permanent().map(|subtree| subtree.tree.memory()).sum()
    }
}
