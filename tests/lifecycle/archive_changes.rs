//! Changes of a mounted archive: reads return correct bytes or an error, and
//! the daemon keeps running.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use hpimount_containers::hpi::chunk::Method;

use fixtures::hpi::{File as Packed, V1, file};
use fixtures::noise;
use testkit::each_method::{self, FILES, contents, read_all};
use testkit::files::{open_direct, read_at};
use testkit::mount::namespace::{Namespace, USER};
use testkit::mount::{Fixture, Mount, TINY_CACHE, hpimount, run};
use testkit::mounted::stats;
use testkit::trial;

/// Returns a mount that nothing has been read from, with a minimal cache, and
/// the bytes of its archive.
fn mount() -> (Mount, Vec<u8>) {
    let fixture = Fixture::new();
    let archive = each_method::archive();
    fs::write(&fixture.archive, &archive).unwrap();
    (fixture.mount(&["-o", "cachesize=64K"]), archive)
}

/// Opens the mount's archive for writing.
fn writable(mount: &Mount) -> File {
    let mut options = File::options();
    options.write(true).open(&mount.fixture.archive).unwrap()
}

#[fuse_test]
fn the_missing_part_of_a_truncated_archive_is_an_error() {
    let percents = [0, 10, 40, 70, 99].repeat(trial::length(1, 20));
    for &percent in &percents {
        let (mount, whole) = mount();
        let file = writable(&mount);
        file.set_len((whole.len() * percent / 100) as u64).unwrap();
        let (right, refused) = read_all(&mount);
        assert!(refused > 0, "{percent} %");
        assert_eq!(right > 0, percent > 0, "{percent} %");
        // The archive is complete again.
        file.write_all_at(&whole, 0).unwrap();
        assert_eq!(read_all(&mount).1, 0, "{percent} %");
    }
    trial::record(
        "the archive truncated while mounted, then whole again",
        percents.len(),
        "EIO for the missing bytes, then every byte right",
    );
}

#[fuse_test]
fn a_deleted_archive_can_still_be_read() {
    let (mount, _) = mount();
    fs::remove_file(&mount.fixture.archive).unwrap();
    assert_eq!(read_all(&mount).1, 0);
}

#[fuse_test]
fn a_replaced_archive_is_not_taken_for_the_mounted_one() {
    let (mount, whole) = mount();
    let other = mount.fixture.dir().join("other");
    fs::write(&other, vec![0x55; whole.len()]).unwrap();
    fs::rename(&other, &mount.fixture.archive).unwrap();
    assert_eq!(read_all(&mount).1, 0);
}

#[fuse_test]
fn chunks_that_are_overwritten_are_errors() {
    let (mount, whole) = mount();
    // After the stored file, where damage is not detected.
    let from = whole.len() - whole.len() / 3;
    writable(&mount)
        .write_all_at(&vec![0x55; whole.len() - from], from as u64)
        .unwrap();
    let (right, refused) = read_all(&mount);
    assert!(right > 0 && refused > 0);
}

