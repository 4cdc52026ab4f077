//! Mounts with a folder of changes, through the kernel: the image equals the file that
//! hpipack writes, and the mount reports the applied changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{TempDir, tempdir};
use testkit::fuse_test;

use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::hip::{Asset, Hip};
use fixtures::noise;
use testkit::applied::{hpi_apply, write};
use testkit::hpipack::{hpipack, stderr};
use testkit::mount::{Fixture, Mount, hpi, hpimount, run};
use testkit::mounted::info;

/// An archive with a folder of changes.
struct Changed {
    work: TempDir,
    original: PathBuf,
    folder: PathBuf,
}

fn changed(name: &str, archive: &[u8], changes: &[(&str, &[u8])]) -> Changed {
    let work = tempdir().unwrap();
    let original = work.path().join(name);
    fs::write(&original, archive).unwrap();
    let folder = work.path().join("changes");
    for (path, bytes) in changes {
        write(&folder, path, bytes);
    }
    Changed {
        work,
        original,
        folder,
    }
}

impl Changed {
    fn mount(&self) -> Mount {
        let fixture = Fixture::new();
        let program = self.program(&fixture);
        fixture.mount_by(program)
    }

    fn program(&self, fixture: &Fixture) -> Command {
        let mut program = hpimount();
        program
            .arg("--apply")
            .arg(&self.folder)
            .arg(&self.original)
            .arg(&fixture.point);
        program
    }

    /// Returns the path of hpipack's output.
    fn written(&self, name: &str) -> PathBuf {
        let out = self.work.path().join("out").join(name);
        fs::create_dir_all(out.parent().unwrap()).unwrap();
        let ran = hpi_apply(&["--quiet"], &self.folder, &self.original, &out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        out
    }
}

fn hip() -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"MRKR", "mark", b"here"));
    hip.add(Asset::new(b"MRKR", "gone", &noise(1, 5000)));
    hip.build()
}

fn disc() -> Disc {
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    disc.file("DATA/A.DAT", &noise(1, 5000));
    disc
}

fn is_same(one: &Path, other: &Path) {
    assert!(
        fs::read(one).unwrap() == fs::read(other).unwrap(),
        "{}",
        one.display()
    );
}

#[fuse_test]
fn the_image_in_a_mount_is_the_written_file() {
    let hip_changes: [(&str, &[u8]); 3] = [
        ("layers/00-DEFAULT/new.mrkr", &noise(3, 300)),
        ("layers/00-DEFAULT/.wh.gone.mrkr", b""),
        ("layers/00-DEFAULT/mark.mrkr", &noise(2, 70_000)),
    ];
    let changed_hip = changed("a.HIP", &hip(), &hip_changes);
    let mount = changed_hip.mount();
    is_same(
        &mount.file(".hpimount/image/a.HIP"),
        &changed_hip.written("a.HIP"),
    );
    let disc_changes: [(&str, &[u8]); 2] =
        [("README.TXT", &noise(2, 200_000)), ("DATA/NEW.DAT", b"new")];
    let changed_disc = changed("a.iso", &disc().iso(), &disc_changes);
    let mount = changed_disc.mount();
    is_same(&mount.file("disc.iso"), &changed_disc.written("a.iso"));
}

#[fuse_test]
fn a_mount_says_what_was_applied() {
    let changes: [(&str, &[u8]); 4] = [
        ("readme.txt", &noise(2, 9000)),
        ("DATA/NEW.DAT", b"new"),
        ("DATA/.wh.A.DAT", b""),
        ("Thumbs.db", b"x"),
    ];
    let changed = changed("a.iso", &disc().iso(), &changes);
    let mount = changed.mount();
    let applied = info(&mount)["applied"].clone();
    for (what, count) in [
        ("replaced", 1),
        ("added", 1),
        ("deleted", 1),
        ("ignored", 1),
    ] {
        assert_eq!(applied[what], count, "{applied}");
    }
    let notes = applied["notes"].to_string();
    assert!(notes.contains("README.TXT: moved from block"), "{notes}");
    assert!(notes.contains("Thumbs.db: is skipped"), "{notes}");
    let attribute = |path: &str| {
        let mut value = [0; 100];
        let path = mount.file(path);
        let length = rustix::fs::getxattr(&path, "user.hpimount.applied", &mut value[..]);
        length.map(|length| String::from_utf8(value[..length].to_vec()).unwrap())
    };
    assert_eq!(attribute("README.TXT").unwrap(), "readme.txt");
    assert_eq!(attribute("DATA/NEW.DAT").unwrap(), "DATA/NEW.DAT");
    assert!(attribute("DATA").is_err());
}

