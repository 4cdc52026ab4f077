//! Writing archives, as `hpipack` and the tests do.
//!
//! What goes in is a tree of names and of places to get bytes from; what
//! comes out is written as it is made, so that neither a file nor an archive
//! is ever in memory as a whole. Directories stand in front of what they
//! point to, so the output must be able to seek back.
//!
//! Unlike the rest of the floor this uses threads: chunks are packed on all
//! cores. The output is the same whatever their number.

mod block;
mod output;
mod pack;
mod pipeline;
mod tree;
pub mod v1;
pub mod v2;

use std::io;
use std::path::PathBuf;

pub use tree::{Directory, File, Node, Source};

/// Why an archive could not be written. Paths are those inside the archive.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that an archive cannot hold.
    #[error("{path}: {problem}")]
    Name {
        /// The path that ends in the name.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two names that are the same to the games.
    #[error("{first} and {second} are the same name to the game, which would see only one of them")]
    Ambiguous {
        /// The path that ends in the one name.
        first: String,
        /// The path that ends in the other name.
        second: String,
    },
    /// Directories stand too deep inside each other.
    #[error(
        "{path}: lies more than {} directories deep",
        crate::archive::MAX_DEPTH
    )]
    TooDeep {
        /// The first path that is too deep.
        path: String,
    },
    /// A file of 4 GiB or more.
    #[error("{path}: its {size} bytes are more than an archive can hold (4 GiB)")]
    FileTooLarge {
        /// The file.
        path: String,
        /// Its size in bytes.
        size: u64,
    },
    /// The archive grows to 4 GiB.
    #[error("the archive would be larger than 4 GiB, the most that the format can address")]
    ArchiveTooLarge,
    /// A file could not be read.
    #[error("{}: {cause}", file.display())]
    Source {
        /// The file on disk.
        file: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// A file grew or shrank while it was read.
    #[error("{}: its length changed while it was being read", file.display())]
    Changed {
        /// The file on disk.
        file: PathBuf,
    },
    /// The archive could not be written.
    #[error("cannot write the archive: {0}")]
    Output(#[source] io::Error),
}

/// Result with the writer's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A length or an offset as the format stores it.
fn number(value: impl TryInto<u32>) -> Result<u32> {
    value.try_into().map_err(|_| Error::ArchiveTooLarge)
}
