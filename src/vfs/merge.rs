//! Laying the trees of several archives over each other, as the games do
//! (SEMANTICS, Merging).

use std::collections::HashMap;

use super::companion::Companions;
use super::tree::{Index, Kind, Label, NewInode, ROOT, Tree, TreeBuilder};
use crate::archive::NodeId;
use crate::io;

/// Which of several files with the same path is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// That of the highest layer.
    Highest,
    /// The one with the newest date; of several, that of the highest layer.
    /// Files of the layers above this number are seen in any case.
    NewestBelow(usize),
}

/// What merging gives.
pub(super) struct Merged {
    /// What is seen.
    pub(super) tree: TreeBuilder,
    /// What is hidden: a directory for each layer that has something in it,
    /// by the layer's number.
    pub(super) shadowed: Vec<Shadow>,
}

/// The hidden files of one layer.
pub(super) struct Shadow {
    /// The layer.
    pub(super) layer: usize,
    /// Their inodes in the layer's tree.
    pub(super) roots: Vec<Index>,
}

/// An entry of one of the layers.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    layer: usize,
    index: Index,
}

/// A directory that is being merged.
struct Pending {
    node: NodeId,
    /// The directories that become it, highest layer first.
    directories: Vec<Candidate>,
}

/// Merges trees, the last one on top. Layer `n` belongs to the merged tree's
/// archive number `n`.
///
/// # Errors
/// Where there are too many entries.
pub(super) fn merge(layers: &[Tree], rule: Rule, companions: Companions) -> io::Result<Merged> {
    let modified = layers.iter().filter_map(|tree| tree.inode(ROOT));
    let modified = modified.map(|root| root.modified).max().unwrap_or(0);
    let mut merger = Merger {
        layers,
        rule,
        tree: TreeBuilder::new(0, modified, companions),
        shadowed: layers.iter().map(|_| Vec::new()).collect(),
    };
    let directories = (0..layers.len()).rev();
    let mut pending = vec![Pending {
        node: NodeId(ROOT),
        directories: directories
            .map(|layer| Candidate { layer, index: ROOT })
            .collect(),
    }];
    while let Some(directory) = pending.pop() {
        pending.extend(merger.merge_directory(&directory)?);
    }
    let shadowed = merger.shadowed.into_iter().enumerate();
    Ok(Merged {
        tree: merger.tree,
        shadowed: shadowed
            .filter(|(_, roots)| !roots.is_empty())
            .map(|(layer, roots)| Shadow { layer, roots })
            .collect(),
    })
}

struct Merger<'a> {
    layers: &'a [Tree],
    rule: Rule,
    tree: TreeBuilder,
    /// For each layer what of it is hidden.
    shadowed: Vec<Vec<Index>>,
}

