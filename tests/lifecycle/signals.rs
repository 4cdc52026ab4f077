//! Signals at every moment of a mount's life. No signal that can be caught leaves a
//! dead mount.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};
use testkit::fuse_test;

use hpimount_containers::hpi::chunk::Method;
use rustix::mount::UnmountFlags;
use rustix::process::{Pid, Signal};

use fixtures::hpi::{self, V1};
use fixtures::text;
use testkit::mount::others::Guest;
use testkit::mount::process::adopt_orphans;
use testkit::mount::{BIG, Daemon, Fixture, Mount, big, eventually, hpimount, mounts_at, tag};
use testkit::{sources, trial};

/// Signals that end a program that does not catch them.
const ENDING: [Signal; 15] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::ABORT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::TERM,
    Signal::STKFLT,
    Signal::XCPU,
    Signal::XFSZ,
    Signal::VTALARM,
    Signal::PROF,
    Signal::IO,
    Signal::POWER,
];

/// Signals that do not terminate a program. The last four stop it until it is
/// continued.
const PASSING: [Signal; 9] = [
    Signal::CHILD,
    Signal::CONT,
    Signal::PIPE,
    Signal::URG,
    Signal::WINCH,
    Signal::TSTP,
    Signal::TTIN,
    Signal::TTOU,
    Signal::STOP,
];

/// Returns a command of hpimount that ignores no signals, no matter how the test
/// was started.
fn command(fixture: &Fixture, args: &[&str]) -> Command {
    ignore_nothing();
    with_place(hpimount(), fixture, args)
}

/// Returns a command of hpimount, started by env(1) with options about signals.
fn started_by(env: &[&str], fixture: &Fixture, args: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(env).arg(env!("CARGO_BIN_EXE_hpimount"));
    with_place(command, fixture, args)
}

fn with_place(mut command: Command, fixture: &Fixture, args: &[&str]) -> Command {
    command
        .args([&fixture.archive, &fixture.point])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Catches signals that this process ignores, so that its children do not ignore them.
/// A test in the background of a script ignores INT and QUIT.
fn ignore_nothing() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in ENDING.into_iter().filter(|signal| ignores("self", *signal)) {
            signal_hook::flag::register(signal.as_raw(), Arc::default()).unwrap();
        }
    });
}

fn mount() -> Mount {
    let fixture = Fixture::new();
    let command = command(&fixture, &[]);
    fixture.mount_by(command)
}

fn mount_in_foreground() -> Mount {
    let fixture = Fixture::new();
    let command = command(&fixture, &[]);
    fixture.mount_in_foreground_by(command)
}

#[fuse_test]
fn every_signal_that_ends_a_program_unmounts_an_idle_mount() {
    for signal in ENDING {
        for mount in [mount(), mount_in_foreground()] {
            mount.assert_answers();
            mount.signal(signal);
            mount.assert_ends();
        }
    }
    for realtime in ["-34", "-64"] {
        let mount = mount();
        let mut kill = Command::new("kill");
        kill.args([realtime, &mount.pid().to_string()]);
        assert!(kill.status().unwrap().success());
        mount.assert_ends();
    }
    let signals = ENDING.len() + 2;
    trial::record(
        "each signal that ends a program, sent to an idle mount",
        signals,
        "unmounted, exit code 0",
    );
}

#[fuse_test]
fn other_signals_do_not_end_a_mount() {
    for mount in [mount(), mount_in_foreground()] {
        for signal in PASSING {
            mount.signal(signal);
            mount.signal(Signal::CONT);
            mount.assert_answers();
        }
        mount.signal(Signal::TERM);
        mount.assert_ends();
    }
}

#[fuse_test]
fn ignored_signals_stay_ignored() {
    let ignore = "--ignore-signal=HUP,INT,USR1,CHLD";
    let foreground = Fixture::new();
    let command = started_by(&["--default-signal", ignore], &foreground, &[]);
    let foreground = foreground.mount_in_foreground_by(command);
    let background = Fixture::new();
    let command = started_by(&["--default-signal", ignore], &background, &[]);
    for mount in [foreground, background.mount_by(command)] {
        let pid = mount.pid().to_string();
        for signal in [Signal::HUP, Signal::INT, Signal::USR1] {
            assert!(ignores(&pid, signal), "{signal:?}");
            mount.signal(signal);
            mount.assert_answers();
        }
        assert!(!ignores(&pid, Signal::QUIT));
        mount.signal(Signal::TERM);
        mount.assert_ends();
    }
}

fn ignores(pid: &str, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
    mask >> (signal.as_raw() - 1) & 1 != 0
}

