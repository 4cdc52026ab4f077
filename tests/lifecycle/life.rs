//! The life of a mount: it begins when the command returns, ends in every way
//! of unmounting, and leaves nothing behind.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::fuse_test;

use rustix::mount::MountFlags;
use rustix::process::Signal;

use testkit::mount::others::{TOOLS, unmount, unmount_by};
use testkit::mount::{
    BIG, Fixture, Mount, SMALL, assert_guarded, big, eventually, has_programs, hpimount, mounts_at,
    run,
};
use testkit::skip::skip_anywhere;

#[fuse_test]
fn a_dead_mount_is_removed_by_the_next() {
    let mount = Mount::new(&[]);
    // The kernel caches these, and answers without the daemon.
    fs::metadata(mount.path()).unwrap();
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 2);
    mount.daemon().kill_with_guard();
    assert_eq!(mount.daemon().wait(), None);
    assert_eq!(mount.layers(), 1, "the dead mount");
    let mount = mount.into_fixture().mount(&[]);
    assert_eq!(mount.layers(), 1, "the new mount alone");
    mount.assert_answers();
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn a_mount_whose_process_was_killed_is_gone_at_once() {
    let endings = [Signal::KILL, Signal::KILL, Signal::ILL];
    for (signal, in_foreground) in endings.into_iter().zip([false, true, true]) {
        let fixture = Fixture::new();
        let mount = match in_foreground {
            true => fixture.mount_in_foreground(&["-o", "nosandbox"]),
            false => fixture.mount(&[]),
        };
        mount.assert_answers();
        // It is unmounted although it is in use.
        let _used = fs::File::open(mount.file(SMALL)).unwrap();
        let guard = mount.daemon().guard().unwrap();
        mount.signal(signal);
        assert_eq!(mount.daemon().wait(), None);
        let begun = Instant::now();
        eventually("the mount is gone", || mount.layers() == 0);
        assert!(begun.elapsed() < Duration::from_secs(2));
        eventually("the guard ends", || {
            let status = fs::read_to_string(format!("/proc/{}/stat", guard.as_raw_nonzero()));
            status.map_or(true, |status| status.contains(") Z"))
        });
    }
}

#[fuse_test]
fn a_failed_allocation_leaves_no_mount_behind() {
    if !has_programs(&["prlimit"]) {
        return;
    }
    let mount = Mount::new(&[]);
    mount.assert_answers();
    let pid = mount.pid().to_string();
    let limited = run(Command::new("prlimit").args(["--as=1", "--pid", &pid]));
    assert_eq!(limited.code, Some(0), "{limited:?}");
    // The thread that decodes it has no memory for it.
    let _ = fs::read(mount.file(BIG));
    eventually("the mount is gone", || mount.layers() == 0);
    assert_eq!(mount.daemon().wait(), None);
}

#[fuse_test]
fn unmounting_from_outside_ends_the_process() {
    if !has_programs(&["fusermount3"]) {
        return;
    }
    for tool in TOOLS {
        let mount = Mount::new(&[]);
        unmount_by(tool, mount.path());
        mount.assert_ends();
    }
}

#[fuse_test]
fn a_busy_mount_is_not_unmounted_from_outside_unless_lazily() {
    if !has_programs(&["fusermount3"]) {
        return;
    }
    for lazily in [["umount", "-l"], ["fusermount3", "-uz"]] {
        let mount = Mount::new(&[]);
        let mut file = File::open(mount.file(BIG)).unwrap();
        for tool in [&["umount"][..], &["fusermount3", "-u"]] {
            let ran = run(Command::new(tool[0]).args(&tool[1..]).arg(mount.path()));
            assert_ne!(ran.code, Some(0), "{tool:?}");
            mount.assert_answers();
        }
        unmount_by(&lazily, mount.path());
        assert_eq!(mount.layers(), 0);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        assert!(bytes == big());
        mount.daemon().assert_running();
        drop(file);
        mount.assert_ends();
    }
}

#[fuse_test]
fn a_busy_mount_that_is_unmounted_by_force_leaves_no_dead_mount() {
    let mount = Mount::new(&[]);
    let file = File::open(mount.file(BIG)).unwrap();
    // The kernel aborts the connection, then finds the mount busy.
    let ran = run(Command::new("umount").arg("-f").arg(mount.path()));
    assert_ne!(ran.code, Some(0));
    mount.assert_ends();
    drop(file);
}

