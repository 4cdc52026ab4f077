//! Real storage: a device that loses blocks, a file system that is unmounted
//! while an archive on it is mounted, and a full one.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::fuse_test;

use rustix::process::Signal;

use testkit::each_method::{self, SMALL, contents, read_all};
use testkit::files::{open_direct, read_at};
use testkit::mount::others::{Tmpfs, unmount_by};
use testkit::mount::{Fixture, Mount, eventually, has_programs, run};
use testkit::mounted::{output, stats};
use testkit::trial;

/// A device loses bytes in units of this many.
const BLOCK: usize = 4096;

/// Name of the archive in its file system.
const ARCHIVE: &str = "sample.hpi";

/// Mounts a file system with [`each_method::archive`] on a loop device. Returns
/// its image and its mount point, which is unmounted with the fixture.
fn loop_device(fixture: &Fixture, options: &str) -> (PathBuf, PathBuf) {
    let names = ["image", "disk", "files"];
    let [image, disk, files] = names.map(|name| fixture.dir().join(name));
    fs::create_dir(&disk).unwrap();
    fs::create_dir(&files).unwrap();
    fs::write(files.join(ARCHIVE), each_method::archive()).unwrap();
    File::create(&image).unwrap().set_len(8 << 20).unwrap();
    let make = ["-q", "-d", "files", "image"];
    output("mkfs.ext4", &make, fixture.dir());
    let mount = ["-o", options, "image", "disk"];
    output("mount", &mount, fixture.dir());
    (image, disk)
}

/// Returns a mount of an archive, with hardly any cache.
fn mount(mut fixture: Fixture, archive: PathBuf) -> Mount {
    fixture.archive = archive;
    fixture.mount(&["-o", "noprefetch,cachesize=32K"])
}

#[fuse_test]
fn lost_blocks_of_a_device_are_eio_until_they_are_back() {
    if !has_programs(&["mkfs.ext4", "losetup"]) {
        return;
    }
    let rounds = trial::length(2, 20);
    for round in 0..rounds {
        let fixture = Fixture::new();
        let (path, disk) = loop_device(&fixture, "loop,ro,noload");
        let mount = mount(fixture, disk.join(ARCHIVE));
        let image = fs::read(&path).unwrap();
        // Only the archive contains these random bytes.
        let piece = &contents(0)[60_000..60_100];
        let lost = image.windows(100).position(|bytes| bytes == piece).unwrap();
        let device = File::options().write(true).open(&path).unwrap();
        device.set_len((lost - lost % BLOCK) as u64).unwrap();
        let (right, refused) = read_all(&mount);
        assert!(right > 0 && refused > 0, "{round}: {right} {refused}");
        let errors = stats(&mount)["last_errors"].to_string();
        assert!(errors.contains("Input/output error"), "{errors}");
        device.write_all_at(&image, 0).unwrap();
        assert_eq!(read_all(&mount).1, 0, "{round}");
    }
    let tried = "ext4 on a loop device that loses its blocks, and gets them back";
    trial::record(tried, rounds, "EIO, then every byte right");
}

#[fuse_test]
fn another_file_with_the_inode_number_of_the_archive_is_not_read() {
    if !has_programs(&["mkfs.ext4", "losetup"]) {
        return;
    }
    let fixture = Fixture::new();
    let (_, disk) = loop_device(&fixture, "loop");
    // The archive is in a folder: sources themselves are kept open by the
    // sandbox, so their inode numbers are not reused.
    let archive = disk.join(ARCHIVE);
    for other in 0..40 {
        fs::write(disk.join(other.to_string()), "other").unwrap();
    }
    let mount = mount(fixture, disk.clone());
    let shown = mount.file(ARCHIVE);
    let length = fs::metadata(&archive).unwrap().len() as usize;
    assert!(read_at(&open_direct(&shown), 0, length).unwrap() == each_method::archive());

    // The number is reused once the archive is no longer open: when every thread
    // that has read it has read something else.
    let number = fs::metadata(&archive).unwrap().ino();
    fs::remove_file(&archive).unwrap();
    let read_others = |first: usize| {
        for other in (first..40).step_by(4) {
            let other = mount.file(&other.to_string());
            assert_eq!(read_at(&open_direct(&other), 0, 10).unwrap(), b"other");
        }
    };
    let mut attempts = 0;
    eventually("ext4 uses the number again", || {
        std::thread::scope(|scope| {
            for first in 0..4 {
                scope.spawn(move || read_others(first));
            }
        });
        File::create(&archive).unwrap().sync_all().unwrap();
        let has_it = fs::metadata(&archive).unwrap().ino() == number;
        if !has_it {
            fs::rename(&archive, disk.join(format!("not-{attempts}"))).unwrap();
            attempts += 1;
        }
        has_it
    });
    fs::write(&archive, vec![0x55; length]).unwrap();
    let error = read_at(&open_direct(&shown), 0, length).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    let errors = stats(&mount)["last_errors"].to_string();
    assert!(errors.contains("the file has been replaced"), "{errors}");
}

