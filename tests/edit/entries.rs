//! Making, renaming and removing entries.

use std::fs::{self, File};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use testkit::fuse_test;

use crate::kit::{Editing, UNIT, assert_fails};

#[fuse_test]
fn directories_and_files_in_them_are_added() {
    let editing = Editing::of_units();
    fs::create_dir_all(editing.path("docs/deep")).unwrap();
    editing.write("docs/deep/a.txt", "a");
    assert_eq!(editing.names("docs/deep"), ["a.txt"]);
    assert_fails(fs::create_dir(editing.path("docs")), Errno::EXIST);
    assert_fails(fs::remove_dir(editing.path("docs/deep")), Errno::NOTEMPTY);
    assert_fails(fs::remove_dir(editing.path("units")), Errno::NOTEMPTY);
    editing.assert_applied();
    assert_eq!(editing.read("docs/deep/a.txt"), b"a");
    fs::remove_file(editing.path("docs/deep/a.txt")).unwrap();
    fs::remove_dir(editing.path("docs/deep")).unwrap();
    fs::remove_dir(editing.path("docs")).unwrap();
    assert!(!editing.path("docs").exists());
    assert!(editing.edits().is_empty());
    assert_eq!(editing.names(""), ["maps", "readme.txt", "units"]);
}

#[fuse_test]
fn a_removed_file_is_gone_by_all_spellings_and_may_come_back() {
    let editing = Editing::of_units();
    assert!(editing.path("UNITS/armtank.fbi").exists());
    assert!(editing.path("units/ARMTANK.FBI").exists());
    fs::remove_file(editing.path("units/armtank.fbi")).unwrap();
    for path in [
        "units/ARMTANK.FBI",
        "units/armtank.fbi",
        "UNITS/ArmTank.Fbi",
    ] {
        assert!(!editing.path(path).exists(), "{path}");
    }
    assert_eq!(editing.edits(), ["units/.wh.ARMTANK.FBI"]);
    assert_eq!(editing.rows(), ["units/ARMTANK.FBI\tdeleted\t\t"]);
    assert_eq!(editing.names("units"), ["ARMJEEP.FBI"]);
    editing.assert_applied();
    editing.write("units/ARMTANK.FBI", "new");
    assert_eq!(editing.edits(), ["units/ARMTANK.FBI"]);
    assert_eq!(editing.read("units/armtank.fbi"), b"new");
    editing.assert_applied();
}

#[fuse_test]
fn a_removed_directory_is_empty_when_it_is_made_again() {
    let editing = Editing::of_units();
    fs::remove_dir_all(editing.path("units")).unwrap();
    assert!(!editing.path("units").exists());
    editing.assert_applied();
    fs::create_dir(editing.path("units")).unwrap();
    assert_eq!(editing.names("units"), Vec::<String>::new());
    editing.write("units/only.txt", "x");
    assert_eq!(editing.names("units"), ["only.txt"]);
    editing.assert_applied();
    assert_eq!(editing.names("units"), ["only.txt"]);
}

#[fuse_test]
fn files_are_renamed() {
    let editing = Editing::of_units();
    let rename = |from: &str, to: &str| fs::rename(editing.path(from), editing.path(to));
    // Of the archive.
    rename("units/ARMTANK.FBI", "units/OLDTANK.FBI").unwrap();
    assert_eq!(editing.read("units/OLDTANK.FBI"), UNIT.as_bytes());
    assert_eq!(
        editing.edits(),
        ["units/.wh.ARMTANK.FBI", "units/OLDTANK.FBI"]
    );
    editing.assert_applied();
    // Back: nothing is changed.
    rename("units/OLDTANK.FBI", "units/ARMTANK.FBI").unwrap();
    assert_eq!(editing.edits(), ["units/ARMTANK.FBI"]);
    // Onto another, and into another directory.
    editing.write("a.txt", "a");
    rename("a.txt", "readme.txt").unwrap();
    assert_eq!(editing.read("readme.txt"), b"a");
    rename("readme.txt", "maps/readme.txt").unwrap();
    assert!(!editing.path("readme.txt").exists());
    assert_eq!(editing.read("maps/readme.txt"), b"a");
    assert_eq!(editing.names(""), ["maps", "units"]);
    editing.assert_applied();
    assert_fails(rename("maps/big.bin", "units"), Errno::ISDIR);
    assert_fails(rename("units", "maps/big.bin"), Errno::NOTDIR);
    let flags = |flags| {
        renameat_with(
            CWD,
            editing.path("maps/readme.txt"),
            CWD,
            editing.path("maps/big.bin"),
            flags,
        )
    };
    assert_eq!(flags(RenameFlags::NOREPLACE), Err(Errno::EXIST));
    assert_eq!(flags(RenameFlags::EXCHANGE), Err(Errno::INVAL));
}

