//! The table of exit codes, row by row, each with the error message.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use testkit::mount::namespace::Namespace;
use testkit::mount::{Fixture, Mount, Run, has_programs, hpimount, mounts_at, run, sample};

/// Asserts the code, and that exactly one line was printed, with all `words`.
fn assert_refused(ran: &Run, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(ran.stdout, "", "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.starts_with("hpimount: "), "{ran:?}");
    for word in words {
        assert!(ran.stderr.contains(word), "{word}: {ran:?}");
    }
}

/// Returns the result of mounting these bytes, which must be refused alike in
/// the background and the foreground.
fn mount_bytes(bytes: &[u8]) -> Run {
    let fixture = Fixture::new();
    fs::write(&fixture.archive, bytes).unwrap();
    let ran = fixture.run(&[]);
    assert_eq!(mounts_at(&fixture.point).len(), 0);
    let in_foreground = fixture.run(&["-f"]);
    assert_eq!(
        (in_foreground.code, &in_foreground.stderr),
        (ran.code, &ran.stderr)
    );
    ran
}

#[test]
fn usage_is_2() {
    let fixture = Fixture::new();
    for args in [
        &["-o", "cahcesize=1M"][..],
        &["-o", "umask=9"],
        &["-o", "threads=0"],
        &["-o", "uid"],
        &["-o", "force=yes"],
    ] {
        let named = args[1].split('=').next().unwrap();
        assert_refused(&fixture.run(args), 2, &[named]);
    }
    for args in [
        &[][..],
        &["one-path"],
        &["--no-such-option", "a", "b"],
        &["-q", "-v", "a", "b"],
        &["ftp://host/a.hpi", "b"],
        &["--generate", "no-such-text"],
    ] {
        let ran = run(hpimount().args(args));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let starts = ["error: ", "hpimount: "];
        assert!(
            starts.iter().any(|start| ran.stderr.starts_with(start)),
            "{ran:?}"
        );
    }
}

#[test]
fn a_source_that_cannot_be_opened_is_10() {
    let fixture = Fixture::new();
    let mount = |source: &Path| run(hpimount().arg(source).arg(&fixture.point));
    let missing = fixture.dir().join("missing.hpi");
    assert_refused(&mount(&missing), 10, &["missing.hpi: ", "No such file"]);
    let pipe = fixture.dir().join("pipe.hpi");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_refused(&mount(&pipe), 10, &["pipe.hpi: ", "not a regular file"]);
    // With --strict, the second source is named and not omitted.
    let mut command = hpimount();
    command
        .arg("--strict")
        .args([&fixture.archive, &missing, &fixture.point]);
    let ran = run(&mut command);
    assert_refused(&ran, 10, &["missing.hpi: "]);
}

#[test]
fn a_source_of_no_known_format_is_11() {
    for bytes in [&b"\x89PNG, and so on, and so on"[..], b"", b"HA"] {
        assert_refused(&mount_bytes(bytes), 11, &["sample.hpi: ", "known format"]);
    }
}

#[test]
fn a_damaged_source_is_12_and_the_position_is_named() {
    let far = &[0xff, 0xff, 0xff, 0x7f];
    // The header, the root's node at 0x14, its first entry at 0x1c.
    for (bytes, position) in [
        (sample().bytes[..12].to_vec(), "header at 0x0: "),
        (sample().patched(0x08, far), "dir_end at 0x8: "),
        (sample().patched(0x10, far), "dir_start at 0x10: "),
        (sample().patched(0x14, [9]), "entry list at 0x1c: "),
        (sample().patched(0x18, far), "entry list at 0x18: "),
        (sample().patched(0x1c, far), "entry name at 0x1c: "),
        (sample().patched(0x20, far), "file record at 0x20: "),
        (sample().patched(0x29, far), "directory node at 0x29: "),
    ] {
        assert_refused(&mount_bytes(&bytes), 12, &["sample.hpi: ", position]);
    }
}

#[test]
fn a_known_but_unsupported_source_is_13() {
    let bank = sample().patched(4, b"BANK");
    assert_refused(&mount_bytes(&bank), 13, &["sample.hpi: ", "saved game"]);
    let version_3 = sample().patched(4, [0, 0, 3, 0]);
    assert_refused(
        &mount_bytes(&version_3),
        13,
        &["sample.hpi: ", "version 0x00030000"],
    );
}

#[fuse_test]
fn an_unusable_mount_point_is_20() {
    let mount = Mount::new(&[]);
    let fixture = &mount.fixture;
    let on = |point: &Path| run(hpimount().arg(&fixture.archive).arg(point));
    let missing = fixture.dir().join("missing");
    assert_refused(
        &on(&missing),
        20,
        &[missing.to_str().unwrap(), "No such file"],
    );
    let file = &fixture.archive;
    assert_refused(&on(file), 20, &[file.to_str().unwrap(), "not a directory"]);
    assert_refused(
        &on(&fixture.point),
        20,
        &[fixture.point.to_str().unwrap(), "already"],
    );
    assert_eq!(mount.layers(), 1);
}

#[fuse_test]
fn missing_fuse_is_21_and_the_remedy_is_named() {
    if !has_programs(&["unshare", "setpriv", "nsenter"]) {
        return;
    }
    let fixture = Fixture::new();
    let hidden = "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args([
            "-m",
            "sh",
            "-c",
            hidden,
            "sh",
            env!("CARGO_BIN_EXE_hpimount"),
        ])
        .args([&fixture.archive, &fixture.point]);
    assert_refused(&run(&mut command), 21, &["/dev/fuse", "modprobe fuse"]);

    let namespace = Namespace::new();
    let mut command = namespace.hpimount_by(&["env", "PATH=/nonexistent"], &[]);
    assert_refused(
        &run(&mut command),
        21,
        &["fusermount3", "apt install fuse3"],
    );
}

