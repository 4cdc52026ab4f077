//! Textures and sounds of every format.

use super::build;
use crate::support::noise;

/// Pixels of two levels, the first of 64 by 32.
const PIXELS: usize = 64 * 32 + 32 * 16;

/// Returns a texture of every format, with random pixels that depend on the
/// seed.
pub fn textures(seed: u64) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for (format, bits) in [
        (0, 4),
        (1, 8),
        (2, 8),
        (3, 16),
        (4, 16),
        (5, 16),
        (6, 32),
        (8, 4),
        (9, 8),
        (10, 16),
        (14, 4),
    ] {
        let palettes: &[u8] = if (8..=10).contains(&format) {
            &[0, 1, 2]
        } else {
            &[255]
        };
        for &palette_format in palettes {
            let colors = match format {
                8 => 16,
                9 => 256,
                10 => 16_384,
                _ => 0,
            };
            let (palette, levels) = (
                noise(7 + seed, 2 * colors),
                noise(seed + u64::from(format), PIXELS * bits / 8),
            );
            let bytes = build::gamecube(format, palette_format, [64, 32], &palette, &levels, 2);
            all.push((format!("gx_{format}_{palette_format}"), bytes));
        }
    }
    for (raster, compression, bits) in [
        (0x200, 0x0C, 4),
        (0x300, 0x0E, 8),
        (0x300, 0x0F, 8),
        (0x100, 0, 16),
        (0x200, 0, 16),
        (0x300, 0, 16),
        (0x400, 0, 8),
        (0x500, 0, 32),
        (0x600, 0, 32),
        (0xA00, 0, 16),
        (0x2500, 0, 8),
        (0x2600, 0, 8),
    ] {
        let palette = noise(3 + seed, if raster & 0x2000 != 0 { 1024 } else { 0 });
        let levels = noise(seed + u64::from(raster), PIXELS * bits / 8);
        let bytes = build::xbox(raster, compression, [32, 64], &palette, &levels, 2);
        all.push((format!("xbox_{raster:x}_{compression:x}"), bytes));
    }
    for version in [0, 1, 2] {
        let packet = if version == 2 { 0x50 } else { 0 };
        for bits in [4, 8, 16, 32] {
            let pixels = noise(seed + bits as u64, packet + 64 * 64 * bits / 8);
            let colors = match bits {
                4 => packet + 64,
                8 => packet + 1024,
                _ => 0,
            };
            let bytes = build::playstation2(bits, version, 64, &pixels, &noise(5 + seed, colors));
            all.push((format!("ps2_{bits}_{version}"), bytes));
        }
    }
    all
}

/// Returns a sound of every codec, with random data that depends on the seed.
pub fn sounds(seed: u64) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let mut coefficients = [0; 16];
    for (coefficient, pair) in coefficients
        .iter_mut()
        .zip(noise(9 + seed, 32).as_chunks().0)
    {
        *coefficient = i16::from_le_bytes(*pair) / 4;
    }
    // There are 8 predictors.
    let mut dsp = noise(1 + seed, 8 * 100);
    dsp.iter_mut().step_by(8).for_each(|head| *head &= 0x7F);
    let mut vag = noise(2 + seed, 16 * 60);
    for frame in vag.as_chunks_mut::<16>().0 {
        frame[0] &= 0x3B;
        frame[1] = 0;
    }
    let adpcm = noise(3 + seed, 72 * 20);
    let mut adpcm_clean = adpcm;
    for block in adpcm_clean.chunks_exact_mut(72) {
        (block[2], block[6]) = (block[2] % 89, block[6] % 89);
    }
    vec![
        ("gc", build::dsp_table(1, 1393, 22_050), dsp.clone()),
        (
            "gc",
            build::dsp_table_with(1, 1400, 22_050, coefficients, Some((34, 1_142_857))),
            dsp,
        ),
        (
            "xbox",
            build::xbox_table(1, 1, 2, 44_100, 800),
            noise(4 + seed, 800),
        ),
        (
            "xbox",
            build::xbox_table(1, 0x69, 2, 44_100, 72 * 20),
            adpcm_clean.clone(),
        ),
        (
            "xbox",
            build::xbox_table(1, 0x69, 1, 44_100, 72 * 20),
            clean_mono(adpcm_clean),
        ),
        ("ps2", build::vag_table(1, 11_025, vag.len() as u32), vag),
    ]
}

/// Returns blocks of one channel with valid steps.
fn clean_mono(mut blocks: Vec<u8>) -> Vec<u8> {
    blocks.chunks_exact_mut(36).for_each(|block| block[2] %= 89);
    blocks
}
