//! Converted trees.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use testkit::fuse_test;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Entry, File, V1, dir, file as entry};
use fixtures::ta::{gaf, pcx, tdo};
use hpimount_containers::hpi::chunk::Method;
use testkit::files::walk;
use testkit::merging::{Folder, attribute, tree};
use testkit::mount::{Mount, hpi, run};
use testkit::mounted::{mounted, stats};
use testkit::pictures::pixels;
use testkit::sources::{file, folder, hip, ifp, names, pack};

/// Returns a picture of one pixel row.
fn picture(width: u16) -> Vec<u8> {
    pcx::Pcx::indexed(width, 1, (0..width).map(|shade| shade as u8).collect()).file()
}

/// Returns a model of one triangle.
fn model() -> Vec<u8> {
    let mut object = tdo::object("base");
    let far = 40 << 16;
    object.vertices = vec![[0, 0, 0], [far, 0, 0], [0, 0, far]];
    object.primitives.push(tdo::Primitive {
        color: 5,
        ..tdo::primitive(&[0, 1, 2])
    });
    tdo::file(&object)
}

/// Returns a sprite of two frames.
fn sprite() -> Vec<u8> {
    let frame = |width: u16| gaf::Frame::rle(width, 1, &vec![Some(3); width.into()]);
    gaf::file(&[gaf::sequence("walk", vec![(frame(4), 1), (frame(6), 1)])])
}

fn stored(name: &str, bytes: &[u8]) -> Entry {
    entry(name.as_bytes(), File::new(bytes, Method::Stored))
}

/// Returns an archive of Total Annihilation with assets of several kinds.
fn game() -> Vec<u8> {
    let entries = vec![
        dir(b"anims", vec![stored("ARMCOM_gadget.gaf", &sprite())]),
        dir(b"objects3d", vec![stored("ARMCOM.3do", &model())]),
        dir(b"unitpics", vec![stored("ARMCOM.PCX", &picture(3))]),
        dir(
            b"units",
            vec![stored("ARMCOM.fbi", b"[UNITINFO]\n{\nName=x;\n}\n")],
        ),
        dir(
            b"deep",
            vec![dir(b"er", vec![stored("a.pcx", &picture(2))])],
        ),
        stored("readme.txt", b"text"),
    ];
    V1::new(entries).build().bytes
}

/// Returns a HIP archive.
fn level() -> Hip {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TEXT", "title", b"\0\0\0\x02hi\0\0"))
        .add(Asset::new(b"MRKR", "spot", &[0; 12]))
        .add(Asset::new(b"PLAT", "lift/up", &[0; 8]))
        .add(Asset::new(b"RWTX", "wall.RW3", b""))
        .add(Asset::new(b"JSP ", "wall", b""));
    hip
}

fn all_names(root: &Path) -> Vec<String> {
    let mut names: Vec<_> = walk(root)
        .iter()
        .map(|path| path.strip_prefix(root).unwrap().display().to_string())
        .collect();
    names.sort_unstable();
    names
}

fn missing(path: &Path) -> bool {
    matches!(fs::metadata(path), Err(error) if error.kind() == ErrorKind::NotFound)
}

const CONVERTED_GAME: &[&str] = &[
    "anims",
    "anims/ARMCOM_gadget.png",
    "anims/parts",
    "anims/parts/ARMCOM_gadget.gaf",
    "anims/parts/ARMCOM_gadget.gaf/000 walk",
    "anims/parts/ARMCOM_gadget.gaf/000 walk.apng",
    "anims/parts/ARMCOM_gadget.gaf/000 walk/00.png",
    "anims/parts/ARMCOM_gadget.gaf/000 walk/01.png",
    "anims/parts/ARMCOM_gadget.gaf/frames.tsv",
    "anims/parts/ARMCOM_gadget.gaf/info.json",
    "anims/parts/ARMCOM_gadget.gaf/info.txt",
    "anims/parts/ARMCOM_gadget.gaf/preview.png",
    "deep",
    "deep/er",
    "deep/er/a.png",
    "objects3d",
    "objects3d/ARMCOM.glb",
    "objects3d/ARMCOM.png",
    "objects3d/parts",
    "objects3d/parts/ARMCOM.3do",
    "objects3d/parts/ARMCOM.3do/info.json",
    "objects3d/parts/ARMCOM.3do/info.txt",
    "objects3d/parts/ARMCOM.3do/model.glb",
    "objects3d/parts/ARMCOM.3do/model.mtl",
    "objects3d/parts/ARMCOM.3do/model.obj",
    "objects3d/parts/ARMCOM.3do/pieces.tsv",
    "objects3d/parts/ARMCOM.3do/preview.png",
    "unitpics",
    "unitpics/ARMCOM.png",
];

