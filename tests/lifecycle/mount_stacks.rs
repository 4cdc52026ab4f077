//! Other mounts above, below and beside a mount of hpimount, and mount points
//! that others change.

use std::fs;
use std::process::Command;
use testkit::fuse_test;

use rustix::process::Signal;

use testkit::mount::others::{TOOLS, Tmpfs, unmount_by};
use testkit::mount::{
    BIG, Fixture, Mount, big, eventually, has_programs, hpimount, mounts_at, run,
};

#[fuse_test]
fn files_below_the_mount_survive_every_unmount() {
    if !has_programs(&["fusermount3"]) {
        return;
    }
    let signal = |mount: &Mount| mount.signal(Signal::TERM);
    type Way = Box<dyn Fn(&Mount)>;
    let mut ways: Vec<Way> = vec![Box::new(signal)];
    for tool in TOOLS {
        ways.push(Box::new(|mount| unmount_by(tool, mount.path())));
    }
    for way in ways {
        let fixture = Fixture::new();
        let below = Tmpfs::on(&fixture.point);
        let mount = fixture.mount(&[]);
        assert_eq!(mount.layers(), 2);
        way(&mount);
        assert_eq!(mount.daemon().wait(), Some(0));
        assert_eq!(mount.layers(), 1);
        below.assert_there();
    }
}

#[fuse_test]
fn a_mount_on_top_of_ours_is_left_alone() {
    let mount = Fixture::new().mount_in_foreground(&[]);
    let above = Tmpfs::on(mount.path());
    for asked in 1..=2 {
        mount.signal(Signal::TERM);
        eventually("the daemon logs that it is covered", || {
            mount
                .fixture
                .log()
                .matches("another mount covers it")
                .count()
                == asked
        });
    }
    above.assert_there();
    mount.daemon().assert_running();
    drop(above);
    mount.assert_answers();
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn a_mount_that_was_moved_is_found() {
    let fixture = Fixture::named("sample.hpi", "mnt");
    let (old, new) = (fixture.dir().join("old"), fixture.dir().join("new"));
    fs::create_dir_all(old.join("mnt")).unwrap();
    let mut command = hpimount();
    command.arg(&fixture.archive).arg(old.join("mnt"));
    let mount = fixture.mount_by(command);
    fs::rename(&old, &new).unwrap();
    let moved = new.join("mnt");
    assert_eq!(mounts_at(&moved).len(), 1);
    mount.signal(Signal::TERM);
    assert_eq!(mount.daemon().wait(), Some(0));
    assert_eq!(mounts_at(&moved).len(), 0);
}

#[fuse_test]
fn mounts_of_ours_above_each_other_end_in_either_order() {
    for lower_first in [false, true] {
        let lower = Fixture::new().mount_in_foreground(&[]);
        let between = Tmpfs::on(lower.path());
        let mut fixture = Fixture::new();
        fixture.point = lower.path().to_owned();
        let upper = fixture.mount_in_foreground(&[]);
        assert_eq!(upper.layers(), 3);
        if lower_first {
            lower.signal(Signal::TERM);
            eventually("the lower one logs that it is covered", || {
                lower.fixture.log().contains("another mount covers it")
            });
            lower.daemon().assert_running();
        }
        upper.assert_answers();
        upper.signal(Signal::TERM);
        assert_eq!(upper.daemon().wait(), Some(0));
        between.assert_there();
        drop(between);
        lower.assert_answers();
        lower.signal(Signal::TERM);
        lower.assert_ends();
    }
}

#[fuse_test]
fn one_archive_can_be_mounted_twice() {
    let first = Mount::new(&[]);
    let mut fixture = Fixture::new();
    fixture.archive.clone_from(&first.fixture.archive);
    let second = fixture.mount(&[]);
    assert!(fs::read(first.file(BIG)).unwrap() == big());
    assert!(fs::read(second.file(BIG)).unwrap() == big());
    first.signal(Signal::TERM);
    let _place = first.assert_ends();
    second.assert_answers();
    second.signal(Signal::TERM);
    second.assert_ends();
}

#[fuse_test]
fn a_mount_whose_mount_point_is_removed_ends() {
    if !has_programs(&["unshare"]) {
        return;
    }
    let mount = Mount::new(&[]);
    // A directory can be removed in a namespace where nothing is mounted on it;
    // that unmounts it in the others.
    let remove = "umount \"$1\" && rmdir \"$1\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "--propagation", "private", "sh", "-c", remove, "sh"])
        .arg(mount.path());
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!mount.path().exists());
    mount.assert_ends();
}

#[fuse_test]
fn a_folder_may_be_mounted_on_itself() {
    let mut fixture = Fixture::new();
    fs::write(fixture.point.join("hello.txt"), "hello\n").unwrap();
    fixture.archive.clone_from(&fixture.point);
    let mount = fixture.mount(&[]);
    mount.assert_answers();
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn archives_may_be_below_their_own_mount_point() {
    let fixture = Fixture::new();
    // More than are kept open: the others are reopened below their own mount,
    // by the only thread.
    let names: Vec<String> = (0..40).map(|number| format!("{number}.hpi")).collect();
    let mut command = hpimount();
    command.args(["--separate", "-o", "threads=1"]);
    for name in &names {
        let path = fixture.point.join(name);
        fs::copy(&fixture.archive, &path).unwrap();
        command.arg(path);
    }
    command.arg(&fixture.point);
    let mount = fixture.mount_by(command);
    for name in &names {
        assert!(fs::read(mount.file(name).join(BIG)).unwrap() == big());
    }
    mount.signal(Signal::TERM);
    mount.assert_ends();
}
