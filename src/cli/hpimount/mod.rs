//! The command line of `hpimount`.

mod options;
mod page;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub use self::options::MAX_THREADS;
use super::{Common, Operand, Program, Settings};
#[cfg(feature = "index")]
use crate::app::Index;
use crate::app::{Check, Diff, EXIT_REASONS, Inspection, MountOptions};
use crate::inspect::{EXPANSION, ListStyle, SortKey};
use crate::mount::{Order, Sources};
use crate::source::Location;

/// The program, its options, and the texts about it.
pub const PROGRAM: Program<Args> = Program {
    name: "hpimount",
    // As for mount(8), which calls it, and all other helpers of that program.
    manual_section: "8",
    summary: "mount game archives as file systems",
    usage: &[
        "[OPTIONS] SOURCE... MOUNTPOINT",
        "[OPTIONS] --game FOLDER MOUNTPOINT",
        "--list [--json] SOURCE [PATH...]",
        "--cat SOURCE PATH...",
        "--check [--json] [--dat FILE] [--game FOLDER] [SOURCE...]",
        "--diff [--brief] [--json] A B",
        "--diff [OPTIONS] A... --against B...",
        "--diff [OPTIONS] --apply CHANGES SOURCE",
        "--diff --export DIR [--whole] [OPTIONS] A B",
        "--index FILE [--game FOLDER] [SOURCE...]",
        "--unmount MOUNTPOINT...",
    ],
    description: page::DESCRIPTION,
    operands: &[Operand {
        name: "SOURCE... MOUNTPOINT",
        help: "What to mount, then the directory to mount it on",
        many: true,
        not_needed_with: &["list", "cat", "check", "diff", "index", "unmount"],
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
    Diff,
    Index,
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
    /// Compare the sources of two sides.
    Diff(Diff),
    /// Write a database of everything in sources.
    #[cfg(feature = "index")]
    Index(Index),
    /// Unmount these mount points.
    Unmount(Vec<PathBuf>),
}

/// The parsed command line of `hpimount`.
#[derive(Debug, Default)]
pub struct Args {
    /// Operands, and the options of all programs.
    pub common: Common,
    /// Folders of games: several only with `--check`, `--diff` and `--index`.
    games: Vec<OsString>,
    mods: Vec<OsString>,
    order: Option<Order>,
    separate: bool,
    is_read_only: bool,
    job: Option<Job>,
    json: bool,
    dat: Option<OsString>,
    expansion: Option<u64>,
    list: Lists,
    /// The sources of the second side of `--diff`.
    against: Vec<OsString>,
    brief: bool,
    /// Where `--diff` writes a folder of changes.
    export: Option<PathBuf>,
    /// Whether archives are compared as a whole.
    whole: bool,
    /// The database of `--index`.
    index: Option<PathBuf>,
    verbosity: u8,
    quiet: bool,
    /// Options of the mount.
    pub mount: MountOptions,
    /// Whether to stay in the foreground.
    pub foreground: bool,
}

/// The options of `--list`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lists {
    sort: Option<SortKey>,
    /// A type, in lower case.
    only: Option<String>,
    sha256: bool,
    null: bool,
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
        self.requirements()?;
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
            sort: self.list.sort,
            only: self.list.only.clone(),
            sha256: self.list.sha256,
            null: self.list.null,
            expansion: self.expansion.unwrap_or(EXPANSION),
        };
        Ok(match job {
            Job::Check => Action::Check(Check {
                sources: self.separate_sources("--check requires a SOURCE")?,
                list: self.dat.as_ref().map(PathBuf::from),
                expansion: self.expansion.unwrap_or(EXPANSION),
                json: self.json,
                progress: !self.quiet,
                is_verbose: self.verbosity > 0,
            }),
            Job::Diff => Action::Diff(self.diff()?),
            Job::Index => self.index()?,
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

    /// Checks that options of one job are not given with another.
    fn requirements(&self) -> Result<(), String> {
        let is = |jobs: &[Job]| self.job.is_some_and(|job| jobs.contains(&job));
        let needs = [
            (
                self.json,
                is(&[Job::List, Job::Check, Job::Diff]),
                "--json requires --check, --diff or --list",
            ),
            (
                self.dat.is_some(),
                is(&[Job::Check]),
                "--dat requires --check",
            ),
            (
                self.expansion.is_some(),
                is(&[Job::Check, Job::Diff, Job::Index, Job::List]),
                "--expansion requires --check, --diff, --index or --list",
            ),
            (
                self.list != Lists::default(),
                is(&[Job::List]),
                "--sort, --type, --hash and --null require --list",
            ),
            (
                self.brief || self.export.is_some() || !self.against.is_empty(),
                is(&[Job::Diff]),
                "--against, --brief and --export require --diff",
            ),
            (
                self.whole,
                self.export.is_some(),
                "--whole requires --export",
            ),
            (
                self.mount.edit.is_some(),
                !self.is_read_only,
                "--edit contradicts -o ro",
            ),
            (
                self.games.len() > 1,
                is(&[Job::Check, Job::Diff, Job::Index]),
                "--game can be given several times only with --check, --diff and --index",
            ),
        ];
        match needs.iter().find(|(given, is_met, _)| *given && !is_met) {
            Some((_, _, problem)) => Err((*problem).to_owned()),
            None => Ok(()),
        }
    }

    /// Returns the two sides of `--diff`.
    fn diff(&self) -> Result<Diff, String> {
        let operands = &self.common.operands[..];
        let applies = !self.mount.apply.is_empty();
        let sides = match (&self.games[..], operands, &self.against[..]) {
            ([one, other], [], []) => [self.of_game(one)?, self.of_game(other)?],
            ([game], [], against @ [_, ..]) => [self.of_game(game)?, self.given(against)?],
            ([game], sources @ [_, ..], []) => [self.of_game(game)?, self.given(sources)?],
            ([game], [], []) if applies => [self.of_game(game)?, self.of_game(game)?],
            ([], source @ [_], []) if applies => [self.given(source)?, self.given(source)?],
            ([], [one, other], []) => [
                self.given(std::slice::from_ref(one))?,
                self.given(std::slice::from_ref(other))?,
            ],
            ([], sources @ [_, ..], against @ [_, ..]) => {
                [self.given(sources)?, self.given(against)?]
            }
            _ => {
                return Err(
                    "--diff compares two SOURCEs, SOURCEs with those of --against, \
                            a --game with SOURCEs or another --game, or one of these with \
                            its changes (--apply)"
                        .to_owned(),
                );
            }
        };
        Ok(Diff {
            sides,
            expansion: self.expansion.unwrap_or(EXPANSION),
            json: self.json,
            brief: self.brief,
            progress: !self.quiet,
            folder: self.export.clone(),
            whole: self.whole,
        })
    }

    /// Returns the action of `--index`.
    #[cfg(feature = "index")]
    fn index(&self) -> Result<Action, String> {
        let missing = "--index requires a SOURCE";
        Ok(Action::Index(Index {
            database: self.index.clone().ok_or(missing)?,
            sources: self.separate_sources(missing)?,
            expansion: self.expansion.unwrap_or(EXPANSION),
            progress: !self.quiet,
        }))
    }

    #[cfg(not(feature = "index"))]
    fn index(&self) -> Result<Action, String> {
        let file = self.index.as_deref().unwrap_or(Path::new(""));
        Err(format!(
            "--index {}: hpimount was built without indexes",
            file.display()
        ))
    }

    /// Returns the sources of a job that handles each separately. With changes, which
    /// apply to one mount, all of them are one.
    fn separate_sources(&self, missing: &str) -> Result<Vec<Sources>, String> {
        let operands = &self.common.operands[..];
        if !self.mount.apply.is_empty() && self.games.len() < 2 {
            return Ok(vec![self.sources(operands, missing)?]);
        }
        if !self.mount.apply.is_empty() {
            return Err("--apply changes one mount, and so one --game".to_owned());
        }
        let games = self.games.iter().map(|game| self.of_game(game));
        let given = operands.iter();
        let given = given.map(|source| self.given(std::slice::from_ref(source)));
        match games.chain(given).collect::<Result<Vec<_>, _>>()? {
            sources if sources.is_empty() => Err(missing.to_owned()),
            sources => Ok(sources),
        }
    }

    /// Returns the one source of `--list` and `--cat`, and the paths in it.
    fn source_and_paths(&self) -> Result<(Sources, Vec<String>), String> {
        let sources = usize::from(self.games.is_empty());
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
        match (self.games.first(), sources) {
            (Some(_), [_, ..]) => {
                Err("--game mounts the archives of its folder and no SOURCE".to_owned())
            }
            (Some(folder), []) => self.of_game(folder),
            (None, []) => Err(missing.to_owned()),
            (None, sources) => self.given(sources),
        }
    }

    fn of_game(&self, folder: &OsStr) -> Result<Sources, String> {
        if self.order == Some(Order::Cli) {
            return Err("--order cli applies to SOURCEs, and --game has none".to_owned());
        }
        Ok(Sources::Game {
            folder: local_path(&Location::parse(folder)?)?,
            order: self.order,
            mods: self.mods()?,
        })
    }

    fn given(&self, sources: &[OsString]) -> Result<Sources, String> {
        if self.games.is_empty() && !self.mods.is_empty() {
            return Err("--mod requires --game".to_owned());
        }
        Ok(Sources::Given {
            locations: locations(sources)?,
            order: self.order,
            separate: self.separate,
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
