//! An archive with a file of each method, and reading them all.

use hpimount_containers::hpi::chunk::Method;

use crate::files::{open_direct, read_at};
use crate::mount::Mount;
use fixtures::hpi::{File as Packed, V1, dir, file};
use fixtures::noise;

/// The files of [`archive`] with their packing.
pub const FILES: [(&str, Method); 3] = [
    ("stored.bin", Method::Stored),
    ("zlib.bin", Method::Zlib),
    ("lz77.bin", Method::Lz77),
];

/// Another file, with the bytes `hello\n`.
pub const SMALL: &str = "dir/small.txt";

/// Three chunks and 100 bytes.
const SIZE: usize = 3 * 65_536 + 100;

/// Returns the bytes of one of [`FILES`].
pub fn contents(number: usize) -> Vec<u8> {
    noise(number as u64, SIZE)
}

/// Returns an archive with a file of each method.
pub fn archive() -> Vec<u8> {
    let mut entries = Vec::new();
    for (number, (name, method)) in FILES.iter().enumerate() {
        let packed = Packed::new(contents(number), *method);
        entries.push(file(name.as_bytes(), packed));
    }
    let small = file(b"small.txt", Packed::new("hello\n", Method::Zlib));
    entries.push(dir(b"dir", vec![small]));
    V1::new(entries).build().bytes
}

/// Reads all files without the kernel's cache, in pieces that are not aligned with the
/// archive. Returns the numbers of successful reads and of EIO errors.
///
/// # Panics
/// Panics if a read returns wrong bytes or another error.
pub fn read_all(mount: &Mount) -> (usize, usize) {
    let (mut right, mut refused) = (0, 0);
    for (number, (name, _)) in FILES.iter().enumerate() {
        let file = open_direct(&mount.file(name));
        for (index, piece) in contents(number).chunks(20_000).enumerate() {
            match read_at(&file, 20_000 * index as u64, piece.len()) {
                Ok(read) => {
                    assert!(read == piece, "{name}: piece {index} is wrong");
                    right += 1;
                }
                Err(error) => {
                    let errno = error.raw_os_error();
                    assert_eq!(errno, Some(libc::EIO), "{name}: piece {index}");
                    refused += 1;
                }
            }
        }
    }
    mount.daemon().assert_running();
    (right, refused)
}
