//! Merging of the trees of several archives, as the games do (SEMANTICS,
//! Merging).

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use crate::namespace::companion::Companions;
use crate::namespace::tree::{Index, InodeKind, Label, NewInode, ROOT, Tree, TreeBuilder};
use hpimount_containers::io;
use hpimount_containers::volume::NodeId;

/// Precedence of several files with the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The file in the highest layer.
    Highest,
    /// The one with the newest date; of equal dates, the file in the highest
    /// layer. Files of the layers above this number win in any case.
    NewestBelow(usize),
}

/// The names in lower case that the last layer deletes from the others, by its
/// directories.
pub(crate) type Whiteouts = HashMap<Index, HashSet<String>>;

/// The result of merging.
pub(crate) struct Merged {
    /// The visible files.
    pub(crate) tree: TreeBuilder,
    /// The hidden files: a directory for each layer that has any, by the
    /// layer's number.
    pub(crate) shadowed: Vec<Shadow>,
}

/// The hidden files of one layer.
pub(crate) struct Shadow {
    /// The layer.
    pub(crate) layer: usize,
    /// Their inodes in the layer's tree.
    pub(crate) roots: Vec<Index>,
}

/// The archives of a merged mount, lowest first.
pub(crate) struct MergedLayers {
    /// Their names. A mount that is not merged has a name here, but no tree, for
    /// each volume of its root.
    pub(crate) names: Vec<String>,
    /// Their trees.
    pub(crate) trees: Vec<Tree>,
    /// The files in these trees that others hide.
    pub(crate) shadowed: Vec<Shadow>,
}

impl MergedLayers {
    /// Returns the layers of a mount that is not merged, with the names of the
    /// volumes of its root.
    pub(crate) fn none(names: Vec<String>) -> Self {
        Self {
            names,
            trees: Vec::new(),
            shadowed: Vec::new(),
        }
    }
}

/// An entry of one of the layers.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    layer: usize,
    index: Index,
}

/// A name that is compared ignoring ASCII case.
#[derive(Debug, Clone, Copy, Eq)]
struct Folded<'a>(&'a str);

impl PartialEq for Folded<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Hash for Folded<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
    }
}

/// A directory that is being merged.
struct Pending {
    node: NodeId,
    /// The directories that are merged, highest layer first.
    directories: Vec<Candidate>,
}

