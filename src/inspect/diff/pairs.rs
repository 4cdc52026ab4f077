//! Walking two trees at once.

use super::lone::Lone;
use super::{Diff, Side};
use crate::inspect::walk::{Listing, Missed, Walk};
use crate::inspect::{Contents, Entry, Role};
use crate::mount::{self, FileKind, HeldIno};
use crate::namespace::joined;

/// Two directories to compare.
pub(super) struct Directories {
    pub(super) path: String,
    pub(super) inos: [HeldIno; 2],
}

/// Finding of the walk.
pub(super) enum Item {
    /// Both sides have a file.
    Files { path: String, inos: [HeldIno; 2] },
    /// Both sides have a link.
    Links { path: String, inos: [HeldIno; 2] },
    /// The sides have entries of different kinds.
    Kinds { path: String, kinds: [FileKind; 2] },
    /// One side has an entry alone.
    Lone(Lone),
    /// A directory of one side cannot be listed, or one side expands too much.
    Trouble {
        side: Side,
        path: String,
        cause: String,
    },
}

/// A walk of two directories and everything below them. It is no [`Walk`], because it lists
/// two trees in turn, and the entries of nested archives after all entries around these.
///
/// An entry and the one that the other side finds by its name belong together
/// if each is found by the name of the other.
pub(super) struct Pairs<'a> {
    diff: &'a Diff<'a>,
    /// Number of the pair of archives that the directories are in, and how many are
    /// around it.
    archive: u32,
    depth: usize,
    /// True if a side has too much.
    is_over: bool,
    push: &'a mut dyn FnMut(Item),
}

/// Two directories on the current path.
struct Level {
    directories: Directories,
    /// The side whose entries are listed: the first, then the second.
    side: Side,
    /// Its entries that were not compared yet.
    entries: Listing,
}

impl Level {
    fn new(directories: Directories, side: Side) -> Self {
        Self {
            entries: Listing::of(directories.inos[side].clone()),
            directories,
            side,
        }
    }
}

impl<'a> Pairs<'a> {
    pub(super) fn new(
        diff: &'a Diff<'a>,
        archive: u32,
        depth: usize,
        push: &'a mut dyn FnMut(Item),
    ) -> Self {
        Self {
            diff,
            archive,
            depth,
            is_over: false,
            push,
        }
    }

    /// Walks two directories. Returns whether it has come to the end, and not to
    /// more than a side may have.
    pub(super) fn walk(mut self, directories: Directories) -> bool {
        let mut levels = vec![Level::new(directories, 0)];
        while let Some(level) = levels.last_mut().filter(|_| !self.is_over) {
            let side = level.side;
            let Some(listed) = level.entries.next(self.diff.sides[side]) else {
                let done = levels.pop().filter(|_| side == 0);
                levels.extend(done.map(|level| Level::new(level.directories, 1)));
                continue;
            };
            let mut entry = match listed {
                Ok(entry) => entry,
                Err(error) => {
                    // Everything else would seem to be on the other side alone.
                    let path = level.directories.path.clone();
                    levels.pop();
                    self.missed(side, Missed::Unlisted(path, error));
                    continue;
                }
            };
            Contents(self.diff.sides[side]).measure(&mut entry);
            if let Err(cause) = self.diff.bounds[side].read(self.depth, entry.size) {
                self.missed(side, Missed::LeftOut(cause));
                break;
            }
            let path = joined(&level.directories.path, &entry.name);
            match self.entry(&level.directories, side, &path, &entry) {
                Ok(Some(inos)) => levels.push(Level::new(Directories { path, inos }, 0)),
                Ok(None) => {}
                Err((side, error)) => self.missed(side, Missed::Unlisted(path, error)),
            }
        }
        !self.is_over
    }

    /// Handles an entry of one side. Returns the directories to enter, if both
    /// sides have one; an entry of the second side that belongs to one of the
    /// first was handled with that.
    fn entry(
        &mut self,
        directories: &Directories,
        side: Side,
        path: &str,
        entry: &Entry,
    ) -> Result<Option<[HeldIno; 2]>, (Side, mount::Error)> {
        let Some(kind) = kind(entry.role) else {
            return Ok(None);
        };
        let Some(other) = self.other(directories, side, entry)? else {
            self.lone(side, path, entry, kind);
            return Ok(None);
        };
        if side == 1 {
            return Ok(None);
        }
        let inos = [entry.ino.clone(), other.ino];
        let path = path.to_owned();
        let item = match (kind, self::kind(other.role).unwrap_or(kind)) {
            (FileKind::Directory, FileKind::Directory) => return Ok(Some(inos)),
            (FileKind::File, FileKind::File) => Item::Files { path, inos },
            (FileKind::Symlink, FileKind::Symlink) => Item::Links { path, inos },
            (old, new) => Item::Kinds {
                path,
                kinds: [old, new],
            },
        };
        (self.push)(item);
        Ok(None)
    }

    /// Returns the entry of the other side that belongs to an entry.
    fn other(
        &self,
        directories: &Directories,
        side: Side,
        entry: &Entry,
    ) -> Result<Option<Entry>, (Side, mount::Error)> {
        let find = |side: Side, name: &str| {
            let found = Contents(self.diff.sides[side]).find(*directories.inos[side], name);
            found.map_err(|error| (side, error))
        };
        let found = find(1 - side, &entry.name)?;
        let Some(found) = found.filter(|found| kind(found.role).is_some()) else {
            return Ok(None);
        };
        if found.name == entry.name {
            return Ok(Some(found));
        }
        let back = find(side, &found.name)?;
        Ok(back
            .is_some_and(|back| back.name == entry.name)
            .then_some(found))
    }

    /// Handles an entry that one side has alone, with everything below it.
    fn lone(&mut self, side: Side, path: &str, entry: &Entry, kind: FileKind) {
        self.push_lone(side, path.to_owned(), entry, kind);
        if kind != FileKind::Directory {
            return;
        }
        let vfs = self.diff.sides[side];
        let bounds = self.diff.bounds[side].clone();
        let walk = Walk::within(bounds, entry.ino.clone(), path.to_owned());
        let mut walk = walk.inside(self.depth);
        walk.shows_archives = false;
        while let Some(step) = walk.next(vfs) {
            match step {
                Ok(step) => {
                    let Some(kind) = self::kind(step.entry.role) else {
                        continue;
                    };
                    self.push_lone(side, step.path.clone(), &step.entry, kind);
                    if kind == FileKind::Directory {
                        walk.enter(vfs, step);
                    }
                }
                Err(missed) => self.missed(side, missed),
            }
        }
    }

    fn push_lone(&mut self, side: Side, path: String, entry: &Entry, kind: FileKind) {
        let known = Contents(self.diff.sides[side]).asset_of(*entry.ino);
        (self.push)(Item::Lone(Lone {
            side,
            path: path.into(),
            ino: entry.ino.clone(),
            kind,
            size: entry.size,
            asset: known.map(|known| (self.archive, known.id)),
        }));
    }

    fn missed(&mut self, side: Side, missed: Missed) {
        self.is_over |= matches!(missed, Missed::LeftOut(_));
        let (path, cause) = missed.explained();
        (self.push)(Item::Trouble { side, path, cause });
    }
}

/// Returns the kind of an entry; `None` for one that shows other entries.
fn kind(role: Role) -> Option<FileKind> {
    match role {
        Role::Directory => Some(FileKind::Directory),
        Role::File { .. } | Role::Generated => Some(FileKind::File),
        Role::Link { is_stored: true } => Some(FileKind::Symlink),
        Role::Link { is_stored: false } | Role::Inside | Role::AssetDirectory => None,
    }
}
