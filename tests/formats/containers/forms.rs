//! Variants of zip and 7z archives: in parts, after programs, with passwords, links and
//! other character sets, written by other programs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use super::foreign::{file, mounted, text};
use hpimount::mount::{FileKind, Ino, Options, Vfs};
use hpimount_containers::crypt::Password;
use hpimount_containers::format::Encoding;
use testkit::programs::run_in;
use testkit::walked;

/// Returns bytes that cannot be packed.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(next).collect()
}

fn with_password(path: &Path, password: &str) -> Result<Arc<Vfs>, String> {
    let options = Options {
        password: Some(Password::new(password)),
        ..Options::default()
    };
    walked::open(path.to_owned(), options)
}

#[test]
fn parts_of_zip_and_7z_are_joined_and_a_missing_one_is_named() {
    let programs: [(&str, &[&str], &[&str]); 4] = [
        (
            "7z",
            &["a", "-v100k", "a.7z", "n.bin", "t.txt"],
            &["a.7z.001", "a.7z.002"],
        ),
        (
            "7z",
            &["a", "-v100k", "a.zip", "n.bin", "t.txt"],
            &["a.zip.001", "a.zip.003"],
        ),
        (
            "zip",
            &["-q", "-s", "100k", "a.zip", "n.bin", "t.txt"],
            &["a.zip", "a.z02"],
        ),
        (
            "zip",
            &["-q", "-s", "100k", "a.zip", "n.bin", "t.txt"],
            &["a.z01", "a.zip"],
        ),
    ];
    for (program, arguments, names) in programs {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("n.bin"), noise(250_000)).unwrap();
        fs::write(path("t.txt"), text()).unwrap();
        if !run_in(directory.path(), program, arguments) {
            return;
        }
        let found = mounted(&path(names[0]));
        assert_eq!(found["n.bin"], file(&noise(250_000)), "{arguments:?}");
        assert_eq!(found["t.txt"], file(&text()), "{arguments:?}");
        fs::remove_file(path("n.bin")).unwrap();
        // In a folder.
        let vfs = walked::open(directory.path().to_owned(), Options::default()).unwrap();
        let inside = walked::files(&vfs);
        if names[0] != "a.z01" {
            assert_eq!(
                inside[&format!("{}.d/n.bin", names[0])],
                file(&noise(250_000))
            );
        }
        fs::remove_file(path(names[1])).unwrap();
        let opened = walked::open(path(names[0]), Options::default());
        let error = opened.err().unwrap();
        assert!(
            error.contains(names[1]) && error.contains("missing"),
            "{error}"
        );
    }
}

#[test]
fn a_7z_behind_a_program_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("t.txt"), text()).unwrap();
    if !run_in(directory.path(), "7z", &["a", "a.7z", "t.txt"]) {
        return;
    }
    let archive = fs::read(path("a.7z")).unwrap();
    // With the magic of an archive in the program itself.
    for magic in [&b"MZ"[..], b"\x7FELF"] {
        let program = [magic, &noise(200_000), b"7z\xBC\xAF\x27\x1C", &noise(1000)].concat();
        fs::write(path("a.exe"), [&program[..], &archive].concat()).unwrap();
        assert_eq!(mounted(&path("a.exe"))["t.txt"], file(&text()));
    }
}

#[test]
fn encrypted_files_are_read_with_the_password_and_with_no_other() {
    let programs: [(&str, &[&str], bool); 6] = [
        (
            "zip",
            &["-q", "-e", "-P", "s\u{e9}cret", "out", "t.txt"],
            false,
        ),
        ("7z", &["a", "-tzip", "-psecret", "out.zip", "t.txt"], false),
        (
            "7z",
            &["a", "-tzip", "-mem=AES128", "-psecret", "out.zip", "t.txt"],
            false,
        ),
        (
            "7z",
            &[
                "a",
                "-tzip",
                "-mem=AES256",
                "-mx=0",
                "-psecret",
                "out.zip",
                "t.txt",
            ],
            false,
        ),
        (
            "7z",
            &["a", "-ps\u{e9}cret", "out.zip", "-t7z", "t.txt"],
            false,
        ),
        (
            "7z",
            &["a", "-ps\u{e9}cret", "-mhe=on", "out.zip", "-t7z", "t.txt"],
            true,
        ),
    ];
    for (program, arguments, hides_names) in programs {
        // 7z takes only ASCII for zip.
        let password = match arguments.contains(&"-psecret") {
            true => "secret",
            false => "s\u{e9}cret",
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.zip");
        fs::write(directory.path().join("t.txt"), text()).unwrap();
        if !run_in(directory.path(), program, arguments) {
            return;
        }
        let right = walked::files(&with_password(&path, password).unwrap());
        assert_eq!(right["t.txt"], file(&text()), "{arguments:?}");
        let opened = [
            with_password(&path, "wrong"),
            walked::open(path.clone(), Options::default()),
        ];
        for (opened, why) in opened
            .into_iter()
            .zip(["another password", "needs a password"])
        {
            match opened {
                Err(error) => assert!(hides_names && error.contains(why), "{error}"),
                Ok(vfs) => assert!(walked::files(&vfs)["t.txt"].sha256.is_err()),
            }
        }
    }
}

#[test]
fn a_changed_byte_of_an_encrypted_file_is_never_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.zip");
    fs::write(directory.path().join("t.txt"), text()).unwrap();
    // Stored, and without its own checksum.
    let arguments = [
        "a",
        "-tzip",
        "-mem=AES256",
        "-mx=0",
        "-psecret",
        "out.zip",
        "t.txt",
    ];
    if !run_in(directory.path(), "7z", &arguments) {
        return;
    }
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    fs::write(&path, bytes).unwrap();
    let files = walked::files(&with_password(&path, "secret").unwrap());
    assert!(files["t.txt"].sha256.is_err());
}

