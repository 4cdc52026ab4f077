//! HIP archives, read through the kernel.

mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hpimount_containers::hip::{Game, Platform, asset_id};
use hpimount_containers::text::windows_1252;
use proptest::prelude::*;
use serde_json::Value;
use support::files::{raw_name, read_at, sha256, walk};
use support::hip::{Asset, Hip};
use support::hip_golden::{Golden, digest, reaches_past, samples, size, verdict};
use support::hip_random::{archives, members};
use support::mount::{Fixture, Mount, can_mount, hpimount, run};
use support::mounted::{counter, few_cases, info, mounted, mounted_files};
use support::shared;

/// Approximate maximum number of assets of an archive that are checked.
const MAX_CHECKED: usize = 500;

#[test]
fn every_sample_matches_the_independent_reader() {
    if !can_mount() {
        return;
    }
    for golden in samples().unwrap_or_default() {
        if golden.is_refused() {
            check_refused(&golden);
        } else {
            check(&golden);
        }
    }
}

fn check_refused(golden: &Golden) {
    let fixture = Fixture::new();
    let ran = run(hpimount().args([&golden.path, &fixture.point]));
    assert!(
        matches!(ran.code, Some(11 | 12)),
        "{}: {ran:?}",
        golden.name
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
}

fn check(golden: &Golden) {
    let mount = mounted_files(std::slice::from_ref(&golden.path), "").unwrap();
    let root = mount.path();
    golden.check_info(&json(&root.join("info.json")));
    golden.check_info(&info(&mount)["sources"][0]["archive"]);
    check_layers(golden, root);
    let links = listed(&root.join("ids"));
    assert_eq!(links.len(), golden.assets().len());
    let step = links.len().div_ceil(MAX_CHECKED).max(1);
    let end = golden.path.metadata().unwrap().len();
    for (link, asset) in links.iter().zip(golden.assets()).step_by(step) {
        check_asset(golden, link, asset, end);
    }
    check_links(golden, root);
    check_texts(golden, root);
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns the entries of a directory in the order of the archive.
fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Returns an attribute, empty if the asset does not have it.
fn attribute(path: &Path, name: &str) -> String {
    let value = xattr::get(path, format!("user.hip.{name}")).unwrap();
    String::from_utf8(value.unwrap_or_default()).unwrap()
}

fn check_layers(golden: &Golden, root: &Path) {
    let mut folders = listed(&root.join("layers")).into_iter();
    for (name, ids) in golden.layers() {
        let folder = folders.next().unwrap();
        assert_eq!(windows_1252(&raw_name(&folder)), name, "{}", golden.name);
        let files = listed(&folder);
        assert_eq!(files.len(), ids.len(), "{} {name}", golden.name);
        let step = ids.len().div_ceil(MAX_CHECKED).max(1);
        for (file, id) in files.iter().zip(&ids).step_by(step) {
            assert_eq!(attribute(file, "id"), *id, "{} {name}", golden.name);
        }
    }
    let rest = folders.next();
    assert_eq!(rest.is_some(), golden.has_unlayered(), "{}", golden.name);
}

fn check_asset(golden: &Golden, link: &Path, asset: &Value, end: u64) {
    let path = link.canonicalize().unwrap();
    let shown = golden.shown(asset);
    golden.check_attributes(asset, |name| attribute(&path, name));
    let metadata = path.metadata().unwrap();
    assert_eq!(metadata.len(), size(asset), "{shown}");
    if let Some(created) = golden.created() {
        assert_eq!(metadata.mtime(), created, "{shown}");
    }
    if reaches_past(asset, end) {
        let last = read_at(&File::open(&path).unwrap(), size(asset) - 1, 1);
        assert_eq!(last.unwrap_err().raw_os_error(), Some(libc::EIO), "{shown}");
        return;
    }
    assert_eq!(sha256(&fs::read(&path).unwrap()), digest(asset), "{shown}");
    assert_eq!(attribute(&path, "checksum_ok"), verdict(asset), "{shown}");
}

/// Checks that the links in `types` lead to the files of all assets.
fn check_links(golden: &Golden, root: &Path) {
    let mut files = BTreeSet::new();
    for folder in listed(&root.join("types")) {
        if folder.ends_with("Settings.ini") {
            continue;
        }
        for link in listed(&folder) {
            assert!(link.symlink_metadata().unwrap().is_symlink());
            let metadata = link.metadata().unwrap();
            assert!(metadata.is_file(), "{}", link.display());
            files.insert(metadata.ino());
        }
    }
    assert_eq!(files.len(), golden.assets().len(), "{}", golden.name);
}

/// Checks that generated texts have the right size before they are read.
fn check_texts(golden: &Golden, root: &Path) {
    for path in ["info.json", "assets.tsv", "types/Settings.ini"] {
        let path = root.join(path);
        let before = path.metadata().unwrap().len();
        assert_eq!(fs::read(&path).unwrap().len() as u64, before);
        assert!(before > 0);
    }
    golden.check_table(&fs::read_to_string(root.join("assets.tsv")).unwrap());
}

#[test]
fn two_sources_have_their_own_directories() {
    let fixture = tempfile::tempdir().unwrap();
    let sources = ["jf01.HIP", "jf01.HOP"].map(|name| {
        let mut hip = Hip::default();
        hip.layer(0).add(Asset::new(b"MRKR", name, name.as_bytes()));
        let path = fixture.path().join(name);
        fs::write(&path, hip.build()).unwrap();
        path
    });
    let Some(mount) = mounted_files(&sources, "") else {
        return;
    };
    let names: Vec<_> = listed(mount.path());
    assert_eq!(
        names,
        ["jf01.HIP", "jf01.HOP"].map(|name| mount.path().join(name))
    );
    for name in ["jf01.HIP", "jf01.HOP"] {
        let root = mount.path().join(name);
        let id = format!("{:08X}", asset_id(name.as_bytes()));
        let bytes = fs::read(root.join("ids").join(id)).unwrap();
        assert_eq!(bytes, name.as_bytes());
        assert!(fs::read(root.join("assets.tsv")).is_ok());
    }
    assert_eq!(info(&mount)["sources"].as_array().unwrap().len(), 2);
}

#[test]
fn an_asset_of_several_layers_is_one_inode() {
    let mut hip = Hip::default();
    let shared = Asset::new(b"MRKR", "SHARED", b"0123");
    hip.layer(0).add(shared.clone());
    hip.layer(1);
    hip.layers[1].1.push(shared.id);
    let Some(mount) = mounted(&hip.build(), "") else {
        return;
    };
    let found = ["00-DEFAULT", "01-TEXTURE"].map(|layer| {
        let path = mount.path().join("layers").join(layer).join("SHARED.mrkr");
        let metadata = path.metadata().unwrap();
        (metadata.ino(), metadata.nlink())
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0].1, 2);
}

#[test]
fn twenty_thousand_assets_are_listed_quickly() {
    let Some(sample) = shared("samples/hip/synthetic/many_assets_20000.HIP") else {
        return;
    };
    let start = Instant::now();
    let Some(mount) = mounted_files(&[sample], "") else {
        return;
    };
    let (mounting, start) = (start.elapsed(), Instant::now());
    let first = walk(mount.path()).len();
    let (cold, start) = (start.elapsed(), Instant::now());
    assert_eq!(walk(mount.path()).len(), first);
    let warm = start.elapsed();
    println!("{first} entries: mounted in {mounting:?}, listed in {cold:?}, again in {warm:?}");
    assert!(first > 60_000);
    assert!(mounting + cold + warm < Duration::from_secs(10));
    // Memory of a node: an inode and an entry with its name.
    assert!(counter(&mount, "tree_bytes") < 120 * first as u64);
}

#[test]
fn verify_fills_the_table_with_checksums() {
    let mut hip = Hip::default();
    let wrong = Asset {
        checksum: Some(1),
        ..Asset::new(b"MRKR", "WRONG", b"0123")
    };
    hip.layer(0)
        .add(Asset::new(b"MRKR", "RIGHT", b"0123"))
        .add(wrong);
    let verdicts = |options| -> Option<Vec<String>> {
        let mount = mounted(&hip.build(), options)?;
        let table = fs::read_to_string(mount.path().join("assets.tsv")).unwrap();
        let last = |line: &str| line.split('\t').next_back().unwrap().to_owned();
        Some(table.lines().skip(1).map(last).collect())
    };
    let Some(without) = verdicts("") else { return };
    assert_eq!(without, ["", ""]);
    assert_eq!(verdicts("verify").unwrap(), ["true", "false"]);
}

#[test]
fn an_asset_is_found_by_its_id_in_any_case() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"MRKR", "MARKER_01", b"0123").with_id(0xE348_8274));
    let Some(mount) = mounted(&hip.build(), "") else {
        return;
    };
    assert_eq!(
        fs::read(mount.path().join("ids/e3488274")).unwrap(),
        b"0123"
    );
    let link = fs::read_link(mount.path().join("ids/E3488274")).unwrap();
    assert_eq!(link, Path::new("../layers/00-DEFAULT/MARKER_01.mrkr"));
    let by_type = mount.path().join("types/Marker/[E3488274] MARKER_01");
    assert_eq!(fs::read(by_type).unwrap(), b"0123");
}

