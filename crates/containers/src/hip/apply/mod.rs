//! Writing a HIP archive with changes. An asset has a name in `layers/`, in
//! `types/` and in `ids/`, and any of them will do. Assets that are only replaced
//! leave all tables as they are but for their numbers; if any is added, deleted
//! or described anew, the tables are written again.

mod homes;
mod kinds;
mod listed;
mod named;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::homes::Homes;
use self::kinds::Kinds;
use self::named::Named;
use super::restructure::{Structure, restructure};
use super::splice::{Edits, NewAssets, splice, splice_layers};
use super::{Hip, Offsets, needs, write};
use crate::changes::{Composed, Job, Written};
use crate::io::{ReadAt, Result};

/// Writes the archive.
pub(super) fn apply(hip: &Hip, (): (), job: &mut Job<'_>) -> Result<Written> {
    let source = &hip.source;
    let offsets = Offsets::of(hip);
    let mut kinds = Kinds::of(hip);
    let named = Named::collect(job, &mut kinds)?;
    for (&number, file) in &named.replaced {
        if let Some(other) = needs::of_asset(&offsets, number, file)? {
            job.report.refuse(file.path(), refusal(&other));
        }
    }
    if !named.is_restructured() {
        return Ok(Written::alone(splice(source, &offsets, &named.replaced)?));
    }
    let structure = listed::structure(job, &kinds, &named)?;
    if !job.report.refusals.is_empty() {
        return Ok(Written::alone(Composed::default()));
    }
    write(hip, &offsets, &named, &structure).map(Written::alone)
}

/// Returns why a file that is no asset is refused.
fn refusal(other: &needs::Other) -> String {
    format!("{} (files in `converted` are converted)", other.problem)
}

/// Writes the tables, and then the data.
fn write(hip: &Hip, offsets: &Offsets, named: &Named, wanted: &Structure) -> Result<Composed> {
    let (restructured, moved) = restructure(&hip.source, hip, offsets, wanted)?;
    let source: Arc<dyn ReadAt> = Arc::new(restructured);
    let mut now = Offsets::of(&Hip::to_change(source.clone())?);
    // It may be a guess from the place of the first asset, which may be gone.
    now.platform = offsets.platform;
    let homes = Homes::new(offsets, wanted);
    let mut edits = Edits {
        new: contents(named, wanted),
        placed: added(hip, wanted),
        ..Edits::default()
    };
    for moving in homes.moving() {
        if let Some(number) = moving.number {
            edits.placed.insert(number, None);
        }
        let range = offsets.assets[moving.old as usize].range();
        if !range.is_empty() {
            let start = range.start.saturating_add_signed(moved);
            let range = start..start + (range.end - range.start);
            edits.dropped.push((moving.home, range));
        }
    }
    edits.layers = homes.changed_layers(|number| match edits.new.get(&number) {
        Some(new) => new.len(),
        None => now
            .assets
            .get(number as usize)
            .map_or(0, |asset| asset.size.into()),
    });
    edits.homes = Some(homes.now);
    splice_layers(&source, &now, &edits)
}

/// Returns the new contents of assets, by their new numbers.
fn contents(named: &Named, wanted: &Structure) -> NewAssets {
    let added = named.added_files();
    let assets = (0..).zip(&wanted.assets);
    let contents = assets.filter_map(|(number, asset)| {
        let file = match asset.old {
            Some(old) => named.replaced.get(&old),
            None => added.get(&asset.id).copied(),
        };
        Some((number, file?.clone()))
    });
    contents.collect()
}

/// Returns the new numbers of added assets, with their alignments in bytes.
fn added(hip: &Hip, wanted: &Structure) -> BTreeMap<u32, Option<u64>> {
    let target = (hip.game.value, hip.platform.value);
    let assets = (0..).zip(&wanted.assets);
    let added = assets.filter_map(|(number, asset)| {
        let described = asset.described.as_ref().filter(|_| asset.old.is_none())?;
        let (_, step) = write::alignment(target, described.kind, described.align);
        Some((number, Some(step)))
    });
    added.collect()
}
