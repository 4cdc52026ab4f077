//! HIP archives, read through the kernel.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform, asset_id};
use proptest::prelude::*;
use serde_json::Value;
use testkit::files::walk;
use testkit::fuse_test;
use testkit::hip_random::{archives, members};
use testkit::mount::{Fixture, Mount, hpimount, run};
use testkit::mounted::{counter, few_cases, info, mounted, mounted_files};
use testkit::shown::{attribute, listed};

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[fuse_test]
fn two_sources_have_their_own_directories() {
    let fixture = tempfile::tempdir().unwrap();
    let sources = ["jf01.HIP", "jf01.HOP"].map(|name| {
        let mut hip = Hip::default();
        hip.layer(0).add(Asset::new(b"MRKR", name, name.as_bytes()));
        let path = fixture.path().join(name);
        fs::write(&path, hip.build()).unwrap();
        path
    });
    let mount = mounted_files(&sources, "");
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

#[fuse_test]
fn an_asset_of_several_layers_is_one_inode() {
    let mut hip = Hip::default();
    let shared = Asset::new(b"MRKR", "SHARED", b"0123");
    hip.layer(0).add(shared.clone());
    hip.layer(1);
    hip.layers[1].1.push(shared.id);
    let mount = mounted(&hip.build(), "");
    let found = ["00-DEFAULT", "01-TEXTURE"].map(|layer| {
        let path = mount.path().join("layers").join(layer).join("SHARED.mrkr");
        let metadata = path.metadata().unwrap();
        (metadata.ino(), metadata.nlink())
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0].1, 2);
}

#[fuse_test]
fn twenty_thousand_assets_are_listed_quickly() {
    let mut hip = Hip::default();
    hip.layer(0);
    for number in 0..20_000 {
        hip.add(Asset::new(b"MRKR", &format!("MARKER_{number:05}"), b"0123"));
    }
    let archive = hip.build();
    let start = Instant::now();
    let mount = mounted(&archive, "");
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

#[fuse_test]
fn verify_fills_the_table_with_checksums() {
    let mut hip = Hip::default();
    let wrong = Asset {
        checksum: Some(1),
        ..Asset::new(b"MRKR", "WRONG", b"0123")
    };
    hip.layer(0)
        .add(Asset::new(b"MRKR", "RIGHT", b"0123"))
        .add(wrong);
    let verdicts = |options| -> Vec<String> {
        let mount = mounted(&hip.build(), options);
        let table = fs::read_to_string(mount.path().join("assets.tsv")).unwrap();
        let last = |line: &str| line.split('\t').next_back().unwrap().to_owned();
        table.lines().skip(1).map(last).collect()
    };
    assert_eq!(verdicts(""), ["", ""]);
    assert_eq!(verdicts("verify"), ["true", "false"]);
}

#[fuse_test]
fn an_asset_is_found_by_its_id_in_any_case() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"MRKR", "MARKER_01", b"0123").with_id(0xE348_8274));
    let mount = mounted(&hip.build(), "");
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

    #[fuse_test]
    fn an_archive_mounts_as_it_was_built((target, hip) in archives()) {
        let mount = mounted(&hip.build(), "");
        check_archive(target, &hip, &mount);
    }
}

#[fuse_test]
fn names_in_tables_match_the_names_of_files() {
    let mut hip = Hip::default();
    hip.layer(0);
    for name in ["A/B GROUP", "../../etc/passwd", "tab\there", "back\\slash"] {
        hip.add(Asset::new(b"GRUP", name, b"x"));
    }
    let mount = mounted(&hip.build(), "");
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

#[fuse_test]
fn with_force_the_file_is_the_remaining_part_of_an_asset() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TEXT", "last", &[7; 1000]));
    let bytes = hip.build();
    let end = bytes.windows(1000).position(|window| window == [7; 1000]);
    let cut = &bytes[..end.unwrap() + 8];
    let mount = mounted(cut, "force");
    let file = mount.file("layers/00-DEFAULT/last.text");
    assert_eq!(fs::read(&file).unwrap(), [7; 8]);
    let strict = mounted(cut, "");
    let file = strict.file("layers/00-DEFAULT/last.text");
    assert_eq!(file.metadata().unwrap().len(), 1000);
    assert_eq!(fs::read(&file).unwrap_err().raw_os_error(), Some(libc::EIO));
}

#[fuse_test]
fn an_archive_as_editors_write_it_has_no_warnings() {
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

#[fuse_test]
fn symbolic_links_take_no_blocks() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TEXT", "t", b"x").with_id(1));
    let mount = mounted(&hip.build(), "");
    let link = fs::symlink_metadata(mount.file("ids/00000001")).unwrap();
    assert!(link.is_symlink());
    assert_eq!((link.blocks(), link.size() > 0), (0, true));
}
