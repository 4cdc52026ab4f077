//! The tree of an opened file: a single asset, or the contents of an archive.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Instant;

use crate::formats::REPORTS;
use crate::inspect::{Contents, Role};
use crate::mount::{HeldIno, Ino, MAX_PICTURES, Vfs, arranged};
use crate::namespace::companion::CONVERTED;
use hpimount_assets::model::{MAX_PIXELS, Picture, png};
use hpimount_assets::view::ALONE;

/// Maximum number of assets that are tried for a contact sheet; some have no
/// picture.
const MAX_TRIED: usize = 64;

/// Maximum number of entries of an archive that are examined.
const MAX_ENTRIES: usize = 50_000;

/// Returns the picture of the opened file called `name`: that of a single
/// asset; or, of an archive, the picture that represents it alone, or else a
/// contact sheet of the assets in it, without those not finished at `deadline`;
/// or else the first picture that combines its assets.
pub(super) fn picture(vfs: &Vfs, name: &str, deadline: Instant) -> Option<Picture> {
    let picture_of = |asset| Contents(vfs).picture(asset, MAX_PIXELS as usize);
    // A single asset is a folder with the file and its companion.
    if let Ok(asset) = vfs.lookup(Ino::ROOT, name)
        && Contents(vfs).view_format(asset.ino).is_some()
    {
        return picture_of(asset.ino);
    }
    let found = find(vfs);
    let mut alone = found.get(&ALONE).into_iter().flatten();
    if let Some(picture) = alone.find_map(|asset| picture_of(**asset)) {
        return Some(picture);
    }
    let mut pictures = Vec::new();
    for asset in in_turns(found.into_values().collect()) {
        if pictures.len() == MAX_PICTURES || Instant::now() >= deadline {
            break;
        }
        pictures.extend(picture_of(*asset));
    }
    arranged(pictures).or_else(|| report(vfs))
}

/// Returns the first report of an archive that is a picture of anything.
fn report(vfs: &Vfs) -> Option<Picture> {
    let converted = vfs.lookup(Ino::ROOT, CONVERTED).ok()?.ino;
    let reports = REPORTS.iter().copied().flatten();
    let mut pictures = reports.filter(|report| report.path.ends_with(".png"));
    pictures.find_map(|report| {
        let mut names = report.path.split('/');
        let file = names.try_fold(converted, |directory, name| {
            vfs.lookup(directory, name).ok().map(|found| found.ino)
        })?;
        let mut bytes = Vec::new();
        for piece in Contents(vfs).pieces(file) {
            bytes.extend_from_slice(&piece.ok()?);
        }
        let picture = png::read(&bytes, MAX_PIXELS).ok()?;
        let is_drawn = picture.rgba().iter().any(|pixel| pixel[3] > 0);
        is_drawn.then_some(picture)
    })
}

/// Returns the assets of formats with a preview, in a list for each
/// [`Preview::rank`](hpimount_assets::view::Preview::rank). Outer directories come first,
/// unlike in other walks, because the limit may leave the inner ones out.
fn find(vfs: &Vfs) -> BTreeMap<u8, Vec<HeldIno>> {
    let mut found: BTreeMap<u8, Vec<HeldIno>> = BTreeMap::new();
    let mut seen = HashSet::new();
    let mut directories = VecDeque::from([HeldIno::kept(Ino::ROOT)]);
    let mut left = MAX_ENTRIES;
    while let Some(directory) = directories.pop_front() {
        for entry in Contents(vfs)
            .entries(*directory, 0, left)
            .unwrap_or_default()
        {
            left -= 1;
            // An asset of a HIP has several names.
            if !seen.insert(*entry.ino) {
                continue;
            }
            match entry.role {
                Role::Directory => directories.push_back(entry.ino),
                Role::File { .. } => {
                    let format = Contents(vfs).view_format(*entry.ino);
                    if let Some(format) = format
                        && let Some(preview) = format.preview
                    {
                        found.entry(preview.rank).or_default().push(entry.ino);
                    }
                }
                Role::Inside | Role::AssetDirectory | Role::Generated | Role::Link { .. } => {}
            }
        }
    }
    found
}

/// Returns the first items of all lists, one of each list in turn.
fn in_turns<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
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
        let lists = vec![vec!["a1", "a2", "a3"], vec![], vec!["b1"]];
        assert_eq!(in_turns(lists), ["a1", "b1", "a2", "a3"]);
    }
}
