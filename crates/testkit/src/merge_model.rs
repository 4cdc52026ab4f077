//! A simple model of a merged mount.

use std::collections::BTreeMap;

use hpimount_containers::text::numbered;

use crate::merging::Tree;

/// The contents of a layer's directory, in the archive's order.
pub type Entries = Vec<(String, Node)>;

#[derive(Debug, Clone)]
pub enum Node {
    File(Vec<u8>),
    Directory(Entries),
}

/// An archive, or the loose files of a folder.
#[derive(Debug, Clone)]
pub struct Layer {
    pub name: String,
    pub entries: Entries,
    /// The date of its files. The newest file wins among archives with dates, and
    /// otherwise the highest.
    pub date: Option<u32>,
}

/// Merges loose directories with names that differ only in case. The first name is
/// kept.
pub fn one_of_each_case(entries: Entries) -> Entries {
    let mut merged: Entries = Vec::new();
    for (name, node) in entries {
        let same = |other: &&mut (String, Node)| {
            other.0.eq_ignore_ascii_case(&name) && matches!(other.1, Node::Directory(_))
        };
        match (node, merged.iter_mut().find(same)) {
            (Node::Directory(entries), Some((_, Node::Directory(first)))) => first.extend(entries),
            (node, _) => merged.push((name, node)),
        }
    }
    for (_, node) in &mut merged {
        if let Node::Directory(entries) = node {
            *entries = one_of_each_case(std::mem::take(entries));
        }
    }
    merged
}

/// The contents of a mount at a path.
#[derive(Debug, PartialEq)]
pub struct Seen {
    /// `None` for a directory.
    pub bytes: Option<Vec<u8>>,
    /// The archive it is from.
    pub source: String,
    /// The archives with files hidden by it, highest first.
    pub shadows: Vec<String>,
}

#[derive(Default)]
pub struct Model {
    pub seen: BTreeMap<String, Seen>,
    pub shadowed: Tree,
}

/// A directory of a layer: the layer, the path there, and its entries.
type Part<'a> = (&'a Layer, String, &'a Entries);

impl Model {
    /// Merges layers, the last one on top.
    pub fn new(layers: &[Layer]) -> Self {
        let mut model = Self::default();
        let parts = layers.iter().rev();
        let parts: Vec<Part> = parts
            .map(|layer| (layer, String::new(), &layer.entries))
            .collect();
        model.merge("", &parts);
        model
    }

    /// Returns the files and directories that the mount shows.
    pub fn tree(&self) -> Tree {
        let paths = self.seen.iter();
        paths
            .map(|(path, seen)| (path.clone(), seen.bytes.clone()))
            .collect()
    }

    fn merge(&mut self, at: &str, parts: &[Part]) {
        let mut same: BTreeMap<String, Vec<(&Layer, String, &str, &Node)>> = BTreeMap::new();
        for &(layer, ref path, entries) in parts {
            for (name, node) in entries {
                let found = same.entry(name.to_ascii_lowercase()).or_default();
                // The last entry in an archive wins.
                if let Some(last) = found.pop_if(|last| last.0.name == layer.name) {
                    self.hide(last.0, &last.1, last.3);
                }
                found.push((layer, format!("{path}/{name}"), name, node));
            }
        }
        for mut candidates in same.into_values() {
            let is_dir = |node: &Node| matches!(node, Node::Directory(_));
            let highest = &candidates[0];
            let winner = if is_dir(highest.3) || highest.0.date.is_none() {
                0
            } else {
                let files = (0..candidates.len()).filter(|&index| !is_dir(candidates[index].3));
                let newest = files.rev().max_by_key(|&index| candidates[index].0.date);
                newest.unwrap()
            };
            let (layer, path, name, node) = candidates.remove(winner);
            let (directories, hidden): (Vec<_>, Vec<_>) = candidates
                .into_iter()
                .partition(|other| is_dir(node) && is_dir(other.3));
            for other in &hidden {
                self.hide(other.0, &other.1, other.3);
            }
            let seen_path = join(at, name);
            let shadows = hidden.iter().map(|other| other.0.name.clone()).collect();
            let bytes = match node {
                Node::File(bytes) => Some(bytes.clone()),
                Node::Directory(_) => None,
            };
            let source = layer.name.clone();
            self.seen.insert(
                seen_path.clone(),
                Seen {
                    bytes,
                    source,
                    shadows,
                },
            );
            let all = [(layer, path, name, node)].into_iter().chain(directories);
            let parts: Vec<Part> = all
                .filter_map(|(layer, path, _, node)| match node {
                    Node::Directory(entries) => Some((layer, path, entries)),
                    Node::File(_) => None,
                })
                .collect();
            self.merge(&seen_path, &parts);
        }
    }

    /// Adds an entry and everything below it to the shadowed files, with the
    /// directories above it.
    fn hide(&mut self, layer: &Layer, path: &str, node: &Node) {
        let path = format!("{}{path}", layer.name);
        for (slash, _) in path.match_indices('/') {
            self.place(&path[..slash], None);
        }
        match node {
            Node::File(bytes) => self.place(&path, Some(bytes)),
            Node::Directory(entries) => {
                self.place(&path, None);
                let below = &path[layer.name.len()..];
                for (name, node) in entries {
                    self.hide(layer, &format!("{below}/{name}"), node);
                }
            }
        }
    }

    /// Adds one shadowed file or directory. Merged directories may contain the same
    /// name; the last entry gets it, and directories among them are merged.
    fn place(&mut self, path: &str, bytes: Option<&Vec<u8>>) {
        let earlier = self.shadowed.get(path);
        if earlier.is_some_and(|earlier| earlier.is_some() || bytes.is_some()) {
            self.number(path);
        }
        self.shadowed.insert(path.to_owned(), bytes.cloned());
    }

    /// Moves a shadowed entry and everything below it to a free name.
    fn number(&mut self, path: &str) {
        let (directory, name) = path.rsplit_once('/').unwrap();
        let mut paths = (1..).map(|number| format!("{directory}/{}", numbered(name, number)));
        let free = paths.find(|path| !self.shadowed.contains_key(path));
        let free = free.unwrap();
        let below = format!("{path}/");
        let is_moved = |other: &&String| *other == path || other.starts_with(&below);
        let moved: Vec<_> = self.shadowed.keys().filter(is_moved).cloned().collect();
        for from in moved {
            let bytes = self.shadowed.remove(&from).unwrap();
            self.shadowed
                .insert(format!("{free}{}", &from[path.len()..]), bytes);
        }
    }
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}
