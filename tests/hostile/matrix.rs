//! If any single byte of an archive is damaged, or if it is truncated anywhere,
//! it is refused with an offset, or reads return the same bytes as before or
//! EIO.
//!
//! Only chunks have mandatory checksums, and only for their payloads. No
//! checksum covers a stored file, a name, a size, an offset or the header of a
//! chunk. If a byte there is damaged, the archive is a valid archive with other
//! content, and the damage cannot be detected. Then reads must return exactly
//! that content, as the plain reader in `crate::support::plain` does.
//!
//! The checksums of HIP assets are not enforced, since edited archives have
//! stale ones, but the attribute `user.hip.checksum_ok` must show the damage.

use std::collections::BTreeMap;

use crate::fuzz::seeds;
use crate::support::assets::one_of_each;
use crate::support::hip::{Asset, Hip, TARGETS, hipb};
use crate::support::hpi::{Entry, File, V1, V2, dir, file};
use crate::support::matrix::{
    Bench, Counts, Damage, DamageReport, EVERY_OUTCOME, Outcome, Seen, What, compare, damages, see,
};
use crate::support::{consoles, plain, playstation, ta, text, trial};
use hpimount::mount::Vfs;
use hpimount_containers::hip::{CHECKSUM, Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::text::windows_1252;

/// The kind of a source, which determines the expected contents.
#[derive(Clone, Copy)]
enum Kind {
    Hpi,
    Hip,
    Asset,
}

/// A source, and where the mount shows its contents.
struct Variant {
    name: String,
    bytes: Vec<u8>,
    kind: Kind,
    bench: Bench,
    /// `/X.d` or `/X.meta` if the source is shown as a file `X` of the mount.
    inside: String,
    /// Number of bytes at its start that are damaged: not all if only pixels
    /// follow the header.
    damaged: usize,
}

impl Variant {
    /// Creates a source that is mounted alone.
    fn lone(name: impl Into<String>, kind: Kind, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            damaged: bytes.len(),
            bytes,
            kind,
            bench: Bench::file("archive"),
            inside: String::new(),
        }
    }

    /// Damages the source in every way, checks the mount each time, and counts
    /// the outcomes.
    fn outcomes(&self) -> Counts {
        let whole = self.bench.open(&self.bytes).unwrap();
        let whole = self.compared(inside(see(&whole), &self.inside));
        let mut counts = Counts::default();
        for damage in damages(&self.bytes[..self.damaged]) {
            let report = DamageReport(&self.name, damage);
            let outcome = self.outcome(&whole, damage);
            counts[outcome as usize] += 1;
            drop(report);
        }
        counts
    }

    fn outcome(&self, whole: &[Seen], damage: Damage) -> Outcome {
        let bytes = damage.apply(&self.bytes);
        let vfs = match self.bench.open(&bytes) {
            Ok(vfs) => vfs,
            Err(problem) => return refusal(&problem, damage),
        };
        let seen = see(&vfs);
        if !self.inside.is_empty() {
            check_outside(&seen, &bytes);
        }
        let seen = inside(seen, &self.inside);
        if matches!(self.kind, Kind::Asset) {
            check_companion(&seen);
        }
        if let Some(problem) = problem(&seen) {
            return refusal(&problem, damage);
        }
        match self.kind {
            Kind::Hpi => check_hpi(&seen, &bytes),
            Kind::Hip => check_hip(&vfs, &seen, &bytes),
            Kind::Asset => {}
        }
        compare(whole, &self.compared(seen))
    }

    /// Returns the files to compare with the undamaged source: all except texts
    /// that show the damaged fields themselves, and converted assets.
    fn compared(&self, mut seen: Vec<Seen>) -> Vec<Seen> {
        if matches!(self.kind, Kind::Hip) {
            let texts = ["/info.json", "/assets.tsv", "/types/Settings.ini"];
            seen.retain(|seen| {
                !texts.contains(&seen.path.as_str()) && !seen.path.starts_with("/converted")
            });
        }
        seen
    }
}

fn refusal(problem: &str, damage: Damage) -> Outcome {
    if problem.contains(" at 0x") {
        return Outcome::Refused;
    }
    assert!(damage.is_before(8), "{problem}");
    Outcome::Unknown
}

/// Asserts that the file beside a companion has all its bytes, damaged or not.
fn check_outside(seen: &[Seen], bytes: &[u8]) {
    let What::File { bytes: found, .. } = &seen[0].what else {
        panic!("{:?}", seen[0]);
    };
    assert!(found.as_deref() == Some(bytes));
}

