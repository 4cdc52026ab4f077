//! Sources without a mount: listing them, printing their files, and checking
//! all that is in them, for places without FUSE.
//!
//! Everything is seen as a mount of the sources would show it, and within the
//! same memory budget.

mod cat;
pub mod check;
mod list;
mod path;
mod text;
mod walk;

pub use self::cat::cat;
pub use self::list::{Layout, list};

use std::io;

use crate::mount::{OpenError, Trouble};

/// Why a source could not be inspected, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A source cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Something in a source cannot be read.
    #[error("{path}: {trouble}")]
    Path {
        /// What was requested.
        path: String,
        /// What is the matter.
        trouble: Trouble,
    },
    /// A symbolic link leads to nothing in the source.
    #[error("{0}: leads out of the source, or in circles")]
    Link(String),
    /// What was found cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// The list to compare with cannot be used.
    #[error("{0}")]
    List(String),
}

impl Error {
    fn path(path: &str, trouble: impl Into<Trouble>) -> Self {
        Self::Path {
            path: path.to_owned(),
            trouble: trouble.into(),
        }
    }
}
