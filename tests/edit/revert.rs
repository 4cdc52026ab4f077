//! `hpi revert` undoes edits by their paths in the mount.

use std::fs;

use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform};
use testkit::fuse_test;
use testkit::mount::{Run, hpi, run};

use crate::kit::{Editing, UNIT};

fn revert(editing: &Editing, paths: &[&str]) -> Run {
    let paths = paths.iter().map(|path| editing.path(path));
    run(hpi("revert").args(paths))
}

#[fuse_test]
fn an_edited_file_is_as_in_the_source_again_and_the_edit_is_in_the_trash() {
    let editing = Editing::of_units();
    let image = editing.image();
    editing.write("readme.txt", "edited");
    // In any spelling, as in the mount.
    let ran = revert(&editing, &["README.txt"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert_eq!(editing.read("readme.txt"), b"read me\n");
    let trash = editing.edit(".Trash-hpimount/readme.txt");
    assert_eq!(fs::read(&trash).unwrap(), b"edited");
    editing.write("readme.txt", "again");
    assert_eq!(revert(&editing, &["readme.txt"]).code, Some(0));
    assert!(editing.image() == image);
    assert_eq!(fs::read(trash).unwrap(), b"edited");
}

#[fuse_test]
fn a_deleted_file_is_there_again_and_a_new_directory_is_gone() {
    let editing = Editing::of_units();
    let image = editing.image();
    fs::remove_file(editing.path("units/ARMTANK.FBI")).unwrap();
    fs::create_dir_all(editing.path("docs/deep")).unwrap();
    editing.write("docs/deep/a.txt", "a");
    let ran = revert(&editing, &["units/armtank.fbi", "docs"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert!(editing.image() == image);
    assert_eq!(editing.read("units/ARMTANK.FBI"), UNIT.as_bytes());
    assert!(!editing.path("docs").exists());
}

#[fuse_test]
fn everything_below_a_directory_is_undone() {
    let editing = Editing::of_units();
    let image = editing.image();
    editing.write("units/ARMTANK.FBI", "edited");
    fs::remove_file(editing.path("units/ARMJEEP.FBI")).unwrap();
    editing.write("readme.txt", "stays");
    assert_eq!(revert(&editing, &["units"]).code, Some(0));
    assert!(editing.path("units/ARMJEEP.FBI").exists());
    assert_eq!(editing.read("units/ARMTANK.FBI"), UNIT.as_bytes());
    assert_eq!(editing.read("readme.txt"), b"stays");
    assert!(editing.image() != image);
}

#[fuse_test]
fn what_is_not_edited_or_in_no_mount_is_named() {
    let editing = Editing::of_units();
    let ran = revert(&editing, &["readme.txt"]);
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(ran.stderr.contains("readme.txt: is not edited"), "{ran:?}");
    let outside = editing.folder.parent().unwrap();
    for path in [
        outside.join("units.hpi"),
        editing.path(".."),
        editing.path(""),
    ] {
        let ran = run(hpi("revert").arg(&path));
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(20), 1));
    }
    // Directories in the folder that are replaced by links are not followed.
    fs::write(outside.join("kept.txt"), "kept").unwrap();
    std::os::unix::fs::symlink(outside, editing.edit("docs")).unwrap();
    assert_ne!(revert(&editing, &["docs/kept.txt"]).code, Some(0));
    assert!(outside.join("kept.txt").exists());
}

#[fuse_test]
fn an_edit_is_undone_by_other_paths_of_its_file() {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"));
    let editing = Editing::new("a.HIP", &hip.build());
    let asset = "layers/00-DEFAULT/greeting.text";
    let image = editing.image();
    let names = editing.names("types/Text");
    let link = format!("types/Text/{}", names[0]);
    for path in [&*link, "layers/../layers/00-DEFAULT/greeting.text"] {
        editing.write(&link, b"\0\0\0\x02Hi\0\0");
        assert!(editing.edit(asset).exists());
        let ran = revert(&editing, &[path]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{path}");
        assert!(editing.image() == image);
    }
}

#[fuse_test]
fn all_paths_are_undone_though_one_is_not_edited() {
    let editing = Editing::of_units();
    editing.write("units/ARMTANK.FBI", "edited");
    let ran = revert(&editing, &["readme.txt", "units/ARMTANK.FBI"]);
    assert_eq!(
        (ran.code, ran.stderr.lines().count()),
        (Some(20), 1),
        "{ran:?}"
    );
    assert_eq!(editing.read("units/ARMTANK.FBI"), UNIT.as_bytes());
}
