//! A folder as a source: the mount shows its contents, lists one directory at a
//! time, and follows no links out of it.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use fixtures::noise;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use testkit::mount::namespace::{Namespace, USER};
use testkit::mount::{has_programs, hpimount, run};
use testkit::sources::{folder, names, output};

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap();
}

/// Returns the error number of a failure.
fn errno<T>(result: std::io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

/// Lists a directory to its end.
fn list(directory: &Path) -> std::io::Result<Vec<fs::DirEntry>> {
    fs::read_dir(directory)?.collect()
}

#[fuse_test]
fn a_mounted_folder_equals_the_folder() {
    if !has_programs(&["diff"]) {
        return;
    }
    let fixture = folder(|source| {
        fs::create_dir_all(source.join("a/deep/er")).unwrap();
        fs::create_dir(source.join("empty")).unwrap();
        for name in [
            "plain.txt",
            "with space",
            "100%.txt",
            "back\\slash",
            ".hidden",
            "-dash",
            "umläut \u{1F400}",
            "Same",
            "same",
            "a/deep/er/x.hpi",
            "a/ped.ifp",
        ] {
            fs::write(source.join(name), name).unwrap();
        }
        fs::write(source.join("big"), noise(1, 3_000_000)).unwrap();
        fs::write(source.join("none"), "").unwrap();
        symlink("big", source.join("link")).unwrap();
        symlink("../plain.txt", source.join("a/up")).unwrap();
        symlink("nowhere", source.join("dangling")).unwrap();
        symlink("/etc", source.join("outside")).unwrap();
        symlink(".", source.join("a/loop")).unwrap();
    });
    let mount = fixture.mount(&["--no-meta"]);
    let source = &mount.fixture.archive;
    let args = ["-r", "--no-dereference", source.to_str().unwrap()];
    assert_eq!(output("diff", &args, mount.path()), "");
    for name in ["plain.txt", "big", "a/deep"] {
        let times = [source, mount.path()]
            .map(|root| fs::metadata(root.join(name)).unwrap().modified().unwrap());
        let [true_time, shown] = times.map(|time| {
            let since = time.duration_since(std::time::UNIX_EPOCH);
            since.unwrap().as_secs()
        });
        assert_eq!(shown, true_time, "{name}");
    }
}

#[fuse_test]
fn symbolic_links_keep_their_targets_and_are_not_followed() {
    let odd = OsStr::from_bytes(b"caf\xe9/%");
    let fixture = folder(|source| {
        let secret = source.with_file_name("secret");
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("file"), "secret").unwrap();
        symlink(&secret, source.join("outside")).unwrap();
        symlink(odd, source.join("odd")).unwrap();
    });
    let mount = fixture.mount(&[]);
    let link = fs::read_link(mount.file("outside")).unwrap();
    assert_eq!(link, mount.fixture.dir().join("secret"));
    assert_eq!(fs::read_link(mount.file("odd")).unwrap(), odd);
    let kind = fs::symlink_metadata(mount.file("odd")).unwrap();
    assert!(kind.is_symlink());
    assert_eq!(kind.len(), odd.len() as u64);
}

#[fuse_test]
fn a_directory_that_has_become_a_link_is_not_followed() {
    let fixture = folder(|source| {
        fs::create_dir(source.join("sub")).unwrap();
        let secret = source.with_file_name("secret");
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("file"), "secret").unwrap();
    });
    let mount = fixture.mount(&[]);
    let sub = mount.fixture.archive.join("sub");
    fs::remove_dir(&sub).unwrap();
    symlink(mount.fixture.dir().join("secret"), &sub).unwrap();
    assert_eq!(errno(list(&mount.file("sub"))), Some(libc::EIO));
}

#[fuse_test]
fn names_that_are_not_text_are_escaped_and_can_be_read() {
    let fixture = folder(|source| {
        for name in [&b"new\nline"[..], b"5%\xff.txt", b"\xe9\xff"] {
            fs::write(source.join(OsStr::from_bytes(name)), name).unwrap();
        }
        fs::create_dir(source.join(OsStr::from_bytes(b"d\xfe"))).unwrap();
        fs::write(source.join(OsStr::from_bytes(b"d\xfe/in")), "in").unwrap();
    });
    let mount = fixture.mount(&[]);
    assert_eq!(
        names(mount.path()),
        ["%E9%FF", "5%25%FF.txt", "d%FE", "new%0Aline"]
    );
    assert_eq!(fs::read(mount.file("5%25%FF.txt")).unwrap(), b"5%\xff.txt");
    assert_eq!(fs::read(mount.file("new%0Aline")).unwrap(), b"new\nline");
    assert_eq!(fs::read(mount.file("d%FE/in")).unwrap(), b"in");
    let raw = xattr::get(mount.file("d%FE"), "user.hpimount.raw_name").unwrap();
    assert_eq!(raw.unwrap(), b"d\xfe");
}

