//! Findings of a check: severity, location and cause.

use std::fmt::Display;

use serde::Serialize;

use hpimount_containers::io::Error;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    /// Data is damaged.
    Damage,
    /// Data could not be read.
    NotChecked,
    /// An irregularity, or something that is not checked.
    Warning,
    /// A matter of style, which is only listed on request.
    Style,
}

impl Severity {
    /// Returns the severity of an error about data.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            error if is_end(error) => Self::Damage,
            error if error.is_fault() => Self::NotChecked,
            Error::Damaged { .. } | Error::Read { .. } => Self::Damage,
            _ => Self::Warning,
        }
    }

    /// Returns the word for it in a line of text.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Damage => "damaged",
            Self::NotChecked => "not checked",
            Self::Warning => "warning",
            Self::Style => "style",
        }
    }
}

/// The cause of a finding, and its position.
pub(super) struct Cause {
    /// Offset in bytes, in the named file or in the file that contains it.
    pub(super) offset: Option<u64>,
    /// Line of a text, from 1 on.
    pub(super) line: Option<u32>,
    pub(super) text: String,
}

impl Cause {
    /// Creates a cause without a position.
    pub(super) fn text(text: &dyn Display) -> Self {
        Self::at_line(None, text.to_string())
    }

    /// Creates a cause at a line of a text, if that is known.
    pub(super) fn at_line(line: Option<u32>, text: String) -> Self {
        Self {
            offset: None,
            line,
            text,
        }
    }

    /// Creates the cause that an error about data describes.
    pub(super) fn of(error: &Error) -> Self {
        let offset = match error {
            Error::Damaged { offset, .. } | Error::Read { offset, .. } => Some(*offset),
            _ => None,
        };
        let text = match error {
            Error::Read { offset, length, .. } if is_end(error) => {
                format!("the {length} bytes at {offset:#x} extend past the end")
            }
            error => error.to_string(),
        };
        Self {
            offset,
            line: None,
            text,
        }
    }
}

/// Returns whether an error is the end of the source.
pub(super) fn is_end(error: &Error) -> bool {
    let end = std::io::ErrorKind::UnexpectedEof;
    matches!(error, Error::Read { cause, .. } if cause.kind() == end)
}
