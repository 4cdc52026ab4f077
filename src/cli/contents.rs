//! The options that say what is read, and how. All commands that read sources have them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum, ValueHint};
use log::LevelFilter;

use super::mount_options::{self, Settings};
use crate::app::MountOptions;
use crate::inspect::EXPANSION;
use crate::mount::{Meta, Order, Sources};
use crate::platform::matching;
use crate::source::Location;

/// The name of `-o` for clap.
pub(super) const MOUNT_OPTIONS_ID: &str = "mount_options";

/// The placeholder of its value.
pub(super) const MOUNT_OPTIONS_VALUE: &str = "OPTION,...";

/// What is read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for sources")]
pub struct Contents {
    /// Mount options, separated by commas
    ///
    /// They are as in `mount(8)`; `hpimount(8)` and `hpi mount --help` describe them. Without a
    /// mount, those that are about contents count. The option can be given several times. Of mount
    /// options that contradict each other, the last one counts.
    #[arg(id = MOUNT_OPTIONS_ID, short = 'o', value_name = MOUNT_OPTIONS_VALUE, value_delimiter = ',')]
    options: Vec<OsString>,
    /// Read a game's folder: its archives and loose files, merged as the game does
    ///
    /// The archives are in the order of the game's own loader, with the folder's loose files on
    /// top. There is no SOURCE then. The game is Grand Theft Auto if the folder `data` has its
    /// lists of files, and else the one that most of the archives are made for, unless `--order`
    /// names it. `check`, `diff` and `index` take it several times.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(super) game: Vec<OsString>,
    /// With --game, a folder of loose files on top; may be repeated
    ///
    /// A folder, such as a mod, is above the files of the game. The last one is on top. Files in
    /// the folder itself replace files of the same name in the IMG archives of Grand Theft Auto.
    #[arg(long = "mod", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    mods: Vec<OsString>,
    /// Which of several merged HPI archives wins [default: cli; with --game the game's rule]
    ///
    /// It wins where they have files of the same name. The rules of the games go by the archives'
    /// extensions, names and dates; `cli` goes by the command line and cannot be used with
    /// `--game`, whose default is the rule of the game.
    #[arg(long, conflicts_with = "separate")]
    order: Option<Order>,
    /// Give each archive its own directory instead of merging them
    ///
    /// The directories are in the root, named after the archives' files. Without it, HPI archives
    /// are merged.
    #[arg(long, conflicts_with = "game")]
    separate: bool,
    /// Apply a directory of changes or a patch to SOURCE; may be repeated
    ///
    /// A directory DIR has the paths of a mount, whatever that is made of: a file there replaces or
    /// adds the file, an empty file `.wh.NAME` deletes NAME, and `X.d/` has the changes inside the
    /// archive X. Edited files of `converted/` become the assets that they show;
    /// `user.hpimount.editable` of a file in a mount tells what can be edited in it. DIR may be the
    /// upper directory of an overlay.
    ///
    /// A patch (`.xdelta`, `.bps`, `.ups`, `.ppf`, `.ips`, by its content) is applied to a single
    /// SOURCE while it is read: to the plain image of a disc, whatever that is compressed as, or to
    /// the file itself. A patch that was made for another file is an error that names both; `-o
    /// verify` compares all its checksums. An XML of Riivolution (`mod.xml#Section/Option=2`
    /// chooses) or a game mod descriptor of Dolphin is applied to a GameCube disc.
    ///
    /// Several are applied in the order given; of directories the last one wins. Nothing is copied.
    /// A single archive or disc with its changes is also a file in `.hpimount/image` of a mount;
    /// where archives are merged, DIR is above all of them. What cannot be applied is listed, and
    /// nothing is read. A file of DIR that is changed later cannot be read until the next mount.
    /// `check` and `index` take all SOURCEs as one; of `diff`, the changes are those of the second
    /// side, and a side alone is compared with itself as changed.
    #[arg(long, value_name = "CHANGES", value_hint = ValueHint::AnyPath, value_parser = absolute())]
    pub(super) apply: Vec<PathBuf>,
    /// With --apply, refuse changes that the game may not find
    ///
    /// This refuses what is otherwise a warning: files on discs that move, because a game that
    /// has their sectors compiled in reads the old ones.
    #[arg(long)]
    apply_strict: bool,
    /// Read nothing if one of several sources cannot be opened
    ///
    /// A source that is damaged, unreadable or of no known format is otherwise skipped with a
    /// message. The exit status is that of the first such source.
    #[arg(long)]
    strict: bool,
    /// Read the assets converted to pictures, models, sounds, texts and tables
    ///
    /// The converted tree has the same directories. Without this option it is the directory
    /// `converted` in the root of a mount.
    #[arg(long)]
    pub(super) converted: bool,
    /// Show no X.d and X.meta directories beside archives and assets
    ///
    /// This is `-o meta=off`, and also hides `X.d`.
    #[arg(long)]
    no_meta: bool,
    /// Log more; twice for everything
    ///
    /// Given twice, details for debugging are logged. `check` lists matters of style too.
    #[arg(short, long, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Log errors only, and show no progress
    #[arg(short, long, conflicts_with = "verbose")]
    pub(super) quiet: bool,
}

/// How much is read of sources that are not mounted.
#[derive(Debug, Args)]
pub(super) struct Bounds {
    /// How many bytes are read for each byte of a source
    ///
    /// At most N bytes are read for each byte, or N times 16 MiB of a smaller source, and at most N
    /// archives in archives are entered for each MiB. A small file can pretend to hold a million
    /// archives, or petabytes; what exceeds a limit is reported as left out.
    #[arg(long, value_name = "N", default_value_t = EXPANSION)]
    pub(super) expansion: u64,
}

