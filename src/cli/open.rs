//! The command line of `hpimount-open`.

use std::path::PathBuf;

use super::option::NO_DEFAULT;
use super::values::local_file;
use super::{Block, Common, Name, Operand, OptionSpec, Program, Section, Settings, Takes};
use crate::app::ExitReason;

/// The program, its options, and the texts about it.
pub const PROGRAM: Program<Args> = Program {
    name: "hpimount-open",
    manual_section: "1",
    summary: "open game archives in the file manager",
    usage: &["FILE...", "--unmount FILE...", "--unmount-all"],
    description: &[
        "`hpimount-open` mounts each FILE below the directory `hpimount` in the home directory and \
         shows it in the file manager. Desktops run it to open an archive. A FILE that is already mounted \
         there is shown again; one that has changed since is mounted again.",
        "An asset on a mount is not mounted: its model is opened if the desktop has a viewer for \
         glTF files, or else its preview, or else the directory with its parts.",
        "It is unmounted after ten minutes without use, or by `--unmount`. Errors are shown as \
         notifications and written to standard error.",
    ],
    operands: &[Operand {
        name: "FILE",
        help: "What to open, as a path or a file:// URI",
        many: true,
        not_needed_with: &["unmount-all"],
    }],
    options: &[OPTIONS],
    ignored_mount_options: &[],
    exit_reasons: EXIT_REASONS,
    sections: &[],
    last_sections: LAST_SECTIONS,
};

/// The parsed command line of `hpimount-open`.
#[derive(Debug, Default)]
pub struct Args {
    /// Operands, and the options of all programs.
    pub common: Common,
    unmount: bool,
    unmount_all: bool,
}

/// The action to run.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Mount files and show them.
    Open(Vec<PathBuf>),
    /// Unmount files.
    Unmount(Vec<PathBuf>),
    /// Unmount all files of the session.
    UnmountAll,
}

impl Settings for Args {
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }
}

impl Args {
    /// Returns the action.
    ///
    /// # Errors
    /// Returns a message if a FILE is not a local file.
    pub fn action(&self) -> Result<Action, String> {
        if self.unmount_all {
            return Ok(Action::UnmountAll);
        }
        let files = self.common.operands.iter().map(|file| local_file(file));
        let files = files.collect::<Result<_, _>>()?;
        Ok(match self.unmount {
            true => Action::Unmount(files),
            false => Action::Open(files),
        })
    }
}

const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "Unmount each FILE instead of opening it",
        long_help: "Unmount each FILE instead of opening it. One that is in use stays mounted, \
            which is an error.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Both('u', "unmount"),
            Takes::Nothing(|args| args.unmount = true),
        )
    },
    OptionSpec {
        exclusive: true,
        help: "Unmount all files that were opened in this session",
        long_help: "Unmount all files that were opened in this session.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Long("unmount-all"),
            Takes::Nothing(|args| args.unmount_all = true),
        )
    },
    OptionSpec::GENERATE,
];

/// An action failed.
pub const FAILED: ExitReason = ExitReason {
    code: 1,
    meaning: "A FILE cannot be mounted, shown or unmounted",
};

/// The exit reasons of the program, by ascending code.
const EXIT_REASONS: &[ExitReason] = &[
    ExitReason {
        code: 0,
        meaning: "Each FILE is open, or unmounted",
    },
    FAILED,
    ExitReason::USAGE,
];

const LAST_SECTIONS: &[Section] = &[
    Section {
        heading: "ENVIRONMENT",
        blocks: &[
            Block::Item(
                "HOME",
                "The home directory. The mounts are in `hpimount` in it, each named after its \
                 file; there, file managers show them as volumes.",
            ),
            Block::Item(
                "PATH",
                "Directories that are searched for `xdg-open(1)` or else `gio(1)`, to show the \
                 mount, and for `notify-send(1)` or else `gdbus(1)`, to show errors.",
            ),
        ],
    },
    Section {
        heading: "FILES",
        blocks: &[
            Block::Item(
                "/usr/share/applications/hpimount-open.desktop",
                "Offers the program for archives; its action unmounts them all.",
            ),
            Block::Item(
                "/usr/share/applications/hpimount-unmount.desktop",
                "Offers to unmount an archive.",
            ),
        ],
    },
    Section {
        heading: "EXAMPLES",
        blocks: &[
            Block::Text("Open an archive, and unmount it:"),
            Block::Code("hpimount-open mymod.ufo\nhpimount-open --unmount mymod.ufo"),
        ],
    },
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text(
            "`hpimount(8)`, `hpimount-thumbnailer(1)`, `xdg-open(1)`, `xdg-mime(1)`",
        )],
    },
];

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn action(line: &[&str]) -> Result<Action, String> {
        let line = [&["hpimount-open"], line].concat();
        match PROGRAM.parse(line.into_iter().map(OsString::from)) {
            Ok(args) => args.action(),
            Err(rejected) => Err(rejected.to_string()),
        }
    }

    #[test]
    fn the_command_line_is_valid() {
        PROGRAM.command().debug_assert();
        let files = vec!["a.hpi".into(), "/b c.hip".into()];
        let given = ["a.hpi", "file:///b%20c.hip"];
        assert_eq!(action(&given), Ok(Action::Open(files.clone())));
        let unmount = ["-u", given[0], given[1]];
        assert_eq!(action(&unmount), Ok(Action::Unmount(files)));
        assert_eq!(action(&["--unmount-all"]), Ok(Action::UnmountAll));
        for wrong in [&[][..], &["--unmount"], &["--unmount-all", "a"]] {
            assert!(action(wrong).is_err(), "{wrong:?}");
        }
    }
}
