//! Nested containers behave like single ones: every good sample in a zip and in
//! a disc, through the library and through a mount, archives several levels
//! deep, and which files in a folder are treated as containers.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hpimount::mount::Options;
use hpimount::namespace::companion::Meta;
use support::container_seeds::{Method7z, seven_zip_of, tgc, zip_with};
use support::disc::{Disc, MODE_2};
use support::hip::{Asset, Hip};
use support::mount::can_mount;
use support::mounted::mounted_files;
use support::programs::run_in;
use support::skip;
use support::walked::{self, Walked};

/// Folders of samples, and how many of them have an `X.d` in a zip, where the
/// first bytes of packed files are not read, and in a disc.
const FOLDERS: [(&str, [usize; 2]); 9] = [
    ("img", [3, 10]),
    ("hedwad", [12, 12]),
    ("pkr", [7, 7]),
    ("pre", [9, 12]),
    ("gcm", [15, 15]),
    ("xdvdfs", [5, 5]),
    ("iso", [12, 16]),
    ("chd", [5, 5]),
    ("foreign", [16, 16]),
];

/// Returns the files, including those in companions of containers, but not in
/// those of assets.
fn files(path: &Path) -> BTreeMap<String, Walked> {
    let options = Options {
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(path.to_owned(), options);
    let vfs = vfs.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    without_reasons(walked::files(&vfs))
}

/// Returns the same, read through the kernel.
fn files_through_mount(path: &Path) -> BTreeMap<String, Walked> {
    let mount = mounted_files(&[path.to_owned()], "meta=off").unwrap();
    without_reasons(walked::files_below(mount.path()))
}

/// Returns the files without the errors of reading them, which contain offsets
/// in the outer container.
fn without_reasons(mut files: BTreeMap<String, Walked>) -> BTreeMap<String, Walked> {
    for file in files.values_mut() {
        file.sha256 = file.sha256.clone().map_err(|_| String::new());
    }
    files
}

/// Returns the good samples of a folder, and the files beside them.
fn samples(folder: &str) -> Option<Vec<PathBuf>> {
    let samples = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/samples/containers"
    ));
    if !skip::possible(samples.exists(), "the samples are missing") {
        return None;
    }
    let entries = fs::read_dir(samples.join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !name(path).starts_with("bad_") && !name(path).starts_with("bomb_"));
    paths.sort();
    Some(paths)
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Compares every sample that has an `X.d` in `outer` with the sample alone,
/// and returns their number.
fn compare(outer: &Path, samples: &[PathBuf]) -> usize {
    let nested = files(outer);
    if can_mount() {
        assert!(files_through_mount(outer) == nested, "{}", outer.display());
    }
    let mut compared = 0;
    for sample in samples {
        let prefix = format!("{}.d/", name(sample));
        let inside = nested.iter().filter_map(|(path, file)| {
            let path = path.strip_prefix(&prefix)?;
            Some((path.to_owned(), file.clone()))
        });
        let inside: BTreeMap<String, Walked> = inside.collect();
        if inside.is_empty() {
            continue;
        }
        if let Some(error) = inside.get("error.txt") {
            let alone = walked::open(sample.clone(), Options::default());
            assert!(alone.is_err(), "{} is refused: {error:?}", sample.display());
            continue;
        }
        assert_eq!(
            inside,
            files(sample),
            "{} in {}",
            sample.display(),
            outer.display()
        );
        compared += 1;
    }
    compared
}

#[test]
fn every_good_sample_is_the_same_in_a_zip_and_in_a_disc() {
    let mut found = Vec::new();
    for (folder, _) in FOLDERS {
        let Some(samples) = samples(folder) else {
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let content = directory.path().join("content");
        fs::create_dir(&content).unwrap();
        for sample in &samples {
            fs::copy(sample, content.join(name(sample))).unwrap();
        }
        let zip: &[&str] = &["-q", "-r", "../outer.zip", "."];
        let iso: &[&str] = &[
            "-as",
            "mkisofs",
            "-quiet",
            "-J",
            "-joliet-long",
            "-o",
            "../outer.iso",
            ".",
        ];
        if !run_in(&content, "zip", zip) || !run_in(&content, "xorriso", iso) {
            return;
        }
        let in_zip = compare(&directory.path().join("outer.zip"), &samples);
        let in_disc = compare(&directory.path().join("outer.iso"), &samples);
        found.push((folder, [in_zip, in_disc]));
    }
    assert_eq!(found, FOLDERS);
}

fn archive(text: &[u8]) -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    hip.add(Asset::new(b"TEXT", "hello", text));
    hip.build()
}

#[test]
fn a_hip_in_a_disc_in_a_7z_in_a_zip_is_read_exactly() {
    let mut disc = Disc::default();
    disc.file("BB/BB01.HIP", &archive(b"some text"));
    let inner = disc.iso();
    let solid = [
        ("first.txt", &b"before it"[..]),
        ("disc.iso", &inner),
        ("last.txt", b"behind"),
    ];
    let middle = seven_zip_of(Method7z::Deflate, &solid, 0);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outer.zip");
    fs::write(&path, zip_with("game/middle.7z", &middle)).unwrap();
    let files = files(&path);
    let hello = files.iter().find(|(path, _)| path.ends_with("/hello.text"));
    let (path, hello) = hello.unwrap_or_else(|| panic!("{files:#?}"));
    assert!(
        path.starts_with("game/middle.7z.d/disc.iso.d/BB/BB01.HIP.d/layers/"),
        "{path}"
    );
    assert_eq!(hello.sha256, Ok(walked::sha256_of(b"some text")));
}

#[test]
fn a_tgc_has_the_files_of_its_disc() {
    let directory = tempfile::tempdir().unwrap();
    for shift in [0, 0x10_0000] {
        let path = directory.path().join("disc.tgc");
        fs::write(&path, tgc(shift)).unwrap();
        let files = files(&path);
        let text = &files["files/a.txt"];
        assert_eq!(text.sha256, Ok(walked::sha256_of(b"GCM txt")));
        assert_eq!(
            files["files/bb/c.HIP"].sha256,
            Ok(walked::sha256_of(&[9; 100]))
        );
        assert_eq!(files["sys/main.dol"].size, 0x110);
    }
}

#[test]
fn files_with_common_extensions_are_containers_only_if_they_begin_as_one() {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"text")
        .form_2_file("M.STR", &[1; MODE_2]);
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
    write("alone.bin", &disc.raw());
    write("clone.img", &disc.raw());
    write("with sheet.bin", &disc.raw());
    write(
        "with sheet.cue",
        b"FILE \"with sheet.bin\" BINARY\nTRACK 01 MODE2/2352\nINDEX 01 00:00:00\n",
    );
    write("other.bin", b"anything");
    write("floppy.img", &[0xEB; 512]);
    let options = Options {
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(directory.path().to_owned(), options).unwrap();
    let files = walked::files(&vfs);
    let inside = files.keys().filter_map(|path| path.split_once(".d/"));
    let mut containers: Vec<&str> = inside.map(|(container, _)| container).collect();
    containers.dedup();
    assert_eq!(containers, ["alone.bin", "clone.img", "with sheet.cue"]);
    for container in containers {
        let text = &files[&format!("{container}.d/A.TXT")];
        assert_eq!(text.sha256, Ok(walked::sha256_of(b"text")));
        assert_eq!(files[&format!("{container}.d/M.STR.raw2336")].size, 2336);
    }
}
