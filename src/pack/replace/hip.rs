//! Replacing assets of a HIP archive.
//!
//! Everything after a replaced asset moves by a multiple of the alignment of
//! layers, so that all alignments are kept.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::needs::{self, HEAD};
use super::splice::{Source, Splice};
use crate::pack::hip::file_size;
use crate::pack::{Error as Failed, Result};
use hpimount_containers::hip::write::{FILLER, MAX_ARCHIVE_LENGTH, copy, layer_alignment};
use hpimount_containers::hip::{AssetOffsets, Offsets};
use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::hpi::write::output::Output;
use hpimount_containers::hpi::write::{Error, Source as Bytes};

/// Offset of the type in AHDR.
const CODE: u64 = 4;

/// Offsets of numbers in AHDR: `offset`, `size`, `plus`.
const OFFSET: u64 = 8;
const SIZE: u64 = 12;
const PLUS: u64 = 16;

/// The flag of assets that `maxXformAssetSize` includes.
const READ_TRANSFORM: u32 = 4;

/// Assets to be replaced, and their archive.
pub(in crate::pack) struct Plan {
    source: Source,
    offsets: Offsets,
    changes: Vec<Change>,
}

/// A replaced asset.
#[derive(Debug)]
struct Change {
    asset: u32,
    file: Bytes,
    /// Length of the file in bytes.
    size: u32,
    /// The removed range of the archive: the asset and the padding after it.
    /// Empty at the end of all assets if others share its bytes.
    start: u64,
    end: u64,
    kind: Kind,
}

/// The position of the new data.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// At the old position, followed by this many bytes of padding.
    InPlace {
        padding: u32,
        /// Whether more of the layer follows, so that the padding is `plus`.
        is_inside: bool,
    },
    /// After all others.
    Appended,
}

impl Plan {
    /// Plans to replace assets with the contents of files.
    pub(super) fn new(
        source: Source,
        offsets: Offsets,
        files: Vec<(u32, PathBuf)>,
    ) -> Result<Self> {
        for (asset, file) in &files {
            check(&source, &offsets, *asset, file)?;
        }
        let mut changes: Vec<Change> = files
            .into_iter()
            .map(|(asset, file)| change(&offsets, asset, file))
            .collect::<Result<_>>()?;
        let is_appended = |change: &Change| matches!(change.kind, Kind::Appended);
        if changes.iter().any(is_appended)
            && let Some(cut_off) = cut_off(&offsets, &changes)
        {
            return Err(source.error(format!(
                "asset {cut_off:08X} extends past the end of the archive, so nothing can be appended"
            )));
        }
        changes.sort_by_key(|change| (change.start, change.end));
        Ok(Self {
            source,
            offsets,
            changes,
        })
    }

    /// Returns the number of bytes that will be read.
    pub(in crate::pack) fn bytes(&self) -> u64 {
        let changes = self.changes.iter();
        changes.fold(self.source.len(), |bytes, change| {
            bytes - (change.end - change.start) + u64::from(change.size)
        })
    }

    pub(in crate::pack) fn write(
        &self,
        out: impl Write + Seek,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let out = Output::new(out, Cipher::PLAIN);
        let mut splice = Splice::new(&self.source, out, 0..0, progress);
        let mut assets = self.offsets.assets.clone();
        let mut starts = Vec::with_capacity(self.changes.len());
        for change in &self.changes {
            splice.copy_to(change.start)?;
            let alignment = layer_alignment(self.offsets.platform);
            let (start, checksum) =
                splice.write(|out, progress| write(change, alignment, out, progress))?;
            splice.go_on_at(change.end);
            starts.push(start);
            let asset = &mut assets[change.asset as usize];
            asset.size = change.size;
            asset.plus = match change.kind {
                Kind::InPlace {
                    padding,
                    is_inside: true,
                } => padding,
                _ => 0,
            };
            let stored = asset.checksum.as_mut().filter(|(_, old)| *old != 0);
            if let Some((_, stored)) = stored {
                *stored = checksum;
            }
        }
        splice.copy_to(self.source.len())?;
        if u64::from(splice.out.end()) > MAX_ARCHIVE_LENGTH {
            return Err(Error::TooLargeForGames.into());
        }
        for asset in &mut assets {
            // An asset past the end stays past the end.
            let offset = splice.moved(asset.offset.into());
            asset.offset = u32::try_from(offset).unwrap_or(u32::MAX);
        }
        for (change, start) in self.changes.iter().zip(starts) {
            assets[change.asset as usize].offset = start;
        }
        for (field, value) in self.numbers(&assets, &splice)? {
            let field = number(splice.moved(field))?;
            splice.out.overwrite_plain(field, &value.to_be_bytes())?;
        }
        Ok(splice.out.finish()?)
    }

