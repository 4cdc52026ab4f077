//! Writing a HIP archive with changes. An asset has a name in `layers/`, in
//! `types/` and in `ids/`, and any of them will do. Assets that are only replaced
//! leave all tables as they are but for their numbers; if any is added, deleted
//! or described anew, the tables are written again.

mod listed;
mod named;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use self::named::Named;
use super::restructure::{Layer, Structure, first_of_ids, restructure};
use super::splice::{Edits, splice, splice_layers};
use super::{Hip, Offsets, Options, needs, write};
use crate::changes::{Job, Spliced, Written};
use crate::io::Result;

/// Writes the archive.
pub(super) fn apply(job: &mut Job<'_>) -> Result<Written> {
    let source = job.input.source.clone();
    let hip = Hip::read(source.clone(), &Options::default())?;
    let offsets = Offsets::of(&hip)?;
    let named = Named::collect(job, &hip)?;
    for (&number, file) in &named.replaced {
        if let Some(other) = needs::of_asset(&*source, &offsets, number, file)? {
            job.report.refuse(&*file.path, refusal(&other));
        }
    }
    if !named.is_restructured() {
        return Ok(Written::alone(splice(&source, &offsets, &named.replaced)?));
    }
    let structure = listed::structure(job, &hip, &named)?;
    if !job.report.refusals.is_empty() {
        return Ok(Written::alone(Spliced::default()));
    }
    write(&hip, &offsets, &named, &structure).map(Written::alone)
}

/// Returns why a file that is no asset is refused.
fn refusal(other: &needs::Other) -> String {
    format!("{} (files in `converted` are converted)", other.problem)
}

/// Writes the tables, and then the data.
fn write(hip: &Hip, offsets: &Offsets, named: &Named, wanted: &Structure) -> Result<Spliced> {
    let (restructured, moved) = restructure(&hip.source, hip, offsets, wanted)?;
    let source = std::sync::Arc::new(restructured) as _;
    let mut now = Offsets::read(&source)?;
    // It may be a guess from the place of the first asset, which may be gone.
    now.platform = offsets.platform;
    let mut edits = Edits::default();
    let mut numbers = BTreeMap::new();
    for (number, asset) in (0..).zip(&wanted.assets) {
        let file = match asset.old {
            Some(old) => {
                numbers.insert(old, number);
                named.replaced.get(&old)
            }
            None => named.file_of(asset.id),
        };
        if let Some(file) = file {
            edits.new.insert(number, file.clone());
        }
        if let (None, Some(described)) = (asset.old, &asset.described) {
            let target = (hip.game.value, hip.platform.value);
            let (_, step) = write::alignment(target, described.kind, described.align);
            edits.placed.insert(number, Some(step));
        }
    }
    let size = |number: u32| match edits.new.get(&number) {
        Some(new) => new.len(),
        None => now
            .assets
            .get(number as usize)
            .map_or(0, |asset| asset.size.into()),
    };

    // The layers of assets in the original and now, by their new numbers.
    let index: BTreeMap<usize, usize> = (0..)
        .zip(&wanted.layers)
        .filter_map(|(new, layer)| Some((layer.old?, new)))
        .collect();
    let old_homes = offsets.homes();
    let old_home = |old: u32| {
        old_homes
            .get(&old)
            .and_then(|layer| index.get(layer))
            .copied()
    };
    let first = first_of_ids(wanted.assets.iter().map(|asset| asset.id));
    let members = |layer: &Layer| -> Vec<u32> {
        let found = layer.ids.iter().filter_map(|id| first.get(id).copied());
        found.collect()
    };
    let lists: Vec<Vec<u32>> = wanted.layers.iter().map(members).collect();
    let listed: HashSet<(usize, u32)> = lists
        .iter()
        .enumerate()
        .flat_map(|(layer, members)| members.iter().map(move |&member| (layer, member)))
        .collect();
    let mut new_homes = HashMap::new();
    // An asset stays in its layer if that lists it still.
    for (&old, &new) in &numbers {
        if let Some(home) = old_home(old).filter(|&home| listed.contains(&(home, new))) {
            new_homes.insert(new, home);
        }
    }
    for (layer, members) in lists.iter().enumerate() {
        for &member in members {
            new_homes.entry(member).or_insert(layer);
        }
    }
    for (number, asset) in (0..).zip(hip.contents.toc.assets.iter()) {
        let home = old_home(number);
        let now = numbers.get(&number).copied();
        if let Some(now) = now {
            if new_homes.get(&now).copied() == home {
                continue;
            }
            edits.placed.insert(now, None);
        }
        let start = u64::from(asset.offset).saturating_add_signed(moved);
        let range = start..start + u64::from(asset.size);
        if asset.size > 0 {
            edits.dropped.push((home, range));
        }
    }
    for (new, layer) in wanted.layers.iter().enumerate() {
        let before = layer.old.and_then(|old| offsets.layers.get(old));
        let before = before.into_iter().flatten();
        let before = before.filter(|&old| old_homes.get(old) == layer.old.as_ref());
        let before = before.filter(|&&old| offsets.assets[old as usize].size > 0);
        // Deleted ones are no members of the new list.
        let before = before.map(|old| numbers.get(old).copied());
        let after = lists[new].iter().copied();
        let after = after.filter(|number| new_homes.get(number) == Some(&new));
        let mut unique = BTreeSet::new();
        let after = after.filter(|&number| unique.insert(number) && size(number) > 0);
        if !before.eq(after.map(Some)) {
            edits.layers.insert(new);
        }
    }
    edits.homes = Some(new_homes);
    splice_layers(&source, &now, &edits)
}
