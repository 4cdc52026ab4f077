//! The command line of `hpimount`.

mod options;
mod page;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use self::options::MAX_THREADS;
use super::{Generated, Operand, Program, Rejected};
use crate::daemon::{EXIT_REASONS, MountOptions};
use crate::mount::{Order, Sources};
use crate::source::Location;

/// The program, all that is said about it, and its options.
pub const PROGRAM: Program<Args> = Program {
    name: "hpimount",
    manual_section: "8",
    summary: "mount game archives as read-only file systems",
    usage: &[
        "[OPTIONS] SOURCE... MOUNTPOINT",
        "[OPTIONS] --game FOLDER MOUNTPOINT",
    ],
    description: page::DESCRIPTION,
    operands: &[Operand {
        name: "SOURCE... MOUNTPOINT",
        help: "What to mount, then the directory to mount it on",
        many: true,
    }],
    options: options::OPTIONS,
    ignored_mount_options: options::IGNORED,
    exit_reasons: EXIT_REASONS,
    sections: page::SECTIONS,
    last_sections: page::LAST_SECTIONS,
};

/// The command line of `hpimount`, understood.
#[derive(Debug, Default)]
pub struct Args {
    /// SOURCEs, then the mount point.
    operands: Vec<OsString>,
    game: Option<OsString>,
    order: Option<Order>,
    separate: bool,
    verbosity: u8,
    quiet: bool,
    /// How the mount behaves.
    pub mount: MountOptions,
    /// Whether to stay in the foreground.
    pub foreground: bool,
    /// A text to print instead of mounting anything.
    pub generate: Option<Generated>,
}

impl Args {
    /// Reads a command line, program name first.
    ///
    /// # Errors
    /// The first thing that is not understood.
    pub fn parse(line: impl IntoIterator<Item = OsString>) -> Result<Self, Rejected> {
        let mut args = Self::default();
        args.operands = PROGRAM.parse(line, &mut args)?;
        Ok(args)
    }

    /// What to mount, and the directory to mount it on.
    ///
    /// # Errors
    /// A sentence about what is missing, superfluous or not supported.
    pub fn sources(&self) -> Result<(Sources, &Path), String> {
        let (mount_point, sources) = self.operands.split_last().ok_or("nothing to mount")?;
        let sources = match (&self.game, sources) {
            (Some(_), [_, ..]) => {
                return Err("--game takes all archives of its folder and no SOURCE".to_owned());
            }
            (Some(_), []) if self.order == Some(Order::Cli) => {
                return Err("--order cli orders SOURCEs, and --game has none".to_owned());
            }
            (Some(folder), []) => Sources::Game {
                folder: local_path(&Location::parse(folder)?)?,
                order: self.order,
            },
            (None, []) => return Err("the mount point is missing".to_owned()),
            (None, sources) => Sources::Given {
                paths: sources
                    .iter()
                    .map(|source| local_path(&Location::parse(source)?))
                    .collect::<Result<_, String>>()?,
                order: self.order,
                separate: self.separate,
            },
        };
        Ok((sources, Path::new(mount_point)))
    }

    /// How much is logged.
    pub fn log_level(&self) -> log::LevelFilter {
        match (self.quiet, self.verbosity) {
            (true, _) => log::LevelFilter::Error,
            (_, 0) => log::LevelFilter::Warn,
            (_, 1) => log::LevelFilter::Info,
            _ => log::LevelFilter::Debug,
        }
    }
}

/// The path of a source; the mount takes no others yet.
fn local_path(location: &Location) -> Result<PathBuf, String> {
    let path = location.path().map(Path::to_owned);
    path.ok_or_else(|| format!("{}: is not a local path", location.display_name()))
}
