//! What the writers of archives share: the tree of files to be packed, and why an
//! archive cannot be written.

use std::io;
use std::path::PathBuf;

/// A directory to be written. The order of its entries does not matter.
#[derive(Debug, Default, Clone)]
pub struct Directory {
    /// Names and their contents.
    pub entries: Vec<(String, Node)>,
}

/// The contents of an entry.
#[derive(Debug, Clone)]
pub enum Node {
    /// A directory.
    Directory(Directory),
    /// A file.
    File(File),
}

/// A file to be written.
#[derive(Debug, Clone)]
pub struct File {
    /// The source of its data.
    pub source: Source,
    /// Modification time, in seconds since 1970 UTC. Not stored in version 1.
    pub modified: u32,
}

/// The source of a file's data.
#[derive(Debug, Clone)]
pub enum Source {
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// A file on disk, which is opened when it is packed.
    Path(PathBuf),
}

/// Why an archive could not be written. Paths are those inside the archive.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that cannot be stored in an archive.
    #[error("{path}: {problem}")]
    Name {
        /// The path that ends in the name.
        path: String,
        /// The problem.
        problem: &'static str,
    },
    /// Two names that are equal to the games.
    #[error("{first} and {second} are the same name to the game, which would see only one of them")]
    Ambiguous {
        /// The path that ends in the first name.
        first: String,
        /// The path that ends in the second name.
        second: String,
    },
    /// Directories are nested too deep.
    #[error(
        "{path}: is nested more than {} directories deep",
        crate::volume::MAX_DEPTH
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
    /// The archive would reach 4 GiB.
    #[error("the archive would be larger than 4 GiB, the most that the format can address")]
    ArchiveTooLarge,
    /// A HIP archive would reach 2 GiB.
    #[error("the archive would be larger than 2 GiB, the most that the games can address")]
    TooLargeForGames,
    /// A file could not be read.
    #[error("{}: {cause}", file.display())]
    Source {
        /// The file on disk.
        file: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The archive whose files are replaced cannot be read, or its layout does
    /// not permit the change.
    #[error("{}: {problem}", archive.display())]
    Original {
        /// The archive on disk.
        archive: PathBuf,
        /// The problem.
        problem: String,
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
