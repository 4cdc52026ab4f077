//! Thumbnails for file managers.
//!
//! A file outside a mount is opened in this process, without FUSE, and the
//! picture is that in its `X.meta`; for an archive it is a contact sheet. For a
//! file on a mount of `hpimount`, the preview in the mount is used.

pub mod limits;
mod meta_directory;
mod tree;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use self::meta_directory::OnDisk;
use crate::app::Confinement;
use crate::mount::{OpenError, Options, Sources, Vfs};
use hpimount_assets::model::{png, reduced};

/// Maximum number of pictures on a contact sheet.
const MAX_PICTURES: usize = 16;

/// Memory budget.
const MEMORY: usize = 32 << 20;

/// Why there is no picture, with the message for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened, or has no known format.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It contains nothing that has a picture.
    #[error("{0}: has no thumbnail")]
    Nothing(String),
    /// An error of the operating system.
    #[error("{0}: {1}")]
    Os(String, std::io::Error),
}

/// Returns a PNG file that shows the file at `input`, at most `size` pixels
/// wide and high, rendered in a thread that may read only that file. Pictures
/// that are not finished at `deadline` are omitted from a contact sheet.
///
/// # Errors
/// Returns an error if there is no picture.
pub fn png_of(input: &Path, size: u32, deadline: Instant) -> Result<Vec<u8>, Error> {
    let os = |error| Error::Os(input.display().to_string(), error);
    // Resolved here, because a confined thread cannot follow links.
    let input = fs::canonicalize(input).map_err(os)?;
    let companion = OnDisk::of(&input);
    let mut readable = vec![input.clone()];
    readable.extend(companion.iter().map(|one| one.path().to_owned()));
    let work = || {
        let made = companion.as_ref().and_then(OnDisk::picture_of_asset);
        let picture = match made {
            Some(picture) => picture,
            None => {
                let vfs = open(&input)?;
                let name = input.file_name().unwrap_or_default().to_string_lossy();
                tree::picture(&vfs, &name, deadline)
                    .ok_or_else(|| Error::Nothing(input.display().to_string()))?
            }
        };
        let mut bytes = Vec::new();
        png::write(&reduced(picture, size), &mut bytes).map_err(os)?;
        Ok(bytes)
    };
    Confinement::to(&readable).run(work).map_err(os).flatten()
}

/// Opens a file by itself, without reading files beside it.
fn open(input: &Path) -> Result<Arc<Vfs>, OpenError> {
    let sources = Sources::Given {
        locations: vec![input.to_owned().into()],
        order: None,
        separate: false,
    };
    let options = Options {
        cache_size: MEMORY,
        spool_size: 0,
        ..Options::default()
    };
    Vfs::open(&sources, options)
}
