//! `hpi extract` writes the output of `hpi cat` for each file, only into its folder,
//! and no incomplete file.

use std::collections::BTreeMap;
use std::fs::{self, File as DiskFile};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use fixtures::container_seeds::{self, Method7z};
use fixtures::hpi::{File, V1, dir, file as entry};
use fixtures::ta::pcx::Pcx;
use fixtures::text;
use hpimount_containers::hpi::chunk::Method;
use testkit::faulty_fs::{FaultyFs, Mode};
use testkit::fuse_test;
use testkit::hpipack::contents;
use testkit::listed::{cat, listed};
use testkit::mount::{BIG, Fixture, Run, SMALL, big, eventually, hpi, run, sample};
use testkit::sources::{file, folder, hip, ifp, names};

/// Extracts a source to the folder `out` of the fixture.
fn extract(fixture: &Fixture, arguments: &[&str]) -> Run {
    let mut command = hpi("extract");
    command.arg(&fixture.archive).args(arguments);
    run(command.arg("-C").arg(out(fixture)))
}

fn out(fixture: &Fixture) -> PathBuf {
    fixture.dir().join("out")
}

/// Asserts that nothing was reported, and returns the written files.
#[track_caller]
fn extracted(fixture: &Fixture, arguments: &[&str]) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let ran = extract(fixture, arguments);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{arguments:?}");
    contents(&out(fixture))
}

/// Returns the paths of the written files.
fn paths(written: &BTreeMap<PathBuf, Option<Vec<u8>>>) -> Vec<&str> {
    written.keys().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn everything_is_written_with_its_bytes_and_times() {
    for (name, bytes) in [
        ("a.hpi", sample().bytes),
        ("a.zip", container_seeds::zip_with("d/a.txt", b"zipped")),
        ("a.7z", container_seeds::seven_zip()),
        ("a.gcm", container_seeds::gcm()),
        ("a.img", container_seeds::img()),
    ] {
        let fixture = file(name, &bytes);
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(998_575_506);
        let archive = DiskFile::options().append(true).open(&fixture.archive);
        archive.unwrap().set_modified(then).unwrap();
        let written = extracted(&fixture, &[]);
        let listed = listed(&fixture.archive);
        assert!(paths(&written).iter().eq(listed.keys()), "{name}");
        for (path, bytes) in &written {
            let path = path.to_str().unwrap();
            if let Some(bytes) = bytes {
                assert!(*bytes == cat(&fixture.archive, &[path]), "{name}: {path}");
            }
        }
        if name == "a.hpi" {
            let small = out(&fixture).join(SMALL).metadata().unwrap();
            assert_eq!((small.mtime(), small.mode() & 0o600), (998_575_506, 0o600));
        }
    }
}

#[test]
fn many_files_are_extracted_alike_by_any_number_of_threads() {
    let bytes = |number: usize| text(1 + number * 9_973 % 150_000);
    let files: BTreeMap<_, _> = (0..80)
        .map(|number| (format!("{}/{number:02}.bin", number % 3), bytes(number)))
        .collect();
    let members: Vec<_> = files
        .iter()
        .map(|(path, bytes)| (&**path, &**bytes))
        .collect();
    let solid = container_seeds::seven_zip_of(Method7z::Deflate, &members, 0);
    let folder = folder(|source| {
        for (path, bytes) in &files {
            let path = source.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    });
    for fixture in [file("solid.7z", &solid), folder] {
        for threads in [1, 4] {
            let written = extracted(&fixture, &["-o", &format!("threads={threads}"), "--force"]);
            for (path, bytes) in &files {
                let found = written[Path::new(path)].as_ref();
                assert!(found == Some(bytes), "{path} by {threads}");
            }
        }
    }
}

#[test]
fn the_files_of_an_archive_can_be_packed_again() {
    let package = ifp(1, 1);
    let fixture = file(
        "a.HIP",
        &hip([("ped.ifp", &package[..]), ("b", b"b")].into_iter()),
    );
    // Links to the assets in layers/, which are not selected.
    extracted(&fixture, &["types"]);
    let mut pack = hpi("pack");
    let again = fixture.dir().join("again.HIP");
    let ran = run(pack.arg("-q").arg(out(&fixture).join("types")).arg(&again));
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let ran = run(hpi("diff").arg("--brief").arg(&fixture.archive).arg(&again));
    assert!(!ran.stdout.contains("layers/"), "{ran:?}");
}

#[test]
fn links_are_links_unless_their_paths_are_chosen() {
    let package = ifp(1, 1);
    let fixture = file("a.HIP", &hip([("ped.ifp", &package[..])].into_iter()));
    extracted(&fixture, &[]);
    let ids = out(&fixture).join("ids");
    let link = ids.join(&names(&ids)[0]);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read(link).unwrap() == package);
}

#[test]
fn a_link_that_leads_out_of_the_source_is_named_and_not_written() {
    let fixture = folder(|source| {
        fs::write(source.join("a.txt"), "a").unwrap();
        symlink("/etc/passwd", source.join("away")).unwrap();
        symlink("../out", source.join("up")).unwrap();
        symlink("a.txt", source.join("near")).unwrap();
    });
    let ran = extract(&fixture, &[]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(1), 2));
    assert!(
        ran.stderr.contains("away: leads out of the source"),
        "{ran:?}"
    );
    assert_eq!(names(&out(&fixture)), ["a.txt", "near"]);
}

