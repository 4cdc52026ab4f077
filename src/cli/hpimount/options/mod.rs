//! The options of `hpimount`, including `-o`.

mod mount;
mod process;
mod sources;
mod without_mount;

use super::Args;
use crate::cli::OptionSpec;

pub(super) use self::mount::IGNORED;
pub use self::mount::MAX_THREADS;

/// All options, in the order of the man page.
pub(super) const OPTIONS: &[&[OptionSpec<Args>]] = &[
    sources::OPTIONS,
    without_mount::OPTIONS,
    process::OPTIONS,
    mount::OPTIONS,
];
