//! Mounting as programs of the system expect it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use testkit::fuse_test;

use rustix::fs::inotify;
use testkit::mount::{
    Fixture, Mount, SMALL, TINY_CACHE, can_mount, has_programs, hpi, hpimount, mounts_at, run,
};

#[fuse_test]
fn of_mounts_that_start_at_once_on_a_directory_one_is_made() {
    let fixture = Fixture::new();
    let mut started = Vec::new();
    for _ in 0..6 {
        let mut command = hpimount();
        command.args([&fixture.archive, &fixture.point]);
        let errors = fixture.dir().join("errors");
        let mut options = File::options();
        let errors = options.append(true).create(true).open(errors).unwrap();
        started.push(command.stderr(errors).spawn().unwrap());
    }
    let ended = started.iter_mut().map(|child| child.wait().unwrap().code());
    let mut codes: Vec<Option<i32>> = ended.collect();
    codes.sort();
    let layers = mounts_at(&fixture.point).len();
    for _ in 0..layers {
        run(hpi("unmount").arg(&fixture.point));
    }
    let expected = [0, 20, 20, 20, 20, 20].map(Some);
    let errors = fs::read_to_string(fixture.dir().join("errors")).unwrap();
    assert_eq!(codes, expected, "{errors}");
    assert_eq!(layers, 1);
}

#[fuse_test]
fn the_daemon_does_not_hold_the_directory_below_the_mount() {
    let mount = Mount::new(&[]);
    let open = fs::read_dir(format!("/proc/{}/fd", mount.pid())).unwrap();
    for entry in open {
        let target = fs::read_link(entry.unwrap().path()).unwrap_or_default();
        assert!(!target.starts_with(mount.path()), "{target:?}");
    }
}

#[fuse_test]
fn a_mount_stays_while_a_program_waits_for_changes() {
    let mount = Mount::new(&["-o", "idle=1"]);
    let watcher = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&watcher, mount.path(), inotify::WatchFlags::CREATE).unwrap();
    sleep(Duration::from_secs(4));
    mount.assert_answers();
    drop(watcher);
    mount.assert_ends();
}

#[test]
fn a_mount_that_was_made_writable_is_still_read_only() {
    if !can_mount() || !has_programs(&["mount"]) {
        return;
    }
    let mount = Mount::new(&[]);
    let mut command = Command::new("mount");
    command.args(["-i", "-o", "remount,rw"]).arg(mount.path());
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let is_read_only = |attempt: io::Result<()>, what: &str| {
        let error = attempt.expect_err(what);
        assert_eq!(error.raw_os_error(), Some(libc::EROFS), "{what}");
    };
    let file = mount.file(SMALL);
    let append = || File::options().append(true).open(&file);
    is_read_only(append().and_then(|mut file| file.write_all(b"x")), "write");
    is_read_only(append().and_then(|file| file.set_len(0)), "truncate");
    is_read_only(fs::write(mount.file("new"), ""), "create");
    is_read_only(fs::create_dir(mount.file("new")), "mkdir");
    is_read_only(fs::remove_file(&file), "unlink");
    is_read_only(fs::rename(&file, mount.file("new")), "rename");
    is_read_only(fs::hard_link(&file, mount.file("new")), "link");
    is_read_only(
        std::os::unix::fs::symlink("a", mount.file("new")),
        "symlink",
    );
    is_read_only(xattr::set(&file, "user.a", b"b"), "setxattr");
}

#[fuse_test]
fn a_name_of_more_than_255_bytes_is_too_long() {
    let mount = Mount::new(&[]);
    let error = |length| {
        let file = mount.file(&"a".repeat(length));
        fs::metadata(file).unwrap_err().raw_os_error()
    };
    assert_eq!(error(255), Some(libc::ENOENT));
    assert_eq!(error(256), Some(libc::ENAMETOOLONG));
    assert_eq!(error(1000), Some(libc::ENAMETOOLONG));
}

#[test]
fn a_cache_in_which_nothing_fits_is_refused() {
    let fixture = Fixture::new();
    for size in ["0", "1", "512K"] {
        let mut command = hpimount();
        command.env_remove(TINY_CACHE);
        command.args(["-o", &format!("cachesize={size}")]);
        let ran = run(command.args([&fixture.archive, &fixture.point]));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("must be at least 1M"), "{ran:?}");
    }
}

#[fuse_test]
fn converted_can_be_listed_in_an_archive_of_any_kind() {
    let lists = |options: &str| {
        let mount = Mount::new(&["-o", options]);
        let names = fs::read_dir(mount.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name())
            .any(|name| name == "converted")
    };
    assert!(lists("meta=converted"));
    assert!(!lists("ro"));
}

/// Returns the result of the helper of mount(8) with these options.
fn helper(fixture: &Fixture, options: &str) -> testkit::mount::Run {
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_hpimount"));
    let path = format!(
        "{}:{}",
        programs.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::new("scripts/package.d/mount.hpimount");
    command
        .args([&fixture.archive, &fixture.point])
        .args(["-o", options])
        .env("PATH", path)
        .stdin(Stdio::null());
    run(&mut command)
}

#[test]
fn the_helper_exits_like_mount() {
    let fixture = Fixture::new();
    assert_eq!(helper(&fixture, "nonsense").code, Some(1));
    fs::write(&fixture.archive, "nothing that is known").unwrap();
    assert_eq!(helper(&fixture, "ro").code, Some(32));
}

#[test]
fn the_helper_accepts_the_options_of_mount_and_remounts() {
    if !can_mount() || !has_programs(&["mount"]) {
        return;
    }
    let fixture = Fixture::new();
    let options = "lazytime,silent,strictatime,nosymfollow,dirsync,iversion,mand";
    let ran = helper(&fixture, options);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let again = helper(&fixture, "remount,ro");
    let writable = helper(&fixture, "remount,rw");
    let layers = mounts_at(&fixture.point).len();
    run(hpi("unmount").arg(&fixture.point));
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(writable.code, Some(32), "{writable:?}");
    assert!(writable.stderr.contains("read-only"), "{writable:?}");
    assert_eq!(layers, 1);
}
