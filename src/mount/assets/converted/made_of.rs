//! The converted files of assets.

use crate::mount::assets::Assets;
use crate::mount::tree::place;
use crate::mount::tree::subtree::{Converted, ConvertedSource, Node, Rendered};
use crate::mount::{Ino, Meta, Result};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Index, InodeKind, ROOT, Tree};

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
        let by_asset = converted
            .by_asset
            .get_or_init(|| by_asset(converted, mirror.tree()));
        let mut found = Vec::new();
        for asset in assets {
            let start = by_asset.partition_point(|(known, _)| *known < asset.0);
            let files = by_asset[start..].iter();
            for (_, index) in files.take_while(|(known, _)| *known == asset.0) {
                found.push((*asset, place::path(self.mount, &mirror.other(*index))?));
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

/// Returns the assets of a converted tree in the order of their numbers, each with the inode of a
/// file that it is converted to.
fn by_asset(converted: &Converted, tree: &Tree) -> Box<[(u64, Index)]> {
    let made_of = |index| {
        let Some(InodeKind::File { file, .. }) = tree.inode(index).map(|inode| inode.kind) else {
            return None;
        };
        match converted.files.get(file.0 as usize)? {
            ConvertedSource::Asset(made) => Some((made.asset.0, index)),
            ConvertedSource::Report(_) => None,
        }
    };
    let mut all: Vec<_> = (0..tree.inodes()).filter_map(made_of).collect();
    all.sort_unstable();
    all.into_boxed_slice()
}