#[fuse_test]
fn a_device_that_the_user_may_not_use_is_21() {
    if !has_programs(&["unshare", "setpriv", "nsenter", "fusermount3"]) {
        return;
    }
    let namespace = Namespace::new();
    run(namespace.root("chmod").args(["600", "/dev/fuse"]));
    let ran = run(&mut namespace.hpimount(&[]));
    assert_refused(&ran, 21, &["/dev/fuse: Permission denied"]);
}

#[fuse_test]
fn a_refused_mount_is_22() {
    if !has_programs(&["unshare", "setpriv", "nsenter", "fusermount3"]) {
        return;
    }
    let namespace = Namespace::new();
    let ran = run(&mut namespace.hpimount(&["-o", "allow_other"]));
    assert_refused(&ran, 22, &["mount refused", "user_allow_other"]);
    // A directory of another user.
    let point = &namespace.fixture.point;
    chown(point, Some(0), Some(0)).unwrap();
    let ran = run(&mut namespace.hpimount(&[]));
    assert_refused(&ran, 22, &["mount refused", point.to_str().unwrap()]);
}

#[fuse_test]
fn anything_else_is_1() {
    if !has_programs(&["unshare"]) {
        return;
    }
    let fixture = Fixture::new();
    // Without /proc, there is no list of mounts.
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", "umount -l /proc && exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_hpimount"))
        .args([&fixture.archive, &fixture.point]);
    assert_refused(&run(&mut command), 1, &["cannot read the mount table"]);
}

#[test]
fn the_code_is_right_without_standard_error() {
    let fixture = Fixture::new();
    for nowhere in ["2>&-", "2>/dev/full"] {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec \"$@\" {nowhere}"), "sh"])
            .arg(env!("CARGO_BIN_EXE_hpimount"))
            .arg("missing.hpi")
            .arg(&fixture.point);
        assert_eq!(run(&mut command).code, Some(10), "{nowhere}");
    }
}

#[fuse_test]
fn mounted_is_0() {
    let fixture = Fixture::new();
    let mount = fixture.mount(&[]);
    mount.assert_answers();
}
