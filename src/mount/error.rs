//! Errors of operations on the mount, and their only mapping to errno.

use crate::requester::Outcome;
use hpimount_containers::changes::{self, Notice};
use hpimount_containers::io;

/// Failure of an operation on an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No entry of this name, or no inode of this number.
    #[error("no such file or directory")]
    NotFound,
    /// A directory operation on something else.
    #[error("not a directory")]
    NotADirectory,
    /// A file operation on a directory.
    #[error("is a directory")]
    IsADirectory,
    /// `readlink` on something that is not a symbolic link.
    #[error("not a symbolic link")]
    NotALink,
    /// No extended attribute of this name.
    #[error("no such attribute")]
    NoAttribute,
    /// Extended attributes of this namespace are not supported.
    #[error("attributes of this kind are not supported")]
    AttributeKind,
    /// The file is encrypted.
    #[error("permission denied")]
    Encrypted,
    /// The file is packed or laid out in an unsupported way; the log has the
    /// details.
    #[error("operation not supported")]
    Unsupported,
    /// The archive is damaged or could not be read; the log has the cause.
    #[error("input/output error")]
    Io,
    /// The memory budget is exhausted; the log has the details.
    #[error("out of memory")]
    NoMemory,
    /// The process that waited for the answer was killed.
    #[error("interrupted")]
    Interrupted,
    /// It was generated from a file that has changed, or its number was dropped since the
    /// kernel had forgotten it.
    #[error("stale file handle")]
    Stale,
}

/// Result of an operation on an inode.
pub type Result<T> = std::result::Result<T, Error>;

impl From<&io::Error> for Error {
    fn from(error: &io::Error) -> Self {
        match error {
            killed if killed.is_killed() => Self::Interrupted,
            io::Error::NoMemory { .. } => Self::NoMemory,
            io::Error::Changed => Self::Stale,
            io::Error::Encrypted(_) => Self::Encrypted,
            io::Error::Unsupported(_) => Self::Unsupported,
            _ => Self::Io,
        }
    }
}

impl Outcome for Error {
    fn killed() -> Self {
        Self::Interrupted
    }

    fn is_killed(&self) -> bool {
        *self == Self::Interrupted
    }
}

/// Failure to mount a source.
#[derive(Debug, thiserror::Error)]
#[error("{source_name}: {cause}")]
pub struct OpenError {
    /// The source, as users refer to it.
    pub source_name: String,
    /// The cause.
    pub cause: OpenCause,
}

/// Cause of a failure to open a source.
#[derive(Debug, thiserror::Error)]
pub enum OpenCause {
    /// It cannot be opened.
    #[error("cannot be opened: {0}")]
    Unreadable(std::io::Error),
    /// It is a folder for `--game` without an archive of any game.
    #[error("contains no archives of a game")]
    NoArchives,
    /// Changes cannot be applied to it.
    #[error("{}", changes::listed(.0))]
    Refused(Vec<Notice>),
    /// It is not an archive, is damaged, or has an unsupported format.
    #[error("{0}")]
    Volume(#[from] io::Error),
}

impl OpenError {
    /// Creates an error about a source.
    pub(super) fn new(source_name: impl Into<String>, cause: impl Into<OpenCause>) -> Self {
        Self {
            source_name: source_name.into(),
            cause: cause.into(),
        }
    }
}
