//! Sources without a mount: `hpi list` shows the tree of a mount, and `hpi cat`
//! prints the bytes of its files.

use std::fs::{self, File as DiskFile};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use fixtures::container_seeds;
use fixtures::hpi::{File, V1, dir, file as entry, quirks};
use hpimount_containers::hpi::chunk::Method;
use serde_json::Value;
use testkit::fuse_test;
use testkit::listed::{cat, matches_its_mount, on};
use testkit::mount::namespace::{Namespace, USER};
use testkit::mount::{BIG, Fixture, Mount, Run, SMALL, big, has_programs, hpi, mounts_at, run};
use testkit::sources::{file, folder, hip, ifp};

#[test]
fn a_listing_has_mode_size_date_method_and_path() {
    let fixture = Fixture::new();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(998_575_506);
    let archive = DiskFile::options().append(true).open(&fixture.archive);
    archive.unwrap().set_modified(then).unwrap();
    let ran = on(&fixture.archive, "list", &[]);
    let lines = "-r--r--r--           6 2001-08-23 14:05 stored  hello.txt\n\
        dr-xr-xr-x           0 2001-08-23 14:05 -       maps/\n\
        -r--r--r--      300000 2001-08-23 14:05 zlib    maps/big.bin\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), lines), "{ran:?}");
    let below = on(&fixture.archive, "list", &["MAPS", "hello.txt"]);
    // In the spelling of the archive, not in the requested one.
    let mut sorted: Vec<&str> = lines.lines().collect();
    sorted.rotate_left(1);
    assert_eq!(below.stdout.lines().collect::<Vec<_>>(), sorted);
    let ran = run(hpi("list")
        .args(["--json", "-o", "umask=077"])
        .arg(&fixture.archive)
        .arg("hello.txt"));
    let line: Value = serde_json::from_str(&ran.stdout).unwrap();
    let expected = serde_json::json!({
        "path": "hello.txt",
        "kind": "file",
        "mode": "0400",
        "size": 6,
        "modified": "2001-08-23T14:05:06Z",
        "type": "txt",
        "method": "stored",
    });
    assert_eq!(line, expected);
}