impl Merger<'_> {
    /// Merges the entries of one directory; gives its subdirectories.
    fn merge_directory(&mut self, directory: &Pending) -> io::Result<Vec<Pending>> {
        let mut subdirectories = Vec::new();
        for candidates in self.entries_by_name(&directory.directories) {
            let winner = self.winner(&candidates);
            let (seen, hidden): (Vec<_>, Vec<_>) = if self.is_dir(winner) {
                candidates.iter().partition(|&&entry| self.is_dir(entry))
            } else {
                let is_winner = |entry: &&Candidate| entry.layer == winner.layer;
                candidates.iter().partition(is_winner)
            };
            let node = self.add(directory.node, winner)?;
            if self.is_dir(winner) {
                subdirectories.push(Pending {
                    node,
                    directories: seen,
                });
            } else {
                let archives = hidden.iter().map(|entry| entry.layer as u32);
                self.tree.hides(node, archives.collect());
            }
            for entry in hidden {
                self.shadowed[entry.layer].push(entry.index);
            }
        }
        Ok(subdirectories)
    }

    /// The entries of several directories, those together whose names differ
    /// in the case of ASCII letters at most; the highest layer first. Of
    /// several entries of one directory the last one counts, as for the
    /// games; the others are hidden.
    fn entries_by_name(&mut self, directories: &[Candidate]) -> Vec<Vec<Candidate>> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut by_name: Vec<Vec<Candidate>> = Vec::new();
        for &Candidate { layer, index } in directories {
            let tree = &self.layers[layer];
            for (_, child) in tree.entries(index, 0) {
                let folded = tree.plain_name(child).to_ascii_lowercase();
                let entry = Candidate {
                    layer,
                    index: child,
                };
                let place = *places.entry(folded).or_insert_with(|| {
                    by_name.push(Vec::new());
                    by_name.len() - 1
                });
                match by_name[place].last_mut() {
                    Some(last) if last.layer == layer => {
                        self.shadowed[layer].push(last.index);
                        *last = entry;
                    }
                    _ => by_name[place].push(entry),
                }
            }
        }
        by_name
    }

    /// Which of the entries of the same name, highest first, is seen.
    fn winner(&self, candidates: &[Candidate]) -> Candidate {
        let highest = candidates[0];
        let Rule::NewestBelow(free) = self.rule else {
            return highest;
        };
        if self.is_dir(highest) || highest.layer >= free {
            return highest;
        }
        let date = |entry: &Candidate| {
            self.layers[entry.layer]
                .inode(entry.index)
                .map(|inode| inode.modified)
        };
        let files = candidates.iter().filter(|&&entry| !self.is_dir(entry));
        // Of equal ones `max_by_key` takes the last: go from the lowest up.
        let newest = files.rev().max_by_key(|entry| date(entry));
        newest.copied().unwrap_or(highest)
    }

    fn is_dir(&self, entry: Candidate) -> bool {
        let inode = self.layers[entry.layer].inode(entry.index);
        inode.is_some_and(|inode| matches!(inode.kind, Kind::Dir { .. }))
    }

    fn add(&mut self, parent: NodeId, entry: Candidate) -> io::Result<NodeId> {
        copy_inode(&mut self.tree, parent, &self.layers[entry.layer], entry)
    }
}

/// Adds a copy of an entry of a layer, without what is below it.
fn copy_inode(
    builder: &mut TreeBuilder,
    parent: NodeId,
    tree: &Tree,
    entry: Candidate,
) -> io::Result<NodeId> {
    let label = Label::of(tree, entry.index);
    let mut inode = NewInode::DIR;
    if let Some(original) = tree.inode(entry.index) {
        inode.modified = Some(original.modified);
        match original.kind {
            Kind::File { file, .. } => {
                inode.kind = Kind::File {
                    archive: entry.layer as u32,
                    file,
                };
                inode.size = original.size();
            }
            Kind::Verbatim { .. } | Kind::Symlink { .. } => {
                let text = tree.link(entry.index).unwrap_or_default();
                inode.kind = builder.link_kind(&text);
            }
            _ => {}
        }
    }
    builder.add(parent, &label, inode)
}

/// Adds what of a layer is hidden below the directory `root`, each at its own
/// path.
///
/// # Errors
/// Where there are too many entries.
pub(super) fn add_shadow(
    builder: &mut TreeBuilder,
    root: NodeId,
    tree: &Tree,
    shadow: &Shadow,
) -> io::Result<()> {
    let mut copied: HashMap<Index, NodeId> = HashMap::from([(ROOT, root)]);
    let layer = shadow.layer;
    let mut pending = shadow.roots.clone();
    // The lists of directories come after them; from the back, they are
    // taken in the order in which they stand in the archive.
    pending.reverse();
    while let Some(index) = pending.pop() {
        for missing in missing_parents(tree, index, &copied) {
            let parent = tree.inode(missing).map_or(ROOT, |inode| inode.parent);
            let parent = copied.get(&parent).copied().unwrap_or(root);
            let entry = Candidate {
                layer,
                index: missing,
            };
            copied.insert(missing, copy_inode(builder, parent, tree, entry)?);
        }
        pending.extend(tree.entries(index, 0).map(|(_, child)| child));
    }
    Ok(())
}

/// The inodes on the way to `index` and itself, from the top down, that have
/// not been copied.
fn missing_parents(tree: &Tree, index: Index, copied: &HashMap<Index, NodeId>) -> Vec<Index> {
    let mut missing = Vec::new();
    let mut at = index;
    while !copied.contains_key(&at) {
        missing.push(at);
        at = tree.inode(at).map_or(ROOT, |inode| inode.parent);
    }
    missing.reverse();
    missing
}
