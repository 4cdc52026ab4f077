//! Files that the source cannot store, and a folder of edits on a full file system.

use std::fs::{self, File};
use std::io::Write;

use fixtures::container_seeds::{gcm, img};
use nix::unistd::close;
use rustix::io::Errno;
use rustix::mount::MountFlags;
use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Detached, Editing, UNIT, save, units};

#[fuse_test]
fn a_full_folder_is_an_error_of_writing_and_the_image_stays() {
    let work = tempfile::tempdir().unwrap();
    let small = Detached(work.path().canonicalize().unwrap());
    let flags = MountFlags::empty();
    rustix::mount::mount("tmpfs", &small.0, "tmpfs", flags, Some(c"size=1M,mode=755")).unwrap();
    let editing = Editing::in_folder("units.hpi", &units(), &small.0.join("edits"));
    editing.write("readme.txt", "fits");
    editing.assert_applied();
    let large = fixtures::noise(3, 3 << 20);
    let written = save(&editing.path("units/ARMTANK.FBI"), large);
    let error = written.unwrap_err();
    assert_eq!(
        error.raw_os_error(),
        Some(Errno::NOSPC.raw_os_error()),
        "{error}"
    );
    let free = rustix::fs::statvfs(editing.mount().path()).unwrap();
    assert!(free.f_blocks * free.f_frsize <= 1 << 20);
    // As on any file system, the file has the bytes before the error.
    let cut = editing.read("units/ARMTANK.FBI");
    assert!(cut.len() < 3 << 20);
    fs::remove_file(editing.path("units/ARMTANK.FBI")).unwrap();
    let path = editing.path("units/ARMTANK.FBI");
    eventually("there is room again", || save(&path, UNIT).is_ok());
    editing.assert_applied();
}

/// A file of a disc that must keep its size.
const BI2: &str = "sys/bi2.bin";

/// Mounts a disc whose file [`BI2`] was saved with another size, and waits for the refusal.
fn refused_disc() -> Editing {
    let editing = Editing::new("game.gcm", &gcm());
    editing.write(BI2, "short");
    eventually("it is set aside", || {
        editing.edits() == [format!("{BI2}.rejected~")]
    });
    assert_eq!(editing.read(BI2), b"short");
    editing
}

#[fuse_test]
fn a_file_that_is_refused_while_it_is_open_is_set_aside() {
    let editing = Editing::new("game.gcm", &gcm());
    let mut file = File::create(editing.path(BI2)).unwrap();
    let rejected = [format!("{BI2}.rejected~")];
    for text in ["short", "er than it must be"] {
        file.write_all(text.as_bytes()).unwrap();
        close(file.try_clone().unwrap()).unwrap();
        eventually("it is set aside", || editing.edits() == rejected);
    }
    drop(file);
    assert_eq!(editing.edits(), rejected);
    assert_eq!(editing.read(BI2), b"shorter than it must be");
}

#[fuse_test]
fn a_good_save_replaces_a_file_that_was_refused() {
    let mut editing = refused_disc();
    let good = vec![7; 0x2000];
    editing.write(BI2, &good);
    for _ in 0..2 {
        assert_eq!(editing.edits(), [BI2]);
        assert!(editing.read(BI2) == good);
        assert!(!editing.path(&format!("{BI2}.error.txt")).exists());
        let rows = editing.rows();
        assert!(rows.iter().all(|row| !row.contains("refused")), "{rows:?}");
        editing.remount();
    }
}

#[fuse_test]
fn a_refused_file_that_is_removed_leaves_nothing() {
    let name = "a_name_of_more_than_23_bytes.txt";
    for is_mounted_again in [false, true] {
        let mut editing = Editing::new("gta.img", &img());
        editing.write(name, "refused");
        eventually("it is set aside", || {
            editing.edits() == [format!("{name}.rejected~")]
        });
        if is_mounted_again {
            editing.remount();
            assert_eq!(editing.read(name), b"refused");
        }
        fs::remove_file(editing.path(name)).unwrap();
        assert!(editing.edits().is_empty(), "{:?}", editing.edits());
        assert!(editing.rows().is_empty(), "{:?}", editing.rows());
        assert!(!editing.path(&format!("{name}.error.txt")).exists());
    }
}

#[fuse_test]
fn a_refused_file_without_room_in_its_name_is_in_the_trash() {
    let editing = Editing::new("gta.img", &img());
    let image = editing.image();
    let name = format!("{:a<246}.txt", "");
    editing.write(&name, "too long a name");
    eventually("it is in the trash", || {
        let edits = editing.edits();
        edits.len() == 1 && edits[0].starts_with(".Trash-hpimount/") && edits[0].ends_with(&name)
    });
    eventually("it is gone", || !editing.path(&name).exists());
    assert!(editing.image() == image);
    editing.write("good.txt", "good");
    editing.assert_applied();
}
