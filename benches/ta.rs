//! What it costs to decode the pictures of Total Annihilation.
//!
//! Elements are pixels of output. A frame of runs is like those of games:
//! short runs of one colour, copied pixels and gaps.

#[path = "../tests/support/ta/mod.rs"]
mod ta;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hpimount::asset::ta::{gaf, pcx, tnt};
use ta::gaf::{Body, Frame, sequence};

/// Edge of the pictures in pixels.
const EDGE: u16 = 512;

/// Number of pixels of a picture.
const PIXELS: usize = EDGE as usize * EDGE as usize;

/// A pixel of a sprite: in 16 of them there are a gap of 4, a run of 5, and
/// others that are copied.
fn sprite(pixel: usize) -> Option<u8> {
    match pixel % 16 {
        0..4 => None,
        4..9 => Some(40),
        other => Some((other * 13 + pixel / 16) as u8),
    }
}

/// Pixels without any pattern, for what is worst.
fn noise(pixel: usize) -> u8 {
    (pixel.wrapping_mul(0x9E37_79B9) >> 13) as u8
}

fn gaf_frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gaf");
    group.throughput(Throughput::Elements(PIXELS as u64));
    let sprites: Vec<_> = (0..PIXELS).map(sprite).collect();
    let worst: Vec<_> = (0..PIXELS)
        .map(|pixel| (pixel % 2 == 0).then(|| noise(pixel)))
        .collect();
    let colors: Vec<u16> = (0..PIXELS).map(|pixel| pixel as u16).collect();
    let new = |body| Frame::new(EDGE, EDGE, body);
    let sprite = Frame::rle(EDGE, EDGE, &sprites);
    let frames = [
        ("raw", new(Body::Raw((0..PIXELS).map(noise).collect()))),
        ("runs", sprite.clone()),
        ("single pixels", Frame::rle(EDGE, EDGE, &worst)),
        ("argb4444", new(Body::TrueColor(4, colors.clone()))),
        ("argb1555", new(Body::TrueColor(5, colors))),
        ("layer", new(Body::Layers(vec![sprite]))),
    ];
    for (name, frame) in frames {
        let bytes = ta::gaf::file(&[sequence("bench", vec![(frame, 1)])]);
        let gaf = gaf::parse(&bytes.into()).unwrap();
        let frame = gaf.frame(gaf.sequences[0].get(0).unwrap()).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| gaf.decode(black_box(&frame)).unwrap())
        });
    }
}

fn pcx_pictures(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pcx");
    group.throughput(Throughput::Elements(PIXELS as u64));
    let drawn = (0..PIXELS).map(|pixel| sprite(pixel).unwrap_or_default());
    let plain = ta::pcx::Pcx::indexed(EDGE, EDGE, drawn.collect());
    let noisy = ta::pcx::Pcx::indexed(EDGE, EDGE, (0..PIXELS).map(noise).collect());
    let planes = ta::pcx::Pcx {
        planes: 3,
        rows: plain.rows.repeat(3),
        ..plain.clone()
    };
    for (name, picture) in [("runs", plain), ("noise", noisy), ("planes", planes)] {
        let pcx = pcx::parse(&picture.file().into()).unwrap();
        group.bench_function(name, |bencher| bencher.iter(|| pcx.decode().unwrap()));
    }
}

fn maps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tnt");
    let tiles: Vec<Vec<u8>> = (0..64).map(|tile| vec![tile; 1024]).collect();
    let cells = 256;
    let map = ta::tnt::Map {
        width: cells,
        height: cells,
        map: (0..cells * cells / 4)
            .map(|place| (place % 64) as u16)
            .collect(),
        cells: vec![(0, 0xFFFF); (cells * cells) as usize],
        tiles,
        ..ta::tnt::Map::small()
    };
    let bytes = Bytes::from(map.file(0x2000));
    let tnt = tnt::parse(&bytes).unwrap();
    group.throughput(Throughput::Elements(u64::from(16 * cells).pow(2)));
    group.bench_function("rows", |bencher| {
        let mut row = Vec::new();
        bencher.iter(|| {
            for y in 0..16 * cells {
                row.clear();
                tnt.terrain.row(y, 1, &mut row);
                black_box(&row);
            }
        });
    });
}

criterion_group!(benches, gaf_frames, pcx_pictures, maps);
criterion_main!(benches);
