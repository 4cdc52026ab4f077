//! Changes that a folder cannot express, and that formats cannot store: each is refused
//! by its path, and nothing is written.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;
use testkit::fuse_test;

use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::dreamcast;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{V1, usual_tree};
use fixtures::inno::{Inno, inno_file};
use fixtures::udf::Udf;
use hpimount_containers::hpi::chunk::Method;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::hpipack::stderr;
use testkit::mount::{Fixture, hpimount, run};
use testkit::skip::possible;

/// Exit code of refused changes.
const REFUSED: i32 = 14;

/// Asserts that a folder of changes, which `make` fills, is refused with these lines
/// by hpipack and by a mount.
fn is_refused(name: &str, archive: &[u8], make: impl Fn(&Path), reasons: &[&str]) {
    let work = tempdir().unwrap();
    let original = work.path().join(name);
    fs::write(&original, archive).unwrap();
    let folder = work.path().join("changes");
    fs::create_dir(&folder).unwrap();
    make(&folder);
    let out = work.path().join(format!("out-{name}"));
    let ran = hpi_apply(&[], &folder, &original, &out);
    let told = stderr(&ran);
    assert_eq!(ran.status.code(), Some(REFUSED), "{name}: {told}");
    assert!(!out.exists());
    let mounted = open_changed(&original, &folder).err().unwrap_or_default();
    for reason in reasons {
        assert!(told.contains(reason), "{name}: {told}, should be {reason}");
        assert!(
            mounted.contains(reason),
            "{name}: {mounted}, should be {reason}"
        );
    }
}

#[fuse_test]
fn a_mount_prints_a_line_for_each_refused_change() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.img");
    fs::write(&original, seeds::img()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "first", b"x");
    write(&folder, "second", b"x");
    let fixture = Fixture::new();
    let mut program = hpimount();
    program
        .arg("--apply")
        .args([&folder, &original, &fixture.point]);
    let ran = run(&mut program);
    assert_eq!(ran.code, Some(REFUSED), "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{ran:?}");
    for (line, name) in lines.iter().zip(["first", "second"]) {
        let is_right = line.starts_with("hpimount: ") && line.contains(&format!("a.img: {name}: "));
        assert!(is_right, "{line}");
    }
}

/// Asserts the same of files that are written at these paths.
fn files_are_refused(name: &str, archive: &[u8], files: &[(&str, &[u8])], reasons: &[&str]) {
    let make = |folder: &Path| {
        for (path, bytes) in files {
            write(folder, path, bytes);
        }
    };
    is_refused(name, archive, make, reasons);
}

/// Creates a sparse file of this length.
fn sparse(folder: &Path, path: &str, length: u64) {
    write(folder, path, b"");
    File::options()
        .write(true)
        .open(folder.join(path))
        .unwrap()
        .set_len(length)
        .unwrap();
}

#[test]
fn names_that_a_format_has_no_place_for() {
    files_are_refused(
        "a.img",
        &seeds::img(),
        &[("noextension", b"x")],
        &["noextension: "],
    );
    files_are_refused(
        "a.img",
        &seeds::img(),
        &[("dir/a.txd", b"x")],
        &["dir: an IMG archive has no"],
    );
    let long = format!("{}.txd", "a".repeat(30));
    files_are_refused(
        "a.img",
        &seeds::img(),
        &[(&long, b"x")],
        &[&format!("{long}: ")],
    );
    files_are_refused(
        "a.prx",
        &seeds::pre_packed(),
        &[("ä", b"x")],
        &["ä: no name for a PRE"],
    );
    let long = format!("data/{}", "a".repeat(32));
    files_are_refused(
        "a.pkr",
        &seeds::pkr(),
        &[(&long, b"x")],
        &["no name for a PKR archive"],
    );
    let hpi = V1::new(usual_tree(Method::Zlib)).build().bytes;
    files_are_refused(
        "a.hpi",
        &hpi,
        &[("日", b"x")],
        &["日: no name for an HPI archive"],
    );
    files_are_refused(
        "a.gcm",
        &seeds::gcm(),
        &[("files/\u{1F600}", b"x"), ("other/a", b"x")],
        &[
            "no name for a GameCube disc (Shift-JIS)",
            "only sys/ and files/ are on the disc",
        ],
    );
    let xiso = [vec![0; 32 * seeds::SECTOR], seeds::xdvdfs()].concat();
    files_are_refused(
        "a.xiso",
        &xiso,
        &[("a?b", b"x")],
        &["a?b: no name for an Xbox disc"],
    );
    let mut disc = Disc::default();
    disc.file("A.DAT", b"x");
    let long = "a name that is longer than thirty.bytes";
    files_are_refused(
        "a.iso",
        &disc.iso(),
        &[(long, b"x")],
        &[&format!("{long}: ")],
    );
}

