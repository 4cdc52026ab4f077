//! Mounts with limits on address space, open files and CPU time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use crate::files::read_at;
use crate::limits::peak_memory_of;
use crate::mount::{Fixture, Mount, hpimount, mounts_at, run};
use crate::sources::folder;
use crate::trial;
use fixtures::bombs::Bomb;
use hpimount::mount::{Options, Sources, Vfs};

/// Address space: 256 MiB in addition to the cache.
const SPACE: usize = (256 + CACHE) << 20;

/// Budget of the cache in MiB.
const CACHE: usize = 1;

const OPEN_FILES: usize = 64;

/// Returns a command that runs the program under all limits, with that many
/// seconds of CPU time.
pub fn limited(seconds: u64) -> Command {
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--as={SPACE}"))
        .arg(format!("--nofile={OPEN_FILES}"))
        .arg(format!("--cpu={seconds}"))
        .arg(hpimount().get_program());
    command
}

/// Limits of a walk through a mount: enough to trigger every kind of bomb, but not
/// everything, which may be endless.
#[derive(Clone, Copy)]
struct Depth {
    entries: usize,
    levels: usize,
    /// Number of bytes to read at the start and at the end of a file.
    bytes: usize,
}

const DEPTH: Depth = Depth {
    entries: 300,
    levels: 40,
    bytes: 200_000,
};

/// Walks a tree, requests attributes and reads. Returns the number of entries.
fn walk(top: &Path) -> usize {
    let mut left = vec![(top.to_owned(), 0)];
    let mut seen = 0;
    while let Some((path, level)) = left.pop() {
        if seen >= DEPTH.entries {
            break;
        }
        seen += 1;
        let Some(metadata) = checked(&path, path.symlink_metadata()) else {
            continue;
        };
        if metadata.is_dir() && level < DEPTH.levels {
            // The whole listing, but only some of its entries.
            let Some(entries) = checked(&path, fs::read_dir(&path)) else {
                continue;
            };
            let names: Vec<PathBuf> = entries
                .map_while(|entry| checked(&path, entry))
                .map(|entry| entry.path())
                .collect();
            let step = names.len().div_ceil(60).max(1);
            // Companions are at the end, and are visited first.
            left.extend(
                names
                    .into_iter()
                    .step_by(step)
                    .map(|path| (path, level + 1)),
            );
        } else if metadata.is_file() {
            let Some(file) = checked(&path, fs::File::open(&path)) else {
                continue;
            };
            checked(&path, read_at(&file, 0, DEPTH.bytes));
            let tail = metadata.len().saturating_sub(DEPTH.bytes as u64);
            checked(&path, read_at(&file, tail, DEPTH.bytes));
        }
    }
    seen
}

/// Returns the value of an operation. It may fail with EIO, or because the file is
/// encrypted, has an unsupported packing, or is too large for the cache.
fn checked<T>(path: &Path, result: io::Result<T>) -> Option<T> {
    const EXPECTED: [i32; 4] = [libc::EIO, libc::EACCES, libc::EOPNOTSUPP, libc::ENOMEM];
    match result {
        Ok(value) => Some(value),
        Err(error)
            if error
                .raw_os_error()
                .is_some_and(|code| EXPECTED.contains(&code)) =>
        {
            None
        }
        // Longer than the kernel allows for a path.
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Returns whether a file can be mounted.
fn opens(path: &Path) -> bool {
    let sources = Sources::one(path);
    Vfs::open(&sources, Options::default()).is_ok()
}

/// The number of mounts, and the maximum resources of one mount.
#[derive(Default)]
pub struct Needed {
    pub mounts: usize,
    pub refused: usize,
    pub seen: usize,
    pub peak: usize,
    pub time: Duration,
}

impl Needed {
    /// Walks a mount and ends it.
    pub fn walk(&mut self, mount: Mount) {
        self.mounts += 1;
        self.seen += walk(mount.path());
        mount.daemon().assert_running();
        let pid = mount.pid().to_string();
        self.peak = self.peak.max(peak_memory_of(&pid));
        self.time = self.time.max(processor_time(&pid));
        // `Mount` panics if it does not end properly.
        drop(mount);
    }

    /// Mounts one file and walks it, or asserts that it is refused properly.
    pub fn alone(&mut self, name: &str, fixture: Fixture, in_foreground: bool) {
        println!("{name}");
        let mut command = limited(60);
        command.args([&fixture.archive, &fixture.point]);
        command.args(["-o", "cachesize=1M"]);
        if opens(&fixture.archive) {
            self.walk(match in_foreground {
                true => fixture.mount_in_foreground_by(command),
                false => fixture.mount_by(command),
            });
            return;
        }
        let ran = run(&mut command);
        assert!(matches!(ran.code, Some(11..=13)), "{name}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{name}: {ran:?}");
        assert!(mounts_at(&fixture.point).is_empty(), "{name}");
        self.refused += 1;
    }

    pub fn record(&self, what: &str, times: usize) {
        let Self {
            mounts,
            refused,
            seen,
            peak,
            time,
        } = self;
        let happened = format!(
            "{mounts} mounts, {refused} refused, {seen} entries visited; at most {} MiB and \
             {} ms of CPU time",
            peak >> 20,
            time.as_millis()
        );
        trial::record(what, times, &happened);
    }
}

/// Returns the CPU time of a process.
fn processor_time(pid: &str) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit(')').next().unwrap();
    let ticks = |field: usize| -> u64 {
        let field = fields.split_ascii_whitespace().nth(field);
        field.unwrap().parse().unwrap()
    };
    // Linux accounts CPU time in hundredths of a second.
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// Returns a folder of these files.
pub fn folder_of(files: impl Iterator<Item = Bomb>) -> Fixture {
    folder(|source| {
        for Bomb { name, bytes } in files {
            fs::write(source.join(name), bytes).unwrap();
        }
    })
}

/// Walks the entries of a folder one by one, so that `DEPTH` applies to each, and ends
/// the mount.
pub fn walk_each(mount: Mount, needed: &mut Needed) {
    for entry in fs::read_dir(mount.path()).unwrap() {
        let path = entry.unwrap().path();
        needed.seen += walk(&path);
        assert!(!mount.daemon().has_ended(), "{} ended it", path.display());
    }
    needed.walk(mount);
}
