//! The preparation of a tree for an archive: its names are checked, encoded and
//! sorted.

use encoding_rs::WINDOWS_1252;

use crate::volume::MAX_DEPTH;
use crate::write::{Directory, Error, File, Node, Result};

/// A name as an archive stores it, and its contents.
pub(super) struct Entry<'a> {
    /// In Windows-1252.
    pub(super) name: Vec<u8>,
    pub(super) content: Content<'a>,
}

/// The contents of an [`Entry`].
pub(super) enum Content<'a> {
    Directory(Vec<Entry<'a>>),
    File(Input<'a>),
}

/// A file that is ready for an archive.
pub(crate) struct Input<'a> {
    /// The file.
    pub file: &'a File,
    /// Its path in the archive.
    pub path: String,
}

/// Checks a tree and sorts it in archive order: by name in upper case, as the
/// game compares them.
pub(super) fn prepare(root: &Directory) -> Result<Vec<Entry<'_>>> {
    directory(root, "", 1)
}

fn directory<'a>(source: &'a Directory, parent: &str, depth: usize) -> Result<Vec<Entry<'a>>> {
    let mut sorted = Vec::with_capacity(source.entries.len());
    for (name, node) in &source.entries {
        let path = match parent {
            "" => name.clone(),
            _ => format!("{parent}/{name}"),
        };
        let bytes = encoded(name, &path)?;
        sorted.push((bytes.to_ascii_uppercase(), bytes, path, node));
    }
    sorted.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::Ambiguous {
            first: pair[0].2.clone(),
            second: pair[1].2.clone(),
        });
    }
    let entries = sorted.into_iter().map(|(_, name, path, node)| {
        let content = match node {
            Node::Directory(_) if depth > MAX_DEPTH => return Err(Error::TooDeep { path }),
            Node::Directory(inner) => Content::Directory(directory(inner, &path, depth + 1)?),
            Node::File(file) => Content::File(Input { file, path }),
        };
        Ok(Entry { name, content })
    });
    entries.collect()
}

/// Returns the bytes of a name in archives.
fn encoded(name: &str, path: &str) -> Result<Vec<u8>> {
    let wrong = |problem| {
        Err(Error::Name {
            path: path.to_owned(),
            problem,
        })
    };
    if matches!(name, "" | "." | "..") {
        return wrong("is not a name");
    }
    if name.contains(['/', '\\', '\0']) {
        return wrong("its name contains a slash, a backslash or a NUL");
    }
    match WINDOWS_1252.encode(name) {
        (bytes, _, false) => Ok(bytes.into_owned()),
        _ => wrong("its name has characters that are not in Windows-1252"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::Source;

    fn tree(names: &[&str]) -> Directory {
        let file = || {
            Node::File(File {
                source: Source::Bytes(Vec::new()),
                modified: 0,
            })
        };
        let entries = names.iter().map(|name| (name.to_string(), file()));
        Directory {
            entries: entries.collect(),
        }
    }

    fn problem(root: &Directory) -> String {
        prepare(root).err().unwrap().to_string()
    }

    #[test]
    fn entries_are_sorted_ignoring_case() {
        let root = tree(&["b", "AAHP_gadget", "C", "aahpns", "a"]);
        let names = prepare(&root).unwrap().into_iter().map(|entry| entry.name);
        let expected: [&[u8]; 5] = [b"a", b"aahpns", b"AAHP_gadget", b"b", b"C"];
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn names_become_windows_1252() {
        let root = tree(&["caf\u{e9} \u{20ac}"]);
        assert_eq!(prepare(&root).unwrap()[0].name, b"caf\xe9 \x80");
    }

    #[test]
    fn a_name_that_cannot_be_stored_is_reported() {
        let outer = Directory {
            entries: vec![("maps".into(), Node::Directory(tree(&["\u{416}.tnt"])))],
        };
        assert_eq!(
            problem(&outer),
            "maps/\u{416}.tnt: its name has characters that are not in Windows-1252"
        );
        assert_eq!(
            problem(&tree(&["a\\b"])),
            "a\\b: its name contains a slash, a backslash or a NUL"
        );
        assert_eq!(problem(&tree(&[".."])), "..: is not a name");
    }

    #[test]
    fn names_that_differ_only_in_case_are_rejected() {
        assert_eq!(
            problem(&tree(&["Units", "x", "UNITS"])),
            "UNITS and Units are the same name to the game, which would see only one of them"
        );
    }

    #[test]
    fn a_tree_may_be_as_deep_as_readers_allow() {
        let nested = |depth| {
            (0..depth).fold(Directory::default(), |inner, _| Directory {
                entries: vec![("d".into(), Node::Directory(inner))],
            })
        };
        assert!(prepare(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(
            prepare(&nested(MAX_DEPTH + 1)),
            Err(Error::TooDeep { .. })
        ));
    }
}