/// Returns the names except for the names of reports.
fn without_reports(names: Vec<String>) -> Vec<String> {
    let mut names = names;
    names.retain(|name| !name.starts_with("tables") && name != "checks.txt");
    names
}

#[fuse_test]
fn the_tree_mirrors_the_directories_and_has_nothing_else() {
    let mount = mounted(&game(), "");
    let found = without_reports(all_names(&mount.file("converted")));
    assert_eq!(found, CONVERTED_GAME);
}

#[fuse_test]
fn it_is_the_root_on_request() {
    let mount = file("totala1.hpi", &game()).mount(&["--converted"]);
    assert_eq!(without_reports(all_names(mount.path())), CONVERTED_GAME);
    assert!(missing(&mount.file("units")));
    assert!(missing(&mount.file("converted")));
    assert!(mount.file(".hpimount/info.json").is_file());
    let below = fs::canonicalize(mount.file("deep/er/../../unitpics/..")).unwrap();
    assert_eq!(below, mount.path());
}

#[fuse_test]
fn the_parts_match_the_companion_and_include_the_files() {
    let mount = mounted(&game(), "");
    for (folder, stem, extension) in [
        ("anims", "ARMCOM_gadget", "gaf"),
        ("objects3d", "ARMCOM", "3do"),
    ] {
        let whole = format!("{folder}/{stem}");
        let meta = tree(&mount.file(&format!("{whole}.{extension}.meta")));
        let parts = format!("converted/{folder}/parts/{stem}.{extension}");
        assert_eq!(tree(&mount.file(&parts)), meta);
        for (extension, part) in [("png", "preview.png"), ("glb", "model.glb")] {
            let Some(part) = meta.get(part) else { continue };
            let file = mount.file(&format!("converted/{whole}.{extension}"));
            assert_eq!(&fs::read(file).ok(), part);
        }
    }
    let picture = mount.file("unitpics/ARMCOM.PCX.meta/picture.png");
    let converted = mount.file("converted/unitpics/ARMCOM.png");
    assert_eq!(fs::read(converted).unwrap(), fs::read(picture).unwrap());
}

#[fuse_test]
fn files_with_equal_names_have_the_full_names_of_their_assets() {
    let entries = vec![
        stored("a.3do", &model()),
        stored("A.pcx", &picture(1)),
        stored("b.pcx", &picture(1)),
        stored("c.pcx", &picture(1)),
        dir(b"C.PNG", vec![stored("in.pcx", &picture(1))]),
    ];
    let mount = file("a.hpi", &V1::new(entries).build().bytes).mount(&["--converted"]);
    let mut expected = [
        "parts",
        "a.3do.png",
        "a.glb",
        "A.pcx.png",
        "b.png",
        "c.pcx.png",
        "C.PNG",
    ];
    expected.sort_unstable();
    let mut found = names(mount.path());
    found.retain(|name| name != "tables");
    assert_eq!(found, expected);
}

#[fuse_test]
fn a_directory_of_the_archive_called_parts_keeps_its_files() {
    let entries = vec![
        stored("a.3do", &model()),
        dir(b"Parts", vec![stored("b.pcx", &picture(1))]),
    ];
    let mount = file("a.hpi", &V1::new(entries).build().bytes).mount(&["--converted"]);
    assert!(mount.file("Parts/b.png").is_file());
    let others = names(mount.path());
    let others = others
        .iter()
        .filter(|name| mount.file(name).join("a.3do").is_dir());
    assert_eq!(others.count(), 1, "{:?}", names(mount.path()));
}

/// Returns a mount of a HIP archive.
fn of_level(options: &[&str]) -> Mount {
    file("jf01.HIP", &level().build()).mount(options)
}

#[fuse_test]
fn assets_of_hip_archives_are_in_a_directory_for_each_kind() {
    let mount = of_level(&[]);
    let converted = mount.file("converted");
    let mut kinds = names(&converted);
    kinds.retain(|name| converted.join(name).is_dir() && name != "tables");
    assert_eq!(kinds, ["models", "objects", "texts", "textures"]);
    assert_eq!(names(&converted.join("texts")), ["title.txt"]);
    assert_eq!(fs::read(converted.join("texts/title.txt")).unwrap(), b"hi");
    assert_eq!(names(&converted.join("objects")), ["PLAT"]);
    assert_eq!(names(&converted.join("objects/PLAT")), ["lift%2Fup.json"]);
    assert_eq!(names(&converted.join("textures")), ["wall.png"]);
    let models = names(&converted.join("models"));
    assert_eq!(models, ["parts", "wall.glb", "wall.png"]);
}

