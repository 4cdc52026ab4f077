//! Replacing the data of assets of a HIP archive.
//!
//! The engine reads a layer in one piece, from its first asset with data on, so
//! the assets of a layer stay together and in order (FORMATS, HIP 8). Everything
//! behind a changed one moves by a multiple of the alignment of layers, so that
//! all alignments are kept.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::offsets::missing_length;
use super::places::{Apart, Places, overlaps};
use super::write::{FILLER, MAX_ARCHIVE_LENGTH, layer_alignment};
use super::{AssetOffsets, CHECKSUM, Offsets};
use crate::changes::{Checksum, Composed, NewFile, Patch};
use crate::io::{Error, ReadAt, Result};

/// Offsets of numbers in AHDR: `offset`, `size`, `plus`.
const OFFSET: u64 = 8;
const SIZE: u64 = 12;
const PLUS: u64 = 16;

/// The flag of assets that `maxXformAssetSize` includes.
const READ_TRANSFORM: u32 = 4;

/// New contents of assets, by their numbers in the order of
/// [`Offsets::assets`].
pub type NewAssets = BTreeMap<u32, NewFile>;

/// The edits of the data of an archive.
#[derive(Default)]
pub(super) struct Edits {
    /// New contents.
    pub(super) new: NewAssets,
    /// Layers whose assets are written again, because they are not the same ones
    /// or in another order.
    pub(super) layers: BTreeSet<usize>,
    /// Assets whose data is not in their layer yet. A new one has an
    /// alignment, in bytes; the others keep theirs.
    pub(super) placed: BTreeMap<u32, Option<u64>>,
    /// The layer with the data of each asset in a layer; `None` if it is where it
    /// was.
    pub(super) homes: Option<HashMap<u32, usize>>,
    /// Data that is dropped, and the layer that it was in.
    pub(super) dropped: Vec<(Option<usize>, Range<u64>)>,
}

/// Returns an archive with new contents of some assets.
///
/// An asset that shares its bytes with others, or that has none, gets its own in
/// its layer, which is written again with a copy of each of its assets.
///
/// # Errors
/// Returns an error if a new file cannot be read, if an asset extends past the
/// end of the archive where others must follow it, or if the archive would reach
/// 2 GiB.
///
/// # Panics
/// Panics if the archive has no asset with the number of a new one.
pub fn splice(original: &Arc<dyn ReadAt>, offsets: &Offsets, new: &NewAssets) -> Result<Composed> {
    let edits = Edits {
        new: new.clone(),
        ..Edits::default()
    };
    splice_layers(original, offsets, &edits)
}

/// Like [`splice`], for an archive whose layers have gained or lost assets.
///
/// # Errors
/// Returns an error under the same conditions as [`splice`].
///
/// # Panics
/// Panics if the archive has no asset with one of the numbers.
pub(super) fn splice_layers(
    original: &Arc<dyn ReadAt>,
    offsets: &Offsets,
    wanted: &Edits,
) -> Result<Composed> {
    let new = &wanted.new;
    let plan = Plan::new(offsets, wanted, original.len());
    let edits = plan.edits()?;
    let mut out = Composed::default();
    let mut assets = offsets.assets.clone();
    let mut moves = Moves::default();
    let mut at = 0;
    for edit in &edits {
        out.append(original, at..edit.removed.start);
        for piece in &edit.pieces {
            match piece {
                Piece::Asset(number, plus) => {
                    let asset = &mut assets[*number as usize];
                    let old = asset.range();
                    moves.placed.insert(*number, out.len());
                    asset.plus = *plus;
                    match new.get(number) {
                        Some(new) => out.append_file(new),
                        None => out.append(original, old),
                    }
                }
                Piece::Fill(count) => out.append_fill(FILLER, *count),
            }
        }
        at = edit.removed.end;
        moves.behind.push((at, out.len() as i64 - at as i64));
    }
    out.append(original, at..original.len());
    if out.len() > MAX_ARCHIVE_LENGTH {
        let text = "would reach 2 GiB, which the games cannot load";
        return Err(Error::Unsupported(text.to_owned()));
    }
    for (number, new) in new {
        let asset = &mut assets[*number as usize];
        asset.size = new.len() as u32;
        if let Some((_, stored)) = asset.checksum.as_mut().filter(|(_, old)| *old != 0) {
            *stored = new.checksum(Checksum::Hip, || {
                let mut digest = CHECKSUM.digest();
                new.read(&mut |bytes| digest.update(bytes))?;
                Ok(digest.finalize())
            })?;
        }
    }
    for (number, asset) in (0..).zip(&mut assets) {
        let placed = moves.placed.get(&number).copied();
        let offset = placed.unwrap_or_else(|| moves.moved(asset.offset.into()));
        // An asset past the end stays past the end.
        asset.offset = u32::try_from(offset).unwrap_or(u32::MAX);
    }
    keep_in_one_piece(offsets, &mut assets);
    let mut patch = Patch::new(Arc::new(out));
    for (field, value) in plan.numbers(&assets, &moves) {
        patch.put(moves.moved(field), value.to_be_bytes().to_vec());
    }
    Ok(patch.finish())
}