#[test]
fn paths_select_files_and_directories_in_any_spelling() {
    let fixture = Fixture::new();
    let written = extracted(&fixture, &["MAPS", "maps/big.bin", "Hello.TXT"]);
    assert_eq!(paths(&written), [SMALL, "maps", BIG]);
    assert!(written[Path::new(BIG)].as_deref() == Some(&big()[..]));
    fs::remove_dir_all(out(&fixture)).unwrap();
    let ran = extract(&fixture, &["nowhere", "hello.txt"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.starts_with("hpi: nowhere: no such file"),
        "{ran:?}"
    );
    assert_eq!(names(&out(&fixture)), [SMALL]);
}

#[test]
fn without_a_folder_files_are_written_to_the_current_one() {
    let fixture = Fixture::new();
    fs::create_dir(out(&fixture)).unwrap();
    let mut command = hpi("extract");
    command.arg(&fixture.archive).current_dir(out(&fixture));
    assert_eq!(run(&mut command).code, Some(0));
    assert_eq!(names(&out(&fixture)), [SMALL, "maps"]);
}

#[test]
fn files_that_exist_are_replaced_only_with_force() {
    let fixture = Fixture::new();
    fs::create_dir(out(&fixture)).unwrap();
    fs::write(out(&fixture).join(SMALL), "mine").unwrap();
    let ran = extract(&fixture, &[]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(20), 1));
    assert!(ran.stderr.contains("hello.txt: exists; --force"), "{ran:?}");
    assert_eq!(fs::read(out(&fixture).join(SMALL)).unwrap(), b"mine");
    let written = extracted(&fixture, &["--force"]);
    assert_eq!(written[Path::new(SMALL)].as_deref(), Some(&b"hello\n"[..]));
}

#[test]
fn a_damaged_file_is_named_and_the_others_are_written() {
    let fixture = Fixture::new();
    let mut bytes = fs::read(&fixture.archive).unwrap();
    let chunk = bytes.windows(4).rposition(|four| four == b"SQSH").unwrap();
    bytes[chunk + 100] ^= 1;
    fs::write(&fixture.archive, bytes).unwrap();
    let ran = extract(&fixture, &[]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(12), 1));
    assert!(
        ran.stderr.starts_with(&format!("hpi: {BIG}: chunk ")),
        "{ran:?}"
    );
    assert_eq!(paths(&contents(&out(&fixture))), [SMALL, "maps"]);
    let written = extracted(&fixture, &["--force", "-o", "force"]);
    assert_eq!(written[Path::new(BIG)].as_ref().unwrap().len(), big().len());
}

/// Returns a folder with an archive in an archive, and a picture.
fn nested() -> Fixture {
    folder(|source| {
        let picture = Pcx::indexed(2, 1, vec![0, 1]).file();
        let inner = V1::new(vec![entry(b"in.txt", File::new("inside", Method::Zlib))]);
        let inner = File::new(inner.build().bytes, Method::Stored);
        let outer = [
            entry(b"inner.ufo", inner),
            entry(b"a.pcx", File::new(picture, Method::Zlib)),
        ];
        let outer = V1::new(vec![dir(b"d", outer.to_vec())]).build().bytes;
        fs::write(source.join("outer.hpi"), outer).unwrap();
        fs::write(source.join("broken.hpi"), "HAPI").unwrap();
        fs::write(source.join("text.txt"), "text").unwrap();
    })
}

