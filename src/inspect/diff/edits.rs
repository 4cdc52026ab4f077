//! Contents of a folder of changes that turns one side into the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::record::{Nature, Record};
use crate::mount::FileKind;
use crate::namespace::companion::archive_of;
use hpimount_containers::{formats, iso};

/// Change of an entry of the first side, or an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// It is the file of the second side.
    File,
    /// Like `File`, unless the changes inside suffice.
    Archive,
    /// It is a directory, which the first side has not.
    Directory,
    /// Like `Directory`, in place of what is none.
    Instead,
    /// It is deleted.
    Deleted,
    /// It is a symbolic link.
    Link,
    /// Its bytes follow from the tables of an archive.
    Generated,
}

/// Archives that are exported as a whole, by their paths.
pub(super) type Whole = BTreeSet<Box<str>>;

/// The edits of a comparison by their paths, as many as fit.
pub(super) struct Edits {
    by_path: BTreeMap<Box<str>, Edit>,
    /// The paths of the archives by [`folded`] ones.
    archives: HashMap<Box<str>, Box<str>>,
    /// Number of bytes that more of them may take.
    room: usize,
    /// True if there were more.
    pub(super) is_full: bool,
    /// The first entry that could not be compared, and the reason.
    pub(super) trouble: Option<String>,
}

impl Edits {
    /// Creates an empty list of at most this many bytes.
    pub(super) fn new(room: usize) -> Self {
        Self {
            by_path: BTreeMap::new(),
            archives: HashMap::new(),
            room,
            is_full: false,
            trouble: None,
        }
    }

    /// Adds what a record says.
    pub(super) fn add(&mut self, record: &Record) {
        let of_kind = |kind| match kind {
            FileKind::File => Edit::File,
            FileKind::Directory => Edit::Directory,
            FileKind::Symlink => Edit::Link,
        };
        match record {
            Record::Changed {
                path,
                new_path: Some(new_path),
                ..
            }
            | Record::Moved { path, new_path } => {
                self.put(path, Edit::Deleted);
                self.put(new_path, Edit::File);
            }
            Record::Changed { path, nature, .. } => match nature {
                Nature::Stored => self.put(path, Edit::File),
                Nature::Archive => self.put(path, Edit::Archive),
                Nature::Generated => self.put(path, Edit::Generated),
                Nature::Layout => {}
            },
            Record::Lone { side: 0, path, .. } => self.put(path, Edit::Deleted),
            Record::Lone { path, kind, .. } => self.put(path, of_kind(*kind)),
            Record::Kinds { path, kinds } => match kinds[1] {
                FileKind::Directory => self.put(path, Edit::Instead),
                kind => self.put(path, of_kind(kind)),
            },
            Record::Target { path, .. } => self.put(path, Edit::Link),
            Record::Trouble { path, cause, .. } => {
                self.trouble.get_or_insert_with(|| match path.as_str() {
                    "" => cause.clone(),
                    path => format!("{path}: {cause}"),
                });
            }
        }
    }

    fn put(&mut self, path: &str, edit: Edit) {
        // The nodes of the tree are at least half full, and likewise the table.
        let entry = path.len() + 4 * size_of::<(Box<str>, Edit)>();
        let bytes = match edit {
            Edit::Archive => entry + 2 * path.len() + 4 * size_of::<[Box<str>; 2]>(),
            _ => entry,
        };
        let Some(room) = self.room.checked_sub(bytes) else {
            self.is_full = true;
            return;
        };
        self.room = room;
        self.by_path.insert(path.into(), edit);
        if edit == Edit::Archive {
            self.archives.insert(folded(path).into(), path.into());
        }
    }

    /// Returns all edits in the order of their paths.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, Edit)> {
        self.by_path.iter().map(|(path, &edit)| (&**path, edit))
    }

    /// Returns whether an edit is written to the folder, rather than others of the same
    /// file or of what it is in.
    pub(super) fn is_written(&self, path: &str, edit: Edit, whole: &Whole) -> bool {
        let is_replaced = ancestors(path).any(|above| match self.by_path.get(above) {
            Some(edit) => *edit == Edit::Deleted,
            None => archive_of(above).is_some_and(|archive| {
                // An archive that cannot be opened has contents that say why.
                whole.contains(archive) || self.by_path.get(archive) == Some(&Edit::File)
            }),
        });
        !is_replaced
            && match edit {
                Edit::File => !self.is_in_another_form(path) && !self.is_of_pair(path, whole),
                Edit::Archive => whole.contains(path),
                Edit::Directory | Edit::Instead | Edit::Deleted => true,
                Edit::Link | Edit::Generated => false,
            }
    }

    /// Returns whether a file is exported with the whole contents of its sectors.
    fn is_in_another_form(&self, path: &str) -> bool {
        let [raw, others @ ..] = iso::SECTOR_SUFFIXES;
        let stem = others.iter().find_map(|suffix| path.strip_suffix(suffix));
        [Some(path), stem].into_iter().flatten().any(|stem| {
            let raw = self.by_path.get(&*format!("{stem}{raw}"));
            raw == Some(&Edit::File)
        })
    }

    /// Returns whether a file is a part of the archive beside it, of which only the changes
    /// inside are exported.
    pub(super) fn is_of_pair(&self, path: &str, whole: &Whole) -> bool {
        let (directory, name) = split(path);
        let mut others = formats::changed_pairs().filter_map(|pair| pair.other(name));
        others.any(|other| {
            let beside = self.archives.get(&*folded(&format!("{directory}{other}")));
            beside.is_some_and(|archive| !whole.contains(archive))
        })
    }

    /// Returns whether anything below a directory is in the list.
    pub(super) fn has_below(&self, directory: &str) -> bool {
        let start = format!("{directory}/");
        let mut below = self.by_path.range(Box::from(&*start)..);
        below
            .next()
            .is_some_and(|(path, _)| path.starts_with(&*start))
    }

    /// Returns the innermost archive that a path is in, or is, among those of which only
    /// the changes inside are exported.
    pub(super) fn archive_around(&self, path: &str, whole: &Whole) -> Option<&str> {
        let own = [path].into_iter().chain(ancestors(path));
        let mut archives = own.flat_map(|path| [Some(path), archive_of(path)]);
        archives.find_map(|archive| {
            let (archive, edit) = self.by_path.get_key_value(archive?)?;
            (*edit == Edit::Archive && !whole.contains(archive)).then_some(&**archive)
        })
    }
}

/// Divides a path into the directory, with its slash, and the name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
}

/// Returns a path with the name in lower case.
fn folded(path: &str) -> String {
    let (directory, name) = split(path);
    format!("{directory}{}", name.to_ascii_lowercase())
}

/// Returns the directories around a path, the innermost first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(path.rsplit_once('/')?.0)).skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_pair_has_its_archive_beside_it_whatever_its_case() {
        let mut edits = Edits::new(1 << 12);
        edits.put("d/A.WAD", Edit::Archive);
        let mut whole = Whole::new();
        assert!(edits.is_of_pair("d/a.Hed", &whole));
        for other in ["a.hed", "D/a.hed", "d/b.hed", "d/a.txt"] {
            assert!(!edits.is_of_pair(other, &whole), "{other}");
        }
        whole.insert("d/A.WAD".into());
        assert!(!edits.is_of_pair("d/a.Hed", &whole));
    }
}
