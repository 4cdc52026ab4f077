//! The hpipack program, as users run it.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use testkit::walked;

use fixtures::{noise, text};
use hpimount::mount::{Ino, Options, Sources, Vfs};
use hpimount_containers::volume::MAX_DEPTH;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::{TempDir, tempdir};
use testkit::fuse_test;
use testkit::hpipack::{contents, hpipack, stderr, usual_directory};
use testkit::mount::eventually;
use testkit::trial;

/// Returns a directory with a file, an empty one, and an archive's path there.
fn one_file() -> (TempDir, TempDir, PathBuf) {
    let (dir, work_dir) = (tempdir().unwrap(), tempdir().unwrap());
    fs::write(dir.path().join("unit.fbi"), text(500)).unwrap();
    let out = work_dir.path().join("out.hpi");
    (dir, work_dir, out)
}

#[test]
fn the_deepest_packed_directories_can_be_read() {
    let (dir, work_dir) = (tempdir().unwrap(), tempdir().unwrap());
    let path = vec!["d"; MAX_DEPTH].join("/");
    fs::create_dir_all(dir.path().join(&path)).unwrap();
    fs::write(dir.path().join(&path).join("deepest"), "").unwrap();
    for format in ["ta", "kingdoms"] {
        let out = work_dir.path().join(format);
        let output = hpipack(&["--format", format], dir.path(), &out);
        assert!(output.status.success(), "{}", stderr(&output));
        let sources = Sources::one(out);
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let found = path.split('/').try_fold(Ino::ROOT, |directory, name| {
            vfs.lookup(directory, name).map(|attr| attr.ino)
        });
        vfs.lookup(found.unwrap(), "deepest").unwrap();
    }
}

#[test]
fn kingdoms_archives_keep_dates() {
    let (dir, _place, out) = one_file();
    let file = fs::File::open(dir.path().join("unit.fbi")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(925_000_000))
        .unwrap();
    assert!(
        hpipack(&["--format", "kingdoms"], dir.path(), &out)
            .status
            .success()
    );
    let vfs = walked::open(out, Options::default()).unwrap();
    let packed = vfs.lookup(Ino::ROOT, "unit.fbi").unwrap();
    assert_eq!(packed.modified, 925_000_000);
}

#[test]
fn the_same_directory_makes_the_same_archive() {
    let dir = usual_directory();
    let work_dir = tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| {
        let out = work_dir.path().join(name);
        assert!(
            hpipack(&["--method", "lz77"], dir.path(), &out)
                .status
                .success()
        );
        fs::read(out).unwrap()
    });
    assert!(first == second);
}

#[test]
fn an_archive_is_replaced_only_with_force() {
    let (dir, _place, out) = one_file();
    fs::write(&out, "precious").unwrap();
    let refused = hpipack(&[], dir.path(), &out);
    assert_eq!(refused.status.code(), Some(20));
    assert_eq!(
        stderr(&refused),
        format!("hpipack: {}: exists; --force replaces it\n", out.display())
    );
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    assert!(hpipack(&["--force"], dir.path(), &out).status.success());
    assert!(fs::read(&out).unwrap().starts_with(b"HAPI"));
}

#[test]
fn an_archive_has_the_usual_permissions() {
    let (dir, work_dir, out) = one_file();
    let usual = work_dir.path().join("usual");
    fs::write(&usual, "").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    set(dir.path(), 0o755);
    assert!(hpipack(&[], dir.path(), &out).status.success());
    assert_eq!(mode(&out), mode(&usual));
    // No more permissions than before, even if everyone can read the directory.
    set(&out, 0o600);
    assert!(hpipack(&["--force"], dir.path(), &out).status.success());
    assert_eq!(mode(&out) & 0o777, 0o600);
    // Files that only the owner could read stay private.
    let private = work_dir.path().join("private.hpi");
    set(dir.path(), 0o700);
    assert!(hpipack(&[], dir.path(), &private).status.success());
    assert_eq!(mode(&private) & 0o777, 0o600);
}

#[test]
fn an_archive_inside_its_directory_skips_itself() {
    let (dir, _place, _) = one_file();
    let out = dir.path().join("out.hpi");
    assert!(hpipack(&[], dir.path(), &out).status.success());
    let first = fs::read(&out).unwrap();
    let again = hpipack(&["--force"], dir.path(), &out);
    assert!(stderr(&again).contains("out.hpi: skipped"));
    assert!(fs::read(&out).unwrap() == first);
}