fn check_archive((game, platform): (Game, Platform), hip: &Hip, mount: &Mount) {
    let root = mount.path();
    let info = json(&root.join("info.json"));
    assert_eq!(info["game"], game.name());
    assert_eq!(info["platform"], platform.name());
    let mut folders = listed(&root.join("layers")).into_iter();
    for members in members(hip) {
        let files = listed(&folders.next().unwrap());
        let ids = files.iter().map(|file| attribute(file, "id"));
        let expected = members
            .iter()
            .map(|&member| format!("{:08X}", hip.assets[member].id));
        assert!(ids.eq(expected));
    }
    for asset in &hip.assets {
        let path = root.join("ids").join(format!("{:08X}", asset.id));
        let path = path.canonicalize().unwrap();
        assert!(path.starts_with(root.join("layers")));
        assert_eq!(fs::read(&path).unwrap(), asset.bytes);
        assert_eq!(attribute(&path, "flags"), asset.flags.to_string());
    }
    // No link is broken.
    for path in walk(root) {
        assert!(path.metadata().is_ok(), "{}", path.display());
    }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn an_archive_mounts_as_it_was_built((target, hip) in archives()) {
        let Some(mount) = mounted(&hip.build(), "") else { return Ok(()) };
        check_archive(target, &hip, &mount);
    }
}

