//! Writing patches: [`xdelta`], [`bps`], [`ppf`] and [`ips`].
//!
//! All writers take [`Extents`], do not search for equal bytes, and are deterministic.
//! New bytes are compared with the original only at the same place. Output is
//! sequential; after an error, it is incomplete and must be deleted.

use std::io::Write;

use hpimount_containers::io::ReadAt;

use crate::Extents;
use crate::error::Result;
pub use crate::vcdiff::write::VcdiffOptions;

/// Writes a VCDIFF patch (`.xdelta`), which xdelta3 applies with default options: windows
/// of at most 8 MiB that copy from at most 64 MiB of the original, without compression.
///
/// # Errors
/// Returns [`Error::Unchanged`](crate::Error::Unchanged) if the result is the original,
/// [`Error::Output`](crate::Error::Output) if `out` fails, or an error if a source cannot
/// be read.
pub fn xdelta(
    extents: &Extents,
    original: &dyn ReadAt,
    options: VcdiffOptions<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    crate::vcdiff::write::write(extents, original, options, out)
}

/// Writes a BPS patch. Its checksums require reading the whole original once.
///
/// # Errors
/// Returns the errors of [`xdelta`].
pub fn bps(extents: &Extents, original: &dyn ReadAt, out: &mut dyn Write) -> Result<()> {
    crate::bps::write::write(extents, original, out)
}

/// Writes a PPF 3 patch with a block check, if the original is long enough, and without
/// undo data.
///
/// # Errors
/// Returns the errors of [`xdelta`], and [`Error::Limit`](crate::Error::Limit) if the
/// result is shorter than the original, or if more than 64 MiB have moved.
pub fn ppf(extents: &Extents, original: &dyn ReadAt, out: &mut dyn Write) -> Result<()> {
    crate::ppf::write::write(extents, original, out)
}

/// Writes an IPS patch.
///
/// # Errors
/// Returns the errors of [`xdelta`], and [`Error::Limit`](crate::Error::Limit) if the
/// result is longer than 16 MiB, or is cut to exactly that.
pub fn ips(extents: &Extents, original: &dyn ReadAt, out: &mut dyn Write) -> Result<()> {
    crate::ips::write::write(extents, original, out)
}
