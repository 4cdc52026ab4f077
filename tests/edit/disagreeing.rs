//! Converted files that show the same value: the last saved file wins, value by value.

use std::ffi::CStr;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use fixtures::heavy_iron::timer;
use fixtures::hip::Hip;
use hpimount_containers::hip::{Game, Platform};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Editing, assert_fails, save};

const FIRST: &str = "converted/objects/TIMR/FIRST.json";
const TIMERS: &str = "converted/tables/TIMR.tsv";

/// Mounts two timers of two seconds.
fn timers() -> Editing {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(timer("FIRST", "SECOND"))
        .add(timer("SECOND", "FIRST"));
    Editing::new("a.HIP", &hip.build())
}

/// Returns the table of the timers with other seconds of the first one.
fn with_seconds(editing: &Editing, before: &str, after: &str) -> String {
    let table = String::from_utf8(editing.read(TIMERS)).unwrap();
    let rows = table.lines().map(|row| match row.contains("FIRST\t") {
        true => row.replace(&format!("\t{before}\t"), &format!("\t{after}\t")) + "\n",
        false => format!("{row}\n"),
    });
    let changed: String = rows.collect();
    assert_ne!(changed, table);
    changed
}

/// Checks the seconds of the first timer, and that it is disabled.
fn assert_disabled(editing: &Editing, seconds: f32) {
    let first = editing.read("layers/00-DEFAULT/FIRST.timr");
    assert_eq!(first[6..8], [0, 0x1C]);
    assert_eq!(first[8..12], seconds.to_bits().to_be_bytes());
    editing.assert_applied();
}

/// An edit of two values.
const DISABLED: &str = r#"{"body": {"seconds": 7.5}, "header": {"enabled": false}}"#;

/// Returns the note about [`FIRST`] in the table of changes.
fn note(editing: &Editing) -> String {
    let mut rows = editing.table().into_iter();
    let [.., note] = rows.find(|row| row[0] == FIRST).unwrap();
    note
}

#[fuse_test]
fn the_last_of_two_files_counts_for_the_values_that_it_changes() {
    let mut editing = timers();
    editing.write(FIRST, DISABLED);
    assert_disabled(&editing, 7.5);
    editing.write(TIMERS, with_seconds(&editing, "7.5", "9"));
    assert_disabled(&editing, 9.0);
    assert_eq!(note(&editing), "superseded: body.seconds");
    let edits = editing.edits();
    let mut trash = edits.iter().filter(|path| path.starts_with(".Trash-"));
    let saved = editing.edit(trash.next().unwrap());
    assert_eq!(fs::read_to_string(saved).unwrap(), DISABLED);
    editing.remount();
    assert_disabled(&editing, 9.0);
    // The object's own file wins again when it is saved last.
    editing.write(FIRST, r#"{"body": {"seconds": 4}}"#);
    let first = editing.read("layers/00-DEFAULT/FIRST.timr");
    assert_eq!(first[8..12], 4.0_f32.to_bits().to_be_bytes());
    assert_eq!(note(&editing), "");
    let table = String::from_utf8(editing.read(TIMERS)).unwrap();
    assert!(table.contains("\t4\t"), "{table}");
    editing.assert_applied();
}

#[fuse_test]
fn of_two_files_of_others_the_newer_one_counts() {
    let mut editing = timers();
    let table = with_seconds(&editing, "2", "9");
    editing.unmount();
    for (path, text, age) in [(TIMERS, &*table, 0), (FIRST, DISABLED, 10)] {
        let path = editing.edit(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    }
    editing.mount_again();
    eventually("the older one agrees", || {
        let text = fs::read_to_string(editing.edit(FIRST)).unwrap_or_default();
        text.contains("\"seconds\": 9")
    });
    assert_disabled(&editing, 9.0);
    assert_eq!(note(&editing), "superseded: body.seconds");
}

/// A file system in memory over a directory, which ends with this value.
struct Covered<'a>(&'a Path);

impl<'a> Covered<'a> {
    fn new(directory: &'a Path) -> Self {
        let flags = MountFlags::empty();
        mount("none", directory, "tmpfs", flags, None::<&CStr>).unwrap();
        Self(directory)
    }
}

impl Drop for Covered<'_> {
    fn drop(&mut self) {
        let _ = unmount(self.0, UnmountFlags::DETACH);
    }
}

#[fuse_test]
fn a_file_that_cannot_get_its_place_supersedes_no_other() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let editing = timers();
    editing.write(TIMERS, with_seconds(&editing, "2", "9"));
    let objects = editing.edit("converted/objects");
    fs::create_dir(&objects).unwrap();
    let _other_file_system = Covered::new(&objects);
    let saved = save(&editing.path(FIRST), DISABLED);
    assert_fails(saved, Errno::XDEV);
    assert!(editing.edit(TIMERS).exists());
    let mut edits = editing.edits().into_iter();
    assert!(edits.all(|path| !path.starts_with(".Trash-")));
    let first = editing.read("layers/00-DEFAULT/FIRST.timr");
    assert_eq!(first[8..12], 9.0_f32.to_bits().to_be_bytes());
}