/// Keeps the layers in one piece that were. Padding behind the asset that a layer lists
/// last does not count, so that a layer whose data has another order might have become
/// too short: the asset with its last data gets what is missing as its `plus`.
fn keep_in_one_piece(offsets: &Offsets, assets: &mut [AssetOffsets]) {
    for members in &offsets.layers {
        let missing = missing_length(assets, members);
        if missing == 0 || missing_length(&offsets.assets, members) > 0 {
            continue;
        }
        let last = members
            .iter()
            .max_by_key(|&&member| assets[member as usize].range().end);
        if let (Some(&last), Ok(missing)) = (last, u32::try_from(missing)) {
            let plus = &mut assets[last as usize].plus;
            *plus = plus.saturating_add(missing);
        }
    }
}

/// The new positions of the data.
#[derive(Default)]
struct Moves {
    /// The ends of the removed ranges in the original, and by how much the data
    /// behind each has moved.
    behind: Vec<(u64, i64)>,
    /// The new offsets of assets that were written again.
    placed: HashMap<u32, u64>,
}

impl Moves {
    /// Returns the new offset of a byte that is not in a removed range.
    fn moved(&self, offset: u64) -> u64 {
        let before = self.behind.partition_point(|&(end, _)| end <= offset);
        let by = before.checked_sub(1).map_or(0, |last| self.behind[last].1);
        offset.saturating_add_signed(by)
    }
}

/// A range of the archive that is replaced.
struct Edit {
    removed: Range<u64>,
    pieces: Vec<Piece>,
}

/// A part of what replaces a range.
enum Piece {
    /// An asset and its `plus`.
    Asset(u32, u32),
    /// This many bytes of filler.
    Fill(u64),
}

/// An archive, and what is to be replaced.
struct Plan<'a> {
    offsets: &'a Offsets,
    new: &'a NewAssets,
    wanted: &'a Edits,
    /// The layer of each asset that is in one.
    homes: HashMap<u32, usize>,
    /// The places of all assets, and of those that are in their layer.
    all: Places,
    staying: Places,
    /// The layers that list each asset.
    memberships: HashMap<u32, Vec<usize>>,
    /// The offsets of assets with data, by the layers that list these.
    filled: HashSet<(usize, u64)>,
    /// Data that is dropped, by the layer that it was in.
    dropped: HashMap<usize, Vec<Range<u64>>>,
    /// The first asset that keeps data on both sides of the end.
    cut: Option<u32>,
    alignment: u64,
    /// Length of the archive in bytes.
    length: u64,
}

/// Assets that are written again together: a layer, or an asset in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Layer(usize),
    Alone(u32),
}

