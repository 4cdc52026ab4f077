//! `hpipack --replace` changes single files of an archive and copies the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixtures::hip::{Asset, Hip, hipb};
use fixtures::{noise, text};
use hpimount::mount;
use hpimount_containers::hip::{CHECKSUM, Game, Platform};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::{TempDir, tempdir};
use testkit::extracted::{assets, layers, package};
use testkit::hip_random::archives;
use testkit::hpipack::stderr;
use testkit::packed::{hpipack_replace, replaced};
use testkit::record::{Opened, opened};
use testkit::trial;
use testkit::walked::{files, open as walk_open, sha256_of};

/// Returns a directory with files of Total Annihilation, and their contents.
fn directory() -> (TempDir, BTreeMap<&'static str, Vec<u8>>) {
    let files = BTreeMap::from([
        ("maps/big.tnt", noise(1, 200_000)),
        ("maps/small.ota", text(500)),
        ("units/armpw.fbi", text(70_000)),
        ("units/empty.fbi", Vec::new()),
        ("zebra.txt", text(65_536)),
    ]);
    let root = tempdir().unwrap();
    for (path, bytes) in &files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    (root, files)
}

/// The ways to pack HPI archives, as options.
const WAYS: [&[&str]; 7] = [
    &["--format", "ta", "--method", "stored"],
    &["--format", "ta", "--method", "lz77", "--key", "0x7D"],
    &["--format", "ta", "--method", "zlib"],
    &["--format", "ta", "--method", "stored", "--key", "9"],
    &["--format", "ta", "--method", "zlib", "--key", "254"],
    &["--format", "kingdoms", "--method", "zlib"],
    &["--format", "kingdoms", "--method", "stored"],
];

fn packed(options: &[&str], directory: &Path, out: &Path) {
    let ran = Command::new(env!("CARGO_BIN_EXE_hpipack"))
        .args(options)
        .args([directory, out])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{options:?}: {}", stderr(&ran));
}

/// Returns the sizes and digests of the files of an archive.
fn contents(archive: &Path) -> BTreeMap<String, (u64, String)> {
    let vfs = walk_open(archive.to_owned(), mount::Options::default()).unwrap();
    let files = files(&vfs).into_iter();
    files
        .map(|(path, file)| (path, (file.size, file.sha256.unwrap())))
        .collect()
}

#[test]
fn a_file_that_is_replaced_by_itself_changes_no_byte() {
    let (root, files) = directory();
    let work_dir = tempdir().unwrap();
    let archive = work_dir.path().join("archive");
    for way in WAYS {
        let _ = fs::remove_file(&archive);
        packed(way, root.path(), &archive);
        for path in files.keys() {
            let out = work_dir.path().join("out");
            let file = root.path().join(path);
            let ran = hpipack_replace(&["--force"], &[(path, &file)], &archive, &out);
            assert!(ran.status.success(), "{way:?} {path}: {}", stderr(&ran));
            assert!(
                fs::read(&out).unwrap() == fs::read(&archive).unwrap(),
                "{way:?} {path}"
            );
        }
    }
}

