//! The mount reports sizes without decoding, and decodes nothing more often than
//! necessary.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use testkit::fuse_test;

use fixtures::container_seeds::gcz;
use fixtures::disc::Disc;
use fixtures::hpi::{File as PackedFile, V1, V2, file, usual_tree};
use fixtures::{noise, text};
use hpimount_containers::hpi::chunk::Method;
use rustix::fs::Advice;
use testkit::files::{forget_pages, open_direct, read_at, walk};
use testkit::mount::{Mount, eventually};
use testkit::mounted::{counter, mounted, stats};

fn decoded(mount: &Mount) -> u64 {
    counter(mount, "bytes_decoded")
}

#[fuse_test]
fn sizes_and_blocks_are_right_without_decoding() {
    for archive in [
        V1::new(usual_tree(Method::Lz77)).build(),
        V2::new(usual_tree(Method::Zlib)).build(),
    ] {
        let mount = mounted(&archive.bytes, "");
        let size = |path: &str| mount.path().join(path).metadata().unwrap();
        assert_eq!(size("big.tdf").len(), 200_000);
        assert_eq!(size("units/empty.txt").len(), 0);
        for path in walk(mount.path()) {
            let metadata = path.metadata().unwrap();
            assert_eq!(metadata.blocks(), metadata.len().div_ceil(512));
            assert_eq!(metadata.blksize(), 65_536);
        }
        assert_eq!(decoded(&mount), 0);
    }
}

#[fuse_test]
fn a_block_requested_by_many_is_decoded_once() {
    let archive = V1::new(usual_tree(Method::Lz77)).build();
    let mount = mounted(&archive.bytes, "");
    let path = mount.path().join("big.tdf");
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let file = open_direct(&path);
                start.wait();
                assert_eq!(read_at(&file, 65_536, 1000).unwrap().len(), 1000);
            });
        }
    });
    assert_eq!(decoded(&mount), 65_536);
    let file = open_direct(&path);
    for offset in (0..200_000).step_by(1000) {
        read_at(&file, offset, 1000).unwrap();
    }
    assert_eq!(decoded(&mount), 200_000);
}

#[fuse_test]
fn stored_bytes_are_not_decoded() {
    let archive = V1::new(usual_tree(Method::Stored)).keyed(1).build();
    let mount = mounted(&archive.bytes, "");
    assert!(fs::read(mount.path().join("big.tdf")).unwrap() == text(200_000));
    assert_eq!(decoded(&mount), 0);
}

/// Number of bytes to read of a block so that it is cached.
const PART: usize = 4096;

#[fuse_test]
fn the_cache_stays_within_its_budget() {
    for (options, budget) in [
        ("cachesize=0,noprefetch", 0),
        ("cachesize=300K,noprefetch", 300 << 10),
        ("cachesize=2M,noprefetch", 2 << 20),
    ] {
        let data = noise(1, 5_000_000);
        let files =
            [b"a", b"b"].map(|name| file(name, PackedFile::new(data.clone(), Method::Zlib)));
        let mount = mounted(&V1::new(files.to_vec()).build().bytes, options);
        std::thread::scope(|scope| {
            for name in ["a", "b"] {
                let (path, data) = (mount.path().join(name), &data);
                // Blocks that are read partly are cached; the kernel caches
                // blocks that are read whole.
                scope.spawn(move || {
                    let file = open_direct(&path);
                    for start in (0..data.len() - PART).step_by(5 * PART) {
                        let part = read_at(&file, start as u64, PART).unwrap();
                        assert!(part == data[start..start + PART]);
                    }
                });
            }
            for _ in 0..20 {
                let stats = stats(&mount);
                assert!(stats["cache"]["bytes"].as_u64().unwrap() <= budget);
                assert_eq!(stats["cache"]["budget"], budget);
            }
        });
        let held = stats(&mount)["cache"]["bytes"].as_u64().unwrap();
        assert!(
            held <= budget && (budget == 0 || held > budget / 2),
            "{held} of {budget}"
        );
    }
}

/// Length of the long chunk, deliberately odd.
const LONG: usize = 3_000_001;

/// Returns a file that is one chunk of version 2.
fn long_chunk(method: Method, options: &str) -> (Mount, PathBuf, Vec<u8>) {
    let data = text(LONG);
    let packed = file(b"long.bin", PackedFile::new(data.clone(), method));
    let archive = V2 {
        chunk_size: None,
        ..V2::new(vec![packed])
    };
    // Bytes that are decoded ahead would be counted too.
    let options = format!("noprefetch,{options}");
    let mount = mounted(&archive.build().bytes, &options);
    let path = mount.path().join("long.bin");
    (mount, path, data)
}

#[fuse_test]
fn small_files_that_are_read_whole_leave_nothing_in_the_cache() {
    let named = |number: usize| {
        let packed = PackedFile::new(text(1000), Method::Zlib);
        file(number.to_string().as_bytes(), packed)
    };
    let archive = V1::new((0..100).map(named).collect());
    let mount = mounted(&archive.build().bytes, "");
    for path in walk(mount.path()) {
        assert!(fs::read(path).unwrap() == text(1000));
    }
    assert!(decoded(&mount) >= 100_000);
    assert_eq!(stats(&mount)["cache"]["bytes"], 0);
}

