//! Resolving names on the command line to files of an archive.

use std::collections::BTreeMap;

use hpimount_containers::changes::{Kind, Tree};
use hpimount_containers::volume::{FileId, NodeId};

/// Maximum number of files that an error lists.
const MAX_LISTED: usize = 20;

/// Quality of the match of a path with a name, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It is equal.
    Path,
    /// It is equal, ignoring case.
    PathInOtherCase,
    /// It ends in the name.
    End,
}

/// Returns the file of an archive that `name` refers to: by its path, or by the end of
/// its path. `by_id` contains the files with `name` as their id.
///
/// # Errors
/// Returns a message if no file or several files match.
pub(super) fn find(
    tree: &Tree,
    name: &str,
    by_id: Vec<FileId>,
) -> std::result::Result<FileId, String> {
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
    let wanted: Vec<&str> = parts.collect();
    let folded: Vec<String> = wanted.iter().map(|part| part.to_lowercase()).collect();
    // The best match of each file, and its node.
    let mut fits: BTreeMap<u32, (Fit, u32)> = BTreeMap::new();
    for (node, _) in tree.nodes() {
        let (Some(file), Some(fit)) = (file_of(tree, node), fit(tree, node, &wanted, &folded))
        else {
            continue;
        };
        let best = fits.entry(file.0).or_insert((fit, node.0));
        *best = (*best).min((fit, node.0));
    }
    let best = fits.values().map(|&(fit, _)| fit).min();
    if best != Some(Fit::Path) && !by_id.is_empty() {
        let named = by_id.into_iter().map(|file| {
            let node = tree.node_of(file).unwrap_or(NodeId(0));
            (file.0, (Fit::End, node.0))
        });
        fits = named.collect();
    } else if let Some(best) = best {
        fits.retain(|_, &mut (fit, _)| fit == best);
    }
    let mut found = fits.keys();
    match (found.next(), found.next()) {
        (Some(&file), None) => Ok(FileId(file)),
        (None, _) => Err("the archive has no such file".to_owned()),
        _ => {
            let paths = fits.values().map(|&(_, node)| tree.path(NodeId(node)));
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

/// Returns the file that a node is a name of.
fn file_of(tree: &Tree, node: NodeId) -> Option<FileId> {
    match tree.node(tree.resolve(node)).kind {
        Kind::File(entry) => entry.map(|entry| entry.file),
        _ => None,
    }
}

/// Returns how the path of a node matches a name, given in components and in folded
/// components.
fn fit(tree: &Tree, node: NodeId, wanted: &[&str], folded: &[String]) -> Option<Fit> {
    let mut fit = Fit::Path;
    let mut at = node;
    for (part, folded) in wanted.iter().zip(folded).rev() {
        if at == NodeId(0) {
            return None;
        }
        let name = tree.node(at).name;
        if name != *part {
            fit = Fit::PathInOtherCase;
            if name.to_lowercase() != **folded {
                return None;
            }
        }
        at = tree.parent(at);
    }
    match (wanted, at) {
        ([], _) => None,
        (_, NodeId(0)) => Some(fit),
        _ => Some(Fit::End),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_containers::volume::{Entry, Name, Sink};

    fn names() -> Tree {
        let mut names = Tree::default();
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
        let find = |name| find(&names, name, Vec::new());
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
            find(&names, "armpw.fbi", Vec::new()).unwrap_err(),
            "is the name of several files: Units/ARMPW.fbi, other/armpw.FBI"
        );
        assert_eq!(
            find(&names, "other/Twin", Vec::new()).unwrap_err(),
            "is the name of several files: other/TWIN, other/twin"
        );
    }

    #[test]
    fn an_id_takes_precedence_over_the_end_of_a_path() {
        let names = names();
        assert_eq!(find(&names, "lone", vec![FileId(3)]), Ok(FileId(3)));
        assert_eq!(find(&names, "Units/lone", vec![FileId(3)]), Ok(FileId(1)));
        assert_eq!(
            find(&names, "0", vec![FileId(0), FileId(3)]).unwrap_err(),
            "is the name of several files: Units/ARMPW.fbi, other/twin"
        );
    }
}
