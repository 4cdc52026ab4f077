//! An archive with a file of many blocks on a server, and reads of it.

use std::io;
use std::ops::Range;

use hpimount_containers::hpi::chunk::Method;

use super::mounted;
use super::origin::{Object, Origin, Request};
use crate::support::files::{open_direct, read_at};
use crate::support::hpi::{File, V1, dir, file};
use crate::support::mount::{Mount, eventually};
use crate::support::noise;

/// Length of a block.
pub const BLOCK: u64 = 128 << 10;

/// A stored file of the archive, and its length.
pub const BIG: &str = "data/big.bin";
pub const LENGTH: usize = 6 << 20;

/// Returns an archive of many blocks, with a file that is long enough for
/// read-ahead.
pub fn archive() -> Vec<u8> {
    let big = File::new(noise(1, LENGTH), Method::Stored);
    let small = File::new("hello\n", Method::Stored);
    let data = vec![file(b"big.bin", big)];
    V1::new(vec![dir(b"data", data), file(b"hello.txt", small)])
        .build()
        .bytes
}

/// Returns a server with the archive.
pub fn origin() -> Origin {
    Origin::with("mods/big.hpi", Object::new(archive(), "one"))
}

/// Returns a server, and a mount of its archive that has read nothing of the
/// file.
pub fn served(options: &str) -> Option<(Origin, Mount)> {
    let origin = origin();
    let mount = mounted(&origin.url("mods/big.hpi"), options)?;
    Some((origin, mount))
}

/// Reads without the kernel's cache.
pub fn read(mount: &Mount, offset: usize, length: usize) -> io::Result<Vec<u8>> {
    read_at(&open_direct(&mount.file(BIG)), offset as u64, length)
}

/// Asserts that a read at `offset` returns the right bytes.
pub fn assert_right(mount: &Mount, offset: usize) {
    let expected = &noise(1, LENGTH)[offset..offset + 4096];
    assert!(read(mount, offset, 4096).unwrap() == expected, "{offset}");
}

/// Asserts that a read at `offset` fails with EIO.
pub fn assert_eio(mount: &Mount, offset: usize) {
    let error = read(mount, offset, 4096).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EIO), "{offset}");
}

/// Waits until a read succeeds: after an error, reads fail at once for a
/// second.
pub fn assert_recovers(mount: &Mount, offset: usize) {
    eventually("the read succeeds", || read(mount, offset, 4096).is_ok());
    assert_right(mount, offset);
}

/// Returns the ranges that were requested.
pub fn ranges(requests: &[Request]) -> Vec<Range<u64>> {
    let ranges = requests.iter().map(|request| request.range.clone());
    ranges.map(|range| range.expect("has a range")).collect()
}
