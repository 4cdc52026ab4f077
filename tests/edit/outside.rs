//! Changes of the folder of edits that other programs make are in the mount.

use std::fs;

use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Editing, units};

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
