//! Sources without a mount: `--list` shows the tree of a mount, and `--cat`
//! prints the bytes of its files.

use std::fs::{self, File as DiskFile};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::support::container_seeds;
use crate::support::hpi::{File, V1, dir, file as entry, quirks};
use crate::support::listed::{cat, matches_its_mount, on};
use crate::support::mount::namespace::{Namespace, USER};
use crate::support::mount::{
    BIG, Fixture, Mount, Run, SMALL, big, has_programs, hpimount, mounts_at, run,
};
use crate::support::sources::{file, folder, hip, ifp};
use hpimount_containers::hpi::chunk::Method;
use hpimount_test_attributes::fuse_test;
use serde_json::Value;

#[test]
fn a_listing_has_mode_size_date_method_and_path() {
    let fixture = Fixture::new();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(998_575_506);
    let archive = DiskFile::options().append(true).open(&fixture.archive);
    archive.unwrap().set_modified(then).unwrap();
    let ran = on(&fixture.archive, "-l", &[]);
    let lines = "-r--r--r--           6 2001-08-23 14:05 stored  hello.txt\n\
        dr-xr-xr-x           0 2001-08-23 14:05 -       maps/\n\
        -r--r--r--      300000 2001-08-23 14:05 zlib    maps/big.bin\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), lines), "{ran:?}");
    let below = on(&fixture.archive, "--list", &["MAPS", "hello.txt"]);
    // In the spelling of the archive, not in the requested one.
    let mut sorted: Vec<&str> = lines.lines().collect();
    sorted.rotate_left(1);
    assert_eq!(below.stdout.lines().collect::<Vec<_>>(), sorted);
    let ran = run(hpimount()
        .args(["--list", "--json", "-o", "umask=077"])
        .arg(&fixture.archive)
        .arg("hello.txt"));
    let line: Value = serde_json::from_str(&ran.stdout).unwrap();
    let expected = serde_json::json!({
        "path": "hello.txt",
        "kind": "file",
        "mode": "0400",
        "size": 6,
        "modified": "2001-08-23T14:05:06Z",
        "method": "stored",
    });
    assert_eq!(line, expected);
}

#[fuse_test]
fn listing_and_printing_match_a_mount() {
    let hip = hip([("ped.ifp", &ifp(1, 2)[..])].into_iter());
    let mut sources = vec![
        ("assets.HIP".to_owned(), hip),
        ("a.zip".to_owned(), container_seeds::zip()),
        ("a.7z".to_owned(), container_seeds::seven_zip()),
        ("a.pkr".to_owned(), container_seeds::pkr()),
    ];
    let quirks = quirks::all().into_iter();
    sources.extend(quirks.map(|quirk| ("a.hpi".to_owned(), quirk.bytes)));
    for (name, bytes) in sources {
        let built = file(&name, &bytes);
        assert!(matches_its_mount(&built.archive), "{name}");
    }
}

#[test]
fn files_in_any_spelling_are_printed_one_after_the_other() {
    let fixture = Fixture::new();
    assert_eq!(cat(&fixture.archive, &[SMALL]), b"hello\n");
    assert_eq!(cat(&fixture.archive, &["/Maps/../HELLO.txt"]), b"hello\n");
    assert!(cat(&fixture.archive, &[BIG, SMALL]) == [&big(), &b"hello\n"[..]].concat());
    let exact = on(
        &fixture.archive,
        "--cat",
        &["HELLO.txt", "-o", "case_sensitive"],
    );
    assert_eq!(exact.code, Some(1));
}

