//! Copying data into an archive piece by piece.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{Error, Result};
use hpimount_containers::hip::CHECKSUM;

/// Number of bytes copied at a time.
pub(super) const PIECE: usize = 256 << 10;

/// Passes the bytes of a file of `size` bytes to `append`, and returns their
/// checksum in HIP archives. `progress` is called with the number of bytes that
/// were read.
///
/// # Errors
/// Returns an error if the file cannot be read or has another size, or `append`
/// fails.
pub(super) fn copy_file(
    path: &Path,
    size: u64,
    append: &mut dyn FnMut(&[u8]) -> Result<()>,
    progress: &mut dyn FnMut(u64),
) -> Result<u32> {
    let failed = |cause| Error::source(path, cause);
    let changed = || Error::source(path, "its length changed while it was being read");
    let mut file = File::open(path).map_err(failed)?;
    let mut digest = CHECKSUM.digest();
    let mut piece = vec![0; PIECE];
    let mut left = size;
    loop {
        let read = file.read(&mut piece).map_err(failed)?;
        if read == 0 {
            break;
        }
        left = left.checked_sub(read as u64).ok_or_else(changed)?;
        digest.update(&piece[..read]);
        append(&piece[..read])?;
        progress(read as u64);
    }
    match left {
        0 => Ok(digest.finalize()),
        _ => Err(changed()),
    }
}
