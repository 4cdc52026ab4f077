//! Many concurrent readers of more data than fits into the cache.

mod figures;
mod readers;
mod set;

use std::array;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};
use testkit::fuse_test;

use self::figures::{Figures, Footprint};
use self::readers::{KINDS, Reader};
use self::set::Set;
use rustix::process::Signal;
use testkit::limits::{peak_memory_of, program_memory_of};
use testkit::mount::others::{forget_names, unmount};
use testkit::mount::{Mount, eventually, has_programs};
use testkit::mounted::{counter, mounted_files};
use testkit::trial;

/// Number of readers, eight of each kind.
const READERS: usize = 8 * KINDS.len();

/// Budget of the cache in bytes; the set is several times as large.
const CACHE: usize = 4 << 20;

/// Returns the maximum memory of the daemon in addition to its cache, in bytes: the
/// program itself, which is larger in a development build, and 16 MiB for its tree, its
/// threads and reservations of requests beyond the limit of the cache for decoding. In
/// `scripts/soak`, it is the limit in docs/RELIABILITY.md.
fn other_memory(pid: &str) -> usize {
    trial::length(program_memory_of(pid) + (16 << 20), 32 << 20)
}

/// Every reader makes progress within this time, even on a busy machine.
const GUARD: Duration = Duration::from_secs(120);

/// Returns how long the readers read.
fn duration() -> Duration {
    let minutes = std::env::var("HPIMOUNT_SOAK_MINUTES").map_or(30, |text| text.parse().unwrap());
    trial::length(Duration::from_secs(4), Duration::from_secs(60 * minutes))
}

#[fuse_test]
fn sixty_four_readers_get_the_right_bytes_within_memory_and_time() {
    if !has_programs(&["find", "grep", "python3"]) {
        return;
    }
    let set = Set::new(trial::length(150, 1000));
    assert!(set.size() > 4 * CACHE);
    let mount = mounted_files(&set.sources, "cachesize=4M,threads=8");
    let read_everything = || {
        let (figures, progress) = (Figures::default(), AtomicU64::new(0));
        Reader::new(0, mount.path(), &set, &figures, &progress).read_everything();
    };
    read_everything();
    let before = Footprint::of(mount.pid());

    let served_before = counter(&mount, "bytes_read");
    let (figures, begun) = (Figures::default(), Instant::now());
    load(&mount, &set, &figures);
    let elapsed = begun.elapsed();
    let served = counter(&mount, "bytes_read") - served_before;

    read_everything();
    forget_names(mount.path());
    eventually("inodes of other spellings are forgotten", || {
        counter(&mount, "transient_inodes") <= 2
    });
    assert_eq!(counter(&mount, "errors"), 0);
    assert_eq!(Footprint::of(mount.pid()), before);
    let pid = mount.pid().to_string();
    let (peak, other) = (peak_memory_of(&pid), other_memory(&pid));
    assert!(peak <= CACHE + other, "{} KiB", peak >> 10);
    assert!(figures.slowest() <= trial::length(GUARD, Duration::from_secs(5)));
    unmount(mount.path());
    mount.assert_ends();

    let mib = |bytes: usize| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    let tried = format!(
        "{READERS} readers of {} kinds at once, of {} in HPI, HIP, nested and loose files with \
         a cache of {}",
        KINDS.len(),
        mib(set.size()),
        mib(CACHE),
    );
    let times = format!(
        "{} s, {} operations, {} compared, {} served",
        elapsed.as_secs(),
        figures.operations(),
        mib(figures.bytes()),
        mib(served as usize),
    );
    let happened = format!(
        "no wrong byte, no error; 99.9 % of the operations within {} ms, the slowest {} ms; at \
         most {} of memory; {} descriptors and {} threads before and after",
        figures.usual().as_millis(),
        figures.slowest().as_millis(),
        mib(peak),
        before.descriptors,
        before.threads,
    );
    trial::record(&tried, times, &happened);
}

/// Runs the readers. The kernel is made to forget all unused names and inodes
/// of the mount repeatedly, so that it has to request them again.
fn load(mount: &Mount, set: &Set, figures: &Figures) {
    set.write_pairs(mount.path());
    let progress: [AtomicU64; READERS] = [const { AtomicU64::new(0) }; READERS];
    let stop = AtomicBool::new(false);
    let read = |number: usize| {
        let (_, work) = KINDS[number % KINDS.len()];
        let mut reader = Reader::new(number, mount.path(), set, figures, &progress[number]);
        while !stop.load(Ordering::Relaxed) {
            work(&mut reader);
        }
    };
    thread::scope(|scope| {
        let readers: [_; READERS] = array::from_fn(|number| scope.spawn(move || read(number)));
        // The thread that watches the readers does not access the mount, or it
        // might hang with them.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                forget_names(mount.path());
                thread::sleep(Duration::from_millis(200));
            }
        });
        let end = Instant::now() + duration();
        let mut watch = Watch::new(&progress);
        while !readers.iter().all(ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(200));
            // A reader that ends early has failed.
            let ended = readers.iter().any(ScopedJoinHandle::is_finished);
            if ended || Instant::now() > end {
                stop.store(true, Ordering::Relaxed);
            }
            if let Some(kind) = watch.hanging() {
                stop.store(true, Ordering::Relaxed);
                // Otherwise the scope would never end.
                mount.signal(Signal::KILL);
                panic!("{kind}: a reader hangs");
            }
        }
    });
    for (number, progress) in progress.iter().enumerate() {
        let kind = KINDS[number % KINDS.len()].0;
        assert!(progress.load(Ordering::Relaxed) > 0, "no progress: {kind}");
    }
}

/// Detects readers that make no progress.
struct Watch<'a> {
    progress: &'a [AtomicU64],
    /// The last progress of each, and its time.
    seen: Vec<(u64, Instant)>,
}

impl<'a> Watch<'a> {
    fn new(progress: &'a [AtomicU64]) -> Self {
        let seen = vec![(0, Instant::now()); progress.len()];
        Self { progress, seen }
    }

    /// Returns the kind of a reader that has made no progress for too long.
    fn hanging(&mut self) -> Option<&'static str> {
        for (number, (now, seen)) in self.progress.iter().zip(&mut self.seen).enumerate() {
            let now = now.load(Ordering::Relaxed);
            if now != seen.0 {
                *seen = (now, Instant::now());
            } else if seen.1.elapsed() > GUARD {
                return Some(KINDS[number % KINDS.len()].0);
            }
        }
        None
    }
}