#[fuse_test]
fn assets_with_the_same_name_and_kind_get_their_ids_appended() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TEXT", "Same", b"\0\0\0\x01a").with_id(0x11))
        .add(Asset::new(b"CRDT", "same", b"").with_id(0x22))
        .add(Asset::new(b"TEXT", "", b"\0\0\0\x01b").with_id(0x33));
    let mount = file("a.hip", &hip.build()).mount(&[]);
    let texts = names(&mount.file("converted/texts"));
    let expected = [
        "Same [00000011].txt",
        "[00000033].txt",
        "parts",
        "same [00000022].txt",
    ];
    assert_eq!(texts, expected);
}

#[fuse_test]
fn sounds_have_a_native_file_if_the_platform_has_one() {
    use hpimount_containers::hip::{Game, Platform};
    for (platform, native) in [
        (Platform::GameCube, Some("beep.dsp")),
        (Platform::PlayStation2, Some("beep.vag")),
        (Platform::Xbox, None),
    ] {
        let mut hip = Hip::target(Game::Bfbb, platform);
        hip.layer(0).add(Asset::new(b"SND ", "beep", b"0123"));
        let mount = file("a.hip", &hip.build()).mount(&[]);
        let sounds = mount.file("converted/sounds");
        let mut expected = vec!["beep.wav"];
        expected.extend(native.map(|_| "native"));
        assert_eq!(names(&sounds), expected);
        if let Some(native) = native {
            assert_eq!(names(&sounds.join("native")), [native]);
        }
    }
}

#[fuse_test]
fn it_is_listed_in_the_root_of_a_mounted_hip_and_elsewhere_with_meta_visible() {
    let lists = |path: &Path| names(path).iter().any(|name| name == "converted");
    let (hip, hpi) = (level().build(), game());
    let in_folder = |options: &[&str]| {
        folder(|source| {
            fs::write(source.join("a.hip"), &hip).unwrap();
            fs::write(source.join("b.hpi"), &hpi).unwrap();
        })
        .mount(options)
    };
    for (option, of_hip, of_others) in [
        ("ro", true, false),
        ("meta=visible", true, true),
        ("meta=hidden", false, false),
        ("meta=off", false, false),
    ] {
        let is_found = option != "meta=off";
        let mount = of_level(&["-o", option]);
        assert_eq!(lists(mount.path()), of_hip, "{option}");
        assert_eq!(mount.file("converted").exists(), is_found, "{option}");
        let mount = file("b.hpi", &hpi).mount(&["-o", option]);
        assert_eq!(lists(mount.path()), of_others, "{option}");
        assert_eq!(mount.file("converted").exists(), is_found, "{option}");
        let mount = in_folder(&["-o", option]);
        for root in ["", "a.hip.d", "b.hpi.d"] {
            let root = mount.file(root);
            assert_eq!(lists(&root), of_others, "{option} {}", root.display());
            assert_eq!(root.join("converted").exists(), is_found, "{option}");
        }
        assert!(missing(&mount.file("b.hpi.d/unitpics/converted")));
    }
    let mount = in_folder(&["--no-meta"]);
    assert!(missing(&mount.file("converted")));
    assert!(missing(&mount.file("a.hip.d")));
}

#[fuse_test]
fn sources_side_by_side_each_have_a_converted_tree() {
    let game = Folder::new();
    game.write("a.hip", level().build());
    game.write("b.hpi", self::game());
    let mount = game.mount(&["{}/a.hip", "{}/b.hpi"]);
    assert_eq!(names(mount.path()), ["a.hip", "b.hpi"]);
    assert!(names(&mount.file("a.hip")).contains(&"converted".to_owned()));
    assert!(!names(&mount.file("b.hpi")).contains(&"converted".to_owned()));
    assert!(mount.file("b.hpi/converted/unitpics/ARMCOM.png").is_file());
    let whole = mount.file("converted");
    assert_eq!(names(&whole), ["a.hip", "b.hpi"]);
    assert!(whole.join("a.hip/texts/title.txt").is_file());
    assert!(whole.join("b.hpi/deep/er/a.png").is_file());
}

