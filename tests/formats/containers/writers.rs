//! Archives by other programs: their files have the original contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fixtures::container_seeds::gcm;
use testkit::nested::{files_alone, is_plain_disc};
use testkit::programs::{run_in, run_python};
use testkit::walked::{self, Walked};
use testkit::wit;

/// Writes files to `content` in a directory, and returns the expected contents of a
/// mount.
fn content(directory: &Path, names: &[&str]) -> BTreeMap<String, Walked> {
    let mut expected = BTreeMap::new();
    for (number, name) in names.iter().enumerate() {
        let line = format!("{name}, line after line\n");
        let bytes = line.repeat(number * 1500).into_bytes();
        let path = directory.join("content").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &bytes).unwrap();
        let file = Walked {
            size: bytes.len() as u64,
            sha256: Ok(walked::sha256_of(&bytes)),
        };
        expected.insert((*name).to_owned(), file);
    }
    expected
}

/// Names that every format supports.
const PLAIN: [&str; 4] = ["EMPTY.TXT", "ONE.BIN", "D/TWO.HIP", "D/E/THREE.TXT"];

/// Names that are long, deep, or not in ASCII.
const LONG: [&str; 5] = [
    "a name that is rather long for a disc.text",
    "d/e/f/g/h/i/j/k/l/m/deep.txt",
    "Grüße/テスト.txt",
    "lower.txt",
    "two.dots.in.it",
];

/// Packs these files with each program, and compares them with the files read from its
/// `output`.
fn packed_by(programs: &[(&str, &[&str])], names: &[&str], output: &str) {
    for (program, arguments) in programs {
        let directory = tempfile::tempdir().unwrap();
        let expected = content(directory.path(), names);
        if !run_in(directory.path(), program, arguments) {
            return;
        }
        let found = files_alone(&directory.path().join(output));
        assert_eq!(found, expected, "{program} {arguments:?}");
    }
}

#[test]
fn discs_of_genisoimage_and_xorriso_have_the_packed_files() {
    let plain: [(&str, &[&str]); 3] = [
        ("genisoimage", &["-quiet", "-o", "disc.iso", "content"]),
        (
            "genisoimage",
            &["-quiet", "-iso-level", "3", "-o", "disc.iso", "content"],
        ),
        (
            "xorriso",
            &["-as", "mkisofs", "-quiet", "-o", "disc.iso", "content"],
        ),
    ];
    packed_by(&plain, &PLAIN, "disc.iso");
    let joliet: [(&str, &[&str]); 2] = [
        (
            "genisoimage",
            &[
                "-quiet",
                "-D",
                "-J",
                "-joliet-long",
                "-o",
                "disc.iso",
                "content",
            ],
        ),
        (
            "xorriso",
            &[
                "-as",
                "mkisofs",
                "-quiet",
                "-D",
                "-J",
                "-joliet-long",
                "-o",
                "disc.iso",
                "content",
            ],
        ),
    ];
    packed_by(&joliet, &LONG, "disc.iso");
}

#[test]
fn archives_of_zip_and_pythons_zipfile_have_the_packed_files() {
    const SCRIPT: &str = "
import os, sys, zipfile
method = getattr(zipfile, sys.argv[1])
with zipfile.ZipFile('out.zip', 'w', method) as archive:
    for top, _, names in os.walk('content'):
        for name in names:
            path = os.path.join(top, name)
            with archive.open(os.path.relpath(path, 'content'), 'w', force_zip64=True) as out:
                out.write(open(path, 'rb').read())
";
    let programs: [(&str, &[&str]); 4] = [
        ("python3", &["-c", SCRIPT, "ZIP_STORED"]),
        ("python3", &["-c", SCRIPT, "ZIP_DEFLATED"]),
        ("sh", &["-c", "cd content && zip -qr ../out.zip ."]),
        ("sh", &["-c", "cd content && zip -0 -qr ../out.zip ."]),
    ];
    packed_by(&programs, &[&PLAIN[..], &LONG].concat(), "out.zip");
}

#[test]
fn gamecube_discs_that_wit_packs_have_the_files_of_the_disc() {
    let directory = tempfile::tempdir().unwrap();
    let disc = directory.path().join("disc.iso");
    fs::write(&disc, gcm()).unwrap();
    let forms = [("ciso", "--ciso"), ("gcz", "--gcz")];
    wit::keeps_the_files(&disc, &forms);
}

#[test]
fn gamecube_discs_that_nod_packs_have_the_files_of_the_disc() {
    const SCRIPT: &str = "
import nod_rs, sys
disc = nod_rs.DiscReader('disc.iso')
nod_rs.DiscWriter(disc, sys.argv[1], *sys.argv[2:]).process('out')
";
    let forms: [(&str, &[&str]); 9] = [
        ("TGC", &["TGC"]),
        ("CISO", &["CISO"]),
        ("WBFS", &["WBFS"]),
        ("GCZ", &["GCZ"]),
        ("WIA", &["WIA"]),
        ("WIA", &["WIA", "Lzma2:6"]),
        ("RVZ", &["RVZ"]),
        ("RVZ", &["RVZ", "Bzip2:9"]),
        ("RVZ", &["RVZ", "None"]),
    ];
    // It reads further than the builder's disc goes.
    let mut disc = gcm();
    disc.resize(2 << 20, 0);
    for (form, arguments) in forms {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("disc.iso"), &disc).unwrap();
        if !run_python(directory.path(), &["nod_rs"], SCRIPT, arguments) {
            return;
        }
        let bytes = fs::read(path("out")).unwrap();
        assert!(!bytes.starts_with(b"GTST"), "{form} is not packed");
        let (found, expected) = (files_alone(&path("out")), files_alone(&path("disc.iso")));
        assert!(!expected.is_empty());
        assert_eq!(found, expected, "{arguments:?}");
        if form != "TGC" {
            is_plain_disc(&path("out"), &disc);
        }
    }
}
