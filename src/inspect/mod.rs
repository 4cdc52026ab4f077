//! Sources without a mount: listing them, printing and extracting their files, checking
//! their contents, and comparing them, where FUSE is not available.
//!
//! Everything is shown as in a mount of the sources, within the same memory
//! budget.

pub(crate) mod bounds;
mod cat;
pub mod check;
mod contents;
pub mod diff;
mod extract;
mod hash;
pub mod index;
mod lanes;
mod list;
pub(crate) mod path;
mod pool;
mod queue;
#[cfg(test)]
mod queue_tests;
mod room;
mod shown;
mod text;
mod texts;
pub(crate) mod walk;

pub use self::bounds::EXPANSION;
pub use self::cat::cat;
pub use self::contents::{Archive, Contents, Entry, Parsed, Role, Trouble};
pub use self::extract::{ExtractStyle, extract};
pub use self::list::{ListStyle, SortKey, list};

use std::io;

use self::walk::Missed;
use crate::mount::OpenError;

/// The reason why inspecting a source failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A source cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Something in a source cannot be read.
    #[error("{path}: {trouble}")]
    Path {
        /// The path.
        path: String,
        /// The cause.
        trouble: Trouble,
    },
    /// A symbolic link leads out of the source, or in circles.
    #[error("{0}: leads out of the source, or in circles")]
    Link(String),
    /// A part of a source is left out, since it expands too much.
    #[error("{0}")]
    LeftOut(String),
    /// Writing failed.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// The database of an index cannot be used.
    #[error("{0}")]
    Database(String),
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

    /// The error of sending to a writing thread that has ended, which knows the reason.
    fn stopped() -> Self {
        Self::Output(io::ErrorKind::BrokenPipe.into())
    }

    /// The error of a walk that began at a path.
    fn missed(missed: Missed, at: &str) -> Self {
        match (missed, at) {
            (Missed::Unlisted(path, error), _) => Self::path(&path, error),
            (Missed::LeftOut(problem), "") => Self::LeftOut(format!("the source {problem}")),
            (Missed::LeftOut(problem), _) => Self::LeftOut(format!("{at}: {problem}")),
        }
    }
}
