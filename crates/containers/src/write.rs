//! The common part of the writers of archives: the tree of files to be packed, and the
//! error of writing.

use std::fs::{self, File as DiskFile};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::io::ReadAt;
use crate::volume::MAX_DEPTH;

/// A directory to be written. The order of its entries does not matter.
#[derive(Debug, Default, Clone)]
pub struct Directory {
    /// Names and their contents.
    pub entries: Vec<(String, Node)>,
}

impl Directory {
    /// Lists the directory at `path`, and all below it. Symbolic links are followed.
    ///
    /// # Errors
    /// Returns an error if a directory cannot be listed, or a file is not there, if a
    /// name is not UTF-8, or if directories are nested too deep.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::below(path.as_ref(), 0)
    }

    fn below(path: &Path, depth: usize) -> Result<Self> {
        let shown = |path: &Path| path.display().to_string();
        if depth > MAX_DEPTH {
            return Err(Error::TooDeep { path: shown(path) });
        }
        let unreadable = |cause| Source::Path(path.to_owned()).error(cause);
        let mut directory = Self::default();
        for entry in fs::read_dir(path).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let source = Source::Path(path.clone());
            let metadata = path.metadata().map_err(|cause| source.error(cause))?;
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                let problem = "is not UTF-8";
                return Err(Error::Name {
                    path: shown(&path),
                    problem,
                });
            };
            let since = metadata.modified().ok();
            let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let node = match metadata.is_dir() {
                true => Node::Directory(Self::below(&path, depth + 1)?),
                false => Node::File(File {
                    source,
                    modified: since
                        .map_or(0, |since| since.as_secs().try_into().unwrap_or(u32::MAX)),
                }),
            };
            directory.entries.push((name.to_owned(), node));
        }
        directory
            .entries
            .sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(directory)
    }
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

/// A file on disk is opened for each read.
impl ReadAt for Source {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Path(path) => path.metadata().map_or(0, |metadata| metadata.len()),
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => bytes.read_exact_at(buf, offset),
            Self::Path(path) => DiskFile::open(path)?.read_exact_at(buf, offset),
        }
    }
}

/// An error of writing an archive. Paths are those inside the archive.
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
