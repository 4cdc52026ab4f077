//! Systems without limits of processes: thumbnails are drawn by the first one.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Time after which a contact sheet is returned without further pictures.
pub(in crate::app) const ENOUGH: Duration = Duration::from_secs(6);

/// Returns whether this process draws: it does.
pub(in crate::app) fn is_worker() -> bool {
    true
}

/// Is not called.
///
/// # Errors
/// Always fails.
pub(in crate::app) fn run_worker() -> io::Result<Option<ExitStatus>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Has no effect.
///
/// # Errors
/// Never fails.
pub(in crate::app) fn limit_worker() -> io::Result<()> {
    Ok(())
}
