//! The contents of a folder of changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::new_file::{FileTable, NewFile, NewFiles};
use crate::io::{Composed, ReadAt};
use crate::write::{Directory, Node};

/// A change of one name in a folder of changes.
#[derive(Clone)]
pub enum Change {
    /// The file is replaced or added.
    File(NewFile),
    /// The directory is merged with the one of this name, or added.
    Directory(Box<Folder>),
    /// The entry is deleted.
    Deleted,
    /// A symbolic link, which is accepted where the original has one.
    Link,
    /// Something that cannot be applied, and why.
    Unusable(Box<str>),
}

/// A directory of changes.
#[derive(Clone, Default)]
pub struct Folder {
    /// The changes by name.
    pub entries: BTreeMap<Box<str>, Change>,
    /// True if entries that it does not name are deleted.
    pub is_opaque: bool,
}

impl Folder {
    /// Sets the change of the entry at `path`, whose names are separated by slashes.
    /// A file that is in the way of a directory is replaced.
    pub fn insert(&mut self, path: &str, change: Change) {
        let Some((first, rest)) = path.split_once('/') else {
            self.entries.insert(path.into(), change);
            return;
        };
        let inner = self.entries.entry(first.into()).or_insert(Change::Deleted);
        if !matches!(inner, Change::Directory(_)) {
            *inner = Change::Directory(Box::default());
        }
        if let Change::Directory(inner) = inner {
            inner.insert(rest, change);
        }
    }

    /// Applies a later folder on top: its files and deletions win.
    pub fn overlay(&mut self, later: Self) {
        self.is_opaque |= later.is_opaque;
        if later.is_opaque {
            self.entries.clear();
        }
        for (name, change) in later.entries {
            match (self.entries.get_mut(&name), change) {
                (Some(Change::Directory(earlier)), Change::Directory(later)) => {
                    earlier.overlay(*later);
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
                    let inner = one.absorb(*other).into_iter();
                    twice.extend(inner.map(|inner| format!("{name}/{inner}")));
                }
                _ => twice.push(name.into()),
            }
        }
        twice
    }
}

/// Files that replace those of the same names, or are added.
impl From<Directory> for Folder {
    fn from(directory: Directory) -> Self {
        let (mut table, mut sources) = (FileTable::default(), Vec::new());
        let root = number(directory, "", &mut table, &mut sources);
        let files = NewFiles::new(Arc::new(table), Arc::new(Composed::joined(sources)));
        root.folder(&files)
    }
}

/// A directory whose files are numbers of rows.
struct Numbered(Vec<(String, Row)>);

enum Row {
    Directory(Numbered),
    File(u32),
}

/// Adds the files of a directory to a table and to the sources of their bytes. `prefix`
/// is its path, empty or with a slash at the end.
fn number(
    directory: Directory,
    prefix: &str,
    table: &mut FileTable,
    sources: &mut Vec<Arc<dyn ReadAt>>,
) -> Numbered {
    let row = |(name, node): (String, Node)| {
        let path = format!("{prefix}{name}");
        let row = match node {
            Node::Directory(inner) => {
                Row::Directory(number(inner, &format!("{path}/"), table, sources))
            }
            Node::File(file) => {
                let row = Row::File(sources.len() as u32);
                table.push(&path, file.source.len(), file.modified.into(), 0);
                sources.push(Arc::new(file.source));
                row
            }
        };
        (name, row)
    };
    Numbered(directory.entries.into_iter().map(row).collect())
}

impl Numbered {
    fn folder(self, files: &Arc<NewFiles>) -> Folder {
        let change = |row| match row {
            Row::Directory(inner) => Change::Directory(Box::new(inner.folder(files))),
            Row::File(number) => Change::File(NewFile::of(files, number)),
        };
        let entries = self.0.into_iter();
        let entries = entries.map(|(name, row)| (name.into(), change(row)));
        Folder {
            entries: entries.collect(),
            is_opaque: false,
        }
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