/// Asserts that the companion of an asset, damaged or not, has its facts and no
/// empty file.
fn check_companion(seen: &[Seen]) {
    for name in ["/info.json", "/info.txt"] {
        assert!(seen.iter().any(|seen| seen.path == name), "no {name}");
    }
    assert_eq!(empty_files(seen), [""; 0]);
}

/// Returns the paths of all empty files.
fn empty_files(seen: &[Seen]) -> Vec<&str> {
    let is_empty = |what: &What| matches!(what, What::File { size: 0, .. });
    let empty = seen.iter().filter(|seen| is_empty(&seen.what));
    empty.map(|seen| seen.path.as_str()).collect()
}

/// Returns the part of `seen` in the directory `top`, with relative paths.
fn inside(seen: Vec<Seen>, top: &str) -> Vec<Seen> {
    if top.is_empty() {
        return seen;
    }
    let below = seen.into_iter().filter_map(|mut seen| {
        let path = seen.path.strip_prefix(top)?;
        seen.path = path.strip_prefix('/').map(|_| path.to_owned())?;
        seen.raw.remove(0);
        Some(seen)
    });
    below.collect()
}

/// Returns the `error.txt` of a companion that cannot be shown.
fn problem(seen: &[Seen]) -> Option<String> {
    let error_file = seen.iter().find(|seen| seen.path == "/error.txt")?;
    let What::File { bytes, .. } = &error_file.what else {
        return None;
    };
    String::from_utf8(bytes.clone()?).ok()
}

/// Damages every variant in every way, and asserts that exactly the `possible`
/// outcomes happen: others are not promised, and if one of these does not
/// happen, the trial does not test it.
fn assert_outcomes(what: &str, variants: &[Variant], possible: &[Outcome]) {
    let mut sums = Counts::default();
    for variant in variants {
        let counts = variant.outcomes();
        println!("{}: {counts:?}", variant.name);
        for outcome in EVERY_OUTCOME {
            let happened = counts[outcome as usize];
            assert!(
                happened == 0 || possible.contains(&outcome),
                "{}: {outcome:?}, {happened} times",
                variant.name
            );
            sums[outcome as usize] += happened;
        }
    }
    for outcome in possible {
        assert!(sums[*outcome as usize] > 0, "{what}: never {outcome:?}");
    }
    let [refused, unknown, same, eio, as_it_stands] = sums;
    let happened = format!(
        "refused with an offset {refused}, no longer recognized {unknown}, same bytes {same}, \
         EIO {eio}, undetectable without a checksum {as_it_stands}"
    );
    trial::record(
        &format!("one damaged byte, and truncation: {what}"),
        sums.iter().sum::<usize>(),
        &happened,
    );
}

/// The contents of an HPI archive must match the plain reader.
fn check_hpi(now: &[Seen], bytes: &[u8]) {
    let expected = plain::hpi(bytes).expect("a plain reader refuses it");
    let now = now.iter().map(|seen| plain::Entry {
        path: seen.raw.clone(),
        file: match &seen.what {
            What::File { size, bytes } => Some(plain::File {
                size: *size,
                bytes: bytes.clone(),
            }),
            _ => None,
        },
    });
    assert_eq!(now.collect::<Vec<_>>(), expected);
}

