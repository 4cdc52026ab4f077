//! The archive changes under the mount: what is read is right or an error,
//! and the daemon lives on.

mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;

use support::hpi::{File as Packed, V1, file};
use support::mount::{Mount, Place, can_mount};
use support::noise;

use hpimount::archive::hpi::chunk::Method;

/// Ten chunks and a bit.
const SIZE: usize = 10 * 65_536 + 100;

const FILES: [(&str, Method); 3] = [
    ("stored.bin", Method::Stored),
    ("zlib.bin", Method::Zlib),
    ("lz77.bin", Method::Lz77),
];

fn contents(number: usize) -> Vec<u8> {
    noise(number as u64, SIZE)
}

/// An archive with a file of each method.
static ARCHIVE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let entries = FILES.iter().enumerate().map(|(number, (name, method))| {
        file(name.as_bytes(), Packed::new(contents(number), *method))
    });
    V1::new(entries.collect()).build().bytes
});

/// A mount of which nothing has been read yet, with hardly a cache.
fn mount() -> Mount {
    let place = Place::new();
    fs::write(&place.archive, &*ARCHIVE).unwrap();
    place.mount(&["-o", "cachesize=64K"])
}

/// Reads all files in small pieces. Every piece must be right or EIO; tells
/// how many were each.
fn read_all(mount: &Mount) -> (usize, usize) {
    let (mut right, mut refused) = (0, 0);
    for (number, (name, _)) in FILES.iter().enumerate() {
        let expected = contents(number);
        let file = File::open(mount.file(name)).unwrap();
        assert_eq!(file.metadata().unwrap().len(), SIZE as u64);
        for (index, piece) in expected.chunks(4000).enumerate() {
            let mut read = vec![0; piece.len()];
            match file.read_exact_at(&mut read, 4000 * index as u64) {
                Ok(()) => {
                    assert!(read == piece, "{name}: piece {index} is wrong");
                    right += 1;
                }
                Err(error) => {
                    assert_eq!(
                        error.raw_os_error(),
                        Some(libc::EIO),
                        "{name}: piece {index}"
                    );
                    refused += 1;
                }
            }
        }
    }
    mount.daemon().assert_running();
    (right, refused)
}

#[test]
fn what_a_truncated_archive_lost_is_an_error() {
    if !can_mount() {
        return;
    }
    let whole = &*ARCHIVE;
    for percent in [0, 1, 40, 70, 99] {
        let mount = mount();
        let file = File::options()
            .write(true)
            .open(&mount.place.archive)
            .unwrap();
        file.set_len((whole.len() * percent / 100) as u64).unwrap();
        let (right, refused) = read_all(&mount);
        assert!(refused > 0, "{percent} %");
        assert_eq!(right > 0, percent > 0, "{percent} %");
        // It is all there again.
        file.write_all_at(whole, 0).unwrap();
        assert_eq!(read_all(&mount).1, 0, "{percent} %");
    }
}

#[test]
fn a_deleted_archive_is_read_on() {
    if !can_mount() {
        return;
    }
    let mount = mount();
    fs::remove_file(&mount.place.archive).unwrap();
    assert_eq!(read_all(&mount).1, 0);
}

#[test]
fn a_replaced_archive_is_not_taken_for_the_mounted_one() {
    if !can_mount() {
        return;
    }
    let mount = mount();
    let other = mount.place.dir().join("other");
    fs::write(&other, vec![0x55; ARCHIVE.len()]).unwrap();
    fs::rename(&other, &mount.place.archive).unwrap();
    assert_eq!(read_all(&mount).1, 0);
}

#[test]
fn chunks_that_are_overwritten_are_errors() {
    if !can_mount() {
        return;
    }
    let mount = mount();
    let whole = &*ARCHIVE;
    let file = File::options()
        .write(true)
        .open(&mount.place.archive)
        .unwrap();
    // Behind the stored file, where checks would not notice.
    let from = whole.len() - whole.len() / 3;
    file.write_all_at(&vec![0x55; whole.len() - from], from as u64)
        .unwrap();
    let (right, refused) = read_all(&mount);
    assert!(right > 0 && refused > 0);
}

#[test]
fn an_archive_may_shrink_in_the_middle_of_reads() {
    if !can_mount() {
        return;
    }
    let mount = mount();
    // Truncated in the middle of reads from several threads.
    let file = File::options()
        .write(true)
        .open(&mount.place.archive)
        .unwrap();
    let half = ARCHIVE.len() as u64 / 2;
    std::thread::scope(|scope| {
        let readers = Vec::from_iter((0..3).map(|_| scope.spawn(|| read_all(&mount))));
        file.set_len(half).unwrap();
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert!(read_all(&mount).0 > 0);
}