    /// Returns the changed numbers and their positions.
    fn numbers<W: Write + Seek>(
        &self,
        assets: &[AssetOffsets],
        splice: &Splice<'_, W>,
    ) -> Result<Vec<(u64, u32)>> {
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
            if body.end <= self.source.len() {
                let size = splice
                    .moved(body.end)
                    .saturating_sub(splice.moved(body.start));
                change(*field, number(body.end - body.start)?, number(size)?);
            }
        }
        Ok(numbers)
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

/// Returns the id of an unchanged asset that extends past the end of all
/// assets, where appended data would become part of it.
fn cut_off(offsets: &Offsets, changes: &[Change]) -> Option<u32> {
    let assets = (0..).zip(&offsets.assets);
    let stays = |&(number, _): &(u32, _)| changes.iter().all(|change| change.asset != number);
    let end = offsets.data_end;
    let mut cut_off = assets.filter(stays).filter(|(_, asset)| {
        let start = u64::from(asset.offset);
        start < end && end < start + u64::from(asset.size)
    });
    cut_off.next().map(|(_, asset)| asset.id)
}

/// Checks that an asset of its type may have the contents of a file.
fn check(source: &Source, offsets: &Offsets, asset: u32, path: &Path) -> Result<()> {
    let size = file_size(path)?;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    read.map_err(|cause| Failed::source(path, cause))?;
    let mut code = [0; 4];
    let at = offsets.assets[asset as usize].header + CODE;
    let read = source.bytes.read_exact_at(&mut code, at);
    read.map_err(|cause| source.error(cause))?;
    match needs::problem(code, offsets.platform.endian(), &head, size) {
        Some(problem) => Err(Failed::source(path, problem)),
        None => Ok(()),
    }
}

/// Plans to replace an asset with the contents of a file.
fn change(offsets: &Offsets, asset: u32, file: PathBuf) -> Result<Change> {
    let alignment = layer_alignment(offsets.platform);
    let place = &offsets.assets[asset as usize];
    let size = file_size(&file)?;
    let file = Bytes::Path(file);
    let start = u64::from(place.offset);
    let end = start + u64::from(place.size);
    let others = offsets.assets.iter().enumerate();
    let others = others.filter(|&(number, _)| number != asset as usize);
    let others: Vec<&AssetOffsets> = others.map(|(_, other)| other).collect();
    let is_free = start >= offsets.data_start
        && end <= offsets.data_end
        && !others.iter().any(|other| overlaps(other, start, end));
    if !is_free {
        return Ok(Change {
            asset,
            file,
            size,
            start: offsets.data_end,
            end: offsets.data_end,
            kind: Kind::Appended,
        });
    }
    let following = others.iter().map(|other| u64::from(other.offset));
    let next = following.filter(|&offset| offset >= end).min();
    let next = next.unwrap_or(offsets.data_end).min(offsets.data_end);
    // A longer gap is not padding, and is kept.
    let next = if next - end < alignment { next } else { end };
    // Everything after it must move by a multiple of the alignment.
    let padding = (next - start).wrapping_sub(size.into()) % alignment;
    let is_neighbor = |&&number: &&u32| {
        let other = &offsets.assets[number as usize];
        number != asset && u64::from(other.offset) == next && other.size > 0
    };
    let mut layers = offsets.layers.iter();
    let is_inside = layers
        .any(|layer| layer.contains(&asset) && layer.iter().any(|number| is_neighbor(&number)));
    Ok(Change {
        asset,
        file,
        size,
        start,
        end: next,
        kind: Kind::InPlace {
            padding: padding as u32,
            is_inside,
        },
    })
}

/// Returns whether an asset overlaps a range or contains it.
fn overlaps(asset: &AssetOffsets, start: u64, end: u64) -> bool {
    let first = u64::from(asset.offset);
    let last = first + u64::from(asset.size);
    first < last && first < end.max(start + 1) && last > start && !(start == end && first == start)
}

/// Writes new data with its padding, and returns its offset and checksum.
fn write<W: Write + Seek>(
    change: &Change,
    alignment: u64,
    out: &mut Output<W>,
    progress: &mut dyn FnMut(u64),
) -> Result<(u32, u32)> {
    let end = u64::from(out.end());
    let (before, behind) = match change.kind {
        Kind::InPlace { padding, .. } => (0, padding.into()),
        // Data after it, if any, moves by a multiple here too.
        Kind::Appended => {
            let before = end.next_multiple_of(alignment) - end;
            let length = before + u64::from(change.size);
            (before, length.next_multiple_of(alignment) - length)
        }
    };
    fill(out, before)?;
    let start = out.end();
    let mut append = |bytes: &[u8]| out.append_plain(bytes);
    let checksum = copy(&change.file, change.size.into(), &mut append, progress)?;
    fill(out, behind)?;
    Ok((start, checksum))
}

fn fill<W: Write + Seek>(out: &mut Output<W>, count: u64) -> Result<()> {
    Ok(out.append_plain(&vec![FILLER; count as usize])?)
}

fn number(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::TooLargeForGames.into())
}
