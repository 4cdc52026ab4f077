//! Starts in unusual environments.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use testkit::fuse_test;

use rustix::process::Signal;

use testkit::mount::others::unmount_by;
use testkit::mount::{BIG, Fixture, big, mounts_at, run};

/// Returns a start of hpimount from a shell.
fn started(fixture: &Fixture, script: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .current_dir(fixture.dir())
        .args(["-c", script, "sh"])
        .arg(env!("CARGO_BIN_EXE_hpimount"))
        .args([&fixture.archive, &fixture.point]);
    command
}

#[fuse_test]
fn unusual_environments_do_not_matter() {
    for script in [
        "exec \"$@\" <&-",
        "exec \"$@\" >&-",
        "exec \"$@\" 2>&-",
        "exec \"$@\" <&- >&- 2>&-",
        "exec \"$@\" 2>/dev/full",
        "umask 0777; exec \"$@\"",
        "ulimit -c 0; exec \"$@\"",
        "ulimit -c unlimited; exec \"$@\"",
        "mkdir gone; cd gone; rmdir ../gone; exec \"$@\"",
        "exec env --block-signal \"$@\"",
        "exec env --ignore-signal \"$@\"",
        "exec env -i \"HPIMOUNT_TEST_TAG=$HPIMOUNT_TEST_TAG\" \"$@\"",
    ] {
        let background = Fixture::new();
        let command = started(&background, script);
        let background = background.mount_by(command);
        let foreground = Fixture::new();
        let command = started(&foreground, script);
        for mount in [background, foreground.mount_in_foreground_by(command)] {
            mount.assert_answers();
            assert!(fs::read(mount.file(BIG)).unwrap() == big(), "{script}");
            unmount_by(&["umount"], mount.path());
            mount.assert_ends();
        }
    }
}

#[fuse_test]
fn a_large_environment_does_not_matter() {
    let fixture = Fixture::new();
    let mut command = fixture.command(&[]);
    for number in 0..10 {
        command.env(format!("LARGE_{number}"), "x".repeat(100_000));
    }
    let mount = fixture.mount_by(command);
    mount.assert_answers();
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn too_few_descriptors_leave_no_dead_mount() {
    for limit in 4..24 {
        let fixture = Fixture::new();
        let script = format!("ulimit -n {limit}; exec \"$@\"");
        let mut command = started(&fixture, &script);
        let status = run(&mut command);
        if mounts_at(&fixture.point).is_empty() {
            assert_ne!(status.code, Some(0), "{limit}");
        } else {
            assert_eq!(status.code, Some(0), "{limit}");
            assert!(
                fs::metadata(fixture.point.join("hello.txt")).is_ok(),
                "{limit}"
            );
            unmount_by(&["umount"], &fixture.point);
        }
    }
}

#[fuse_test]
fn a_service_manager_is_notified_when_the_mount_answers() {
    let fixture = Fixture::new();
    let path = fixture.dir().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    let mut command = fixture.command(&[]);
    command.env("NOTIFY_SOCKET", &path);
    let mount = fixture.mount_in_foreground_by(command);
    let mut message = [0; 16];
    let length = socket.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1");
    mount.assert_answers();
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn what_the_start_has_open_is_closed_unless_an_argument_names_it() {
    let fixture = Fixture::new();
    for name in ["held", "named"] {
        fs::write(fixture.dir().join(name), "secret\n").unwrap();
    }
    let script = "exec 7<held 8<named 9<held; exec \"$@\" -o password=@/dev/fd/8";
    let command = started(&fixture, script);
    let mount = fixture.mount_by(command);
    mount.assert_answers();
    let open = fs::read_dir(format!("/proc/{}/fd", mount.pid())).unwrap();
    let files = open.map(|entry| fs::read_link(entry.unwrap().path()).unwrap_or_default());
    let held = mount.fixture.dir().join("held");
    assert!(!files.into_iter().any(|file| file == held));
}

#[fuse_test]
fn as_many_files_may_be_open_as_the_hard_limit_permits() {
    let fixture = Fixture::new();
    let command = started(&fixture, "ulimit -Sn 32; ulimit -Hn 300; exec \"$@\"");
    let mount = fixture.mount_by(command);
    let limits = fs::read_to_string(format!("/proc/{}/limits", mount.pid())).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let numbers: Vec<&str> = files.unwrap().split_ascii_whitespace().skip(3).collect();
    assert_eq!(numbers[..2], ["300", "300"]);

    let fixture = Fixture::new();
    let command = started(&fixture, "ulimit -n 32; exec \"$@\"");
    let mount = fixture.mount_in_foreground_by(command);
    mount.assert_answers();
    let log = mount.fixture.log();
    assert!(log.contains("only 32 files may be open"), "{log}");
}
