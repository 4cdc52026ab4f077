//! References between archives of Heavy Iron's games, read through the kernel
//! (SEMANTICS, Names from other archives).

use std::fs;
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use fixtures::heavy_iron as build;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform, asset_id};
use testkit::mounted::mounted_files;
use testkit::shown::{meta_in, rows};
use testkit::sources::{json, names};

fn id(name: &str) -> u32 {
    asset_id(name.as_bytes())
}

/// Returns an archive with these assets.
fn archive(assets: &[(&[u8; 4], &str, Vec<u8>)]) -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    for (code, name, bytes) in assets {
        hip.add(Asset::new(code, name, bytes));
    }
    hip.build()
}

/// Returns a dispatcher that sends an event to each of the targets.
fn dispatcher(name: &str, targets: &[&str]) -> Vec<u8> {
    let head = build::big(&[id(name), 0x1E00_001D | (targets.len() as u32) << 16]);
    let links = targets
        .iter()
        .map(|target| build::big(&[0x0001_0002, id(target), 0, 0, 0, 0, 0, 0]));
    [head, links.collect::<Vec<_>>().concat()].concat()
}

fn model() -> Vec<u8> {
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    build::plain_model(&corners, &[[0.0; 2]; 3], &[[0, 1, 2]])
}

fn texture() -> Vec<u8> {
    build::gamecube(4, 0, [8, 4], &[], &[0xFC, 0].repeat(32), 1)
}

/// Writes the archives of a game: a level in two archives, one for all levels
/// in the directory above, and another level.
fn game(work_dir: &Path) -> [PathBuf; 4] {
    let targets = ["own", "twin", "needed", "stranger", "nowhere"];
    let level = archive(&[
        (b"DPAT", "opener", dispatcher("opener", &targets)),
        (b"DPAT", "own", dispatcher("own", &[])),
        (b"MODL", "crate.dff", model()),
        (b"ANIM", "broken", vec![1; 64]),
    ]);
    let twin = archive(&[
        (b"DPAT", "twin", dispatcher("twin", &["own"])),
        (b"DPAT", "own", dispatcher("own", &[])),
        (b"RWTX", "wood.RW3", texture()),
    ]);
    let boot = archive(&[(b"DPAT", "needed", dispatcher("needed", &[]))]);
    let other = archive(&[(b"DPAT", "stranger", dispatcher("stranger", &[]))]);
    let levels = work_dir.join("jf");
    fs::create_dir_all(&levels).unwrap();
    let files = [
        (levels.join("jf01.HIP"), level),
        (levels.join("JF01.hop"), twin),
        (work_dir.join("boot.HIP"), boot),
        (levels.join("jf02.HIP"), other),
    ];
    files.map(|(path, bytes)| {
        fs::write(&path, bytes).unwrap();
        path
    })
}

