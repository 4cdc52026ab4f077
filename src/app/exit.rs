//! Reasons for exiting and their exit codes.

use std::process::ExitCode;

use super::message::tell;
use crate::inspect::{self, Trouble, check::Summary, diff::DiffCounts};
use crate::mount::{self, OpenCause, OpenError};
use crate::pack;
use hpimount_containers::{changes, io, write};

/// The reason why nothing was done, with the message for the user.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// A source cannot be mounted.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// The mount point cannot be used.
    #[error("{0}")]
    MountPoint(String),
    /// FUSE is not available, or not for this user.
    #[error("FUSE is not available: {0}")]
    NoFuse(String),
    /// The system refused the mount.
    #[error("mount refused: {0}")]
    Refused(String),
    /// The system refused to unmount.
    #[error("cannot unmount {0}")]
    NotUnmounted(String),
    /// Something in a source cannot be read.
    #[error("{0}")]
    Inspected(inspect::Error),
    /// A part of a source is left out.
    #[error("{0}")]
    LeftOut(String),
    /// A file cannot be written; the error has its path.
    #[error("{0}")]
    NotWritten(std::io::Error),
    /// An archive cannot be written.
    #[error(transparent)]
    Pack(#[from] pack::Error),
    /// There is no thumbnail.
    #[error("{0}")]
    NoThumbnail(String),
    /// Anything else.
    #[error("{0}: {1}")]
    Other(&'static str, std::io::Error),
}

/// A reason for exiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitReason {
    /// The exit code.
    pub code: u8,
    /// Its meaning, for help, man page and docs/OPTIONS.md.
    pub meaning: &'static str,
}

impl ExitReason {
    /// An error that has no code of its own.
    pub const OTHER: Self = Self {
        code: 1,
        meaning: "Any other error",
    };
    /// Changes cannot be applied.
    pub const NOT_APPLIED: Self = Self {
        code: 14,
        meaning: "Changes cannot be applied",
    };
    /// The command line is invalid.
    pub const USAGE: Self = Self {
        code: 2,
        meaning: "Invalid command line",
    };
}

/// Success.
const SUCCESS: ExitReason = ExitReason {
    code: 0,
    meaning: "Success: mounted and answering, or with --foreground unmounted; written; \
              `check`: nothing is damaged; `diff`: there are no differences, or they were exported",
};
/// The same codes as [`ExitReason::OTHER`] and [`ExitReason::USAGE`].
const DIFFERENT: ExitReason = ExitReason {
    code: 1,
    meaning: "Any other error; `diff`: there are differences",
};
const NOT_COMPARED: ExitReason = ExitReason {
    code: 2,
    meaning: "Invalid command line; `diff`: something cannot be compared",
};
const UNREADABLE: ExitReason = ExitReason {
    code: 10,
    meaning: "A source cannot be opened or read, or has something that cannot be packed",
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
const NOT_WRITTEN: ExitReason = ExitReason {
    code: 20,
    meaning: "The mount point cannot be used, or a result exists or cannot be written",
};
const NO_FUSE: ExitReason = ExitReason {
    code: 21,
    meaning: "FUSE is not available",
};
const REFUSED: ExitReason = ExitReason {
    code: 22,
    meaning: "The system refused to mount or to unmount",
};

/// The exit reasons, by ascending code.
pub const EXIT_REASONS: &[ExitReason] = &[
    SUCCESS,
    DIFFERENT,
    NOT_COMPARED,
    UNREADABLE,
    UNKNOWN_FORMAT,
    DAMAGED,
    UNSUPPORTED,
    ExitReason::NOT_APPLIED,
    NOT_WRITTEN,
    NO_FUSE,
    REFUSED,
];

impl Failure {
    /// Returns the failure of writing the file at `path`.
    pub fn not_written(path: &std::path::Path, error: std::io::Error) -> Self {
        let text = format!("{}: {error}", path.display());
        Self::NotWritten(std::io::Error::new(error.kind(), text))
    }

    /// Returns the failure of starting a thread.
    pub(super) fn no_thread(error: std::io::Error) -> Self {
        Self::Other("cannot start a thread", error)
    }

    /// Returns the failure of handling signals.
    pub(super) fn no_signals(error: std::io::Error) -> Self {
        Self::Other("cannot handle signals", error)
    }

    /// Returns the failure of writing to standard output.
    pub fn no_output(error: std::io::Error) -> Self {
        match error.kind() {
            // Of Windows' consoles, which show text only.
            std::io::ErrorKind::InvalidData => Self::Other(
                "cannot show these bytes; --output writes them to a file",
                error,
            ),
            _ => Self::Other("cannot write to standard output", error),
        }
    }

    /// Returns the exit reason.
    pub fn reason(&self) -> ExitReason {
        match self {
            Self::Usage(_) => ExitReason::USAGE,
            Self::Source(OpenError { cause, .. }) => match cause {
                OpenCause::Unreadable(_) => UNREADABLE,
                OpenCause::NoArchives => UNKNOWN_FORMAT,
                OpenCause::Refused(_) => ExitReason::NOT_APPLIED,
                OpenCause::Volume(error) => of_bytes(error),
            },
            Self::Inspected(inspect::Error::Path { trouble, .. }) => match trouble {
                Trouble::Bytes(error) => of_bytes(error),
                Trouble::Entry(mount::Error::Io) => UNREADABLE,
                Trouble::Entry(_) => ExitReason::OTHER,
            },
            Self::Inspected(inspect::Error::List(_)) => ExitReason::USAGE,
            Self::Inspected(_) => ExitReason::OTHER,
            Self::MountPoint(_) | Self::NotWritten(_) => NOT_WRITTEN,
            Self::Pack(error) => of_packing(error),
            Self::NoFuse(_) => NO_FUSE,
            Self::Refused(_) | Self::NotUnmounted(_) => REFUSED,
            Self::LeftOut(_) => UNREADABLE,
            Self::NoThumbnail(_) | Self::Other(..) => ExitReason::OTHER,
        }
    }

    /// Writes the failure to standard error, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        for line in self.lines() {
            tell(line);
        }
        ExitCode::from(self.reason().code)
    }

    /// Returns the lines of its message: one for each refused change.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Source(OpenError {
                source_name,
                cause: OpenCause::Refused(refusals),
            }) => {
                let refusals = changes::lines(refusals).into_iter();
                refusals
                    .map(|refusal| format!("{source_name}: {refusal}"))
                    .collect()
            }
            Self::Pack(pack::Error::Refused(refusals)) => changes::lines(refusals),
            _ => vec![self.to_string()],
        }
    }
}