#[test]
fn the_exit_code_is_right_if_sigchld_is_ignored() {
    let fixture = Fixture::new();
    fs::write(&fixture.archive, "nothing that is known").unwrap();
    let mut command = started_by(&["--ignore-signal=CHLD"], &fixture, &[]);
    assert_eq!(command.status().unwrap().code(), Some(11));
}

#[fuse_test]
fn a_signal_detaches_a_busy_mount_and_lets_its_users_finish() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mount = mount();
        let guest = Guest::inside(&mount.file("maps"));
        let mut file = File::open(mount.file(BIG)).unwrap();
        mount.signal(signal);
        eventually("the mount is detached", || mount.layers() == 0);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        assert!(bytes == big());
        drop(file);
        mount.daemon().assert_running();
        drop(guest);
        mount.assert_ends();
    }
}

#[fuse_test]
fn a_second_signal_disconnects_the_users_of_a_mount() {
    let mount = mount();
    let mut file = File::open(mount.file(BIG)).unwrap();
    mount.signal(Signal::TERM);
    eventually("the mount is detached", || mount.layers() == 0);
    mount.signal(Signal::TERM);
    mount.assert_ends();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap_err();
}

#[fuse_test]
fn a_signal_ends_a_program_that_waits_for_its_source() {
    let bytes = testkit::mount::sample().bytes;
    let slow = sources::folder(|folder| fs::write(folder.join("sample.hpi"), bytes).unwrap());
    let slow = slow.mount(&[]);
    let mut fixture = Fixture::new();
    fixture.archive = slow.file("sample.hpi");
    // The kernel does not interrupt such a wait for signals that dump core.
    let dumping = [Signal::QUIT, Signal::ABORT, Signal::XCPU, Signal::XFSZ];
    let others = ENDING.into_iter().filter(|one| !dumping.contains(one));
    for signal in others.chain([Signal::KILL]) {
        stop(&slow);
        let mut child = command(&fixture, &["-f"]).spawn().unwrap();
        // Usually long enough to reach the source; if not, it must end as well.
        std::thread::sleep(Duration::from_millis(10));
        kill(&child, signal);
        let when = format!("the program ends by {signal:?}");
        eventually(&when, || child.try_wait().unwrap().is_some());
        assert_no_mount(&fixture.point, &when);
        slow.signal(Signal::CONT);
    }
}

/// Stops all threads before a request arrives: the reader of one in progress
/// could not be killed.
fn stop(mount: &Mount) {
    mount.signal(Signal::STOP);
    let threads = format!("/proc/{}/task", mount.pid());
    eventually("all threads have stopped", || {
        fs::read_dir(&threads).unwrap().all(|thread| {
            let stat = fs::read_to_string(thread.unwrap().path().join("stat")).unwrap();
            stat.rsplit(')').next().unwrap().starts_with(" T")
        })
    });
}

fn kill(child: &Child, signal: Signal) {
    rustix::process::kill_process(Pid::from_child(child), signal).unwrap();
}

/// Returns how long a mount currently takes to start and to end.
fn start_and_end() -> Duration {
    let start = Instant::now();
    drop(mount_in_foreground());
    start.elapsed()
}

/// Returns moments from the start of the program until the mount has existed
/// for a while.
fn moments(count: u32) -> impl Iterator<Item = Duration> {
    let end = start_and_end() * 3 / 2;
    (0..count).map(move |moment| end * moment / count)
}

#[fuse_test]
fn a_signal_at_any_moment_leaves_no_dead_mount() {
    let count = trial::length(60, 2_000);
    let fixture = Fixture::new();
    for (moment, signal) in moments(count).zip(ENDING.into_iter().cycle()) {
        let mut child = command(&fixture, &["-f"]).spawn().unwrap();
        std::thread::sleep(moment);
        kill(&child, signal);
        let status = child.wait().unwrap();
        // Without an exit code, the signal came before anything was mounted.
        assert!(
            matches!(status.code(), Some(0) | None),
            "{signal:?} after {moment:?}: {status}"
        );
        assert_no_mount(&fixture.point, &format!("{signal:?} after {moment:?}"));
    }
    trial::record(
        "a signal at a moment from the start until the mount is used (`-f`)",
        count,
        "no mount left; exit code 0, or ended by the signal before the mount was made",
    );
}

fn assert_no_mount(point: &Path, when: &str) {
    assert_eq!(mounts_at(point), Vec::<String>::new(), "{when}");
}

