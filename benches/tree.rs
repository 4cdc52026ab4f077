//! Cost of a large archive: mounting it, finding names, and listing.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hpimount::mount::{Ino, Options, Sources, Vfs};
use hpimount::pack::Threads;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::write::v1;
use hpimount_containers::write::{Directory, File, Node, Source};
use tempfile::TempPath;

/// Entries of the archives; ten times as many should take ten times as long.
const SIZES: [usize; 2] = [100_000, 1_000_000];

/// Entries of every directory except the root.
const WIDTH: usize = 1000;

/// Lookups in one iteration.
const LOOKUPS: usize = 1000;

/// Returns an archive with `count` empty files, in directories of [`WIDTH`].
fn archive(count: usize) -> TempPath {
    let file = || {
        Node::File(File {
            source: Source::Bytes(Vec::new()),
            modified: 0,
        })
    };
    let directory = |number: usize| {
        let files = (0..WIDTH).map(|index| (format!("Unit{number}_{index}.fbi"), file()));
        let entries = files.collect();
        (
            directory_name(number),
            Node::Directory(Directory { entries }),
        )
    };
    let entries = (0..count / WIDTH).map(directory).collect();
    let (mut out, path) = tempfile::NamedTempFile::new().unwrap().into_parts();
    let options = v1::Options {
        method: Method::Stored,
        key: 0,
    };
    let out = std::io::BufWriter::new(&mut out);
    v1::write(
        &Directory { entries },
        options,
        out,
        &mut Threads::start(),
        &mut |_| {},
    )
    .unwrap();
    path
}

fn directory_name(number: usize) -> String {
    format!("Directory{number}")
}

fn open(path: &TempPath) -> Arc<Vfs> {
    let sources = Sources::one(PathBuf::from(&**path));
    Vfs::open(&sources, Options::default()).unwrap()
}

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    group.sample_size(10);
    for size in SIZES {
        let path = archive(size);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(size.to_string(), |bencher| {
            bencher.iter(|| open(black_box(&path)));
        });
    }
}

fn walk(criterion: &mut Criterion) {
    let size = SIZES[1];
    let path = archive(size);
    let vfs = open(&path);
    let directories: Vec<Ino> = (0..size / WIDTH)
        .map(|number| vfs.lookup(Ino::ROOT, &directory_name(number)).unwrap().ino)
        .collect();

    let mut group = criterion.benchmark_group("lookup");
    group.throughput(Throughput::Elements(LOOKUPS as u64));
    for (title, suffix) in [
        ("exact", ".fbi"),
        ("other case", ".FBI"),
        ("missing", ".tdf"),
    ] {
        // Far from each other, so that no two need the same memory.
        let names: Vec<(Ino, String)> = (0..LOOKUPS)
            .map(|number| (number * 617 % (size / WIDTH), number * 331 % WIDTH))
            .map(|(number, index)| (directories[number], format!("Unit{number}_{index}{suffix}")))
            .collect();
        group.bench_function(title, |bencher| {
            bencher.iter(|| {
                for (directory, name) in &names {
                    let _ = black_box(vfs.lookup(*directory, name));
                }
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("readdir");
    group.sample_size(10);
    group.throughput(Throughput::Elements(size as u64));
    group.bench_function("plain", |bencher| {
        bencher.iter(|| {
            for &directory in &directories {
                let mut emit = |name: &str, ino, _, _| {
                    black_box((name, ino));
                    false
                };
                vfs.readdir(directory, 0, &mut emit).unwrap();
            }
        });
    });
    group.bench_function("plus", |bencher| {
        bencher.iter(|| {
            for &directory in &directories {
                let mut emit = |name: &str, attr, _| {
                    black_box((name, attr));
                    false
                };
                vfs.readdir_plus(directory, 0, &mut emit).unwrap();
            }
        });
    });
}

criterion_group!(benches, build, walk);
criterion_main!(benches);