#[fuse_test]
fn files_of_the_folder_are_exchanged() {
    let mut editing = Editing::of_units();
    let exchange = |editing: &Editing, one: &str, other: &str| {
        let (one, other) = (editing.path(one), editing.path(other));
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
    };
    let (one, other) = ("readme.txt", "units/new.txt");
    editing.write(one, "one");
    editing.write(other, "other");
    let open = File::open(editing.path(one)).unwrap();
    exchange(&editing, one, other).unwrap();
    for _ in 0..2 {
        assert_eq!(editing.read(one), b"other");
        assert_eq!(editing.read(other), b"one");
        assert_eq!(editing.edits(), [one, other]);
        editing.assert_applied();
    }
    assert_eq!(std::io::read_to_string(open).unwrap(), "one");
    exchange(&editing, one, other).unwrap();
    assert_eq!(editing.read(one), b"one");
    // A file that is not in the folder would have to be copied in between.
    let refused = exchange(&editing, one, "units/ARMTANK.FBI");
    assert_eq!(refused, Err(Errno::INVAL));
    editing.remount();
    assert_eq!(editing.read(other), b"other");
    editing.assert_applied();
}

#[fuse_test]
fn only_new_directories_are_renamed() {
    let editing = Editing::of_units();
    let renamed = fs::rename(editing.path("units"), editing.path("tanks"));
    assert_fails(renamed, Errno::XDEV);
    fs::create_dir(editing.path("new")).unwrap();
    let renamed = fs::rename(editing.path("units"), editing.path("new"));
    assert_fails(renamed, Errno::XDEV);
    assert!(editing.path("new").exists());
    editing.write("new/a.txt", "a");
    fs::rename(editing.path("new"), editing.path("newer")).unwrap();
    assert!(!editing.path("new").exists());
    assert_eq!(editing.read("newer/a.txt"), b"a");
    assert_eq!(editing.names("newer"), ["a.txt"]);
    assert_eq!(editing.edits(), ["newer/a.txt"]);
    editing.assert_applied();
}

#[fuse_test]
fn a_new_directory_in_place_of_a_deleted_one_has_nothing_of_it() {
    let editing = Editing::of_units();
    fs::remove_dir_all(editing.path("units")).unwrap();
    fs::create_dir(editing.path("new")).unwrap();
    editing.write("new/a.txt", "a");
    fs::rename(editing.path("new"), editing.path("units")).unwrap();
    assert_eq!(editing.names("units"), ["a.txt"]);
    editing.assert_applied();
    assert_eq!(editing.names("units"), ["a.txt"]);
}

#[fuse_test]
fn a_directory_that_is_not_empty_loses_nothing_when_it_is_removed() {
    let editing = Editing::of_units();
    fs::create_dir(editing.path("docs")).unwrap();
    editing.write("docs/main.config", "precious");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert_fails(fs::remove_dir(editing.path("docs")), Errno::NOTEMPTY);
    assert_eq!(editing.read("docs/main.config"), b"precious");
    fs::remove_file(editing.path("units/ARMTANK.FBI")).unwrap();
    assert_fails(fs::remove_dir(editing.path("units")), Errno::NOTEMPTY);
    assert_eq!(editing.names("units"), ["ARMJEEP.FBI"]);
    // A name that differs only in case is the same directory.
    fs::rename(editing.path("units"), editing.path("UNITS")).unwrap();
    assert_eq!(editing.names("units"), ["ARMJEEP.FBI"]);
    editing.assert_applied();
}

