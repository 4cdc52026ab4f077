//! The assets and layers that an archive is to have, from the names of changed
//! files and from a changed `Settings.ini`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::Hip;
use super::super::restructure::{Asset, Layer, Structure, has_checksums};
use super::super::write::{self, Settings};
use super::kinds::Kinds;
use super::named::{Added, Named, SettingsChange, check};
use crate::changes::Job;
use crate::io::Result;

/// Flags of an asset if the archive has none of its type: it was made from no file
/// of its own.
const SOURCE_VIRTUAL: u32 = 2;

/// LDBG of layers.
const NO_DEBUG: u32 = u32::MAX;

/// Returns the assets and layers. What cannot be is refused.
///
/// # Errors
/// Returns an error if a file of the folder cannot be read.
pub(super) fn structure(job: &mut Job<'_>, kinds: &Kinds<'_>, named: &Named) -> Result<Structure> {
    let hip = kinds.hip();
    let toc = &hip.contents.toc;
    let deleted = named
        .settings
        .as_ref()
        .map(|listed| missing(job, hip, listed, named));
    let mut deleted = deleted.unwrap_or_default();
    deleted.extend(&named.deleted);
    let before = named.settings.as_ref().map(|listed| lines(&listed.before));
    let now = named.settings.as_ref().map(|listed| lines(&listed.now));
    let mut assets = Vec::with_capacity(toc.assets.len() + named.added.len());
    for (number, asset) in (0..)
        .zip(&toc.assets)
        .filter(|(number, _)| !deleted.contains(number))
    {
        let is_first = hip.layout.find(asset.id) == Some(number);
        let line = |lines: &Option<BTreeMap<u32, write::Asset>>| {
            lines.as_ref()?.get(&asset.id).cloned().filter(|_| is_first)
        };
        let described = line(&before).zip(line(&now));
        let described = described.and_then(|(before, now)| changed(hip, number, &before, now));
        assets.push(Asset {
            id: asset.id,
            old: Some(number),
            described,
        });
    }
    let is_sorted = assets.is_sorted_by_key(|asset| asset.id);
    let mut layers = layers(hip, named, &deleted);
    let positions = positions(&layers);
    for added in &named.added {
        let line = now.as_ref().and_then(|lines| lines.get(&added.id).cloned());
        let described = match (line, &added.place) {
            (Some(line), _) => line,
            (None, Some(place)) => {
                if let Some(&position) = place.layer.and_then(|layer| positions.get(&layer)) {
                    layers[position].ids.push(added.id);
                    layers[position].is_changed = true;
                }
                of_place(kinds, added, place)
            }
            (None, None) => {
                let is_typed = job.path(added.node).contains("types/");
                let what = if is_typed { "layer" } else { "type" };
                let reason = format!("no {what}: add a line to types/Settings.ini");
                job.refuse(added.node, reason);
                continue;
            }
        };
        check(job, added, described.kind, hip.platform.value)?;
        assets.push(Asset {
            id: added.id,
            old: None,
            described: Some(described),
        });
    }
    if is_sorted {
        assets.sort_by_key(|asset| asset.id);
    }
    Ok(Structure { assets, layers })
}

/// Returns the lines of a file by the ids of their assets.
fn lines(settings: &Settings) -> BTreeMap<u32, write::Asset> {
    let assets = settings.assets.iter();
    assets.map(|asset| (asset.id, asset.clone())).collect()
}

/// Returns the assets of the original that have lost their lines, and refuses
/// lines without an asset, and other changes of the file.
fn missing(job: &mut Job<'_>, hip: &Hip, listed: &SettingsChange, named: &Named) -> BTreeSet<u32> {
    let SettingsChange { before, now, path } = listed;
    let package = |settings: &Settings| Settings {
        assets: Vec::new(),
        layers: Vec::new(),
        ..settings.clone()
    };
    if package(before) != package(now) {
        let reason = "changes more than assets and layers: pack a changed copy of types/ \
                      with `hpi pack`";
        job.report.refuse(&**path, reason);
    }
    let added = named.added_files();
    for line in &now.assets {
        let id = line.id;
        match hip.layout.find(id) {
            Some(number) if named.deleted.contains(&number) => {
                job.report
                    .refuse(&**path, format!("lists asset {id:08X}, which is deleted"));
            }
            None if !added.contains_key(&id) => {
                let folder = line.kind.folder();
                let reason = format!("lists asset {id:08X}, and types/{folder} has no such file");
                job.report.refuse(&**path, reason);
            }
            _ => {}
        }
    }
    let (old, new) = (lines(before), lines(now));
    let lost = old.keys().filter(|id| !new.contains_key(id));
    lost.filter_map(|&id| hip.layout.find(id)).collect()
}

