//! The files beside a source that belong to it: the other file of a pair, the
//! files that a sheet names, the further parts of a split file, and the slices of an
//! installer.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hpimount_containers::format::MAX_SHEET;
use hpimount_containers::{formats, parts};

/// Returns the files beside the one at `path` that belong to it: the other file
/// of a pair, and those that it refers to.
pub fn files_beside(path: &Path) -> Vec<PathBuf> {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let paired = formats::all().filter_map(|format| format.pair?.other_extension(extension));
    let paired = paired.filter_map(|other| Some(path.with_extension(other).file_name()?.into()));
    let listed = names_in_sheet(path).into_iter().map(OsString::from);
    let names = paired.chain(listed);
    let mut found: Vec<PathBuf> = names.flat_map(|name| find_beside(path, &name)).collect();
    found.extend(parts_beside(path));
    found.extend(slices_beside(path));
    found
}

/// Returns the files that may be slices of an installer.
fn slices_beside(path: &Path) -> Vec<PathBuf> {
    let own = path.file_name().and_then(OsStr::to_str);
    let is_slice = |found: &Path| {
        let name = found.file_name().and_then(OsStr::to_str);
        name.zip(own)
            .is_some_and(|(name, own)| parts::may_be_slice(own, name))
    };
    // Most files are no programs, and need no list of the folder.
    match own.is_some_and(|own| parts::may_be_slice(own, "-1.bin")) {
        true => files_in_folder_of(path, is_slice),
        false => Vec::new(),
    }
}

/// Returns the further parts of a file that was split.
fn parts_beside(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for name in parts::after(name).chain(parts::beside_zip(name)) {
        let part = find_beside(path, OsStr::new(&name));
        if part.is_empty() {
            break;
        }
        found.extend(part);
    }
    found
}

/// Returns the names of the files that the one at `path` refers to.
fn names_in_sheet(path: &Path) -> Vec<String> {
    let is_small = path
        .metadata()
        .is_ok_and(|found| found.is_file() && found.len() <= MAX_SHEET);
    let sheet = match is_small {
        true => std::fs::read(path).unwrap_or_default(),
        false => Vec::new(),
    };
    let formats = formats::all().filter_map(|format| format.sheet);
    formats.flat_map(|names| names(&sheet)).collect()
}

/// Returns the files beside `path` with this name, ignoring ASCII case. The one
/// with the same spelling comes first, then those whose extension alone is
/// spelled differently.
fn find_beside(path: &Path, name: &OsStr) -> Vec<PathBuf> {
    let stem = Path::new(name).file_stem();
    let differs = |path: &PathBuf| (path.file_name() != Some(name), path.file_stem() != stem);
    let mut found = files_in_folder_of(path, |found| has_name(found, name));
    found.sort_by_key(differs);
    found
}

/// Returns the files in the folder of `path` that `is_wanted` accepts.
fn files_in_folder_of(path: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let found = || {
        let path = std::path::absolute(path).ok()?;
        let entries = std::fs::read_dir(path.parent()?).ok()?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        Some(paths.filter(|path| is_wanted(path)).collect())
    };
    found().unwrap_or_default()
}

/// Returns whether the file at `path` has this name, ignoring ASCII case.
pub fn has_name(path: &Path, name: impl AsRef<OsStr>) -> bool {
    let found = path.file_name();
    found.is_some_and(|found| found.eq_ignore_ascii_case(name))
}