impl<'a> Plan<'a> {
    fn new(offsets: &'a Offsets, wanted: &'a Edits, length: u64) -> Self {
        let numbered = || (0..).zip(&offsets.assets);
        let stays = |&(number, _): &(u32, _)| !wanted.placed.contains_key(&number);
        let mut memberships: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut filled = HashSet::new();
        for (layer, members) in offsets.layers.iter().enumerate() {
            for &member in members {
                memberships.entry(member).or_default().push(layer);
                let range = offsets.assets[member as usize].range();
                if !range.is_empty() {
                    filled.insert((layer, range.start));
                }
            }
        }
        let mut dropped: HashMap<usize, Vec<Range<u64>>> = HashMap::new();
        for (layer, range) in &wanted.dropped {
            if let Some(layer) = layer {
                dropped.entry(*layer).or_default().push(range.clone());
            }
        }
        let end = offsets.data_end;
        let mut kept = numbered().filter(|(number, _)| !wanted.new.contains_key(number));
        let cut = kept.find(|(_, asset)| asset.range().start < end && end < asset.range().end);
        Self {
            offsets,
            new: &wanted.new,
            wanted,
            homes: wanted.homes.clone().unwrap_or_else(|| offsets.homes()),
            all: Places::of(numbered()),
            staying: Places::of(numbered().filter(stays)),
            memberships,
            filled,
            dropped,
            cut: cut.map(|(number, _)| number),
            alignment: layer_alignment(offsets.platform),
            length,
        }
    }

    /// Returns the edits in the order of the archive.
    fn edits(&self) -> Result<Vec<Edit>> {
        let group = |number: u32| match self.homes.get(&number) {
            Some(&layer) => Group::Layer(layer),
            None => Group::Alone(number),
        };
        let mut groups: BTreeSet<Group> = self
            .wanted
            .layers
            .iter()
            .copied()
            .map(Group::Layer)
            .collect();
        let mut alone = Vec::new();
        let placed = self.wanted.placed.keys().copied();
        groups.extend(placed.filter(|&number| self.size(number) > 0).map(group));
        let stay = |number: &&u32| !self.wanted.placed.contains_key(number);
        for &number in self.new.keys().filter(stay) {
            match self.has_own_bytes(number) {
                true => alone.push(number),
                false => {
                    groups.insert(group(number));
                }
            }
        }
        alone.retain(|&number| !groups.contains(&group(number)));
        let mut edits: Vec<Edit> = Vec::new();
        let mut replaced = Apart::default();
        let mut add = |edit: Edit, replaced: &mut Apart| {
            replaced.add(&edit.removed);
            edits.push(edit);
        };
        for number in alone {
            add(self.in_place(number), &mut replaced);
        }
        for &group in &groups {
            let edit = self.group(group, &replaced);
            if edit.removed.start == self.offsets.data_end {
                self.check_end(&edit)?;
            }
            add(edit, &mut replaced);
        }
        for (layer, range) in &self.wanted.dropped {
            let is_done = layer.is_some_and(|layer| groups.contains(&Group::Layer(layer)));
            let removed = range.start..self.padding_end(range, &self.staying, |_| false);
            if !is_done && replaced.has_room(&removed) && self.is_free(&removed, &self.staying, [])
            {
                let padding = (removed.end - removed.start) % self.alignment;
                let pieces = vec![Piece::Fill(padding)];
                add(Edit { removed, pieces }, &mut replaced);
            }
        }
        edits.sort_by_key(|edit| (edit.removed.start, edit.removed.end));
        Ok(edits)
    }

    fn asset(&self, number: u32) -> &AssetOffsets {
        &self.offsets.assets[number as usize]
    }

    fn range(&self, number: u32) -> Range<u64> {
        self.asset(number).range()
    }

    /// Returns the length of an asset in the new archive.
    fn size(&self, number: u32) -> u64 {
        let new = self.new.get(&number).map(NewFile::len);
        new.unwrap_or_else(|| self.asset(number).size.into())
    }

