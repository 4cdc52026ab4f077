//! The list of container formats, and detection of a source's format.

use std::sync::OnceLock;

use crate::format::{Format, Input, Pair};
use crate::io::{Error, Result};
use crate::{
    compressed, gcm, hip, hpi, img, inno, iso, pkr, pre, refused, seven_zip, sheet, tar, udf, wad,
    xdvdfs, zip,
};

/// The formats of this crate. Detection tries them in this order.
const FORMATS: &[Format] = &[
    // Its directory, in another file, tells more than its first bytes, where an archive
    // may begin.
    img::FORMAT,
    hpi::FORMAT,
    hip::FORMAT,
    pkr::FORMAT,
    // Before zip and 7z, whose archives may be files of the installer.
    inno::FORMAT,
    zip::FORMAT,
    seven_zip::FORMAT,
    tar::FORMAT,
    compressed::GZIP_FORMAT,
    compressed::BZIP2_FORMAT,
    compressed::XZ_FORMAT,
    compressed::ZSTANDARD_FORMAT,
    pre::PACKED_FORMAT,
    gcm::FORMAT,
    // Before the file systems: a description says more than an image.
    sheet::CCD,
    sheet::MDS,
    sheet::GDI,
    // Before ISO 9660: an Xbox disc may start with a file system for DVD
    // players.
    xdvdfs::FORMAT,
    // Before ISO 9660: a disc may have both.
    udf::FORMAT,
    iso::FORMAT,
    sheet::CUE,
    // These are detected by a second file or by scanning the whole source.
    wad::FORMAT,
    pre::FLAT_FORMAT,
    refused::FORMAT,
    // It is detected by the end of the source, which may be a file of another
    // archive.
    zip::PREFIXED,
];

/// Formats of the program that uses this crate.
static ADDED: OnceLock<&[Format]> = OnceLock::new();

/// Adds formats, which detection tries before the formats of this crate. This
/// works once, and only before [`all`] or [`detect`] is called.
///
/// # Errors
/// Returns `formats` if others were added or a format was looked up before.
pub fn add(formats: &'static [Format]) -> std::result::Result<(), &'static [Format]> {
    ADDED.set(formats)
}

/// Returns all formats. Detection tries them in this order.
pub fn all() -> impl Iterator<Item = &'static Format> {
    ADDED.get_or_init(|| &[]).iter().chain(FORMATS)
}

/// Returns the pairs of extensions of the formats that can be changed.
pub fn changed_pairs() -> impl Iterator<Item = Pair> {
    let changed = all().filter(|format| format.change.is_some());
    changed.filter_map(|format| format.pair)
}

/// Returns whether files of this name are archives: whether they have an extension of
/// a format.
pub fn is_archive(name: &str) -> bool {
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let mut known = all().flat_map(|format| format.extensions);
    known.any(|known| known.eq_ignore_ascii_case(extension))
}

/// Detects the format of a source from its content.
///
/// # Errors
/// Returns [`Error::UnknownFormat`] if no format matches, or [`Error::Read`] if
/// the source, or a part of it that detection needs, cannot be read.
pub fn detect(input: &Input<'_>) -> Result<&'static Format> {
    let mut unreadable = None;
    for format in all() {
        match (format.matches)(input) {
            Ok(true) => return Ok(format),
            Err(error) if error.is_fault() => return Err(error),
            // A part of the source is unreadable; another format may still
            // match.
            Err(error @ Error::Read { .. }) => unreadable = unreadable.or(Some(error)),
            // A source that contradicts a format has another one.
            Ok(false) | Err(_) => {}
        }
    }
    Err(unreadable.unwrap_or(Error::UnknownFormat))
}
