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

/// A way in which the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitReason {
    /// What the process returns to its parent.
    pub code: u8,
    /// What it means, as help, man page and README say it.
    pub meaning: &'static str,
}

/// The mount answers; with `--foreground`, it was unmounted.
const MOUNTED: ExitReason = ExitReason {
    code: 0,
    meaning: "Mounted and answering; with --foreground: unmounted",
};
const OTHER: ExitReason = ExitReason {
    code: 1,
    meaning: "Any other error",
};
const USAGE: ExitReason = ExitReason {
    code: 2,
    meaning: "The command line is wrong",
};
const UNREADABLE: ExitReason = ExitReason {
    code: 10,
    meaning: "A source cannot be opened or read",
};
const UNKNOWN_FORMAT: ExitReason = ExitReason {
    code: 11,
    meaning: "A source has no known format",
};
const DAMAGED: ExitReason = ExitReason {
    code: 12,
    meaning: "A source is damaged",
};
const UNSUPPORTED: ExitReason = ExitReason {
    code: 13,
    meaning: "A source has a known format that is not supported, such as a saved game",
};
const MOUNT_POINT: ExitReason = ExitReason {
    code: 20,
    meaning: "The mount point cannot be used",
};
const NO_FUSE: ExitReason = ExitReason {
    code: 21,
    meaning: "FUSE is not available",
};
const REFUSED: ExitReason = ExitReason {
    code: 22,
    meaning: "The system refused the mount",
};

/// All ways in which hpimount ends, by ascending code.
pub const EXIT_REASONS: &[ExitReason] = &[
    MOUNTED,
    OTHER,
    USAGE,
    UNREADABLE,
    UNKNOWN_FORMAT,
    DAMAGED,
    UNSUPPORTED,
    MOUNT_POINT,
    NO_FUSE,
    REFUSED,
];

impl Failure {
    /// How the program ends.
    pub fn reason(&self) -> ExitReason {
        match self {
            Self::Usage(_) => USAGE,
            Self::Source(OpenError { cause, .. }) => match cause {
                OpenCause::Unreadable(_)
                | OpenCause::Volume(io::Error::Read { .. } | io::Error::Listing(_)) => UNREADABLE,
                OpenCause::Volume(io::Error::UnknownFormat) => UNKNOWN_FORMAT,
                OpenCause::Volume(io::Error::Damaged { .. }) => DAMAGED,
                OpenCause::Volume(io::Error::Unsupported(_)) => UNSUPPORTED,
                OpenCause::Volume(_) => OTHER,
            },
            Self::MountPoint(_) => MOUNT_POINT,
            Self::NoFuse(_) => NO_FUSE,
            Self::Refused(_) => REFUSED,
            Self::Other(..) => OTHER,
        }
    }

    /// Writes the failure to standard error, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        // Not eprintln!, which panics where nobody can be told.
        let _ = writeln!(std::io::stderr(), "hpimount: {self}");
        ExitCode::from(self.reason().code)
    }
}
