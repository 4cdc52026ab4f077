//! A private mount namespace where an ordinary user can mount.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use super::{Daemon, Fixture, Run, TINY_CACHE, mounts_in, run, tag};
use crate::programs::built;

/// `nobody`, a user without any files.
pub const USER: u32 = 65534;

/// Another ordinary user.
pub const OTHER_USER: u32 = 65533;

/// Detaches the mounts of other tests, which this namespace would keep alive. Sets up
/// `/dev/fuse` as on desktops, and forbids `allow_other`, regardless of the machine's
/// settings.
const SETUP: &str = r#"
    set -e
    umount -a -l -t fuse.hpimount || :
    mount -t tmpfs none "$1"
    mknod -m 666 "$1/fuse" c 10 229
    mount --bind "$1/fuse" /dev/fuse
    : > "$1/fuse.conf"
    mount --bind "$1/fuse.conf" /etc/fuse.conf
    echo ready
    exec cat
"#;

/// The namespace, with an archive and a mount point that belong to [`USER`].
pub struct Namespace {
    /// Keeps the namespace alive.
    holder: Child,
    /// A copy of the program that every user may run.
    pub program: PathBuf,
    pub fixture: Fixture,
}

impl Namespace {
    /// Creates the namespace.
    pub fn new() -> Self {
        let fixture = Fixture::new();
        let dir = fixture.dir();
        // The user has no access to the project's directory.
        let program = dir.join("hpimount");
        fs::copy(built("hpi"), dir.join("hpi")).unwrap();
        symlink("hpi", &program).unwrap();
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
        chown(&fixture.point, Some(USER), Some(USER)).unwrap();
        let private = dir.join("private");
        fs::create_dir(&private).unwrap();
        let mut holder = Command::new("unshare")
            .args(["-m", "sh", "-c", SETUP, "sh"])
            .arg(&private)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        let stdout = holder.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut ready).unwrap();
        let namespace = Self {
            holder,
            program,
            fixture,
        };
        assert_eq!(ready, "ready\n");
        namespace
    }

    /// Returns a command that runs a program in the namespace as root.
    pub fn root(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-m", "-t", &self.holder.id().to_string(), program]);
        command
    }

    /// Returns a command that runs a program in the namespace as `user`.
    pub fn user(&self, user: u32, program: impl AsRef<Path>) -> Command {
        let mut command = self.root("setpriv");
        command
            .args([format!("--reuid={user}"), format!("--regid={user}")])
            .arg("--clear-groups")
            .arg(program.as_ref());
        command
    }

    /// Returns a command that runs hpimount as [`USER`], with the archive, the
    /// mount point, and then `args`.
    pub fn hpimount(&self, args: &[&str]) -> Command {
        self.hpimount_by(&["env"], args)
    }

    /// Returns the same, started by another program.
    pub fn hpimount_by(&self, starter: &[&str], args: &[&str]) -> Command {
        let mut command = self.user(USER, starter[0]);
        command
            .env(TINY_CACHE, "1")
            .args(&starter[1..])
            .args([&self.program, &self.fixture.archive, &self.fixture.point])
            .args(args);
        command
    }

    /// Mounts as [`USER`].
    pub fn mount(&self, args: &[&str]) -> UserMount {
        self.mount_by(self.hpimount(args))
    }

    /// Mounts by `command`, which must succeed.
    pub fn mount_by(&self, mut command: Command) -> UserMount {
        let tag = tag(&mut command);
        let ran = run(&mut command);
        let daemon = Daemon::find(&tag).map(UserMount);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        daemon.expect("a daemon is running")
    }

    /// Runs `cat` on a file of the mount.
    pub fn cat(&self, user: u32, file: &str) -> Run {
        run(self.user(user, "cat").arg(self.fixture.point.join(file)))
    }

    /// Returns a path of the namespace, as seen from outside.
    pub fn see(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(path.strip_prefix("/").unwrap())
    }

    /// Returns the lines of the namespace's mount table for the mount point.
    pub fn mounts(&self) -> Vec<String> {
        mounts_in(&self.holder.id().to_string(), &self.fixture.point)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // This unmounts its mounts. It may have ended by itself.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A mount of an ordinary user; dropping it ends the daemon.
pub struct UserMount(pub Daemon);

impl Drop for UserMount {
    fn drop(&mut self) {
        if !self.0.has_ended() {
            self.0.signal(Signal::TERM);
        }
        self.0.end();
    }
}
