//! Mounts by the program, which are always cleaned up.

pub mod namespace;
pub mod others;
pub mod process;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hpimount_containers::hpi::chunk::Method;
use rustix::mount::UnmountFlags;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::skip::possible;
use fixtures::hpi::{Built, File, V1, dir, file};
use fixtures::noise;

pub use process::{Daemon, Run, TINY_CACHE, hpi, hpimount, run};

/// Environment variable that identifies the daemon of a test.
const TAG: &str = "HPIMOUNT_TEST_TAG";

/// Length of [`BIG`].
pub const BIG_SIZE: usize = 300_000;

/// A file of [`sample`], too large for the kernel to read it in one request.
pub const BIG: &str = "maps/big.bin";

/// A file of [`sample`] with the bytes `hello\n`.
pub const SMALL: &str = "hello.txt";

/// Returns a small archive.
pub fn sample() -> Built {
    let packed = File::new(noise(0, BIG_SIZE), Method::Zlib);
    let stored = File::new("hello\n", Method::Stored);
    let maps = vec![file(b"big.bin", packed)];
    V1::new(vec![file(b"hello.txt", stored), dir(b"maps", maps)]).build()
}

/// Returns the bytes of the large file of [`sample`].
pub fn big() -> Vec<u8> {
    noise(0, BIG_SIZE)
}

/// Returns whether mounting is possible. If not, reports that the test is
/// skipped.
///
/// # Panics
/// Panics as [`skip`](crate::skip::skip) does.
#[must_use]
pub fn can_mount() -> bool {
    possible(
        Path::new("/dev/fuse").exists() && rustix::process::geteuid().is_root(),
        "mounting needs /dev/fuse and root",
    )
}

/// Returns whether all of these programs are installed; otherwise behaves as
/// [`can_mount`].
#[must_use]
pub fn has_programs(programs: &[&str]) -> bool {
    let found = programs.iter().all(|program| is_installed(program));
    possible(found, &format!("needs {}", programs.join(", ")))
}

/// Returns whether a program is installed.
pub fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/sbin", "/usr/sbin"].map(PathBuf::from);
    std::env::split_paths(&paths)
        .chain(usual)
        .any(|folder| folder.join(program).exists())
}

/// Time limit for any operation on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until `condition` holds.
///
/// # Panics
/// Panics if it does not hold after a long time.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the lines of the mount table for `point`, from the bottom to the
/// top.
pub fn mounts_at(point: &Path) -> Vec<String> {
    mounts_in("self", point)
}

/// Returns the same in the mount namespace of the process `pid`.
pub fn mounts_in(pid: &str, point: &Path) -> Vec<String> {
    let mut table = mount_table(pid);
    table.retain(|(there, _)| there == point);
    table.into_iter().map(|(_, line)| line).collect()
}

/// Returns the mount points below `directory`, from the bottom to the top.
pub fn mounts_below(directory: &Path) -> Vec<PathBuf> {
    let points = mount_table("self").into_iter().map(|(point, _)| point);
    points
        .filter(|point| point.starts_with(directory))
        .collect()
}

/// Returns the lines of the mount table from the view of the process `pid`, each after
/// its mount point.
fn mount_table(pid: &str) -> Vec<(PathBuf, String)> {
    let table = fs::read(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
    let lines = table.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| {
            let point = line.split(|byte| *byte == b' ').nth(4)?;
            Some((unescaped(point), String::from_utf8_lossy(line).into_owned()))
        })
        .collect()
}

/// Decodes the `\ooo` escapes of a path in the mount table.
pub fn unescaped(path: &[u8]) -> PathBuf {
    let mut parts = path.split(|byte| *byte == b'\\');
    let mut bytes = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let (octal, rest) = part.split_at(3);
        let octal = str::from_utf8(octal).unwrap();
        bytes.push(u8::from_str_radix(octal, 8).unwrap());
        bytes.extend(rest);
    }
    OsString::from_vec(bytes).into()
}

/// Asserts that a line of the mount table is for an hpimount mount with its
/// protective flags, and returns the source and the options of the file system.
pub fn assert_guarded(line: &str) -> (&str, &str) {
    let (left, right) = line.split_once(" - ").unwrap();
    let flags = left.split(' ').nth(5).unwrap();
    for flag in ["ro", "nosuid", "nodev"] {
        assert!(flags.split(',').any(|one| one == flag), "{line}");
    }
    let [kind, source, options] = *Vec::from_iter(right.split(' ')) else {
        panic!("{line}")
    };
    assert_eq!(kind, "fuse.hpimount", "{line}");
    (source, options)
}

/// An archive and a mount point in a temporary directory.
pub struct Fixture {
    dir: TempDir,
    pub archive: PathBuf,
    pub point: PathBuf,
}

impl Fixture {
    /// Creates one with the archive [`sample`].
    pub fn new() -> Self {
        Self::named("sample.hpi", "mnt")
    }

