//! Discs with Rock Ridge: names, modes, links, times, deep directories, and files
//! packed by zisofs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hpimount::mount::{FileKind, Options};

use fixtures::disc::Disc;
use fixtures::rock_ridge::{BLOCK, both, disc, field, name, root, unpacked};
use hpimount_containers::Archive;
use testkit::applied::{hpi_apply, write};
use testkit::containers::{self, Contents as _};
use testkit::programs::run_in;
use testkit::walked;

/// The modification time of all files that programs pack.
const MODIFIED: i64 = 1_000_000_000;

/// A path of more levels than the primary tree may have.
const DEEP: &str = "d/e/f/g/h/i/j/k/l/m/deep.txt";

fn open(image: Vec<u8>) -> Archive {
    containers::open("disc.iso", image, &|_| None, true).unwrap()
}

/// Returns the paths of the files with their bytes, in order.
fn files(opened: &Archive) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = opened.files().collect();
    files.sort_by_key(|(path, _)| path.to_owned());
    let read = |(path, entry): (&str, _)| (path.to_owned(), opened.bytes(entry).unwrap());
    files.into_iter().map(read).collect()
}

/// The expected contents for [`content`].
fn expected() -> Vec<(String, Vec<u8>)> {
    let zeros = [vec![0; 3 * BLOCK], b"end".to_vec()].concat();
    let text = b"line after line\n".repeat(20_000);
    [
        ("EMPTY", Vec::new()),
        ("Grüße.txt", b"8 bits".to_vec()),
        (
            "a name that is rather long for a disc.text",
            b"#!/bin/sh\n".to_vec(),
        ),
        (DEEP, b"deep".to_vec()),
        ("d/text", text),
        ("zeros", zeros),
    ]
    .map(|(path, bytes)| (path.to_owned(), bytes))
    .into()
}

/// Writes files to `content` in a directory.
fn content(directory: &Path) {
    let top = directory.join("content");
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(MODIFIED as u64);
    for (path, bytes) in expected() {
        write(&top, &path, &bytes);
        let file = fs::File::options()
            .write(true)
            .open(top.join(&path))
            .unwrap();
        file.set_modified(modified).unwrap();
        let mode = if bytes.starts_with(b"#!") {
            0o755
        } else {
            0o644
        };
        file.set_permissions(fs::Permissions::from_mode(mode))
            .unwrap();
    }
    symlink("../elsewhere/./units", top.join("link")).unwrap();
    symlink("/usr/share", top.join("d/absolute")).unwrap();
}

/// Returns discs of other programs with [`content`].
fn discs() -> Vec<Vec<u8>> {
    let programs: [(&str, &[&str]); 5] = [
        (
            "genisoimage",
            &["-quiet", "-R", "-o", "disc.iso", "content"],
        ),
        (
            "genisoimage",
            &[
                "-quiet",
                "-R",
                "-hide-rr-moved",
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
                "-as", "mkisofs", "-quiet", "-R", "-J", "-o", "disc.iso", "content",
            ],
        ),
        (
            "xorriso",
            &[
                "-as",
                "mkisofs",
                "-quiet",
                "-R",
                "-rr_reloc_dir",
                "far",
                "-o",
                "disc.iso",
                "content",
            ],
        ),
        (
            "xorriso",
            &[
                "-outdev",
                "disc.iso",
                "-map",
                "content",
                "/",
                "-set_filter_r",
                "--zisofs",
                "/",
            ],
        ),
    ];
    let mut discs = Vec::new();
    for (program, arguments) in programs {
        let directory = tempfile::tempdir().unwrap();
        content(directory.path());
        if !run_in(directory.path(), program, arguments) {
            break;
        }
        discs.push(fs::read(directory.path().join("disc.iso")).unwrap());
    }
    discs
}

#[test]
fn discs_by_other_programs_show_names_times_links_and_the_bytes_before_zisofs() {
    for (number, image) in discs().into_iter().enumerate() {
        let opened = open(image);
        assert_eq!(opened.volume().warnings(), [""; 0], "disc {number}");
        assert_eq!(opened.volume().info()["rock_ridge"], true, "disc {number}");
        assert!(files(&opened) == expected(), "disc {number}");
        let mut links = opened.links();
        links.sort();
        assert_eq!(
            links,
            [
                ("d/absolute", "/usr/share"),
                ("link", "../elsewhere/./units")
            ],
            "disc {number}"
        );
        assert!(
            opened
                .files()
                .all(|(_, entry)| entry.modified == Some(MODIFIED))
        );
        // Neither the directory for deep directories nor anything else is added.
        assert_eq!(opened.directories().len(), 10, "disc {number}");
    }
}