#[fuse_test]
fn a_change_of_the_folder_while_mounted_is_an_error_and_a_line_in_the_log() {
    let changes: [(&str, &[u8]); 1] = [("README.TXT", &noise(2, 300_000))];
    let changed = changed("a.iso", &disc().iso(), &changes);
    let fixture = Fixture::new();
    let program = changed.program(&fixture);
    let mount = fixture.mount_in_foreground_by(program);
    assert!(fs::read(mount.file("DATA/A.DAT")).unwrap() == noise(1, 5000));
    assert!(!mount.fixture.log().contains("has changed"));
    fs::write(changed.folder.join("README.TXT"), noise(3, 300_000)).unwrap();
    for _ in 0..2 {
        let error = fs::read(mount.file("README.TXT")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(5));
    }
    let problem = "README.TXT: has changed since it was applied; mount again";
    let log = mount.fixture.log();
    assert_eq!(log.matches(problem).count(), 1, "{log}");
    // Other files are unchanged, and the next mount has the new contents.
    assert!(fs::read(mount.file("DATA/A.DAT")).unwrap() == noise(1, 5000));
    let again = changed.mount();
    assert!(fs::read(again.file("README.TXT")).unwrap() == noise(3, 300_000));
}

#[fuse_test]
fn a_plan_that_exceeds_the_memory_budget_is_refused() {
    // The directory of the new archive is in memory, and has long names.
    let work = tempdir().unwrap();
    let files = work.path().join("files");
    for number in 0..300 {
        write(&files, &format!("{number:0200}"), b"");
    }
    let archive = work.path().join("a.zip");
    let ran = hpipack(&["--quiet"], &files, &archive);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let bytes = fs::read(&archive).unwrap();
    let alone = changed("a.zip", &bytes, &[("new.txt", b"new")]);
    let mut in_folder = changed("a.zip", &bytes, &[("a.zip.d/new.txt", b"new")]);
    in_folder.original = in_folder.work.path().join("folder");
    write(&in_folder.original, "a.zip", &bytes);
    for (changed, path) in [(alone, "new.txt"), (in_folder, "a.zip.d/new.txt")] {
        let fixture = Fixture::new();
        let [mut small, mut enough] = [(); 2].map(|()| changed.program(&fixture));
        let refused = run(small.args(["-o", "cachesize=64K"]));
        assert_ne!(refused.code, Some(0));
        let problem = ": the plan of the changes needs ";
        assert!(refused.stderr.contains(problem), "{refused:?}");
        enough.args(["-o", "cachesize=1M"]);
        let mount = fixture.mount_by(enough);
        assert_eq!(fs::read(mount.file(path)).unwrap(), b"new");
    }
}

#[test]
fn all_files_of_a_folder_of_changes_count_towards_the_memory_budget() {
    let zip = seeds::zip_with("old.txt", b"old");
    let changed = changed("a.zip", &zip, &[("new.txt", b"new")]);
    // Files that are ignored have no part in the new directory of the archive.
    for number in 0..3000 {
        write(&changed.folder, &format!("._{number:0198}"), b"");
    }
    let check = |source: &Path, cache: &str| {
        let mut program = hpi("check");
        program.args(["-o", cache, "--apply"]);
        run(program.arg(&changed.folder).arg(source))
    };
    let folder = changed.work.path().join("folder");
    write(&folder, "old.txt", b"old");
    for source in [&changed.original, &folder] {
        let refused = check(source, "cachesize=512K");
        assert_ne!(refused.code, Some(0));
        let problem = "not checked: the plan of the changes needs ";
        assert!(refused.stdout.contains(problem), "{refused:?}");
        assert_eq!(check(source, "cachesize=4M").code, Some(0));
    }
}

