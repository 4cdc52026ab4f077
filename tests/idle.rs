//! `-o idle=SECONDS` unmounts mounts that are not used, and no others.

mod support;

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::mount::{Mount, SMALL, can_mount, eventually};

const IDLE: Duration = Duration::from_secs(1);

fn idle() -> Mount {
    Mount::new(&["-o", "idle=1"])
}

#[test]
fn an_unused_mount_is_unmounted_and_its_process_ends() {
    if can_mount() {
        idle().assert_ends();
    }
}

#[test]
fn a_mount_stays_while_a_file_is_open_or_is_the_current_directory() {
    if !can_mount() {
        return;
    }
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

#[test]
fn a_mount_stays_while_paths_that_the_kernel_has_cached_are_used() {
    if !can_mount() {
        return;
    }
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

#[test]
fn a_mount_without_the_option_stays() {
    if !can_mount() {
        return;
    }
    let mount = Mount::new(&[]);
    sleep(2 * IDLE);
    mount.assert_answers();
}
