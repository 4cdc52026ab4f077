//! `hpi cat`: the bytes of files, in order.

use std::io::Write;

use super::path::find;
use super::{Contents, Error};
use crate::mount::{self, FileKind, Vfs};

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
    for piece in Contents(vfs).pieces_once(attr.ino) {
        let bytes = piece.map_err(|trouble| Error::path(path, trouble))?;
        out.write_all(&bytes).map_err(Error::Output)?;
    }
    out.flush().map_err(Error::Output)
}
