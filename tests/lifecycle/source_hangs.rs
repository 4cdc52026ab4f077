//! The storage of the archive does not answer: only requests that need it wait, no
//! mount remains, and the process ends as soon as the kernel allows.

use std::fs;
use std::process::{Child, Command, Stdio};
use testkit::fuse_test;

use rustix::mount::UnmountFlags;
use rustix::process::Signal;

use crate::faulty_mount::Faulty;
use testkit::each_method::{FILES, SMALL, contents, read_all};
use testkit::faulty_fs::Mode;
use testkit::files::raw_name;
use testkit::mount::others::unmount_by;
use testkit::mount::{Mount, eventually, has_programs, run};
use testkit::mounted::{info, stats};
use testkit::trial;

/// Bytes that a reader requests.
const LENGTH: usize = 4096;

/// A program that waits for the first bytes of the first file.
struct Reader(Child);

impl Reader {
    /// Starts it so that it bypasses the kernel's cache, and only one request
    /// waits.
    fn new(faulty: &Faulty) -> Self {
        faulty.source.set(Mode::Hangs);
        let mut command = Command::new("dd");
        command
            .arg(format!("if={}", faulty.mount().file(FILES[0].0).display()))
            .args(["iflag=direct", "count=1"])
            .arg(format!("bs={LENGTH}"));
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let child = child.spawn().unwrap();
        eventually("the read hangs", || faulty.source.held() > 0);
        Self(child)
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    fn assert_right(self) {
        let output = self.0.wait_with_output().unwrap();
        assert!(output.status.success());
        assert!(output.stdout == contents(0)[..LENGTH]);
    }

    fn assert_fails(mut self) {
        eventually("the reader ends", || self.has_ended());
        let output = self.0.wait_with_output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
    }
}

/// Waits until a process has ended except for threads that the kernel keeps.
fn wait_for_exit(pid: i32) {
    let stat = format!("/proc/{pid}/stat");
    eventually("the process exits", || {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        stat.rsplit(')').next().unwrap().starts_with(" Z") || stat.is_empty()
    });
}

fn faulty() -> Faulty {
    Faulty::new(&["-o", "noprefetch,threads=2"])
}

/// Takes the mount, to end it.
fn take(faulty: &mut Faulty) -> Mount {
    faulty.mount.take().unwrap()
}

#[fuse_test]
fn requests_that_need_no_source_are_answered_while_a_read_hangs() {
    let rounds = trial::length(1, 20);
    for _ in 0..rounds {
        let faulty = faulty();
        let mount = faulty.mount();
        let small = || fs::read(mount.file(SMALL)).unwrap();
        assert_eq!(small(), b"hello\n");
        let mut reader = Reader::new(&faulty);
        assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 4);
        for (name, _) in FILES {
            fs::metadata(mount.file(&name.to_uppercase())).unwrap();
            assert_eq!(raw_name(&mount.file(name)), name.as_bytes());
        }
        assert_eq!(info(mount)["sources"].as_array().unwrap().len(), 1);
        assert!(stats(mount)["last_errors"].is_array());
        assert_eq!(small(), b"hello\n", "cached");
        // A killed reader may have to wait for its answer; others must not.
        reader.0.kill().unwrap();
        assert!(fs::metadata(mount.file("DIR")).unwrap().is_dir());
        faulty.source.set(Mode::Fine);
        eventually("the reader ends", || reader.has_ended());
        assert_eq!(read_all(mount).1, 0);
    }
    trial::record(
        "one of two threads hangs in a read below",
        rounds,
        "names, attributes and bytes that were read before are answered",
    );
}

#[fuse_test]
fn a_mount_that_is_ended_waits_for_readers_of_a_hanging_source() {
    if !has_programs(&["fusermount3"]) {
        return;
    }
    let signal = |mount: &Mount| mount.signal(Signal::TERM);
    let lazily = |mount: &Mount| unmount_by(&["umount", "-l"], mount.path());
    let by_helper = |mount: &Mount| unmount_by(&["fusermount3", "-uz"], mount.path());
    let ways: [&dyn Fn(&Mount); 3] = [&signal, &lazily, &by_helper];
    let rounds = trial::length(1, 20);
    for end in ways.repeat(rounds) {
        let mut faulty = faulty();
        let mut reader = Reader::new(&faulty);
        let mount = take(&mut faulty);
        end(&mount);
        eventually("no mount is left", || mount.layers() == 0);
        assert!(!reader.has_ended());
        mount.daemon().assert_running();
        faulty.source.set(Mode::Fine);
        reader.assert_right();
        mount.assert_ends();
    }
    trial::record(
        "TERM, `umount -l` or `fusermount3 -uz` while a read hangs below",
        ways.len() * rounds,
        "no mount is left; the reader gets its bytes when the source answers",
    );
}

/// Asserts that `end` ends the mount and aborts pending requests. The process
/// exits, except for threads that hang in the kernel until they are answered.
fn assert_aborts(tried: &str, end: impl Fn(&Mount)) {
    let rounds = trial::length(1, 20);
    for _ in 0..rounds {
        let mut faulty = faulty();
        let reader = Reader::new(&faulty);
        let mount = take(&mut faulty);
        end(&mount);
        reader.assert_fails();
        wait_for_exit(mount.pid());
        assert_eq!(mount.layers(), 0);
        faulty.source.set(Mode::Fine);
        mount.assert_ends();
    }
    trial::record(
        tried,
        rounds,
        "the reader gets an error, the process ends, and no mount is left",
    );
}

#[fuse_test]
fn a_second_signal_disconnects_readers_of_a_hanging_source() {
    assert_aborts("TERM twice while a read hangs below", |mount| {
        mount.signal(Signal::TERM);
        eventually("no mount is left", || mount.layers() == 0);
        mount.signal(Signal::TERM);
    });
}

#[fuse_test]
fn a_forced_unmount_does_not_wait_for_a_hanging_source() {
    assert_aborts("`umount -f` while a read hangs below", |mount| {
        let flags = UnmountFlags::FORCE | UnmountFlags::DETACH;
        rustix::mount::unmount(mount.path(), flags).unwrap();
    });
}

/// While a thread is blocked in the kernel, the device stays open.
#[fuse_test]
fn a_mount_that_does_not_answer_is_refused_as_a_mount_point() {
    let rounds = trial::length(1, 3);
    for _ in 0..rounds {
        let faulty = faulty();
        let reader = Reader::new(&faulty);
        let mount = faulty.mount();
        mount.signal(Signal::KILL);
        wait_for_exit(mount.pid());
        let ran = run(&mut mount.fixture.command(&[]));
        assert_eq!(ran.code, Some(20), "{ran:?}");
        assert!(ran.stderr.contains("does not answer"), "{ran:?}");
        assert_eq!(mount.layers(), 1);
        faulty.source.set(Mode::Fine);
        reader.assert_fails();
        assert_eq!(mount.daemon().wait(), None);
        // Now the mount is dead.
        let ran = run(&mut mount.fixture.command(&[]));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(mount.layers(), 1);
    }
    trial::record(
        "SIGKILL while a read hangs below, then mounted again",
        rounds,
        "refused at first; when the source answers, the dead mount is cleared away",
    );
}
