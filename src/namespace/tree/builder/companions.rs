//! Adding companions: `X.d` and `X.meta` beside the files `X` that have them,
//! and `converted` where it is listed.

use super::{Label, NewInode, TreeBuilder};
use crate::namespace::companion::{self, CONVERTED, Companions, Known, Shows};
use crate::namespace::tree::{Index, InodeKind, ROOT};
use hpimount_containers::text::file_name;
use hpimount_containers::volume::{Name, NodeId, Sink as _};

/// A companion to be added: its directory, its name, and its kind.
type Found = (Index, String, InodeKind);

/// Returns the companion of the root.
fn converted_in_root() -> Found {
    let (of, shows) = (ROOT, Shows::Converted);
    let kind = InodeKind::Companion { of, shows };
    (ROOT, CONVERTED.to_owned(), kind)
}

impl TreeBuilder {
    /// Adds the companions before the entries are grouped, so that these are
    /// sorted once. Returns whether that was possible: if a companion may
    /// depend on other entries of a directory, [`Self::add_companions`] is
    /// used.
    pub(super) fn add_companions_by_extension(&mut self) -> bool {
        let found = self.companions_by_extension();
        let is_possible = found.is_some();
        self.add_all(found.unwrap_or_default());
        is_possible
    }

    fn companions_by_extension(&self) -> Option<Vec<Found>> {
        let Companions {
            inside,
            meta,
            converted,
            others,
        } = self.companions;
        if !self.by_head.is_empty() {
            return None;
        }
        let mut found = Vec::new();
        if !inside && !meta && !converted && others.is_none() {
            return Some(found);
        }
        let mut lists_converted = converted;
        for (directory, dentry) in &self.entries {
            let name = self.tree.dentry_name(dentry);
            if *directory == ROOT && name.eq_ignore_ascii_case(CONVERTED) {
                lists_converted = false;
            }
            let known = companion::known(name);
            if Shows::may_name(name) || known.is_paired {
                return None;
            }
            let of = dentry.inode;
            if let Some(shows) = self.shows_of(known, of) {
                let companion = shows.name_beside(name);
                found.push((*directory, companion, InodeKind::Companion { of, shows }));
            }
        }
        found.extend(lists_converted.then(converted_in_root));
        Some(found)
    }

    /// Returns what the companion of an entry shows, by its extension or its
    /// type.
    fn shows_of(&self, known: Known, file: Index) -> Option<Shows> {
        if !matches!(self.tree.inodes[file as usize].kind, InodeKind::File { .. }) {
            return None;
        }
        let asset = match self.assets.is_empty() {
            true => None,
            false => self.assets.get(&file).copied(),
        };
        self.companions.of(known, asset)
    }

    /// Adds the companions to sorted entries, unless there is a real entry of
    /// that name. Returns whether there were any; if so, the entries must be
    /// grouped again.
    pub(super) fn add_companions(&mut self) -> bool {
        let tree = &self.tree;
        let mut found = Vec::new();
        // Few real entries are named like a companion.
        let mut dentries = tree.dentries.iter();
        let may_be_taken = dentries.any(|dentry| Shows::may_name(tree.dentry_name(dentry)));
        for directory in 0..tree.inodes() {
            for (name, file) in tree.entries(directory, 0) {
                let shows = self.shows_of(companion::known(name), file);
                let inside = || self.is_archive(directory, name, file);
                let Some(shows) = shows.or_else(|| inside().then_some(Shows::Inside)) else {
                    continue;
                };
                let companion = shows.name_beside(name);
                let is_taken = || {
                    let shown = file_name(Name::utf_8(&companion));
                    tree.find(directory, &shown, false).is_some()
                };
                if !may_be_taken || !is_taken() {
                    found.push((
                        directory,
                        companion,
                        InodeKind::Companion { of: file, shows },
                    ));
                }
            }
        }
        if self.companions.converted && tree.find(ROOT, CONVERTED, true).is_none() {
            found.push(converted_in_root());
        }
        if found.is_empty() {
            return false;
        }
        self.ungroup();
        self.add_all(found);
        true
    }

    /// Returns whether a file with an ambiguous extension is an archive.
    fn is_archive(&self, directory: Index, name: &str, file: Index) -> bool {
        let is_file = matches!(self.tree.inodes[file as usize].kind, InodeKind::File { .. });
        let exists = |other: String| self.tree.find(directory, &other, true).is_some();
        let by_head = || self.by_head.contains(&file) && !companion::sheets(name).any(exists);
        is_file && self.companions.inside && (by_head() || companion::partners(name).any(exists))
    }

