//! Why the program ends, and the exit code that says so.

use std::io::Write;
use std::process::ExitCode;

use crate::inspect::{self, check::Summary};
use crate::io;
use crate::mount::{self, OpenCause, OpenError, Trouble};

/// Why nothing is mounted. The texts are what the user sees.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line requests something that does not exist.
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
    /// The system does not unmount it.
    #[error("cannot unmount {0}")]
    NotUnmounted(String),
    /// Something in a source cannot be read.
    #[error("{0}")]
    Inspected(inspect::Error),
    /// Anything else.
    #[error("{0}: {1}")]
    Other(&'static str, std::io::Error),
}

/// A way in which the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitReason {
    /// What the process returns to its parent.
    pub code: u8,
    /// What it means, as help, man page and docs/OPTIONS.md say it.
    pub meaning: &'static str,
}

/// The mount answers; with `--foreground`, it was unmounted.
const MOUNTED: ExitReason = ExitReason {
    code: 0,
    meaning: "Mounted and answering; with --foreground: unmounted; with --check: nothing is \
              damaged; otherwise: done",
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
    meaning: "The system refused to mount or to unmount",
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
    /// Returns how the program ends.
    pub fn reason(&self) -> ExitReason {
        match self {
            Self::Usage(_) => USAGE,
            Self::Source(OpenError { cause, .. }) => match cause {
                OpenCause::Unreadable(_) => UNREADABLE,
                OpenCause::Volume(error) => of_bytes(error),
            },
            Self::Inspected(inspect::Error::Path { trouble, .. }) => match trouble {
                Trouble::Bytes(error) => of_bytes(error),
                Trouble::Entry(mount::Error::Io) => UNREADABLE,
                Trouble::Entry(_) => OTHER,
            },
            Self::Inspected(_) => OTHER,
            Self::MountPoint(_) => MOUNT_POINT,
            Self::NoFuse(_) => NO_FUSE,
            Self::Refused(_) | Self::NotUnmounted(_) => REFUSED,
            Self::Other(..) => OTHER,
        }
    }

    /// Writes the failure to standard error, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        // Not eprintln!, which panics where standard error is closed.
        let _ = writeln!(std::io::stderr(), "hpimount: {self}");
        ExitCode::from(self.reason().code)
    }
}

/// What an error about the bytes of a source means.
fn of_bytes(error: &io::Error) -> ExitReason {
    match error {
        io::Error::Read { .. } if error.is_fault() => UNREADABLE,
        io::Error::Listing(_) => UNREADABLE,
        io::Error::UnknownFormat => UNKNOWN_FORMAT,
        io::Error::Damaged { .. } | io::Error::Read { .. } => DAMAGED,
        io::Error::Unsupported(_) | io::Error::Encrypted(_) => UNSUPPORTED,
        _ => OTHER,
    }
}

impl From<inspect::Error> for Failure {
    fn from(error: inspect::Error) -> Self {
        match error {
            inspect::Error::Open(error) => Self::Source(error),
            inspect::Error::Output(error) => Self::Other("cannot write to standard output", error),
            error => Self::Inspected(error),
        }
    }
}

/// Returns how the program ends after a check: as the worst finding says, and
/// of sources that could not be opened the first one.
pub(super) fn checked(summary: &Summary, unopened: Option<OpenError>) -> ExitReason {
    match unopened {
        _ if summary.damage.get() > 0 => DAMAGED,
        Some(error) => Failure::Source(error).reason(),
        None if summary.not_checked.get() > 0 => UNREADABLE,
        None => MOUNTED,
    }
}
