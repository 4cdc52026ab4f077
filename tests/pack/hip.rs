//! hpipack builds HIP archives from directories in the form of HipHopTool and of
//! mounts.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use fixtures::hip::{Asset, Hip, hipb};
use fixtures::noise;
use hpimount_containers::hip::{CHECKSUM, Game, Platform};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};
use testkit::extracted::{AssetFacts, assets, extract, layers, package};
use testkit::fuse_test;
use testkit::hip_random::{archives, members};
use testkit::hpipack::{hpipack, stderr};
use testkit::mounted::mounted;
use testkit::packed::packed;
use testkit::record::opened;
use testkit::trial;

/// Returns a directory with the extracted contents of an archive.
fn extracted(hip: &Hip) -> TempDir {
    let directory = tempdir().unwrap();
    extract(&opened(hip.build()), directory.path());
    directory
}

/// Returns an archive with an asset of each of two types in one layer.
fn two_assets() -> Hip {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TIMR", "TIMER_01", b"timer"))
        .add(Asset::new(b"MRKR", "MARKER_01", b"0123"));
    hip
}

/// The copy is made by `cp -rL types`.
#[fuse_test]
fn a_mounted_archive_is_packed_from_its_types_and_from_a_copy() {
    let mut hip = two_assets();
    hip.hipb = Some(hipb(0, &[(0, b"Mine")], 0));
    let mount = mounted(&hip.build(), "");
    let work_dir = tempdir().unwrap();
    let direct = work_dir.path().join("direct.HIP");
    // Its assets are symbolic links.
    let ran = hpipack(&[], &mount.path().join("types"), &direct);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let copy = work_dir.path().join("copy");
    let copied = Command::new("cp")
        .arg("-rL")
        .args([&mount.path().join("types"), &copy])
        .status();
    assert!(copied.unwrap().success());
    let from_copy = work_dir.path().join("copy.HIP");
    assert!(hpipack(&[], &copy, &from_copy).status.success());
    assert!(fs::read(&direct).unwrap() == fs::read(&from_copy).unwrap());

    let again = mounted(&fs::read(&direct).unwrap(), "verify");
    let list = |root: &Path| {
        let mut files = testkit::files::walk(&root.join("layers"));
        files.retain(|path| path.is_file());
        files.sort();
        let named = files.iter().map(|path| {
            let name = path.strip_prefix(root).unwrap().to_owned();
            (name, fs::read(path).unwrap())
        });
        named.collect::<Vec<_>>()
    };
    assert_eq!(list(again.path()), list(mount.path()));
    let table = fs::read_to_string(again.path().join("assets.tsv")).unwrap();
    assert_eq!(table.matches("\ttrue\n").count(), 2, "{table}");
}

#[test]
fn an_edited_asset_has_the_checksum_of_its_bytes() {
    let mut hip = two_assets();
    hip.assets[1].checksum = Some(0);
    let directory = extracted(&hip);
    let timer = directory.path().join("Timer/[21641EA7] TIMER_01");
    fs::write(&timer, "a longer timer").unwrap();
    let after = opened(packed(directory.path()).unwrap());
    let checksum = CHECKSUM.checksum(b"a longer timer");
    for asset in assets(&after) {
        let expected = match &*asset.id {
            "21641EA7" => (format!("{checksum:08X}"), &b"a longer timer"[..]),
            // Assets without a checksum still have none.
            _ => ("00000000".to_owned(), &b"0123"[..]),
        };
        assert_eq!((asset.checksum, &*asset.bytes), expected);
    }
}

#[test]
fn files_are_found_by_their_ids_in_any_folder_and_through_links() {
    let directory = extracted(&two_assets());
    let expected = packed(directory.path()).unwrap();
    let files = directory.path().join("files");
    fs::create_dir(&files).unwrap();
    let elsewhere = tempdir().unwrap();
    for (folder, file) in [
        ("Timer", "[21641EA7] TIMER_01"),
        ("Marker", "[C2A0CFB5] MARKER_01"),
    ] {
        let from = directory.path().join(folder);
        let found: Vec<_> = fs::read_dir(&from).unwrap().collect();
        let from = found[0].as_ref().unwrap().path();
        let id = &from.file_name().unwrap().to_str().unwrap()[..10];
        fs::copy(&from, elsewhere.path().join(file)).unwrap();
        symlink(
            elsewhere.path().join(file),
            files.join(format!("{id} other name")),
        )
        .unwrap();
        fs::remove_dir_all(from.parent().unwrap()).unwrap();
    }
    assert!(packed(directory.path()).unwrap() == expected);
}

