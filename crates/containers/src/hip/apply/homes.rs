//! The layers with the data of assets, in an archive and in what becomes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::hip::Offsets;
use crate::hip::restructure::{Layer, Structure, first_of_ids};

/// The layers with the data of assets. Assets and layers have numbers in the original,
/// the old ones, and others in the result.
pub(super) struct Homes<'a> {
    offsets: &'a Offsets,
    wanted: &'a Structure,
    /// The numbers of the assets of the original that stay, by their old ones.
    numbers: BTreeMap<u32, u32>,
    /// The old layers of assets, by the old numbers of these.
    before: HashMap<u32, usize>,
    /// The layers that assets of the original were in, where these are still there.
    kept: HashMap<u32, usize>,
    /// The assets that each layer lists.
    members: Vec<Vec<u32>>,
    /// The layer of each asset that is in one.
    pub(super) now: HashMap<u32, usize>,
}

/// An asset of the original whose data leaves its place.
pub(super) struct Moving {
    /// Its old number.
    pub(super) old: u32,
    /// Its number; `None` if it is deleted.
    pub(super) number: Option<u32>,
    /// The layer that it was in.
    pub(super) home: Option<usize>,
}

impl<'a> Homes<'a> {
    /// Returns the layers with the data of the assets of an archive, which is to have
    /// the assets and layers `wanted`.
    pub(super) fn new(offsets: &'a Offsets, wanted: &'a Structure) -> Self {
        let assets = (0..).zip(&wanted.assets);
        let numbers = assets.filter_map(|(number, asset)| Some((asset.old?, number)));
        let numbers: BTreeMap<u32, u32> = numbers.collect();
        let layers = wanted.layers.iter().enumerate();
        let layers = layers.filter_map(|(number, layer)| Some((layer.old?, number)));
        let layers: HashMap<usize, usize> = layers.collect();
        let before = offsets.homes();
        let kept = before.iter();
        let kept = kept.filter_map(|(&old, layer)| Some((old, *layers.get(layer)?)));
        let kept: HashMap<u32, usize> = kept.collect();

        let first = first_of_ids(wanted.assets.iter().map(|asset| asset.id));
        let listed = |layer: &Layer| {
            let found = layer.ids.iter().filter_map(|id| first.get(id).copied());
            found.collect()
        };
        let members: Vec<Vec<u32>> = wanted.layers.iter().map(listed).collect();
        let now = homes(&numbers, &kept, &members);
        Self {
            offsets,
            wanted,
            numbers,
            before,
            kept,
            members,
            now,
        }
    }

    /// Returns the assets of the original that are deleted, or are in another layer.
    pub(super) fn moving(&self) -> impl Iterator<Item = Moving> {
        (0..self.offsets.assets.len() as u32).filter_map(|old| {
            let home = self.kept.get(&old).copied();
            let number = self.numbers.get(&old).copied();
            let stays = number.is_some_and(|number| self.now.get(&number).copied() == home);
            (!stays).then_some(Moving { old, number, home })
        })
    }

    /// Returns the layers that do not have the data of the same assets in the same
    /// order as before. `size` returns the length of an asset.
    pub(super) fn changed_layers(&self, size: impl Fn(u32) -> u64) -> BTreeSet<usize> {
        let layers = self.wanted.layers.iter().enumerate();
        let changed = layers.filter(|(number, layer)| {
            let before = layer.old.and_then(|old| self.offsets.layers.get(old));
            let before = before.into_iter().flatten();
            let before = before.filter(|&old| self.before.get(old) == layer.old.as_ref());
            let before = before.filter(|&&old| self.offsets.assets[old as usize].size > 0);
            // Deleted ones are no members of the new list.
            let before = before.map(|old| self.numbers.get(old).copied());
            let after = self.members[*number].iter().copied();
            let after = after.filter(|member| self.now.get(member) == Some(number));
            let mut unique = HashSet::new();
            let after = after.filter(|&member| unique.insert(member) && size(member) > 0);
            !before.eq(after.map(Some))
        });
        changed.map(|(number, _)| number).collect()
    }
}

/// Returns the layer of each asset that a layer lists: the one that it was in, if that
/// lists it still, or else the first one.
fn homes(
    numbers: &BTreeMap<u32, u32>,
    kept: &HashMap<u32, usize>,
    members: &[Vec<u32>],
) -> HashMap<u32, usize> {
    let numbered = || members.iter().enumerate();
    let listed =
        numbered().flat_map(|(layer, members)| members.iter().map(move |&one| (layer, one)));
    let is_listed: HashSet<(usize, u32)> = listed.clone().collect();
    let mut homes = HashMap::new();
    for (old, &number) in numbers {
        if let Some(&home) = kept
            .get(old)
            .filter(|&&home| is_listed.contains(&(home, number)))
        {
            homes.insert(number, home);
        }
    }
    for (layer, member) in listed {
        homes.entry(member).or_insert(layer);
    }
    homes
}