/// Returns the paths of a listing with these options.
fn paths(source: &Path, args: &[&str]) -> Vec<String> {
    let ran = on(source, "list", &[&["--json"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    let path = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["path"].as_str().unwrap().to_owned()
    };
    ran.stdout.lines().map(path).collect()
}

/// Returns a folder with files of several types, sizes and times.
fn collection() -> Fixture {
    folder(|source| {
        let inner = V1::new(vec![entry(b"in.txt", File::new(b"in", Method::Stored))]);
        let assets = hip([("ped.ifp", &ifp(1, 2)[..])].into_iter());
        fs::create_dir(source.join("maps")).unwrap();
        for (name, bytes, day) in [
            ("b.TXT", &b"four"[..], 3),
            ("a.bin", b"a longer one", 1),
            ("maps/c.txt", b"1", 2),
            ("inner.ufo", &inner.build().bytes, 4),
            ("assets.HIP", &assets, 5),
        ] {
            let path = source.join(name);
            fs::write(&path, bytes).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400);
            let file = DiskFile::options().append(true).open(path).unwrap();
            file.set_modified(time).unwrap();
        }
        std::os::unix::fs::symlink("a.bin", source.join("link")).unwrap();
    })
}

#[test]
fn a_listing_is_sorted_by_each_key() {
    let fixture = collection();
    let sorted = |key: &str| paths(&fixture.archive, &["--sort", key, "--type", "file"]);
    let by_name = ["a.bin", "assets.HIP", "b.TXT", "inner.ufo", "maps/c.txt"];
    assert_eq!(sorted("name"), by_name);
    let by_size = ["assets.HIP", "inner.ufo", "a.bin", "b.TXT", "maps/c.txt"];
    assert_eq!(sorted("size"), by_size);
    let by_time = ["assets.HIP", "inner.ufo", "b.TXT", "maps/c.txt", "a.bin"];
    assert_eq!(sorted("time"), by_time);
    let by_type = ["a.bin", "assets.HIP", "b.TXT", "maps/c.txt", "inner.ufo"];
    assert_eq!(sorted("type"), by_type);
}

#[test]
fn a_listing_of_a_type_has_nothing_else() {
    let fixture = collection();
    let of = |wanted: &str, path: &str| paths(&fixture.archive, &["--type", wanted, path]);
    assert_eq!(of("directory", "/"), ["maps"]);
    assert_eq!(of("link", "/"), ["link"]);
    assert_eq!(of("txt", "/").len(), 2);
    assert_eq!(of("TXT", "maps"), ["maps/c.txt"]);
    let mut archives = of("archive", "/");
    archives.sort();
    assert_eq!(archives, ["assets.HIP", "inner.ufo"]);
    // The archive gives the type of an asset.
    let assets = of("RAW", "assets.HIP.d/layers");
    assert_eq!(assets, of("asset", "assets.HIP.d/layers"));
    assert_eq!(assets.len(), 1, "{assets:?}");
}

#[test]
fn checksums_are_those_of_sha256sum_and_damage_is_named() {
    let backslash = r"a\b";
    let sums = |bytes: &[u8]| testkit::files::sha256(bytes);
    let named = folder(|source| fs::write(source.join(backslash), "x").unwrap());
    let ran = on(&named.archive, "list", &["--hash", "sha256"]);
    assert_eq!(ran.stdout, format!("\\{}  a\\\\b\n", sums(b"x")));
    let fixture = Fixture::new();
    let ran = on(&fixture.archive, "list", &["--hash", "sha256"]);
    let (small, large) = (sums(b"hello\n"), sums(&big()));
    assert_eq!(ran.stdout, format!("{small}  {SMALL}\n{large}  {BIG}\n"));
    let ran = on(&fixture.archive, "list", &["--hash", "sha256", "-0"]);
    assert_eq!(ran.stdout, format!("{small}  {SMALL}\0{large}  {BIG}\0"));
    let ran = on(&fixture.archive, "list", &["-0"]);
    assert_eq!(ran.stdout, format!("{SMALL}\0maps\0{BIG}\0"));
    let mut bytes = fs::read(&fixture.archive).unwrap();
    let chunk = bytes.windows(4).position(|four| four == b"SQSH").unwrap();
    bytes[chunk + 100] ^= 1;
    fs::write(&fixture.archive, bytes).unwrap();
    let ran = on(&fixture.archive, "list", &["--hash", "sha256"]);
    assert_eq!(
        (ran.code, ran.stdout),
        (Some(12), format!("{small}  {SMALL}\n"))
    );
    assert!(
        ran.stderr.starts_with(&format!("hpi: {BIG}: chunk ")),
        "{}",
        ran.stderr
    );
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
        "cat",
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
    let ids = on(&fixture.archive, "list", &["assets.HIP.d/ids", "--json"]);
    let link = ids.stdout.lines().last().unwrap();
    let link: Value = serde_json::from_str(link).unwrap();
    assert_eq!(
        cat(&fixture.archive, &[link["path"].as_str().unwrap()]),
        package
    );
    let layer = on(&fixture.archive, "list", &["assets.HIP.d/layers"]).stdout;
    let asset = layer.split_whitespace().last().unwrap();
    let info = cat(&fixture.archive, &[&format!("{asset}.meta/info.txt")]);
    assert!(
        String::from_utf8(info).unwrap().starts_with("IFP"),
        "{asset}"
    );
    // Companions are listed only on request.
    let all = on(&fixture.archive, "list", &[]).stdout;
    assert_eq!(all.lines().count(), 5, "{all}");
    for path in ["away", "loop", "../source/link"] {
        let ran = on(&fixture.archive, "cat", &[path]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("leads out of the source"), "{ran:?}");
    }
}

#[test]
fn unreadable_paths_are_named_and_the_rest_is_printed() {
    let fixture = Fixture::new();
    let ran = on(
        &fixture.archive,
        "cat",
        &["nowhere", "maps", SMALL, "hello.txt/"],
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "hello\n"));
    let lines = [
        "hpi: nowhere: no such file or directory",
        "hpi: maps: is a directory",
        "hpi: hello.txt/: not a directory",
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
    let output = hpi("cat").arg(&fixture.archive).arg(BIG).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(12));
    assert!(output.stdout == big()[..65_536]);
    let said = String::from_utf8(output.stderr).unwrap();
    let place_of_damage = format!("hpi: {BIG}: chunk 1 at {:#x}: checksum is ", chunks[1]);
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
    for command in ["list", "cat"] {
        let prints = command == "cat";
        let mut command = hpi(command);
        command.arg(&fixture.archive);
        if prints {
            fs::write(&fixture.archive, testkit::mount::sample().bytes).unwrap();
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
    command.args([env!("CARGO_BIN_EXE_hpi"), "cat"]);
    let ran = run(command.arg(&fixture.archive).arg(SMALL));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "hello\n"),
        "{ran:?}"
    );
}

/// Runs `hpi unmount`.
fn unmount(points: &[&Path]) -> Run {
    run(hpi("unmount").args(points))
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
    mount.daemon().kill_with_guard();
    testkit::mount::eventually("the daemon ends", || mount.daemon().has_ended());
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
    let ran = run(namespace
        .user(USER, program.with_file_name("hpi"))
        .arg("unmount")
        .arg(point));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(mount.0.wait(), Some(0));
    assert!(namespace.mounts().is_empty());
}

#[test]
fn local_times_are_those_of_the_zone_in_the_environment() {
    let zip = file("a.zip", &container_seeds::zip());
    // Midnight of 2000-01-01 there.
    for (zone, expected) in [
        ("Europe/Berlin", "1999-12-31T23:00:00Z"),
        ("UTC", "2000-01-01T00:00:00Z"),
        ("EST5", "2000-01-01T05:00:00Z"),
    ] {
        let mut command = hpi("list");
        command.env("TZ", zone).args(["--json"]);
        let ran = run(command.arg(&zip.archive).arg("stored.txt"));
        let line: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(line["modified"], expected, "{zone}: {ran:?}");
    }
}
