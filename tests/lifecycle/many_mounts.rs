//! Many mounts, one after the other and at the same time.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use testkit::fuse_test;

use rustix::process::Signal;

use testkit::mount::others::unmount;
use testkit::mount::{BIG, Fixture, Mount, SMALL, big, hpimount, mounts_below};
use testkit::trial;

/// Returns the resources of a process: open files, threads, and KiB of memory.
fn resources(mount: &Mount) -> [usize; 3] {
    let of = |name: &str| format!("/proc/{}/{name}", mount.pid());
    let count = |name| fs::read_dir(of(name)).unwrap().count();
    let status = fs::read_to_string(of("status")).unwrap();
    let memory = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB"))
        .unwrap();
    let memory = memory.trim().parse().unwrap();
    [count("fd"), count("task"), memory]
}

#[fuse_test]
fn successive_mounts_answer_at_once_and_leave_nothing() {
    let rounds = trial::length(30, 1_000);
    let mut fixture = Fixture::new();
    let outside = fs::metadata(&fixture.point).unwrap().dev();
    let temporary = tempfile::tempdir().unwrap();
    let mut first = None;
    let mut most = [0; 3];
    for round in 0..rounds {
        let mut command = fixture.command(&[]);
        command.env("TMPDIR", temporary.path());
        let mount = fixture.mount_by(command);
        // The command has returned, so the next stat works.
        assert_ne!(fs::metadata(mount.path()).unwrap().dev(), outside);
        assert_eq!(fs::metadata(mount.file(SMALL)).unwrap().len(), 6);
        let held = resources(&mount);
        let [files, threads, memory] = *first.get_or_insert(held);
        // There may be a few more shortly after the start.
        assert!(held[0] <= files + 1, "round {round}: {held:?}");
        assert!(held[1] <= threads + 2, "round {round}: {held:?}");
        assert!(held[2] <= memory + 4_096, "round {round}: {held:?}");
        for (most, held) in most.iter_mut().zip(held) {
            *most = held.max(*most);
        }
        unmount(mount.path());
        fixture = mount.assert_ends();
        assert_eq!(mounts_below(fixture.dir()), Vec::<PathBuf>::new());
    }
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    let [files, threads, memory] = most;
    trial::record(
        "mounted and unmounted repeatedly",
        rounds,
        &format!(
            "answered at once, ended with 0, left no mount, process or file; \
             at most {files} descriptors, {threads} threads, {memory} KiB"
        ),
    );
}

#[fuse_test]
fn many_mounts_at_once_are_read_at_the_same_time() {
    let count = trial::length(20, 100);
    let shared = Fixture::new();
    let mounts = Vec::from_iter((0..count).map(|_| {
        let fixture = Fixture::new();
        let mut command = hpimount();
        command.args([&shared.archive, &fixture.point]);
        fixture.mount_by(command)
    }));
    let wanted = big();
    std::thread::scope(|scope| {
        for mount in &mounts {
            scope.spawn(|| {
                mount.assert_answers();
                assert!(fs::read(mount.file(BIG)).unwrap() == wanted);
            });
        }
    });
    for mount in &mounts {
        mount.signal(Signal::TERM);
    }
    for mount in mounts {
        mount.assert_ends();
    }
    trial::record(
        "mounts of one archive at once, all read at the same time, then all ended",
        count,
        "every byte right, no mount left, exit code 0",
    );
}
