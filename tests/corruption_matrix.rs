//! If any single byte of an archive is damaged, or if it is truncated anywhere,
//! it is refused with an offset, or reads return the same bytes as before or
//! EIO.
//!
//! Only chunks have mandatory checksums, and only for their payloads. If the
//! damaged byte is not covered by one (a stored file, a name, a size, an
//! offset, the header of a chunk), the archive is a valid archive with other
//! content, and the damage cannot be detected. Then exactly that content must
//! be read, as by the plain reader in `support::plain`.
//!
//! The checksums of HIP assets are not enforced, since edited archives have
//! stale ones, but the attribute `user.hip.checksum_ok` must show the damage.

mod support;

use std::collections::BTreeMap;
use std::fs;

use hpimount::mount::Vfs;
use hpimount_containers::hip::{CHECKSUM, Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::text::windows_1252;
use support::hip::{Asset, Hip, TARGETS, hipb};
use support::hpi::{Entry, File, V1, V2, dir, file};
use support::matrix::{
    Bench, Counts, Damage, DamageReport, Outcome, Seen, What, compare, damages, see,
};
use support::{plain, shared, ta, text, trial};

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

    /// Damages the source in every way, checks what is seen each time, and
    /// counts the outcomes.
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

    /// Returns what is compared with the undamaged source: everything except
    /// texts that show the damaged fields themselves, and converted assets.
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

/// Asserts that the outcomes of every variant are those in the table.
fn assert_outcomes(what: &str, variants: &[Variant], table: &[(&str, Counts)]) {
    let found: BTreeMap<&str, Counts> = variants
        .iter()
        .map(|variant| (variant.name.as_str(), variant.outcomes()))
        .collect();
    for (name, counts) in &found {
        println!("    (\"{name}\", {counts:?}),");
    }
    // The long trial has more and other damages, and no table.
    if trial::length(true, false) {
        let expected: BTreeMap<&str, Counts> = table.iter().copied().collect();
        assert_eq!(found, expected, "refused, unknown, same, EIO, as it stands");
    }
    let sum = |outcome: Outcome| found.values().map(|counts| counts[outcome as usize]).sum();
    let [refused, unknown, same, eio, as_it_stands]: [usize; 5] = [
        sum(Outcome::Refused),
        sum(Outcome::Unknown),
        sum(Outcome::Same),
        sum(Outcome::Eio),
        sum(Outcome::Undetected),
    ];
    let happened = format!(
        "refused with an offset {refused}, no longer recognized {unknown}, same bytes {same}, \
         EIO {eio}, undetectable without a checksum {as_it_stands}"
    );
    trial::record(
        &format!("one damaged byte, and truncation: {what}"),
        refused + unknown + same + eio + as_it_stands,
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
    let changed = |method, change: fn(&mut support::hpi::Chunk)| {
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
        let change: fn(&mut support::hpi::Chunk) = |chunk| chunk.scrambled = true;
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

/// Returns assets that are mounted alone; `None` without the samples.
fn assets() -> Option<Vec<Variant>> {
    let samples = [
        "psx/generated/bits_sprites.psx",
        "psx/generated/character_v4_anim2.psx",
        "psx/generated/empty_v3.psx",
        "hgo/generated/minimal.hgo",
        "hgo/generated/minimal.hgo.blk",
        "hgo/generated/no_joints.hgo",
        "ifp/generated/anp2_types1to4.ifp",
        "ifp/generated/anp3_empty.ifp",
        "ifp/generated/anpk_mixed.ifp",
    ];
    let variant = |sample: &str| {
        let path = shared(&format!("samples/{sample}"))?;
        let file = path.file_name()?.to_str()?;
        Some(Variant {
            bench: Bench::file(file),
            inside: format!("/{file}.meta"),
            ..Variant::lone(file, Kind::Asset, fs::read(&path).unwrap())
        })
    };
    samples.into_iter().map(variant).collect()
}

/// Returns small assets of Total Annihilation that are mounted alone.
fn ta_assets() -> Vec<Variant> {
    let variant = |file: &str, bytes: Vec<u8>, damaged: usize| Variant {
        bench: Bench::file(file),
        inside: format!("/{file}.meta"),
        damaged: damaged.min(bytes.len()),
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

/// The outcomes in a short trial: refused with an offset, no longer an archive,
/// same bytes, EIO, no checksum and read as it is. If they change, so does what
/// users see.
const VERSION_1: &[(&str, Counts)] = &[
    ("empty", [39, 22, 155, 0, 0]),
    ("lz77 with key 00", [196, 22, 174, 360, 76]),
    ("lz77 with key 7D", [264, 22, 189, 413, 112]),
    ("lz77 with key BF", [265, 22, 187, 415, 111]),
    ("lz77, chunks not scrambled", [111, 22, 159, 378, 24]),
    ("padding behind chunks", [111, 22, 181, 424, 24]),
    ("root and lists elsewhere", [295, 22, 259, 502, 118]),
    ("stored chunks", [111, 22, 163, 376, 26]),
    ("stored chunks with key 7D", [146, 22, 169, 433, 44]),
    ("stored with key 00", [197, 22, 157, 86, 306]),
    ("stored with key 7D", [265, 22, 167, 100, 346]),
    ("stored with key BF", [266, 22, 167, 100, 345]),
    ("zlib with key 00", [196, 22, 174, 444, 76]),
    ("zlib with key 7D", [264, 22, 189, 497, 112]),
    ("zlib with key BF", [265, 22, 189, 491, 111]),
    ("zlib, chunks not scrambled", [111, 22, 159, 414, 24]),
];

/// The outcomes for version 2.
const VERSION_2: &[(&str, Counts)] = &[
    ("LZ77", [694, 22, 170, 215, 13]),
    ("chunks of 20 bytes", [796, 22, 179, 464, 15]),
    ("raw blocks, LZ77", [332, 22, 256, 227, 79]),
    ("raw blocks, stored", [315, 22, 240, 16, 309]),
    ("raw blocks, zlib", [353, 22, 256, 308, 79]),
    ("scrambled chunks", [393, 22, 167, 143, 13]),
    ("stored", [672, 22, 164, 0, 242]),
    ("zlib", [712, 22, 170, 296, 14]),
];

/// The outcomes for HIP archives.
const HIPS: &[(&str, Counts)] = &[
    ("Bfbb, GameCube", [69, 20, 807, 9, 747]),
    ("HIPB", [69, 20, 714, 5, 820]),
    ("Incredibles, GameCube", [69, 20, 715, 9, 715]),
    ("RatProto, GameCube", [69, 20, 715, 9, 715]),
    ("Rotu, GameCube", [69, 20, 715, 9, 715]),
    ("Scooby, GameCube", [69, 20, 637, 9, 683]),
    ("ScoobyPrototype, PlayStation2", [69, 20, 639, 9, 683]),
    ("Unknown, Unknown", [69, 20, 641, 9, 683]),
    ("first version", [68, 20, 559, 10, 651]),
    ("no checksum, stale checksum", [69, 20, 793, 9, 747]),
];

/// The outcomes for archives in folders.
const COMPANIONS: &[(&str, Counts)] = &[
    ("a.hop", [34, 20, 671, 71, 438]),
    ("a.hpi", [79, 22, 155, 233, 13]),
    ("a.kmp", [393, 22, 167, 163, 13]),
];

/// The outcomes for assets, whose views are not compared with a plain reader.
const ASSETS: &[(&str, Counts)] = &[
    ("anp2_types1to4.ifp", [846, 0, 112, 0, 1136]),
    ("anp3_empty.ifp", [52, 0, 0, 0, 32]),
    ("anpk_mixed.ifp", [1204, 0, 12, 0, 1710]),
    ("bits_sprites.psx", [330, 0, 118, 0, 452]),
    ("character_v4_anim2.psx", [457, 0, 111, 0, 404]),
    ("empty_v3.psx", [77, 0, 0, 0, 1]),
    ("minimal.hgo", [685, 0, 41, 0, 874]),
    ("minimal.hgo.blk", [42, 0, 0, 0, 114]),
    ("no_joints.hgo", [91, 0, 3, 0, 180]),
];

/// The outcomes for assets of Total Annihilation.
const TA_ASSETS: &[(&str, Counts)] = &[
    ("colors.pal", [8, 0, 4, 0, 20]),
    ("intro.zrb", [16, 16, 0, 0, 32]),
    ("kingdom.tnt", [157, 0, 45, 0, 86]),
    ("light.lht", [8, 0, 0, 0, 24]),
    ("map.tnt", [149, 0, 16, 0, 119]),
    ("section.sct", [64, 0, 0, 0, 10]),
    ("shot.wav", [36, 0, 24, 0, 98]),
    ("small.fnt", [10, 0, 0, 0, 16]),
    ("start.crt", [17, 12, 8, 0, 1]),
    ("tank.3do", [185, 0, 17, 0, 96]),
    ("tank.cob", [161, 0, 12, 0, 109]),
    ("three.bmp", [85, 0, 44, 0, 59]),
    ("two.pcx", [145, 0, 213, 0, 26]),
    ("unit.fbi", [0, 0, 20, 0, 108]),
    ("walk.gaf", [94, 0, 27, 0, 253]),
];

#[test]
fn a_damaged_byte_of_hpi_version_1_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HPI, version 1", &version_1(), VERSION_1);
}

#[test]
fn a_damaged_byte_of_hpi_version_2_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HPI, version 2", &version_2(), VERSION_2);
}

#[test]
fn a_damaged_byte_of_hip_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HIP and HOP", &hips(), HIPS);
}

#[test]
fn a_damaged_byte_of_an_archive_in_a_folder_is_shown_in_its_companion() {
    assert_outcomes("archives in folders, `X.d`", &companions(), COMPANIONS);
}

#[test]
fn a_damaged_byte_of_a_lone_asset_is_shown_in_its_companion() {
    let Some(assets) = assets() else { return };
    assert_outcomes("PSX, HGO and IFP, `X.meta`", &assets, ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_total_annihilation_is_shown_in_its_companion() {
    assert_outcomes("Total Annihilation, `X.meta`", &ta_assets(), TA_ASSETS);
}