#[fuse_test]
fn an_archive_goes_with_the_changes_inside() {
    let zip = fixtures::container_seeds::zip_with("dir/units.hpi", &crate::kit::units());
    let editing = Editing::new("outer.zip", &zip);
    editing.write("dir/units.hpi.d/readme.txt", "inner");
    fs::rename(editing.path("dir/units.hpi"), editing.path("dir/other.hpi")).unwrap();
    assert_eq!(editing.read("dir/other.hpi.d/readme.txt"), b"inner");
    assert!(!editing.path("dir/units.hpi").exists());
    editing.assert_applied();
    editing.write("dir/other.hpi.d/readme.txt", "again");
    fs::remove_dir_all(editing.path("dir")).unwrap();
    assert!(!editing.path("dir").exists());
    editing.assert_applied();
}

#[fuse_test]
fn entries_of_a_new_archive_are_removed_and_renamed() {
    let editing = Editing::of_units();
    editing.write("added.hpi", crate::kit::units());
    fs::remove_file(editing.path("added.hpi.d/readme.txt")).unwrap();
    fs::rename(
        editing.path("added.hpi.d/units/ARMTANK.FBI"),
        editing.path("added.hpi.d/units/OTHER.FBI"),
    )
    .unwrap();
    editing.image();
    assert!(!editing.path("added.hpi.d/readme.txt").exists());
    assert_eq!(
        editing.names("added.hpi.d/units"),
        ["ARMJEEP.FBI", "OTHER.FBI"]
    );
    editing.assert_applied();
}

#[fuse_test]
fn a_directory_beside_a_file_does_not_go_with_it() {
    let zip = fixtures::container_seeds::zip_with("conf", b"conf");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("conf.d")).unwrap();
    fs::write(folder.path().join("conf"), "conf").unwrap();
    fs::write(folder.path().join("conf.d/own"), "own").unwrap();
    fs::write(folder.path().join("a.zip"), zip).unwrap();
    let editing = Editing::of_folder(folder.path());
    editing.write("conf.d/mine", "mine");
    fs::remove_file(editing.path("conf")).unwrap();
    editing.write("conf", "again");
    fs::rename(editing.path("conf"), editing.path("conf.bak")).unwrap();
    assert_eq!(editing.read("conf.d/mine"), b"mine");
    for name in ["q", "q.d"] {
        fs::create_dir(editing.path(name)).unwrap();
    }
    fs::rename(editing.path("q"), editing.path("q2")).unwrap();
    assert!(editing.path("q.d").is_dir());
}

#[fuse_test]
fn a_directory_that_would_not_be_applied_is_refused() {
    let editing = Editing::of_units();
    for name in [".Trash-0", "t~", ".goutputstream-AAAAAA"] {
        assert_fails(fs::create_dir(editing.path(name)), Errno::PERM);
    }
    editing.write(".DS_Store", "desktop");
    assert_eq!(editing.read(".DS_Store"), b"desktop");
    editing.assert_applied();
    assert_eq!(editing.read(".DS_Store"), b"desktop");
    let long = "n".repeat(253);
    editing.write(&long, "long");
    editing.assert_applied();
    fs::remove_file(editing.path(&long)).unwrap();
}

#[fuse_test]
fn directories_are_not_made_where_there_can_be_none() {
    let editing = Editing::new("gta.img", &fixtures::container_seeds::img());
    assert_fails(fs::create_dir(editing.path("sub")), Errno::PERM);
    assert!(editing.edits().is_empty());
    let editing = Editing::of_units();
    assert_fails(fs::create_dir(editing.path("converted/sub")), Errno::PERM);
}

#[fuse_test]
fn files_that_end_with_meta_are_files() {
    let zip = fixtures::container_seeds::zip_with("a.meta", b"meta");
    let editing = Editing::new("a.zip", &zip);
    editing.write("a.meta", "edited");
    editing.write("b.meta", "new");
    editing.assert_applied();
    editing.write("b.meta", "newer");
    fs::remove_file(editing.path("a.meta")).unwrap();
    assert_eq!(editing.names(""), ["b.meta"]);
    editing.assert_applied();
}