/// Returns the name and the archive that are shown for the target of each link
/// of `opener`.
fn targets(archive: &Path) -> Vec<[Option<String>; 2]> {
    let object = json(&meta_in(archive, id("opener")).join("object.json"));
    let links = object["links"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    links
        .map(|link| ["name", "archive"].map(|field| text(&link["target"][field])))
        .collect()
}

fn named(name: &str, archive: &str) -> [Option<String>; 2] {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    [known(name), known(archive)]
}

#[fuse_test]
fn names_come_from_the_archives_of_the_same_level_and_from_shared_ones() {
    let work_dir = tempfile::tempdir().unwrap();
    game(work_dir.path());
    let mount = mounted_files(&[work_dir.path().to_owned()], "");
    let level = mount.file("jf/jf01.HIP.d");
    let expected = [
        named("own", ""),
        named("twin", "JF01.hop"),
        named("needed", "boot.HIP"),
        // Links may have targets in any archive of the mount.
        named("stranger", "jf02.HIP"),
        named("", ""),
    ];
    assert_eq!(targets(&level), expected);
    // Tables have the names too.
    let links = rows(&meta_in(&level, id("opener")).join("links.tsv"));
    assert_eq!(links[1]["target_name"], "twin");
    let links = rows(&level.join("converted/tables/links.tsv"));
    let cells = ["target_name", "target_type"].map(|name| &*links[3][name]);
    assert_eq!(cells, ["stranger", "DPAT"]);
    // The game does not load that archive with the level.
    let checks = fs::read_to_string(level.join("converted/checks.txt")).unwrap();
    assert!(checks.contains(&format!("{:08X} of link 3 is missing", id("stranger"))));
    // In the HOP, `own` is its own asset and not the HIP's.
    let twin = mount.file("jf/JF01.hop.d");
    let object = json(&meta_in(&twin, id("twin")).join("object.json"));
    assert_eq!(object["links"][0]["target"]["name"], "own");
    assert!(object["links"][0]["target"].get("archive").is_none());
}

#[fuse_test]
fn textures_of_models_are_found_in_the_other_archive_of_a_level() {
    let work_dir = tempfile::tempdir().unwrap();
    game(work_dir.path());
    let mount = mounted_files(&[work_dir.path().to_owned()], "");
    let shown = meta_in(&mount.file("jf/jf01.HIP.d"), id("crate.dff"));
    assert_eq!(names(&shown.join("textures")), ["wood.png"]);
    let row = &rows(&shown.join("textures.tsv"))[0];
    assert!(row["asset"].contains("JF01.hop.d/"), "{row:?}");
    assert_eq!(row["problem"], "");
}

#[fuse_test]
fn names_come_from_the_other_sources_of_the_mount() {
    let work_dir = tempfile::tempdir().unwrap();
    let files = game(work_dir.path());
    let mount = mounted_files(&files, "");
    let expected = [
        named("own", ""),
        named("twin", "JF01.hop"),
        named("needed", "boot.HIP"),
        named("stranger", "jf02.HIP"),
        named("", ""),
    ];
    assert_eq!(targets(&mount.file("jf01.HIP")), expected);
    // An archive that is mounted alone has only its own names.
    let mount = mounted_files(&files[..1], "");
    let found = targets(mount.path());
    assert_eq!(found[0], named("own", ""));
    assert!(
        found[1..].iter().all(|one| *one == named("", "")),
        "{found:?}"
    );
}

#[fuse_test]
fn a_damaged_archive_of_the_level_affects_no_other() {
    let work_dir = tempfile::tempdir().unwrap();
    let [_, twin, boot, _] = game(work_dir.path());
    fs::write(&twin, b"HIPA\0\0\0\0broken").unwrap();
    fs::write(boot, b"").unwrap();
    let mount = mounted_files(&[work_dir.path().to_owned()], "");
    let expected = [
        named("own", ""),
        named("", ""),
        named("", ""),
        named("stranger", "jf02.HIP"),
        named("", ""),
    ];
    assert_eq!(targets(&mount.file("jf/jf01.HIP.d")), expected);
}

#[fuse_test]
fn an_unreadable_asset_has_its_error_in_an_attribute() {
    let work_dir = tempfile::tempdir().unwrap();
    let files = game(work_dir.path());
    let mount = mounted_files(&files[..1], "");
    let asset = |name: &str| {
        let meta = meta_in(mount.path(), id(name));
        let file = meta.file_name().unwrap().to_str().unwrap();
        meta.with_file_name(file.trim_end_matches(".meta"))
    };
    let error = xattr::get(asset("broken"), "user.hip.error").unwrap();
    let error = String::from_utf8(error.unwrap()).unwrap();
    assert!(error.starts_with("magic at 0x0: is 0x01010101"), "{error}");
    assert_eq!(xattr::get(asset("own"), "user.hip.error").unwrap(), None);
    let listed: Vec<_> = xattr::list(asset("broken")).unwrap().collect();
    assert!(!listed.iter().any(|name| name == "user.hip.error"));
    // Other assets are not affected.
    assert_eq!(targets(mount.path())[0], named("own", ""));
}

#[fuse_test]
fn a_truncated_archive_in_a_folder_names_its_unreadable_assets() {
    let work_dir = tempfile::tempdir().unwrap();
    let bytes = archive(&[
        (b"DPAT", "first", dispatcher("first", &[])),
        (b"TEXT", "long", vec![0; 4096]),
        (b"DPAT", "last", dispatcher("last", &[])),
    ]);
    fs::write(work_dir.path().join("a.HIP"), &bytes[..bytes.len() - 2048]).unwrap();
    let mount = mounted_files(&[work_dir.path().to_owned()], "");
    let converted = mount.file("a.HIP.d/converted");
    let errors = fs::read_to_string(converted.join("errors.tsv")).unwrap();
    assert!(errors.contains("\tlast\t"), "{errors}");
    let object = |name: &str| converted.join(format!("objects/DPAT/{name}.json"));
    assert!(fs::metadata(object("first")).unwrap().len() > 0);
    // An object that cannot be read is an empty file.
    assert_eq!(fs::metadata(object("last")).unwrap().len(), 0);
    assert_eq!(fs::read(object("last")).unwrap(), b"");
}
