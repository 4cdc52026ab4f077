//! Our file types on desktops: detection by name and content, and the programs offered
//! for them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use fixtures::Endian;
use fixtures::hip::{Asset, Hip};
use fixtures::ta::{cob, gaf, tnt};
use fixtures::{assets, container_seeds};
use hpimount::app::desktop::files::{DesktopFile, files};
use tempfile::tempdir;
use testkit::desktop::{data, home, types_of};
use testkit::mount::{has_programs, run, sample};

#[test]
fn the_files_for_packages_follow_from_the_lists_of_formats() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/desktop");
    for DesktopFile { name, text } in files() {
        let written = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            written == text,
            "docs/desktop/{name} should be as `cargo run --example desktop_files` writes it:\n\
             {text}"
        );
    }
}

#[test]
fn archives_and_assets_have_their_types() {
    let Some(home) = home() else {
        return;
    };
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TEXT", "a", b"text"));
    let frame = gaf::Frame::rle(3, 1, &[Some(1), None, Some(2)]);
    let walk = gaf::sequence("walk", vec![(frame, 1)]);
    let cases = [
        ("a.hpi", sample().bytes, "application/x-hpi-archive"),
        ("a.HIP", hip.build(), "application/x-hip-archive"),
        ("a.psx", assets::level(4), "model/x-neversoft-psx"),
        ("a.hgo", assets::model(Endian::Big), "model/x-crash-hgo"),
        ("a.ifp", assets::anpk(), "application/x-gta-ifp"),
        ("a.gaf", gaf::file(&[walk]), "image/x-ta-gaf"),
        ("a.tnt", tnt::Map::small().file(0x2000), "image/x-ta-tnt"),
        ("a.cob", cob::small(6).file(), "application/x-ta-cob"),
        (
            "a.pkr",
            container_seeds::pkr(),
            "application/x-neversoft-pkr",
        ),
        (
            "a.pre",
            container_seeds::pre_flat(),
            "application/x-neversoft-pre",
        ),
    ];
    let dir = tempdir().unwrap();
    let files: Vec<_> = cases
        .iter()
        .map(|(name, ..)| dir.path().join(name))
        .collect();
    for ((_, bytes, _), path) in cases.iter().zip(&files) {
        fs::write(path, bytes).unwrap();
    }
    for ((name, _, expected), found) in cases.iter().zip(types_of(&home, &files)) {
        assert_eq!(found, *expected, "{name}");
    }
}

#[test]
fn archives_are_detected_by_their_first_bytes_without_an_extension() {
    let Some(home) = home() else {
        return;
    };
    let dir = tempdir().unwrap();
    let cases: [(&str, &[u8], &str); 11] = [
        ("hpi", b"HAPI\0\0\x01\0", "application/x-hpi-archive"),
        ("kingdoms", b"HAPI\0\0\x02\0", "application/x-hpi-archive"),
        ("saved", b"HAPIBANK", "application/octet-stream"),
        ("psp", b"CISO\x18\0\0\0", "application/x-compressed-iso"),
        ("ps2", b"ZISO\x18\0\0\0", "application/x-compressed-iso"),
        ("gc", b"CISO\0\0\x20\0", "application/x-gamecube-image"),
        ("img", b"VER2\x01\0\0\0", "application/x-gta-img"),
        ("gta3.img", b"\0\0\0\0", "application/x-gta-img"),
        ("disk.img", b"\0\0\0\0", "application/x-raw-disk-image"),
        ("CD.WAD", b"\0\0\0\0", "application/x-neversoft-wad"),
        (
            "prog.cob",
            b"       IDENTIFICATION DIVISION.\n",
            "text/x-cobol",
        ),
    ];
    let files = cases.map(|(name, bytes, _)| {
        let path = dir.path().join(name);
        fs::write(
            &path,
            [bytes, &[0; 64][..64 * usize::from(!name.ends_with("cob"))]].concat(),
        )
        .unwrap();
        path
    });
    for ((name, _, expected), found) in cases.iter().zip(types_of(&home, &files)) {
        assert_eq!(found, *expected, "{name}");
    }
}