#[test]
fn a_mount_shows_the_links_and_modes_of_rock_ridge() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("disc.iso");
    fs::write(&path, disc().iso()).unwrap();
    let vfs = walked::open(path, Options::default()).unwrap();
    let attr = |path| vfs.lookup(hpimount::mount::Ino::ROOT, path).unwrap();
    assert_eq!(attr("a long name.text").mode & 0o777, 0o555);
    assert_eq!(attr("packed.txt").mode & 0o777, 0o444);
    let link = attr("link");
    assert_eq!(link.kind, FileKind::Symlink);
    assert_eq!(vfs.readlink(link.ino).unwrap(), b"d");
}

#[test]
fn files_without_a_name_of_rock_ridge_keep_that_of_the_record() {
    let opened = open(disc().iso());
    let paths: Vec<_> = files(&opened).into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        ["PLAIN.TXT", "a long name.text", "d/inner", "packed.txt"]
    );
    assert_eq!(files(&opened)[3].1, unpacked());
    let warnings = opened.volume().warnings();
    assert_eq!(
        warnings,
        ["/device: is a device or a FIFO, which is not shown"]
    );
}

#[test]
fn an_unknown_packing_is_a_warning_and_the_stored_bytes() {
    let mut disc = Disc::default();
    let packed = field(b"ZF", &[&b"PZ"[..], &[6, 15], &both(9)].concat());
    disc.fields("", &root())
        .file("A", b"stored")
        .fields("A", &packed);
    let opened = open(disc.iso());
    assert_eq!(files(&opened), [("A".to_owned(), b"stored".to_vec())]);
    assert!(opened.volume().warnings()[0].contains("/A: is packed in an unknown way"));
}

#[test]
fn fields_that_continue_in_themselves_end_with_a_warning() {
    let mut disc = Disc::default();
    let name = name("long");
    // In the root directory, in sector 18, it is preceded by two records, the start of
    // the third one with its name, and a field.
    let at = (34 + root().len()).next_multiple_of(2) + 34 + 36 + name.len();
    let place = [18, at as u32, 28].into_iter().flat_map(both);
    let place = field(b"CE", &place.collect::<Vec<_>>());
    disc.fields("", &root()).file("A", b"a");
    disc.fields("A", &[name, place].concat());
    let opened = open(disc.iso());
    assert_eq!(files(&opened), [("long".to_owned(), b"a".to_vec())]);
    let warnings = opened.volume().warnings();
    assert!(warnings[0].contains("/A: system use"), "{warnings:?}");
    assert!(warnings[0].contains("more continuations"), "{warnings:?}");
}

#[test]
fn directories_that_are_said_to_be_where_none_is_are_left_out() {
    let mut disc = Disc::default();
    disc.fields("", &root());
    disc.file("GONE", b"")
        .fields("GONE", &field(b"CL", &both(19)));
    disc.file("LOOP", b"")
        .fields("LOOP", &field(b"CL", &both(18)));
    let opened = open(disc.iso());
    assert!(files(&opened).is_empty());
    let warnings = opened.volume().warnings().join("\n");
    assert!(
        warnings.contains("/GONE/: its records are not where"),
        "{warnings}"
    );
    assert!(warnings.contains("/LOOP/: was shown before"), "{warnings}");
}

/// Applies the changes of a folder, and returns the files of the result.
fn changed(image: &[u8], change: fn(&Path)) -> Result<Archive, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("disc.iso"), image).unwrap();
    fs::create_dir(path("edit")).unwrap();
    change(&path("edit"));
    let output = hpi_apply(&[], &path("edit"), &path("disc.iso"), &path("out.iso"));
    match output.status.success() {
        true => Ok(open(fs::read(path("out.iso")).unwrap())),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn files_of_discs_with_rock_ridge_are_replaced_wherever_they_stand() {
    for (number, image) in discs().into_iter().enumerate() {
        let opened = changed(&image, |edit| {
            write(edit, DEEP, b"changed");
            write(edit, "d/text", b"no longer packed");
            write(edit, "zeros", &[7; 500_000]);
        });
        let opened = opened.unwrap_or_else(|error| panic!("disc {number}: {error}"));
        let mut wanted = expected();
        wanted[3].1 = b"changed".to_vec();
        wanted[4].1 = b"no longer packed".to_vec();
        wanted[5].1 = vec![7; 500_000];
        assert!(files(&opened) == wanted, "disc {number}");
        assert_eq!(opened.links().len(), 2, "disc {number}");
    }
}

#[test]
fn nothing_is_added_to_a_disc_with_rock_ridge() {
    let error = changed(&disc().iso(), |edit| write(edit, "d/new.txt", b"new"))
        .err()
        .unwrap();
    assert!(error.contains("the disc has Rock Ridge"), "{error}");
}