#[test]
fn files_that_settings_does_not_list_are_skipped_and_named() {
    let directory = extracted(&two_assets());
    let expected = packed(directory.path()).unwrap();
    for stray in ["Timer/notes.txt", "Timer/[12345678] new", "readme.txt"] {
        fs::write(directory.path().join(stray), "x").unwrap();
    }
    fs::create_dir(directory.path().join("Timer/deep")).unwrap();
    fs::write(directory.path().join("Timer/deep/[21641EA7] x"), "x").unwrap();
    let work_dir = tempdir().unwrap();
    let out = work_dir.path().join("out.HIP");
    let ran = hpipack(&[], directory.path(), &out);
    assert!(ran.status.success());
    assert!(fs::read(&out).unwrap() == expected);
    let said = stderr(&ran);
    let why = ": skipped: Settings.ini does not list it\n";
    assert_eq!(said.matches(why).count(), 4, "{said}");
    assert!(said.contains("Timer/[12345678] new"), "{said}");
}

#[test]
fn unpackable_files_are_named() {
    let broken = |change: &dyn Fn(&Path)| {
        let directory = extracted(&two_assets());
        change(directory.path());
        let problem = packed(directory.path()).unwrap_err();
        problem.replace(&directory.path().display().to_string(), "DIR")
    };
    let timer = Path::new("Timer/[21641EA7] TIMER_01");
    assert_eq!(
        broken(&|dir| fs::remove_file(dir.join(timer)).unwrap()),
        "DIR/Timer: has no file [21641EA7], which Settings.ini lists; \
         to leave an asset out, delete its line"
    );
    assert!(
        broken(&|dir| {
            fs::remove_dir_all(dir.join("Timer")).unwrap();
            fs::remove_dir_all(dir.join("Marker")).unwrap();
        })
        .contains("(and 1 other files)")
    );
    assert_eq!(
        broken(&|dir| fs::write(dir.join("Marker/[21641EA7] twin"), "").unwrap()),
        "DIR/Timer/[21641EA7] TIMER_01: is asset 21641EA7, as DIR/Marker/[21641EA7] twin is"
    );
    assert_eq!(
        broken(&|dir| fs::remove_file(dir.join("Settings.ini")).unwrap()),
        "DIR/Settings.ini: is missing; it describes how to make a HIP archive of the directory"
    );
    assert_eq!(
        broken(&|dir| fs::write(dir.join("Settings.ini"), "Game=BFBB\nEndLayer\n").unwrap()),
        "DIR/Settings.ini: line 2: does not end a layer"
    );
    assert_eq!(
        broken(&|dir| symlink("..", dir.join("Timer/around")).unwrap()),
        "DIR/Timer/around: is a link to a directory that contains it"
    );
    assert!(
        broken(&|dir| {
            let large = fs::File::create(dir.join(timer)).unwrap();
            large.set_len(1 << 31).unwrap();
        })
        .contains("TIMER_01: its 2147483648 bytes are more than an archive can hold (2 GiB)")
    );
    assert_eq!(
        broken(&|dir| {
            let large = fs::File::create(dir.join(timer)).unwrap();
            large.set_len((1 << 31) - 100).unwrap();
        }),
        "the archive would be larger than 2 GiB, the most that the games can address"
    );
}

#[test]
fn errors_end_with_the_codes_of_the_manual_and_leave_nothing() {
    let directory = extracted(&two_assets());
    let work_dir = tempdir().unwrap();
    let out = work_dir.path().join("out.HIP");
    fs::write(&out, "precious").unwrap();
    let refused = hpipack(&[], directory.path(), &out);
    assert_eq!(refused.status.code(), Some(20), "{}", stderr(&refused));
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    fs::remove_file(directory.path().join("Timer/[21641EA7] TIMER_01")).unwrap();
    let refused = hpipack(&["--force"], directory.path(), &out);
    assert_eq!(refused.status.code(), Some(10), "{}", stderr(&refused));
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    fs::remove_file(&out).unwrap();

    let big = directory.path().join("Timer/[21641EA7] TIMER_01");
    fs::write(big, noise(0, 1 << 20)).unwrap();
    let limited = Command::new("sh")
        .args([
            "-c",
            "ulimit -f 64; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_hpipack"),
        ])
        .args([directory.path(), &out])
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(20), "{}", stderr(&limited));
    assert!(stderr(&limited).contains("cannot write the archive: File too large"));
    assert_eq!(fs::read_dir(work_dir.path()).unwrap().count(), 0);

    let wrong = hpipack(&["--key", "7"], directory.path(), &out);
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
}

