//! Small archives of every form.

use super::{Kind, Variant};
use fixtures::hip::{Asset, Hip, TARGETS, hipb};
use fixtures::hpi::{Chunk, Entry, File, V1, V2, dir, file};
use fixtures::text;
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use testkit::matrix::Bench;
use testkit::trial;

/// Returns a tree with a file, a file in a directory, and an empty file.
fn tree(method: Method) -> Vec<Entry> {
    let packed = |data: Vec<u8>| File::new(data, method);
    vec![
        dir(b"d", vec![file(b"in.txt", packed(text(50)))]),
        file(b"a.tdf", packed(b"[A]{aaaaaaaaaaaaaaaaaaaaa}".to_vec())),
        file(b"none", packed(Vec::new())),
    ]
}

fn hpi(name: &str, bytes: Vec<u8>) -> Variant {
    Variant::lone(name, Kind::Hpi, bytes)
}

pub(super) fn version_1() -> Vec<Variant> {
    let methods = [Method::Stored, Method::Lz77, Method::Zlib];
    let changed = |method, change: fn(&mut Chunk)| {
        let with = |name: &[u8], data: Vec<u8>| file(name, File::new(data, method).with(change));
        V1::new(vec![with(b"a", text(40)), with(b"b", text(20))])
    };
    let chunked = changed(Method::Lz77, |chunk| chunk.method = Method::Stored);
    let mut variants = Vec::new();
    for method in methods {
        for key in [0, 0x7D, 0xBF] {
            let archive = V1::new(tree(method)).keyed(key).build();
            let name = format!("{} with key {key:02X}", method.name());
            variants.push(hpi(&name, archive.bytes));
        }
        if method != Method::Stored {
            let archive = changed(method, |chunk| chunk.scrambled = false);
            let name = format!("{}, chunks not scrambled", method.name());
            variants.push(hpi(&name, archive.build().bytes));
        }
    }
    let padded = changed(Method::Zlib, |chunk| chunk.behind_payload = vec![0xAA; 3]);
    let elsewhere = V1 {
        root: 0x30,
        lists_elsewhere: true,
        gap: 7,
        ..V1::new(tree(Method::Zlib)).keyed(1)
    };
    let empty = V1::new(Vec::new());
    variants.extend([
        hpi("stored chunks", chunked.clone().build().bytes),
        hpi(
            "stored chunks with key 7D",
            chunked.keyed(0x7D).build().bytes,
        ),
        hpi("padding behind chunks", padded.build().bytes),
        hpi("root and lists elsewhere", elsewhere.build().bytes),
        hpi("empty", empty.build().bytes),
    ]);
    variants
}

pub(super) fn version_2() -> Vec<Variant> {
    let usual = |method| V2::new(tree(method));
    let raw = |method| V2 {
        raw_blocks: true,
        ..usual(method)
    };
    let many = V2 {
        chunk_size: Some(20),
        ..usual(Method::Zlib)
    };
    let scrambled = {
        let change: fn(&mut Chunk) = |chunk| chunk.scrambled = true;
        let packed = File::new(text(40), Method::Lz77).with(change);
        V2::new(vec![file(b"a", packed)])
    };
    vec![
        hpi("zlib", usual(Method::Zlib).build().bytes),
        hpi("LZ77", usual(Method::Lz77).build().bytes),
        hpi("stored", usual(Method::Stored).build().bytes),
        hpi("raw blocks, zlib", raw(Method::Zlib).build().bytes),
        hpi("raw blocks, LZ77", raw(Method::Lz77).build().bytes),
        hpi("raw blocks, stored", raw(Method::Stored).build().bytes),
        hpi("chunks of 20 bytes", many.build().bytes),
        hpi("scrambled chunks", scrambled.build().bytes),
    ]
}

/// Returns a small archive of a game for a platform.
fn hip_of(game: Game, platform: Platform) -> Hip {
    let mut hip = Hip::target(game, platform);
    // A small alignment keeps paddings short.
    hip.alignment = 32;
    hip.layer(0);
    hip.add(Asset::new(b"TEXT", "t", b"some text"));
    hip.layer(1);
    hip.add(Asset::new(b"DYNA", "d", &[7; 16]));
    hip
}

pub(super) fn hips() -> Vec<Variant> {
    let archive = |name: &str, hip: &Hip| Variant::lone(name, Kind::Hip, hip.build());
    // Platforms differ little: a short trial has one of each game.
    let mut games = TARGETS.to_vec();
    if trial::length(true, false) {
        games.dedup_by_key(|(game, _)| *game);
    }
    let mut variants: Vec<_> = games
        .into_iter()
        .map(|(game, platform)| {
            let name = format!("{game:?}, {platform:?}");
            archive(&name, &hip_of(game, platform))
        })
        .collect();
    let mut first_version = hip_of(Game::Scooby, Platform::Xbox);
    first_version.sub_version = 1;
    let mut edited = hip_of(Game::Incredibles, Platform::GameCube);
    edited.hipb = Some(hipb(0, &[(0, b"mine")], 3));
    let mut stale = hip_of(Game::Bfbb, Platform::GameCube);
    stale.assets[0].checksum = Some(0);
    stale.assets[1].checksum = Some(77);
    variants.extend([
        archive("first version", &first_version),
        archive("HIPB", &edited),
        archive("no checksum, stale checksum", &stale),
    ]);
    variants
}

/// Returns archives in a folder, which are examined through their companions.
pub(super) fn companions() -> Vec<Variant> {
    let variant = |file: &str, kind, bytes| Variant {
        bench: Bench::folder(file),
        inside: format!("/{file}.d"),
        ..Variant::lone(file, kind, bytes)
    };
    let small = V1::new(vec![file(b"a", File::new(text(40), Method::Lz77))]);
    let kingdoms = V2::new(vec![file(b"a", File::new(text(40), Method::Zlib))]);
    let mut hop = Hip::default();
    hop.layer(0).add(Asset::new(b"TEXT", "t", b"some text"));
    vec![
        variant("a.hpi", Kind::Hpi, small.build().bytes),
        variant("a.kmp", Kind::Hpi, kingdoms.build().bytes),
        variant("a.hop", Kind::Hip, hop.build()),
    ]
}