#[test]
fn paths_lead_through_archives_assets_and_links() {
    let package = ifp(1, 2);
    let fixture = folder(|source| {
        let packed = |name: &[u8], bytes: &[u8]| entry(name, File::new(bytes, Method::Zlib));
        let inner = V1::new(vec![packed(b"in.txt", b"inside")]).build().bytes;
        let outer = V1::new(vec![dir(b"mods", vec![packed(b"Inner.UFO", &inner)])]);
        fs::write(source.join("outer.hpi"), outer.build().bytes).unwrap();
        let assets = hip([("ped.ifp", &package[..])].into_iter());
        fs::write(source.join("assets.HIP"), assets).unwrap();
        std::os::unix::fs::symlink("outer.hpi", source.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", source.join("away")).unwrap();
        std::os::unix::fs::symlink("loop", source.join("loop")).unwrap();
    });
    let inside = "outer.hpi.d/mods/inner.ufo.d/IN.txt";
    assert_eq!(cat(&fixture.archive, &[inside]), b"inside");
    assert_eq!(
        cat(&fixture.archive, &["link"]),
        fs::read(fixture.archive.join("outer.hpi")).unwrap()
    );
    let ids = on(&fixture.archive, "--list", &["assets.HIP.d/ids", "--json"]);
    let link = ids.stdout.lines().last().unwrap();
    let link: Value = serde_json::from_str(link).unwrap();
    assert_eq!(
        cat(&fixture.archive, &[link["path"].as_str().unwrap()]),
        package
    );
    let layer = on(&fixture.archive, "-l", &["assets.HIP.d/layers"]).stdout;
    let asset = layer.split_whitespace().last().unwrap();
    let info = cat(&fixture.archive, &[&format!("{asset}.meta/info.txt")]);
    assert!(
        String::from_utf8(info).unwrap().starts_with("IFP"),
        "{asset}"
    );
    // Companions are listed only on request.
    let all = on(&fixture.archive, "-l", &[]).stdout;
    assert_eq!(all.lines().count(), 5, "{all}");
    for path in ["away", "loop", "../source/link"] {
        let ran = on(&fixture.archive, "--cat", &[path]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("leads out of the source"), "{ran:?}");
    }
}

#[test]
fn unreadable_paths_are_named_and_the_rest_is_printed() {
    let fixture = Fixture::new();
    let ran = on(
        &fixture.archive,
        "--cat",
        &["nowhere", "maps", SMALL, "hello.txt/"],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "hello\n"));
    let lines = [
        "hpimount: nowhere: no such file or directory",
        "hpimount: maps: is a directory",
        "hpimount: hello.txt/: not a directory",
    ];
    assert_eq!(ran.stderr.lines().collect::<Vec<_>>(), lines);
    // Damage a byte of the payload of the large file's second chunk.
    let mut bytes = fs::read(&fixture.archive).unwrap();
    let chunks = bytes.windows(4).enumerate();
    let chunks: Vec<usize> = chunks
        .filter(|(_, four)| *four == b"SQSH")
        .map(|(at, _)| at)
        .collect();
    bytes[chunks[1] + 100] ^= 1;
    fs::write(&fixture.archive, bytes).unwrap();
    let output = hpimount()
        .arg("--cat")
        .arg(&fixture.archive)
        .arg(BIG)
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(12));
    assert!(output.stdout == big()[..65_536]);
    let said = String::from_utf8(output.stderr).unwrap();
    let place_of_damage = format!("hpimount: {BIG}: chunk 1 at {:#x}: checksum is ", chunks[1]);
    assert!(said.starts_with(&place_of_damage), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_closed_pipe_ends_the_program_silently() {
    let entries = (0..20_000).map(|number| {
        let name = format!("a file with a long name, number {number}");
        entry(name.as_bytes(), File::new("", Method::Stored))
    });
    let fixture = file("many.hpi", &V1::new(entries.collect()).build().bytes);
    for args in [&["--list"][..], &["--cat"]] {
        let mut command = hpimount();
        command.args(args).arg(&fixture.archive);
        if args[0] == "--cat" {
            fs::write(&fixture.archive, crate::support::mount::sample().bytes).unwrap();
            command.arg(BIG);
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).stderr(Stdio::piped()).output();
        let output = output.unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGPIPE), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[fuse_test]
fn printing_does_not_need_fuse() {
    if !has_programs(&["unshare"]) {
        return;
    }
    let fixture = Fixture::new();
    let hidden = "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", hidden, "sh"]);
    command.args([env!("CARGO_BIN_EXE_hpimount"), "--cat"]);
    let ran = run(command.arg(&fixture.archive).arg(SMALL));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "hello\n"),
        "{ran:?}"
    );
}

/// Runs `--unmount`.
fn unmount(points: &[&Path]) -> Run {
    run(hpimount().arg("--unmount").args(points))
}

#[fuse_test]
fn unmounting_removes_an_unused_mount() {
    let mount = Mount::new(&[]);
    let busy = DiskFile::open(mount.file(SMALL)).unwrap();
    let ran = unmount(&[mount.path()]);
    assert_eq!(ran.code, Some(22), "{ran:?}");
    assert!(ran.stderr.contains("is in use"), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    mount.assert_answers();
    drop(busy);
    let ran = unmount(&[mount.path()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let fixture = mount.assert_ends();
    // A mount of another program is not unmounted.
    for point in [
        &fixture.point,
        Path::new("/proc"),
        &fixture.dir().join("none"),
    ] {
        let ran = unmount(&[point]);
        assert_eq!(ran.code, Some(20), "{ran:?}");
        assert!(ran.stderr.contains(point.to_str().unwrap()), "{ran:?}");
    }
}

#[fuse_test]
fn a_dead_mount_is_unmounted_too() {
    let mount = Mount::new(&[]);
    mount.signal(rustix::process::Signal::KILL);
    crate::support::mount::eventually("the daemon ends", || mount.daemon().has_ended());
    assert_eq!(unmount(&[mount.path()]).code, Some(0));
    assert_eq!(mounts_at(mount.path()).len(), 0);
}

#[fuse_test]
fn users_can_unmount_their_own_mounts() {
    if !has_programs(&["unshare", "setpriv", "nsenter", "fusermount3"]) {
        return;
    }
    let namespace = Namespace::new();
    let mount = namespace.mount(&[]);
    let program = namespace.program.clone();
    let point = namespace.fixture.point.clone();
    let ran = run(namespace.user(USER, program).arg("--unmount").arg(point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}