#[fuse_test]
fn it_is_found_in_any_case_unless_the_mount_is_case_sensitive() {
    let mount = mounted(&game(), "");
    let (inside, same) = (mount.file("Converted/UNITPICS"), mount.file("converted"));
    assert_eq!(names(&inside), ["ARMCOM.png"]);
    assert_eq!(names(&same.join("unitpics")), ["ARMCOM.png"]);
    assert!(inside.join("armcom.PNG").is_file());
    let mount = mounted(&game(), "case_sensitive");
    assert!(missing(&mount.file("Converted")));
    assert!(missing(&mount.file("converted/UNITPICS")));
    assert!(mount.file("converted/unitpics").is_dir());
}

#[fuse_test]
fn a_real_entry_of_the_name_wins_and_the_control_directory_has_the_tree() {
    let entries = vec![
        dir(b"Converted", vec![stored("real.txt", b"real")]),
        stored("a.pcx", &picture(1)),
    ];
    let archive = V1::new(entries).build().bytes;
    for options in ["", "meta=visible"] {
        let mount = mounted(&archive, options);
        assert!(mount.file("converted/real.txt").is_file());
        let control = mount.file(".hpimount/converted");
        assert!(control.join("a.png").is_file());
        assert_eq!(
            fs::canonicalize(control.join("..")).unwrap(),
            mount.file(".hpimount")
        );
        assert!(!names(&mount.file(".hpimount")).contains(&"converted".to_owned()));
    }
}

#[fuse_test]
fn archives_in_archives_are_mirrored_by_their_converted_trees() {
    let inner = game();
    let outer = V1::new(vec![dir(b"mods", vec![stored("in.hpi", &inner)])]);
    let fixture = folder(|source| {
        fs::create_dir(source.join("sub")).unwrap();
        fs::write(source.join("sub/out.hpi"), outer.build().bytes).unwrap();
        fs::write(source.join("sub/x.pcx"), picture(1)).unwrap();
        fs::write(source.join("sub/lost.hip"), b"HIPA").unwrap();
    });
    let mount = fixture.mount(&["--converted"]);
    assert_eq!(
        names(&mount.file("sub")),
        ["lost.hip.d", "out.hpi.d", "x.png"]
    );
    assert!(names(&mount.file("sub/lost.hip.d")).is_empty());
    let below = mount.file("sub/out.hpi.d/mods/in.hpi.d");
    assert_eq!(without_reports(all_names(&below)), CONVERTED_GAME);
    let up = fs::canonicalize(below.join("deep/../..")).unwrap();
    assert_eq!(up, mount.file("sub/out.hpi.d/mods"));
}

#[fuse_test]
fn names_that_no_file_can_have_are_replaced_as_in_other_trees() {
    let long = format!("{}.pcx", "n".repeat(251));
    let directory = format!("{}.gaf", "g".repeat(251));
    let mut hip = Hip::default();
    let name = "t".repeat(252);
    hip.layer(0)
        .add(Asset::new(b"TEXT", &name, b"\0\0\0\x01a"))
        .add(Asset::new(b"TEXT", "..", b"\0\0\0\x01b"));
    let fixture = folder(|source| {
        fs::write(source.join(&long), picture(1)).unwrap();
        fs::write(source.join(&directory), sprite()).unwrap();
        fs::write(source.join("a.hip"), hip.build()).unwrap();
    });
    let mount = fixture.mount(&["--converted"]);
    for path in walk(mount.path()) {
        let name = path.file_name().unwrap();
        assert!(name.len() <= 255 && path.exists(), "{}", path.display());
    }
    assert!(mount.file(&format!("{}.png", "n".repeat(251))).is_file());
    let texts = names(&mount.file("a.hip.d/texts"));
    assert_eq!(texts[0], "...txt");
    assert!(texts[1].starts_with("ttt") && texts[1].ends_with(".txt"));
}