/// Returns a file system in memory for the sources, and its mount point.
fn tmpfs(fixture: &Fixture, options: &CStr) -> (Tmpfs, PathBuf) {
    let disk = fixture.dir().join("disk");
    fs::create_dir(&disk).unwrap();
    (Tmpfs::with(&disk, options), disk)
}

#[fuse_test]
fn an_archive_on_a_lazily_unmounted_file_system_can_still_be_read() {
    let fixture = Fixture::new();
    let (_tmpfs, disk) = tmpfs(&fixture, c"");
    let archive = disk.join(ARCHIVE);
    fs::write(&archive, each_method::archive()).unwrap();
    let mount = mount(fixture, archive);
    let busy = run(Command::new("umount").arg(&disk));
    assert_ne!(busy.code, Some(0), "{busy:?}");
    unmount_by(&["umount", "-l"], &disk);
    assert_eq!(read_all(&mount).1, 0);
}

#[fuse_test]
fn a_lazily_unmounted_folder_can_still_be_read() {
    let fixture = Fixture::new();
    let (_tmpfs, disk) = tmpfs(&fixture, c"");
    fs::write(disk.join(ARCHIVE), each_method::archive()).unwrap();
    fs::create_dir(disk.join("sub")).unwrap();
    fs::write(disk.join("sub/loose.txt"), "loose").unwrap();
    let mount = mount(fixture, disk.clone());
    unmount_by(&["umount", "-l"], &disk);
    assert_eq!(fs::read(mount.file("sub/loose.txt")).unwrap(), b"loose");
    let small = mount.file("sample.hpi.d").join(SMALL);
    assert_eq!(fs::read(small).unwrap(), b"hello\n");
}

/// Writes to a file until its disk is full.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    let full = loop {
        if let Err(error) = file.write_all(&[0x55; 4096]) {
            break error;
        }
    };
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
}

#[fuse_test]
fn a_full_disk_affects_only_the_log() {
    let mut fixture = Fixture::new();
    let (_tmpfs, disk) = tmpfs(&fixture, c"size=2m");
    fixture.archive = disk.join(ARCHIVE);
    // The log is beside the mount point.
    fixture.point = disk.join("mnt");
    fs::create_dir(&fixture.point).unwrap();
    fs::write(&fixture.archive, each_method::archive()).unwrap();
    let whole = fs::metadata(&fixture.archive).unwrap().len();
    let mount = fixture.mount_in_foreground(&["-vv", "-o", "noprefetch,cachesize=32K"]);
    let archive = File::options().write(true).open(&mount.fixture.archive);
    archive.unwrap().set_len(whole / 2).unwrap();
    fill(&disk.join("rest"));
    let mut errors = 0;
    for _ in 0..20 {
        let (right, refused) = read_all(&mount);
        assert!(right > 0 && refused > 0);
        errors += refused;
    }
    let logged = mount.fixture.log().matches("cannot read").count();
    assert!(logged < errors, "the disk was not full");
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn many_errors_of_a_source_are_few_lines_of_the_log() {
    let mut fixture = Fixture::new();
    fixture.archive = fixture.dir().join(ARCHIVE);
    fs::write(&fixture.archive, each_method::archive()).unwrap();
    let mount = fixture.mount_in_foreground(&["-o", "noprefetch,cachesize=32K"]);
    let archive = File::options().write(true).open(&mount.fixture.archive);
    archive.unwrap().set_len(100).unwrap();
    let refused: usize = (0..20).map(|_| read_all(&mount).1).sum();
    mount.signal(Signal::TERM);
    let log = mount.assert_ends().log();
    let (errors, left_out): (Vec<&str>, Vec<&str>) = log
        .lines()
        .filter(|line| line.contains("error"))
        .partition(|line| !line.contains(" like this)"));
    assert!(refused > 10 * errors.len(), "{refused} errors: {log}");
    let count = |line: &&str| {
        let (_, rest) = line.split_once(" (and ").unwrap();
        rest.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let counted: usize = left_out.iter().map(count).sum();
    assert_eq!(errors.len() + counted, refused, "{log}");
}
