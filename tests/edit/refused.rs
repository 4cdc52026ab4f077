//! A folder of edits without room.

use std::fs;

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
