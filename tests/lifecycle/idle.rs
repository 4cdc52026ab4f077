//! `-o idle=SECONDS` unmounts mounts that are not used, and no others.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use testkit::fuse_test;

use testkit::mount::{Mount, SMALL, eventually};

const IDLE: Duration = Duration::from_secs(1);

fn idle() -> Mount {
    Mount::new(&["-o", "idle=1"])
}

#[fuse_test]
fn an_unused_mount_is_unmounted_and_its_process_ends() {
    idle().assert_ends();
}

#[fuse_test]
fn a_mount_stays_while_a_file_is_open_or_is_the_current_directory() {
    let mount = idle();
    let file = File::open(mount.file(SMALL)).unwrap();
    sleep(3 * IDLE);
    mount.assert_answers();
    drop(file);

    let mut inside = Command::new("cat")
        .current_dir(mount.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(3 * IDLE);
    mount.daemon().assert_running();
    drop(inside.stdin.take());
    inside.wait().unwrap();
    mount.assert_ends();
}

#[fuse_test]
fn a_mount_stays_while_paths_that_the_kernel_has_cached_are_used() {
    let mount = idle();
    let (start, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    while start.elapsed() < 4 * IDLE {
        let found = fs::metadata(mount.file(SMALL)).is_ok();
        longest = longest.max(last.elapsed());
        // On a busy machine, this thread may not run for that long.
        assert!(found || longest >= IDLE, "gone after {longest:?}");
        if !found {
            return;
        }
        last = Instant::now();
        sleep(IDLE / 20);
    }
    eventually("it ends when it is unused", || mount.layers() == 0);
}

#[fuse_test]
fn a_mount_without_the_option_stays() {
    let mount = Mount::new(&[]);
    sleep(2 * IDLE);
    mount.assert_answers();
}