#[fuse_test]
fn files_read_from_the_last_to_the_first_are_in_the_page_cache_before_they_are_read() {
    const COUNT: usize = 100;
    let named = |number: usize| {
        let packed = PackedFile::new(text(1000), Method::Lz77);
        file(number.to_string().as_bytes(), packed)
    };
    let archive = V1::new((0..COUNT).map(named).collect());
    let mount = mounted(&archive.build().bytes, "");
    let mut files = walk(mount.path());
    let mut read_last = || assert!(fs::read(files.pop().unwrap()).unwrap() == text(1000));
    read_last();
    read_last();
    eventually("all files are decoded", || {
        decoded(&mount) >= 1000 * COUNT as u64
    });
    let before = counter(&mount, "reads");
    for _ in 2..COUNT {
        read_last();
    }
    let requests = counter(&mount, "reads") - before;
    assert!(requests < 10, "{requests} requests");
}

#[fuse_test]
fn a_small_read_brings_the_rest_of_its_block_into_the_page_cache() {
    const START: usize = 150_000;
    let data = text(600_000);
    let packed = |method| {
        let archive = V1::new(vec![file(
            b"BIG.BIN",
            PackedFile::new(data.clone(), method),
        )]);
        (archive.build().bytes, 65_536)
    };
    let image = gcz(&Disc::default().file("BIG.BIN", &data).iso(), 131_072);
    for (bytes, unit) in [packed(Method::Lz77), packed(Method::Zlib), (image, 131_072)] {
        let mount = mounted(&bytes, "");
        let file = File::open(mount.path().join("BIG.BIN")).unwrap();
        rustix::fs::fadvise(&file, 0, None, Advice::Random).unwrap();
        let read = |offset: usize| {
            let part = read_at(&file, offset as u64, 100).unwrap();
            assert!(part == data[offset..offset + 100]);
        };
        let cached = || stats(&mount)["cache"]["bytes"].as_u64().unwrap();
        let before = (decoded(&mount), cached());
        read(START);
        eventually("its block is pushed and not cached as well", || {
            decoded(&mount) >= before.0 + unit && cached() < before.1 + 10_000
        });
        // It is pushed just after it was decoded.
        let others = (START + 4096..START + 40_000).step_by(4096);
        let before = counter(&mount, "reads");
        others
            .filter(|offset| offset % 65_536 < 60_000)
            .for_each(read);
        let requests = counter(&mount, "reads") - before;
        assert!(requests < 2, "{requests} requests");
    }
}

const BOTH: [Method; 2] = [Method::Zlib, Method::Lz77];

#[fuse_test]
fn a_long_chunk_read_in_order_is_decoded_once_even_with_a_tiny_cache() {
    for method in BOTH {
        // With one thread: several may answer concurrent requests of the kernel out of
        // order, and restart decoding because the cache is so small.
        let (mount, path, data) = long_chunk(method, "cachesize=256K,threads=1");
        assert!(fs::read(path).unwrap() == data);
        let decoded = decoded(&mount);
        assert!(
            decoded < 2 * LONG as u64,
            "{method:?}: {decoded} bytes decoded"
        );
    }
}

#[fuse_test]
fn a_long_chunk_read_backwards_and_at_random_is_decoded_once() {
    for method in BOTH {
        let (mount, path, data) = long_chunk(method, "");
        let file = open_direct(&path);
        for start in (0..LONG).step_by(10_007).rev() {
            let end = LONG.min(start + 10_007);
            assert!(read_at(&file, start as u64, 10_007).unwrap() == data[start..end]);
        }
        for number in 0..500 {
            let start = number * 1_000_003 % LONG;
            let end = LONG.min(start + 3000);
            assert!(read_at(&file, start as u64, 3000).unwrap() == data[start..end]);
        }
        assert_eq!(decoded(&mount), LONG as u64, "{method:?}");
    }
}

/// Reads `eighths` eighths of a file in each of eight threads, which begin at
/// different ones.
fn read_from_eight_positions(path: &Path, data: &[u8], eighths: usize) {
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let start = &start;
            scope.spawn(move || {
                let file = open_direct(path);
                start.wait();
                for step in 0..eighths {
                    let first = (thread + step) % 8 * (LONG / 8);
                    for position in (first..first + LONG / 8).step_by(65_536) {
                        let end = data.len().min(position + 65_536);
                        let found = read_at(&file, position as u64, 65_536).unwrap();
                        assert!(found == data[position..end]);
                    }
                }
            });
        }
    });
}

#[fuse_test]
fn a_long_chunk_read_by_eight_threads_is_decoded_once() {
    for method in BOTH {
        let (mount, path, data) = long_chunk(method, "threads=8");
        read_from_eight_positions(&path, &data, 8);
        assert_eq!(decoded(&mount), LONG as u64, "{method:?}");
    }
}

#[fuse_test]
fn eight_threads_get_the_right_bytes_of_a_long_chunk_from_a_small_cache() {
    let (mount, path, data) = long_chunk(Method::Zlib, "threads=8,cachesize=256K");
    read_from_eight_positions(&path, &data, 1);
    assert!(stats(&mount)["cache"]["bytes"].as_u64().unwrap() <= 256 << 10);
}

#[fuse_test]
fn pages_cached_by_the_kernel_are_not_decoded_again() {
    let archive = V1::new(usual_tree(Method::Lz77)).build();
    let mount = mounted(&archive.bytes, "cachesize=0,noprefetch");
    let path = mount.path().join("big.tdf");
    fs::read(&path).unwrap();
    let before = decoded(&mount);
    for _ in 0..10 {
        fs::read(&path).unwrap();
    }
    assert_eq!(decoded(&mount), before);
    forget_pages(&File::open(&path).unwrap());
    fs::read(&path).unwrap();
    assert!(decoded(&mount) > before);
}