/// Returns the values of a key of a desktop entry or of a thumbnailer.
fn values(file: &str, key: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(data(file)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let line = line.and_then(|line| line.strip_prefix('='));
    let values = line
        .unwrap_or_else(|| panic!("{file} has no {key}"))
        .split(';');
    let values = values.filter(|value| !value.is_empty());
    values.map(str::to_owned).collect()
}

#[test]
fn programs_are_offered_for_types_that_exist() {
    let xml = fs::read_to_string(data("hpimount.xml")).unwrap();
    let open = values("hpimount-open.desktop", "MimeType");
    let offered = values("zz-hpimount-open.desktop", "MimeType");
    let unmounted = values("hpimount-unmount.desktop", "MimeType");
    assert!(unmounted.is_superset(&offered));
    assert_eq!(values("zzz-hpimount-edit.desktop", "MimeType"), unmounted);
    let drawn = values("hpimount.thumbnailer", "MimeType");
    let known = |name: &str| xml.contains(&format!("<mime-type type=\"{name}\">"));
    for name in open.union(&drawn) {
        let foreign = ["application/x-cue", "image/vnd.zbrush.pcx", "image/x-pcx"];
        let is_foreign = foreign.contains(&&**name);
        assert!(is_foreign || known(name), "{name}");
    }
    // Other programs open these by default.
    for foreign in [
        "application/zip",
        "application/x-cd-image",
        "application/x-gamecube-image",
        "application/x-gamecube-rom",
    ] {
        assert!(
            offered.contains(foreign) && !open.contains(foreign),
            "{foreign}"
        );
    }
    assert!(open.union(&offered).all(|name| !name.contains("pcx")));
}

#[test]
fn the_desktop_entries_are_valid() {
    if !has_programs(&["desktop-file-validate"]) {
        return;
    }
    for name in [
        "hpimount-open.desktop",
        "hpimount-unmount.desktop",
        "zz-hpimount-open.desktop",
        "zzz-hpimount-edit.desktop",
    ] {
        let ran = run(Command::new("desktop-file-validate").arg(data(name)));
        assert_eq!((ran.code, &*ran.stdout), (Some(0), ""));
    }
}

#[test]
fn the_description_for_software_centres_is_valid() {
    if !has_programs(&["appstreamcli"]) {
        return;
    }
    // As `scripts/stage` fills it in.
    let metainfo = fs::read_to_string(data("hpimount.metainfo.xml")).unwrap();
    let metainfo = metainfo
        .replace("HOMEPAGE", env!("CARGO_PKG_HOMEPAGE"))
        .replace("REPOSITORY", env!("CARGO_PKG_REPOSITORY"));
    let dir = tempdir().unwrap();
    let path = dir.path().join("hpimount.metainfo.xml");
    fs::write(&path, metainfo).unwrap();
    let mut validate = Command::new("appstreamcli");
    let ran = run(validate.args(["validate", "--no-net"]).arg(path));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_program_for_disc_images_and_zip_stays_the_default() {
    let Some(home) = home() else {
        return;
    };
    if !has_programs(&["update-desktop-database"]) {
        return;
    }
    let applications = home.path().join("applications");
    fs::create_dir(&applications).unwrap();
    for name in [
        "hpimount-open.desktop",
        "zz-hpimount-open.desktop",
        "zzz-hpimount-edit.desktop",
    ] {
        let entry = fs::read_to_string(data(name)).unwrap();
        // Entries of programs that are not installed are ignored.
        let entry = entry.replace("=hpimount-open", "=true");
        fs::write(applications.join(name), entry).unwrap();
    }
    let update = || {
        let mut update = Command::new("update-desktop-database");
        assert_eq!(run(update.arg(&applications)).code, Some(0));
    };
    let default = |mime_type: &str| {
        let mut query = Command::new("gio");
        query.args(["mime", mime_type]);
        query.env("XDG_DATA_HOME", home.path());
        query.env("XDG_DATA_DIRS", home.path()).env("LC_ALL", "C");
        run(&mut query)
            .stdout
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    update();
    let is_default = |mime_type, name: &str| default(mime_type).ends_with(name);
    assert!(is_default("application/zip", " zz-hpimount-open.desktop"));
    let other = "[Desktop Entry]\nType=Application\nName=Other\nExec=true %F\n\
                 MimeType=application/zip;application/x-cd-image;\n";
    fs::write(applications.join("org.other.desktop"), other).unwrap();
    update();
    assert!(is_default("application/zip", " org.other.desktop"));
    assert!(is_default("application/x-cd-image", " org.other.desktop"));
    assert!(is_default(
        "application/x-hpi-archive",
        " hpimount-open.desktop"
    ));
}