    fn add_all(&mut self, found: Vec<Found>) {
        self.expect(found.len());
        for (directory, name, kind) in found {
            let inode = NewInode {
                kind,
                ..NewInode::DIR
            };
            // Too many entries: the real ones take precedence.
            let _ = self.add(NodeId(directory), &Label::new(Name::utf_8(&name)), inode);
        }
    }

    /// Removes the inodes from number `first` on, which are companions, with
    /// their entries. The entries are not grouped yet.
    pub(super) fn remove_companions_from(&mut self, first: usize) {
        let tree = &mut self.tree;
        self.entries.retain(|(directory, dentry)| {
            let is_real = (dentry.inode as usize) < first;
            if !is_real {
                tree.inodes[*directory as usize].nlink -= 1;
            }
            is_real
        });
        tree.inodes.truncate(first);
        tree.raw_names.remove_from(first as Index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::tree::Tree;
    use hpimount_containers::volume::{Entry, FileId};

    const INSIDE: Companions = Companions {
        inside: true,
        ..Companions::NONE
    };

    /// Returns a tree of files with these names.
    fn tree(names: &[&str]) -> Tree {
        let mut builder = TreeBuilder::new(0, 0, INSIDE);
        for (number, name) in (0..).zip(names) {
            let entry = Entry {
                file: FileId(number),
                size: Some(1),
                modified: None,
                asset: None,
            };
            builder
                .file(NodeId(ROOT), Name::utf_8(name), entry)
                .unwrap();
        }
        builder.finish()
    }

    /// Returns the names in the root, each companion with the name of its file.
    fn entries(tree: &Tree) -> Vec<(&str, &str)> {
        let of = |index| match tree.inodes[index as usize].kind {
            InodeKind::Companion { of, .. } => tree.name(of),
            _ => "",
        };
        let entries = tree.entries(ROOT, 0);
        entries.map(|(name, index)| (name, of(index))).collect()
    }

    #[test]
    fn companions_come_after_the_files_and_count_as_links_of_the_directory() {
        let tree = tree(&["b.hpi", "a.txt", "A.UFO"]);
        let expected = [
            ("b.hpi", ""),
            ("a.txt", ""),
            ("A.UFO", ""),
            ("b.hpi.d", "b.hpi"),
            ("A.UFO.d", "A.UFO"),
        ];
        assert_eq!(entries(&tree), expected);
        assert_eq!(tree.inodes[ROOT as usize].nlink, 4);
        assert_eq!(tree.find(ROOT, "a.ufo.D", true).unwrap().0, "A.UFO.d");
    }

    #[test]
    fn companions_of_equal_names_are_named_after_the_numbered_files() {
        let tree = tree(&["a.hpi", "b.hpi", "a.hpi"]);
        let expected = [
            ("a (1).hpi", ""),
            ("b.hpi", ""),
            ("a.hpi", ""),
            ("a (1).hpi.d", "a (1).hpi"),
            ("b.hpi.d", "b.hpi"),
            ("a.hpi.d", "a.hpi"),
        ];
        assert_eq!(entries(&tree), expected);
        assert_eq!(tree.inodes[ROOT as usize].nlink, 5);
        assert_eq!(tree.inodes(), 7);
    }

    #[test]
    fn the_root_lists_its_converted_tree_once_unless_an_entry_has_the_name() {
        let listed = |name: &str, in_root: bool| {
            let companions = Companions {
                converted: true,
                ..INSIDE
            };
            let mut builder = TreeBuilder::new(0, 0, companions);
            let below = builder
                .dir(NodeId(ROOT), Name::utf_8("below"), None)
                .unwrap();
            let parent = if in_root { NodeId(ROOT) } else { below };
            builder.dir(parent, Name::utf_8(name), None).unwrap();
            let tree = builder.finish();
            let entries = tree.entries(ROOT, 0);
            Vec::from_iter(entries.map(|(name, _)| name.to_owned()))
        };
        assert_eq!(listed("Converted", true), ["below", "Converted"]);
        assert_eq!(listed("converted", false), ["below", "converted"]);
        assert_eq!(listed("other", true), ["below", "other", "converted"]);
        // The name of a companion, so that they are added after the entries.
        assert_eq!(listed("other.d", true), ["below", "other.d", "converted"]);
    }

    #[test]
    fn a_real_entry_with_the_name_of_a_companion_wins() {
        let tree = tree(&["a.hpi", "a.hpi.d", "b.hpi"]);
        let expected = [
            ("a.hpi", ""),
            ("a.hpi.d", ""),
            ("b.hpi", ""),
            ("b.hpi.d", "b.hpi"),
        ];
        assert_eq!(entries(&tree), expected);
    }
}
