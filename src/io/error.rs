//! The error of the parsing floors: what is wrong, in which field, at which byte.

use std::borrow::Cow;
use std::sync::Arc;

/// Why bytes of a source could not be turned into what they stand for.
///
/// The texts read well behind the name of the file that is concerned:
/// `armcom.fbi: chunk 2 at 0x1f40: checksum is 9a3c, should be 9a3d`.
///
/// Errors are cheap to clone, because several readers may wait for the same
/// chunk and all of them are told why it failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The operating system could not read the source.
    #[error("cannot read {length} bytes at {offset:#x}: {cause}")]
    Read {
        /// Absolute offset of the read in the source, in bytes.
        offset: u64,
        /// Length of the read in bytes.
        length: u64,
        /// What the operating system said.
        cause: Arc<std::io::Error>,
    },
    /// The bytes contradict the format.
    #[error("{field} at {offset:#x}: {problem}")]
    Damaged {
        /// Absolute offset of the field in the source, in bytes.
        offset: u64,
        /// Name of the field, as the format's specification calls it.
        field: Cow<'static, str>,
        /// What is wrong with it.
        problem: String,
    },
    /// The bytes are of a kind that is known and not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The bytes are of no known format.
    #[error("is not an archive of a known format")]
    UnknownFormat,
}

/// Result with the parsing floors' [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A [`Error::Damaged`] from its parts.
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

    /// Names the field of a [`Error::Damaged`] more precisely: `outer` stands
    /// before the name it has, as in `chunk 2: checksum`.
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
}