#[test]
fn assets_are_not_held_in_memory() {
    let directory = extracted(&two_assets());
    let timer = directory.path().join("Timer/[21641EA7] TIMER_01");
    fs::File::create(timer).unwrap().set_len(256 << 20).unwrap();
    let work_dir = tempdir().unwrap();
    let out = work_dir.path().join("out.HIP");
    let limited = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 131072; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_hpipack"),
        ])
        .args([directory.path(), &out])
        .output()
        .unwrap();
    assert!(limited.status.success(), "{}", stderr(&limited));
    assert!(out.metadata().unwrap().len() > 256 << 20);
}

/// Returns a string as a line of `Settings.ini` keeps it.
fn kept(text: &[u8]) -> String {
    let mut text = text.to_vec();
    for byte in &mut text {
        if b";=\r\n".contains(byte) {
            *byte = b'_';
        }
    }
    hpimount_containers::text::windows_1252(&text).into_owned()
}

/// Returns the facts that an asset must have after packing.
fn repacked(asset: &Asset) -> AssetFacts {
    let right = CHECKSUM.checksum(&asset.bytes);
    AssetFacts {
        id: format!("{:08X}", asset.id),
        kind: match &asset.code {
            // Characters that cannot be in the name of a folder are lost.
            b"\x01/  " => "__".to_owned(),
            code => String::from_utf8_lossy(code).trim_end().to_owned(),
        },
        name: kept(&asset.name),
        source_file: kept(&asset.source_file),
        flags: asset.flags.to_string(),
        checksum: match asset.checksum {
            Some(0) => "00000000".to_owned(),
            _ => format!("{right:08X}"),
        },
        bytes: asset.bytes.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(trial::part(64, 256))
    })]

    #[test]
    fn any_archive_is_the_same_after_extraction_and_packing((target, hip) in archives()) {
        let before = opened(hip.build());
        let directory = tempdir().unwrap();
        extract(&before, directory.path());
        let bytes = packed(directory.path()).unwrap();
        let after = opened(bytes.clone());
        prop_assert_eq!(after.archive.warnings().iter().filter(|text| {
            !text.contains("is in no layer") && !text.contains("is in layers")
        }).count(), 0, "{:?}", after.archive.warnings());
        let info = package(&after);
        prop_assert_eq!(&info["game"], target.0.name());
        prop_assert_eq!(&info["platform"], target.1.name());
        let mut expected = package(&before);
        if target.0 == Game::Unknown {
            // Only Scooby's dates get their line end back.
            let date = expected.pointer_mut("/PACK/PCRT/createdDateString").unwrap();
            *date = date.as_str().unwrap().trim_end().into();
        }
        let names = expected.pointer_mut("/HIPB/layerNames");
        for name in names.and_then(|names| names.as_object_mut()?.values_mut().into()).into_iter().flatten() {
            *name = kept_text(name.as_str().unwrap()).into();
        }
        prop_assert_eq!(info, expected);
        let mut assets_expected: Vec<_> = hip.assets.iter().map(repacked).collect();
        assets_expected.sort();
        prop_assert_eq!(assets(&after), assets_expected);
        let ids = |members: Vec<usize>| -> BTreeSet<String> {
            members.iter().map(|&member| format!("{:08X}", hip.assets[member].id)).collect()
        };
        let kinds = hip.layers.iter().map(|(kind, _)| u64::from(*kind));
        let expected: Vec<_> = kinds.zip(members(&hip).into_iter().map(ids)).collect();
        prop_assert_eq!(layers(&after), expected);

        // Extracted and packed again, it is the same byte for byte.
        let again = tempdir().unwrap();
        extract(&after, again.path());
        prop_assert!(packed(again.path()).unwrap() == bytes);
    }
}

/// Like [`kept`], for decoded text.
fn kept_text(text: &str) -> String {
    text.replace([';', '=', '\r', '\n'], "_")
}

#[test]
fn sounds_of_playstation_2_begin_their_streams_at_a_sector() {
    let mut hip = Hip::target(Game::Incredibles, Platform::PlayStation2);
    hip.layer(7)
        .add(Asset::new(b"SNDS", "stream", &[1; 100]))
        .add(Asset::new(b"SND ", "sound", &[2; 100]))
        .add(Asset::new(b"SND ", "another", &[3; 17]));
    let after = opened(packed(extracted(&hip).path()).unwrap());
    let offset = |name: &str| {
        let assets = assets(&after);
        let id = &assets.iter().find(|asset| asset.name == name).unwrap().id;
        let node = after.tree.find(&format!("ids/{id}"));
        let file = after.tree.entry(node).file;
        let text = after
            .archive
            .xattr(file, "user.hip.offset")
            .unwrap()
            .unwrap();
        text.parse::<u64>().unwrap()
    };
    let (sound, another) = (offset("sound"), offset("another"));
    assert_eq!((sound % 2048, another), (0, sound + 112));
    assert_eq!(offset("stream"), sound + 2048);
}
