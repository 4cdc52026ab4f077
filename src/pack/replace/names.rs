//! Resolving names on the command line to files of an archive.

use std::collections::BTreeMap;

use hpimount_containers::io::Result;
use hpimount_containers::text::file_name;
use hpimount_containers::volume::{Entry, FileId, Name, NodeId, Sink};

/// Maximum number of files that an error lists.
const MAX_LISTED: usize = 20;

/// The names of an archive's files in a mount.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Node 0 is the root.
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    parent: u32,
    name: Box<str>,
    /// The file, also for a link to it.
    file: Option<FileId>,
}

/// How well a path matches a name, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It is equal.
    Path,
    /// It is equal, ignoring case.
    PathInOtherCase,
    /// It ends in the name.
    End,
}

impl Names {
    pub(super) fn new() -> Self {
        let root = Node {
            parent: 0,
            name: "".into(),
            file: None,
        };
        Self { nodes: vec![root] }
    }

    /// Returns the file that `name` refers to: by its path, or by the end of
    /// its path. `by_id` contains the files with `name` as their id.
    ///
    /// # Errors
    /// Returns a message if no file or several files match.
    pub(super) fn find(
        &self,
        name: &str,
        by_id: Vec<FileId>,
    ) -> std::result::Result<FileId, String> {
        let parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
        let wanted: Vec<&str> = parts.collect();
        let folded: Vec<String> = wanted.iter().map(|part| part.to_lowercase()).collect();
        // The best match of each file, and its node.
        let mut fits: BTreeMap<u32, (Fit, usize)> = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let (Some(file), Some(fit)) = (node.file, self.fit(number, &wanted, &folded)) else {
                continue;
            };
            let best = fits.entry(file.0).or_insert((fit, number));
            *best = (*best).min((fit, number));
        }
        let best = fits.values().map(|&(fit, _)| fit).min();
        if best != Some(Fit::Path) && !by_id.is_empty() {
            fits.clear();
            for file in by_id {
                let node = self.nodes.iter().position(|node| node.file == Some(file));
                fits.insert(file.0, (Fit::End, node.unwrap_or_default()));
            }
        } else if let Some(best) = best {
            fits.retain(|_, &mut (fit, _)| fit == best);
        }
        let mut found = fits.keys();
        match (found.next(), found.next()) {
            (Some(&file), None) => Ok(FileId(file)),
            (None, _) => Err("the archive has no such file".to_owned()),
            _ => {
                let paths = fits.values().map(|&(_, node)| self.path(node));
                let mut paths: Vec<String> = paths.collect();
                paths.sort();
                let more = paths.len().saturating_sub(MAX_LISTED);
                paths.truncate(MAX_LISTED);
                let mut list = paths.join(", ");
                if more > 0 {
                    list += &format!(" and {more} more");
                }
                Err(format!("is the name of several files: {list}"))
            }
        }
    }

    /// Returns how the path of a node matches a name, given in components and
    /// in folded components.
    fn fit(&self, node: usize, wanted: &[&str], folded: &[String]) -> Option<Fit> {
        let mut fit = Fit::Path;
        let mut node = node;
        for (part, folded) in wanted.iter().zip(folded).rev() {
            let Node { parent, name, .. } = &self.nodes[node];
            if node == 0 {
                return None;
            }
            if **name != **part {
                fit = Fit::PathInOtherCase;
                if name.to_lowercase() != **folded {
                    return None;
                }
            }
            node = *parent as usize;
        }
        match (wanted, node) {
            ([], _) => None,
            (_, 0) => Some(fit),
            _ => Some(Fit::End),
        }
    }

    /// Returns the path of a node.
    fn path(&self, node: usize) -> String {
        let mut parts = Vec::new();
        let mut at = node;
        while at != 0 {
            parts.push(&*self.nodes[at].name);
            at = self.nodes[at].parent as usize;
        }
        parts.reverse();
        parts.join("/")
    }

    /// Returns the path of a file.
    pub(super) fn path_of(&self, file: FileId) -> String {
        let node = self.nodes.iter().position(|node| node.file == Some(file));
        self.path(node.unwrap_or_default())
    }

    fn add(&mut self, parent: NodeId, name: Name<'_>, file: Option<FileId>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            parent: parent.0,
            name: file_name(name).into(),
            file,
        });
        id
    }

    fn file_of(&self, node: NodeId) -> Option<FileId> {
        self.nodes.get(node.0 as usize)?.file
    }
}

impl Sink for Names {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, parent: NodeId, name: Name<'_>, _modified: Option<i64>) -> Result<NodeId> {
        Ok(self.add(parent, name, None))
    }

    fn file(&mut self, parent: NodeId, name: Name<'_>, entry: Entry) -> Result<NodeId> {
        Ok(self.add(parent, name, Some(entry.file)))
    }

    fn link(&mut self, parent: NodeId, name: Name<'_>, file: NodeId) -> Result<()> {
        let file = self.file_of(file);
        self.add(parent, name, file);
        Ok(())
    }

    fn symlink(&mut self, parent: NodeId, name: Name<'_>, asset: Entry) -> Result<()> {
        self.add(parent, name, Some(asset.file));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::new();
        let entry = |file| Entry {
            file: FileId(file),
            size: Some(0),
            modified: None,
            asset: None,
        };
        let units = names
            .dir(NodeId(0), Name::windows_1252(b"Units"), None)
            .unwrap();
        let other = names
            .dir(NodeId(0), Name::windows_1252(b"other"), None)
            .unwrap();
        for (folder, name, file) in [
            (units, &b"ARMPW.fbi"[..], 0),
            (units, b"lone", 1),
            (other, b"armpw.FBI", 2),
            (other, b"twin", 3),
            (other, b"TWIN", 4),
        ] {
            let name = Name::windows_1252(name);
            names.file(folder, name, entry(file)).unwrap();
        }
        names
    }

    #[test]
    fn a_path_or_the_end_of_one_finds_a_file() {
        let names = names();
        let find = |name| names.find(name, Vec::new());
        assert_eq!(find("Units/ARMPW.fbi"), Ok(FileId(0)));
        assert_eq!(find("/units/./armpw.FBI"), Ok(FileId(0)));
        assert_eq!(find("lone"), Ok(FileId(1)));
        // The exact spelling takes precedence.
        assert_eq!(find("other/TWIN"), Ok(FileId(4)));
        for name in ["", "nits/lone", "x/Units/lone", "Units"] {
            assert_eq!(find(name).unwrap_err(), "the archive has no such file");
        }
    }

    #[test]
    fn a_name_of_several_files_lists_them() {
        let names = names();
        assert_eq!(
            names.find("armpw.fbi", Vec::new()).unwrap_err(),
            "is the name of several files: Units/ARMPW.fbi, other/armpw.FBI"
        );
        assert_eq!(
            names.find("other/Twin", Vec::new()).unwrap_err(),
            "is the name of several files: other/TWIN, other/twin"
        );
    }

    #[test]
    fn an_id_takes_precedence_over_the_end_of_a_path() {
        let names = names();
        assert_eq!(names.find("lone", vec![FileId(3)]), Ok(FileId(3)));
        assert_eq!(names.find("Units/lone", vec![FileId(3)]), Ok(FileId(1)));
        assert_eq!(
            names.find("0", vec![FileId(0), FileId(3)]).unwrap_err(),
            "is the name of several files: Units/ARMPW.fbi, other/twin"
        );
    }
}
