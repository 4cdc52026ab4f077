//! Properties of every converted tree, for random archives: each listed file
//! exists, has the listed size, one name and one number.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use fixtures::heavy_iron::{self as build, kinds};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Content, Entry, File, V1, dir, file as entry};
use fixtures::noise;
use fixtures::ta::{cob, gaf, pcx, tdf, tdo, tnt};
use hpimount_containers::hip::Platform;
use hpimount_containers::hpi::chunk::Method;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use sha2::{Digest, Sha256};
use testkit::hip_random::archives;
use testkit::mount::Fixture;
use testkit::mount::others::forget_names;
use testkit::{sources, trial};

/// Returns the number of archives of each kind to mount.
fn cases() -> u32 {
    trial::length(20, 500)
}

/// A file or directory as the kernel shows it.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    number: u64,
    /// SHA-256 of the contents of a file.
    bytes: Option<[u8; 32]>,
}

/// Returns everything below a directory, by path. Each listing is compared with
/// lookups, and each size with reads. Names must be unique; if `in_any_case`,
/// also if case is ignored.
fn seen(root: &Path, in_any_case: bool) -> BTreeMap<PathBuf, Seen> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let mut name = entry.file_name();
            if in_any_case {
                name.make_ascii_lowercase();
            }
            assert!(names.insert(name), "{} occurs twice", path.display());
            let found = fs::symlink_metadata(&path).unwrap();
            assert_eq!(found.ino(), entry.ino(), "{}", path.display());
            let kind = entry.file_type().unwrap();
            assert_eq!(found.file_type(), kind, "{}", path.display());
            let bytes = kind.is_file().then(|| {
                let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert_eq!(found.len(), bytes.len() as u64, "{}", path.display());
                Sha256::digest(bytes).into()
            });
            if kind.is_dir() {
                left.push(path.clone());
            }
            let number = found.ino();
            all.insert(path, Seen { number, bytes });
        }
    }
    all
}

/// Mounts the converted tree of an archive and reads all of it twice, the
/// second time without the kernel's cache of names. Returns the number of
/// entries.
fn read_twice(fixture: Fixture, in_any_case: bool) -> usize {
    let mount = fixture.mount(&["--converted", "-o", "cachesize=4M"]);
    let first = seen(mount.path(), in_any_case);
    forget_names(mount.path());
    assert_eq!(seen(mount.path(), in_any_case), first);
    first.len()
}