/// Merges trees, the last one on top. Layer `n` belongs to the merged tree's
/// volume number `n`. The last one deletes entries of the others by `whiteouts`.
///
/// # Errors
/// Returns an error if there are too many entries.
pub(crate) fn merge(
    layers: &[Tree],
    rule: Rule,
    companions: Companions,
    whiteouts: &Whiteouts,
) -> io::Result<Merged> {
    let modified = layers.iter().filter_map(|tree| tree.inode(ROOT));
    let modified = modified.map(|root| root.modified).max().unwrap_or(0);
    let mut merger = Merger {
        layers,
        rule,
        whiteouts,
        tree: TreeBuilder::new(0, modified, companions),
        shadowed: layers.iter().map(|_| Vec::new()).collect(),
    };
    let directories = (0..layers.len()).rev();
    // Breadth first, so that the directories come in the order of their numbers
    // and the tree has nothing to sort.
    let mut pending = VecDeque::from([Pending {
        node: NodeId(ROOT),
        directories: directories
            .map(|layer| Candidate { layer, index: ROOT })
            .collect(),
    }]);
    while let Some(directory) = pending.pop_front() {
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
    whiteouts: &'a Whiteouts,
    tree: TreeBuilder,
    /// The hidden entries of each layer.
    shadowed: Vec<Vec<Index>>,
}

impl Merger<'_> {
    /// Merges the entries of one directory and returns its subdirectories.
    fn merge_directory(&mut self, directory: &Pending) -> io::Result<Vec<Pending>> {
        let mut subdirectories = Vec::new();
        let entries = self.entries_by_name(&directory.directories);
        for same_name in entries.chunk_by(|(a, _), (b, _)| a == b) {
            let mut candidates = self.last_of_each_layer(same_name);
            let deleted = self.take_deleted(directory, &mut candidates);
            for entry in &deleted {
                self.shadowed[entry.layer].push(entry.index);
            }
            let Some(&highest) = candidates.first() else {
                continue;
            };
            let winner = self.winner(highest, &candidates);
            let winner_is_dir = self.is_dir(winner);
            let (seen, hidden): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|&entry| {
                entry.layer == winner.layer || (winner_is_dir && self.is_dir(entry))
            });
            let node = self.add(directory.node, winner)?;
            let layers = hidden.iter().chain(&deleted);
            self.tree
                .hides(node, layers.map(|entry| entry.layer as u32));
            for entry in hidden {
                self.shadowed[entry.layer].push(entry.index);
            }
            if winner_is_dir {
                subdirectories.push(Pending {
                    node,
                    directories: seen,
                });
            }
        }
        Ok(subdirectories)
    }

    /// Returns the entries of several directories, with a number for each name.
    /// Names that are equal except for ASCII case have the same number and are
    /// adjacent, with the highest layer first.
    fn entries_by_name(&self, directories: &[Candidate]) -> Vec<(usize, Candidate)> {
        let mut numbers: HashMap<Folded<'_>, usize> = HashMap::new();
        let mut found = Vec::new();
        for &Candidate { layer, index } in directories {
            let tree = &self.layers[layer];
            for (_, index) in tree.entries(index, 0) {
                let next = numbers.len();
                let name = Folded(tree.plain_name(index));
                let number = *numbers.entry(name).or_insert(next);
                found.push((number, Candidate { layer, index }));
            }
        }
        // Stable, so that the layers stay in their order.
        found.sort_by_key(|&(number, _)| number);
        found
    }

    /// Keeps the last of several entries of one directory with the same name,
    /// as the games do; hides the others.
    fn last_of_each_layer(&mut self, same_name: &[(usize, Candidate)]) -> Vec<Candidate> {
        let mut last: Vec<Candidate> = Vec::with_capacity(same_name.len());
        for &(_, entry) in same_name {
            match last.last_mut() {
                Some(earlier) if earlier.layer == entry.layer => {
                    self.shadowed[entry.layer].push(earlier.index);
                    *earlier = entry;
                }
                _ => last.push(entry),
            }
        }
        last
    }

    /// Removes the entries that the last layer deletes from entries of a directory
    /// with the same name, which are given highest first, and returns them.
    fn take_deleted(&self, directory: &Pending, candidates: &mut Vec<Candidate>) -> Vec<Candidate> {
        let last = self.layers.len() - 1;
        let on_top = directory.directories.first();
        let whiteouts = on_top
            .filter(|top| top.layer == last)
            .and_then(|top| self.whiteouts.get(&top.index));
        let is_deleted = |entry: &Candidate| {
            let name = self.layers[entry.layer].plain_name(entry.index);
            whiteouts.is_some_and(|names| names.contains(&name.to_ascii_lowercase()))
        };
        match candidates.first().is_some_and(is_deleted) {
            true => {
                let stays = candidates.partition_point(|entry| entry.layer == last);
                candidates.split_off(stays)
            }
            false => Vec::new(),
        }
    }

    /// Returns the entry that wins among entries of the same name, which are
    /// given highest first.
    fn winner(&self, highest: Candidate, candidates: &[Candidate]) -> Candidate {
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
        // From the lowest up, since `max_by_key` returns the last of equal
        // dates.
        let newest = files.rev().max_by_key(|entry| date(entry));
        newest.copied().unwrap_or(highest)
    }

    fn is_dir(&self, entry: Candidate) -> bool {
        let inode = self.layers[entry.layer].inode(entry.index);
        inode.is_some_and(|inode| matches!(inode.kind, InodeKind::Dir { .. }))
    }

    fn add(&mut self, parent: NodeId, entry: Candidate) -> io::Result<NodeId> {
        copy_inode(&mut self.tree, parent, &self.layers[entry.layer], entry)
    }
}

/// Adds a copy of an entry of a layer, without its children.
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
            InodeKind::File { file, .. } => {
                inode.kind = InodeKind::File {
                    volume: entry.layer as u32,
                    file,
                };
                inode.size = original.size();
            }
            InodeKind::StoredLink { file, .. } => {
                inode.kind = InodeKind::StoredLink {
                    volume: entry.layer as u32,
                    file,
                };
                inode.size = original.size();
            }
            InodeKind::Verbatim { .. } => {
                let text = tree.link(entry.index).unwrap_or_default();
                inode.kind = builder.link_kind(text)?;
            }
            _ => {}
        }
    }
    builder.add(parent, &label, inode)
}

/// Adds the hidden entries of a layer below the directory `root`, each at its
/// own path and in the order of the archive.
///
/// # Errors
/// Returns an error if there are too many entries.
pub(crate) fn add_shadow(
    builder: &mut TreeBuilder,
    root: NodeId,
    tree: &Tree,
    shadow: &Shadow,
) -> io::Result<()> {
    // The parent directories of hidden entries that are not hidden themselves.
    let mut leading: HashMap<Index, NodeId> = HashMap::from([(ROOT, root)]);
    let layer = shadow.layer;
    let mut copy = |parent, index| copy_inode(builder, parent, tree, Candidate { layer, index });
    for &hidden in &shadow.roots {
        let mut parent = root;
        for directory in tree.directories_to(hidden) {
            parent = match leading.get(&directory) {
                Some(&known) => known,
                None => copy(parent, directory)?,
            };
            leading.insert(directory, parent);
        }
        let mut pending = VecDeque::from([(parent, hidden)]);
        while let Some((parent, index)) = pending.pop_front() {
            let node = copy(parent, index)?;
            pending.extend(tree.entries(index, 0).map(|(_, child)| (node, child)));
        }
    }
    Ok(())
}
