//! The companions of archives and assets: `X.d` and `X.meta`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use fixtures::assets;
use fixtures::hpi::{File, V1, dir, file as entry, hostile};
use hpimount_containers::hpi::chunk::Method;
use testkit::fuse_test;
use testkit::mount::{Mount, run};
use testkit::mounted::stats;
use testkit::pictures::{library, pixels};
use testkit::sources::{file, folder, hip, json, names, output};

/// Returns an archive with one file.
fn archive(name: &str, bytes: &[u8]) -> Vec<u8> {
    let stored = File::new(bytes, Method::Stored);
    V1::new(vec![entry(name.as_bytes(), stored)]).build().bytes
}

/// Returns an IFP file without animations.
fn package() -> Vec<u8> {
    let mut bytes = b"ANP3".to_vec();
    bytes.extend(28_u32.to_le_bytes());
    bytes.extend([b'p'; 8]);
    bytes.resize(36, 0);
    bytes
}

/// Writes `files` into a folder.
fn fill(directory: &Path, files: &[(&str, &[u8])]) {
    for (name, bytes) in files {
        fs::write(directory.join(name), bytes).unwrap();
    }
}

#[fuse_test]
fn companions_are_beside_archives_and_assets_by_their_extensions() {
    let (hpi, ifp) = (archive("in.txt", b"in"), package());
    let fixture = folder(|source| {
        let hip = hip([("ped.ifp", &ifp[..])].into_iter());
        fill(
            source,
            &[
                ("a.hpi", &hpi),
                ("B.UFO", &hpi),
                ("c.Hip", &hip),
                ("ped.IFP", &ifp),
                ("x.psx", b""),
                ("y.HGO", b""),
                ("y.hgo.BLK", b""),
                ("readme.txt", b""),
                ("z.blk", b""),
                (".hpi", b""),
                ("hpi", &hpi),
            ],
        );
        fs::create_dir(source.join("folder.hpi")).unwrap();
        std::os::unix::fs::symlink("a.hpi", source.join("link.hpi")).unwrap();
    });
    let mount = fixture.mount(&[]);
    let mut expected = vec![
        ".hpi",
        "B.UFO",
        "B.UFO.d",
        "a.hpi",
        "a.hpi.d",
        "c.Hip",
        "c.Hip.d",
        "folder.hpi",
        "hpi",
        "link.hpi",
        "ped.IFP",
        "ped.IFP.meta",
        "readme.txt",
        "x.psx",
        "x.psx.meta",
        "y.HGO",
        "y.HGO.meta",
        "y.hgo.BLK",
        "y.hgo.BLK.meta",
        "z.blk",
    ];
    expected.sort_unstable();
    assert_eq!(names(mount.path()), expected);
    assert_eq!(fs::read(mount.file("B.UFO.d/in.txt")).unwrap(), b"in");
    let info = mount.file("c.Hip.d/layers/00-DEFAULT/ped.ifp.meta/info.json");
    assert_eq!(json(&info)["format"], "ANP3");
}

#[fuse_test]
fn a_real_entry_wins_over_a_companion() {
    let fixture = folder(|source| {
        let files: [(&str, &[u8]); 3] = [
            ("a.hpi", &archive("in.txt", b"in")),
            ("ped.ifp", &package()),
            ("ped.ifp.meta", b"a real file"),
        ];
        fill(source, &files);
        fs::create_dir(source.join("a.hpi.d")).unwrap();
        fs::write(source.join("a.hpi.d/real"), "").unwrap();
    });
    let mount = fixture.mount(&[]);
    let all = ["a.hpi", "a.hpi.d", "ped.ifp", "ped.ifp.meta"];
    assert_eq!(names(mount.path()), all);
    assert_eq!(names(&mount.file("a.hpi.d")), ["real"]);
    assert_eq!(
        fs::read(mount.file("ped.ifp.meta")).unwrap(),
        b"a real file"
    );
}

#[fuse_test]
fn archives_in_archives_are_shown_sixteen_levels_deep() {
    let mut bytes = archive("bottom.txt", b"bottom");
    for _ in 0..17 {
        bytes = archive("in.hpi", &bytes);
    }
    let mount = file("out.hpi", &bytes).mount(&[]);
    let deepest = "in.hpi.d/".repeat(16);
    assert_eq!(names(&mount.file(&deepest)), ["in.hpi"]);
    let above = "in.hpi.d/".repeat(15);
    assert_eq!(names(&mount.file(&above)), ["in.hpi", "in.hpi.d"]);
    let innermost = mount.file(&deepest).join("in.hpi");
    assert_eq!(
        fs::read(innermost).unwrap(),
        archive("bottom.txt", b"bottom")
    );
}