#[test]
fn files_of_any_length_can_replace_others() {
    let (root, before) = directory();
    let work_dir = tempdir().unwrap();
    let archive = work_dir.path().join("archive");
    for way in WAYS {
        let _ = fs::remove_file(&archive);
        packed(way, root.path(), &archive);
        for (first, second) in [(0, 300_000), (1, 0), (66_000, 7)] {
            let mut expected = before.clone();
            expected.insert("units/armpw.fbi", noise(7, first));
            expected.insert("maps/big.tnt", text(second));
            expected.insert("units/empty.fbi", text(first / 2));
            let changed = ["units/armpw.fbi", "maps/big.tnt", "units/empty.fbi"];
            let changes = changed.map(|path| {
                let file = work_dir.path().join(path.replace('/', " "));
                fs::write(&file, &expected[path]).unwrap();
                (path, file)
            });
            let changes = changes.each_ref().map(|(path, file)| (*path, &**file));
            let out = work_dir.path().join("out");
            let ran = hpipack_replace(&["--force"], &changes, &archive, &out);
            assert!(ran.status.success(), "{way:?}: {}", stderr(&ran));
            let expected: BTreeMap<_, _> = expected
                .iter()
                .map(|(path, bytes)| {
                    let digest = sha256_of(bytes);
                    ((*path).to_owned(), (bytes.len() as u64, digest))
                })
                .collect();
            assert_eq!(contents(&out), expected, "{way:?} {first} {second}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(trial::part(64, 256))
    })]

    #[test]
    fn any_assets_of_any_archive_can_be_replaced(
        (target, hip) in archives(),
        picks in vec((any::<Index>(), 1..5000_usize), 1..4),
    ) {
        // Noise is refused as a text, and as sounds of GameCube.
        let checked = [*b"TEXT", *b"SND ", *b"SNDS"];
        let of_any_form = hip.assets.iter().filter(|asset| !checked.contains(&asset.code));
        let ids: Vec<u32> = of_any_form.map(|asset| asset.id).collect();
        prop_assume!(!ids.is_empty());
        let bytes = hip.build();
        let before = opened(&bytes);
        let changes: BTreeMap<String, Vec<u8>> = picks.iter().map(|(pick, length)| {
            let id = format!("{:08X}", pick.get(&ids));
            (id, noise(*length as u64, *length))
        }).collect();
        let list: Vec<_> = changes.clone().into_iter().collect();
        let new = replaced(&bytes, &list).unwrap();
        let after = opened(&new);
        prop_assert_eq!(after.archive.warnings(), before.archive.warnings());
        prop_assert_eq!(package(&after), package(&before));
        prop_assert_eq!(layers(&after), layers(&before));
        let mut expected = assets(&before);
        for asset in &mut expected {
            let Some(bytes) = changes.get(&asset.id) else { continue };
            asset.bytes = bytes.clone();
            if asset.checksum != "00000000" {
                asset.checksum = format!("{:08X}", CHECKSUM.checksum(bytes));
            }
        }
        prop_assert_eq!(assets(&after), expected);
        // Assets are moved by multiples of the alignment.
        let alignment = if target.1 == Platform::GameCube { 32 } else { 2048 };
        let offsets = |opened: &Opened| -> BTreeMap<String, u64> {
            assets(opened).into_iter().map(|asset| {
                let node = opened.tree.find(&format!("ids/{}", asset.id));
                let file = opened.tree.entry(node).file;
                let offset = opened.archive.xattr(file, "user.hip.offset").unwrap().unwrap();
                (asset.id, offset.parse().unwrap())
            }).collect()
        };
        for ((id, old), (_, new)) in offsets(&before).into_iter().zip(offsets(&after)) {
            prop_assert_eq!(old % alignment, new % alignment, "{}", id);
        }
        // Replaced again with the old bytes, the assets are as before.
        let back: Vec<_> = assets(&before).into_iter()
            .filter(|asset| changes.contains_key(&asset.id))
            .map(|asset| (asset.id, asset.bytes))
            .collect();
        let again = opened(replaced(&new, &back).unwrap());
        let bytes_of = |opened| {
            let assets = assets(opened).into_iter();
            assets.map(|asset| asset.bytes).collect::<Vec<_>>()
        };
        prop_assert_eq!(bytes_of(&again), bytes_of(&before));
    }
}

/// Returns an archive with two textures with the same name, and a text.
fn three_assets() -> Hip {
    let mut hip = Hip::target(Game::Bfbb, Platform::Xbox);
    hip.layer(1)
        .add(Asset::new(b"RWTX", "same", &[1; 100]).with_id(7))
        .add(Asset::new(b"RWTX", "SAME", &[2; 50]).with_id(8));
    hip.layer(0).add(Asset::new(b"TEXT", "greeting", b"hello"));
    hip.hipb = Some(hipb(0, &[(0, b"Mine")], 0));
    hip
}

#[test]
fn an_asset_is_found_by_its_path_its_name_or_its_id() {
    let bytes = three_assets().build();
    for name in [
        "layers/01-DEFAULT/greeting.text",
        "greeting.text",
        "GREETING.TEXT",
        "ids/8F9D6501",
        "8F9D6501",
        "0x8f9d6501",
        "types/Text/[8F9D6501] greeting",
    ] {
        let after = replaced(&bytes, &[(name.to_owned(), b"\x03\0\0\0bye\0".to_vec())]).unwrap();
        let after = opened(&after);
        let entry = after.tree.entry(after.tree.find("ids/8F9D6501"));
        assert_eq!(after.read(entry).unwrap(), b"\x03\0\0\0bye\0", "{name}");
    }
    // After 0x, an id needs no leading zeros.
    assert!(replaced(&bytes, &[("0x7".to_owned(), Vec::new())]).is_ok());
}

#[test]
fn maxima_in_the_archive_are_updated() {
    let mut bytes = three_assets().build();
    let counts = bytes.windows(4).position(|name| name == b"PCNT").unwrap() + 8;
    bytes[counts + 8..counts + 20].copy_from_slice(&[0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 5]);
    let after = replaced(&bytes, &[("00000008".to_owned(), vec![9; 300])]).unwrap();
    let info = opened(&after).archive.info();
    let counts = &info["PACK"]["PCNT"];
    assert_eq!(counts["maxAssetSize"], 300);
    // Fields that tools leave 0 stay 0.
    assert_eq!(counts["maxLayerSize"], 0);
    assert_eq!(counts["maxXformAssetSize"], 0);
}