/// Returns the new description of an asset if its line has changed. What the line
/// says as before is taken from the archive, which says it exactly.
fn changed(
    hip: &Hip,
    number: u32,
    before: &write::Asset,
    now: write::Asset,
) -> Option<write::Asset> {
    let toc = &hip.contents.toc;
    let asset = hip.asset(number);
    let mut described = write::Asset {
        id: asset.id,
        kind: asset.kind,
        flags: asset.flags,
        align: asset.align.unwrap_or_default(),
        name: toc.name(asset).to_vec(),
        source_file: toc.source_file(asset).to_vec(),
        checksum: asset.checksum.unwrap_or_default(),
    };
    let is_checked = (before.checksum != 0) != (now.checksum != 0);
    if is_checked {
        described.checksum = now.checksum;
    }
    let rest = |asset: &write::Asset| write::Asset {
        checksum: 0,
        ..asset.clone()
    };
    if rest(before) == rest(&now) && !is_checked {
        return None;
    }
    if before.kind != now.kind {
        described.kind = now.kind;
    }
    if before.flags != now.flags {
        described.flags = now.flags;
    }
    if before.align != now.align {
        described.align = now.align;
    }
    if before.name != now.name {
        described.name = now.name;
    }
    if before.source_file != now.source_file {
        described.source_file = now.source_file;
    }
    Some(described)
}

/// Returns the description of an asset that was put into the folder of a layer:
/// like the archive's first one of its type.
fn of_place(kinds: &Kinds<'_>, added: &Added, place: &super::named::Place) -> write::Asset {
    let hip = kinds.hip();
    let assets = &hip.contents.toc.assets;
    let alike = kinds.first(place.kind);
    let target = (hip.game.value, hip.platform.value);
    let align = alike.and_then(|asset| asset.align);
    let default = write::alignment(target, place.kind, 0).0;
    let has_checksum = has_checksums(hip)
        && alike
            .or(assets.first())
            .is_none_or(|asset| asset.checksum.unwrap_or_default() != 0);
    write::Asset {
        id: added.id,
        kind: place.kind,
        flags: alike.map_or(SOURCE_VIRTUAL, |asset| asset.flags),
        align: align.unwrap_or(default),
        name: place.name.clone(),
        source_file: Vec::new(),
        // It is computed unless it is 0.
        checksum: has_checksum.into(),
    }
}

/// Returns the positions of layers by their numbers in the original.
fn positions(layers: &[Layer]) -> HashMap<usize, usize> {
    let numbered = layers.iter().enumerate();
    let known = numbered.filter_map(|(position, layer)| Some((layer.old?, position)));
    known.collect()
}

/// Returns the layers with the ids that they list.
fn layers(hip: &Hip, named: &Named, deleted: &BTreeSet<u32>) -> Vec<Layer> {
    let toc = &hip.contents.toc;
    let mut layers = match &named.settings {
        Some(listed) => of_settings(hip, listed),
        None => (0..toc.layers.len())
            .map(|number| of_original(hip, number))
            .collect(),
    };
    for layer in &mut layers {
        let stays = |&id: &u32| match hip.layout.find(id) {
            Some(number) => {
                !deleted.contains(&number) && !named.left.contains(&(layer.old, number))
            }
            None => true,
        };
        let count = layer.ids.len();
        layer.ids.retain(stays);
        layer.is_changed |= layer.ids.len() < count;
    }
    let positions = positions(&layers);
    for (&number, &layer) in &named.joined {
        if let Some(&position) = layer.and_then(|layer| positions.get(&layer)) {
            layers[position].ids.push(hip.asset(number).id);
            layers[position].is_changed = true;
        }
    }
    layers
}

/// Returns a layer as it is.
fn of_original(hip: &Hip, number: usize) -> Layer {
    let toc = &hip.contents.toc;
    let layer = toc.layers[number];
    Layer {
        old: Some(number),
        kind: layer.kind,
        debug: layer.debug.unwrap_or(NO_DEBUG),
        ids: toc.ids(&layer).to_vec(),
        is_changed: false,
    }
}

/// Returns the layers that `Settings.ini` lists. One that it lists as before stays
/// as it is.
fn of_settings(hip: &Hip, listed: &SettingsChange) -> Vec<Layer> {
    let SettingsChange { before, now, .. } = listed;
    let ids = |settings: &Settings, members: &[usize]| -> Vec<u32> {
        members
            .iter()
            .map(|&member| settings.assets[member].id)
            .collect()
    };
    let old: Vec<Vec<u32>> = before
        .layers
        .iter()
        .map(|layer| ids(before, &layer.members))
        .collect();
    let is_same_count = before.layers.len() == now.layers.len();
    let mut is_taken = vec![false; old.len()];
    let layers = now.layers.iter().enumerate().map(|(number, layer)| {
        let members = ids(now, &layer.members);
        let unique: HashSet<u32> = members.iter().copied().collect();
        let is_alike = |&other: &usize| {
            let shares = old[other].iter().any(|id| unique.contains(id));
            !is_taken[other]
                && (shares || old[other].is_empty() && members.is_empty())
                && before.layers[other].kind == layer.kind
        };
        let found = match is_same_count {
            true => Some(number),
            false => (0..old.len()).find(is_alike),
        };
        let original = found.map(|found| {
            is_taken[found] = true;
            of_original(hip, found)
        });
        let is_listed_as_before = found.is_some_and(|found| {
            let other = &before.layers[found];
            (other.kind, other.debug) == (layer.kind, layer.debug) && old[found] == members
        });
        match original {
            Some(original) if is_listed_as_before => original,
            original => Layer {
                old: original.and_then(|original| original.old),
                kind: layer.kind,
                debug: layer.debug,
                ids: members,
                is_changed: true,
            },
        }
    });
    layers.collect()
}
