//! Placing the assets in an archive (FORMATS, HIP 11).

use super::layout::{Extent, Layout, Step};
use super::settings::Settings;
use super::{AssetData, MAX_ARCHIVE_LENGTH, order, tables};
use crate::hip::{Game, Platform, Type, layer_name};
use crate::write::{Error, Result};

/// Default alignment of assets, in bytes.
const STEP: u64 = 16;

/// Alignment of layers on GameCube and on the other consoles, in bytes. The
/// second is valid on GameCube too.
const LAYER_GAMECUBE: u64 = 32;
const LAYER: u64 = 2048;

/// ADBG's `align` of types whose alignment the game determines.
const BY_TYPE: i32 = -1;

impl Layout {
    /// Lays out the assets of an archive with these contents.
    pub(super) fn new(settings: &Settings, contents: &[AssetData]) -> Result<Self> {
        let assets = &settings.assets;
        let mut table: Vec<usize> = (0..assets.len()).collect();
        table.sort_by_key(|&number| assets[number].id);
        let mut layout = Self {
            extents: contents
                .iter()
                .map(|content| Extent {
                    size: content.size,
                    ..Extent::default()
                })
                .collect(),
            table,
            layers: sorted(settings, contents),
            steps: Vec::with_capacity(assets.len()),
            padding: 0,
            data: 0,
        };
        // The length of the head does not depend on the values in it.
        let head = tables::head(settings, &layout, &vec![0; assets.len()]).len() as u64;
        let start = head.next_multiple_of(layer_alignment(settings.platform));
        layout.padding = (start - head) as u32;
        let end = layout.place_layers(settings, start)?;
        if end + tables::hipb(settings).len() as u64 > MAX_ARCHIVE_LENGTH {
            return Err(Error::TooLargeForGames);
        }
        layout.data = (end - start) as u32;
        Ok(layout)
    }

    /// Places the assets of all layers and then the unlayered ones from `start`
    /// on, and returns the end.
    fn place_layers(&mut self, settings: &Settings, start: u64) -> Result<u64> {
        let mut placed = vec![false; self.extents.len()];
        let mut end = start;
        for (number, layer) in self.layers.clone().into_iter().enumerate() {
            let mut members = layer;
            members.retain(|&asset| !std::mem::replace(&mut placed[asset], true));
            let kind = layer_name(settings.game, settings.layers[number].kind);
            end = self.place(settings, &members, kind == Some("SRAM"), end)?;
        }
        let table = self.table.iter().copied();
        let rest: Vec<usize> = table.filter(|&asset| !placed[asset]).collect();
        self.place(settings, &rest, false, end)
    }

    /// Places the assets of a layer from `start` on, and returns the end.
    fn place(
        &mut self,
        settings: &Settings,
        members: &[usize],
        is_sounds: bool,
        start: u64,
    ) -> Result<u64> {
        let layer_alignment = layer_alignment(settings.platform);
        let is_sound = |&asset: &usize| &settings.assets[asset].kind.code == b"SND ";
        let last_sound = members.iter().rposition(is_sound);
        let has_data = |&asset: &usize| self.extents[asset].size > 0;
        let last_data = members.iter().rposition(has_data).unwrap_or(0);
        let separate =
            is_sounds && settings.platform == Platform::PlayStation2 && settings.game.has_plat();
        let mut end = start;
        for (index, &number) in members.iter().enumerate() {
            let asset = &settings.assets[number];
            let target = (settings.game, settings.platform);
            let (align, step) = alignment(target, asset.kind, asset.align);
            let extent = &mut self.extents[number];
            let size = u64::from(extent.size);
            extent.offset = u32::try_from(end).map_err(|_| Error::TooLargeForGames)?;
            extent.align = align;
            let mut plus = 0;
            let mut padding = 0;
            if index < last_data {
                plus = size.next_multiple_of(step) - size;
                padding = plus;
            }
            // The streamed sounds after it begin at a sector.
            if separate && last_sound == Some(index) && index + 1 < members.len() {
                let length = end + size + padding - start;
                plus = length.next_multiple_of(LAYER) - length;
                padding += plus;
            }
            extent.plus = plus as u32;
            end += size + padding;
            if index + 1 == members.len() {
                let aligned = end.next_multiple_of(layer_alignment);
                padding += aligned - end;
                end = aligned;
            }
            self.steps.push(Step {
                asset: number,
                padding,
            });
        }
        Ok(end)
    }
}

/// Returns the assets of each layer in HipHopTool's order.
fn sorted(settings: &Settings, contents: &[AssetData]) -> Vec<Vec<usize>> {
    let assets = settings.assets.iter().zip(contents);
    let ranks: Vec<usize> = assets
        .map(|(asset, content)| order::rank(asset.kind, &asset.name, content.sort_byte))
        .collect();
    let layers = settings.layers.iter().map(|layer| {
        let mut members = layer.members.clone();
        members.sort_by_key(|&member| ranks[member]);
        members
    });
    layers.collect()
}

/// Returns the alignment of layers, in bytes.
pub(in crate::hip) fn layer_alignment(platform: Platform) -> u64 {
    match platform {
        Platform::GameCube => LAYER_GAMECUBE,
        Platform::PlayStation2 | Platform::Xbox | Platform::Unknown => LAYER,
    }
}

/// Returns the `align` of an asset of a type, and the unit of its padded length,
/// both in bytes. `align` is the one that it is to have, if it decides.
pub(in crate::hip) fn alignment(
    (game, platform): (Game, Platform),
    kind: Type,
    align: i32,
) -> (i32, u64) {
    let layer = layer_alignment(platform);
    let later = game.is_incredibles_or_later();
    let of = |step: u64| (step as i32, step);
    match (&kind.code, platform) {
        // The sounds of the later games are in SNDI.
        (b"SND " | b"SNDS", Platform::GameCube) if later => (1, STEP),
        (b"SND ", Platform::PlayStation2) if game.has_plat() => of(STEP),
        (b"SND " | b"SNDS", _) => of(layer),
        (b"CSN ", _) => (layer as i32, STEP),
        (b"TEXS" | b"BINK" | b"WIRE", _) => (align, layer),
        (b"JSP " | b"CSSS" | b"LKIT", _) => of(STEP),
        (b"BSP " | b"DYNA", _) => (BY_TYPE, STEP),
        _ => (0, STEP),
    }
}
