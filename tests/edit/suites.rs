//! File system test suites in an editable mount: fio, fsx, pjdfstest.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use fixtures::container_seeds::zip_with;
use testkit::fuse_test;
use testkit::mount::has_programs;
use testkit::skip::possible;
use testkit::trial;

use crate::kit::Editing;

/// Runs a program to its end, and returns whether it succeeded, and its output.
fn run(command: &mut Command) -> (bool, String) {
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (ran.status.success(), said)
}

/// Returns a suite without a Debian package, by the variable with its path.
fn suite(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    let is_given = possible(path.is_some(), &format!("{variable} is not set"));
    path.filter(|_| is_given)
}

/// Mounts a zip archive with a file.
fn archive() -> Editing {
    Editing::new("a.zip", &zip_with("data.bin", &[0; 1 << 20]))
}

#[fuse_test]
fn what_fio_wrote_and_synced_is_there_after_mounting_again() {
    if !has_programs(&["fio"]) {
        return;
    }
    let mut editing = archive();
    let fio = |editing: &Editing, more: &[&str]| {
        let size = trial::part("1M", "16M");
        let mut command = Command::new("fio");
        command
            .args([
                "--name=job",
                "--rw=randwrite",
                "--bs=4k",
                "--ioengine=psync",
            ])
            .args([
                "--verify=crc32c",
                "--verify_fatal=1",
                "--verify_state_save=0",
            ])
            .args(["--fsync=16", "--randseed=1", &format!("--size={size}")])
            .arg(format!("--filename={}", editing.path("data.bin").display()))
            .args(more);
        let (has_succeeded, said) = run(&mut command);
        assert!(has_succeeded, "{said}");
    };
    fio(&editing, &[]);
    editing.assert_applied();
    editing.remount();
    fio(&editing, &["--verify_only"]);
    fio(&editing, &["--ioengine=mmap"]);
    editing.assert_applied();
    editing.remount();
    assert_eq!(editing.edits(), ["data.bin"]);
}

#[fuse_test]
fn fsx_finds_no_difference_and_the_archive_has_the_file() {
    let Some(fsx) = suite("HPIMOUNT_FSX") else {
        return;
    };
    for seed in 1..=trial::part(1, 4) {
        let mut editing = archive();
        let artifacts = tempfile::tempdir().unwrap();
        let mut command = Command::new(&fsx);
        command
            .args(["-N", &trial::part(2_000, 10_000).to_string()])
            .args(["-S", &seed.to_string(), "-P"])
            .arg(artifacts.path())
            .arg(editing.path("data.bin"));
        let (has_succeeded, said) = run(&mut command);
        assert!(has_succeeded, "seed {seed}: {said}");
        let last = editing.read("data.bin");
        editing.assert_applied();
        editing.remount();
        assert!(editing.read("data.bin") == last, "seed {seed}");
    }
}

/// The groups of pjdfstest that a mount is for.
const GROUPS: [&str; 9] = [
    "ftruncate",
    "mkdir",
    "open",
    "posix_fallocate",
    "rename",
    "rmdir",
    "truncate",
    "unlink",
    "utimensat",
];

/// Kinds of entries that cannot be created in a mount, as parts of test names.
const KINDS: [&str; 7] = [
    "block", "char", "eloop", "fifo", "link", "nofollow", "socket",
];

/// Tests that fail, and why.
const EXPECTED: [&str; 23] = [
    // Modes and owners come from the mount.
    "ftruncate::affected_create_flags_only",
    "mkdir::permission_bits_from_mode",
    "mkdir::uid_gid_eq_euid_egid",
    "open::etxtbsy",
    "open::permission_bits_from_mode",
    "open::uid_gid_eq_euid_egid",
    "posix_fallocate::affected_only_create_flags",
    "rename::preserve_metadata::regular",
    "rename::write_access_required_subdir",
    "truncate::etxtbsy",
    // They use hard links.
    "unlink::unchanged_ctime_failed::regular",
    "unlink::update_ctime_success::regular",
    // Times of directories come from the archive.
    "mkdir::changed_time_fields_success",
    "open::changed_time_fields_success",
    "open::exists_no_update",
    "rename::changed_time_fields_success",
    "rmdir::changed_time_parent_success",
    "unlink::update_mtime_ctime_success_folder::regular",
    // Times of reading are not kept.
    "utimensat::changes_timestamps::dir",
    "utimensat::changes_timestamps::regular",
    "utimensat::subsecond",
    "utimensat::utime_omit",
    "utimensat::y2038",
];

#[fuse_test]
fn pjdfstest_fails_only_where_mounts_are_no_posix_file_systems() {
    let Some(pjdfstest) = suite("HPIMOUNT_PJDFSTEST") else {
        return;
    };
    let editing = Editing::with(
        "a.zip",
        &zip_with("data.bin", b"data"),
        &["-o", "allow_other"],
    );
    fs::create_dir(editing.path("tests")).unwrap();
    let work = tempfile::tempdir().unwrap();
    let settings = work.path().join("settings.toml");
    fs::write(
        &settings,
        r#"
        [features]
        posix_fallocate = {}
        utime_now = {}
        utimensat = {}
        [settings]
        naptime = 0.01
        [dummy_auth]
        entries = [["nobody", "nogroup"], ["daemon", "daemon"]]
        "#,
    )
    .unwrap();
    let mut command = Command::new(pjdfstest);
    command.arg("-c").arg(&settings).arg("-p");
    let (_, said) = run(command.arg(editing.path("tests")));
    let results = said.lines().filter_map(|line| {
        let (name, result) = line.split_once(' ')?;
        let group = name.split("::").next()?;
        GROUPS.contains(&group).then(|| (name, result.trim()))
    });
    let results: Vec<_> = results.collect();
    let of = |wanted| {
        let names = results.iter().filter(move |(_, result)| *result == wanted);
        names.map(|(name, _)| *name)
    };
    let passed = of("ok").count();
    let mut failed: Vec<_> = of("FAILED").collect();
    let is_of_kind = |name: &str| {
        let (_, tested) = name.split_once("::").unwrap_or_default();
        KINDS.iter().any(|kind| tested.contains(kind))
    };
    failed.retain(|name| !EXPECTED.contains(name) && !is_of_kind(name));
    assert!(failed.is_empty(), "{failed:#?}: {said}");
    assert!(passed >= 70, "{passed}: {said}");
    trial::record("pjdfstest", passed, "passed");
}