#[fuse_test]
fn pipes_and_sockets_are_not_shown() {
    let fixture = folder(|source| {
        fifo(&source.join("pipe"));
        fifo(&source.join("pipe.ifp"));
        drop(UnixListener::bind(source.join("socket")).unwrap());
        fs::write(source.join("file"), "file").unwrap();
    });
    let mount = fixture.mount(&[]);
    assert_eq!(names(mount.path()), ["file"]);
}

#[fuse_test]
fn a_directory_is_listed_when_it_is_entered_and_not_before() {
    let fixture = folder(|source| fs::create_dir_all(source.join("sub/below")).unwrap());
    let mount = fixture.mount(&[]);
    let sub = mount.fixture.archive.join("sub");
    fs::write(sub.join("early"), "").unwrap();
    assert_eq!(names(&mount.file("sub")), ["below", "early"]);
    fs::write(sub.join("late"), "").unwrap();
    assert_eq!(names(&mount.file("sub")), ["below", "early"]);
    fs::write(sub.join("below/early"), "").unwrap();
    assert_eq!(names(&mount.file("sub/below")), ["early"]);
}

#[fuse_test]
fn a_missing_directory_fails_alone_and_until_it_is_back() {
    let fixture = folder(|source| {
        for name in ["gone", "stays"] {
            fs::create_dir(source.join(name)).unwrap();
            fs::write(source.join(name).join("file"), name).unwrap();
        }
    });
    let mount = fixture.mount_in_foreground(&[]);
    let (gone, away) = (
        mount.fixture.archive.join("gone"),
        mount.fixture.dir().join("away"),
    );
    fs::rename(&gone, &away).unwrap();
    assert_eq!(errno(list(&mount.file("gone"))), Some(libc::EIO));
    assert_eq!(errno(fs::read(mount.file("gone/file"))), Some(libc::EIO));
    assert_eq!(names(mount.path()), ["gone", "stays"]);
    assert_eq!(fs::read(mount.file("stays/file")).unwrap(), b"stays");
    let log = mount.fixture.log();
    assert!(log.contains("source/gone: "), "{log}");

    fs::rename(&away, &gone).unwrap();
    assert_eq!(fs::read(mount.file("gone/file")).unwrap(), b"gone");
}

#[fuse_test]
fn a_directory_that_may_not_be_read_fails_alone() {
    if !has_programs(&["unshare", "nsenter", "setpriv", "fusermount3"]) {
        return;
    }
    let mut namespace = Namespace::new();
    let source = namespace.fixture.dir().join("source");
    fs::create_dir_all(source.join("private")).unwrap();
    fs::create_dir(source.join("public")).unwrap();
    fs::write(source.join("public/file"), "public").unwrap();
    fs::write(source.join("unreadable"), "private").unwrap();
    for (name, mode) in [("private", 0o700), ("unreadable", 0o600)] {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(source.join(name), permissions).unwrap();
    }
    namespace.fixture.archive = source;
    let _mount = namespace.mount(&[]);
    let ls = |name: &str| {
        let path = namespace.fixture.point.join(name);
        run(namespace.user(USER, "ls").arg(path))
    };
    let private = ls("private");
    assert!(private.stderr.contains("Input/output error"), "{private:?}");
    assert_eq!(ls("public").stdout, "file\n");
    assert_eq!(ls("").stdout, "private\npublic\nunreadable\n");
    assert_eq!(namespace.cat(USER, "public/file").stdout, "public");
    let unreadable = namespace.cat(USER, "unreadable");
    assert!(unreadable.stderr.contains("Input/output error"));
}

