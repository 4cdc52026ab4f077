//! Assignment of assets to layers (FORMATS, HIP 6).

use super::kinds::JSP_INFO;
use super::layer;
use super::toc::Toc;
use crate::io::Warnings;

/// The assets of every layer, by their number in [`Toc::assets`].
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// For every layer its assets, in order and each once.
    pub(super) layers: Vec<Vec<u32>>,
    /// For every layer, the number of its ids that are missing from the
    /// archive.
    pub(super) missing: Vec<usize>,
    /// The assets that are in no layer.
    pub(super) unlayered: Vec<u32>,
    /// Assets that repeat the id of earlier assets, and the number of these.
    pub(super) repeated: Vec<(u32, u32)>,
    /// The ids and numbers of the assets, sorted.
    by_id: Vec<(u32, u32)>,
}

/// Marks an asset that is in no layer yet.
const NOWHERE: u32 = u32::MAX;

impl Layout {
    /// Finds the assets of the layers by id. If several assets have the same
    /// id, layers refer to the first. JSP assets are JSPINFO if the first layer
    /// that lists them is for JSPINFO.
    pub(super) fn new(toc: &mut Toc, warnings: &mut Warnings) -> Self {
        let by_id = sorted(toc);
        let mut layout = Self {
            repeated: repeated(&by_id, warnings),
            by_id,
            ..Self::default()
        };
        // For each asset, the last layer that contains it so far.
        let mut seen = vec![NOWHERE; toc.assets.len()];
        for number in 0..toc.layers.len() {
            layout.add_layer(toc, number, &mut seen, warnings);
        }
        for (index, asset) in (0..).zip(&toc.assets) {
            if seen[index as usize] == NOWHERE {
                warnings.push(format!("asset {:08X} is in no layer", asset.id));
                layout.unlayered.push(index);
            }
        }
        layout
    }

    /// Returns the first asset with this id.
    pub(super) fn find(&self, id: u32) -> Option<u32> {
        self.with_id(id).next()
    }

    /// Returns the assets with this id, in order.
    pub(super) fn with_id(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.by_id.partition_point(|&(other, _)| other < id);
        let rest = self.by_id[first..].iter();
        let same = rest.take_while(move |&&(other, _)| other == id);
        same.map(|&(_, index)| index)
    }

    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        let layers = self.layers.iter();
        let lists = layers.map(|layer| size_of_val(layer) + layer.capacity() * size_of::<u32>());
        lists.sum::<usize>()
            + self.missing.capacity() * size_of::<usize>()
            + self.repeated.capacity() * size_of::<(u32, u32)>()
            + self.unlayered.capacity() * size_of::<u32>()
            + self.by_id.capacity() * size_of::<(u32, u32)>()
    }

    /// Returns the numbers of the layers that hold the asset with number
    /// `asset`.
    pub(super) fn layers_of(&self, asset: u32) -> impl Iterator<Item = usize> + '_ {
        (0..)
            .zip(&self.layers)
            .filter(move |(_, assets)| assets.contains(&asset))
            .map(|(number, _)| number)
    }

    fn add_layer(
        &mut self,
        toc: &mut Toc,
        number: usize,
        seen: &mut [u32],
        warnings: &mut Warnings,
    ) {
        let layer = toc.layers[number];
        let jsp_info = layer::holds_jsp_info(layer.kind);
        let mut members = Vec::new();
        let mut missing = 0;
        for id in toc.ids(&layer).to_vec() {
            let Some(index) = self.find(id) else {
                warnings.push(format!("layer {number} lists {id:08X}, which is missing"));
                missing += 1;
                continue;
            };
            let last = &mut seen[index as usize];
            if *last == number as u32 {
                warnings.push(format!("layer {number} lists {id:08X} more than once"));
                continue;
            }
            let kind = &mut toc.assets[index as usize].kind;
            if *last != NOWHERE {
                warnings.push(format!("asset {id:08X} is in layers {last} and {number}"));
            } else if jsp_info && &kind.code == b"JSP " {
                kind.subtype = JSP_INFO;
            }
            *last = number as u32;
            members.push(index);
        }
        self.layers.push(members);
        self.missing.push(missing);
    }
}

/// Returns the ids and numbers of the assets, sorted.
fn sorted(toc: &Toc) -> Vec<(u32, u32)> {
    let assets = toc.assets.iter().zip(0..);
    let mut by_id: Vec<_> = assets.map(|(asset, index)| (asset.id, index)).collect();
    by_id.sort_unstable();
    by_id
}

/// Returns the assets that repeat an id, and how many have it before them.
fn repeated(by_id: &[(u32, u32)], warnings: &mut Warnings) -> Vec<(u32, u32)> {
    let mut repeated = Vec::new();
    for same in by_id.chunk_by(|left, right| left.0 == right.0) {
        if same.len() > 1 {
            let id = same[0].0;
            warnings.push(format!("asset {id:08X} occurs {} times", same.len()));
        }
        let others = (0..).zip(same).skip(1);
        repeated.extend(others.map(|(before, &(_, index))| (index, before)));
    }
    repeated
}
