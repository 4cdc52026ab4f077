//! Walking a directory on disk.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Error, Result};
use crate::platform::{FileIdentity, FileKind, FileStat};
use crate::source::DiskNames;
use hpimount_containers::volume::MAX_DEPTH;
use hpimount_containers::write::{Directory, File, Node, Source};

/// The contents of a directory on disk.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The tree; its files are opened when they are packed.
    pub(super) root: Directory,
    /// Number of files.
    pub(super) files: u64,
    /// Sum of their sizes in bytes.
    pub(super) bytes: u64,
    /// Files that were skipped because they are the archive itself.
    pub(super) skipped: Vec<PathBuf>,
}

/// Lists `directory`, whose files have such `names`, recursively, except for a file at
/// `target`, the path of the new archive.
///
/// Symbolic links are followed, because an archive cannot hold them.
///
/// # Errors
/// Returns [`Error::Source`] for anything that cannot be read or is neither a
/// file nor a directory, for a dangling or circular link, and for a name that
/// is not UTF-8.
pub(super) fn walk(directory: &Path, names: DiskNames, target: &Path) -> Result<Walked> {
    let mut walk = Walk {
        found: Walked::default(),
        names,
        target: identity(target),
        ancestors: Vec::new(),
    };
    let found = stat(directory)?;
    if found.kind != FileKind::Directory {
        return Err(Error::source(directory, "is not a directory"));
    }
    walk.found.root = walk.directory(directory, &found)?;
    Ok(walk.found)
}

/// The state of a walk.
struct Walk {
    found: Walked,
    names: DiskNames,
    /// Identity of the skipped file.
    target: Option<FileIdentity>,
    /// Identities of the current directory and its ancestors.
    ancestors: Vec<FileIdentity>,
}

impl Walk {
    fn directory(&mut self, path: &Path, found: &FileStat) -> Result<Directory> {
        if self.ancestors.contains(&found.identity) {
            return Err(Error::source(
                path,
                "is a link to a directory that contains it",
            ));
        }
        if self.ancestors.len() > MAX_DEPTH {
            let problem = format!("is nested more than {MAX_DEPTH} directories deep");
            return Err(Error::source(path, problem));
        }
        self.ancestors.push(found.identity);
        let listed = fs::read_dir(path).and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<std::io::Result<Vec<_>>>()
        });
        let paths = listed
            .map_err(|cause| Error::source(path, cause))?
            .into_iter();
        let names = self.names;
        let named = paths.map(|path| Ok((names.in_archives(name(&path)?).into_owned(), path)));
        let mut named = named.collect::<Result<Vec<_>>>()?;
        named.sort();
        let mut directory = Directory::default();
        for (name, path) in named {
            if let Some(node) = self.node(&path)? {
                directory.entries.push((name, node));
            }
        }
        self.ancestors.pop();
        Ok(directory)
    }

    /// Returns the node at `path`; `None` for the archive itself.
    fn node(&mut self, path: &Path) -> Result<Option<Node>> {
        let found = stat(path)?;
        match found.kind {
            FileKind::File => {}
            FileKind::Directory => {
                return Ok(Some(Node::Directory(self.directory(path, &found)?)));
            }
            _ => return Err(Error::source(path, "is neither a file nor a directory")),
        }
        if self.target == Some(found.identity) {
            self.found.skipped.push(path.to_owned());
            return Ok(None);
        }
        self.found.files += 1;
        self.found.bytes += found.size;
        Ok(Some(Node::File(File {
            source: Source::Path(path.to_owned()),
            modified: modified(&found),
        })))
    }
}

/// Returns the last component of a path.
fn name(path: &Path) -> Result<&str> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.ok_or_else(|| Error::source(path, "its name is not UTF-8"))
}

/// Returns the modification time for archives, in seconds since 1970 UTC.
pub(super) fn modified(found: &FileStat) -> u32 {
    found.modified.clamp(0, u32::MAX.into()) as u32
}

/// Returns the metadata of the target of a path, following links.
pub(super) fn stat(path: &Path) -> Result<FileStat> {
    FileStat::through_links(None, path).map_err(|cause| Error::source(path, cause))
}

/// Returns the identity of a file, if there is one.
pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
    let found = FileStat::through_links(None, path);
    Some(found.ok()?.identity)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn problem(directory: &Path) -> String {
        let nowhere = Path::new("/nonexistent");
        let error = walk(directory, DiskNames::Plain, nowhere)
            .unwrap_err()
            .to_string();
        error.replace(&directory.display().to_string(), "DIR")
    }

    #[test]
    fn links_to_files_and_directories_are_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "12345").unwrap();
        let inside = tempfile::tempdir().unwrap();
        symlink(outside.path(), inside.path().join("d")).unwrap();
        symlink(outside.path().join("file"), inside.path().join("f")).unwrap();
        let walked = walk(inside.path(), DiskNames::Plain, Path::new("/nonexistent")).unwrap();
        assert_eq!((walked.files, walked.bytes), (2, 10));
        let names: Vec<_> = walked.root.entries.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["d", "f"]);
    }

    #[test]
    fn a_dangling_or_circular_link_is_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        symlink("nowhere", &link).unwrap();
        assert!(problem(directory.path()).starts_with("DIR/link: No such file"));
        fs::remove_file(&link).unwrap();
        symlink(".", &link).unwrap();
        assert_eq!(
            problem(directory.path()),
            "DIR/link: is a link to a directory that contains it"
        );
    }

    #[test]
    fn special_files_are_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        assert_eq!(
            problem(directory.path()),
            "DIR/socket: is neither a file nor a directory"
        );
    }

    #[test]
    fn the_archive_itself_is_skipped() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("mod.hpi");
        fs::write(&target, "old").unwrap();
        fs::write(directory.path().join("unit.fbi"), "unit").unwrap();
        let walked = walk(directory.path(), DiskNames::Plain, &target).unwrap();
        assert_eq!((walked.files, walked.skipped), (1, vec![target]));
    }
}