#[fuse_test]
fn a_file_that_changes_is_never_read_with_foreign_bytes() {
    let fixture = folder(|source| {
        for name in ["truncated", "replaced", "grown", "removed", "piped", "open"] {
            fs::write(source.join(name), noise(7, 200_000)).unwrap();
        }
    });
    let mount = fixture.mount(&[]);
    let source = |name: &str| mount.fixture.archive.join(name);
    let mut open = fs::File::open(mount.file("open")).unwrap();
    open.read_exact(&mut [0; 10]).unwrap();

    let cut = fs::File::options().write(true).open(source("truncated"));
    cut.unwrap().set_len(100_000).unwrap();
    fs::remove_file(source("removed")).unwrap();
    fs::remove_file(source("piped")).unwrap();
    fifo(&source("piped"));
    for name in ["replaced", "open"] {
        fs::write(source("new"), noise(8, 200_000)).unwrap();
        fs::rename(source("new"), source(name)).unwrap();
    }
    fs::write(source("grown"), noise(9, 300_000)).unwrap();

    for name in ["truncated", "replaced", "removed", "piped"] {
        let read = errno(fs::read(mount.file(name)));
        assert_eq!(read, Some(libc::EIO), "{name}");
    }
    let mut start = vec![0; 4096];
    let truncated = fs::File::open(mount.file("truncated")).unwrap();
    truncated.read_exact_at(&mut start, 0).unwrap();
    assert_eq!(start, noise(7, 4096), "the bytes that are left can be read");
    assert_eq!(
        fs::read(mount.file("grown")).unwrap(),
        &noise(9, 300_000)[..200_000],
        "the length is the original one"
    );
    let mut rest = Vec::new();
    match open.read_to_end(&mut rest) {
        Ok(_) => assert_eq!(rest, &noise(7, 200_000)[10..]),
        Err(error) => assert_ne!(error.kind(), ErrorKind::UnexpectedEof),
    }
}

#[fuse_test]
fn a_file_without_a_birth_time_can_be_read_after_it_was_changed() {
    if !has_programs(&["bindfs"]) {
        return;
    }
    let behind = tempfile::tempdir().unwrap();
    fs::write(behind.path().join("changed"), "before").unwrap();
    // More than the daemon has open.
    let others = (0..40).map(|number| number.to_string());
    let others: Vec<_> = others.collect();
    for other in &others {
        fs::write(behind.path().join(other), other).unwrap();
    }
    let fixture = folder(|_| {});
    // No FUSE file system has birth times.
    let bound = run(Command::new("bindfs").args([behind.path(), &fixture.archive]));
    assert_eq!(bound.code, Some(0), "{bound:?}");
    let below = fs::metadata(fixture.archive.join("changed")).unwrap();
    below.created().unwrap_err();
    let mount = fixture.mount(&[]);
    assert_eq!(fs::metadata(mount.file("changed")).unwrap().len(), 6);
    let changed = mount.fixture.archive.join("changed");
    fs::write(changed, "after!").unwrap();
    for other in &others {
        assert_eq!(fs::read_to_string(mount.file(other)).unwrap(), *other);
    }
    assert_eq!(fs::read(mount.file("changed")).unwrap(), b"after!");
}

#[fuse_test]
fn two_hundred_open_files_need_few_descriptors_of_the_daemon() {
    let fixture = folder(|source| {
        for number in 0..200 {
            fs::write(source.join(number.to_string()), noise(number, 50_000)).unwrap();
        }
    });
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"]);
    command.arg(hpimount().get_program());
    command.args([&fixture.archive, &fixture.point]);
    let mount = fixture.mount_by(command);
    let open = |number: u64| fs::File::open(mount.file(&number.to_string())).unwrap();
    let files: Vec<_> = (0..200).map(open).collect();
    for (number, file) in (0..).zip(&files) {
        let mut last = [0; 100];
        file.read_exact_at(&mut last, 49_900).unwrap();
        assert_eq!(last, noise(number, 50_000)[49_900..]);
    }
    for (number, mut file) in (0..).zip(files) {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, noise(number, 50_000));
    }
}

#[fuse_test]
fn a_folder_can_be_mounted_over_itself() {
    let mut fixture = folder(|source| {
        fs::create_dir_all(source.join("sub/below")).unwrap();
        fs::write(source.join("file"), "file").unwrap();
        fs::write(source.join("sub/below/file"), "below").unwrap();
    });
    fixture.point = fixture.archive.clone();
    let mount = fixture.mount(&["-o", "threads=1"]);
    assert_eq!(fs::read(mount.file("file")).unwrap(), b"file");
    assert_eq!(names(&mount.file("sub")), ["below"]);
    assert_eq!(fs::read(mount.file("sub/below/file")).unwrap(), b"below");
}
