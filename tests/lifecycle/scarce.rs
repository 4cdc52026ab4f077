//! A machine that is short of memory, or of space for temporary files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use testkit::fuse_test;

use fixtures::container_seeds::zip_with;
use fixtures::noise;
use testkit::each_method::{self, read_all};
use testkit::mount::others::Tmpfs;
use testkit::mount::{Fixture, TINY_CACHE, eventually};
use testkit::skip::skip;
use testkit::sources::{folder, ifp};
use testkit::trial;

/// A control group that limits the memory of its processes, by either version of the
/// kernel's interface. It is removed with its last process.
struct Group {
    directory: PathBuf,
    /// The file with the limit.
    limit: PathBuf,
}

impl Group {
    /// Makes a group without a limit; `None` if this user or this system cannot, and the
    /// test is skipped.
    fn new() -> Option<Self> {
        let name = format!("hpimount-{}", std::process::id());
        let of_version = |root: &str, limit: &str| {
            let directory = PathBuf::from(root).join(&name);
            fs::create_dir(&directory).ok()?;
            let group = Self {
                limit: directory.join(limit),
                directory,
            };
            // Dropped where memory is not limited.
            group.limit.exists().then_some(group)
        };
        let group = of_version("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            .or_else(|| of_version("/sys/fs/cgroup", "memory.max"));
        if group.is_none() {
            skip("memory cannot be limited by control groups");
        }
        group
    }

    /// Returns a command that starts hpimount in the group, with a limit.
    fn command(&self, fixture: &Fixture, options: &str) -> Command {
        fs::write(&self.limit, LIMIT.to_string()).unwrap();
        let plain = fixture.command(&["-o", options]);
        let enters = "echo $$ >\"$0\"; exec \"$@\"";
        let mut command = Command::new("sh");
        command
            .args(["-c", enters])
            .arg(self.directory.join("cgroup.procs"))
            .arg(plain.get_program())
            .args(plain.get_args())
            .env(TINY_CACHE, "1");
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        eventually("the group is empty", || {
            fs::remove_dir(&self.directory).is_ok()
        });
    }
}

/// Memory of a group: enough for a daemon with a small cache.
const LIMIT: usize = 24 << 20;

#[fuse_test]
fn a_mount_short_of_memory_returns_the_right_bytes_or_is_gone() {
    let Some(group) = Group::new() else { return };
    let rounds = trial::length(1, 100);
    for _ in 0..rounds {
        let fixture = Fixture::new();
        fs::write(&fixture.archive, each_method::archive()).unwrap();
        let command = group.command(&fixture, "noprefetch,cachesize=64K");
        let mount = fixture.mount_by(command);
        for _ in 0..4 {
            assert_eq!(read_all(&mount).1, 0);
        }
        drop(mount);

        // The cache may become larger than the group. The kernel kills the process.
        let zip = zip_with("big", &vec![0; 4 * LIMIT]);
        let fixture = folder(|source| fs::write(source.join("big.zip"), &zip).unwrap());
        let command = group.command(&fixture, "cachesize=256M");
        let mount = fixture.mount_by(command);
        fs::read(mount.file("big.zip.d/big")).unwrap_err();
        eventually("the mount is gone", || mount.layers() == 0);
        assert_eq!(mount.daemon().wait(), None);
    }
    trial::record(
        "a mount in a control group that limits its memory to 24 MiB, with a small cache and a \
         large one",
        rounds,
        "every byte right; killed by the kernel, and no mount left",
    );
}

#[fuse_test]
fn a_full_directory_for_temporary_files_affects_only_what_is_stored_there() {
    const KEYS: &str = "a.ifp.meta/animations/000 walk0.json";
    let fixture = folder(|source| {
        fs::write(source.join("a.ifp"), ifp(1, 30_000)).unwrap();
        fs::write(source.join("loose"), noise(1, 300_000)).unwrap();
    });
    let temporary = fixture.dir().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let _tmpfs = Tmpfs::with(&temporary, c"size=4m");
    let full = temporary.join("full");
    let mut command = fixture.command(&["-o", "cachesize=4M,noprefetch"]);
    let mount = fixture.mount_by({
        command.env("TMPDIR", &temporary);
        command
    });
    let rounds = trial::length(2, 100);
    let mut whole = Vec::new();
    for _ in 0..rounds {
        let _ = fs::write(&full, vec![1; 4 << 20]);
        let read = fs::read(mount.file(KEYS));
        if whole.is_empty() {
            assert_eq!(read.unwrap_err().raw_os_error(), Some(libc::EIO));
        }
        assert!(fs::read(mount.file("loose")).unwrap() == noise(1, 300_000));
        fs::remove_file(&full).unwrap();
        whole = fs::read(mount.file(KEYS)).unwrap();
        assert!(whole.len() > 2 << 20);
    }
    mount.signal(Signal::TERM);
    mount.assert_ends();
    trial::record(
        "a full directory for temporary files, then space in it",
        rounds,
        "EIO for long generated files alone, then every byte",
    );
}
