//! Tar archives and compressed files, written by the programs that most people
//! have.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::foreign::{file, mounted, text};
use hpimount::mount::{Attr, FileKind, Ino, Options, Vfs};
use testkit::programs::run_in;
use testkit::walked::{self, Walked};

/// Writes a folder `mod` that exercises all features of tar.
fn write_files(directory: &Path) {
    let path = |name: &str| directory.join("mod").join(name);
    let deep = format!("{}/{}", "d".repeat(120), "e".repeat(100));
    fs::create_dir_all(path(&deep)).unwrap();
    fs::write(path(&format!("{deep}/{}.txt", "n".repeat(150))), b"deep").unwrap();
    fs::write(path("units.txt"), text()).unwrap();
    fs::write(path("run.sh"), b"#!/bin/sh\n").unwrap();
    fs::set_permissions(path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(path("gr\u{fc}n.txt"), b"umlaut").unwrap();
    fs::write(path("empty"), b"").unwrap();
    fs::hard_link(path("units.txt"), path("units again.txt")).unwrap();
    symlink("../elsewhere/units.txt", path("link")).unwrap();
    symlink("x".repeat(200), path("long link")).unwrap();
}

/// Returns their expected contents in a mount.
fn expected() -> BTreeMap<String, Walked> {
    let deep = format!("mod/{}/{}", "d".repeat(120), "e".repeat(100));
    let files = [
        (format!("{deep}/{}.txt", "n".repeat(150)), file(b"deep")),
        ("mod/units.txt".to_owned(), file(&text())),
        ("mod/units again.txt".to_owned(), file(&text())),
        ("mod/run.sh".to_owned(), file(b"#!/bin/sh\n")),
        ("mod/gr\u{fc}n.txt".to_owned(), file(b"umlaut")),
        ("mod/empty".to_owned(), file(b"")),
    ];
    files.into()
}

fn open(path: &Path) -> std::sync::Arc<Vfs> {
    let vfs = walked::open(path.to_owned(), Options::default());
    vfs.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn attr(vfs: &Vfs, path: &str) -> Attr {
    let mut attr = vfs.getattr(Ino::ROOT).unwrap();
    for name in path.split('/') {
        attr = vfs.lookup(attr.ino, name).unwrap();
    }
    attr
}

/// Asserts that a mount has the files, links and modes of [`write_files`].
fn check(path: &Path) {
    assert_eq!(mounted(path), expected(), "{}", path.display());
    let vfs = open(path);
    let link = attr(&vfs, "mod/link");
    assert_eq!((link.kind, link.size), (FileKind::Symlink, 22));
    assert_eq!(vfs.readlink(link.ino).unwrap(), b"../elsewhere/units.txt");
    let long = attr(&vfs, "mod/long link");
    assert_eq!(vfs.readlink(long.ino).unwrap(), "x".repeat(200).as_bytes());
    assert_eq!(attr(&vfs, "mod/run.sh").mode, 0o554);
    assert_eq!(attr(&vfs, "mod/empty").mode, 0o444);
}

#[test]
fn archives_of_gnu_tar_and_python_are_shown_in_each_format() {
    const SCRIPT: &str = "
import sys, tarfile
with tarfile.open('out.tar', 'w', format=getattr(tarfile, sys.argv[1])) as archive:
    archive.add('mod')
";
    let programs: [(&str, &[&str]); 5] = [
        ("tar", &["-cf", "out.tar", "--format=gnu", "mod"]),
        ("tar", &["-cf", "out.tar", "--format=oldgnu", "mod"]),
        ("tar", &["-cf", "out.tar", "--format=posix", "mod"]),
        ("python3", &["-c", SCRIPT, "PAX_FORMAT"]),
        ("python3", &["-c", SCRIPT, "GNU_FORMAT"]),
    ];
    for (program, arguments) in programs {
        let directory = tempfile::tempdir().unwrap();
        write_files(directory.path());
        if !run_in(directory.path(), program, arguments) {
            return;
        }
        check(&directory.path().join("out.tar"));
    }
}

#[test]
fn a_compressed_tar_is_shown_as_the_tar_in_it() {
    let programs: [(&str, &[&str], &str); 7] = [
        ("gzip", &["out.tar"], "gz"),
        ("bzip2", &["out.tar"], "bz2"),
        ("xz", &["out.tar"], "xz"),
        (
            "xz",
            &["--check=sha256", "--block-size=100000", "out.tar"],
            "xz",
        ),
        ("zstd", &["-q", "--rm", "out.tar"], "zst"),
        (
            "zstd",
            &["-q", "--rm", "--no-content-size", "out.tar"],
            "zst",
        ),
        ("zstd", &["-q", "--rm", "--ultra", "-22", "out.tar"], "zst"),
    ];
    for (program, arguments, extension) in programs {
        let directory = tempfile::tempdir().unwrap();
        write_files(directory.path());
        if !run_in(directory.path(), "tar", &["-cf", "out.tar", "mod"])
            || !run_in(directory.path(), program, arguments)
        {
            return;
        }
        // Nothing depends on the name.
        let path = directory.path().join("download");
        fs::rename(directory.path().join(format!("out.tar.{extension}")), &path).unwrap();
        check(&path);
    }
}

#[test]
fn a_compressed_file_is_a_container_of_one_file() {
    for (program, extension) in [
        ("gzip", "gz"),
        ("bzip2", "bz2"),
        ("xz", "xz"),
        ("zstd", "zst"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("units.txt"), text()).unwrap();
        if !run_in(directory.path(), program, &["-k", "units.txt"]) {
            return;
        }
        fs::remove_file(path("units.txt")).unwrap();
        let packed = path(&format!("units.txt.{extension}"));
        assert_eq!(
            mounted(&packed),
            [("units.txt".to_owned(), file(&text()))].into()
        );
        // Beside it in a folder, and two in one file.
        let bytes = fs::read(&packed).unwrap();
        fs::write(&packed, [&bytes[..], &bytes].concat()).unwrap();
        let vfs = open(directory.path());
        let inside = attr(&vfs, &format!("units.txt.{extension}.d/units.txt"));
        assert_eq!(inside.size, 2 * text().len() as u64, "{program}");
        let read = vfs.read(inside.ino, inside.size - 10, 100).unwrap();
        assert!(text().ends_with(&read));
    }
}

#[test]
fn a_sparse_file_of_gnu_tar_is_listed_and_not_read() {
    for format in ["gnu", "posix"] {
        let directory = tempfile::tempdir().unwrap();
        let sparse = fs::File::create(directory.path().join("holes.bin")).unwrap();
        sparse.set_len(50 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&sparse, &[1; 100_000], 20 << 20).unwrap();
        fs::write(directory.path().join("next.txt"), b"next").unwrap();
        let format = format!("--format={format}");
        let arguments = ["-cSf", "out.tar", &format, "holes.bin", "next.txt"];
        if !run_in(directory.path(), "tar", &arguments) {
            return;
        }
        let found = mounted(&directory.path().join("out.tar"));
        assert_eq!(found["holes.bin"].size, 50 << 20, "{format}");
        assert!(found["holes.bin"].sha256.is_err());
        assert_eq!(found["next.txt"], file(b"next"));
    }
}

#[test]
fn a_tar_in_a_zip_in_a_compressed_tar_is_entered() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("units.txt"), text()).unwrap();
    let steps: [(&str, &[&str]); 3] = [
        ("tar", &["-czf", "inner.tgz", "units.txt"]),
        ("zip", &["-q", "middle.zip", "inner.tgz"]),
        ("tar", &["-cJf", "outer.tar.xz", "middle.zip"]),
    ];
    for (program, arguments) in steps {
        if !run_in(directory.path(), program, arguments) {
            return;
        }
    }
    let found = walked::files(&open(&directory.path().join("outer.tar.xz")));
    assert_eq!(found["middle.zip.d/inner.tgz.d/units.txt"], file(&text()));
}
