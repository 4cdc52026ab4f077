//! What a folder of changes says.

use std::collections::BTreeMap;

use super::new_file::NewFile;

/// What a folder of changes says about one name.
#[derive(Clone)]
pub enum Change {
    /// The file is replaced or added.
    File(NewFile),
    /// The directory is merged with the one of this name, or added.
    Directory(Folder),
    /// The entry is deleted.
    Deleted,
    /// A symbolic link, which is accepted where the original has one.
    Link,
    /// Something that cannot be applied, and why.
    Unusable(String),
}

/// A directory of changes.
#[derive(Clone, Default)]
pub struct Folder {
    /// The changes by name.
    pub entries: BTreeMap<String, Change>,
    /// Whether entries that it does not name are deleted.
    pub is_opaque: bool,
}

impl Folder {
    /// Applies a later folder on top: its files and deletions win.
    pub fn overlay(&mut self, later: Self) {
        self.is_opaque |= later.is_opaque;
        if later.is_opaque {
            self.entries.clear();
        }
        for (name, change) in later.entries {
            match (self.entries.get_mut(&name), change) {
                (Some(Change::Directory(earlier)), Change::Directory(later)) => {
                    earlier.overlay(later);
                }
                (_, change) => {
                    self.entries.insert(name, change);
                }
            }
        }
    }

    /// Adds the entries of another directory whose name differs only in case.
    /// Returns the names that are in both and are not directories.
    pub fn absorb(&mut self, other: Self) -> Vec<String> {
        let mut twice = Vec::new();
        self.is_opaque |= other.is_opaque;
        for (name, change) in other.entries {
            match (self.entries.get_mut(&name), change) {
                (None, change) => {
                    self.entries.insert(name, change);
                }
                (Some(Change::Directory(one)), Change::Directory(other)) => {
                    let inner = one.absorb(other).into_iter();
                    twice.extend(inner.map(|inner| format!("{name}/{inner}")));
                }
                _ => twice.push(name),
            }
        }
        twice
    }
}

/// Returns whether desktops, editors and file systems leave files of this name behind.
pub fn is_litter(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let known = [".ds_store", "thumbs.db", "desktop.ini", ".directory"];
    known.contains(&lower.as_str())
        || ["._", ".trash-", ".goutputstream-", ".#"]
            .iter()
            .any(|start| lower.starts_with(start))
        || lower.starts_with(".~lock.") && lower.ends_with('#')
        || lower.starts_with('#') && lower.ends_with('#')
        || lower.ends_with('~')
        || lower.ends_with(".kate-swp")
        || is_vim_swap(&lower)
        || is_deleted_open(&lower)
}

/// Returns whether a name in lower case is what file systems of FUSE and NFS call a deleted
/// file that is still open.
fn is_deleted_open(name: &str) -> bool {
    let number = name
        .strip_prefix(".fuse_hidden")
        .or_else(|| name.strip_prefix(".nfs"));
    number.is_some_and(|number| {
        number.len() >= 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns whether a name in lower case belongs to a swap file of vim: `.NAME.swp`, and
/// `.swo` or `.swx` when there are several.
fn is_vim_swap(name: &str) -> bool {
    let end = name.rsplit_once('.').map(|(_, end)| end);
    name.starts_with('.') && end.is_some_and(|end| end.len() == 3 && end.starts_with("sw"))
}
