//! Faults of the storage below archives: a failing disk, a slow or lost
//! network. Reads return correct bytes or EIO, and correct bytes again after
//! the fault.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;
use testkit::fuse_test;

use hpimount::mount::{Error, FileKind, Ino, Options, Sources, Vfs};
use hpimount_containers::hpi::chunk::Method;

use crate::faulty_mount::{ARCHIVE, Faulty};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File as Packed, V1, V2, file};
use fixtures::{noise, text};
use testkit::each_method::read_all;
use testkit::faulty_fs::{Errno, FaultyFs, Mode};
use testkit::mounted::stats;
use testkit::pictures::library;
use testkit::trial;

/// A cache that is too small to avoid reads of the source.
const UNCACHED: [&str; 2] = ["-o", "noprefetch,cachesize=1K"];

#[fuse_test]
fn short_interrupted_and_slow_reads_change_no_byte() {
    let faulty = Faulty::new(&UNCACHED);
    let rounds = trial::length(1, 100);
    for _ in 0..rounds {
        let slow = Mode::Slow(Duration::from_millis(5));
        for mode in [Mode::Short, Mode::Interrupted, slow] {
            faulty.source.set(mode);
            assert_eq!(read_all(faulty.mount()).1, 0, "{mode:?}");
        }
    }
    let tried = "file system below gives short, interrupted and slow reads";
    trial::record(tried, rounds, "every byte right");
}

#[fuse_test]
fn a_source_that_fails_is_eio_until_it_recovers() {
    let faulty = Faulty::new(&UNCACHED);
    let rounds = trial::length(2, 200);
    for _ in 0..rounds {
        for error in [Errno::EIO, Errno::ETIMEDOUT, Errno::ENOMEM, Errno::EACCES] {
            faulty.source.set(Mode::Fails(error));
            assert_eq!(read_all(faulty.mount()).0, 0, "{error:?}");
            let listing = fs::read_dir(faulty.mount().file("dir")).unwrap();
            assert_eq!(listing.count(), 1, "listing does not read the source");
            faulty.source.set(Mode::Fine);
            assert_eq!(read_all(faulty.mount()).1, 0, "{error:?}");
        }
    }
    let errors = stats(faulty.mount())["last_errors"].to_string();
    assert!(errors.contains("stored.bin: cannot read"), "{errors}");
    let tried = "file system below fails with EIO, ETIMEDOUT, ENOMEM, EACCES, then recovers";
    trial::record(tried, 4 * rounds, "EIO, then every byte right");
}

#[fuse_test]
fn a_source_that_is_gone_is_eio_and_never_another_file() {
    let mut faulty = Faulty::new(&UNCACHED);
    let archive = faulty.source.file(ARCHIVE);
    let device = || fs::metadata(&archive).unwrap().dev();
    let first = device();
    let rounds = trial::length(4, 50);
    for _ in 0..rounds {
        faulty.source.go_away();
        assert_eq!(read_all(faulty.mount()).0, 0);
        faulty.source.come_back();
        // The new mount is another device, and its file is another file.
        let (right, refused) = read_all(faulty.mount());
        let is_same = device() == first;
        assert_eq!(if is_same { refused } else { right }, 0);
    }
    let happened = "EIO, also after the new mount: its file is another one";
    let tried = "file system below gone (ENOTCONN), then mounted again";
    trial::record(tried, rounds, happened);
}

/// The contents of a tree by path: the bytes of a file, the names in a
/// directory, or an error.
type Walked = BTreeMap<String, Result<Vec<u8>, Error>>;

fn walk(vfs: &Vfs) -> Walked {
    let mut walked = Walked::new();
    let mut left = vec![(Ino::ROOT, String::new())];
    while let Some((directory, path)) = left.pop() {
        let mut names = Vec::new();
        let listed = vfs.readdir(directory, 0, &mut |name, _, _, _| {
            names.push(name.to_owned());
            false
        });
        for name in &names {
            let path = format!("{path}/{name}");
            match vfs.lookup(directory, name) {
                Ok(attr) if attr.kind == FileKind::Directory => left.push((attr.ino, path)),
                Ok(attr) if attr.kind == FileKind::File => {
                    let read = vfs.read(attr.ino, 0, attr.size as u32);
                    walked.insert(path, read.map(|bytes| bytes.to_vec()));
                }
                Ok(_) => {}
                Err(error) => drop(walked.insert(path, Err(error))),
            }
        }
        let names = names.join("\n").into_bytes();
        walked.insert(format!("{path}/"), listed.map(|()| names));
    }
    walked
}

/// Returns the files of a folder, of all kinds that are opened when the folder
/// is entered.
fn folder() -> Vec<(&'static str, Vec<u8>)> {
    let small = |method| file(b"a.txt", Packed::new(text(70_000), method));
    let inner = V1::new(vec![small(Method::Zlib)]).build().bytes;
    let outer = file(b"inner.ufo", Packed::new(inner, Method::Lz77));
    let mut long = V2::new(vec![small(Method::Zlib)]);
    long.chunk_size = None;
    let mut hip = Hip::default();
    hip.layer(0);
    hip.add(Asset::new(b"DYNA", "dyna", &noise(1, 40)));
    vec![
        ("a.hpi", V1::new(vec![outer]).build().bytes),
        ("b.kmp", long.build().bytes),
        ("c.hip", hip.build()),
        ("skhan.psx", library(None, Some(0xAA))),
        ("SKHAN_L.PSX", library(Some(0xAA), None)),
    ]
}

/// Each request to the file system below (to look up, list, open or read) fails
/// once in turn, and the others succeed.
#[fuse_test]
fn one_request_that_fails_leaves_nothing_incorrect() {
    let point = tempfile::tempdir().unwrap();
    let files = folder();
    let files = Vec::from_iter(files.iter().map(|(name, bytes)| (*name, &bytes[..])));
    let source = FaultyFs::new(point.path(), &files);
    let sources = Sources::one(point.path());
    let options = || Options {
        verify: true,
        ..Options::default()
    };
    source.set(Mode::FailsOnce(u64::MAX));
    let golden = walk(&Vfs::open(&sources, options()).unwrap());
    assert!(golden.values().all(Result::is_ok), "{golden:?}");
    let requests = source.requests();
    let step = trial::length(3, 1);
    for victim in (0..requests).step_by(step) {
        source.set(Mode::FailsOnce(victim));
        let vfs = Vfs::open(&sources, options());
        let vfs = vfs.unwrap_or_else(|_| Vfs::open(&sources, options()).unwrap());
        for (path, found) in walk(&vfs) {
            let is_right = found == golden[&path] || found == Err(Error::Io);
            assert!(is_right, "request {victim}: {path}: {found:?}");
        }
        source.set(Mode::Fine);
        for (path, found) in walk(&vfs) {
            assert!(
                found == golden[&path],
                "request {victim}: {path}: {found:?}"
            );
        }
    }
    trial::record(
        "one request to the file system below fails, each in turn",
        requests / step as u64,
        "EIO or right, then everything right",
    );
}
