//! Search for files by their extensions, in all directories.

use crate::mount::tree::MountTree;
use crate::mount::tree::subtree::{HeldIno, Node};
use crate::namespace::tree::InodeKind;
use hpimount_containers::text::has_extension;

/// Maximum number of entries that are examined.
const MAX_FOUND: usize = 1 << 21;

/// Returns the files with one of these extensions in and below the directories
/// of `root` whose names begin with `folder`, ignoring ASCII case, in the order
/// of their paths; with an empty `folder`, also those in `root` itself.
/// Directories that are listed on demand are entered; companions are not.
pub(crate) fn files_below(
    mount: &MountTree,
    root: &Node<'_>,
    folder: &str,
    extensions: &[&str],
) -> Vec<HeldIno> {
    let search = Search { folder, extensions };
    let mut found = Vec::new();
    let mut left = MAX_FOUND;
    // Numbers instead of nodes: subtrees may be evicted meanwhile.
    let mut open = search.within(root, true, &mut left);
    while let Some(ino) = open.pop() {
        let Ok(node) = mount.node(*ino) else {
            continue;
        };
        if matches!(node.kind(), Some(InodeKind::File { .. })) {
            found.push(ino);
        } else if let Ok(directory) = mount.enter(node) {
            open.extend(search.within(&directory, false, &mut left));
        }
    }
    found
}

/// The criteria of a search.
struct Search<'s> {
    folder: &'s str,
    extensions: &'s [&'s str],
}

impl Search<'_> {
    /// Returns the matching files of a directory, and its directories, the last
    /// one first.
    fn within(&self, directory: &Node<'_>, is_root: bool, left: &mut usize) -> Vec<HeldIno> {
        let (tree, index) = (directory.tree(), directory.index);
        let entries = tree.entries_by_name(index).take(*left);
        let mut wanted = Vec::new();
        for (name, entry) in entries {
            *left -= 1;
            // A file with several links is reported under the first one.
            let inode = tree.inode(entry).filter(|inode| inode.parent == index);
            let is_wanted = match inode.map(|inode| inode.kind) {
                Some(InodeKind::File { .. }) => {
                    (!is_root || self.folder.is_empty()) && self.has_extension(name)
                }
                Some(InodeKind::Dir { .. } | InodeKind::Deferred { .. } | InodeKind::Grafted) => {
                    !is_root || self.is_folder(name)
                }
                _ => false,
            };
            if is_wanted {
                wanted.push(directory.other(entry).held_ino());
            }
        }
        wanted.reverse();
        wanted
    }

    fn has_extension(&self, name: &str) -> bool {
        let mut extensions = self.extensions.iter();
        extensions.any(|extension| has_extension(name.as_bytes(), extension))
    }

    fn is_folder(&self, name: &str) -> bool {
        let start = name.get(..self.folder.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(self.folder))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::mount::tree::place;
    use crate::mount::{Ino, Options, Sources, Vfs};
    use crate::namespace::tree::ROOT;

    /// Returns the paths that are found in a folder with these files.
    fn found(files: &[&str], folder: &str, extensions: &[&str]) -> Vec<String> {
        let source = tempfile::tempdir().unwrap();
        for file in files {
            let path = source.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let sources = Sources::one(source.path());
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let root = vfs.node(Ino::ROOT).unwrap().other(ROOT);
        let found = files_below(&vfs.mount, &root, folder, extensions).into_iter();
        let path = |ino: HeldIno| place::path(&vfs.mount, &vfs.node(*ino).unwrap()).unwrap();
        found.map(path).collect()
    }

    #[test]
    fn files_are_found_in_directories_that_are_listed_on_demand() {
        let files = [
            "b.TDF",
            "Weapons/z.tdf",
            "Weapons/deep/er/a.tdf",
            "Weapons/a.txt",
            "weaponscb/m.Tdf",
            "other/weapons/n.tdf",
        ];
        let expected = ["Weapons/deep/er/a.tdf", "Weapons/z.tdf", "weaponscb/m.Tdf"];
        assert_eq!(found(&files, "WEAPONS", &["tdf"]), expected);
        let all = [&["b.TDF", "other/weapons/n.tdf"][..], &expected].concat();
        assert_eq!(found(&files, "", &["tdf", "fbi"]), all);
    }

    #[test]
    fn companions_are_not_entered() {
        // Each has an `X.meta`, and the archive an `X.d`.
        let files = ["units/a.fbi", "units/b.hpi", "units/model.3do"];
        assert_eq!(found(&files, "units", &["fbi", "json", "txt"]), files[..1]);
    }
}