#[test]
fn files_that_are_too_large() {
    let large = |path: &'static str, length: u64| move |folder: &Path| sparse(folder, path, length);
    is_refused(
        "a.img",
        &seeds::img(),
        large("a.ifp", 65_536 * 2048),
        &["has more than 65535 sectors"],
    );
    is_refused(
        "a.gcm",
        &seeds::gcm(),
        large("files/a.txt", 5 << 30),
        &["ends past 4 GiB"],
    );
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"MRKR", "mark", b"here"));
    let id = format!("ids/{:08X}", hip.assets[0].id);
    let make = |folder: &Path| sparse(folder, &id, 5 << 30);
    is_refused("a.HIP", &hip.build(), make, &["is larger than 4 GiB"]);
}

#[test]
fn what_the_mount_generates() {
    let meta = [("files/bb/c.HIP.meta/info.json", &b"{}"[..])];
    files_are_refused(
        "a.gcm",
        &seeds::gcm(),
        &meta,
        &["files/bb/c.HIP.meta: is generated"],
    );
    files_are_refused(
        "a.gcm",
        &seeds::gcm(),
        &[
            ("sys/fst.bin", b"x"),
            ("disc.iso", b"x"),
            (".hpimount/info.json", b"{}"),
        ],
        &[
            "sys/fst.bin: is generated",
            "disc.iso: is generated",
            ".hpimount: is generated",
        ],
    );
    let mut disc = Disc::default();
    disc.form_2_file("MOVIE.STR", &vec![1; 2336]);
    files_are_refused(
        "a.bin",
        &disc.raw(),
        &[("MOVIE.STR", b"plain")],
        &["MOVIE.STR: is in Form 2 sectors: change MOVIE.STR.raw2336"],
    );
}

#[test]
fn the_programs_of_a_gamecube_disc() {
    files_are_refused(
        "a.gcm",
        &seeds::gcm(),
        &[
            ("sys/main.dol", b"short"),
            ("sys/bi2.bin", b"x"),
            ("sys/boot.bin", b"x"),
        ],
        &[
            "sys/main.dol: is cut",
            "sys/bi2.bin: has not 0x2000 bytes",
            "sys/boot.bin: no header of a GameCube disc",
        ],
    );
}

