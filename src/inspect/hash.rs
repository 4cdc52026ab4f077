//! Checksums of files as the mount shows them.

use sha2::{Digest, Sha256};

use super::{Contents, Trouble};
use crate::mount::{Ino, Vfs};

/// Returns the SHA-256 of the bytes of a file.
///
/// # Errors
/// Returns an error if the file cannot be read to its end.
pub(super) fn sha256(vfs: &Vfs, ino: Ino) -> Result<[u8; 32], Trouble> {
    let mut hash = Sha256::new();
    for piece in Contents(vfs).pieces(ino) {
        hash.update(&*piece?);
    }
    Ok(hash.finalize().into())
}
