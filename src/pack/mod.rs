//! What `hpipack` does: a directory on disk becomes an archive.

pub mod hpi;
mod target;
mod walk;

use std::io::BufWriter;
use std::path::{Path, PathBuf};

pub use target::Target;
pub use walk::{Walked, walk};

use self::hpi::{Directory, v1, v2};
use crate::volume::hpi::chunk::Method;

/// Which game an archive is for, and how it is packed.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// Total Annihilation.
    TotalAnnihilation {
        /// How files are packed.
        method: Method,
        /// Key of the cipher; 0 for none.
        key: u8,
    },
    /// TA: Kingdoms.
    Kingdoms {
        /// Whether data is packed with zlib.
        packed: bool,
    },
}

/// Why a directory did not become an archive.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something in the directory cannot be read, or cannot be packed.
    #[error("{}: {problem}", path.display())]
    Source {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The archive cannot be put where it should be.
    #[error("{}: {problem}", path.display())]
    Target {
        /// Where it should be.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The archive cannot be made.
    #[error(transparent)]
    Archive(#[from] hpi::Error),
}

/// Result with the packer's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn source(path: &Path, problem: impl ToString) -> Self {
        Self::Source {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }

    fn target(path: &Path, problem: impl ToString) -> Self {
        Self::Target {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }

    /// What the process tells the shell: 10 where the directory is at fault,
    /// 20 where the place for the archive is.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Target { .. } | Self::Archive(hpi::Error::Output(_)) => 20,
            Self::Source { .. } | Self::Archive(_) => 10,
        }
    }
}

/// Packs a tree into the target.
///
/// # Errors
/// What the writer reports. Nothing is at the target's place then, or what
/// was there before.
pub fn pack(
    root: &Directory,
    format: Format,
    target: Target,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let out = BufWriter::with_capacity(256 << 10, target.file());
    match format {
        Format::TotalAnnihilation { method, key } => {
            v1::write(root, v1::Options { method, key }, out, progress)?;
        }
        Format::Kingdoms { packed } => {
            v2::write(root, v2::Options { packed }, out, progress)?;
        }
    }
    target.keep()
}

/// Tells a file from every other.
fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}