#[fuse_test]
fn a_damaged_archive_has_an_error_and_affects_nothing_else() {
    let good = archive("in.txt", b"in");
    let fixture = folder(|source| {
        let damaged = &good[..10];
        let outer = V1::new(vec![dir(
            b"mods",
            vec![entry(b"bad.hpi", File::new(damaged, Method::Stored))],
        )]);
        let files: [(&str, &[u8]); 5] = [
            ("empty.hpi", b""),
            ("text.ufo", b"not an archive, but a text"),
            ("cut.hpi", damaged),
            ("good.hpi", &good),
            ("outer.hpi", &outer.build().bytes),
        ];
        fill(source, &files);
    });
    let mount = fixture.mount_in_foreground(&[]);
    for directory in [
        "empty.hpi.d",
        "text.ufo.d",
        "cut.hpi.d",
        "outer.hpi.d/mods/bad.hpi.d",
    ] {
        assert_eq!(names(&mount.file(directory)), ["error.txt"], "{directory}");
        let text = fs::read_to_string(mount.file(directory).join("error.txt")).unwrap();
        assert!(text.ends_with('\n') && text.len() > 10, "{text:?}");
        // The log has the same cause and offset.
        let line = format!("{}: {text}", directory.trim_end_matches(".d"));
        let log = mount.fixture.log();
        assert!(log.contains(&line), "{line} {log}");
    }
    assert_eq!(fs::read(mount.file("good.hpi.d/in.txt")).unwrap(), b"in");
    assert_eq!(fs::read(mount.file("cut.hpi")).unwrap(), &good[..10]);
}

