//! Offsets of the numbers about assets in the tables, for replacing data.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::contents::Contents;
use super::detect::Platform;
use super::kinds::Code;
use super::{Hip, tree};
use crate::io::{ReadAt, Result};
use crate::volume::Sink;

/// Offset of the maxima in the body of PCNT.
const MAXIMA: u64 = 8;

/// The properties of an archive that are needed to replace data.
#[derive(Debug)]
pub struct Offsets {
    /// The console that the archive is for.
    pub platform: Platform,
    /// The assets in the order of the archive.
    pub assets: Vec<AssetOffsets>,
    /// For each layer the numbers of its assets.
    pub layers: Vec<Vec<u32>>,
    /// Absolute offset of PCNT's `assetCount` and `layerCount`.
    pub(super) counts: Option<u64>,
    /// PCNT's maxima, and the offset of the first: `maxAssetSize`,
    /// `maxLayerSize`, `maxXformAssetSize`.
    pub maxima: Option<(u64, [u32; 3])>,
    /// STRM, then DPAK: the offset of the size in the header, and the body
    /// according to the header.
    pub sizes: Vec<(u64, Range<u64>)>,
    /// Absolute offset before which there is no asset.
    pub data_start: u64,
    /// Absolute offset after which there is no asset.
    pub data_end: u64,
}

/// An asset, and the position of its AHDR.
#[derive(Debug, Clone, Copy)]
pub struct AssetOffsets {
    /// Its id.
    pub id: u32,
    /// The code of its type.
    pub(super) code: Code,
    /// Absolute offset of its data.
    pub offset: u32,
    /// Length of its data in bytes.
    pub size: u32,
    /// Length of the padding after its data in bytes.
    pub plus: u32,
    /// Its flags, as stored.
    pub flags: u32,
    /// Absolute offset of AHDR's body.
    pub header: u64,
    /// The checksum, and its absolute offset.
    pub checksum: Option<(u64, u32)>,
}

impl AssetOffsets {
    /// Returns the absolute offsets of its data.
    pub(super) fn range(&self) -> Range<u64> {
        let start = u64::from(self.offset);
        start..start + u64::from(self.size)
    }
}

/// Returns how many bytes of a layer are not where the engine looks for them, which
/// reads it in one piece from its first asset with data on.
pub(super) fn missing_length(assets: &[AssetOffsets], members: &[u32]) -> u64 {
    let members = || members.iter().map(|&member| &assets[member as usize]);
    let sizes = members().map(|asset| u64::from(asset.size) + u64::from(asset.plus));
    let last = members().next_back().map_or(0, |last| u64::from(last.plus));
    let length = sizes.sum::<u64>() - last;
    let filled = || members().filter(|asset| asset.size > 0);
    let Some(first) = filled().next().map(|first| first.offset) else {
        return 0;
    };
    let missing = filled().map(|asset| match asset.offset.checked_sub(first) {
        Some(start) => (u64::from(start) + u64::from(asset.size)).saturating_sub(length),
        None => u64::MAX,
    });
    missing.max().unwrap_or_default()
}

impl Offsets {
    /// Reads the tables of an archive, and declares everything in it to the sink.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read or its tables are damaged.
    pub fn read(source: &Arc<dyn ReadAt>, sink: &mut dyn Sink) -> Result<Self> {
        let hip = Hip::to_change(source.clone())?;
        tree::announce(&hip, sink)?;
        Ok(Self::of(&hip))
    }

    /// Returns for each asset in a layer the layer with its data: of several, the first
    /// one that the engine, which reads a layer in one piece, finds it in.
    pub(super) fn homes(&self) -> HashMap<u32, usize> {
        let mut homes = HashMap::new();
        for is_wanted in [true, false] {
            for (number, members) in self.layers.iter().enumerate() {
                if (missing_length(&self.assets, members) == 0) == is_wanted {
                    for &member in members {
                        homes.entry(member).or_insert(number);
                    }
                }
            }
        }
        homes
    }

    /// Finds the numbers of an archive that was read to be changed.
    pub(super) fn of(hip: &Hip) -> Self {
        let Contents { package, toc, .. } = &hip.contents;
        let places = toc.places.iter().flatten();
        let assets = toc
            .assets
            .iter()
            .zip(places)
            .map(|(asset, place)| AssetOffsets {
                id: asset.id,
                code: asset.kind.code,
                offset: asset.offset,
                size: asset.size,
                plus: asset.plus,
                flags: asset.flags,
                header: place.header,
                checksum: place.checksum.zip(asset.checksum),
            });
        let assets: Vec<AssetOffsets> = assets.collect();
        let counts = package.counts.filter(|counts| counts.layers.is_some());
        let maxima = counts.and_then(|counts| {
            let maxima = [counts.max_asset?, counts.max_layer?, counts.max_xform?];
            Some((counts.offset + MAXIMA, maxima))
        });
        let (data_start, data_end) = data(hip, &assets);
        let blocks = hip.contents.blocks.iter();
        let stream = blocks.filter(|block| &block.name == b"STRM").copied();
        let stream = stream.chain(hip.contents.stream.and_then(|stream| stream.data));
        Self {
            platform: hip.platform.value,
            sizes: stream
                .map(|block| {
                    let end = block.body() + u64::from(block.size);
                    (block.offset + 4, block.body()..end)
                })
                .collect(),
            assets,
            layers: hip.layout.layers.clone(),
            counts: counts.map(|counts| counts.offset),
            maxima,
            data_start,
            data_end,
        }
    }
}

/// Returns the range of the assets' data, as DPAK states it. If that size
/// cannot be correct, the data extends to HIPB or to the end of the source.
fn data(hip: &Hip, assets: &[AssetOffsets]) -> (u64, u64) {
    let blocks = &hip.contents.blocks;
    let block = |name: &[u8; 4]| blocks.iter().find(|block| &block.name == name);
    let dict = block(b"DICT").map_or(0, |dict| dict.body() + u64::from(dict.size));
    let data = hip.contents.stream.and_then(|stream| stream.data);
    let start = data.map_or(dict, |data| data.body() + 4).max(dict);
    let length = hip.source.len();
    let last = assets
        .iter()
        .map(|asset| u64::from(asset.offset) + u64::from(asset.size))
        .filter(|&end| end <= length)
        .max();
    let stated = data.map(|data| data.body() + u64::from(data.size));
    let is_possible = |&end: &u64| end <= length && last.is_none_or(|last| last <= end);
    let end = stated.filter(is_possible).unwrap_or_else(|| {
        let hipb = block(b"HIPB").map(|hipb| hipb.offset);
        hipb.unwrap_or(length)
    });
    (start, end)
}
