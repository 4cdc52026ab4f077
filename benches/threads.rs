//! Cost of requests that several threads answer. If the threads share a
//! bottleneck, the cost grows with their number, even with a core for each.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hpimount::mount::{Ino, Options, Sources, Vfs};
use hpimount::pack::Threads;
use hpimount::prefetch::Prefetch;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::write::v1;
use hpimount_containers::write::{Directory, File, Node, Source};

/// Numbers of threads that answer.
const THREADS: [usize; 4] = [1, 2, 4, 8];

/// Directories of the archive, and files in each.
const DIRECTORIES: usize = 32;
const WIDTH: usize = 32;

/// Bytes of a file: one chunk. All of them fit into the cache.
const SIZE: usize = 32 << 10;

/// Bytes of a read.
const READ: u32 = 4096;

/// A mount and its files, of each directory in order.
struct Mounted {
    vfs: Arc<Vfs>,
    directories: Vec<Ino>,
    files: Vec<Ino>,
}

impl Mounted {
    fn new(method: Method) -> Self {
        let file = |index: usize| {
            let bytes = (0..SIZE).map(|at| (at * index % 251) as u8).collect();
            let file = File {
                source: Source::Bytes(bytes),
                modified: 0,
            };
            (name(index), Node::File(file))
        };
        let directory = |number: usize| {
            let entries = (0..WIDTH).map(file).collect();
            let directory = Node::Directory(Directory { entries });
            (format!("Directory{number}"), directory)
        };
        let entries = (0..DIRECTORIES).map(directory).collect();
        let (mut out, path) = tempfile::NamedTempFile::new().unwrap().into_parts();
        let options = v1::Options { method, key: 0x7D };
        v1::write(
            &Directory { entries },
            options,
            &mut out,
            &mut Threads::start(),
            &mut |_| {},
        )
        .unwrap();
        let sources = Sources::one(PathBuf::from(&*path));
        // The file stays open after it is deleted.
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let directories = list(&vfs, Ino::ROOT);
        let files = directories.iter().flat_map(|&each| list(&vfs, each));
        Self {
            files: files.collect(),
            directories,
            vfs,
        }
    }
}

fn name(index: usize) -> String {
    format!("Unit{index}.fbi")
}

fn list(vfs: &Vfs, directory: Ino) -> Vec<Ino> {
    let mut found = Vec::new();
    let mut emit = |_: &str, ino, _, _| {
        found.push(ino);
        false
    };
    vfs.readdir(directory, 0, &mut emit).unwrap();
    found
}

/// Returns how long `threads` threads take to make `rounds` requests each;
/// `request` is called with the numbers of the thread and of the request.
fn together(threads: usize, rounds: u64, request: &(dyn Fn(usize, usize) + Sync)) -> Duration {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || (0..rounds as usize).for_each(|number| request(thread, number)));
        }
    });
    begun.elapsed()
}

fn measure(criterion: &mut Criterion, title: &str, request: &(dyn Fn(usize, usize) + Sync)) {
    let mut group = criterion.benchmark_group(title);
    for threads in THREADS {
        group.throughput(Throughput::Elements(threads as u64));
        group.bench_function(format!("{threads} threads"), |bencher| {
            bencher.iter_custom(|rounds| together(threads, rounds, request));
        });
    }
    group.finish();
}

/// Returns a file that no other thread reads at the moment.
fn far_apart(mounted: &Mounted, thread: usize, number: usize) -> Ino {
    mounted.files[(thread * 131 + number * 617) % mounted.files.len()]
}

fn names(criterion: &mut Criterion) {
    let mounted = Mounted::new(Method::Stored);
    let (vfs, names) = (&mounted.vfs, Vec::from_iter((0..WIDTH).map(name)));
    measure(criterion, "lookup", &|thread, number| {
        let directory = mounted.directories[(thread + number) % DIRECTORIES];
        black_box(vfs.lookup(directory, &names[number % WIDTH])).unwrap();
    });
    measure(criterion, "getattr", &|thread, number| {
        black_box(vfs.getattr(far_apart(&mounted, thread, number))).unwrap();
    });
}

fn reads(criterion: &mut Criterion) {
    for (title, method) in [("stored", Method::Stored), ("cached", Method::Zlib)] {
        let mounted = Mounted::new(method);
        // Reads a part of the block, so that it is cached.
        let read = |ino| mounted.vfs.read(ino, 0, READ).unwrap();
        mounted.files.iter().for_each(|&ino| drop(read(ino)));
        measure(criterion, &format!("read {title}"), &|thread, number| {
            black_box(read(far_apart(&mounted, thread, number)));
        });
    }
}

fn notes(criterion: &mut Criterion) {
    let mounted = Mounted::new(Method::Stored);
    for (title, readers) in [("note of 8 readers", 8), ("note of 32 readers", 32)] {
        let prefetch = Prefetch::default();
        measure(criterion, title, &|thread, number| {
            // Each reader reads through its own directory.
            let reader = (thread + number) % readers;
            let index = number / readers % WIDTH;
            let ino = mounted.files[reader * WIDTH + index];
            prefetch.note(&mounted.vfs.node(ino).unwrap(), 0, READ);
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500)).sample_size(20);
    targets = names, reads, notes
}
criterion_main!(benches);
