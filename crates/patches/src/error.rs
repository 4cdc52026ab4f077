//! The error of patches: a damaged patch, a wrong original, a limit of a format.

use std::fmt;
use std::sync::Arc;

use hpimount_containers::io;

use crate::format::Format;

/// The reason why a patch could not be read, applied or written.
///
/// The messages are meant to follow the name of the patch.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The patch is damaged, of an unsupported kind, or a source cannot be read.
    #[error(transparent)]
    Source(#[from] io::Error),
    /// The file differs from the original of the patch.
    #[error("{0}")]
    WrongOriginal(Mismatch),
    /// The format cannot express the changes.
    #[error("{format} {problem}")]
    Limit {
        /// The format with the limit.
        format: Format,
        /// The limit, and what exceeds it.
        problem: String,
    },
    /// A Riivolution XML belongs to another game than the disc with this ID.
    #[error("is for another game, not {0}")]
    OtherGame(String),
    /// The result equals the original, so there is no patch to write.
    #[error("nothing has changed")]
    Unchanged,
    /// The patch could not be written.
    #[error("cannot be written: {0}")]
    Output(Arc<std::io::Error>),
}

/// Result with the [`Error`] of patches.
pub type Result<T> = std::result::Result<T, Error>;

/// The difference between a file and the original of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// The size or the checksum differs.
    File {
        /// The original, as the patch records it.
        expected: Sums,
        /// The file that was given.
        found: Sums,
    },
    /// The file is already patched.
    Patched(Sums),
    /// The patch reads beyond the end of the original.
    TooShort {
        /// End of the range to read, in bytes.
        needed: u64,
        /// Size of the given file in bytes.
        found: u64,
    },
    /// The bytes at this offset differ from the block check of PPF.
    Block(u64),
    /// The Adler-32 of a window of VCDIFF differs.
    Window {
        /// Offset of the window in the result, in bytes.
        offset: u64,
        /// The checksum that the patch records.
        expected: u32,
        /// The checksum of the patched file.
        found: u32,
    },
    /// The original has the right checksum, but the result does not.
    Result {
        /// The result, as the patch records it.
        expected: Sums,
        /// The CRC-32 of the patched file.
        found: u32,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of("this file"))
    }
}

impl Mismatch {
    /// Returns the message with the name of the file.
    pub fn of(&self, name: &str) -> String {
        match self {
            Self::File { expected, found } => {
                format!("made for a file of {expected}; {name} has {found}")
            }
            Self::Patched(sums) => {
                format!("{name} is the result of this patch already, {sums}")
            }
            Self::TooShort { needed, found } => {
                format!("reads the original up to byte {needed}; {name} has {found}")
            }
            Self::Block(offset) => {
                format!("the 1024 bytes of {name} at {offset:#x} are not those of the original")
            }
            Self::Window {
                offset,
                expected,
                found,
            } => format!(
                "window at {offset:#x}: Adler-32 is {found:08x}, expected {expected:08x}: \
                 {name} is not the original of the patch"
            ),
            Self::Result { expected, found } => {
                format!("made for a result of {expected}; that of {name} has CRC-32 {found:08x}")
            }
        }
    }
}

/// The size of a file and, if known, its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums {
    /// Size in bytes.
    pub size: u64,
    /// CRC-32, as in zip files.
    pub crc32: Option<u32>,
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.size)?;
        match self.crc32 {
            Some(sum) => write!(f, " with CRC-32 {sum:08x}"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// Returns the message with the name of the given original.
    pub fn of(&self, original: &str) -> String {
        match self {
            Self::WrongOriginal(mismatch) => mismatch.of(original),
            other => other.to_string(),
        }
    }

    /// Returns whether the cause is outside of the patch and the original: a read
    /// error, or lack of memory.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Source(error) => error.is_fault(),
            Self::Output(_) => true,
            _ => false,
        }
    }

    /// Creates an [`Error::Limit`].
    pub(crate) fn limit(format: Format, problem: impl Into<String>) -> Self {
        Self::Limit {
            format,
            problem: problem.into(),
        }
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        Self::WrongOriginal(mismatch)
    }
}

/// Converts to an error of reading the patched file.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        Self::other(match error {
            Error::Source(error) => error,
            other => io::Error::Unsupported(other.to_string()),
        })
    }
}

/// Compares the size of a file, and its CRC-32 if computed, with the values in a patch.
pub(crate) fn check_same(expected: Sums, size: u64, crc32: Option<u32>) -> Result<()> {
    let found = Sums { size, crc32 };
    let is_same = expected.size == size && (crc32.is_none() || crc32 == expected.crc32);
    match is_same {
        true => Ok(()),
        false => Err(Mismatch::File { expected, found }.into()),
    }
}
