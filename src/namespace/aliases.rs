//! Inodes that exist only while the kernel knows them.
//!
//! A directory inode may have one live dentry. If a directory had one inode
//! under all spellings of its name, looking it up as `maps` would rename the
//! live dentry `MAPS`, and with it the working directory of every process in
//! it. So a directory that is reached by another spelling has an inode of its
//! own, an alias, for as long as the kernel holds it. What is found below an
//! alias is aliased too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::mount::Ino;
use crate::namespace::table::Forest;

/// Most aliases that are alive at once, at about 300 bytes each. Beyond them
/// another spelling of a directory is answered with a symbolic link to the
/// right one, which needs no memory.
const MAX_ALIASES: usize = 65_536;

/// How long a text that nobody has read yet is good for those who look it up.
const UNREAD: Duration = Duration::from_secs(1);

/// The guests of a mount.
pub struct Guests {
    by_ino: HashMap<Ino, Guest>,
    aliases: HashMap<(Ino, Box<str>), Ino>,
    /// See [`MAX_ALIASES`].
    pub max_aliases: usize,
    /// The last text that was looked up, until somebody reads it.
    unread: Option<(Ino, Instant)>,
}

struct Guest {
    kind: GuestKind,
    /// How often the kernel was told of it and has not forgotten it.
    lookups: u64,
}

/// What a guest is.
#[derive(Clone)]
pub enum GuestKind {
    /// A directory under another spelling, or below one.
    Alias {
        /// The directory itself.
        directory: Ino,
        /// The directory in which it was looked up, itself perhaps an alias.
        parent: Ino,
        /// How it was spelt.
        spelling: Box<str>,
    },
    /// A text as it was when it was looked up.
    Snapshot(Arc<Vec<u8>>),
}

impl Guests {
    /// No guests yet.
    pub fn new() -> Self {
        Self {
            by_ino: HashMap::new(),
            aliases: HashMap::new(),
            max_aliases: MAX_ALIASES,
            unread: None,
        }
    }

    /// What the guest with this number is.
    pub fn get(&self, ino: Ino) -> Option<&GuestKind> {
        self.by_ino.get(&ino).map(|guest| &guest.kind)
    }

    /// The alias of `directory` for its name `spelling` in `parent`, and one
    /// more lookup of it; `None` where there are too many.
    pub fn alias(
        &mut self,
        forest: &Forest,
        parent: Ino,
        spelling: &str,
        directory: Ino,
    ) -> Option<Ino> {
        let key = (parent, Box::from(spelling));
        if let Some(&ino) = self.aliases.get(&key) {
            self.by_ino.get_mut(&ino)?.lookups += 1;
            return Some(ino);
        }
        if self.aliases.len() >= self.max_aliases {
            return None;
        }
        let kind = GuestKind::Alias {
            directory,
            parent,
            spelling: key.1.clone(),
        };
        let ino = self.admit(forest, kind)?;
        self.aliases.insert(key, ino);
        Some(ino)
    }

    /// A text as it is now, and one more lookup of it. A program that looks at
    /// a file before it opens it, as `cp` does, must find the same one again,
    /// so a text is given out until it is read.
    pub fn snapshot(&mut self, forest: &Forest, text: impl FnOnce() -> Vec<u8>) -> Option<Ino> {
        if let Some((ino, since)) = self.unread
            && since.elapsed() < UNREAD
            && let Some(guest) = self.by_ino.get_mut(&ino)
        {
            guest.lookups += 1;
            return Some(ino);
        }
        let ino = self.admit(forest, GuestKind::Snapshot(Arc::new(text())))?;
        self.unread = Some((ino, Instant::now()));
        Some(ino)
    }

    /// The text of a snapshot, which is read.
    pub fn read(&mut self, ino: Ino) -> Option<Arc<Vec<u8>>> {
        let GuestKind::Snapshot(text) = self.get(ino)? else {
            return None;
        };
        let text = text.clone();
        self.unread.take_if(|(unread, _)| *unread == ino);
        Some(text)
    }

    /// One more lookup of a guest, if it is still there.
    pub fn look_again(&mut self, ino: Ino) {
        if let Some(guest) = self.by_ino.get_mut(&ino) {
            guest.lookups += 1;
        }
    }

    /// The kernel forgets `lookups` lookups; a guest without any is gone.
    pub fn forget(&mut self, ino: Ino, lookups: u64) {
        let Some(guest) = self.by_ino.get_mut(&ino) else {
            return;
        };
        guest.lookups = guest.lookups.saturating_sub(lookups);
        if guest.lookups > 0 {
            return;
        }
        if let Some(Guest {
            kind: GuestKind::Alias {
                parent, spelling, ..
            },
            ..
        }) = self.by_ino.remove(&ino)
        {
            self.aliases.remove(&(parent, spelling));
        }
    }

    /// Number of guests.
    pub fn len(&self) -> usize {
        self.by_ino.len()
    }

    fn admit(&mut self, forest: &Forest, kind: GuestKind) -> Option<Ino> {
        let ino = forest.fresh_number()?;
        self.by_ino.insert(ino, Guest { kind, lookups: 1 });
        Some(ino)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECTORY: Ino = Ino(77);

    #[test]
    fn a_spelling_keeps_its_inode_until_the_last_lookup_is_forgotten() {
        let (forest, mut guests) = (Forest::new(), Guests::new());
        let look =
            |guests: &mut Guests, name| guests.alias(&forest, Ino::ROOT, name, DIRECTORY).unwrap();
        let maps = look(&mut guests, "maps");
        assert_eq!(look(&mut guests, "maps"), maps);
        assert_ne!(look(&mut guests, "Maps"), maps);

        guests.forget(maps, 1);
        assert!(guests.get(maps).is_some());
        guests.forget(maps, 1);
        assert!(guests.get(maps).is_none());
        assert_ne!(look(&mut guests, "maps"), maps, "numbers are not reused");
        assert_eq!(guests.len(), 2);
    }

    #[test]
    fn a_text_is_the_same_until_it_is_read() {
        let (forest, mut guests) = (Forest::new(), Guests::new());
        let look =
            |guests: &mut Guests, text: &[u8]| guests.snapshot(&forest, || text.to_vec()).unwrap();
        let first = look(&mut guests, b"1");
        assert_eq!(look(&mut guests, b"2"), first);
        assert_eq!(*guests.read(first).unwrap(), b"1");
        let second = look(&mut guests, b"3");
        assert_ne!(second, first);
        assert_eq!(*guests.read(first).unwrap(), b"1");
        assert_eq!(look(&mut guests, b"4"), second, "nobody has read it");

        guests.forget(second, 2);
        assert_ne!(look(&mut guests, b"5"), second, "it is gone");
    }

    #[test]
    fn beyond_the_cap_there_are_no_more_aliases_until_some_are_forgotten() {
        let (forest, mut guests) = (Forest::new(), Guests::new());
        guests.max_aliases = 1;
        let first = guests.alias(&forest, Ino::ROOT, "maps", DIRECTORY).unwrap();
        assert_eq!(guests.alias(&forest, Ino::ROOT, "mAPS", DIRECTORY), None);
        assert_eq!(
            guests.alias(&forest, Ino::ROOT, "maps", DIRECTORY),
            Some(first)
        );
        guests.forget(first, 2);
        assert!(
            guests
                .alias(&forest, Ino::ROOT, "mAPS", DIRECTORY)
                .is_some()
        );
    }
}