    /// Creates one with these names.
    pub fn named(archive: impl AsRef<OsStr>, point: impl AsRef<OsStr>) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("hpimount-")
            .tempdir()
            .unwrap();
        let root = dir.path().canonicalize().unwrap();
        let archive = root.join(archive.as_ref());
        let point = root.join(point.as_ref());
        fs::write(&archive, sample().bytes).unwrap();
        fs::create_dir(&point).unwrap();
        Self {
            dir,
            archive,
            point,
        }
    }

    /// Returns the directory of both.
    pub fn dir(&self) -> &Path {
        self.point.parent().unwrap()
    }

    /// Returns a command with the archive, the mount point, and then `args`.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = hpimount();
        command.args([&self.archive, &self.point]).args(args);
        command
    }

    /// Runs [`Self::command`] to its end, without expecting a mount.
    pub fn run(&self, args: &[&str]) -> Run {
        run(&mut self.command(args))
    }

    /// Unmounts everything in the directory, including unexpected mounts without a
    /// [`Mount`].
    fn clear(&self) {
        let Ok(root) = self.dir.path().canonicalize() else {
            return;
        };
        for point in mounts_below(&root) {
            // It may have been unmounted together with its parent mount.
            let _ = rustix::mount::unmount(&point, UnmountFlags::DETACH);
        }
    }

    /// Returns a mount in the background.
    pub fn mount(self, args: &[&str]) -> Mount {
        let command = self.command(args);
        self.mount_by(command)
    }

    /// Returns a mount in the background, made by `command`, which must
    /// succeed.
    pub fn mount_by(self, mut command: Command) -> Mount {
        let tag = tag(&mut command);
        let ran = run(&mut command);
        // Before the assertions, so that a failure leaves nothing behind.
        let daemon = Daemon::find(&tag);
        let mount = Mount {
            fixture: self,
            daemon,
        };
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(mount.daemon.is_some(), "no daemon is running: {ran:?}");
        mount
    }

    /// Returns a responding mount in the foreground; its log goes to [`Self::log`].
    pub fn mount_in_foreground(self, args: &[&str]) -> Mount {
        let command = self.command(args);
        self.mount_in_foreground_by(command)
    }

    /// Returns the same mount, made by `command` with `-f` added.
    pub fn mount_in_foreground_by(self, mut command: Command) -> Mount {
        let log = fs::File::create(self.dir().join("log")).unwrap();
        command
            .arg("-f")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let before = mounts_at(&self.point).len();
        #[expect(clippy::zombie_processes, reason = "`Daemon` waits for it")]
        let child = command.spawn().unwrap();
        let mount = Mount {
            fixture: self,
            daemon: Some(Daemon::of(&child)),
        };
        eventually("the mount appears", || {
            mount.daemon().assert_running();
            mounts_at(mount.path()).len() > before && rustix::fs::statfs(mount.path()).is_ok()
        });
        mount
    }

    /// Returns the current log of a program in the foreground.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir().join("log")).unwrap()
    }
}

impl Drop for Fixture {
    /// Unmounts everything in the directory, which is then removed.
    fn drop(&mut self) {
        self.clear();
    }
}

/// Marks the processes that `command` starts, for [`Daemon::find`].
pub fn tag(command: &mut Command) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let tag = format!("{}-{next}", std::process::id());
    command.env(TAG, &tag);
    tag
}

/// A running mount. Dropping it unmounts and waits for the daemon to end.
pub struct Mount {
    pub fixture: Fixture,
    daemon: Option<Daemon>,
}

impl Mount {
    /// Creates a mount of [`sample`] in the background.
    pub fn new(args: &[&str]) -> Self {
        Fixture::new().mount(args)
    }

    /// Returns the mount point.
    pub fn path(&self) -> &Path {
        &self.fixture.point
    }

    /// Returns the path of something in the mount.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Returns the process that serves the mount.
    pub fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("the daemon was found")
    }

    /// Returns the id of the process that serves the mount.
    pub fn pid(&self) -> i32 {
        self.daemon().pid()
    }

    /// Sends the daemon a signal.
    pub fn signal(&self, signal: Signal) {
        self.daemon().signal(signal);
    }

    /// Returns the number of mounts at the mount point.
    pub fn layers(&self) -> usize {
        mounts_at(self.path()).len()
    }

    /// Reads the small file of [`sample`].
    ///
    /// # Panics
    /// Panics if it cannot be read, or is not as expected.
    pub fn assert_answers(&self) {
        assert_eq!(fs::read(self.file(SMALL)).unwrap(), b"hello\n");
    }

    /// Waits until the daemon has ended by itself, and the mount is gone.
    ///
    /// # Panics
    /// Panics if it does not end, does not return exit code 0, or leaves its
    /// mount.
    pub fn assert_ends(self) -> Fixture {
        assert_eq!(self.daemon().wait(), Some(0));
        assert_eq!(self.layers(), 0, "the mount still exists");
        self.into_fixture()
    }

    /// Returns the fixture of a mount, which must have ended.
    pub fn into_fixture(mut self) -> Fixture {
        assert!(self.daemon().has_ended());
        self.daemon = None;
        std::mem::replace(&mut self.fixture, Fixture::new())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.fixture.clear();
        if let Some(daemon) = &self.daemon {
            daemon.end();
        }
    }
}