    /// Returns whether a range has data of none of the assets in `places` but `own`,
    /// each of which is there once.
    fn is_free(
        &self,
        range: &Range<u64>,
        places: &Places,
        own: impl IntoIterator<Item = u32>,
    ) -> bool {
        let own = own.into_iter();
        let own = own.filter(|&number| overlaps(self.asset(number), range));
        range.start >= self.offsets.data_start
            && range.end <= self.offsets.data_end
            && places.overlapping(range) == own.count()
    }

    fn has_own_bytes(&self, number: u32) -> bool {
        self.is_free(&self.range(number), &self.all, [number])
    }

    /// Returns the end of the padding behind a range, up to the next of the assets in
    /// `places` that is not one's own.
    fn padding_end(
        &self,
        range: &Range<u64>,
        places: &Places,
        is_own: impl Fn(u32) -> bool,
    ) -> u64 {
        let mut following = places.from(range.end);
        let next = following.find(|&(_, number)| !is_own(number));
        let next = next
            .map_or(self.offsets.data_end, |(offset, _)| offset)
            .min(self.offsets.data_end)
            .max(range.end);
        // A longer gap is not padding, and is kept.
        if next - range.end < self.alignment {
            next
        } else {
            range.end
        }
    }

    /// Replaces an asset where it is.
    fn in_place(&self, number: u32) -> Edit {
        let own = self.range(number);
        let next = self.padding_end(&own, &self.all, |other| other == number);
        // Everything behind it must move by a multiple of the alignment.
        let padding = (next - own.start).wrapping_sub(self.size(number)) % self.alignment;
        // An asset of the same layer follows.
        let mut layers = self.memberships.get(&number).into_iter().flatten();
        let is_inside = layers.any(|&layer| self.filled.contains(&(layer, next)));
        let plus = if is_inside { padding as u32 } else { 0 };
        Edit {
            removed: own.start..next,
            pieces: vec![Piece::Asset(number, plus), Piece::Fill(padding)],
        }
    }

    /// Writes the assets of a layer again: where they are if no others are among
    /// them, else behind all others.
    fn group(&self, group: Group, replaced: &Apart) -> Edit {
        let members: &[u32] = match &group {
            Group::Alone(number) => std::slice::from_ref(number),
            Group::Layer(layer) => self.offsets.layers.get(*layer).map_or(&[], Vec::as_slice),
        };
        let is_here = |number: &u32| match group {
            Group::Alone(_) => true,
            Group::Layer(layer) => self.homes.get(number) == Some(&layer),
        };
        let mut unique = HashSet::new();
        let members = members.iter().copied().filter(is_here);
        let members: Vec<u32> = members.filter(|&number| unique.insert(number)).collect();
        let is_placed = |number: u32| self.wanted.placed.contains_key(&number);
        let stay = || members.iter().copied().filter(|&number| !is_placed(number));
        let dropped = match group {
            Group::Layer(layer) => self.dropped.get(&layer),
            Group::Alone(_) => None,
        };
        let ranges = stay().map(|number| self.range(number));
        let ranges = ranges.chain(dropped.into_iter().flatten().cloned());
        let ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        let start = ranges.iter().map(|range| range.start).min();
        let end = ranges.iter().map(|range| range.end).max();
        let place = start.zip(end).map(|(start, end)| start..end);
        let place = place.filter(|place| self.is_free(place, &self.staying, stay()));
        let place = place.map(|place| {
            let end = self.padding_end(&place, &self.staying, |number| unique.contains(&number));
            place.start..end
        });
        let end = self.offsets.data_end;
        let removed = place
            .filter(|place| replaced.has_room(place))
            .unwrap_or(end..end);
        let mut pieces = Vec::new();
        let mut at = removed.start;
        let mut before: Option<usize> = None;
        for number in members.into_iter().filter(|&number| self.size(number) > 0) {
            let padding = match self.wanted.placed.get(&number) {
                Some(Some(step)) => at.next_multiple_of(*step) - at,
                // All alignments are kept.
                _ => u64::from(self.asset(number).offset).wrapping_sub(at) % self.alignment,
            };
            if let Some(Piece::Asset(_, plus)) = before.and_then(|last| pieces.get_mut(last)) {
                *plus = padding as u32;
            }
            pieces.push(Piece::Fill(padding));
            before = Some(pieces.len());
            pieces.push(Piece::Asset(number, 0));
            at += padding + self.size(number);
        }
        let length = removed.end - removed.start;
        let padding = length.wrapping_sub(at - removed.start) % self.alignment;
        pieces.push(Piece::Fill(padding));
        Edit { removed, pieces }
    }

