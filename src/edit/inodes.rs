//! The inodes of an edited mount that the kernel knows, or that are not in its source.
//!
//! The key of an inode is its directory and its name. A file that may have other bytes in a
//! later version gets another number there; the old one keeps its bytes for those who
//! have it open.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use super::changed::Changes;
use super::inode::{Body, Directory, Handle, Inode, Own, VersionFile};
use super::version::{Kept, State, Version};
use crate::memory::budget::Charge;
use crate::mount::FileKind;
use crate::namespace::joined;

/// The root directory.
pub(super) const ROOT: u64 = 1;

/// Memory of an inode with its entry, about, in bytes.
const MEMORY: usize = 400;

/// Number of inodes that are accounted for at a time.
const ACCOUNTED: usize = 256;

/// The inodes.
pub(super) struct Inodes {
    by_number: HashMap<u64, Inode>,
    /// The numbers of the entries of directories, by their names.
    entries: HashMap<u64, BTreeMap<Spelling, u64>>,
    handles: HashMap<u64, Handle>,
    /// The last number of an inode or a handle.
    last: u64,
    /// The changes of DIR.
    changes: Changes,
    /// Paths that are deleted and may be in the current version: by the change, or for a
    /// converted file until a time.
    missing: BTreeMap<String, Missing>,
    /// The last version that [`Inodes::settle`] was called for.
    settled: u64,
    /// True if names are case-insensitive. Changes and missing paths are in lower case then.
    folds: bool,
    /// The memory of the inodes.
    memory: Charge,
}

/// A name of an entry. All spellings of a name are next to one another, the one in upper
/// case first.
#[derive(PartialEq, Eq)]
struct Spelling(String);

