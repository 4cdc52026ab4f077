//! The palette chosen by the user, read before the process is confined.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::Failure;
use crate::mount::ChosenPalette;
use hpimount_total_annihilation::pal::palette_file;

/// Reads the palette in a file.
///
/// # Errors
/// Returns [`Failure::Usage`] with the name of the file if it cannot be read or
/// is not a palette.
pub(super) fn read(path: &Path) -> Result<Arc<ChosenPalette>, Failure> {
    let failure = |problem: &dyn std::fmt::Display| {
        Failure::Usage(format!("-o palette={}: {problem}", path.display()))
    };
    let bytes = bytes(path).map_err(|error| failure(&error))?;
    let palette = palette_file::parse(&bytes.into()).map_err(|error| failure(&error))?;
    Ok(Arc::new(ChosenPalette {
        colors: palette.0,
        file: path.display().to_string(),
    }))
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(palette_file::MAX_SIZE + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > palette_file::MAX_SIZE {
        return Err(io::Error::other("is too large for a palette"));
    }
    Ok(bytes)
}