    /// Checks that the data of an edit can be appended.
    fn check_end(&self, edit: &Edit) -> Result<()> {
        let written = edit.pieces.iter().filter_map(|piece| match piece {
            Piece::Asset(number, _) => Some(*number),
            Piece::Fill(_) => None,
        });
        let is_cut = |number: &u32| {
            let range = self.range(*number);
            !self.new.contains_key(number) && !range.is_empty() && range.end > self.length
        };
        match written.filter(is_cut).chain(self.cut).min() {
            Some(number) => Err(Error::Unsupported(format!(
                "asset {:08X} extends past the end of the archive, so nothing can be appended",
                self.asset(number).id
            ))),
            None => Ok(()),
        }
    }

    /// Returns the changed numbers and their old positions.
    fn numbers(&self, assets: &[AssetOffsets], moves: &Moves) -> Vec<(u64, u32)> {
        let mut numbers = Vec::new();
        let mut change = |field, old: u32, new: u32| {
            if old != new {
                numbers.push((field, new));
            }
        };
        for (old, new) in self.offsets.assets.iter().zip(assets) {
            change(old.header + OFFSET, old.offset, new.offset);
            change(old.header + SIZE, old.size, new.size);
            change(old.header + PLUS, old.plus, new.plus);
            if let (Some((field, old)), Some((_, new))) = (old.checksum, new.checksum) {
                change(field, old, new);
            }
        }
        if let Some((field, old)) = self.offsets.maxima {
            let new = self.maxima(assets);
            for ((field, old), new) in (0..3).map(|index| field + 4 * index).zip(old).zip(new) {
                // Tools leave them 0.
                if old != 0 {
                    change(field, old, new);
                }
            }
        }
        for (field, body) in &self.offsets.sizes {
            // An impossible size is left unchanged.
            if body.end <= self.length {
                let size = moves
                    .moved(body.end)
                    .saturating_sub(moves.moved(body.start));
                // Neither reaches 2 GiB.
                change(*field, (body.end - body.start) as u32, size as u32);
            }
        }
        numbers
    }

    /// Returns PCNT's maxima (FORMATS, HIP 3).
    fn maxima(&self, assets: &[AssetOffsets]) -> [u32; 3] {
        let largest = |assets: &mut dyn Iterator<Item = &AssetOffsets>| {
            assets.map(|asset| asset.size).max().unwrap_or(0)
        };
        let layers = self.offsets.layers.iter().map(|members| {
            let offsets = members.iter().map(|&member| &assets[member as usize]);
            let sum: u64 = offsets
                .map(|place| u64::from(place.size) + u64::from(place.plus))
                .sum();
            let last = members.last().map(|&member| &assets[member as usize]);
            sum - last.map_or(0, |last| u64::from(last.plus))
        });
        let layer = layers.max().unwrap_or(0);
        let transformed = |asset: &&AssetOffsets| asset.flags & READ_TRANSFORM != 0;
        [
            largest(&mut assets.iter()),
            u32::try_from(layer).unwrap_or(u32::MAX),
            largest(&mut assets.iter().filter(transformed)),
        ]
    }
}