#[test]
fn contents_of_archives_and_assets_are_extracted_on_request() {
    let fixture = nested();
    let files = ["broken.hpi", "outer.hpi", "text.txt"];
    assert_eq!(paths(&extracted(&fixture, &[])), files);
    let ran = extract(&fixture, &["--force", "--nested"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(12), 1));
    assert!(ran.stderr.starts_with("hpi: broken.hpi.d: "), "{ran:?}");
    let written = contents(&out(&fixture));
    let inside = Path::new("outer.hpi.d/d/inner.ufo.d/in.txt");
    assert_eq!(written[inside].as_deref(), Some(&b"inside"[..]));
    assert!(!written.keys().any(|path| path.ends_with("a.pcx.meta")));
    let below = ["--force", "--meta", "outer.hpi.d/d"];
    let written = extracted(&fixture, &below);
    let picture = Path::new("outer.hpi.d/d/a.pcx.meta/picture.png");
    let png = written
        .get(picture)
        .unwrap_or_else(|| panic!("{:?}", paths(&written)));
    assert!(png.as_ref().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_converted_tree_is_extracted_as_it_is_listed() {
    let picture = entry(
        b"a.pcx",
        File::new(Pcx::indexed(2, 1, vec![0, 1]).file(), Method::Zlib),
    );
    let fixture = file(
        "a.hpi",
        &V1::new(vec![dir(b"d", vec![picture])]).build().bytes,
    );
    let written = extracted(&fixture, &["--converted"]);
    let listed = run(hpi("list")
        .args(["--converted", "-0"])
        .arg(&fixture.archive));
    let mut listed: Vec<&str> = listed.stdout.split_terminator('\0').collect();
    listed.sort_unstable();
    assert_eq!(paths(&written), listed);
    assert!(
        written
            .values()
            .flatten()
            .any(|bytes| bytes.starts_with(b"\x89PNG"))
    );
}

#[test]
fn hostile_names_stay_in_the_folder() {
    let names: [&[u8]; 6] = [
        b"..",
        b".",
        b"../up.txt",
        b"/etc/hpi-test",
        b"a\\..\\..\\b",
        b"c\nd",
    ];
    let entries = names.map(|name| entry(name, File::new("x", Method::Stored)));
    let around = dir(
        b"..",
        vec![entry(b"deep.txt", File::new("x", Method::Stored))],
    );
    let all = entries.into_iter().chain([around]).collect();
    let fixture = file("a.hpi", &V1::new(all).build().bytes);
    let before = testkit::sources::names(fixture.dir());
    let written = extracted(&fixture, &[]);
    assert!(written.len() >= names.len(), "{written:?}");
    let mut after = testkit::sources::names(fixture.dir());
    after.retain(|name| name != "out");
    assert_eq!(after, before);
    // An existing link is not followed.
    fs::remove_dir_all(out(&fixture)).unwrap();
    fs::create_dir(out(&fixture)).unwrap();
    symlink("..", out(&fixture).join("maps")).unwrap();
    fs::write(&fixture.archive, sample().bytes).unwrap();
    let ran = extract(&fixture, &["--force"]);
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(!fixture.dir().join("big.bin").exists());
}

#[test]
fn names_that_windows_cannot_have_are_escaped_on_request() {
    let entries: [&[u8]; 4] = [b"con.txt", b"a:b", b"end.", b"plain"];
    let entries = entries.map(|name| entry(name, File::new("x", Method::Stored)));
    let fixture = file("a.hpi", &V1::new(entries.into()).build().bytes);
    let written = extracted(&fixture, &["--windows-names"]);
    assert_eq!(paths(&written), ["%63on.txt", "a%3Ab", "end%2E", "plain"]);
    let package = ifp(1, 1);
    let linked = file("a.HIP", &hip([("ped.ifp", &package[..])].into_iter()));
    let ran = extract(&linked, &["--windows-names"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("links are left out"), "{ran:?}");
}

/// Names that Windows cannot have, and one that looks like an escaped one.
const STRANGE: [&str; 6] = ["a%3Ab", "a:b", "con.txt", "dir.", "dir./end ", "q?.txt"];

/// Makes a folder with files of [`STRANGE`] names, and packs it. Returns the archive.
fn strange(work: &Path, name: &str) -> PathBuf {
    let (folder, archive) = (work.join("folder"), work.join(name));
    fs::create_dir_all(folder.join("dir.")).unwrap();
    for name in STRANGE.iter().filter(|name| **name != "dir.") {
        fs::write(folder.join(name), name).unwrap();
    }
    let ran = run(hpi("pack").arg("-qf").args([&folder, &archive]));
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    archive
}

#[test]
fn a_folder_with_names_of_windows_becomes_the_same_archive_again() {
    let work = tempfile::tempdir().unwrap();
    for name in ["a.hpi", "a.zip", "a.pre"] {
        let archive = strange(work.path(), name);
        let out = work.path().join(format!("{name}.out"));
        let mut command = hpi("extract");
        command.arg("--windows-names").arg(&archive);
        let ran = run(command.arg("-C").arg(&out));
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{name}");
        let windows = [
            "a%253Ab",
            "a%3Ab",
            "%63on.txt",
            "dir%2E",
            "dir%2E/end%20",
            "q%3F.txt",
        ];
        assert!(windows.iter().all(|name| out.join(name).exists()), "{name}");
        assert!(
            STRANGE[1..].iter().all(|name| !out.join(name).exists()),
            "{name}"
        );

        let again = work.path().join(format!("again-{name}"));
        let pack = |options: &[&str]| {
            let ran = run(hpi("pack").arg("-qf").args(options).args([&out, &again]));
            assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{name}");
            fs::read(&again).unwrap() == fs::read(&archive).unwrap()
        };
        assert!(pack(&["--windows-names"]), "{name} is another one");
        assert!(!pack(&[]), "{name}: names stand for themselves");
    }
}

#[test]
fn changes_with_names_of_windows_are_those_of_the_names_that_they_were() {
    let work = tempfile::tempdir().unwrap();
    let archive = strange(work.path(), "a.hpi");
    let changes = work.path().join("changes");
    fs::create_dir_all(changes.join("dir%2E")).unwrap();
    for (name, bytes) in [
        ("a%3Ab", "new"),
        (".wh.q%3F.txt", ""),
        ("dir%2E/%63on", "added"),
    ] {
        fs::write(changes.join(name), bytes).unwrap();
    }
    let changed = work.path().join("changed.hpi");
    let ran = run(hpi("apply")
        .args(["-q", "--windows-names"])
        .args([&changes, &archive, &changed]));
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let listed: Vec<String> = listed(&changed).into_keys().collect();
    let expected = ["a%3Ab", "a:b", "con.txt", "dir.", "dir./con", "dir./end "];
    assert_eq!(listed, expected);
    assert_eq!(cat(&changed, &["a:b"]), b"new");
    assert_eq!(cat(&changed, &["a%3Ab"]), b"a%3Ab");
}

#[test]
fn printed_files_are_written_to_a_new_file_that_is_complete() {
    let fixture = file("a.hpi", &sample().bytes);
    let new = fixture.dir().join("new");
    let cat = |paths: &[&str]| {
        let mut command = hpi("cat");
        command.arg(&fixture.archive).args(paths);
        run(command.arg("--output").arg(&new))
    };
    let ran = cat(&[SMALL, "missing"]);
    assert!(ran.code != Some(0) && !new.exists(), "{ran:?}");
    let ran = cat(&[SMALL, BIG]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""), "{ran:?}");
    let printed = testkit::listed::cat(&fixture.archive, &[SMALL, BIG]);
    assert_eq!(fs::read(&new).unwrap(), printed);
    let ran = cat(&[SMALL]);
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert_eq!(fs::read(&new).unwrap(), printed);
    let around = testkit::sources::names(fixture.dir());
    assert!(
        !around.iter().any(|name| name.starts_with('.')),
        "{around:?}"
    );
}

#[test]
fn a_folder_is_not_extracted_into_itself() {
    let fixture = folder(|source| fs::write(source.join("a.txt"), "a").unwrap());
    let mut command = hpi("extract");
    command.arg(".").current_dir(&fixture.archive);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(
        ran.stderr.contains("is in a folder that is read"),
        "{ran:?}"
    );
    assert_eq!(names(&fixture.archive), ["a.txt"]);
}

#[test]
fn extracted_files_are_as_private_as_the_source() {
    let fixture = Fixture::new();
    fs::set_permissions(&fixture.archive, PermissionsExt::from_mode(0o600)).unwrap();
    extracted(&fixture, &[]);
    let mode = |path: &str| out(&fixture).join(path).metadata().unwrap().mode() & 0o777;
    assert_eq!([mode(SMALL), mode("maps")], [0o600, 0o700]);
}

#[test]
fn bytes_that_a_small_file_pretends_to_have_are_not_extracted_without_end() {
    let zeros = File::new(vec![0; 40 << 20], Method::Zlib);
    let fixture = file(
        "a.hpi",
        &V1::new(vec![entry(b"zeros", zeros)]).build().bytes,
    );
    let ran = extract(&fixture, &["--expansion=2"]);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(
        ran.stderr.contains("`--expansion` raises the limit"),
        "{ran:?}"
    );
    assert!(names(&out(&fixture)).is_empty());
}

#[fuse_test]
fn nothing_unfinished_is_left_after_a_signal() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("source");
    fs::create_dir(&root).unwrap();
    let large = File::new(fixtures::noise(1, 8 << 20), Method::Stored);
    let archive = V1::new(vec![entry(b"large.bin", large)]).build().bytes;
    let source = FaultyFs::new(&root, &[("a.hpi", &archive)]);
    // The table is read, but not the whole file.
    source.set(Mode::HangsAfter(16));
    let out = work.path().join("out");
    let temporary = |path: &&PathBuf| path.to_string_lossy().contains(".hpi-");
    let mut child = hpi("extract")
        .arg(source.file("a.hpi"))
        .arg("-C")
        .arg(&out)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("a file is begun", || {
        out.exists() && contents(&out).keys().any(|path| temporary(&path))
    });
    let pid = rustix::process::Pid::from_child(&child);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    source.set(Mode::Fine);
    child.wait().unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "");
    assert!(contents(&out).is_empty(), "{:?}", contents(&out).keys());
}

