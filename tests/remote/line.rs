//! Archives on distant, slow or temporarily silent servers, and large archives.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use testkit::fuse_test;

use crate::fixtures::big::{
    BIG, LENGTH, assert_eio, assert_recovers, assert_right, origin, ranges, served,
};
use crate::fixtures::line::Line;
use crate::fixtures::mounted;
use crate::fixtures::origin::{Faults, Object, Origin};
use fixtures::hpi::{File, V1, dir, file};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::Mount;
use testkit::mount::others::unmount;
use testkit::mounted::{mounted as mounted_here, stats};
use testkit::trial;

/// 100 Mbit/s.
const BYTES_PER_SECOND: u32 = 12_500_000;

#[fuse_test]
fn high_latency_takes_time_but_no_more_requests() {
    for milliseconds in [20, 100] {
        let origin = origin();
        let url = origin.url("mods/big.hpi");
        let round_trip = Duration::from_millis(milliseconds);
        let line = Line::to(&url, round_trip, BYTES_PER_SECOND);
        let mount = mounted(&line.url(&url), "noprefetch,timeout=60");
        let opened = origin.take_requests().len();
        assert!(opened <= 3, "{opened}");
        std::thread::scope(|scope| {
            for reader in 0..8 {
                let mount = &mount;
                scope.spawn(move || assert_right(mount, reader * 700_000 / 4096 * 4096));
            }
        });
        let begun = Instant::now();
        assert!(fs::read(mount.file(BIG)).unwrap() == noise(1, LENGTH));
        assert!(begun.elapsed() >= round_trip, "less than a round trip");
        let ranges = ranges(&origin.take_requests());
        assert!(ranges.len() <= 30, "{ranges:?}");
        let mut bytes: Vec<_> = ranges
            .iter()
            .map(|range| (range.start, range.end))
            .collect();
        bytes.sort_unstable();
        assert!(
            bytes.windows(2).all(|pair| pair[0].1 <= pair[1].0),
            "{bytes:?}"
        );
        assert_eq!(stats(&mount)["remote"]["retries"], 0);
        trial::record(
            &format!("8 readers over a line of 100 Mbit/s and {milliseconds} ms"),
            ranges.len(),
            "right bytes, none requested twice, no request repeated",
        );
    }
}

#[fuse_test]
fn slow_response_headers_are_awaited_until_the_timeout() {
    let (origin, mount) = served("noprefetch,timeout=2");
    let slow = |milliseconds| Faults {
        slow_head: Duration::from_millis(milliseconds),
        ..Faults::default()
    };
    origin.set(slow(20));
    assert_right(&mount, 2 << 20);
    // No header arrives within the time that a connection may be silent.
    origin.set(slow(1000));
    let begun = Instant::now();
    assert_eio(&mount, 4 << 20);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    origin.set(Faults::default());
    assert_recovers(&mount, 4 << 20);
    trial::record(
        "response headers that arrive a line per second",
        1,
        "EIO after the timeout; right without a new mount",
    );
}

#[fuse_test]
fn silence_shorter_than_the_timeout_only_delays_a_read() {
    let (origin, mount) = served("noprefetch,timeout=120");
    let seconds = trial::length(2, 30);
    origin.set(Faults {
        silent: true,
        ..Faults::default()
    });
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| assert_right(&mount, 3 << 20));
        sleep(Duration::from_secs(seconds));
        assert!(!reader.is_finished());
        origin.set(Faults::default());
        reader.join().unwrap();
    });
    trial::record(
        &format!("server that is silent for {seconds} s, with a timeout of 120 s"),
        1,
        "right bytes",
    );
}

/// Returns an archive of that many files, a thousand per directory.
fn archive(files: usize) -> Vec<u8> {
    let directory = |number: usize| {
        let one = |file: usize| {
            let name = format!("Unit{:05}.fbi", file * 7919 % 1000);
            self::file(name.as_bytes(), File::new("x", Method::Stored))
        };
        dir(
            format!("d{number:04}").as_bytes(),
            (0..1000).map(one).collect(),
        )
    };
    V1::new((0..files / 1000).map(directory).collect())
        .build()
        .bytes
}

/// Returns the number of files in the directories of a mount.
fn count(mount: &Mount) -> usize {
    let names = |path: &Path| {
        fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    names(mount.path())
        .map(|directory| names(&directory).count())
        .sum()
}

/// Returns the peak memory of a mount, in bytes.
fn peak(mount: &Mount) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", mount.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes << 10
}

#[fuse_test]
fn a_large_archive_on_a_server_takes_little_more_memory_than_on_disk() {
    let files = trial::length(30_000, 1_000_000);
    let bytes = archive(files);
    let here = mounted_here(&bytes, "cachesize=4M,noprefetch");
    assert_eq!(count(&here), files);
    let on_disk = peak(&here);
    drop(here);
    let length = bytes.len() as u64;
    let origin = Origin::with("large.hpi", Object::new(bytes, "large"));
    let there = mounted(&origin.url("large.hpi"), "cachesize=4M,noprefetch");
    assert_eq!(count(&there), files);
    let x = fs::read(there.file("d0007/unit00500.fbi")).unwrap();
    assert_eq!(x, b"x");
    let ranges = ranges(&origin.take_requests());
    let asked: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    assert!(asked <= 2 * length, "{asked} of {length} bytes");
    let more = peak(&there).saturating_sub(on_disk);
    assert!(more <= 40 << 20, "{more} bytes more than on disk");
    trial::record(
        &format!("an archive of {files} files on a server, all listed"),
        ranges.len(),
        &format!(
            "every name; at most {} MiB of memory more than on disk",
            more.div_ceil(1 << 20)
        ),
    );
    unmount(there.path());
    there.assert_ends();
}
