//! The tree of an opened file: a single asset, or the contents of an archive.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use super::MAX_PICTURES;
use super::meta_directory::{InTree, MetaDirectory, arranged};
use crate::inspect::{Contents, Role};
use crate::mount::{Ino, Vfs};
use hpimount_assets::model::Picture;
use hpimount_containers::text::has_extension;

/// Maximum number of assets that are tried for a contact sheet; some have no
/// picture.
const MAX_TRIED: usize = 64;

/// Maximum number of entries of an archive that are examined.
const MAX_ENTRIES: usize = 50_000;

/// Extensions of assets with pictures, the most characteristic first. Assets of
/// a HIP have the extension of their source file (`rw3`, `dff`) or of their
/// type (`rwtx`, `modl`).
const PICTURED: [&str; 11] = [
    "pcx", "3do", "hgo", "psx", "tnt", "rw3", "rwtx", "dff", "modl", "gaf", "sct",
];

/// Returns the picture of the opened file called `name`: a single asset's own,
/// or a contact sheet of the assets in an archive. Assets that are not finished
/// at `deadline` are omitted.
pub(super) fn picture(vfs: &Vfs, name: &str, deadline: Instant) -> Option<Picture> {
    // A single asset is a folder with the file and its companion.
    if let Some(companion) = InTree::of(vfs, Ino::ROOT, name) {
        return companion.picture();
    }
    let mut pictures = Vec::new();
    for (directory, name) in in_turns(find(vfs)) {
        if pictures.len() == MAX_PICTURES || Instant::now() >= deadline {
            break;
        }
        let companion = InTree::of(vfs, directory, &name);
        pictures.extend(companion.and_then(|companion| companion.picture()));
    }
    arranged(pictures)
}

/// An asset: its directory and its name.
type Asset = (Ino, String);

/// Returns the assets that have pictures, in a list for each extension.
fn find(vfs: &Vfs) -> [Vec<Asset>; PICTURED.len()] {
    let mut found = [const { Vec::new() }; PICTURED.len()];
    let mut seen = HashSet::new();
    let mut directories = VecDeque::from([Ino::ROOT]);
    let mut left = MAX_ENTRIES;
    while let Some(directory) = directories.pop_front() {
        for entry in Contents(vfs)
            .entries(directory, 0, left)
            .unwrap_or_default()
        {
            left -= 1;
            // An asset of a HIP has several names.
            if !seen.insert(entry.ino) {
                continue;
            }
            match entry.role {
                Role::Directory => directories.push_back(entry.ino),
                Role::File { .. } => {
                    let shows = |known: &&str| has_extension(entry.name.as_bytes(), known);
                    if let Some(kind) = PICTURED.iter().position(&shows) {
                        found[kind].push((directory, entry.name));
                    }
                }
                Role::Inside | Role::AssetDirectory | Role::Generated | Role::Link => {}
            }
        }
    }
    found
}

/// Returns the first assets of all lists, one of each list in turn.
fn in_turns(lists: [Vec<Asset>; PICTURED.len()]) -> Vec<Asset> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists = lists.map(Vec::into_iter);
    let rounds = (0..longest).flat_map(|_| {
        let round = lists.iter_mut().filter_map(Iterator::next);
        round.collect::<Vec<_>>()
    });
    rounds.take(MAX_TRIED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_of_every_kind_are_chosen_in_turn() {
        let mut lists = [const { Vec::new() }; PICTURED.len()];
        let asset = |name: &str| (Ino::ROOT, name.to_owned());
        lists[0] = vec![asset("a1"), asset("a2"), asset("a3")];
        lists[4] = vec![asset("b1")];
        let names: Vec<String> = in_turns(lists).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a1", "b1", "a2", "a3"]);
    }
}