#[fuse_test]
fn a_signal_to_a_start_in_the_background_leaves_no_dead_mount() {
    adopt_orphans();
    let count = trial::length(45, 1_500);
    let fixture = Fixture::new();
    let targets = ["the waiting command", "both", "the background process"];
    for (round, moment) in moments(count).enumerate() {
        let signal = ENDING[round % ENDING.len()];
        let target = targets[round % targets.len()];
        let when = format!("{signal:?} to {target} after {moment:?}");
        let mut command = command(&fixture, &[]);
        let tag = tag(&mut command);
        let mut child = command.process_group(0).spawn().unwrap();
        std::thread::sleep(moment);
        match target {
            "the waiting command" => kill(&child, signal),
            "both" => {
                rustix::process::kill_process_group(Pid::from_child(&child), signal).unwrap();
            }
            _ => signal_daemon(&tag, &child, signal),
        }
        let status = child.wait().unwrap();
        assert!(
            matches!(status.code(), Some(0 | 1) | None),
            "{when}: {status}"
        );
        // It may have reported success and still run in the background.
        if let Some(daemon) = Daemon::find(&tag) {
            let answers = rustix::fs::statfs(&fixture.point);
            assert!(answers.is_ok() || daemon.has_ended(), "{when}");
            if !daemon.has_ended() {
                daemon.signal(Signal::TERM);
            }
            daemon.wait();
        }
        assert_no_mount(&fixture.point, &when);
    }
    trial::record(
        "a signal to the waiting command, to the background process, or to both, at a moment of the start",
        count,
        "no mount left without its process; exit code 0 or 1, or ended by the signal",
    );
}

/// Sends a signal to the process in the background, if it exists already.
fn signal_daemon(tag: &str, waiting: &Child, signal: Signal) {
    let daemon = Daemon::find_but(tag, Some(Pid::from_child(waiting)));
    if let Some(daemon) = daemon {
        daemon.signal(signal);
    }
}

#[fuse_test]
fn a_mount_killed_at_any_moment_is_removed_by_the_next_start() {
    let count = trial::length(30, 1_000);
    let mut fixture = Fixture::new();
    let mut dead = 0;
    for moment in moments(count) {
        let mut child = command(&fixture, &["-f"]).spawn().unwrap();
        std::thread::sleep(moment);
        kill(&child, Signal::KILL);
        child.wait().unwrap();
        dead += mounts_at(&fixture.point).len();
        let mount = fixture.mount(&[]);
        assert_eq!(mount.layers(), 1, "after {moment:?}");
        mount.assert_answers();
        mount.signal(Signal::TERM);
        fixture = mount.assert_ends();
    }
    trial::record(
        "SIGKILL at a moment from the start until the mount is used, then mounted again",
        count,
        &format!("{dead} dead mounts, each cleared away by the next start"),
    );
}

#[fuse_test]
fn a_mount_that_goes_while_the_next_start_looks_at_it_is_not_in_its_way() {
    // The next start is answered by the dead mount, or finds it dead.
    for end in [Signal::CONT, Signal::KILL] {
        let mount = mount();
        let mut fixture = Fixture::new();
        fixture.point = mount.path().to_owned();
        stop(&mount);
        let next = std::thread::spawn(|| fixture.mount(&[]));
        // Usually long enough to reach the mount; if not, it must start as well.
        std::thread::sleep(Duration::from_millis(200));
        rustix::mount::unmount(mount.path(), UnmountFlags::DETACH).unwrap();
        mount.signal(end);
        let next = next.join().unwrap();
        assert_eq!(next.layers(), 1, "{end:?}");
        next.assert_answers();
        next.signal(Signal::TERM);
        next.assert_ends();
    }
}

#[fuse_test]
fn a_signal_during_decoding_corrupts_no_bytes() {
    let wanted = text(2 << 20);
    let packed = hpi::File::new(wanted.clone(), Method::Lz77);
    let archive = V1::new(vec![hpi::file(b"big.txt", packed)]).build().bytes;
    let count = trial::length(20, 500);
    let mut fixture = Fixture::new();
    fs::write(&fixture.archive, archive).unwrap();
    for round in 0..count {
        let start = command(&fixture, &["-o", "threads=2"]);
        let mount = fixture.mount_by(start);
        let twice = round % 3 == 2;
        let mut file = File::open(mount.file("big.txt")).unwrap();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        std::thread::sleep(Duration::from_millis(round % 20));
        mount.signal(ENDING[round as usize % ENDING.len()]);
        if twice {
            eventually("the mount is detached", || mount.layers() == 0);
            if !mount.daemon().has_ended() {
                mount.signal(Signal::TERM);
            }
        }
        match reader.join().unwrap() {
            Ok(bytes) => assert!(bytes == wanted, "round {round}"),
            Err(error) => assert!(twice, "round {round}: {error}"),
        }
        fixture = mount.assert_ends();
    }
    trial::record(
        "one or two signals while a file is being read",
        count,
        "after one signal every byte right, after two right bytes or an error; unmounted, exit code 0",
    );
}
