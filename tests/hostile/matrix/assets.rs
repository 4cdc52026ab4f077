//! Small assets of every format.

use super::{Kind, Variant};
use fixtures::assets::one_of_each;
use fixtures::ta;
use testkit::fuzz::seeds;
use testkit::matrix::Bench;
use testkit::trial;

/// Returns the maximum number of damaged bytes at the start of an asset: pictures and
/// models are drawn each time, which takes minutes for all bytes.
fn damaged_at_most() -> usize {
    trial::length(256, usize::MAX)
}

/// Returns assets that are mounted alone.
pub(super) fn assets() -> Vec<Variant> {
    let variant = |(file, _, bytes): (&str, &str, Vec<u8>)| Variant {
        bench: Bench::file(file),
        inside: format!("/{file}.meta"),
        damaged: damaged_at_most().min(bytes.len()),
        ..Variant::lone(file, Kind::Asset, bytes)
    };
    one_of_each().into_iter().map(variant).collect()
}

/// Returns small assets of Total Annihilation that are mounted alone.
pub(super) fn ta_assets() -> Vec<Variant> {
    let variant = |file: &str, bytes: Vec<u8>, damaged: usize| Variant {
        bench: Bench::file(file),
        inside: format!("/{file}.meta"),
        damaged: damaged.min(damaged_at_most()).min(bytes.len()),
        ..Variant::lone(file, Kind::Asset, bytes)
    };
    let whole = |file: &str, bytes: Vec<u8>| variant(file, bytes, usize::MAX);
    let frame = ta::gaf::Frame::rle(3, 2, &[Some(1), None, Some(2), Some(3), Some(3), None]);
    let walk = ta::gaf::sequence("walk", vec![(frame.clone(), 1), (frame, 0)]);
    let mut base = ta::tdo::object("base");
    base.vertices = vec![[0, 0, 0], [65536, 0, 0], [0, 65536, 0]];
    base.primitives = vec![ta::tdo::Primitive {
        flag: 1,
        color: 7,
        ..ta::tdo::primitive(&[0, 1, 2])
    }];
    let map = ta::tnt::Map::small();
    let keys = vec![ta::tdf::key("x", "1"), ta::tdf::section("B", vec![])];
    let sound = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x11\x2b\0\0\x11\x2b\0\0\x01\0\
        \x08\0data\x04\0\0\0abcd";
    let font = [
        &[5, 0, 0, 0][..],
        &[4, 2].repeat(256),
        &[7, 0xA5, 0x5A, 0xFF, 0x18, 0x81],
    ]
    .concat();
    let scenario = [&[0, 0, 0x80, 0x3F, 0, 0, 0, 0, 1, 0, 0, 0][..], &[0; 570]].concat();
    let picture = ta::bmp::Bmp {
        width: 3,
        height: 2,
        bits: 8,
        colors: vec![[1, 2, 3], [4, 5, 6]],
        rows: vec![0, 1, 0, 0, 1, 0, 1, 0],
    };
    vec![
        whole("walk.gaf", ta::gaf::file(&[walk])),
        whole("tank.3do", ta::tdo::file(&base)),
        whole("tank.cob", ta::cob::small(6).file()),
        variant("map.tnt", map.file(0x2000), 108),
        variant("kingdom.tnt", ta::tnt::Kingdoms::small(false).file(), 120),
        variant("section.sct", ta::tnt::Section::small(3).file(), 28),
        variant(
            "two.pcx",
            ta::pcx::Pcx::indexed(2, 1, vec![1, 2]).file(),
            132,
        ),
        whole("three.bmp", picture.file()),
        whole("unit.fbi", ta::tdf::file(&[ta::tdf::section("A", keys)])),
        variant("small.fnt", font, 8),
        variant("colors.pal", vec![7; 1024], 8),
        variant("light.lht", vec![7; 8192], 8),
        whole("shot.wav", sound.to_vec()),
        variant("start.crt", scenario, 16),
        whole(
            "intro.zrb",
            [&b"SMK2"[..], &[64, 1, 0, 0].repeat(4)].concat(),
        ),
    ]
}

/// Returns small assets that are mounted alone.
pub(super) fn lone_assets(files: Vec<(&str, Vec<u8>)>) -> Vec<Variant> {
    // Only samples or pixels follow.
    let damaged = trial::length(64, 160);
    let variant = |(file, bytes): (&str, Vec<u8>)| Variant {
        bench: Bench::file(file),
        inside: format!("/{file}.meta"),
        damaged: damaged.min(bytes.len()),
        ..Variant::lone(file, Kind::Asset, bytes)
    };
    files.into_iter().map(variant).collect()
}

/// Returns small assets of Grand Theft Auto that are mounted alone.
pub(super) fn gta_assets() -> Vec<Variant> {
    let damaged = trial::length(16, usize::MAX);
    let variant = |(file, seeds): (&str, Vec<Vec<u8>>)| {
        let bytes = seeds.into_iter().next().unwrap();
        Variant {
            bench: Bench::file(file),
            inside: format!("/{file}.meta"),
            damaged: damaged.min(bytes.len()),
            ..Variant::lone(file, Kind::Asset, bytes)
        }
    };
    let [colors, files, groups, handling, texts, water, squares] = seeds::gta_data()
        .try_into()
        .expect("a seed for each format");
    [
        ("a.txd", seeds::txd()),
        ("a.dff", seeds::dff()),
        ("a.col", seeds::col()),
        ("a.gxt", seeds::gxt()),
        ("a.ide", seeds::map()),
        (
            "a.ipl",
            vec![b"inst\n1, x, 0, 0, 0, 0, 0, 0, 0, 1, -1\nend\n".to_vec()],
        ),
        (
            "a.zon",
            vec![b"zone\nBAY, 0, 1, 2, 3, 4, 5, 6, 1, BAY\nend\n".to_vec()],
        ),
        ("carcols.dat", vec![colors]),
        ("gta.dat", vec![files]),
        ("animgrp.dat", vec![groups]),
        ("handling.cfg", vec![handling]),
        ("a.fxt", vec![texts]),
        ("water.dat", vec![water]),
        ("waterpro.dat", vec![squares]),
    ]
    .map(variant)
    .into()
}