#[test]
fn links_and_modes_of_unix_are_shown() {
    let programs: [(&str, &[&str]); 2] = [
        ("zip", &["-q", "-r", "-y", "out.zip", "d"]),
        ("7z", &["a", "-snl", "out.zip", "-t7z", "d"]),
    ];
    for (program, arguments) in programs {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("d")).unwrap();
        fs::write(path("d/run"), text()).unwrap();
        fs::set_permissions(path("d/run"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path("d/data"), text()).unwrap();
        symlink("../outside", path("d/link")).unwrap();
        if !run_in(directory.path(), program, arguments) {
            return;
        }
        let vfs = walked::open(path("out.zip"), Options::default()).unwrap();
        let inside = vfs.lookup(Ino::ROOT, "d").unwrap().ino;
        let link = vfs.lookup(inside, "link").unwrap();
        assert_eq!((link.kind, link.size), (FileKind::Symlink, 10), "{program}");
        assert_eq!(vfs.readlink(link.ino).unwrap(), b"../outside");
        assert_eq!(vfs.lookup(inside, "run").unwrap().mode, 0o555);
        assert_eq!(vfs.lookup(inside, "data").unwrap().mode, 0o444);
    }
}

#[test]
fn names_in_another_character_set_are_shown_in_it() {
    const SCRIPT: &str = "
import tarfile
with tarfile.open('out.tar', 'w', format=tarfile.GNU_FORMAT, encoding='shift_jis') as archive:
    archive.add('t.txt', '\u{30bd}.txt')
";
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("t.txt"), text()).unwrap();
    if !run_in(directory.path(), "python3", &["-c", SCRIPT]) {
        return;
    }
    let options = Options {
        encoding: Encoding::for_label(b"shift_jis"),
        ..Options::default()
    };
    let vfs = walked::open(directory.path().join("out.tar"), options).unwrap();
    assert_eq!(walked::files(&vfs)["\u{30bd}.txt"], file(&text()));
}

#[test]
fn a_zip_without_its_directory_is_read_with_force() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("n.bin"), noise(50_000)).unwrap();
    fs::write(path("t.txt"), text()).unwrap();
    if !run_in(
        directory.path(),
        "zip",
        &["-q", "out.zip", "n.bin", "t.txt"],
    ) {
        return;
    }
    let mut bytes = fs::read(path("out.zip")).unwrap();
    bytes.truncate(bytes.len() - 150);
    fs::write(path("cut.zip"), bytes).unwrap();
    assert!(walked::open(path("cut.zip"), Options::default()).is_err());
    let options = Options {
        force: true,
        ..Options::default()
    };
    let files = walked::files(&walked::open(path("cut.zip"), options).unwrap());
    assert_eq!(files["n.bin"], file(&noise(50_000)));
    assert_eq!(files["t.txt"], file(&text()));
}

#[test]
fn archives_by_other_names_can_be_entered() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("mods")).unwrap();
    fs::write(path("t.txt"), text()).unwrap();
    if !run_in(directory.path(), "zip", &["-q", "out.zip", "t.txt"]) {
        return;
    }
    let names = ["a.jar", "b.pk3", "c.zipx", "d.cbz", "e.PK4"];
    for name in names {
        fs::copy(path("out.zip"), path("mods").join(name)).unwrap();
    }
    let files = walked::files(&walked::open(path("mods"), Options::default()).unwrap());
    for name in names {
        assert_eq!(files[&format!("{name}.d/t.txt")], file(&text()), "{name}");
    }
}