impl Contents {
    /// Returns the log level without a mount: warnings about a source matter only to those
    /// who mount it.
    pub fn log_level(&self) -> LevelFilter {
        self.log_level_or(LevelFilter::Error)
    }

    /// Returns the log level, which is `usual` without these options.
    pub(super) fn log_level_or(&self, usual: LevelFilter) -> LevelFilter {
        match (self.quiet, self.verbose) {
            (true, _) => LevelFilter::Error,
            (_, 0) => usual,
            (_, 1) => LevelFilter::Info,
            _ => LevelFilter::Debug,
        }
    }

    /// Returns the options of the mount, or of what is read instead.
    ///
    /// # Errors
    /// Returns a message about a mount option.
    pub fn options(&self) -> Result<MountOptions, String> {
        self.settings().map(|settings| settings.mount)
    }

    pub(super) fn settings(&self) -> Result<Settings, String> {
        let mut settings = mount_options::parse(&self.options)?;
        let mount = &mut settings.mount;
        mount.apply.clone_from(&self.apply);
        mount.apply_strict = self.apply_strict;
        mount.vfs.strict = self.strict;
        mount.vfs.converted = self.converted;
        if self.no_meta {
            mount.vfs.meta = Meta::Off;
            mount.vfs.companions = false;
        }
        Ok(settings)
    }

    /// Returns the sources of a tree: these, or the game.
    pub(super) fn sources(&self, sources: &[OsString]) -> Result<Sources, String> {
        match (&self.game[..], sources) {
            ([_, _, ..], _) => Err("--game is given several times".to_owned()),
            ([_], [_, ..]) => {
                Err("--game takes the archives of its folder and no SOURCE".to_owned())
            }
            ([folder], []) => self.of_game(folder),
            ([], []) => Err("the SOURCE is missing".to_owned()),
            ([], sources) => self.given(sources),
        }
    }

    /// Returns the sources of a command that handles each separately. With changes, which
    /// apply to one tree, all of them are one.
    pub(super) fn separate_sources(&self, sources: &[OsString]) -> Result<Vec<Sources>, String> {
        if !self.apply.is_empty() && self.game.len() < 2 {
            return Ok(vec![self.sources(sources)?]);
        }
        if !self.apply.is_empty() {
            return Err("--apply changes one tree, and so one --game".to_owned());
        }
        let games = self.game.iter().map(|game| self.of_game(game));
        let given = sources.iter().flat_map(|source| matching(source));
        let given = given.map(|source| self.given(&[source]));
        match games.chain(given).collect::<Result<Vec<_>, _>>()? {
            sources if sources.is_empty() => Err("the SOURCE is missing".to_owned()),
            sources => Ok(sources),
        }
    }

    /// Returns the one source of a command, or the game, and the paths in it.
    pub(super) fn source_and_paths(
        &self,
        source: Option<&OsString>,
        paths: &[OsString],
    ) -> Result<(Sources, Vec<String>), String> {
        let sources = usize::from(self.game.is_empty());
        let words: Vec<OsString> = source.into_iter().chain(paths).cloned().collect();
        let (sources, paths) = words.split_at(sources.min(words.len()));
        let paths = paths.iter().map(|path| match path.to_str() {
            Some(path) => Ok(path.to_owned()),
            None => Err(format!(
                "{}: is not UTF-8, as all paths must be",
                path.display()
            )),
        });
        Ok((self.sources(sources)?, paths.collect::<Result<_, _>>()?))
    }

    pub(super) fn of_game(&self, folder: &OsStr) -> Result<Sources, String> {
        if self.order == Some(Order::Cli) {
            return Err("--order cli applies to SOURCEs, and --game has none".to_owned());
        }
        let mods = self.mods.iter();
        let mods = mods.map(|folder| local_path(&Location::parse(folder)?));
        Ok(Sources::Game {
            folder: local_path(&Location::parse(folder)?)?,
            order: self.order,
            mods: mods.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn given(&self, sources: &[OsString]) -> Result<Sources, String> {
        if self.game.is_empty() && !self.mods.is_empty() {
            return Err("--mod requires --game".to_owned());
        }
        let sources = sources.iter().flat_map(|source| matching(source));
        let locations = sources.map(|source| Location::parse(&source));
        Ok(Sources::Given {
            locations: locations.collect::<Result<_, _>>()?,
            order: self.order,
            separate: self.separate,
        })
    }
}

/// Parses a path, and returns it as an absolute one.
pub(super) fn absolute() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    use clap::builder::TypedValueParser;
    clap::builder::PathBufValueParser::new().try_map(std::path::absolute)
}

/// Returns the path of the folder of a game or a mod, which must be on disk.
fn local_path(location: &Location) -> Result<PathBuf, String> {
    let path = location.path().map(Path::to_owned);
    let name = || location.display_name();
    path.ok_or_else(|| format!("{}: --game accepts folders on disk only", name()))
}

impl ValueEnum for Order {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ta, Self::Kingdoms, Self::Rwe, Self::Cli]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let name = Self::NAMES.iter().find(|(_, order)| order == self)?.0;
        Some(clap::builder::PossibleValue::new(name).help(match self {
            Self::Ta => "As in Total Annihilation",
            Self::Kingdoms => "As in TA: Kingdoms",
            Self::Rwe => "As in the RWE engine",
            Self::Cli | Self::Gta => "The last one on the command line wins",
        }))
    }
}
