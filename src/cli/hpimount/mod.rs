//! The command line of `hpimount`.

mod options;
mod page;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use self::options::MAX_THREADS;
use super::{Common, Operand, Program, Settings};
use crate::app::{Check, EXIT_REASONS, Inspection, MountOptions};
use crate::inspect::{EXPANSION, ListStyle};
use crate::mount::{Order, Sources};
use crate::source::Location;

/// The program, its options, and the texts about it.
pub const PROGRAM: Program<Args> = Program {
    name: "hpimount",
    manual_section: "8",
    summary: "mount game archives as read-only file systems",
    usage: &[
        "[OPTIONS] SOURCE... MOUNTPOINT",
        "[OPTIONS] --game FOLDER MOUNTPOINT",
        "--list [--json] SOURCE [PATH...]",
        "--cat SOURCE PATH...",
        "--check [--json] [--dat FILE] SOURCE...",
        "--unmount MOUNTPOINT...",
    ],
    description: page::DESCRIPTION,
    operands: &[Operand {
        name: "SOURCE... MOUNTPOINT",
        help: "What to mount, then the directory to mount it on",
        many: true,
        not_needed_with: &["list", "cat", "check", "unmount"],
    }],
    options: options::OPTIONS,
    ignored_mount_options: options::IGNORED,
    exit_reasons: EXIT_REASONS,
    sections: page::SECTIONS,
    last_sections: page::LAST_SECTIONS,
};

/// The job to do instead of mounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    List,
    Cat,
    Check,
    Unmount,
}

/// The action to run.
#[derive(Debug)]
pub enum Action {
    /// Mount sources.
    Mount(Sources, PathBuf),
    /// List or print sources without mounting them.
    Inspect(Sources, Inspection),
    /// Check everything in sources.
    Check(Check),
    /// Unmount these mount points.
    Unmount(Vec<PathBuf>),
}

/// The parsed command line of `hpimount`.
#[derive(Debug, Default)]
pub struct Args {
    /// Operands, and the options of all programs.
    pub common: Common,
    game: Option<OsString>,
    mods: Vec<OsString>,
    order: Option<Order>,
    separate: bool,
    job: Option<Job>,
    json: bool,
    dat: Option<OsString>,
    expansion: Option<u64>,
    verbosity: u8,
    quiet: bool,
    /// Options of the mount.
    pub mount: MountOptions,
    /// Whether to stay in the foreground.
    pub foreground: bool,
}

impl Settings for Args {
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }
}

impl Args {
    /// Returns the action with its arguments.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn action(&self) -> Result<Action, String> {
        if self.json && !matches!(self.job, Some(Job::List | Job::Check)) {
            return Err("--json requires --check or --list".to_owned());
        }
        if self.dat.is_some() && self.job != Some(Job::Check) {
            return Err("--dat requires --check".to_owned());
        }
        if self.expansion.is_some() && self.job != Some(Job::Check) {
            return Err("--expansion requires --check".to_owned());
        }
        let Some(job) = self.job else {
            let (mount_point, sources) = self
                .common
                .operands
                .split_last()
                .ok_or("nothing to mount")?;
            let missing = "the mount point is missing";
            return Ok(Action::Mount(
                self.sources(sources, missing)?,
                PathBuf::from(mount_point),
            ));
        };
        let style = ListStyle {
            json: self.json,
            umask: self.mount.umask,
        };
        Ok(match job {
            Job::Check if self.common.operands.is_empty() => {
                return Err("--check requires a SOURCE".to_owned());
            }
            Job::Check => Action::Check(Check {
                sources: locations(&self.common.operands)?,
                list: self.dat.as_ref().map(PathBuf::from),
                expansion: self.expansion.unwrap_or(EXPANSION),
                json: self.json,
                progress: !self.quiet,
                is_verbose: self.verbosity > 0,
            }),
            Job::Unmount if self.common.operands.is_empty() => {
                return Err("--unmount requires a MOUNTPOINT".to_owned());
            }
            Job::Unmount => {
                Action::Unmount(self.common.operands.iter().map(PathBuf::from).collect())
            }
            Job::List => {
                let (sources, paths) = self.source_and_paths()?;
                Action::Inspect(sources, Inspection::List(paths, style))
            }
            Job::Cat => match self.source_and_paths()? {
                (_, paths) if paths.is_empty() => {
                    return Err("--cat requires a SOURCE and the PATHs of files in it".to_owned());
                }
                (sources, paths) => Action::Inspect(sources, Inspection::Cat(paths)),
            },
        })
    }

    /// Returns the one source of `--list` and `--cat`, and the paths in it.
    fn source_and_paths(&self) -> Result<(Sources, Vec<String>), String> {
        let sources = usize::from(self.game.is_none());
        let missing = "the SOURCE is missing";
        let (sources, paths) = self
            .common
            .operands
            .split_at_checked(sources)
            .ok_or(missing)?;
        let paths = paths.iter().map(|path| match path.to_str() {
            Some(path) => Ok(path.to_owned()),
            None => Err(format!(
                "{}: is not UTF-8, as all paths must be",
                path.display()
            )),
        });
        Ok((
            self.sources(sources, missing)?,
            paths.collect::<Result<_, _>>()?,
        ))
    }

    fn sources(&self, sources: &[OsString], missing: &str) -> Result<Sources, String> {
        if self.game.is_none() && !self.mods.is_empty() {
            return Err("--mod requires --game".to_owned());
        }
        Ok(match (&self.game, sources) {
            (Some(_), [_, ..]) => {
                return Err("--game mounts the archives of its folder and no SOURCE".to_owned());
            }
            (Some(_), []) if self.order == Some(Order::Cli) => {
                return Err("--order cli applies to SOURCEs, and --game has none".to_owned());
            }
            (Some(folder), []) => Sources::Game {
                folder: local_path(&Location::parse(folder)?)?,
                order: self.order,
                mods: self.mods()?,
            },
            (None, []) => return Err(missing.to_owned()),
            (None, sources) => Sources::Given {
                locations: locations(sources)?,
                order: self.order,
                separate: self.separate,
            },
        })
    }

    /// Returns the folders of mods.
    fn mods(&self) -> Result<Vec<PathBuf>, String> {
        let mods = self.mods.iter();
        mods.map(|folder| local_path(&Location::parse(folder)?))
            .collect()
    }

    /// Returns the log level.
    pub fn log_level(&self) -> log::LevelFilter {
        match (self.quiet, self.verbosity) {
            (true, _) => log::LevelFilter::Error,
            // Warnings about a source matter only to callers that mount it.
            (_, 0) if self.job.is_some() => log::LevelFilter::Error,
            (_, 0) => log::LevelFilter::Warn,
            (_, 1) => log::LevelFilter::Info,
            _ => log::LevelFilter::Debug,
        }
    }
}

fn locations(sources: &[OsString]) -> Result<Vec<Location>, String> {
    let sources = sources.iter();
    sources.map(|source| Location::parse(source)).collect()
}

/// Returns the path of the folder of a game or a mod, which must be on disk.
fn local_path(location: &Location) -> Result<PathBuf, String> {
    let path = location.path().map(Path::to_owned);
    let name = || location.display_name();
    path.ok_or_else(|| format!("{}: --game accepts folders on disk only", name()))
}
