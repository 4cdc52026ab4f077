//! The settings that every program has.

use std::ffi::OsString;

use super::Generated;

/// The settings of a command line, with defaults.
pub trait Settings: Default + 'static {
    /// Returns the settings that are common to all programs.
    fn common(&mut self) -> &mut Common;
}

/// The settings that are common to all programs.
#[derive(Debug, Default)]
pub struct Common {
    /// Operands, in order.
    pub(super) operands: Vec<OsString>,
    /// A text to print instead of doing anything else.
    pub generate: Option<Generated>,
}
