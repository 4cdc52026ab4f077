//! New assets: kept on disk or in memory until they are written or read.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;

use crate::content::{Spool, Spooled};
use crate::memory::budget::{Budget, Charge};
use crate::mount::Ino;
use hpimount_containers::changes::NewFile;
use hpimount_containers::io::{self, ReadAt};

/// Returns an asset with its new contents, which were made from `edited`, and are kept in
/// `spool` or else in memory.
pub(super) fn new_asset(
    asset: Ino,
    bytes: Bytes,
    edited: Vec<NewFile>,
    (spool, budget): (&Spool, &Arc<Budget>),
) -> io::Result<Option<(Ino, NewFile)>> {
    let Some(first) = edited.first() else {
        return Ok(None);
    };
    let path = first.path().to_owned();
    let encoded = Encoded {
        stored: Stored::new(bytes, spool, budget)?,
        edited,
    };
    Ok(Some((asset, NewFile::new(path, Arc::new(encoded)))))
}

/// A new asset.
struct Encoded {
    stored: Stored,
    /// The files that it was made from.
    edited: Vec<NewFile>,
}

/// The bytes of a new asset.
enum Stored {
    /// On disk.
    Spooled(Arc<Spooled>),
    /// In memory, because there is no room on disk.
    Kept { bytes: Bytes, _charge: Charge },
}

impl Stored {
    fn new(bytes: Bytes, spool: &Spool, budget: &Arc<Budget>) -> io::Result<Self> {
        let mut writer = spool.writer();
        match writer.write_all(&bytes).and_then(|()| writer.finish()) {
            Ok(spooled) => Ok(Self::Spooled(spooled)),
            Err(_) => Ok(Self::Kept {
                _charge: budget.charge("edited assets", bytes.len())?,
                bytes,
            }),
        }
    }
}

impl Encoded {
    /// Fails if one of the files that it was made from is not the same any more:
    /// reading a byte of a file of the folder compares its identity.
    fn check_edited(&self) -> std::io::Result<()> {
        let edited = self.edited.iter().filter(|file| !file.is_empty());
        for file in edited {
            file.read_exact_at(&mut [0], 0)?;
        }
        Ok(())
    }
}

impl ReadAt for Encoded {
    fn len(&self) -> u64 {
        match &self.stored {
            Stored::Spooled(spooled) => spooled.len(),
            Stored::Kept { bytes, .. } => bytes.len() as u64,
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        self.check_edited()?;
        match &self.stored {
            Stored::Spooled(spooled) => spooled.read_exact_at(buf, offset),
            Stored::Kept { bytes, .. } => {
                buf.copy_from_slice(&bytes[offset as usize..][..buf.len()]);
                Ok(())
            }
        }
    }
}
