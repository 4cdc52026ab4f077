//! The blocks of an archive except for the data of the assets (FORMATS, HIP 1
//! to 7).

use super::FILLER;
use super::layout::{Extent, Layout};
use super::settings::{Asset, Settings};

/// Archives with a lower `subVersion` have no date in words, no checksums and
/// no LDBG value.
pub(in crate::hip) const SUB_VERSION_2: u32 = 2;

/// Returns everything before the first asset. Its length depends neither on the
/// layout, except for the padding, nor on the checksums.
pub(super) fn head(settings: &Settings, layout: &Layout, checksums: &[u32]) -> Vec<u8> {
    let mut out = Blocks::default();
    out.block(b"HIPA", |_| {});
    out.block(b"PACK", |out| package(out, settings));
    out.block(b"DICT", |out| {
        out.block(b"ATOC", |out| {
            out.block(b"AINF", |out| out.number(settings.asset_info));
            let has_checksum = settings.version[0] >= SUB_VERSION_2;
            for &number in &layout.table {
                let checksum = has_checksum.then_some(checksums[number]);
                asset_block(
                    out,
                    &settings.assets[number],
                    layout.extents[number],
                    checksum,
                );
            }
        });
        out.block(b"LTOC", |out| {
            out.block(b"LINF", |out| out.number(settings.layer_info));
            for number in 0..settings.layers.len() {
                layer(out, settings, layout, number);
            }
        });
    });
    out.growing_block(b"STRM", layout.data, |out| {
        out.block(b"DHDR", |out| out.number(settings.stream_debug));
        out.growing_block(b"DPAK", layout.data, |out| {
            out.number(layout.padding);
            out.0
                .extend(std::iter::repeat_n(FILLER, layout.padding as usize));
        });
    });
    out.0
}

/// Returns the block after the assets, if there is one.
pub(super) fn hipb(settings: &Settings) -> Vec<u8> {
    let mut out = Blocks::default();
    let Some(hipb) = &settings.hipb else {
        return out.0;
    };
    out.block(b"HIPB", |out| {
        out.number(hipb.version);
        if hipb.version >= 1 {
            out.number(hipb.no_layers.into());
        }
        if hipb.version >= 2 {
            out.number(hipb.scooby_platform);
            out.number(hipb.layer_names.len() as u32);
            for (layer, name) in &hipb.layer_names {
                out.number(*layer);
                out.string(name);
            }
        }
        if hipb.version >= 3 {
            out.number(hipb.game);
        }
    });
    out.0
}

fn package(out: &mut Blocks, settings: &Settings) {
    out.block(b"PVER", |out| out.numbers(&settings.version));
    out.block(b"PFLG", |out| out.number(settings.flags));
    let counts = [settings.assets.len(), settings.layers.len(), 0, 0, 0];
    // The maxima are zeros, as in all output of HipHopTool.
    out.block(b"PCNT", |out| {
        out.numbers(&counts.map(|count| count as u32));
    });
    out.block(b"PCRT", |out| {
        out.number(settings.created);
        if settings.version[0] >= SUB_VERSION_2 {
            out.string(&settings.date);
        }
    });
    out.block(b"PMOD", |out| out.number(settings.created));
    if !settings.plat.is_empty() {
        out.block(b"PLAT", |out| {
            for string in &settings.plat {
                out.string(string);
            }
        });
    }
}

/// Appends AHDR of an asset; `checksum` is `None` in archives without checksums.
pub(in crate::hip) fn asset_block(
    out: &mut Blocks,
    asset: &Asset,
    extent: Extent,
    checksum: Option<u32>,
) {
    out.block(b"AHDR", |out| {
        out.number(asset.id);
        out.bytes(&asset.kind.code);
        out.numbers(&[extent.offset, extent.size, extent.plus, asset.flags]);
        out.block(b"ADBG", |out| {
            out.number(extent.align.cast_unsigned());
            out.string(&asset.name);
            out.string(&asset.source_file);
            if let Some(checksum) = checksum {
                out.number(checksum);
            }
        });
    });
}

fn layer(out: &mut Blocks, settings: &Settings, layout: &Layout, number: usize) {
    let (layer, members) = (&settings.layers[number], &layout.layers[number]);
    out.block(b"LHDR", |out| {
        out.numbers(&[layer.kind, members.len() as u32]);
        for &member in members {
            out.number(settings.assets[member].id);
        }
        out.block(b"LDBG", |out| {
            if settings.version[0] >= SUB_VERSION_2 {
                out.number(layer.debug);
            }
        });
    });
}

/// Blocks under construction.
#[derive(Default)]
pub(in crate::hip) struct Blocks(Vec<u8>);

impl Blocks {
    /// Returns the bytes.
    pub(in crate::hip) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// Returns the number of bytes so far.
    pub(in crate::hip) fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends a block with the contents that `body` appends.
    pub(in crate::hip) fn block(&mut self, name: &[u8; 4], body: impl FnOnce(&mut Self)) {
        self.growing_block(name, 0, body);
        // Blocks begin at even distances.
        if self.0.len() % 2 == 1 {
            self.0.push(0);
        }
    }

    /// Appends a block. Its size includes `more` bytes that the caller writes
    /// later.
    fn growing_block(&mut self, name: &[u8; 4], more: u32, body: impl FnOnce(&mut Self)) {
        self.0.extend(name);
        let size = self.0.len();
        self.number(0);
        let start = self.0.len();
        body(self);
        // The layout has checked that the total is below 2 GiB.
        let length = (self.0.len() - start) as u32;
        let length = length.wrapping_add(more);
        self.0[size..start].copy_from_slice(&length.to_be_bytes());
    }

    pub(in crate::hip) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    pub(in crate::hip) fn number(&mut self, number: u32) {
        self.0.extend(number.to_be_bytes());
    }

    fn numbers(&mut self, numbers: &[u32]) {
        for &number in numbers {
            self.number(number);
        }
    }

    /// Appends bytes, a NUL, and a second NUL if their number is even.
    fn string(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        self.0.push(0);
        if bytes.len().is_multiple_of(2) {
            self.0.push(0);
        }
    }
}
