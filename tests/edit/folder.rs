//! The folder of edits: its contents, and which folders are accepted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::Signal;
use testkit::fuse_test;
use testkit::mount::{Fixture, eventually, run};

use crate::kit::{Editing, UNIT, save};

#[fuse_test]
fn what_was_edited_is_there_after_mounting_again() {
    let mut editing = Editing::of_units();
    editing.write("units/ARMTANK.FBI", "edited");
    editing.write("new.txt", "new");
    fs::remove_file(editing.path("readme.txt")).unwrap();
    let before = editing.assert_applied();
    editing.remount();
    assert!(editing.image() == before);
    assert_eq!(editing.read("units/ARMTANK.FBI"), b"edited");
    assert_eq!(editing.names(""), ["maps", "new.txt", "units"]);
    editing.write("new.txt", "newer");
    editing.assert_applied();
}

#[fuse_test]
fn files_with_names_for_a_moment_are_kept_beside_the_edits() {
    let mut editing = Editing::of_units();
    editing.write("mine.txt", "mine");
    fs::rename(editing.path("mine.txt"), editing.path("mine.txt~")).unwrap();
    fs::rename(editing.path("mine.txt~"), editing.path("other.txt~")).unwrap();
    assert_eq!(editing.read("other.txt~"), b"mine");
    editing.write("down.part", "half");
    editing.write("empty.part", "");
    let image = editing.assert_applied();
    editing.remount();
    assert_eq!(editing.edits(), ["down.part~", "other.txt~"]);
    assert!(editing.image() == image);
}

#[fuse_test]
fn a_file_that_is_only_made_is_added() {
    let editing = Editing::of_units();
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CREATE;
    let mode = rustix::fs::Mode::RUSR;
    drop(rustix::fs::open(editing.path("lock"), flags, mode).unwrap());
    assert_eq!(editing.edits(), ["lock"]);
    editing.assert_applied();
}

#[fuse_test]
fn the_source_is_never_written() {
    let editing = Editing::of_units();
    let before = fs::read(&editing.source).unwrap();
    editing.write("units/ARMTANK.FBI", "edited");
    editing.assert_applied();
    assert!(fs::read(&editing.source).unwrap() == before);
}

#[fuse_test]
fn a_daemon_that_is_killed_leaves_a_folder_that_can_be_applied() {
    for round in 0..3 {
        let mut editing = Editing::of_units();
        let point = editing.mount().path().to_owned();
        let writer = std::thread::spawn(move || {
            for number in 0.. {
                let text = format!("{number}");
                let path = point.join("units/ARMTANK.FBI");
                if fs::write(&path, text).is_err() || fs::write(point.join("n.txt"), "n").is_err() {
                    return;
                }
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(60 + 35 * round));
        editing.mount().signal(Signal::KILL);
        writer.join().unwrap();
        eventually("the daemon ends", || editing.mount().daemon().has_ended());
        editing.mount_again();
        let unit = editing.read("units/ARMTANK.FBI");
        let is_whole =
            unit == UNIT.as_bytes() || str::from_utf8(&unit).unwrap().parse::<u64>().is_ok();
        assert!(is_whole || unit.is_empty(), "{unit:?}");
        editing.assert_applied();
        assert!(
            editing.edits().iter().all(|name| !name.ends_with('~')),
            "{:?}",
            editing.edits()
        );
    }
}

#[fuse_test]
fn folders_that_cannot_be_edited_are_refused() {
    let editing = Editing::of_units();
    let refused = |command: &mut std::process::Command, expected: &str| {
        let ran = run(command);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    let other = Fixture::new();
    refused(
        &mut editing.command(&other.point),
        "is edited by another mount",
    );
    let with = |folder: &Path| {
        let mut command = testkit::mount::hpimount();
        command
            .arg("--edit")
            .arg(folder)
            .args([&other.archive, &other.point]);
        command
    };
    refused(&mut with(other.dir()), "contains the mount point");
    refused(
        &mut with(&other.point.join("edits")),
        "contains the mount point",
    );
    let open = other.dir().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    refused(&mut with(&open), "must belong to the user who mounts");
    refused(&mut with(&other.dir().join("no/such")), "No such file");
}

#[fuse_test]
fn a_folder_that_is_made_for_the_edits_is_private_enough() {
    let fixture = Fixture::new();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "umask 002; exec \"$@\"", "sh"]);
    command.arg(testkit::mount::hpimount().get_program());
    command.arg("--edit").arg(fixture.dir().join("edits"));
    command.args([&fixture.archive, &fixture.point]);
    let mount = fixture.mount_by(command);
    fs::create_dir(mount.file("docs")).unwrap();
    fs::write(mount.file("docs/a.txt"), "a").unwrap();
    let mode = |path: &str| {
        let data = fs::metadata(mount.fixture.dir().join(path)).unwrap();
        data.permissions().mode() & 0o777
    };
    assert_eq!(
        [mode("edits"), mode("edits/docs"), mode("edits/docs/a.txt")],
        [0o755, 0o755, 0o644]
    );
}

#[fuse_test]
fn a_directory_that_becomes_a_link_leads_nowhere() {
    let editing = Editing::of_units();
    fs::create_dir(editing.path("docs")).unwrap();
    editing.write("docs/a.txt", "a");
    let outside = tempfile::tempdir().unwrap();
    fs::remove_dir_all(editing.edit("docs")).unwrap();
    std::os::unix::fs::symlink(outside.path(), editing.edit("docs")).unwrap();
    let written = save(&editing.path("docs/b.txt"), "b");
    assert!(written.is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}