#[fuse_test]
fn an_asset_that_cannot_be_read_is_an_empty_file_and_affects_nothing_else() {
    let entries = vec![
        stored("bad.pcx", b"no picture"),
        stored("bad.gaf", b"no sprite"),
        stored("good.pcx", &picture(1)),
    ];
    let mount = file("a.hpi", &V1::new(entries).build().bytes).mount(&["--converted"]);
    assert_eq!(fs::read(mount.file("bad.pcx.png")).unwrap(), b"");
    assert_eq!(fs::read(mount.file("bad.gaf.png")).unwrap(), b"");
    assert!(mount.file("parts/bad.gaf/error.txt").is_file());
    assert!(
        fs::read(mount.file("good.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
}

#[fuse_test]
fn listing_parses_nothing_and_sizes_are_right_on_request() {
    let mount = mounted(&game(), "");
    let root = mount.file("converted");
    let listed = |directory: &str| names(&root.join(directory)).len();
    assert!(listed("") > 0);
    assert_eq!(
        (listed("objects3d"), listed("anims"), listed("unitpics")),
        (3, 2, 1)
    );
    assert_eq!(stats(&mount)["assets_parsed"], 0);
    for path in walk(&root) {
        let (metadata, bytes) = (path.metadata().unwrap(), fs::read(&path));
        if metadata.is_file() {
            assert_eq!(
                metadata.len(),
                bytes.unwrap().len() as u64,
                "{}",
                path.display()
            );
        }
    }
}

#[fuse_test]
fn files_name_their_source() {
    let mount = mounted(&game(), "");
    let source = |path: &str| attribute(&mount.file(path), "source");
    let expected = Some("ARMCOM.PCX".to_owned());
    assert_eq!(source("converted/unitpics/ARMCOM.png"), expected);
    let expected = Some("ARMCOM.3do".to_owned());
    assert_eq!(source("converted/objects3d/ARMCOM.glb"), expected);
    assert_eq!(
        source("converted/objects3d/parts/ARMCOM.3do/model.obj"),
        expected
    );
}

#[fuse_test]
fn copies_and_searches_of_an_archive_see_only_the_archive() {
    let mount = mounted(&game(), "");
    let before = tree(mount.path());
    assert!(mount.file("converted/unitpics/ARMCOM.png").is_file());
    let archive = mount.fixture.dir().join("again.hpi");
    pack(mount.path(), &archive);
    let again = file("again.hpi", &fs::read(&archive).unwrap()).mount(&[]);
    assert_eq!(tree(again.path()), before);
    assert!(before.keys().all(|path| !path.contains("converted")));
}

#[fuse_test]
fn inode_numbers_stay_the_same_when_directories_are_evicted_and_rebuilt() {
    let archive = game();
    let fixture = folder(|source| {
        for number in 0..40 {
            fs::write(source.join(format!("{number}.hpi")), &archive).unwrap();
        }
    });
    let mount = fixture.mount(&["--converted", "-o", "cachesize=1M"]);
    let numbers = || -> Vec<u64> {
        let paths = walk(mount.path());
        paths
            .iter()
            .map(|path| path.symlink_metadata().unwrap().ino())
            .collect()
    };
    let first = numbers();
    let unique: BTreeSet<u64> = first.iter().copied().collect();
    assert_eq!(unique.len(), first.len());
    assert!(first.len() > 40 * 20);
    assert_eq!(numbers(), first);
    let cache = &stats(&mount)["cache"];
    assert!(cache["bytes"].as_u64().unwrap() <= 1 << 20, "{cache}");
}

#[fuse_test]
fn an_asset_that_changed_after_it_was_listed_shows_its_new_contents() {
    let fixture = folder(|source| {
        fs::create_dir(source.join("sub")).unwrap();
        fs::write(source.join("sub/a.pcx"), picture(2)).unwrap();
    });
    let source = fixture.archive.join("sub/a.pcx");
    let mount = fixture.mount(&["--converted"]);
    assert_eq!(names(&mount.file("sub")), ["a.png"]);
    fs::write(&source, picture(200)).unwrap();
    let (width, ..) = pixels(&fs::read(mount.file("sub/a.png")).unwrap());
    assert_eq!(width, 200);
}

#[fuse_test]
fn a_lone_asset_without_an_extension_is_converted_too() {
    let mount = file("sprite", &sprite()).mount(&["--converted"]);
    assert_eq!(names(mount.path()), ["parts", "sprite.png"]);
    assert_eq!(names(&mount.file("parts")), ["sprite"]);
    let mount = file("walk.ifp", &ifp(1, 2)).mount(&["--converted"]);
    assert_eq!(names(mount.path()), ["parts", "walk.glb"]);
    assert!(mount.file("parts/walk.ifp/info.json").is_file());
    let nested = hip([("ped.ifp", &ifp(1, 2)[..])].into_iter());
    let mount = file("a.hip", &nested).mount(&[]);
    assert_eq!(names(&mount.file("converted/other")), ["parts", "ped.glb"]);
}

#[fuse_test]
fn it_is_listed_without_a_mount_as_in_a_mount() {
    let mount = file("totala1.hpi", &game()).mount(&["--converted"]);
    let mut command = hpi("list");
    command.args(["--converted"]).arg(&mount.fixture.archive);
    let listed = run(&mut command);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let paths = listed.stdout.lines().map(|line| {
        // Mode, size, date, time, method, path.
        let (_, path) = line.split_once(" -       ").unwrap();
        path.trim_end_matches('/').to_owned()
    });
    let mut paths: Vec<String> = paths.collect();
    paths.sort_unstable();
    assert_eq!(paths, all_names(mount.path()));
}
