//! The error of the parsing layers: cause, field and offset.

use std::borrow::Cow;
use std::sync::Arc;

/// An error of reading or decoding a source.
///
/// The messages are meant to follow the name of the file: `armcom.fbi: chunk 2
/// at 0x1f40: checksum is 00009a3c, should be 00009a3d`.
///
/// Errors are cheap to clone, because several readers may wait for the same
/// chunk and all of them get its error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The operating system could not read the source.
    #[error("cannot read {length} bytes at {offset:#x}: {cause}")]
    Read {
        /// Absolute offset of the read in the source, in bytes.
        offset: u64,
        /// Length of the read in bytes.
        length: u64,
        /// The error of the operating system.
        cause: Arc<std::io::Error>,
    },
    /// The bytes contradict the format.
    #[error("{field} at {offset:#x}: {problem}")]
    Damaged {
        /// Absolute offset of the field in the source, in bytes.
        offset: u64,
        /// Name of the field, as the format's specification calls it.
        field: Cow<'static, str>,
        /// The problem.
        problem: String,
    },
    /// The format of the bytes is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The bytes are encrypted.
    #[error("{0}")]
    Encrypted(String),
    /// The bytes have no known format.
    #[error("is not an archive of a known format")]
    UnknownFormat,
    /// A file on disk could not be opened.
    #[error("cannot be opened: {0}")]
    Open(Arc<std::io::Error>),
    /// A directory on disk could not be listed.
    #[error("cannot be listed: {0}")]
    Listing(Arc<std::io::Error>),
    /// The memory budget is exhausted.
    #[error("{what} needs {needed} bytes of memory; the budget leaves {left}")]
    NoMemory {
        /// Name of the consumer.
        what: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that the budget has left.
        left: usize,
    },
    /// Generated data could not be written to its storage.
    #[error("cannot store generated data: {0}")]
    Output(Arc<std::io::Error>),
    /// The file was replaced or modified after something was derived from it.
    #[error("has changed since its directory was read")]
    Changed,
}

/// Result with the [`Error`] of the parsing layers.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Creates an [`Error::Damaged`] from its parts.
    pub fn damaged(
        offset: u64,
        field: impl Into<Cow<'static, str>>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Damaged {
            offset,
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// Creates an [`Error::Listing`] with its cause.
    pub fn listing(cause: std::io::Error) -> Self {
        Self::Listing(Arc::new(cause))
    }

    /// Creates an [`Error::NoMemory`] from its parts.
    pub fn no_memory(what: &'static str, needed: usize, left: usize) -> Self {
        Self::NoMemory { what, needed, left }
    }

    /// Returns the original error of a writer.
    pub fn of_output(error: &std::io::Error) -> Self {
        match wrapped(error) {
            Some(error) => error.clone(),
            None => Self::Output(Arc::new(std::io::Error::new(
                error.kind(),
                error.to_string(),
            ))),
        }
    }

    /// Names the field of an [`Error::Damaged`] more precisely: prepends
    /// `outer` to its name, as in `chunk 2: checksum`.
    pub fn within(self, outer: impl std::fmt::Display) -> Self {
        match self {
            Self::Damaged {
                offset,
                field,
                problem,
            } => Self::Damaged {
                offset,
                field: format!("{outer}: {field}").into(),
                problem,
            },
            other => other,
        }
    }

    /// Returns the original error of a [`std::io::Read`] over a source. This is
    /// the error of the source, or `damaged` with the message of the decoder.
    pub fn of_reader(error: &std::io::Error, damaged: impl FnOnce(String) -> Self) -> Self {
        match wrapped(error) {
            Some(error) => error.clone(),
            None => damaged(error.to_string()),
        }
    }

    /// Returns whether the cause is outside the bytes: the source could not be
    /// read, or there was no memory. It may be temporary, so nothing derived
    /// from it may be kept.
    pub fn is_fault(&self) -> bool {
        match self {
            // The source may be a file in an archive, with its own error.
            Self::Read { cause, .. } => wrapped(cause).is_none_or(Self::is_fault),
            Self::Open(_)
            | Self::Listing(_)
            | Self::NoMemory { .. }
            | Self::Output(_)
            | Self::Changed => true,
            _ => false,
        }
    }
}

/// Returns the value of a result, or `None` if it is an error in the bytes.
///
/// # Errors
/// Returns an error that is a [fault](Error::is_fault).
pub fn undamaged<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.is_fault() => Err(error),
        result => Ok(result.ok()),
    }
}

/// Returns the [`Error`] that a [`std::io::Error`] wraps.
fn wrapped(error: &std::io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cause: std::io::Error) -> Error {
        crate::io::read_error(7, 3, cause)
    }

    #[test]
    fn a_fault_is_distinguished_from_damage_in_nested_archives() {
        let fault = read(std::io::ErrorKind::PermissionDenied.into());
        let damage = Error::damaged(0, "chunk 0", "is damaged");
        assert!(fault.is_fault() && !damage.is_fault());
        let inside = |error: &Error| read(std::io::Error::other(error.clone()));
        assert!(inside(&inside(&fault)).is_fault());
        assert!(!inside(&inside(&damage)).is_fault());
    }

    #[test]
    fn a_reader_returns_the_error_of_its_source() {
        let of = |error: &std::io::Error| {
            Error::of_reader(error, |text| Error::damaged(1, "chunk 0", text)).to_string()
        };
        let fault = read(std::io::ErrorKind::TimedOut.into());
        let text = fault.to_string();
        assert_eq!(of(&std::io::Error::other(fault)), text);
        let damage = std::io::Error::other("too short");
        assert_eq!(of(&damage), "chunk 0 at 0x1: too short");
    }
}