#[test]
fn the_source_is_not_replaced_by_a_file_of_its_name() {
    let bytes = container_seeds::zip_with("a.zip", b"hostile");
    let fixture = file("a.zip", &bytes);
    let mut command = hpi("extract");
    command.args(["--force".as_ref(), fixture.archive.as_os_str()]);
    let ran = run(command.current_dir(fixture.archive.parent().unwrap()));
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(
        ran.stderr.contains("a.zip: is read, and is not replaced"),
        "{ran:?}"
    );
    assert!(fs::read(&fixture.archive).unwrap() == bytes);
}

#[test]
fn nested_archives_that_cannot_be_read_are_named() {
    let mut cut = container_seeds::zip_with("a.txt", b"a");
    // Claims to be the second of several volumes.
    let end = cut.len() - 22;
    cut[end + 4] = 1;
    let fixture = folder(|source| {
        fs::write(source.join("parts.zip"), &cut).unwrap();
        fs::write(
            source.join("fine.zip"),
            container_seeds::zip_with("b.txt", b"b"),
        )
        .unwrap();
    });
    let ran = extract(&fixture, &["--nested"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("parts.zip"), "{ran:?}");
    let written = contents(&out(&fixture));
    assert_eq!(
        paths(&written),
        ["fine.zip", "fine.zip.d", "fine.zip.d/b.txt", "parts.zip"]
    );
}

#[test]
fn what_several_archives_of_a_folder_really_hold_is_extracted() {
    let fixture = folder(|source| {
        for name in ["a.zip", "b.zip", "c.zip"] {
            let zip = container_seeds::zip_with("noise.bin", &fixtures::noise(1, 12 << 20));
            fs::write(source.join(name), zip).unwrap();
        }
    });
    let written = extracted(&fixture, &["--nested", "--expansion=2"]);
    assert_eq!(written.len(), 9);
}

#[test]
fn the_first_trouble_determines_the_exit_code() {
    let zeros = File::new(vec![0; 40 << 20], Method::Zlib);
    let archive = V1::new(vec![
        entry(
            b"first.bin",
            File::new(fixtures::noise(1, 1000), Method::Zlib),
        ),
        dir(b"last", vec![entry(b"zeros", zeros)]),
    ]);
    let mut bytes = archive.build().bytes;
    let chunk = bytes.windows(4).position(|four| four == b"SQSH").unwrap();
    bytes[chunk + 100] ^= 1;
    let fixture = file("a.hpi", &bytes);
    let ran = extract(&fixture, &["--expansion=2"]);
    assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
    assert!(ran.stderr.starts_with("hpi: first.bin: "), "{ran:?}");
    assert_eq!(ran.code, Some(12), "{ran:?}");
}
