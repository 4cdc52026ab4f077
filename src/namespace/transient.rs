//! Inodes that exist only while the kernel remembers them.
//!
//! A directory inode may have one live dentry. Suppose that a directory had the
//! same inode under all spellings of its name. Then looking it up as `maps`
//! would rename the live dentry `MAPS`, and with it the working directory of
//! every process in it. Therefore a directory that is reached by another
//! spelling has a separate inode, an alias, for as long as the kernel holds it.
//! Everything found below an alias is aliased too.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::HashTable;

use super::Ino;
use super::numbers::Numbers;

/// Maximum number of live aliases, whose memory is not part of the budget. Beyond
/// that another spelling of a directory is answered with a symbolic link to the
/// exact one, which needs no memory.
const MAX_ALIASES: usize = 65_536;

/// Lifetime of a snapshot that has not been read yet.
const UNREAD: Duration = Duration::from_secs(1);

/// The transient inodes of a mount.
pub struct Transients {
    /// Not a hash table: removed entries would make one several times as large
    /// as the live ones need, which `aliases` with five bytes each can afford.
    by_ino: BTreeMap<Ino, Transient>,
    /// The aliases by parent and spelling. These are only in `by_ino`: copies of
    /// tens of thousands would take several MiB.
    aliases: HashTable<Ino>,
    hashes: RandomState,
    /// Maximum number of live aliases.
    pub max_aliases: usize,
    /// The last text that was looked up, until it is read.
    unread: Option<(Ino, Instant)>,
    /// The alias that was returned last by [`Transients::next_alias`].
    hand: Ino,
}

struct Transient {
    kind: TransientKind,
    /// The number of lookups that the kernel has not forgotten.
    lookups: u64,
}

/// The kind of a transient inode.
#[derive(Clone)]
pub enum TransientKind {
    /// A directory under another spelling, or below such a directory.
    Alias {
        /// The directory itself.
        directory: Ino,
        /// The directory where it was looked up, possibly an alias.
        parent: Ino,
        /// The spelling.
        spelling: Box<str>,
    },
    /// The text of a file as it was when it was looked up.
    Snapshot(Arc<Vec<u8>>),
}

impl Default for Transients {
    /// Creates an empty set.
    fn default() -> Self {
        Self {
            by_ino: BTreeMap::new(),
            aliases: HashTable::new(),
            hashes: RandomState::new(),
            max_aliases: MAX_ALIASES,
            unread: None,
            hand: Ino(0),
        }
    }
}

impl Transients {
    /// Returns the inode with this number.
    pub fn get(&self, ino: Ino) -> Option<&TransientKind> {
        self.by_ino.get(&ino).map(|inode| &inode.kind)
    }

    /// Returns the directory of an alias.
    pub fn directory(&self, ino: Ino) -> Option<Ino> {
        match self.get(ino)? {
            TransientKind::Alias { directory, .. } => Some(*directory),
            TransientKind::Snapshot(_) => None,
        }
    }

    /// Returns one alias after the other, again and again.
    pub fn next_alias(&mut self) -> Option<Ino> {
        let after = self.by_ino.range((Excluded(self.hand), Unbounded));
        let mut all = after.chain(self.by_ino.range(..=self.hand));
        let (&ino, _) = all.find(|(_, one)| matches!(one.kind, TransientKind::Alias { .. }))?;
        self.hand = ino;
        Some(ino)
    }

    /// Returns the alias of `directory` for its name `spelling` in `parent`,
    /// and counts one lookup of it; `None` if there are too many.
    pub fn alias(
        &mut self,
        numbers: &Numbers,
        parent: Ino,
        spelling: &str,
        directory: Ino,
    ) -> Option<Ino> {
        let name = Some((parent, spelling));
        let hash = self.hashes.hash_one(name);
        let is_same = |ino: &Ino| name_of(&self.by_ino, *ino) == name;
        if let Some(&ino) = self.aliases.find(hash, is_same) {
            self.look_again(ino);
            return Some(ino);
        }
        if self.aliases.len() >= self.max_aliases {
            return None;
        }
        let kind = TransientKind::Alias {
            directory,
            parent,
            spelling: spelling.into(),
        };
        let ino = self.admit(numbers, kind);
        let Self {
            by_ino,
            aliases,
            hashes,
            ..
        } = self;
        let hash_again = |ino: &Ino| hashes.hash_one(name_of(by_ino, *ino));
        aliases.insert_unique(hash, ino, hash_again);
        Some(ino)
    }

    /// Returns a snapshot of a text, and counts one lookup of it. A program
    /// that stats a file before it opens it, as `cp` does, must get the same
    /// one again, so a snapshot is returned until it is read.
    pub fn snapshot(&mut self, numbers: &Numbers, text: impl FnOnce() -> Vec<u8>) -> Ino {
        if let Some((ino, since)) = self.unread
            && since.elapsed() < UNREAD
            && let Some(inode) = self.by_ino.get_mut(&ino)
        {
            inode.lookups += 1;
            return ino;
        }
        let ino = self.admit(numbers, TransientKind::Snapshot(Arc::new(text())));
        self.unread = Some((ino, Instant::now()));
        ino
    }

