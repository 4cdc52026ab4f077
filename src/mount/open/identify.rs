//! Facts that determine the bytes of sources, to tell versions of them apart.

use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use super::sources::{Prepared, Sources};
use crate::platform::FileStat;

impl Prepared {
    /// Adds what identifies the files that are opened at the start, and the changes to them;
    /// the files of folders have versions of their own. Returns whether this is all: what
    /// identifies a file on a server is not known before it is opened.
    pub(crate) fn identify(&self, hasher: &mut dyn Hasher) -> bool {
        let is_game = matches!(self.sources, Sources::Game { .. });
        let changes = self.changes.iter().flat_map(|changes| &changes.paths);
        let changes: Vec<&PathBuf> = changes.collect();
        for path in self.paths() {
            match (changes.contains(&&path), is_game) {
                (true, _) => identify_all(&path, usize::MAX, hasher),
                // The archives in the folder of a game are opened at the start.
                (false, true) => identify_all(&path, 1, hasher),
                (false, false) => identify_all(&path, 0, hasher),
            }
        }
        self.sources.urls().next().is_none()
    }
}

/// Adds a file, or a directory and its contents down to this depth.
fn identify_all(path: &Path, depth: usize, mut hasher: &mut dyn Hasher) {
    path.hash(&mut hasher);
    let Ok(file) = fs::File::open(path) else {
        return;
    };
    let Ok(stat) = FileStat::of(&file) else {
        return;
    };
    if !path.is_dir() {
        stat.version().hash(&mut hasher);
        return;
    }
    // Not its times, which change with the names in it.
    stat.identity.hash(&mut hasher);
    if depth == 0 {
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        identify_all(&path, depth - 1, hasher);
    }
}
