//! `--cat`: the bytes of files, in order.

use std::io::Write;

use super::path::find;
use super::{Contents, Error};
use crate::mount::{self, FileKind, Vfs};

/// Bytes that are read at a time: the unit of decoding.
const PIECE: u32 = crate::content::BLOCK_SIZE;

/// Writes the bytes of the file at a path to `out`, and stops at the first one
/// that cannot be read.
///
/// # Errors
/// Returns an error if there is no such file, or it cannot be read to its end.
pub fn cat(vfs: &Vfs, path: &str, out: &mut dyn Write) -> Result<(), Error> {
    let attr = find(vfs, path)?.attr;
    if attr.kind == FileKind::Directory {
        return Err(Error::path(path, mount::Error::IsADirectory));
    }
    let mut offset = 0;
    loop {
        let bytes = Contents(vfs)
            .read_explained(attr.ino, offset, PIECE)
            .map_err(|trouble| Error::path(path, trouble))?;
        if bytes.is_empty() {
            return out.flush().map_err(Error::Output);
        }
        out.write_all(&bytes).map_err(Error::Output)?;
        offset += bytes.len() as u64;
    }
}