/// The assets of a HIP archive must match the plain reader, in any order.
fn check_hip(vfs: &Vfs, now: &[Seen], bytes: &[u8]) {
    let expected = plain::hip(bytes).expect("a plain reader refuses it");
    let mut found = BTreeMap::new();
    for seen in now.iter().filter(|seen| seen.path.starts_with("/layers/")) {
        let What::File { size, bytes } = &seen.what else {
            continue;
        };
        let field = |name: &str| {
            let value = vfs.xattr(seen.ino, &format!("user.hip.{name}")).ok()?;
            String::from_utf8(value).ok()
        };
        let asset = plain::Asset {
            id: u32::from_str_radix(&field("id").unwrap(), 16).unwrap(),
            offset: field("offset").unwrap().parse().unwrap(),
            size: (*size).try_into().unwrap(),
            name: field("name").map(String::into_bytes),
            bytes: bytes.clone(),
        };
        let verdict = bytes.as_ref().map(|bytes| match field("checksum") {
            None => "unset",
            Some(sum) if sum == "00000000" => "unset",
            Some(sum) if sum == format!("{:08X}", CHECKSUM.checksum(bytes)) => "true",
            Some(_) => "false",
        });
        let is_set = field("checksum").is_some_and(|sum| sum != "00000000");
        assert_eq!(
            field("checksum_ok").as_deref(),
            verdict.or_else(|| (!is_set).then_some("unset"))
        );
        found.insert(seen.ino, asset);
    }
    let mut found: Vec<_> = found.into_values().collect();
    let named = |asset: plain::Asset| plain::Asset {
        name: asset
            .name
            .map(|name| windows_1252(&name).into_owned().into_bytes()),
        ..asset
    };
    let mut expected: Vec<_> = expected.into_iter().map(named).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

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

fn version_1() -> Vec<Variant> {
    let methods = [Method::Stored, Method::Lz77, Method::Zlib];
    let changed = |method, change: fn(&mut crate::support::hpi::Chunk)| {
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

fn version_2() -> Vec<Variant> {
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
        let change: fn(&mut crate::support::hpi::Chunk) = |chunk| chunk.scrambled = true;
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

fn hips() -> Vec<Variant> {
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

/// Returns archives in a folder, which are seen through their companions.
fn companions() -> Vec<Variant> {
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

/// Returns how many bytes at the start of an asset are damaged at most: pictures
/// and models are drawn each time, which takes minutes for all bytes.
fn damaged_at_most() -> usize {
    trial::length(256, usize::MAX)
}

/// Returns assets that are mounted alone.
fn assets() -> Vec<Variant> {
    let variant = |(file, _, bytes): (&str, &str, Vec<u8>)| Variant {
        bench: Bench::file(file),
        inside: format!("/{file}.meta"),
        damaged: damaged_at_most().min(bytes.len()),
        ..Variant::lone(file, Kind::Asset, bytes)
    };
    one_of_each().into_iter().map(variant).collect()
}

/// Returns small assets of Total Annihilation that are mounted alone.
fn ta_assets() -> Vec<Variant> {
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
fn lone_assets(files: Vec<(&str, Vec<u8>)>) -> Vec<Variant> {
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
fn gta_assets() -> Vec<Variant> {
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

/// The outcomes for assets: the files of their companions can always be read.
const OF_ASSETS: [Outcome; 3] = [Outcome::Refused, Outcome::Same, Outcome::Undetected];

/// The outcomes for assets of Total Annihilation. Some types are recognized by
/// their first bytes.
const OF_TA_ASSETS: [Outcome; 4] = [
    Outcome::Refused,
    Outcome::Unknown,
    Outcome::Same,
    Outcome::Undetected,
];

#[test]
fn a_damaged_byte_of_hpi_version_1_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HPI, version 1", &version_1(), &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_hpi_version_2_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HPI, version 2", &version_2(), &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_hip_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HIP and HOP", &hips(), &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_an_archive_in_a_folder_is_shown_in_its_companion() {
    assert_outcomes("archives in folders, `X.d`", &companions(), &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_a_lone_asset_is_shown_in_its_companion() {
    assert_outcomes("PSX, HGO and IFP, `X.meta`", &assets(), &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_neversoft_is_shown_in_its_companion() {
    let what = "TIM, VAG, VAB, QB, TRG, XA and others, `X.meta`";
    assert_outcomes(what, &lone_assets(playstation::files()), &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_a_banner_program_or_save_is_shown_in_its_companion() {
    let what = "BNR, XBE, XPR and saves, `X.meta`";
    assert_outcomes(what, &lone_assets(consoles::files()), &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_grand_theft_auto_is_shown_in_its_companion() {
    assert_outcomes("Grand Theft Auto, `X.meta`", &gta_assets(), &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_total_annihilation_is_shown_in_its_companion() {
    assert_outcomes("Total Annihilation, `X.meta`", &ta_assets(), &OF_TA_ASSETS);
}

#[test]
fn no_file_that_shows_an_asset_is_empty_unless_the_asset_has_nothing_of_its_kind() {
    let lone = [playstation::files(), consoles::files()].map(lone_assets);
    let assets = [assets(), ta_assets(), gta_assets()].into_iter();
    let mut empty = Vec::new();
    for variant in assets.chain(lone).flatten() {
        let shown = inside(
            see(&variant.bench.open(&variant.bytes).unwrap()),
            &variant.inside,
        );
        check_companion(&shown);
        assert_eq!(problem(&shown), None, "{}", variant.name);
        let converted = see(&variant.bench.open_converted(&variant.bytes).unwrap());
        let names = empty_files(&converted).into_iter();
        empty.extend(names.map(|path| format!("{}: {path}", variant.name)));
    }
    // It has neither models nor textures.
    assert_eq!(empty, ["empty.psx: /empty.png", "empty.psx: /empty.glb"]);
}
