//! "Open with hpi" in Explorer.

use std::env;

use super::Failure;
use super::desktop::files::extensions;
use crate::platform;

/// The command that opens a file.
const OPEN: &str = "serve --open";

/// Offers this program for archives.
///
/// # Errors
/// Returns an error if the registry cannot be written.
pub fn register() -> Result<(), Failure> {
    let program = env::current_exe();
    let registered = program.and_then(|path| platform::register(&path, OPEN, &extensions()));
    registered.map_err(|error| Failure::Other("cannot be registered", error))
}

/// Takes that back.
///
/// # Errors
/// Returns an error if the registry cannot be written.
pub fn unregister() -> Result<(), Failure> {
    let done = platform::unregister(&extensions());
    done.map_err(|error| Failure::Other("cannot be taken back", error))
}
