//! Thumbnails for file managers.
//!
//! A file outside a mount is opened in this process, without FUSE, with the files
//! that it consists of, such as the tracks of a cue sheet. The picture is that of
//! the asset; for an archive it is a contact sheet. For a
//! file on a mount of `hpimount`, the mount gives the picture, in an extended
//! attribute: file managers run this program where only the file itself can be
//! opened.

mod tree;

use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::daemon::limits;
use super::{Confinement, Failure};
use crate::mount::{MAX_PREVIEW, OpenError, Options, PREVIEW, Prepared, Sources, Vfs};
use crate::platform::{attribute, canonical};
use hpimount_assets::model::{MAX_PIXELS, Picture, png, reduced};

/// Memory budget. The largest models that are shown need most of it.
const MEMORY: usize = 192 << 20;

/// The reason for a missing picture, with the message for the user.
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

/// Writes a PNG file to `output` that shows the file at `input`, at most `size` pixels wide
/// and high, in a second process with limits.
///
/// # Errors
/// Returns an error if there is no picture, or it cannot be written.
pub fn draw(input: &Path, output: &Path, size: u32) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn Display| Failure::NoThumbnail(error.to_string());
    let cannot = |what: &'static str| move |error| Failure::Other(what, error);
    if limits::is_worker() {
        limits::limit_worker().map_err(cannot("cannot set limits"))?;
        let deadline = Instant::now() + limits::ENOUGH;
        let png = png_of(input, size, deadline).map_err(|error| failed(&error))?;
        let path = output.display();
        fs::write(output, png).map_err(|error| failed(&format!("{path}: {error}")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let ended = limits::run_worker().map_err(cannot("cannot be started"))?;
    let name = input.display();
    let ended = ended.ok_or_else(|| failed(&format!("{name}: timed out")))?;
    match ended.code().map(u8::try_from) {
        Some(Ok(code)) => Ok(ExitCode::from(code)),
        // Killed by one of its limits.
        _ => Err(failed(&format!("{name}: stopped: {ended}"))),
    }
}

/// Returns a PNG file that shows the file at `input`, at most `size` pixels
/// wide and high, rendered in a thread that may read nothing else. Pictures
/// that are not finished at `deadline` are omitted from a contact sheet.
///
/// # Errors
/// Returns an error if there is no picture.
pub fn png_of(input: &Path, size: u32, deadline: Instant) -> Result<Vec<u8>, Error> {
    let os = |error| Error::Os(input.display().to_string(), error);
    // Resolved here, because a confined thread cannot follow links.
    let input = canonical(input).map_err(os)?;
    let preview = preview_of(&input);
    let folder = input.parent().map(Path::to_owned);
    let prepared = Confinement::to(folder.as_slice())
        .run(|| prepared(&input))
        .map_err(os)??;
    let paths = prepared.paths();
    let work = || {
        let given = preview.and_then(|png| png::read(&png, MAX_PIXELS).ok());
        let picture: Picture = match given {
            Some(picture) => picture,
            None => {
                let vfs = Vfs::open_prepared(prepared, options())?;
                let name = input.file_name().unwrap_or_default().to_string_lossy();
                tree::picture(&vfs, &name, deadline)
                    .ok_or_else(|| Error::Nothing(input.display().to_string()))?
            }
        };
        let mut bytes = Vec::new();
        png::write(&reduced(picture, size), &mut bytes).map_err(os)?;
        Ok(bytes)
    };
    Confinement::to(&paths).run(work).map_err(os).flatten()
}

/// Returns the PNG file that a mount gives for a file on it.
fn preview_of(input: &Path) -> Option<Vec<u8>> {
    let mut value = vec![0; MAX_PREVIEW];
    let length = attribute(input, PREVIEW, &mut value)?;
    value.truncate(length);
    Some(value)
}

/// Finds the files in its folder that a file consists of.
fn prepared(input: &Path) -> Result<Prepared, OpenError> {
    Sources::one(input).prepare()
}

fn options() -> Options {
    Options {
        cache_size: MEMORY,
        spool_size: 0,
        ..Options::default()
    }
}
