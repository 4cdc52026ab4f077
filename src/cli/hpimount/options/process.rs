//! The process and its messages.

use crate::cli::hpimount::Args;
use crate::cli::{Name, OptionSpec, Takes};

/// The options, in the order of the man page.
pub(super) const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "Stay in the foreground and log to standard error",
        long_help: "Stay in the foreground until the file system is unmounted, and log to \
            standard error.",
        default: "run in the background and log to the system log",
        ..OptionSpec::new(
            Name::Both('f', "foreground"),
            Takes::Nothing(|args| args.foreground = true),
        )
    },
    OptionSpec {
        help: "Log more; twice for everything",
        long_help: "Also log what the mount does; given twice, log details for debugging. \
            With `--check`, also list matters of style.",
        default: "log warnings and errors",
        ..OptionSpec::new(
            Name::Both('v', "verbose"),
            Takes::Repeats(|args| args.verbosity = args.verbosity.saturating_add(1)),
        )
    },
    OptionSpec {
        help: "Log errors only",
        long_help: "Log errors only.",
        default: "log warnings and errors",
        conflicts: &["verbose"],
        ..OptionSpec::new(
            Name::Both('q', "quiet"),
            Takes::Nothing(|args| args.quiet = true),
        )
    },
    OptionSpec::GENERATE,
];
