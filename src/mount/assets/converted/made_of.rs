//! The way from assets to what they are converted to.

use std::collections::HashSet;

use crate::mount::assets::Assets;
use crate::mount::tree::place;
use crate::mount::tree::subtree::{ConvertedSource, Node, Rendered};
use crate::mount::{Ino, Meta, Result};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{InodeKind, ROOT};

impl<'m> Assets<'m> {
    /// Returns the paths of the files that these assets, which a directory of files lists, are
    /// converted to, each with its asset.
    ///
    /// # Errors
    /// Returns an error if the directory of the converted tree cannot be built.
    pub(crate) fn converted_files(
        self,
        directory: Ino,
        assets: &[Ino],
    ) -> Result<Vec<(Ino, String)>> {
        let (node, _) = self.mount.directory(directory)?;
        if self.mount.options.meta == Meta::Off || node.subtree().is_rendered() {
            return Ok(Vec::new());
        }
        let Some(mirror) = self.mirror(node)? else {
            return Ok(Vec::new());
        };
        let Rendered::Converted(converted) = &mirror.subtree().rendered else {
            return Ok(Vec::new());
        };
        let assets: HashSet<u64> = assets.iter().map(|asset| asset.0).collect();
        let tree = mirror.tree();
        let mut found = Vec::new();
        for index in 0..tree.inodes() {
            let Some(InodeKind::File { file, .. }) = tree.inode(index).map(|inode| inode.kind)
            else {
                continue;
            };
            if let Some(ConvertedSource::Asset(made)) = converted.files.get(file.0 as usize)
                && assets.contains(&made.asset.0)
            {
                found.push((made.asset, place::path(self.mount, &mirror.other(index))?));
            }
        }
        Ok(found)
    }

    /// Returns the directory of a converted tree with the conversions of a directory of
    /// files; `None` if there are none.
    fn mirror(self, directory: Node<'m>) -> Result<Option<Node<'m>>> {
        // The names down to it.
        let mut names = Vec::new();
        let mut root = directory;
        while !self.mount.is_container_root(&root) {
            let seen = match root.origin() {
                Some(Origin::Directory(seen)) => self.mount.node(seen)?,
                Some(_) => return Ok(None),
                None => root,
            };
            names.push(seen.tree().name(seen.index).to_owned());
            let parent = place::parent(self.mount, &seen)?;
            root = self.mount.enter(self.mount.node(parent)?)?;
        }
        let volume = root.subtree().volumes.first();
        let has_kinds = volume.is_some_and(|volume| volume.volume.assets().is_some());
        let origin = Origin::Hidden(root.ino(), Shows::Converted);
        let mut mirror = Node::entered_root(self.mount.subtree(origin)?);
        if has_kinds {
            // All directories of its tree are in one.
            return Ok(Some(mirror));
        }
        while let Some(name) = names.pop() {
            let Some((_, index)) = mirror.tree().find(mirror.index, &name, false) else {
                return Ok(None);
            };
            mirror = self.mount.enter(mirror.other(index))?;
        }
        debug_assert_eq!(mirror.index, ROOT, "each directory has a tree of its own");
        Ok(Some(mirror))
    }
}