#[fuse_test]
fn errors_in_nested_archives_are_logged_with_the_whole_path() {
    let broken = hostile::one_chunk(Method::Zlib, b"garbage".to_vec(), 100);
    let outer = V1::new(vec![dir(
        b"mods",
        vec![entry(b"broken.ufo", File::new(broken, Method::Zlib))],
    )]);
    let fixture = folder(|source| fill(source, &[("outer.hpi", &outer.build().bytes)]));
    let mount = fixture.mount_in_foreground(&[]);
    let path = "outer.hpi.d/mods/broken.ufo.d/a";
    let error = fs::read(mount.file(path)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    let line = format!("broken.ufo: {path}: chunk 0");
    let log = mount.fixture.log();
    assert!(log.contains(&line), "{log}");
    let stats = stats(&mount);
    assert!(stats["last_errors"][0].as_str().unwrap().contains(&line));
}

#[fuse_test]
fn without_meta_only_the_files_are_shown() {
    let fixture = folder(|source| {
        let files: [(&str, &[u8]); 2] = [
            ("a.hpi", &archive("ped.ifp", &package())),
            ("ped.ifp", &package()),
        ];
        fill(source, &files);
        fs::create_dir(source.join("sub")).unwrap();
        fill(&source.join("sub"), &files);
    });
    let mount = fixture.mount(&["--no-meta"]);
    assert_eq!(names(mount.path()), ["a.hpi", "ped.ifp", "sub"]);
    assert_eq!(names(&mount.file("sub")), ["a.hpi", "ped.ifp"]);
    assert!(!mount.file("a.hpi.d").exists());
    let info = json(&mount.file(".hpimount/info.json"));
    assert_eq!(info["meta"], false);
    drop(mount);

    let mount = file("lone", &package()).mount(&["--no-meta"]);
    assert_eq!(names(mount.path()), ["lone"]);
}

#[fuse_test]
fn meta_off_still_shows_the_contents_of_archives() {
    let fixture = folder(|source| {
        let files: [(&str, &[u8]); 2] = [
            ("a.hpi", &archive("ped.ifp", &package())),
            ("ped.ifp", &package()),
        ];
        fill(source, &files);
    });
    let mount = fixture.mount(&["-o", "meta=off"]);
    assert_eq!(names(mount.path()), ["a.hpi", "a.hpi.d", "ped.ifp"]);
    assert_eq!(names(&mount.file("a.hpi.d")), ["ped.ifp"]);
    assert!(!mount.file("ped.ifp.meta").exists());
}

#[fuse_test]
fn a_single_asset_is_a_source_under_any_name() {
    for (name, format, bytes) in assets::one_of_each() {
        for name in [name, "mystery"] {
            let mount = file(name, &bytes).mount(&[]);
            let meta = format!("{name}.meta");
            assert_eq!(names(mount.path()), [name, &meta]);
            assert_eq!(fs::read(mount.file(name)).unwrap(), bytes);
            let info = json(&mount.file(&meta).join("info.json"));
            assert_eq!(info["format"], format, "{name}");
            let source = &json(&mount.file(".hpimount/info.json"))["sources"][0];
            assert_eq!(source["path"], mount.fixture.archive.to_str().unwrap());
        }
    }
}

#[fuse_test]
fn a_single_asset_can_be_given_by_a_link() {
    let mut fixture = file("ped.ifp", &package());
    let link = fixture.dir().join("walk.ifp");
    std::os::unix::fs::symlink("ped.ifp", &link).unwrap();
    fixture.archive = link;
    let mount = fixture.mount(&[]);
    assert_eq!(names(mount.path()), ["walk.ifp", "walk.ifp.meta"]);
    assert_eq!(fs::read(mount.file("walk.ifp")).unwrap(), package());
}

#[test]
fn a_file_of_unknown_format_is_not_a_source() {
    for bytes in [&b""[..], b"12345678", b"a text of no kind"] {
        let fixture = file("mystery", bytes);
        let ran = run(&mut fixture.command(&[]));
        assert_eq!(ran.code, Some(11), "{ran:?}");
    }
}

/// Returns a mount of an IFP file that is a list of two packages.
fn mounted_list() -> Mount {
    file("anlf.ifp", &assets::anlf()).mount(&[])
}

#[fuse_test]
fn ls_shows_the_right_sizes() {
    let mount = mounted_list();
    let meta = mount.file("anlf.ifp.meta");
    let mut seen = 0;
    for directory in [meta.clone(), meta.join("animations")] {
        // The second time from the kernel's cache.
        for _ in 0..2 {
            let listing = output("ls", &["-l", "--time-style=+"], &directory);
            for line in listing.lines().filter(|line| line.starts_with('-')) {
                let mut words = line.split_ascii_whitespace();
                let size: u64 = words.nth(4).unwrap().parse().unwrap();
                let name = words.collect::<Vec<_>>().join(" ");
                let read = fs::read(directory.join(&name)).unwrap();
                assert_eq!(read.len() as u64, size, "{name}");
                assert_ne!(size, 0, "{name}");
                seen += 1;
            }
        }
    }
    // Four tables and texts, and a skeleton; four animations, each in two forms.
    assert_eq!(seen, 2 * (5 + 8));
}

#[fuse_test]
fn a_text_that_was_only_listed_is_read_whole() {
    let mount = mounted_list();
    let animations = mount.file("anlf.ifp.meta/animations");
    for name in names(&animations) {
        // `fs::read` would request the size.
        let mut file = fs::File::open(animations.join(&name)).unwrap();
        let mut text = Vec::new();
        let mut part = [0; 100];
        loop {
            match std::io::Read::read(&mut file, &mut part).unwrap() {
                0 => break,
                length => text.extend(&part[..length]),
            }
        }
        let whole = if name.ends_with(".json") {
            text.ends_with(b"}\n")
        } else {
            text.len() as u64 == fs::metadata(animations.join(&name)).unwrap().len()
        };
        assert!(whole, "{name}: {} bytes", text.len());
    }
}

#[fuse_test]
fn paths_into_companions_are_found_in_any_case() {
    let fixture = || {
        folder(|source| {
            let inner = archive("Ped.ifp", &package());
            fill(source, &[("Mod.hpi", &inner), ("Walk.IFP", &package())]);
        })
    };
    let spellings = [
        ("Walk.IFP.meta/info.json", "WALK.ifp.META/INFO.JSON"),
        (
            "Mod.hpi.d/Ped.ifp.meta/animations.tsv",
            "mod.HPI.D/PED.IFP.META/Animations.TSV",
        ),
    ];
    let mount = fixture().mount(&[]);
    for (right, other) in spellings {
        let text = fs::read(mount.file(other)).unwrap();
        assert_eq!(text, fs::read(mount.file(right)).unwrap());
        let directory = mount.file(other).parent().unwrap().to_owned();
        let listed = names(&directory);
        assert_eq!(listed, names(mount.file(right).parent().unwrap()));
        // The lookup has not renamed the entry.
        assert!(names(mount.path()).contains(&"Mod.hpi.d".to_owned()));
    }
    drop(mount);
    let mount = fixture().mount(&["-o", "case_sensitive"]);
    for (right, other) in spellings {
        assert!(mount.file(right).exists());
        let error = fs::read(mount.file(other)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}

#[fuse_test]
fn the_mount_describes_its_folder() {
    let fixture = folder(|source| fill(source, &[("Walk.IFP", &package())]));
    let mount = fixture.mount(&[]);
    let info = json(&mount.file(".hpimount/info.json"));
    let source = &info["sources"][0];
    assert_eq!(source["path"], mount.fixture.archive.to_str().unwrap());
    assert_eq!(source["format"], "folder");
    assert_eq!(info["meta"], true);
    assert_eq!(stats(&mount)["assets_parsed"], 0);
    names(&mount.file("Walk.IFP.meta"));
    assert_eq!(stats(&mount)["assets_parsed"], 1);
}

#[fuse_test]
fn an_asset_too_large_to_be_parsed_has_an_error() {
    let fixture = folder(|source| {
        let huge = fs::File::create(source.join("huge.psx")).unwrap();
        huge.set_len((64 << 20) + 1).unwrap();
    });
    let mount = fixture.mount(&[]);
    let error = fs::read_to_string(mount.file("huge.psx.meta/error.txt")).unwrap();
    assert_eq!(
        error,
        "has 67108865 bytes; assets are shown up to 67108864\n"
    );
}

/// Returns the names in a mount of an archive with an asset, and those in the
/// companion of the asset if it exists.
fn seen(fixture: &str, options: &[&str]) -> Option<(Vec<String>, Option<Vec<String>>)> {
    let asset = package();
    let fixture = match fixture {
        "hpi" => file("a.hpi", &archive("ped.ifp", &asset)),
        "hip" => file("a.hip", &hip([("ped.ifp", &asset[..])].into_iter())),
        _ => folder(|source| fill(source, &[("ped.ifp", &asset)])),
    };
    let mount = fixture.mount(options);
    let directory = match mount.file("layers").exists() {
        true => mount.file("layers/00-DEFAULT"),
        false => mount.path().to_owned(),
    };
    let listed = names(&directory);
    let found = fs::read_dir(directory.join("PED.IFP.Meta")).is_ok();
    let inside = found.then(|| names(&directory.join("PED.IFP.Meta")));
    Some((listed, inside))
}

#[fuse_test]
fn companions_of_assets_are_listed_in_folders_and_can_be_looked_up_in_archives() {
    let asset = |name: &str| name.starts_with("ped");
    for (fixture, options, listed, found) in [
        ("folder", &[][..], true, true),
        ("hpi", &[][..], false, true),
        ("hip", &[][..], false, true),
        ("hpi", &["-o", "meta=visible"][..], true, true),
        ("hip", &["-o", "meta=visible"][..], true, true),
        ("folder", &["-o", "meta=hidden"][..], false, true),
        ("folder", &["-o", "meta=off"][..], false, false),
        ("hpi", &["-o", "meta=off"][..], false, false),
        ("hpi", &["--no-meta"][..], false, false),
    ] {
        let Some((names, inside)) = seen(fixture, options) else {
            return;
        };
        let names: Vec<_> = names.into_iter().filter(|name| asset(name)).collect();
        let what = format!("{fixture} {options:?}: {names:?} {inside:?}");
        assert_eq!(names.len(), if listed { 2 } else { 1 }, "{what}");
        assert_eq!(inside.is_some(), found, "{what}");
        if let Some(inside) = inside {
            assert!(inside.contains(&"info.json".to_owned()), "{what}");
        }
    }
}

#[fuse_test]
fn a_companion_that_is_not_listed_has_a_parent_and_right_sizes() {
    let stored = File::new(package(), Method::Stored);
    let units = dir(b"anims", vec![entry(b"ped.ifp", stored)]);
    let fixture = file("a.hpi", &V1::new(vec![units]).build().bytes);
    let mount = fixture.mount(&[]);
    let meta = mount.file("anims/ped.ifp.meta");
    assert_eq!(names(&meta.join("..")), ["ped.ifp"]);
    let text = fs::read(meta.join("info.txt")).unwrap();
    assert_eq!(
        fs::metadata(meta.join("info.txt")).unwrap().len(),
        text.len() as u64
    );
    let shell = output("sh", &["-c", "cd \"$0\" && pwd -P && ls .."], &meta);
    assert!(shell.ends_with("/anims/ped.ifp.meta\nped.ifp\n"), "{shell}");
    assert!(fs::metadata(mount.file("anims/none.ifp.meta")).is_err());
    assert!(fs::metadata(mount.file("anims.meta")).is_err());
}

#[fuse_test]
fn a_palette_is_read_from_a_sibling_in_any_case() {
    let mount = folder(|source| {
        fs::write(source.join("skhan.psx"), library(None, Some(0xAA))).unwrap();
        fs::write(source.join("SKHAN_L.PSX"), library(Some(0xAA), None)).unwrap();
        fs::write(source.join("lone.psx"), library(None, Some(0xAA))).unwrap();
    })
    .mount(&[]);
    let textures = mount.file("skhan.psx.meta/textures");
    assert_eq!(names(&textures), ["00 00000077.png"]);
    let png = fs::read(textures.join("00 00000077.png")).unwrap();
    assert_eq!(pixels(&png), (2, 2, [255, 0, 0, 255].repeat(4)));
    let lone = mount.file("lone.psx.meta");
    assert!(!names(&lone).contains(&"textures".to_owned()));
    let info = fs::read_to_string(lone.join("info.json")).unwrap();
    assert!(info.contains("palette 000000aa of texture"), "{info}");
}
