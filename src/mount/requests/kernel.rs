//! State that the kernel remembers: counted lookups, and entries that it must forget.

use super::Vfs;
use crate::mount::Ino;
use crate::mount::tree::invalidate::StaleEntry;
use crate::mount::tree::place;
use crate::namespace::transient::TransientKind;
use crate::sync::lock;

impl Vfs {
    /// Waits for the next entry that the kernel must forget: its directory and its
    /// name; `None` when the mount ends.
    pub fn next_invalidation(&self) -> Option<(Ino, String)> {
        loop {
            let entry = match self.mount.invalidations.next()? {
                StaleEntry::Subtree(origin) => place::entry_of(&self.mount, origin),
                StaleEntry::Alias(alias) => match lock(&self.mount.transients).get(alias) {
                    Some(TransientKind::Alias {
                        parent, spelling, ..
                    }) => Some((*parent, spelling.to_string())),
                    _ => None,
                },
            };
            if entry.is_some() {
                return entry;
            }
        }
    }

    /// Counts a lookup of an inode by the kernel. The caller holds its subtree. A lookup
    /// of an alias is a lookup of its directory, too.
    pub(super) fn look(&self, ino: Ino) {
        let ino = ino.shortcut_target().unwrap_or(ino);
        if self.mount.grafts.look(ino) {
            return;
        }
        let directory = lock(&self.mount.transients).directory(ino);
        if let Some(directory) = directory {
            self.mount.grafts.look(directory);
        }
    }

    /// Drops `lookups` of the lookups of an inode, which the kernel has
    /// forgotten.
    pub fn forget(&self, ino: Ino, lookups: u64) {
        let ino = ino.shortcut_target().unwrap_or(ino);
        if self.mount.grafts.forget(ino, lookups) {
            return;
        }
        let directory = {
            let mut transients = lock(&self.mount.transients);
            let directory = transients.directory(ino);
            transients.forget(ino, lookups);
            directory
        };
        if let Some(directory) = directory {
            self.mount.grafts.forget(directory, lookups);
        }
    }

    /// Drops numbers that take more than their share of memory, and makes the kernel
    /// forget directories that it has not used for the longest time, so that theirs
    /// can be dropped.
    pub fn trim_numbers(&self) {
        let numbers = self.mount.grafts.numbers();
        if !numbers.exceed_their_share() {
            return;
        }
        for origin in numbers.trim() {
            self.mount.invalidate(origin);
        }
        if let Some(alias) = lock(&self.mount.transients).next_alias() {
            self.mount.invalidations.push(StaleEntry::Alias(alias));
        }
    }
}
