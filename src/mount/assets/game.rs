//! Unpacked games and mods of Total Annihilation: the directories of a source
//! that paths in their files are relative to.

use crate::mount::tree::MountTree;
use crate::mount::tree::subtree::Node;
use crate::mount::{Error, Result};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{InodeKind, ROOT};
use hpimount_total_annihilation::directories::{DIRECTORIES, FEWEST_DIRECTORIES};

/// Returns the directory that the paths in an asset are relative to: the
/// nearest one around it that is the root of a game, or else the root of its
/// archive, merged game or folder. `node` is a file, or a directory that was
/// entered, which may be the root itself.
///
/// # Errors
/// Returns an error if a directory around it cannot be built again.
pub(crate) fn root_around<'a>(mount: &'a MountTree, node: &Node<'a>) -> Result<Node<'a>> {
    let mut directory = match node.kind() {
        Some(InodeKind::Dir { .. }) => node.clone(),
        _ => parent_in_tree(node)?,
    };
    while !is_root(&directory) {
        let above = match directory.subtree().range.origin {
            _ if directory.index != ROOT => Some(parent_in_tree(&directory)?),
            Origin::Directory(entry) => above_subtree(&mount.node(entry)?)?,
            _ => None,
        };
        match above {
            Some(above) => directory = above,
            None => break,
        }
    }
    Ok(directory)
}

/// Returns the root of the mount around a node, outside of all archives that it
/// is in.
///
/// # Errors
/// Returns an error if a directory around it cannot be built again.
pub(crate) fn outermost<'a>(mount: &'a MountTree, node: &Node<'a>) -> Result<Node<'a>> {
    let mut root = node.other(ROOT);
    while let Origin::Directory(directory) = root.subtree().range.origin {
        root = mount.node(directory)?.other(ROOT);
    }
    Ok(root)
}

/// Returns whether a directory has the directories of a game or a mod, by their
/// names. It was entered.
pub(crate) fn is_root(directory: &Node<'_>) -> bool {
    let tree = directory.tree();
    let is_directory = |name: &&&str| {
        let found = tree.find(directory.index, name, true);
        let inode = found.and_then(|(_, index)| tree.inode(index));
        inode.is_some_and(|inode| {
            matches!(
                inode.kind,
                InodeKind::Dir { .. } | InodeKind::Deferred { .. } | InodeKind::Grafted
            )
        })
    };
    let found = DIRECTORIES.iter().filter(is_directory);
    found.take(FEWEST_DIRECTORIES).count() == FEWEST_DIRECTORIES
}

/// Returns the directory around a subtree whose entry is `entry`; `None` if the
/// subtree is an archive, which paths do not leave.
fn above_subtree<'a>(entry: &Node<'a>) -> Result<Option<Node<'a>>> {
    match entry.kind() {
        Some(InodeKind::Deferred { .. }) => parent_in_tree(entry).map(Some),
        _ => Ok(None),
    }
}

fn parent_in_tree<'a>(node: &Node<'a>) -> Result<Node<'a>> {
    let inode = node.tree().inode(node.index).ok_or(Error::NotFound)?;
    Ok(node.other(inode.parent))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::mount::tree::place;
    use crate::mount::{Ino, Options, Sources, Vfs};

    /// Returns the path of the directory that the paths in a file are relative
    /// to, in a folder with these files.
    fn root_of(files: &[&str], file: &str) -> String {
        let source = tempfile::tempdir().unwrap();
        for file in files {
            let path = source.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let sources = Sources::one(source.path());
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let mut node = vfs.node(Ino::ROOT).unwrap();
        for name in file.split('/') {
            node = vfs.mount.enter(node).unwrap();
            let (_, index) = node.tree().find(node.index, name, true).unwrap();
            node = node.other(index);
        }
        place::path(&vfs.mount, &root_around(&vfs.mount, &node).unwrap()).unwrap()
    }

    #[test]
    fn a_directory_with_those_of_a_game_is_the_root_at_any_depth() {
        let files = [
            "mods/one/Objects3D/tank.3do",
            "mods/one/TEXTURES/wall.gaf",
            "mods/one/notes/old/tank.3do",
        ];
        assert_eq!(root_of(&files, files[0]), "mods/one");
        assert_eq!(root_of(&files, files[2]), "mods/one");
    }

    #[test]
    fn the_nearest_of_several_roots_is_the_one() {
        let files = [
            "units/a.fbi",
            "weapons/a.tdf",
            "mod/units/b.fbi",
            "mod/anims/b.gaf",
            "other/units/c.fbi",
        ];
        assert_eq!(root_of(&files, files[0]), "");
        assert_eq!(root_of(&files, files[2]), "mod");
        assert_eq!(root_of(&files, files[4]), "");
    }

    #[test]
    fn one_directory_or_a_file_with_such_a_name_does_not_make_a_game() {
        let files = ["photos/maps/a.tnt", "photos/units", "photos/b.pcx"];
        assert_eq!(root_of(&files, files[0]), "");
    }
}