#[fuse_test]
fn an_open_file_is_renamed() {
    let editing = Editing::of_units();
    let mut file = File::create_new(editing.path(".goutputstream-A1B2C3")).unwrap();
    std::io::Write::write_all(&mut file, b"saved").unwrap();
    file.sync_all().unwrap();
    assert!(
        editing
            .edits()
            .iter()
            .all(|name| name.starts_with(".hpimount-"))
    );
    fs::rename(
        editing.path(".goutputstream-A1B2C3"),
        editing.path("readme.txt"),
    )
    .unwrap();
    assert_eq!(
        editing.edits(),
        ["readme.txt"],
        "at the renaming, not at the end"
    );
    drop(file);
    assert_eq!(editing.read("readme.txt"), b"saved");
    editing.assert_applied();
}

#[fuse_test]
fn other_spellings_open_the_file_that_is_there() {
    let editing = Editing::of_units();
    assert!(!editing.path("NEW.txt").exists());
    assert!(!editing.path("new.TXT").exists());
    editing.write("new.txt", "1");
    assert_eq!(editing.read("NEW.txt"), b"1");
    editing.write("NEW.TXT", "22");
    assert_eq!(editing.read("new.txt"), b"22");
    assert_fails(File::create_new(editing.path("NEW.txt")), Errno::EXIST);
    assert_eq!(editing.edits(), ["new.txt"]);
    editing.write("README.TXT", "other");
    assert_eq!(editing.edits(), ["new.txt", "readme.txt"]);
    editing.assert_applied();
    let mut text = String::new();
    File::open(editing.path("ReadMe.txt"))
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "other");
}

#[fuse_test]
fn directories_are_made_once_while_others_look() {
    let editing = Editing::of_units();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                // It may be there or not.
                let _ = fs::metadata(editing.path("readme.txt"));
            }
        });
        for number in 0..100 {
            let made = fs::create_dir(editing.path(&format!("directory{number}")));
            is_done.store(made.is_err() || number == 99, Ordering::Relaxed);
            made.unwrap();
        }
    });
}

#[fuse_test]
fn a_directory_has_the_time_when_its_entries_changed() {
    let editing = Editing::of_units();
    let changed = |path: &str| {
        fs::metadata(editing.path(path))
            .unwrap()
            .modified()
            .unwrap()
    };
    let steps: [(&str, &dyn Fn()); 5] = [
        ("units", &|| editing.write("units/new.txt", "new")),
        ("units", &|| {
            fs::create_dir(editing.path("units/dir")).unwrap()
        }),
        ("units/dir", &|| {
            editing.write("units/dir/inner.txt", "inner")
        }),
        ("units", &|| {
            fs::remove_file(editing.path("units/ARMJEEP.FBI")).unwrap()
        }),
        ("maps", &|| {
            fs::rename(editing.path("units/new.txt"), editing.path("maps/new.txt")).unwrap()
        }),
    ];
    for (directory, change) in steps {
        let begun = SystemTime::now();
        change();
        let time = changed(directory);
        assert!(
            time >= begun && time <= SystemTime::now(),
            "{directory}: {time:?}"
        );
        assert_eq!(changed(directory), time, "{directory}");
    }
}

#[fuse_test]
fn a_directory_beside_a_file_with_its_name_stays_unless_the_file_is_an_archive() {
    let editing = Editing::of_units();
    fs::create_dir(editing.path("app.d")).unwrap();
    fs::create_dir(editing.path("app.d/empty")).unwrap();
    editing.write("app.d/inner.txt", "inner");
    editing.write("app", "no archive");
    assert_eq!(editing.names("app.d"), ["empty", "inner.txt"]);
    assert_eq!(editing.read("app.d/inner.txt"), b"inner");
    editing.assert_applied();
    editing.write("app.d/inner.txt", "changed");
    editing.assert_applied();
    assert_eq!(editing.read("app.d/inner.txt"), b"changed");
}