/// Tests random archives of one kind. Each comes with whether its names are
/// unique if case is ignored.
fn try_out<T: std::fmt::Debug>(
    what: &str,
    archives: impl Strategy<Value = (T, bool)>,
    fixture: fn(T) -> Fixture,
) {
    let config = Config {
        cases: cases(),
        failure_persistence: None,
        max_shrink_iters: 60,
        ..Config::default()
    };
    let entries = Cell::new(0);
    let run = TestRunner::new(config).run(&archives, |(archive, in_any_case)| {
        entries.set(entries.get() + read_twice(fixture(archive), in_any_case));
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let entries = entries.get();
    assert!(entries > 0, "all trees are empty");
    let happened = format!("{entries} entries: listed as looked up, as long as they say");
    trial::record(&format!("converted trees: {what}"), cases(), &happened);
}

/// Generates an extension and a file in its format, or with arbitrary bytes.
fn asset() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let sprite = vec((0..9_u16, 0..3_u16, "[a-zA-Z/. ]{0,3}"), 0..4).prop_map(|sequences| {
        let sequences = sequences.into_iter().map(|(width, frames, name)| {
            let pixels = vec![Some(3); usize::from(width)];
            let frame = gaf::Frame::rle(width, 1, &pixels);
            gaf::sequence(&name, vec![(frame, 1); frames.into()])
        });
        ("gaf", gaf::file(&sequences.collect::<Vec<_>>()))
    });
    let model = (any::<u32>(), select(vec!["", "wall", "a/b"]), -1..2_i32).prop_map(
        |(color, texture, selection)| {
            let mut object = tdo::object("base");
            object.selection = selection;
            tdo::add_box(&mut object, [0; 3], [40 << 16; 3], |_, side| {
                side.color = color % 256;
                side.flag = 1;
                side.texture = (!texture.is_empty()).then(|| texture.to_owned());
            });
            ("3do", tdo::file(&object))
        },
    );
    let picture = (1..9_u16, 1..5_u16).prop_map(|(width, height)| {
        let pixels = noise(1, usize::from(width) * usize::from(height));
        ("pcx", pcx::Pcx::indexed(width, height, pixels).file())
    });
    let text = ("[A-Z]{1,4}", "[a-z0-9]{0,5}").prop_map(|(key, value)| {
        let unit = tdf::section("UNITINFO", vec![tdf::key(&key, &value)]);
        tdf::file(&[unit])
    });
    let text = (select(vec!["fbi", "tdf", "ota", "gui"]), text);
    let script = prop_oneof![Just(4), Just(6)];
    let script = script.prop_map(|version| ("cob", cob::small(version).file()));
    let map = Just(("tnt", tnt::Map::small().file(0x2000)));
    let section = Just(("sct", tnt::Section::small(3).file()));
    let palette = Just(("pal", noise(2, 1024)));
    let sound = Just(("wav", noise(3, 60)));
    let extensions = vec![
        "gaf", "3do", "pcx", "bmp", "tdf", "cob", "tnt", "sct", "pal", "fnt", "wav", "crt", "ifp",
        "psx", "hgo", "hpi", "txt",
    ];
    let other = (select(extensions), vec(any::<u8>(), 0..40));
    prop_oneof![
        3 => sprite,
        3 => model,
        3 => picture,
        3 => text,
        1 => script,
        1 => map,
        1 => section,
        1 => palette,
        1 => sound,
        4 => other,
    ]
}

/// Generates a file with one of few names, so that many are equal.
fn named((extension, bytes): (&'static str, Vec<u8>)) -> impl Strategy<Value = Entry> {
    let stems = select(vec![
        "a", "A", "b", "a.pcx", "a.gaf", "wall", "tables", "", "x y",
    ]);
    (stems, any::<bool>()).prop_map(move |(stem, is_upper)| {
        let extension = match is_upper {
            true => extension.to_uppercase(),
            false => extension.to_owned(),
        };
        let name = format!("{stem}.{extension}");
        entry(name.as_bytes(), File::new(bytes.clone(), Method::Stored))
    })
}

/// Generates the entries of a directory and its subdirectories.
fn tree() -> impl Strategy<Value = Vec<Entry>> {
    let names = vec![
        "a",
        "a.png",
        "a.gaf",
        "units",
        "maps",
        "textures",
        "tables",
        "weapons",
        "features",
        "objects3d",
    ];
    let leaf = vec(asset().prop_flat_map(named), 0..8);
    leaf.prop_recursive(3, 40, 4, move |inner| {
        let directory = (select(names.clone()), inner);
        let directory = directory.prop_map(|(name, entries)| dir(name.as_bytes(), entries));
        (
            vec(asset().prop_flat_map(named), 0..8),
            vec(directory, 0..4),
        )
            .prop_map(|(files, directories)| [files, directories].concat())
    })
}

/// Removes entries with the name of an earlier one, if case is ignored.
fn distinct(entries: &mut Vec<Entry>) {
    let mut names = BTreeSet::new();
    entries.retain(|entry| names.insert(entry.name.to_ascii_lowercase()));
    for entry in entries {
        if let Content::Directory(entries) = &mut entry.content {
            distinct(entries);
        }
    }
}

#[fuse_test]
fn the_converted_tree_of_any_hpi_archive_is_as_listed() {
    let archives = (tree(), any::<bool>()).prop_map(|(mut entries, is_distinct)| {
        if is_distinct {
            distinct(&mut entries);
        }
        (entries, is_distinct)
    });
    try_out("archives of Total Annihilation", archives, |entries| {
        sources::file("totala1.hpi", &V1::new(entries).build().bytes)
    });
}

/// Returns possible contents of an asset of this type for a platform.
fn contents(code: &[u8; 4], platform: Platform, pick: Index) -> Option<Vec<u8>> {
    let of_platform = |name: &str| match platform {
        Platform::GameCube => name.starts_with('g'),
        Platform::Xbox => name.starts_with('x'),
        _ => name.starts_with('p'),
    };
    Some(match code {
        b"RWTX" => {
            let mut textures = kinds::textures(0);
            textures.retain(|(name, _)| of_platform(name));
            pick.get(&textures).1.clone()
        }
        b"MODL" | b"JSP " => match pick.index(2) {
            0 => build::pyramid(),
            _ => build::gamecube_model(false),
        },
        b"TEXT" => [
            &build::words(platform == Platform::GameCube, &[2])[..],
            b"hi\0\0",
        ]
        .concat(),
        b"MRKR" => vec![0; 12],
        _ => return None,
    })
}

/// Generates archives where most assets have contents of their types, and one
/// sound has its header.
fn levels() -> impl Strategy<Value = Hip> {
    let picks = vec(proptest::option::weighted(0.7, any::<Index>()), 20);
    (archives(), picks).prop_map(|((target, mut hip), picks)| {
        let mut sounds = Vec::new();
        for (asset, pick) in hip.assets.iter_mut().zip(picks) {
            let bytes = pick.and_then(|pick| contents(&asset.code, target.1, pick));
            asset.bytes = bytes.unwrap_or_else(|| std::mem::take(&mut asset.bytes));
            if asset.code == *b"SND " {
                sounds.push((asset.id, asset.bytes.len() as u32));
            }
        }
        if let Some(&(id, size)) = sounds.first() {
            let table = match target.1 {
                Platform::Xbox => build::xbox_table(id, 1, 1, 8000, size),
                Platform::PlayStation2 => build::vag_table(id, 8000, size),
                _ => build::dsp_table(id, 28, 8000),
            };
            hip.layer(0).add(Asset::new(b"SNDI", "sound_info", &table));
        }
        hip
    })
}

#[fuse_test]
fn the_converted_tree_of_any_hip_archive_is_as_listed() {
    let archives = levels().prop_map(|hip| (hip, true));
    try_out("archives of Heavy Iron's games", archives, |hip| {
        sources::file("bb01.HIP", &hip.build())
    });
}
