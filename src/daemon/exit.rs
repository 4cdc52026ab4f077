//! Why the program ends, and the exit code that says so.

use std::io::Write;
use std::process::ExitCode;

use crate::io;
use crate::mount::{OpenCause, OpenError};

/// Why nothing is mounted. The texts are what the user sees.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// A source cannot be mounted.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// The mount point is not one.
    #[error("{0}")]
    MountPoint(String),
    /// The system has no FUSE, or none for this user.
    #[error("FUSE is not available: {0}")]
    NoFuse(String),
    /// The system refuses the mount.
    #[error("mount refused: {0}")]
    Refused(String),
    /// Anything else.
    #[error("{0}: {1}")]
    Other(&'static str, std::io::Error),
}

impl Failure {
    /// The exit code, as documented.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Source(OpenError { cause, .. }) => match cause {
                OpenCause::Unreadable(_)
                | OpenCause::Volume(io::Error::Read { .. } | io::Error::Listing(_)) => 10,
                OpenCause::Volume(io::Error::UnknownFormat) => 11,
                OpenCause::Volume(io::Error::Damaged { .. }) => 12,
                OpenCause::Volume(io::Error::Unsupported(_)) => 13,
                OpenCause::Volume(_) => 1,
            },
            Self::MountPoint(_) => 20,
            Self::NoFuse(_) => 21,
            Self::Refused(_) => 22,
            Self::Other(..) => 1,
        }
    }

    /// Tells the user, and says how the program exits.
    pub fn report(&self) -> ExitCode {
        // Not eprintln!, which panics where nobody can be told.
        let _ = writeln!(std::io::stderr(), "hpimount: {self}");
        ExitCode::from(self.code())
    }
}
