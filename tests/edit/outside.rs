//! Changes of the folder of edits by other programs appear in the mount.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, dir, file};
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use testkit::fuse_test;
use testkit::mount::{eventually, has_programs, run};

use crate::kit::{Detached, Editing, units};

#[fuse_test]
fn files_and_directories_of_others_are_shown() {
    let editing = Editing::of_units();
    let image = editing.image();
    fs::write(editing.edit("readme.txt"), "outside").unwrap();
    eventually("it is replaced", || {
        editing.read("readme.txt") == b"outside"
    });
    fs::create_dir_all(editing.edit("docs/deep")).unwrap();
    fs::write(editing.edit("docs/deep/a.txt"), "a").unwrap();
    eventually("it is added", || editing.path("docs/deep/a.txt").exists());
    assert_eq!(editing.names("docs/deep"), ["a.txt"]);
    fs::write(editing.edit("units/.wh.ARMTANK.FBI"), "").unwrap_err();
    fs::create_dir(editing.edit("units")).unwrap();
    fs::write(editing.edit("units/.wh.ARMTANK.FBI"), "").unwrap();
    eventually("it is deleted", || {
        !editing.path("units/ARMTANK.FBI").exists()
    });
    editing.assert_applied();
    fs::remove_dir_all(editing.edit("units")).unwrap();
    fs::remove_dir_all(editing.edit("docs")).unwrap();
    fs::remove_file(editing.edit("readme.txt")).unwrap();
    eventually("all is undone", || editing.image() == image);
    assert_eq!(editing.read("readme.txt"), b"read me\n");
    assert!(editing.path("units/ARMTANK.FBI").exists());
    assert!(editing.image() == units());
}

#[fuse_test]
fn a_file_of_another_replaces_what_was_saved_here() {
    let editing = Editing::of_units();
    editing.write("readme.txt", "here");
    assert_eq!(editing.read("readme.txt"), b"here");
    let other = editing.folder.parent().unwrap().join("other");
    fs::write(&other, "there").unwrap();
    fs::rename(&other, editing.edit("readme.txt")).unwrap();
    eventually("it is replaced", || editing.read("readme.txt") == b"there");
    editing.assert_applied();
}

#[fuse_test]
fn what_is_refused_of_others_is_said_and_the_rest_counts() {
    let mut editing = Editing::of_units();
    editing.unmount();
    fs::create_dir_all(editing.edit("converted/none")).unwrap();
    fs::write(editing.edit("readme.txt"), "good").unwrap();
    fs::write(editing.edit("converted/none/nothing.png"), "bad").unwrap();
    editing.mount_again();
    assert_eq!(editing.read("readme.txt"), b"good");
    let rows = editing.rows();
    assert!(
        rows.iter()
            .any(|row| row.starts_with("readme.txt\treplaced")),
        "{rows:?}"
    );
    assert!(
        rows.iter()
            .any(|row| row.starts_with("converted/none/nothing.png\trefused")),
        "{rows:?}"
    );
}

#[fuse_test]
fn a_file_of_others_may_have_a_name_that_is_not_utf_8() {
    let editing = Editing::of_units();
    let names = editing.names("");
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    for text in ["one", "another"] {
        fs::write(editing.folder.join(name), text).unwrap();
        eventually("it is shown", || {
            let mut shown = editing.names("");
            shown.retain(|name| !names.contains(name));
            shown.len() == 1 && editing.read(&shown[0]) == text.as_bytes()
        });
        editing.assert_applied();
    }
    fs::remove_file(editing.folder.join(name)).unwrap();
    eventually("it is gone", || editing.names("") == names);
}

#[fuse_test]
fn a_converted_file_of_others_is_its_asset_until_it_is_deleted() {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"));
    let editing = Editing::new("a.HIP", &hip.build());
    let (text, asset) = (
        "converted/texts/greeting.txt",
        "layers/00-DEFAULT/greeting.text",
    );
    let before = editing.read(asset);
    fs::create_dir_all(editing.edit("converted/texts")).unwrap();
    fs::write(editing.edit(text), "Hi").unwrap();
    eventually("it is the asset", || {
        editing.read(asset) == b"\0\0\0\x02Hi\0\0"
    });
    assert_eq!(editing.read(text), b"Hi");
    editing.assert_applied();
    fs::remove_file(editing.edit(text)).unwrap();
    eventually("it is undone", || editing.read(asset) == before);
    assert_eq!(editing.read(text), b"Hello");
}

