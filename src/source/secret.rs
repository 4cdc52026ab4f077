//! Files with what must not be on the command line: URLs with signatures, and
//! headers of requests.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum length of a file with a secret, in bytes.
const MAX_LENGTH: u64 = 64 << 10;

/// Returns the first line of a file that contains a secret, without surrounding
/// white space.
///
/// # Errors
/// Returns a message if it cannot be read.
pub(super) fn secret_line(file: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(MAX_LENGTH).read_to_string(&mut text));
    read.map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}