#[test]
fn a_check_reads_the_result_and_compares_it_with_the_folder() {
    let changes: [(&str, &[u8]); 2] = [("a.ifp", b"padded"), ("new.txd", &noise(1, 4096))];
    let changed = changed("a.img", &seeds::img(), &changes);
    let mut program = hpi("check");
    program
        .arg("--apply")
        .arg(&changed.folder)
        .arg(&changed.original);
    let ran = run(&mut program);
    // The files have no contents of their types.
    assert!(ran.stdout.contains("3 files"), "{ran:?}");
    let first = ran.stdout.lines().next().unwrap();
    assert!(
        first.contains(": 2 of 2 changed files are as in"),
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("differs from the folder"), "{ran:?}");
    let hip_changes = changed_hip();
    let mut program = hpi("check");
    program
        .arg("--apply")
        .arg(&hip_changes.folder)
        .arg(&hip_changes.original);
    let ran = run(&mut program);
    assert!(!ran.stdout.contains("differs from the folder"), "{ran:?}");
    // Changes that cannot be applied are not checked.
    write(&hip_changes.folder, "info.json", b"{}");
    let mut program = hpi("check");
    program
        .arg("--apply")
        .arg(&hip_changes.folder)
        .arg(&hip_changes.original);
    let ran = run(&mut program);
    assert_ne!(ran.code, Some(0), "{ran:?}");
}

/// Returns an archive with an asset changed by its id.
fn changed_hip() -> Changed {
    let id = hpimount_containers::hip::asset_id(b"mark");
    let path = format!("ids/{id:08X}");
    changed("a.HIP", &hip(), &[(&path, &noise(2, 70_000))])
}

/// Returns a list of dumps with these files of one disc.
fn list(files: &[(&str, &[u8])]) -> String {
    let rom = |(name, bytes): &(&str, &[u8])| {
        let sum = crc32fast::hash(bytes);
        format!(
            "<rom name=\"{name}\" size=\"{}\" crc=\"{sum:08x}\"/>\n",
            bytes.len()
        )
    };
    let roms: String = files.iter().map(rom).collect();
    format!("<datafile><game name=\"Game\">\n{roms}</game></datafile>\n")
}

#[test]
fn a_changed_disc_is_never_a_bad_dump() {
    let iso = disc().iso();
    let tracks = [disc().raw(), noise(9, 20 * 2352)];
    let sheet = "FILE \"1.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n\
                 FILE \"2.bin\" BINARY\n  TRACK 02 AUDIO\n    INDEX 01 00:00:00\n";
    let changes: [(&str, &[u8]); 1] = [("README.TXT", b"new")];
    let image = changed("a.iso", &iso, &changes);
    let cd = changed("a.cue", sheet.as_bytes(), &changes);
    let names = ["1.bin", "2.bin"];
    for (name, track) in names.iter().zip(&tracks) {
        fs::write(cd.work.path().join(name), track).unwrap();
    }
    let lists = [
        list(&[("a.iso", &iso)]),
        list(&[
            ("a.cue", sheet.as_bytes()),
            (names[0], &tracks[0]),
            (names[1], &tracks[1]),
        ]),
    ];
    for (changed, list) in [image, cd].into_iter().zip(lists) {
        let dat = changed.work.path().join("list.dat");
        fs::write(&dat, list).unwrap();
        let check = |options: &[&Path]| {
            let mut program = hpi("check");
            program.args(["--dat"]).arg(&dat);
            run(program.args(options).arg(&changed.original))
        };
        let ran = check(&[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = check(&[Path::new("--apply"), &changed.folder]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let told = "is not in the list, because it is changed";
        assert!(ran.stdout.contains(told), "{ran:?}");
        assert!(!ran.stdout.contains(": damaged: "), "{ran:?}");
    }
}
