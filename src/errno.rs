//! The numbers that errors of requests have for the kernel.

use crate::mount::Error;

/// Returns the number of an error.
pub fn errno(error: Error) -> i32 {
    match error {
        Error::NotFound => libc::ENOENT,
        Error::NotADirectory => libc::ENOTDIR,
        Error::IsADirectory => libc::EISDIR,
        Error::NotALink => libc::EINVAL,
        #[cfg(target_os = "linux")]
        Error::NoAttribute => libc::ENODATA,
        #[cfg(not(target_os = "linux"))]
        Error::NoAttribute => libc::ENOATTR,
        Error::AttributeKind => libc::ENOTSUP,
        Error::Encrypted => libc::EACCES,
        Error::Unsupported => libc::EOPNOTSUPP,
        Error::Io => libc::EIO,
        Error::Interrupted => libc::EINTR,
        Error::NoMemory => libc::ENOMEM,
        Error::Stale => libc::ESTALE,
    }
}