#[test]
fn nothing_is_left_if_space_runs_out() {
    let dir = usual_directory();
    let work_dir = tempdir().unwrap();
    let out = work_dir.path().join("out.hpi");
    let limited = Command::new("sh")
        .args([
            "-c",
            "ulimit -f 64; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_hpipack"),
        ])
        .args([dir.path(), &out])
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(20), "{}", stderr(&limited));
    assert!(stderr(&limited).contains("cannot write the archive: File too large"));
    assert!(contents(work_dir.path()).is_empty());
}

#[fuse_test]
fn nothing_is_left_on_a_disk_that_is_full() {
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("big.bin"), noise(0, 2 << 20)).unwrap();
    let work_dir = tempdir().unwrap();
    let size = c"size=1M";
    rustix::mount::mount("tmpfs", work_dir.path(), "tmpfs", MountFlags::empty(), size).unwrap();
    let full = hpipack(&[], dir.path(), &work_dir.path().join("out.hpi"));
    let left = contents(work_dir.path());
    rustix::mount::unmount(work_dir.path(), UnmountFlags::DETACH).unwrap();
    assert_eq!(full.status.code(), Some(20), "{}", stderr(&full));
    assert!(stderr(&full).contains("cannot write the archive: No space left on device"));
    assert!(left.is_empty(), "{left:?}");
    let tried = "hpipack onto a full file system";
    trial::record(tried, 1, "exit code 20 with the reason, nothing left");
}

#[test]
fn the_old_archive_stays_if_packing_with_force_fails() {
    let (dir, work_dir, out) = one_file();
    fs::write(&out, "precious").unwrap();
    fs::write(dir.path().join("\u{416}"), "").unwrap();
    let failed = hpipack(&["--force"], dir.path(), &out);
    assert_eq!(failed.status.code(), Some(10));
    assert_eq!(
        stderr(&failed),
        "hpipack: \u{416}: its name has characters that are not in Windows-1252\n"
    );
    let expected = [(PathBuf::from("out.hpi"), Some(b"precious".to_vec()))];
    assert_eq!(contents(work_dir.path()), BTreeMap::from(expected));
}

#[test]
fn nothing_is_left_when_a_signal_ends_it() {
    let (dir, work_dir, out) = one_file();
    let large = fs::File::create(dir.path().join("large")).unwrap();
    large.set_len(3 << 30).unwrap();
    for signal in [Signal::TERM, Signal::KILL] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hpipack"))
            .args([dir.path(), &out])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The signal handlers are installed before the first bytes are written, to an
        // unnamed file if the file system supports that.
        eventually("something is written", || {
            assert_eq!(child.try_wait().unwrap(), None, "it ended too soon");
            let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
            let files = open.flatten().map(|entry| entry.path());
            files.into_iter().any(|file| {
                let is_inside =
                    fs::read_link(&file).is_ok_and(|to| to.starts_with(work_dir.path()));
                is_inside && fs::metadata(&file).is_ok_and(|written| written.len() > 0)
            })
        });
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), None);
        assert!(contents(work_dir.path()).is_empty());
    }
}

#[test]
fn a_target_that_cannot_be_written_is_named() {
    let (dir, work_dir, _) = one_file();
    let failed = hpipack(&[], dir.path(), &work_dir.path().join("none/out.hpi"));
    assert_eq!(failed.status.code(), Some(20));
    assert!(stderr(&failed).contains("none: No such file or directory"));
    let failed = hpipack(&["--force"], dir.path(), work_dir.path());
    assert_eq!(failed.status.code(), Some(20));
    assert!(stderr(&failed).contains("is a directory"));
}

#[test]
fn a_directory_that_cannot_be_read_is_named() {
    let (dir, work_dir, out) = one_file();
    for (wrong, problem) in [
        (work_dir.path().join("none"), "none: No such file"),
        (dir.path().join("unit.fbi"), "unit.fbi: is not a directory"),
    ] {
        let failed = hpipack(&[], &wrong, &out);
        assert_eq!(failed.status.code(), Some(10));
        assert!(stderr(&failed).contains(problem), "{}", stderr(&failed));
    }
}

#[test]
fn invalid_command_lines_are_refused_as_usage() {
    let (dir, _place, out) = one_file();
    for options in [
        &["--format", "kingdoms", "--key", "7"][..],
        &["--format", "kingdoms", "--method", "lz77"],
        &["--key", "255"],
        &["--key", "0x100"],
        &["--method", "rar"],
    ] {
        assert_eq!(hpipack(options, dir.path(), &out).status.code(), Some(2));
        assert!(!out.exists());
    }
}

#[test]
fn there_is_no_output_without_a_terminal() {
    let (dir, _place, out) = one_file();
    let output = hpipack(&[], dir.path(), &out);
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}
