//! Cost of decoding and writing the pictures of Total Annihilation, drawing a
//! model, and generating a table of all units.
//!
//! Elements are output pixels, faces, and units. A frame of runs is like a
//! game's: short runs of one color, copied pixels and gaps.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fixtures::ta;
use fixtures::ta::gaf::{Body, Frame, sequence};
use hpimount_assets::model::scene::Alpha;
use hpimount_assets::model::{self, png, preview};
use hpimount_assets::parse::pcx;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, MakeShared, Shared};
use hpimount_total_annihilation::pal::Palette;
use hpimount_total_annihilation::{gaf, tdo, tnt};

/// Edge of the pictures in pixels.
const EDGE: u16 = 512;

/// Number of pixels of a picture.
const PIXELS: usize = EDGE as usize * EDGE as usize;

/// Returns a pixel of a sprite: of each 16, 4 are a gap, 5 are a run, and the
/// others are copied.
fn sprite(pixel: usize) -> Option<u8> {
    match pixel % 16 {
        0..4 => None,
        4..9 => Some(40),
        other => Some((other * 13 + pixel / 16) as u8),
    }
}

/// Returns a pixel without any pattern, for the worst case.
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
            .map(|index| (index % 64) as u16)
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

/// Writing pictures as PNG files.
fn pictures(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("png");
    group.throughput(Throughput::Elements(PIXELS as u64));
    let drawn = (0..PIXELS).map(|pixel| sprite(pixel).unwrap_or_default());
    let size = u32::from(EDGE);
    let indexed = Palette::TA.picture(size, size, drawn.collect());
    let rgba = model::Picture {
        pixels: model::Pixels::Rgba(indexed.rgba()),
        ..indexed.clone()
    };
    for (name, picture) in [("indexed", indexed), ("rgba", rgba)] {
        group.bench_function(name, |bencher| {
            let mut file = Vec::new();
            bencher.iter(|| {
                file.clear();
                png::write(&picture, &mut file).unwrap();
            });
        });
    }
}

/// Number of faces of the model that is drawn.
const FACES: u16 = 2000;

/// Returns a ball of textured faces.
fn ball() -> Vec<u8> {
    let (rings, sectors) = (40, FACES / 40);
    let mut root = ta::tdo::object("ball");
    for ring in 0..=rings {
        for sector in 0..sectors {
            let (up, round) = (
                f64::from(ring) / 40.0,
                f64::from(sector) / f64::from(sectors),
            );
            let (up, round) = (up * std::f64::consts::PI, round * std::f64::consts::TAU);
            let point = [up.sin() * round.cos(), up.cos(), up.sin() * round.sin()];
            root.vertices
                .push(point.map(|part| (part * 2_000_000.0) as i32));
        }
    }
    for ring in 0..rings {
        for sector in 0..sectors {
            let next = (sector + 1) % sectors;
            let corner = |ring: u16, sector: u16| ring * sectors + sector;
            root.primitives.push(ta::tdo::Primitive {
                texture: Some(format!("T{}", sector % 8)),
                ..ta::tdo::primitive(&[
                    corner(ring, sector),
                    corner(ring, next),
                    corner(ring + 1, next),
                    corner(ring + 1, sector),
                ])
            });
        }
    }
    ta::tdo::file(&root)
}

fn models(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("model");
    group.throughput(Throughput::Elements(FACES.into()));
    let model = tdo::parse(&ball().into()).unwrap();
    let names = tdo::export::drawn_textures(&model);
    let texture = |(name, _): &(String, usize)| tdo::export::Texture {
        file: name.clone(),
        alpha: Some(Alpha::Opaque),
    };
    let textures: Vec<_> = names.iter().map(texture).collect();
    let picture = Palette::TA.picture(64, 64, (0..4096).map(noise).collect());
    let mut file = Vec::new();
    group.bench_function("preview", |bencher| {
        bencher.iter(|| {
            let name = |object: &tdo::Object| object.name.to_string();
            let scene = tdo::export::scene(&model, &textures, &Palette::TA, &name);
            let drawn = preview::draw(&scene, &|_| Some(picture.clone()));
            file.clear();
            png::write(&drawn, &mut file).unwrap();
        });
    });
}

/// Number of units of a large mod.
const UNITS: usize = 2000;

/// A mod's units, in memory.
struct Mod(Vec<Bytes>);

impl Mod {
    fn new() -> Self {
        let unit = |unit: usize| {
            let keys = (0..90).map(|number| {
                // Most keys occur in all units.
                let number = if number % 10 == 9 {
                    number * unit
                } else {
                    number
                };
                ta::tdf::key(
                    &format!("SomeKey{}", number % 300),
                    &format!("{}", unit * number),
                )
            });
            let name = ta::tdf::key("UnitName", &format!("ARM{unit}"));
            let section = ta::tdf::section("UNITINFO", [name].into_iter().chain(keys).collect());
            Bytes::from(ta::tdf::file(&[section]))
        };
        Self((0..UNITS).map(unit).collect())
    }
}

impl AssetContext for Mod {
    fn name(&self) -> &str {
        ""
    }

    fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
        None
    }

    fn path_of(&self, file: AssetRef) -> String {
        format!("units/{}.fbi", file.0)
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        self.0.get(file.0 as usize).cloned()
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }

    fn find_extensions(&self, _folder: &str, _extensions: &[&str]) -> Vec<AssetRef> {
        (0..self.0.len() as u64).map(AssetRef).collect()
    }
}

fn tables(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tables");
    group
        .sample_size(20)
        .throughput(Throughput::Elements(UNITS as u64));
    let files = Mod::new();
    let mut reports = hpimount_total_annihilation::tables::REPORTS.iter();
    let units = reports.find(|report| report.path == "tables/units.tsv");
    let units = units.unwrap();
    group.bench_function("units", |bencher| {
        let mut table = Vec::new();
        bencher.iter(|| {
            table.clear();
            units.render(&files, &mut table).unwrap();
        });
    });
}

criterion_group!(
    benches,
    gaf_frames,
    pcx_pictures,
    maps,
    pictures,
    models,
    tables
);
criterion_main!(benches);
