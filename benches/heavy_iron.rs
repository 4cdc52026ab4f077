//! Cost of decoding the pixels and samples of Heavy Iron's games.
//!
//! Throughput counts output: four bytes per pixel, two per sample.

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fixtures::heavy_iron as build;
use hpimount_heavy_iron::sound::{self, SoundTable};
use hpimount_heavy_iron::texture::{self, Texture};
use hpimount_heavy_iron::{Facts, Game, Platform};

/// Width and height of the pictures.
const SIDE: u16 = 256;

/// Samples of the sounds.
const SAMPLES: u32 = 140_000;

/// Returns bytes without a pattern.
fn noise(length: usize) -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    let states = std::iter::successors(Some(1), next);
    states
        .map(|state: u32| (state >> 24) as u8)
        .take(length)
        .collect()
}

fn picture(dictionary: Vec<u8>) -> Texture {
    let mut model = texture::parse(&dictionary.into()).unwrap();
    model.textures.remove(0)
}

fn textures(criterion: &mut Criterion) {
    let pixels = usize::from(SIDE) * usize::from(SIDE);
    let gx = |format, bits| {
        let levels = noise(pixels * bits / 8);
        let palette = if format == 9 { noise(512) } else { Vec::new() };
        picture(build::gamecube(
            format,
            2,
            [SIDE, SIDE],
            &palette,
            &levels,
            1,
        ))
    };
    let xbox = |raster, compression, bits| {
        let levels = noise(pixels * bits / 8);
        let palette = if raster & 0x2000 != 0 {
            noise(1024)
        } else {
            Vec::new()
        };
        picture(build::xbox(
            raster,
            compression,
            [SIDE, SIDE],
            &palette,
            &levels,
            1,
        ))
    };
    let ps2 = |bits| {
        let data = noise(0x50 + pixels * bits / 8);
        let palette = noise(0x50 + if bits == 8 { 1024 } else { 64 });
        picture(build::playstation2(bits, 2, SIDE, &data, &palette))
    };
    let pictures = [
        ("gx cmpr", gx(14, 4)),
        ("gx rgb5a3", gx(5, 16)),
        ("gx rgba8", gx(6, 32)),
        ("gx c8", gx(9, 8)),
        ("xbox dxt1", xbox(0x200, 0x0C, 4)),
        ("xbox dxt5", xbox(0x300, 0x0F, 8)),
        ("xbox 8888", xbox(0x500, 0, 32)),
        ("xbox pal8", xbox(0x2500, 0, 8)),
        ("ps2 pal8", ps2(8)),
        ("ps2 pal4", ps2(4)),
    ];
    let mut group = criterion.benchmark_group("texture");
    group.throughput(Throughput::Bytes(4 * pixels as u64));
    let mut out = vec![[0; 4]; pixels];
    for (name, picture) in &pictures {
        group.bench_function(*name, |bencher| {
            bencher.iter(|| black_box(picture).decode(0, &mut out));
        });
    }
    group.finish();
}

fn sounds(criterion: &mut Criterion) {
    let count = SAMPLES as usize;
    let tables = [
        (
            "dsp",
            Platform::GameCube,
            build::dsp_table(1, SAMPLES, 22_050),
            noise(count / 14 * 8),
        ),
        (
            "xbox adpcm",
            Platform::Xbox,
            build::xbox_table(1, 0x69, 1, 22_050, 0),
            noise(count / 64 * 36),
        ),
        (
            "vag",
            Platform::PlayStation2,
            build::vag_table(1, 22_050, 0),
            vag(count / 28),
        ),
    ];
    let mut group = criterion.benchmark_group("sound");
    for (name, platform, table, data) in tables {
        let facts = Facts::new(platform, Game::Bfbb);
        let table: SoundTable = sound::parse_table(&table.into(), &facts).unwrap();
        let sound = sound::parse(&Bytes::from(data), &table.entries[0]).unwrap();
        let mut out = vec![0; sound.all_samples()];
        group.throughput(Throughput::Bytes(2 * out.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(&sound).decode(&mut out));
        });
    }
    group.finish();
}

/// Returns frames that do not end the sound.
fn vag(frames: usize) -> Vec<u8> {
    let mut data = noise(16 * frames);
    for frame in data.chunks_exact_mut(16) {
        frame[0] &= 0x3B;
        frame[1] = 0;
    }
    data
}

criterion_group!(benches, textures, sounds);
criterion_main!(benches);