#[fuse_test]
fn an_archive_may_shrink_during_reads() {
    let (mount, whole) = mount();
    let file = writable(&mount);
    let half = whole.len() as u64 / 2;
    std::thread::scope(|scope| {
        let readers = Vec::from_iter((0..3).map(|_| scope.spawn(|| read_all(&mount))));
        file.set_len(half).unwrap();
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert!(read_all(&mount).0 > 0);
}

#[fuse_test]
fn an_archive_may_grow() {
    let (mount, whole) = mount();
    let more = vec![0x55; 100_000];
    writable(&mount)
        .write_all_at(&more, whole.len() as u64)
        .unwrap();
    assert_eq!(read_all(&mount).1, 0);
}

/// More archives than are kept open.
const OTHERS: usize = 33;

/// Options: each archive in its own directory, and nothing is cached.
const UNCACHED: [&str; 3] = ["--separate", "-o", "cachesize=0,noprefetch"];

/// Returns the contents of a file that is too long to be read from a cached block of
/// the source.
fn long() -> Vec<u8> {
    noise(9, 10_000)
}

/// Writes an archive and others into a folder, and returns their paths.
fn many(fixture: &Fixture) -> Vec<PathBuf> {
    let folder = fixture.dir().join("archives");
    fs::create_dir(&folder).unwrap();
    let mut paths = vec![folder.join("first.hpi")];
    fs::write(&paths[0], each_method::archive()).unwrap();
    for number in 0..OTHERS {
        let long = Packed::new(long(), Method::Stored);
        let archive = V1::new(vec![file(b"long.txt", long)]);
        let path = folder.join(format!("{number:02}.hpi"));
        fs::write(&path, archive.build().bytes).unwrap();
        paths.push(path);
    }
    paths
}

/// Returns the files of the others in the mount.
fn others(point: &Path) -> impl Iterator<Item = PathBuf> {
    (0..OTHERS).map(move |number| point.join(format!("{number:02}.hpi/long.txt")))
}

/// Returns whether the first archive can be read; then its bytes must be right.
fn can_read(mount: &Mount) -> bool {
    let stored = mount.file("first.hpi").join(FILES[0].0);
    match read_at(&open_direct(&stored), 0, 1 << 20) {
        Ok(bytes) => {
            assert!(bytes == contents(0));
            true
        }
        Err(error) => {
            assert_eq!(error.raw_os_error(), Some(libc::EIO));
            false
        }
    }
}

/// Reads all other archives, so that the first one is closed.
fn close_first(mount: &Mount) {
    for other in others(mount.path()) {
        assert!(read_at(&open_direct(&other), 0, 1 << 16).unwrap() == long());
    }
}

#[fuse_test]
fn an_archive_that_is_opened_again_is_the_same_one_or_an_error() {
    let fixture = Fixture::new();
    let paths = many(&fixture);
    let (first, folder) = (&paths[0], paths[0].parent().unwrap());
    let aside = folder.with_file_name("aside");
    let mut program = hpimount();
    program.args(&paths).arg(&fixture.point).args(UNCACHED);
    let mount = fixture.mount_by(program);
    let assert_refused = |why: &str| {
        assert!(!can_read(&mount), "{why}");
        let errors = stats(&mount)["last_errors"].clone();
        let last = errors.as_array().unwrap().last().unwrap().to_string();
        assert!(last.contains(why), "{last}");
    };

    let rounds = trial::length(1, 50);
    for _ in 0..rounds {
        close_first(&mount);
        fs::rename(folder, &aside).unwrap();
        assert_refused("No such file or directory");
        fs::rename(&aside, folder).unwrap();
        assert!(can_read(&mount));

        close_first(&mount);
        let length = fs::metadata(first).unwrap().len() as usize;
        fs::rename(first, &aside).unwrap();
        fs::write(first, vec![0x55; length]).unwrap();
        assert_refused("the file has been replaced");
        fs::rename(&aside, first).unwrap();
        assert!(can_read(&mount));
    }

    close_first(&mount);
    fs::remove_file(first).unwrap();
    assert_refused("No such file or directory");
    trial::record(
        "an archive that is not held open moved, replaced, and put back",
        rounds,
        "EIO, and no byte of the other file; then every byte right",
    );
}

#[fuse_test]
fn an_unreadable_archive_is_an_error_until_it_is_readable_again() {
    let namespace = Namespace::new();
    let paths = many(&namespace.fixture);
    let mut program = namespace.user(USER, &namespace.program);
    program
        .env(TINY_CACHE, "1")
        .args(&paths)
        .arg(&namespace.fixture.point)
        .args(UNCACHED);
    let _mount = namespace.mount_by(program);
    let read = |file: &Path| {
        let mut program = namespace.user(USER, "dd");
        program.arg(format!("if={}", file.display()));
        run(program.args(["of=/dev/null", "iflag=direct", "bs=4096"]))
    };
    let stored = namespace.fixture.point.join("first.hpi").join(FILES[0].0);
    for other in others(&namespace.fixture.point) {
        assert_eq!(read(&other).code, Some(0));
    }
    fs::set_permissions(&paths[0], Permissions::from_mode(0o000)).unwrap();
    let refused = read(&stored);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("Input/output error"), "{refused:?}");
    fs::set_permissions(&paths[0], Permissions::from_mode(0o644)).unwrap();
    assert_eq!(read(&stored).code, Some(0));
}