#[test]
fn links_pipes_and_what_overlays_keep_elsewhere() {
    let make = |folder: &Path| {
        symlink("/etc/passwd", folder.join("link.txd")).unwrap();
        symlink("/etc", folder.join("linked")).unwrap();
        let made = Command::new("mkfifo")
            .arg(folder.join("pipe.txd"))
            .status()
            .unwrap();
        assert!(made.success());
    };
    let reasons = [
        "link.txd: is a symbolic link",
        "linked: is a symbolic link",
        "pipe.txd: is neither a file nor a directory",
    ];
    is_refused("a.img", &seeds::img(), make, &reasons);

    let set = |name: &str, path: &Path| {
        let mut command = Command::new("setfattr");
        let ran = command.args(["-n", name, "-v", "y"]).arg(path).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    let probe = tempdir().unwrap();
    let is_possible = set("user.overlay.opaque", probe.path());
    if !possible(
        is_possible,
        "setfattr is missing, or there are no attributes",
    ) {
        return;
    }
    let make = |folder: &Path| {
        write(folder, "a.ifp", b"x");
        write(folder, "moved/a.txd", b"x");
        assert!(set("user.overlay.metacopy", &folder.join("a.ifp")));
        assert!(set("user.overlay.redirect", &folder.join("moved")));
    };
    let reasons = [
        "a.ifp: has only attributes here",
        "moved: was renamed by overlayfs",
        "metacopy=off",
        "redirect_dir=off",
    ];
    is_refused("a.img", &seeds::img(), make, &reasons);

    // An empty file with the mark deletes, like a device 0/0.
    let work = tempdir().unwrap();
    let original = work.path().join("a.zip");
    fs::write(&original, seeds::zip_with("gone.txt", b"x")).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "gone.txt", b"");
    write(&folder, "new.txt", b"new");
    assert!(set("user.overlay.whiteout", &folder.join("gone.txt")));
    let mounted = open_changed(&original, &folder).unwrap();
    let found = testkit::walked::files(&mounted);
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["new.txt"]);
}

#[test]
fn two_names_that_are_one() {
    files_are_refused(
        "a.img",
        &seeds::img(),
        &[("new.txd", b"x"), ("NEW.txd", b"y")],
        &["NEW.txd: has the same name as new.txd"],
    );
}

#[test]
fn formats_that_are_not_written() {
    let file = [("a", &b"x"[..])];
    files_are_refused(
        "a.7z",
        &seeds::seven_zip(),
        &file,
        &["7z archives cannot be changed"],
    );
    files_are_refused(
        "setup.exe",
        &Inno::new(vec![inno_file("{app}\\a.txt", b"a")]).program(),
        &file,
        &["Inno Setup archives cannot be changed"],
    );
    let mut tgc = vec![0; 0x8000 + 0x2600];
    tgc[..4].copy_from_slice(&[0xAE, 0x0F, 0x38, 0xA2]);
    files_are_refused("a.tgc", &tgc, &file, &["a.tgc: "]);
    files_are_refused("a.dat", b"nothing that is known", &file, &["a.dat: "]);
}

#[test]
fn discs_that_are_only_read() {
    let file = [("A.TXT", &b"x"[..])];
    let mut udf = Udf::default();
    udf.file("A.TXT", b"a");
    let refused = ["UDF discs cannot be written"];
    files_are_refused("a.iso", &udf.image(), &file, &refused);
    let mut wii = vec![0; 0x440];
    wii[0x18..0x1C].copy_from_slice(&0x5D1C_9EA3_u32.to_be_bytes());
    files_are_refused("a.iso", &wii, &file, &["a.iso: is a Wii disc"]);
    let boot = seeds::gcm();
    files_are_refused("a.nkit.iso", &boot[..0x300], &file, &["a.nkit.iso: "]);
}

/// Returns the refusal of changes to a source whose files are given, the one to
/// change first.
fn refused(sources: &[(&str, &[u8])], changes: &[(&str, &[u8])]) -> String {
    let work = tempdir().unwrap();
    for (name, bytes) in sources {
        fs::write(work.path().join(name), bytes).unwrap();
    }
    let folder = work.path().join("changes");
    for (path, bytes) in changes {
        write(&folder, path, bytes);
    }
    let source = work.path().join(sources[0].0);
    let out = work.path().join("out").join(sources[0].0);
    fs::create_dir(out.parent().unwrap()).unwrap();
    let ran = hpi_apply(&[], &folder, &source, &out);
    assert_eq!(ran.status.code(), Some(REFUSED), "{}", stderr(&ran));
    assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 0);
    assert!(open_changed(&source, &folder).is_err());
    stderr(&ran)
}

#[test]
fn descriptions_of_discs_that_are_only_read() {
    let disc = {
        let mut disc = Disc::default();
        disc.file("A.TXT", b"a");
        disc
    };
    let change = [("A.TXT", &b"x"[..])];
    let told = refused(&[("a.mds", &seeds::mds()), ("a.mdf", &disc.iso())], &change);
    assert!(told.contains("MDS discs cannot be written"), "{told}");
}