#[fuse_test]
fn a_new_mount_in_place_of_an_ending_one_is_not_unmounted() {
    let old = Mount::new(&[]);
    let numbers = |mount: &Mount| {
        let line = mounts_at(mount.path()).pop().unwrap();
        Vec::from_iter(line.split(' ').take(3).map(str::to_owned))
    };
    let of_old = numbers(&old);
    // The process detects late that its mount is gone. The next mount gets the
    // same numbers, unless another program is faster.
    old.signal(Signal::STOP);
    // Not umount(8), whose requests the stopped process would not answer.
    unmount(old.path());
    let ran = run(&mut old.fixture.command(&[]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if numbers(&old) != of_old {
        skip_anywhere("the new mount has other numbers");
    }
    old.signal(Signal::TERM);
    old.signal(Signal::CONT);
    assert_eq!(old.daemon().wait(), Some(0));
    old.assert_answers();
}

#[fuse_test]
fn a_live_mount_is_not_mounted_over() {
    let mount = Mount::new(&[]);
    let ran = run(&mut mount.fixture.command(&[]));
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(ran.stderr.contains("an archive is mounted there already"));
    assert_eq!(mount.layers(), 1);
    mount.assert_answers();
}

#[fuse_test]
fn a_mount_without_a_waiting_parent_is_removed() {
    let fixture = Fixture::new();
    // The background process waits for its password until this test writes it.
    let password = fixture.point.with_file_name("password");
    assert_eq!(run(Command::new("mkfifo").arg(&password)).code, Some(0));
    let option = format!("-opassword=@{}", password.display());
    let mut parent = fixture.command(&[&option]).spawn().unwrap();
    let mut writer = File::options().write(true).open(&password).unwrap();
    let background = children(parent.id());
    let [background] = &background[..] else {
        panic!("not one child: {background:?}");
    };
    parent.kill().unwrap();
    parent.wait().unwrap();
    writer.write_all(b"secret\n").unwrap();
    drop(writer);
    eventually("the background process ends", || !is_alive(background));
    assert_eq!(mounts_at(&fixture.point).len(), 0);
}

/// Returns the child processes of a process without other threads.
fn children(process: u32) -> Vec<String> {
    let list = format!("/proc/{process}/task/{process}/children");
    let list = fs::read_to_string(list).unwrap();
    list.split_whitespace().map(str::to_owned).collect()
}

/// Returns whether a process runs, and is not a zombie.
fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[fuse_test]
fn a_panic_in_a_handler_is_an_error_of_one_request() {
    if !cfg!(debug_assertions) {
        return;
    }
    type Request = fn(&Mount) -> std::io::Result<()>;
    let requests: [(&str, Request); 7] = [
        ("lookup", |m| fs::metadata(m.file(SMALL)).map(drop)),
        ("getattr", |m| fs::metadata(m.path()).map(drop)),
        ("read", |m| fs::read(m.file(SMALL)).map(drop)),
        ("readdirplus", |m| {
            fs::read_dir(m.path())?.try_for_each(|entry| entry.map(drop))
        }),
        ("statfs", |m| Ok(rustix::fs::statfs(m.path()).map(drop)?)),
        ("getxattr", |m| {
            xattr::get(m.file(SMALL), "user.hpi.offset").map(drop)
        }),
        ("listxattr", |m| xattr::list(m.file(SMALL)).map(drop)),
    ];
    for (victim, request) in requests {
        let fixture = Fixture::new();
        let mut command = fixture.command(&[]);
        command.env("HPIMOUNT_TEST_PANIC", victim);
        let mount = fixture.mount_by(command);
        // More often than there are threads.
        for _ in 0..40 {
            let error = request(&mount).expect_err(victim);
            assert_eq!(error.raw_os_error(), Some(libc::EIO), "{victim}: {error}");
        }
        for (other, request) in requests {
            // A file cannot be reached without these.
            if other != victim && !["lookup", "getattr"].contains(&victim) {
                request(&mount).unwrap_or_else(|error| panic!("{other} after {victim}: {error}"));
            }
        }
        mount.daemon().assert_running();
        mount.signal(Signal::TERM);
        mount.assert_ends();
    }
}

#[fuse_test]
fn a_panic_outside_of_requests_is_harmless() {
    if !cfg!(debug_assertions) {
        return;
    }
    let fixture = Fixture::new();
    let mut command = fixture.command(&[]);
    command.env("HPIMOUNT_TEST_PANIC", "forget");
    let mount = fixture.mount_in_foreground_by(command);
    mount.assert_answers();
    // The kernel forgets all names that are not in use when a mount is
    // remounted. A program that another test starts has its files for a moment.
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    eventually("the kernel sends forget requests", || {
        rustix::mount::mount_remount(mount.path(), flags, "").unwrap();
        mount.fixture.log().contains("forget: internal error")
    });
    mount.assert_answers();
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn a_panic_while_pushing_does_not_end_pushing() {
    if !cfg!(debug_assertions) {
        return;
    }
    let fixture = Fixture::new();
    let mut command = fixture.command(&[]);
    command.env("HPIMOUNT_TEST_PANIC", "prefetch");
    let mount = fixture.mount_in_foreground_by(command);
    let has_panicked = |times| {
        eventually("a block is pushed", || {
            let log = mount.fixture.log();
            log.matches("prefetch: internal error").count() >= times
        });
    };
    for times in 1..=3 {
        // After a small read, the rest of its block is pushed.
        let offset = (times as u64 - 1) * 65_536 + 20_000;
        let file = File::open(mount.file(BIG)).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
        let mut bytes = [0; 10];
        file.read_exact_at(&mut bytes, offset).unwrap();
        let offset = offset as usize;
        assert_eq!(bytes, big()[offset..offset + 10]);
        has_panicked(times);
    }
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn the_daemon_releases_terminal_and_directory() {
    let mount = Mount::new(&[]);
    let of_daemon = |name: &str| PathBuf::from(format!("/proc/{}/{name}", mount.pid()));
    // The parent is notified shortly before the terminal is released.
    eventually("the descriptors are closed", || {
        (0..3).all(|fd| {
            fs::read_link(of_daemon(&format!("fd/{fd}"))).unwrap() == Path::new("/dev/null")
        })
    });
    assert_eq!(fs::read_link(of_daemon("cwd")).unwrap(), Path::new("/"));
    let stat = fs::read_to_string(of_daemon("stat")).unwrap();
    let session = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .nth(3)
        .unwrap();
    assert_eq!(session, mount.pid().to_string(), "leader of its session");
}

#[fuse_test]
fn names_of_archives_are_not_options() {
    let names = [
        "plain.hpi",
        "a,suid,dev.hpi",
        "x,allow_other",
        "back\\slash,rw",
        "two words.hpi",
        "new\nline.hpi",
        "tab\t.hpi",
        "--help",
        "-f",
        "#1.hpi",
        "b=c,fd=0,user_id=7",
    ];
    for name in names {
        let mount = Fixture::named(name, "mnt").mount(&[]);
        assert_no_options(&mount, name);
        let fixture = Fixture::named(name, "mnt");
        let mut command = hpimount();
        command.current_dir(fixture.dir()).args(["--", name, "mnt"]);
        assert_no_options(&fixture.mount_by(command), name);
    }
}

fn assert_no_options(mount: &Mount, name: &str) {
    mount.assert_answers();
    let lines = mounts_at(mount.path());
    let [line] = &*lines else {
        panic!("{name:?}: {lines:?}")
    };
    let (_, options) = assert_guarded(line);
    assert_eq!(
        options, "ro,user_id=0,group_id=0,default_permissions",
        "{name:?}"
    );
}

#[fuse_test]
fn mount_points_may_have_any_name() {
    for name in [
        "two words",
        "tab\there",
        "back\\slash",
        "new\nline",
        "com,ma",
        "ä",
        "-f",
        "\\040",
    ] {
        let mount = Fixture::named("sample.hpi", name).mount(&[]);
        assert_eq!(mount.layers(), 1, "{name:?}");
        mount.assert_answers();
        mount.signal(Signal::TERM);
        mount.assert_ends();
    }
}

#[fuse_test]
fn mount_points_may_be_written_in_any_way() {
    for written in [
        "mnt",
        "./mnt",
        "mnt/",
        "mnt//",
        "link",
        "link/",
        "mnt/../mnt",
        "mnt/.",
    ] {
        let fixture = Fixture::new();
        std::os::unix::fs::symlink("mnt", fixture.dir().join("link")).unwrap();
        let mut command = hpimount();
        command
            .current_dir(fixture.dir())
            .args(["sample.hpi", written]);
        let mount = fixture.mount_by(command);
        assert_eq!(mount.layers(), 1, "{written}");
        mount.assert_answers();
        mount.daemon().kill_with_guard();
        mount.daemon().wait();
        // Over the dead mount, in the same spelling.
        let fixture = mount.into_fixture();
        let mut command = hpimount();
        command
            .current_dir(fixture.dir())
            .args(["sample.hpi", written]);
        let mount = fixture.mount_by(command);
        assert_eq!(mount.layers(), 1, "{written}");
        mount.signal(Signal::TERM);
        mount.assert_ends();
    }
}

#[fuse_test]
fn the_log_level_is_an_option() {
    for (args, said) in [(vec!["-v"], true), (vec![], false), (vec!["-q"], false)] {
        let mount = Fixture::new().mount_in_foreground(&args);
        mount.assert_answers();
        mount.signal(Signal::TERM);
        let fixture = mount.assert_ends();
        let log = fixture.log();
        assert_eq!(log.contains("signal 15"), said, "{args:?}: {log}");
        assert_eq!(log.is_empty(), !said, "{args:?}: {log}");
    }
}

#[fuse_test]
fn a_warning_is_silenced_by_quiet() {
    for (args, said) in [(vec![], true), (vec!["-q"], false)] {
        let mount = Mount::new(&[]);
        mount.daemon().kill_with_guard();
        mount.daemon().wait();
        let fixture = mount.into_fixture();
        let ran = run(&mut fixture.command(&args));
        let found = ran.stderr.contains("removing a dead mount");
        unmount_by(&["umount"], &fixture.point);
        assert_eq!((ran.code, found), (Some(0), said), "{args:?}: {ran:?}");
    }
}

#[test]
fn help_and_version_are_printed() {
    let version = run(hpimount().arg("--version"));
    assert_eq!(version.code, Some(0));
    assert_eq!(
        version.stdout,
        format!("hpimount {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = run(hpimount().arg("--help"));
    assert_eq!((help.code, &*help.stderr), (Some(0), ""));
    for word in [
        "SOURCE...",
        "MOUNTPOINT",
        "--foreground",
        "cachesize=SIZE",
        "Exit codes",
    ] {
        assert!(help.stdout.contains(word), "{word}: {}", help.stdout);
    }
}