#[test]
fn names_in_tables_are_those_of_the_files() {
    let mut hip = Hip::default();
    hip.layer(0);
    for name in ["A/B GROUP", "../../etc/passwd", "tab\there", "back\\slash"] {
        hip.add(Asset::new(b"GRUP", name, b"x"));
    }
    let Some(mount) = mounted(&hip.build(), "") else {
        return;
    };
    let table = fs::read_to_string(mount.file("assets.tsv")).unwrap();
    let rows = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let rows: Vec<_> = rows.collect();
    let column = |name| rows[0].iter().position(|column| *column == name).unwrap();
    let layer = mount.file("layers/00-DEFAULT");
    assert_eq!(rows.len(), 5);
    for row in &rows[1..] {
        let file = layer.join(row[column("file")]);
        assert_eq!(fs::read(&file).unwrap(), b"x", "{file:?}");
    }
    assert!(table.contains("\tA/B GROUP\tA%2FB GROUP.grup\t"), "{table}");
    assert!(
        table.contains("\tback\\slash\tback\\slash.grup\t"),
        "{table}"
    );
    assert!(table.contains("\ttab\\there\ttab%09here.grup\t"), "{table}");
}

#[test]
fn with_force_the_file_is_the_remaining_part_of_an_asset() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TEXT", "last", &[7; 1000]));
    let bytes = hip.build();
    let end = bytes.windows(1000).position(|window| window == [7; 1000]);
    let cut = &bytes[..end.unwrap() + 8];
    let Some(mount) = mounted(cut, "force") else {
        return;
    };
    let file = mount.file("layers/00-DEFAULT/last.text");
    assert_eq!(fs::read(&file).unwrap(), [7; 8]);
    let strict = mounted(cut, "").unwrap();
    let file = strict.file("layers/00-DEFAULT/last.text");
    assert_eq!(file.metadata().unwrap().len(), 1000);
    assert_eq!(fs::read(&file).unwrap_err().raw_os_error(), Some(libc::EIO));
}

#[test]
fn an_archive_as_editors_write_it_has_no_warnings() {
    if !can_mount() {
        return;
    }
    let mut hip = Hip::default();
    hip.layer(0);
    for id in [9, 3, 5] {
        hip.add(Asset::new(b"TEXT", "t", b"x").with_id(id));
    }
    let fixture = Fixture::new();
    fs::write(&fixture.archive, hip.build()).unwrap();
    let ran = run(hpimount().args([&fixture.archive, &fixture.point]));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let info = fs::read_to_string(fixture.point.join("info.json")).unwrap();
    rustix::mount::unmount(&fixture.point, rustix::mount::UnmountFlags::DETACH).unwrap();
    assert!(info.contains("the assets are not sorted by id"), "{info}");
}

#[test]
fn symbolic_links_take_no_blocks() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TEXT", "t", b"x").with_id(1));
    let Some(mount) = mounted(&hip.build(), "") else {
        return;
    };
    let link = fs::symlink_metadata(mount.file("ids/00000001")).unwrap();
    assert!(link.is_symlink());
    assert_eq!((link.blocks(), link.size() > 0), (0, true));
}