impl Ord for Spelling {
    fn cmp(&self, other: &Self) -> Ordering {
        fn folded(name: &Spelling) -> impl Iterator<Item = u8> {
            name.0.bytes().map(|byte| byte.to_ascii_lowercase())
        }
        let order = folded(self).cmp(folded(other));
        order.then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Spelling {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The reason why a path is missing.
#[derive(Clone, Copy)]
pub(super) enum Missing {
    /// It was deleted by this change.
    Since(u64),
    /// A program replaces it.
    Until(Instant),
}

impl Inodes {
    /// Creates the root. `folds` is whether upper and lower case are the same in names.
    pub(super) fn new(folds: bool, memory: Charge) -> Self {
        let mut root = Inode::new(ROOT, "", Body::Directory(Directory::default()), 0);
        root.lookups = 1;
        Self {
            by_number: HashMap::from([(ROOT, root)]),
            entries: HashMap::new(),
            handles: HashMap::new(),
            last: ROOT,
            changes: Changes::default(),
            missing: BTreeMap::new(),
            settled: 0,
            folds,
            memory,
        }
    }

    pub(super) fn get(&self, number: u64) -> Option<&Inode> {
        self.by_number.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Inode> {
        self.by_number.get_mut(&number)
    }

    /// Returns the directory itself, if an inode is another spelling of one.
    pub(super) fn exact(&self, number: u64) -> u64 {
        match self.get(number).map(|inode| &inode.body) {
            Some(Body::Directory(directory)) => directory.spelled.unwrap_or(number),
            _ => number,
        }
    }

    /// Returns the path of an inode.
    pub(super) fn path(&self, number: u64) -> Option<String> {
        let mut names = Vec::new();
        let mut number = self.exact(number);
        while number != ROOT {
            let inode = self.get(number)?;
            names.push(inode.name.as_str());
            number = self.exact(inode.parent);
        }
        names.reverse();
        Some(names.join("/"))
    }

    /// Returns the inode of an entry.
    pub(super) fn entry(&self, parent: u64, name: &str) -> Option<u64> {
        let name = Spelling(name.to_owned());
        self.entries.get(&parent)?.get(&name).copied()
    }

    /// Returns the entries of a directory whose names differ from `name` in case at most.
    pub(super) fn spellings(&self, parent: u64, name: &str) -> impl Iterator<Item = u64> {
        let entries = self.entries.get(&parent).into_iter();
        let first = || Spelling(name.to_ascii_uppercase());
        let after = entries.flat_map(move |entries| entries.range(first()..));
        let same = after.take_while(move |(other, _)| other.0.eq_ignore_ascii_case(name));
        same.map(|(_, &number)| number)
    }

    /// Returns the entries of a directory that have inodes.
    pub(super) fn entries(&self, parent: u64) -> impl Iterator<Item = (&str, u64, &Inode)> {
        let entries = self.entries.get(&parent).into_iter().flatten();
        entries.filter_map(|(name, &number)| Some((name.0.as_str(), number, self.get(number)?)))
    }

    /// Adds an inode as the entry of its directory, instead of another one.
    pub(super) fn add(&mut self, inode: Inode) -> u64 {
        if let Some(other) = self.entry(inode.parent, &inode.name) {
            self.remove_name(other);
        }
        self.last += 1;
        let entries = self.entries.entry(inode.parent).or_default();
        entries.insert(Spelling(inode.name.clone()), self.last);
        self.by_number.insert(self.last, inode);
        self.account();
        self.last
    }

    /// Accounts for the memory of the inodes. What does not fit is not refused: the kernel
    /// has them, and everything else is evicted for them.
    fn account(&mut self) {
        if self.by_number.len().is_multiple_of(ACCOUNTED) {
            let _ = self.memory.grow_to(self.by_number.len() * MEMORY);
        }
    }

    /// Makes the name of an inode lead nowhere.
    pub(super) fn remove_name(&mut self, number: u64) {
        let Some(inode) = self
            .by_number
            .get_mut(&number)
            .filter(|inode| !inode.is_gone)
        else {
            return;
        };
        inode.is_gone = true;
        let (parent, name) = (inode.parent, inode.name.clone());
        self.remove_entry(parent, name, number);
        self.drop_unneeded(number);
    }

    /// Removes an entry of a directory, if it leads to this inode.
    fn remove_entry(&mut self, parent: u64, name: String, number: u64) {
        let Some(entries) = self.entries.get_mut(&parent) else {
            return;
        };
        let name = Spelling(name);
        if entries.get(&name) == Some(&number) {
            entries.remove(&name);
        }
        if entries.is_empty() {
            self.entries.remove(&parent);
        }
    }

    /// Sets the modification time of a directory whose entries change.
    pub(super) fn touch(&mut self, directory: u64) {
        let directory = self.exact(directory);
        if let Some(inode) = self.by_number.get_mut(&directory) {
            inode.modified = Some(SystemTime::now());
        }
    }

    /// Gives an inode another name.
    pub(super) fn rename(&mut self, number: u64, parent: u64, name: &str) {
        if let Some(other) = self.entry(parent, name).filter(|&other| other != number) {
            self.remove_name(other);
        }
        let Some(inode) = self.by_number.get_mut(&number) else {
            return;
        };
        let before = (
            inode.parent,
            std::mem::replace(&mut inode.name, name.to_owned()),
        );
        inode.parent = parent;
        self.remove_entry(before.0, before.1, number);
        self.touch(before.0);
        self.touch(parent);
        let entries = self.entries.entry(parent).or_default();
        entries.insert(Spelling(name.to_owned()), number);
    }

    /// Gives two inodes the names of each other.
    pub(super) fn exchange(&mut self, numbers: [u64; 2]) {
        let [Some(one), Some(other)] = numbers.map(|number| self.by_number.get(&number)) else {
            return;
        };
        let places = [other, one].map(|inode| (inode.parent, inode.name.clone()));
        for (number, (parent, name)) in numbers.into_iter().zip(places) {
            let entries = self.entries.entry(parent).or_default();
            entries.insert(Spelling(name.clone()), number);
            self.touch(parent);
            if let Some(inode) = self.by_number.get_mut(&number) {
                (inode.parent, inode.name) = (parent, name);
            }
        }
    }

    /// Counts lookups that the kernel has forgotten.
    pub(super) fn forget(&mut self, number: u64, lookups: u64) {
        if let Some(inode) = self.by_number.get_mut(&number) {
            inode.lookups = inode.lookups.saturating_sub(lookups);
        }
        self.drop_unneeded(number);
    }

    fn drop_unneeded(&mut self, number: u64) {
        let Some(inode) = self.by_number.get(&number) else {
            return;
        };
        let has_entries = self.entries.contains_key(&number);
        if number == ROOT || inode.lookups > 0 || inode.is_needed() || has_entries {
            return;
        }
        let (parent, name, is_gone) = (inode.parent, inode.name.clone(), inode.is_gone);
        self.by_number.remove(&number);
        self.account();
        if !is_gone {
            self.remove_entry(parent, name, number);
        }
        self.drop_unneeded(parent);
    }

    /// Adds something that is open, and returns its number.
    pub(super) fn open(&mut self, handle: Handle) -> u64 {
        if let Handle::File {
            inode, is_writable, ..
        } = &handle
            && let Some(inode) = self.by_number.get_mut(inode)
        {
            inode.handles += 1;
            inode.writers += u32::from(*is_writable);
        }
        self.last += 1;
        self.handles.insert(self.last, handle);
        self.last
    }

    /// Makes the name of an inode lead to it again.
    pub(super) fn restore(&mut self, number: u64, parent: u64, name: &str) {
        if let Some(inode) = self.by_number.get_mut(&number) {
            inode.is_gone = false;
            self.rename(number, parent, name);
        }
    }

    pub(super) fn handle(&self, number: u64) -> Option<&Handle> {
        self.handles.get(&number)
    }

    /// Records for later closes whether the new bytes of an inode are refused.
    pub(super) fn tell_writers(&mut self, number: u64, refused: bool) {
        for handle in self.handles.values_mut() {
            if let Handle::File {
                inode,
                is_writable: true,
                is_refused,
                ..
            } = handle
                && *inode == number
            {
                *is_refused = refused;
            }
        }
    }

    /// Removes a handle, and returns the inode of a file and its contents in a version.
    pub(super) fn close(&mut self, number: u64) -> (Option<u64>, Option<Arc<VersionFile>>) {
        let Some(Handle::File {
            inode: number,
            is_writable,
            mut found,
            ..
        }) = self.handles.remove(&number)
        else {
            return (None, None);
        };
        let Some(inode) = self.by_number.get_mut(&number) else {
            return (None, found);
        };
        inode.handles -= 1;
        inode.writers -= u32::from(is_writable);
        if inode.handles == 0 {
            found = found.or(inode.pinned.take());
            if let Body::Own(own) = &mut inode.body {
                own.close();
            }
        }
        self.drop_unneeded(number);
        (Some(number), found)
    }

    /// Returns a name or a path in the form that all its spellings have in common.
    pub(super) fn folded(&self, path: &str) -> String {
        match self.folds {
            true => path.to_ascii_lowercase(),
            false => path.to_owned(),
        }
    }

    /// Records a change of a path.
    pub(super) fn changed(&mut self, number: u64, path: &str) {
        let path = self.folded(path);
        self.changes.record(number, &path);
    }

    /// Returns whether the file at `path` may have other bytes after the change `until`
    /// than after the change `since`.
    pub(super) fn has_changed(&self, path: &str, since: u64, until: u64) -> bool {
        self.changes.between(&self.folded(path), since, until)
    }

    /// Returns whether the file at `path` is known to have changed since the mount began.
    pub(super) fn is_changed(&self, path: &str, until: u64) -> bool {
        self.changes.is_known_between(&self.folded(path), 0, until)
    }

    /// Returns whether something that is not in `version` may have changed `path`.
    pub(super) fn is_behind(&self, version: u64, path: &str) -> bool {
        self.has_changed(path, version, u64::MAX)
    }

    /// Records that a path is deleted.
    pub(super) fn miss(&mut self, path: &str, why: Missing) {
        self.missing.insert(self.folded(path), why);
    }

    /// Records that a path is there again.
    pub(super) fn is_there(&mut self, path: &str) {
        self.missing.remove(&self.folded(path));
    }

    /// Returns whether a path is deleted, though it may be in the current version.
    pub(super) fn is_missing(&mut self, path: &str) -> bool {
        let path = self.folded(path);
        match self.missing.get(&path) {
            None => false,
            Some(Missing::Since(_)) => true,
            Some(Missing::Until(time)) if *time > Instant::now() => true,
            Some(Missing::Until(_)) => {
                self.missing.remove(&path);
                false
            }
        }
    }

    /// Returns the names in a directory that are deleted, as [folded](Inodes::folded).
    pub(super) fn missing_in(&self, directory: &str) -> Vec<String> {
        let prefix = match directory.is_empty() {
            true => String::new(),
            false => joined(&self.folded(directory), ""),
        };
        let after = self.missing.range(prefix.clone()..);
        let inside = after.map_while(|(path, why)| Some((path.strip_prefix(&*prefix)?, why)));
        let now = Instant::now();
        inside
            .filter(|(_, why)| !matches!(why, Missing::Until(time) if *time <= now))
            .map(|(name, _)| name)
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect()
    }

    /// Lets a version show the files whose bytes are in DIR and that no program has open, new
    /// directories, and deleted paths. Returns the files that the version has refused, open
    /// or not; `None` if it was called for the version before.
    pub(super) fn settle(&mut self, version: &Arc<Version>) -> Option<Vec<u64>> {
        let mut refused = Vec::new();
        if version.number <= self.settled {
            return None;
        }
        self.settled = version.number;
        let now = Instant::now();
        self.missing.retain(|_, why| match why {
            Missing::Since(number) => *number > version.number,
            Missing::Until(time) => *time > now,
        });
        let owned = self.by_number.iter().filter(|(_, inode)| {
            let is_settled = inode.since <= version.number && !inode.is_gone;
            is_settled
                && match &inode.body {
                    Body::Own(own) => own.elsewhere.is_none() && !own.is_dirty,
                    Body::Directory(directory) => directory.is_new,
                    Body::Shown(_) | Body::Text(_) => false,
                }
        });
        let owned: Vec<u64> = owned.map(|(number, _)| *number).collect();
        for number in owned {
            let path = self.path(number).unwrap_or_default();
            let Some(inode) = self.by_number.get_mut(&number) else {
                continue;
            };
            match &mut inode.body {
                Body::Directory(directory) => directory.is_new = false,
                Body::Own(own) => {
                    if let Some(Kept {
                        state: State::Refused(_),
                        ..
                    }) = version.kept.get(&path)
                    {
                        refused.push(number);
                        continue;
                    }
                    if inode.handles > 0 {
                        continue;
                    }
                    let saved = own.bytes.attributes().ok().map(|(_, modified)| modified);
                    inode.modified = inode.modified.or(saved);
                    inode.pinned = None;
                    inode.body = Body::Shown(FileKind::File);
                }
                Body::Shown(_) | Body::Text(_) => {}
            }
            self.drop_unneeded(number);
        }
        Some(refused)
    }

    /// Returns the files whose bytes are in DIR.
    pub(super) fn owned(&self) -> impl Iterator<Item = (u64, &Inode, &Own)> {
        let inodes = self.by_number.iter();
        inodes.filter_map(|(number, inode)| Some((*number, inode, inode.own()?)))
    }
}