/// Returns the exit reason for an error of packing.
fn of_packing(error: &pack::Error) -> ExitReason {
    match error {
        pack::Error::Target { .. } | pack::Error::Archive(write::Error::Output(_)) => NOT_WRITTEN,
        pack::Error::Refused(_) => ExitReason::NOT_APPLIED,
        pack::Error::Source { .. } | pack::Error::Archive(_) => UNREADABLE,
    }
}

/// Returns the exit reason for an error about the data of a source.
fn of_bytes(error: &io::Error) -> ExitReason {
    match error {
        io::Error::Read { .. } if error.is_fault() => UNREADABLE,
        io::Error::Listing(_) => UNREADABLE,
        io::Error::UnknownFormat => UNKNOWN_FORMAT,
        io::Error::Damaged { .. } | io::Error::Read { .. } => DAMAGED,
        io::Error::Unsupported(_) | io::Error::Encrypted(_) => UNSUPPORTED,
        _ => ExitReason::OTHER,
    }
}

impl From<inspect::Error> for Failure {
    fn from(error: inspect::Error) -> Self {
        match error {
            inspect::Error::Open(error) => Self::Source(error),
            inspect::Error::LeftOut(text) => Self::LeftOut(text),
            inspect::Error::Output(error) => Self::no_output(error),
            error => Self::Inspected(error),
        }
    }
}

/// Returns the exit reason of a check: the worst finding, or the first source
/// that could not be opened, determines it.
pub(super) fn checked(summary: &Summary, unopened: Option<OpenError>) -> ExitReason {
    match unopened {
        _ if summary.damage.get() > 0 => DAMAGED,
        Some(error) => Failure::Source(error).reason(),
        None if summary.not_checked.get() > 0 => UNREADABLE,
        None => SUCCESS,
    }
}

/// Returns the exit reason of a comparison, as of diff(1); differences that were exported
/// are a success.
pub(super) fn compared(found: &DiffCounts, is_exported: bool) -> ExitReason {
    match found {
        DiffCounts { troubles: 1.., .. } => NOT_COMPARED,
        found if !is_exported && found.has_differences() => DIFFERENT,
        _ => SUCCESS,
    }
}
