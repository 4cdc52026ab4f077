//! The subtrees of a mount, found by inode numbers.

use std::sync::Arc;

use super::subtree::{Node, Rendered, Subtree, volume_id};
use crate::content::OpenVolume;
use crate::memory::budget::Budget;
use crate::memory::cache::Cache;
use crate::mount::{Error, Ino, Result};
use crate::namespace::numbers::{self, Numbers, Origin, Range};
use crate::namespace::tree::{Index, ROOT, Tree, TreeBuilder};
use hpimount_containers::io;

/// Number of shards of the cache of subtrees; with more, the oldest subtree
/// would be harder to find.
const SHARDS: usize = 4;

/// All subtrees: permanent ones, and those that are built on demand and evicted
/// when memory is short.
pub(crate) struct Grafts {
    numbers: Arc<Numbers>,
    /// The subtrees of the sources and of `.hpimount`, by their numbers, which precede
    /// all others.
    permanent: boxcar::Vec<Subtree>,
    /// The other subtrees, within the budget.
    entered: Arc<Cache<Origin, Arc<Subtree>, Error>>,
}

/// The place of an inode number.
pub(crate) enum Numbered<'a> {
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
pub(crate) struct Built {
    pub(crate) builder: TreeBuilder,
    pub(crate) files: Files,
    /// The assets that its files are rendered from.
    pub(crate) rendered: Rendered,
    /// The reason why it is empty.
    pub(crate) problem: Option<io::Error>,
    /// Changes when the files behind the entries change.
    pub(crate) fingerprint: u64,
}

/// Location of the bytes of the files of a subtree.
pub(crate) enum Files {
    /// In no volume: they are rendered.
    Rendered,
    /// In a volume that only this subtree has.
    New(Box<OpenVolume>),
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
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self {
            numbers: Numbers::new(budget),
            permanent: boxcar::Vec::new(),
            entered: Cache::new(budget, SHARDS),
        }
    }

    /// Returns the numbers, which are assigned to transient inodes too.
    pub(crate) fn numbers(&self) -> &Arc<Numbers> {
        &self.numbers
    }

    /// Returns the place of a number; `None` if it belongs to no subtree.
    pub(crate) fn find(&self, ino: Ino) -> Option<Numbered<'_>> {
        if let Some(node) = self.find_permanent(ino) {
            return Some(Numbered::Permanent(node));
        }
        let range = self.numbers.find(ino)?;
        Some(Numbered::Entered(range, range.index(ino)?))
    }

    /// Returns the inode of a permanent subtree with this number.
    fn find_permanent(&self, ino: Ino) -> Option<Node<'_>> {
        let (mut low, mut high) = (0, self.permanent.count());
        while low < high {
            let middle = low.midpoint(high);
            match self.permanent.get(middle) {
                Some(subtree) if subtree.range.first <= ino.0 => low = middle + 1,
                _ => high = middle,
            }
        }
        let subtree = self.permanent.get(low.checked_sub(1)?)?;
        Some(Node::permanent(subtree, subtree.range.index(ino)?))
    }

    /// Counts a lookup of an inode by the kernel. Returns false if it is in no
    /// subtree.
    pub(crate) fn look(&self, ino: Ino) -> bool {
        self.find_permanent(ino).is_some() || self.numbers.look(ino)
    }

    /// Drops lookups of an inode that the kernel has forgotten. Returns false if it is
    /// in no subtree.
    pub(crate) fn forget(&self, ino: Ino, lookups: u64) -> bool {
        self.find_permanent(ino).is_some() || self.numbers.forget(ino, lookups)
    }

    /// Returns the permanent subtrees.
    pub(crate) fn permanent(&self) -> impl Iterator<Item = &Subtree> {
        self.permanent.iter().map(|(_, subtree)| subtree)
    }

    /// Returns the root of the permanent subtree at `origin`.
    pub(crate) fn permanent_at(&self, origin: Origin) -> Option<Node<'_>> {
        let mut permanent = self.permanent();
        let subtree = permanent.find(|subtree| subtree.range.origin == origin)?;
        Some(Node::permanent(subtree, ROOT))
    }

    /// Returns the subtree at `origin`; `build` is called if it is not cached.
    pub(crate) fn entered(
        &self,
        origin: Origin,
        build: impl FnOnce() -> Result<Arc<Subtree>>,
    ) -> Result<Arc<Subtree>> {
        self.entered.get(&origin, build)
    }

    /// Discards the subtree at `origin`, so that its next use builds it again.
    pub(crate) fn discard(&self, origin: Origin) {
        self.entered.remove(&origin);
    }

    /// Adds a permanent subtree with its volumes, and returns these.
    pub(crate) fn add(
        &self,
        origin: Origin,
        tree: Tree,
        volumes: Vec<OpenVolume>,
    ) -> Vec<Arc<OpenVolume>> {
        self.add_with(origin, tree, |range| {
            let volumes = volumes.into_iter().enumerate();
            volumes
                .map(|(number, volume)| volume.numbered(volume_id(range, number)))
                .collect()
        })
        .volumes
        .clone()
    }

    /// Adds a permanent subtree; `volumes` returns its volumes for its inode
    /// numbers.
    pub(crate) fn add_with(
        &self,
        origin: Origin,
        tree: Tree,
        volumes: impl FnOnce(Range) -> Vec<Arc<OpenVolume>>,
    ) -> &Subtree {
        let range = self.numbers.permanent(origin, tree.inodes());
        let number = self.permanent.push(Subtree {
            range,
            hold: None,
            tree,
            volumes: volumes(range),
            _around: None,
            rendered: Rendered::No,
            problem: None,
            _charge: None,
        });
        &self.permanent[number]
    }

    /// Assigns inode numbers to a subtree that was built on demand, and charges
    /// its memory.
    pub(crate) fn number(&self, origin: Origin, built: Built) -> io::Result<Arc<Subtree>> {
        let (tree, mut charge) = built.builder.finish_charged()?;
        let volume_memory = match &built.files {
            Files::New(volume) => volume.memory(),
            Files::Rendered | Files::Around { .. } => 0,
        };
        if let Some(charge) = &mut charge {
            let memory = tree.memory() + volume_memory + built.rendered.memory();
            charge.grow_beyond(memory)?;
        }
        let (range, hold) = self.numbers.assign(numbers::Identity {
            origin,
            len: tree.inodes(),
            fingerprint: tree.fingerprint() ^ built.fingerprint,
            refers_to: match &built.rendered {
                Rendered::Converted(converted) => Some(converted.of),
                Rendered::No | Rendered::View(_) => None,
            },
        })?;
        let (volume, around) = match built.files {
            Files::Rendered => (None, None),
            Files::New(new) => (Some(new.numbered(volume_id(range, 0))), None),
            Files::Around { volume, subtree } => (Some(volume), subtree),
        };
        Ok(Arc::new(Subtree {
            range,
            hold: Some(hold),
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
    pub(crate) fn extent(&self) -> Extent {
        Extent {
            bytes: self
                .permanent()
                .map(|subtree| subtree.tree.total_size())
                .sum(),
            inodes: self
                .permanent()
                .map(|subtree| u64::from(subtree.tree.inodes()))
                .sum::<u64>()
                + self.numbers.inodes(),
        }
    }

    /// Returns the memory of the permanent trees, in bytes.
    pub(crate) fn permanent_memory(&self) -> usize {
        self.permanent().map(|subtree| subtree.tree.memory()).sum()
    }
}
