//! Our files on desktops: their types by name and content, and the programs
//! that are offered for them.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::mount::{has_programs, run};
use support::shared;
use support::sources::names;
use tempfile::{TempDir, tempdir};

/// Returns the path of a file that packages install.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/desktop")
        .join(name)
}

/// Creates a data directory with our types, in addition to those of the system.
fn home() -> Option<TempDir> {
    if !has_programs(&["update-mime-database", "gio"]) {
        return None;
    }
    let home = tempdir().unwrap();
    let packages = home.path().join("mime/packages");
    fs::create_dir_all(&packages).unwrap();
    fs::copy(data("hpimount.xml"), packages.join("hpimount.xml")).unwrap();
    let ran = run(Command::new("update-mime-database")
        .arg(home.path().join("mime"))
        .env("XDG_DATA_HOME", home.path()));
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(0), "", ""),
        "update-mime-database"
    );
    Some(home)
}

/// Returns the types of files.
fn types_of(home: &TempDir, files: &[PathBuf]) -> Vec<String> {
    let mut command = Command::new("gio");
    command
        .args(["info", "-a", "standard::content-type"])
        .args(files)
        .env("XDG_DATA_HOME", home.path());
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let types = ran.stdout.lines().filter_map(|line| {
        let found = line.trim().strip_prefix("standard::content-type: ");
        found.map(str::to_owned)
    });
    let types = Vec::from_iter(types);
    assert_eq!(types.len(), files.len());
    types
}

/// Folders of samples, the ends of their names, and their types.
const SAMPLES: &[(&str, &[&str], &str)] = &[
    ("hpi/good", &[""], "application/x-hpi-archive"),
    ("hip/peer", &["HIP", "HOP"], "application/x-hip-archive"),
    ("psx/generated", &["psx"], "model/x-neversoft-psx"),
    ("hgo/generated", &["hgo"], "model/x-crash-hgo"),
    ("ifp/generated", &["ifp"], "application/x-gta-ifp"),
    ("ta/3do", &["3do"], "model/x-ta-3do"),
    ("ta/gaf", &["gaf", "taf"], "image/x-ta-gaf"),
    ("ta/sct", &["sct"], "image/x-ta-sct"),
    ("ta/tnt", &["tnt"], "image/x-ta-tnt"),
    ("ta/cob", &["cob"], "application/x-ta-cob"),
    ("ta/tdf", &["fbi", "ota", "tdf"], "text/x-ta-tdf"),
    ("ta/pcx", &["pcx"], "image/vnd.zbrush.pcx"),
    ("containers/pkr", &["pkr"], "application/x-neversoft-pkr"),
    (
        "containers/pre",
        &["pre", "prx"],
        "application/x-neversoft-pre",
    ),
    ("containers/hedwad", &["HED"], "application/x-neversoft-wad"),
    (
        "containers/gcm",
        &["rvz", "wia", "gcz", "ciso"],
        "application/x-gamecube-image",
    ),
    ("containers/chd", &["chd"], "application/x-mame-chd"),
    ("containers/xdvdfs", &["xiso"], "application/x-xbox-disc"),
    ("containers/iso", &["iso"], "application/x-cd-image"),
    // For these names, the types of the system are kept.
    ("containers/img", &["img"], "application/x-raw-disk-image"),
    ("containers/hedwad", &["WAD"], "application/x-doom-wad"),
];

#[test]
fn every_good_sample_has_its_type() {
    let (Some(samples), Some(home)) = (shared("samples"), home()) else {
        return;
    };
    for (folder, ends, expected) in SAMPLES {
        let folder = samples.join(folder);
        let files: Vec<PathBuf> = names(&folder)
            .into_iter()
            .filter(|name| ends.iter().any(|end| name.ends_with(end)))
            .filter(|name| !name.starts_with("bad_") && !name.starts_with("bomb_"))
            .map(|name| folder.join(name))
            .filter(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0))
            .collect();
        assert!(!files.is_empty(), "{folder:?}");
        for (file, found) in files.iter().zip(types_of(&home, &files)) {
            assert_eq!(found, *expected, "{file:?}");
        }
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
    assert_eq!(open, values("hpimount-unmount.desktop", "MimeType"));
    let drawn = values("hpimount.thumbnailer", "MimeType");
    for name in open.union(&drawn) {
        let known = ["image/vnd.zbrush.pcx", "image/x-pcx"].contains(&&**name);
        assert!(
            known || xml.contains(&format!("<mime-type type=\"{name}\">")),
            "{name}"
        );
    }
    // Other programs open these by default.
    for foreign in ["zip", "x-cd-image", "x-gamecube", "pcx"] {
        assert!(!open.iter().any(|name| name.contains(foreign)), "{foreign}");
    }
}

#[test]
fn the_desktop_entries_are_valid() {
    if !has_programs(&["desktop-file-validate"]) {
        return;
    }
    for name in ["hpimount-open.desktop", "hpimount-unmount.desktop"] {
        let ran = run(Command::new("desktop-file-validate").arg(data(name)));
        assert_eq!((ran.code, &*ran.stdout), (Some(0), ""));
    }
}