#[fuse_test]
fn twenty_thousand_files_of_others_are_shown() {
    let count = testkit::trial::part(2_000, 20_000);
    let editing = Editing::of_units();
    fs::create_dir(editing.edit("many")).unwrap();
    for number in 0..count {
        fs::write(editing.edit(&format!("many/file{number}.txt")), "x").unwrap();
    }
    eventually("all are shown", || {
        editing.path("many").exists() && editing.names("many").len() == count
    });
    editing.assert_applied();
}

#[fuse_test]
fn files_that_come_and_go_disturb_no_change() {
    let editing = Editing::of_units();
    let temporary = editing.edit("temporary~");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                fs::write(&temporary, "").unwrap();
                fs::remove_file(&temporary).unwrap();
            }
        });
        let made = (0..60)
            .try_for_each(|number| fs::create_dir(editing.path(&format!("directory{number}"))));
        is_done.store(true, Ordering::Relaxed);
        made.unwrap();
    });
    editing.assert_applied();
}

#[fuse_test]
fn changes_of_the_mount_are_not_taken_for_those_of_others() {
    let editing = Editing::of_units();
    fs::create_dir_all(editing.path("docs/deep")).unwrap();
    editing.write("docs/deep/a.txt", "a");
    fs::rename(editing.path("docs"), editing.path("papers")).unwrap();
    fs::remove_file(editing.path("maps/big.bin")).unwrap();
    let number = || {
        let image = editing.path(".hpimount/image/units.hpi");
        fs::metadata(image).unwrap().ino()
    };
    let before = number();
    // Longer than changes of others are waited for.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(number(), before, "the image was made anew");
}

#[fuse_test]
fn changes_behind_a_file_system_without_events_are_shown() {
    if !has_programs(&["bindfs"]) {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let [behind, point] = ["behind", "point"].map(|name| work.path().join(name));
    fs::create_dir(&behind).unwrap();
    fs::create_dir(&point).unwrap();
    let ran = run(Command::new("bindfs").args([&behind, &point]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let point = Detached(point);
    let mut editing = Editing::in_folder("units.hpi", &units(), &point.0.join("edits"));
    editing.write("readme.txt", "here");
    let behind = behind.join("edits");
    assert_eq!(fs::read(behind.join("readme.txt")).unwrap(), b"here");
    fs::write(behind.join("readme.txt"), "there").unwrap();
    eventually("it is replaced", || editing.read("readme.txt") == b"there");
    fs::create_dir(behind.join("units")).unwrap();
    fs::write(behind.join("units/new.fbi"), "new").unwrap();
    eventually("it is added", || editing.path("units/new.fbi").exists());
    fs::write(behind.join("units/.wh.ARMTANK.FBI"), "").unwrap();
    eventually("it is deleted", || {
        !editing.path("units/ARMTANK.FBI").exists()
    });
    // The kernel remembers sizes of files for a second.
    eventually("the image has all", || editing.image() == editing.applied());
    fs::remove_dir_all(behind.join("units")).unwrap();
    fs::remove_file(behind.join("readme.txt")).unwrap();
    eventually("all is undone", || editing.image() == units());
    editing.write("maps/new.txt", "saved");
    fs::rename(editing.path("maps/new.txt"), editing.path("maps/a.txt")).unwrap();
    editing.remount();
    assert_eq!(editing.read("maps/a.txt"), b"saved");
    editing.assert_applied();
}

#[fuse_test]
fn what_goes_from_a_new_directory_before_it_is_watched_is_undone() {
    let names: Vec<String> = (0..20).map(|number| format!("dir {number}")).collect();
    let directories = names.iter().map(|name| {
        let old = File::new("old", Method::Stored);
        dir(name.as_bytes(), vec![file(b"a.txt", old)])
    });
    let archive = V1::new(directories.collect()).build();
    let editing = Editing::new("a.hpi", &archive.bytes);
    let paths: Vec<String> = names.iter().map(|name| format!("{name}/a.txt")).collect();
    // To watch these takes a while.
    let many = editing.folder.parent().unwrap().join("many");
    for number in 0..3000 {
        fs::create_dir_all(many.join(number.to_string())).unwrap();
    }
    fs::rename(many, editing.edit("many")).unwrap();
    for path in &paths {
        editing.write(path, "new");
    }
    assert!(editing.rows().len() >= paths.len(), "a version has them");
    for path in &paths {
        fs::remove_file(editing.edit(path)).unwrap();
    }
    let is_old = |path: &String| fs::read(editing.path(path)).is_ok_and(|text| text == b"old");
    eventually("all are undone", || paths.iter().all(is_old));
}