    /// Returns the text of a snapshot, and marks it as read.
    pub fn read(&mut self, ino: Ino) -> Option<Arc<Vec<u8>>> {
        let TransientKind::Snapshot(text) = self.get(ino)? else {
            return None;
        };
        let text = text.clone();
        self.unread.take_if(|(unread, _)| *unread == ino);
        Some(text)
    }

    /// Counts one more lookup of an inode, if it still exists.
    pub fn look_again(&mut self, ino: Ino) {
        if let Some(inode) = self.by_ino.get_mut(&ino) {
            inode.lookups += 1;
        }
    }

    /// Drops `lookups` lookups that the kernel has forgotten; an inode without
    /// any is removed.
    pub fn forget(&mut self, ino: Ino, lookups: u64) {
        let Some(inode) = self.by_ino.get_mut(&ino) else {
            return;
        };
        inode.lookups = inode.lookups.saturating_sub(lookups);
        if inode.lookups > 0 {
            return;
        }
        let hash = self.hashes.hash_one(name_of(&self.by_ino, ino));
        // A snapshot is not among them.
        if let Ok(alias) = self.aliases.find_entry(hash, |&alias| alias == ino) {
            alias.remove();
        }
        self.by_ino.remove(&ino);
    }

    /// Returns the number of inodes.
    pub fn count(&self) -> usize {
        self.by_ino.len()
    }

    fn admit(&mut self, numbers: &Numbers, kind: TransientKind) -> Ino {
        let ino = numbers.single();
        let inode = Transient { kind, lookups: 1 };
        self.by_ino.insert(ino, inode);
        ino
    }
}

/// Returns the parent and the spelling of an alias.
fn name_of(by_ino: &BTreeMap<Ino, Transient>, ino: Ino) -> Option<(Ino, &str)> {
    match &by_ino.get(&ino)?.kind {
        TransientKind::Alias {
            parent, spelling, ..
        } => Some((*parent, spelling)),
        TransientKind::Snapshot(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::budget::Budget;

    const DIRECTORY: Ino = Ino(77);

    fn numbers() -> Arc<Numbers> {
        Numbers::new(&Budget::new(0))
    }

    #[test]
    fn a_spelling_keeps_its_inode_until_the_last_lookup_is_forgotten() {
        let (numbers, mut inodes) = (numbers(), Transients::default());
        let look = |inodes: &mut Transients, name| {
            inodes.alias(&numbers, Ino::ROOT, name, DIRECTORY).unwrap()
        };
        let maps = look(&mut inodes, "maps");
        assert_eq!(look(&mut inodes, "maps"), maps);
        assert_ne!(look(&mut inodes, "Maps"), maps);

        inodes.forget(maps, 1);
        assert!(inodes.get(maps).is_some());
        inodes.forget(maps, 1);
        assert!(inodes.get(maps).is_none());
        assert_ne!(look(&mut inodes, "maps"), maps, "no number is reused");
        assert_eq!(inodes.count(), 2);
    }

    #[test]
    fn of_many_spellings_each_keeps_its_inode() {
        let (numbers, mut inodes) = (numbers(), Transients::default());
        let mut look = |number: u32| {
            let (parent, name) = (Ino(u64::from(number % 7)), format!("maps{}", number / 7));
            inodes.alias(&numbers, parent, &name, DIRECTORY).unwrap()
        };
        let first = Vec::from_iter((0..5000).map(&mut look));
        let again = Vec::from_iter((0..5000).map(&mut look));
        assert_eq!(first, again);
        for &ino in &first {
            inodes.forget(ino, 2);
        }
        assert_eq!((inodes.count(), inodes.aliases.len()), (0, 0));
    }

    #[test]
    fn a_snapshot_stays_the_same_until_it_is_read() {
        let (numbers, mut inodes) = (numbers(), Transients::default());
        let look =
            |inodes: &mut Transients, text: &[u8]| inodes.snapshot(&numbers, || text.to_vec());
        let first = look(&mut inodes, b"1");
        assert_eq!(look(&mut inodes, b"2"), first);
        assert_eq!(*inodes.read(first).unwrap(), b"1");
        let second = look(&mut inodes, b"3");
        assert_ne!(second, first);
        assert_eq!(*inodes.read(first).unwrap(), b"1");
        assert_eq!(look(&mut inodes, b"4"), second, "not read yet");

        inodes.forget(second, 2);
        assert_ne!(look(&mut inodes, b"5"), second, "it was forgotten");
    }

    #[test]
    fn beyond_the_limit_there_are_no_more_aliases_until_some_are_forgotten() {
        let (numbers, mut inodes) = (numbers(), Transients::default());
        inodes.max_aliases = 1;
        let first = inodes
            .alias(&numbers, Ino::ROOT, "maps", DIRECTORY)
            .unwrap();
        assert_eq!(inodes.alias(&numbers, Ino::ROOT, "mAPS", DIRECTORY), None);
        assert_eq!(
            inodes.alias(&numbers, Ino::ROOT, "maps", DIRECTORY),
            Some(first)
        );
        inodes.forget(first, 2);
        assert!(
            inodes
                .alias(&numbers, Ino::ROOT, "mAPS", DIRECTORY)
                .is_some()
        );
    }
}
