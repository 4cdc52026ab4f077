//! Path lookup, as by the kernel.

use std::path::MAIN_SEPARATOR;

use super::Error;
use crate::mount;
use crate::mount::{Attr, FileKind, Ino, Vfs};

/// Maximum number of symbolic links on one path, as in path_resolution(7).
const MAX_LINKS: usize = 40;

/// An entry that was found.
pub(crate) struct PathEntry {
    /// Its path from the root, without links and dots.
    pub(crate) path: String,
    /// Its attributes.
    pub(crate) attr: Attr,
    /// The lookups that led to it, which keep its number until they are forgotten.
    pub(crate) lookups: Vec<Ino>,
}

/// Finds the entry at a path; symbolic links are followed within the source.
/// Paths are relative to the root, with or without a leading slash. Where people write
/// backslashes between names, these are taken for slashes if no name has them.
pub(crate) fn find(vfs: &Vfs, path: &str) -> Result<PathEntry, Error> {
    match find_as_written(vfs, path) {
        Err(_) if MAIN_SEPARATOR == '\\' && path.contains(MAIN_SEPARATOR) => {
            find_as_written(vfs, &path.replace(MAIN_SEPARATOR, "/"))
        }
        found => found,
    }
}

fn find_as_written(vfs: &Vfs, path: &str) -> Result<PathEntry, Error> {
    let mut lookups = Vec::new();
    let found = follow(vfs, path, &mut lookups);
    let (path, attr) = found.inspect_err(|_| {
        for ino in &lookups {
            vfs.forget(*ino, 1);
        }
    })?;
    Ok(PathEntry {
        path,
        attr,
        lookups,
    })
}

/// Returns the path and the attributes of an entry, and notes all lookups.
fn follow(vfs: &Vfs, path: &str, lookups: &mut Vec<Ino>) -> Result<(String, Attr), Error> {
    let failed = |error: mount::Error| Error::path(path, error);
    let mut names: Vec<String> = components(path);
    // The path so far.
    let mut reached: Vec<(String, Ino)> = Vec::new();
    let mut links = 0;
    while let Some(name) = names.pop() {
        if name == ".." {
            reached.pop().ok_or_else(|| Error::Link(path.to_owned()))?;
            continue;
        }
        let parent = reached.last().map_or(Ino::ROOT, |(_, ino)| *ino);
        // In another spelling, it would be an alias.
        let name = vfs.spelling(parent, &name).map_err(failed)?;
        let attr = vfs.lookup(parent, &name).map_err(failed)?;
        lookups.push(attr.ino);
        if attr.kind != FileKind::Symlink {
            reached.push((name, attr.ino));
            continue;
        }
        links += 1;
        let target = vfs.readlink(attr.ino).map_err(failed)?;
        let target = str::from_utf8(&target).ok();
        let target = target.filter(|target| !target.starts_with('/') && links <= MAX_LINKS);
        let target = target.ok_or_else(|| Error::Link(path.to_owned()))?;
        names.extend(components(target));
    }
    let ino = reached.last().map_or(Ino::ROOT, |(_, ino)| *ino);
    let attr = vfs.getattr(ino).map_err(failed)?;
    if path.ends_with('/') && attr.kind != FileKind::Directory {
        return Err(failed(mount::Error::NotADirectory));
    }
    let names: Vec<String> = reached.into_iter().map(|(name, _)| name).collect();
    Ok((names.join("/"), attr))
}

/// Returns the names of a path, the last one first.
fn components(path: &str) -> Vec<String> {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    names.rev().map(str::to_owned).collect()
}