#[test]
fn dreamcast_discs_whose_tracks_cannot_be_changed() {
    let mut disc = Disc::default();
    disc.file("DATA/A.TXT", b"a");
    let area = dreamcast::area(&disc);
    let (first, last) = area.split_at(20 * dreamcast::SECTOR);
    let sources = [
        ("first.bin", first),
        ("last.bin", last),
        ("raw.bin", &dreamcast::mode_1(last, 45_020)),
        ("area.bin", &area),
        ("track.iso", &disc.iso()),
    ];
    let cases = [
        (
            "1\n1 45000 4 2048 track.iso 0\n",
            "a.gdi: has positions that count from the start of its track",
        ),
        (
            "2\n1 45000 4 2048 first.bin 0\n2 45020 4 2352 raw.bin 0\n",
            "a.gdi: has data tracks with sectors of different lengths, and cannot be changed: \
             convert them to sectors of 2352 bytes",
        ),
        (
            "2\n1 45000 4 2048 area.bin 0\n2 45020 4 2048 area.bin 40960\n",
            "a.gdi: has several tracks in one file, and cannot be changed: write each track to \
             a file of its own",
        ),
        (
            "2\n1 45000 4 2048 first.bin 0\n2 45020 4 2048 missing.bin 0\n",
            "a.gdi: track 02: missing.bin is missing",
        ),
    ];
    for (gdi, reason) in cases {
        let sources = [&[("a.gdi", gdi.as_bytes())], &sources[..]].concat();
        let told = refused(&sources, &[("DATA/A.TXT", b"x")]);
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn changes_inside_what_cannot_be_decoded() {
    // An encrypted file may be replaced, but not changed inside.
    files_are_refused(
        "a.zip",
        &seeds::zip(),
        &[("d/secret.d/a.txt", b"x")],
        &["d/secret.d: is encrypted"],
    );
    let work = tempdir().unwrap();
    let original = work.path().join("a.zip");
    fs::write(&original, seeds::zip()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "d/secret", b"open");
    let mounted = open_changed(&original, &folder).unwrap();
    assert_eq!(read_at(&mounted, "d/secret"), b"open");
    // A file that is no archive has nothing inside.
    files_are_refused(
        "a.zip",
        &seeds::zip(),
        &[("stored.txt.d/a.txt", b"x")],
        &["stored.txt.d: "],
    );
}

#[test]
fn archives_that_are_nested_too_deep() {
    let mut archive = seeds::zip_with("a.txt", b"a");
    let mut path = String::new();
    for _ in 0..9 {
        archive = seeds::zip_with("a.zip", &archive);
        path += "a.zip.d/";
    }
    let file = format!("{path}a.txt");
    files_are_refused(
        "a.zip",
        &archive,
        &[(&file, b"x")],
        &["is in more than 8 archives"],
    );
}

#[test]
fn no_more_than_fifty_problems_are_listed() {
    let make = |folder: &Path| {
        for number in 0..70 {
            write(folder, &format!("no{number:02}"), b"x");
        }
    };
    is_refused(
        "a.img",
        &seeds::img(),
        make,
        &["no00: ", "no49: ", "and 20 more"],
    );
}

#[test]
fn a_link_that_the_archive_has_too_is_ignored() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"MRKR", "mark", b"here"));
    let work = tempdir().unwrap();
    let original = work.path().join("a.HIP");
    fs::write(&original, hip.build()).unwrap();
    let folder = work.path().join("changes");
    let name = format!("types/Marker/[{:08X}] mark", hip.assets[0].id);
    fs::create_dir_all(folder.join("types/Marker")).unwrap();
    symlink("../../layers/00-DEFAULT/mark.mrkr", folder.join(name)).unwrap();
    let out = work.path().join("out.HIP");
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(fs::read(&out).unwrap() == hip.build());
}