#[test]
fn irreplaceable_files_are_named() {
    let work_dir = tempdir().unwrap();
    let archive = work_dir.path().join("bb01.HIP");
    fs::write(&archive, three_assets().build()).unwrap();
    let file = work_dir.path().join("new");
    fs::write(&file, "new").unwrap();
    let out = work_dir.path().join("out.HIP");
    let none = work_dir.path().join("none");
    let problem = |changes: &[(&str, &Path)]| {
        let ran = hpipack_replace(&[], changes, &archive, &out);
        assert_eq!(ran.status.code(), Some(10), "{}", stderr(&ran));
        assert!(!out.exists());
        stderr(&ran).replace(&work_dir.path().display().to_string(), "DIR")
    };
    assert_eq!(
        problem(&[("nothing", &file)]),
        "hpipack: DIR/bb01.HIP: nothing: the archive has no such file\n"
    );
    assert_eq!(
        problem(&[("layers/00-TEXTURE/Same.txd", &file)]),
        "hpipack: DIR/bb01.HIP: layers/00-TEXTURE/Same.txd: the archive has no such file\n"
    );
    assert_eq!(
        problem(&[("info.json", &file)]),
        "hpipack: DIR/bb01.HIP: info.json: is generated by hpimount and not in the archive\n"
    );
    assert_eq!(
        problem(&[("greeting.text", &file), ("ids/8F9D6501", &file)]),
        "hpipack: DIR/bb01.HIP: ids/8F9D6501: is the same file as greeting.text\n"
    );
    assert!(problem(&[("greeting.text", &none)]).starts_with("hpipack: DIR/none: No such file"));
    assert!(problem(&[("greeting.text", work_dir.path())]).ends_with("is not a file\n"));

    let other = work_dir.path().join("plain.txt");
    fs::write(&other, "no archive").unwrap();
    let ran = hpipack_replace(&[], &[("x", &file)], &other, &out);
    assert_eq!(ran.status.code(), Some(10), "{}", stderr(&ran));
    let ran = hpipack_replace(&["--method=zlib"], &[("x", &file)], &archive, &out);
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
}

#[test]
fn a_name_of_several_assets_lists_them() {
    let mut hip = three_assets();
    hip.assets
        .push(Asset::new(b"TEXT", "twin", b"twin").with_id(8));
    let problem =
        |name: &str| replaced(&hip.build(), &[(name.to_owned(), Vec::new())]).unwrap_err();
    let found = problem("00000008");
    assert!(
        found.contains(
            "00000008: is the name of several files: layers/00-TEXTURE Mine/SAME [00000008].txd, \
             layers/unlayered/"
        ),
        "{found}"
    );
    let (root, _) = directory();
    fs::write(root.path().join("maps/armpw.fbi"), "x").unwrap();
    let work_dir = tempdir().unwrap();
    let archive = work_dir.path().join("mod.ufo");
    packed(&[], root.path(), &archive);
    let bytes = fs::read(&archive).unwrap();
    let found = replaced(&bytes, &[("ARMPW.FBI".to_owned(), Vec::new())]).unwrap_err();
    assert!(
        found.ends_with("is the name of several files: maps/armpw.fbi, units/armpw.fbi"),
        "{found}"
    );
}

#[test]
fn an_archive_can_be_changed_in_place() {
    let (root, _) = directory();
    let work_dir = tempdir().unwrap();
    let archive = work_dir.path().join("mod.ufo");
    packed(&["--key", "3"], root.path(), &archive);
    let old = fs::read(&archive).unwrap();
    let file = work_dir.path().join("new");
    fs::write(&file, "new").unwrap();
    let changes: [(&str, &Path); 1] = [("zebra.txt", &file)];
    let ran = hpipack_replace(&[], &changes, &archive, &archive);
    assert_eq!(ran.status.code(), Some(20), "{}", stderr(&ran));
    assert!(fs::read(&archive).unwrap() == old);
    let ran = hpipack_replace(&["--force"], &changes, &archive, &archive);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert_eq!(contents(&archive)["zebra.txt"].0, 3);
    let left: Vec<PathBuf> = fs::read_dir(work_dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn nothing_is_left_if_space_runs_out_and_little_memory_is_needed() {
    let mut hip = three_assets();
    hip.assets[2].bytes = noise(5, 1 << 20);
    let work_dir = tempdir().unwrap();
    let archive = work_dir.path().join("bb01.HIP");
    fs::write(&archive, hip.build()).unwrap();
    let file = work_dir.path().join("new");
    fs::File::create(&file).unwrap().set_len(256 << 20).unwrap();
    let out = tempdir().unwrap();
    let limited = |limit: &str| {
        let script = format!("ulimit {limit}; exec \"$@\"");
        Command::new("sh")
            .args([
                "-c",
                &script,
                "sh",
                env!("CARGO_BIN_EXE_hpipack"),
                "--replace",
            ])
            .arg(format!("00000007={}", file.display()))
            .args([&archive, &out.path().join("out.HIP")])
            .output()
            .unwrap()
    };
    let ran = limited("-f 64");
    assert_eq!(ran.status.code(), Some(20), "{}", stderr(&ran));
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
    let ran = limited("-v 131072");
    assert!(ran.status.success(), "{}", stderr(&ran));
    let bytes = out.path().join("out.HIP").metadata().unwrap().len();
    assert!(bytes > 256 << 20);
}
