//! The commands that read sources without mounting them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Parser, ValueEnum, ValueHint};

use super::contents::{Bounds, Contents};
use crate::app;
use crate::inspect::{ExtractStyle, ListStyle, SortKey};
use crate::mount::Sources;
use crate::platform::WINDOWS_NAMES;

/// List what is in a source, or below PATHs in it
///
/// A line has mode, size, date (UTC), compression method and path of a file or directory. With
/// PATHs, list these and everything below them. Directories `X.d` and `X.meta` are listed only if a
/// PATH leads into them. No FUSE is needed.
#[derive(Debug, Parser)]
pub struct List {
    /// What to list; none with --game
    #[arg(value_hint = ValueHint::AnyPath)]
    source: Option<OsString>,
    /// Paths of files as in a mount, ignoring case, such as `boot.HIP.d/layers`
    #[arg(value_name = "PATH", value_hint = ValueHint::Other)]
    paths: Vec<OsString>,
    /// The order of the lines [default: directory by directory, as in the source]
    ///
    /// With an order, the list is kept in memory, at most as much as `-o cachesize=`.
    #[arg(long, value_name = "KEY")]
    sort: Option<SortKey>,
    /// List only entries of this type
    ///
    /// TYPE is `file`, `directory`, `link`, `archive` (a file with an `X.d`), `asset` (a file with
    /// an `X.meta`), the type of an asset in a HIP archive, such as `RWTX`, or an extension, such
    /// as `fbi`; case is ignored.
    #[arg(long = "type", value_name = "TYPE")]
    only: Option<String>,
    /// Print a checksum of each file
    ///
    /// A line is as that of `sha256sum`, which compares them with the files of a copy: `sha256sum
    /// -c`.
    #[arg(long, value_name = "HASH", value_parser = ["sha256"])]
    hash: Option<String>,
    /// Print paths only, each with a NUL after it
    ///
    /// This is for `xargs -0` and others. With `--hash` these are checksums and paths.
    #[arg(short = '0', long, conflicts_with = "json")]
    null: bool,
    /// Write JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    bounds: Bounds,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

/// Print files of a source
///
/// The files at the PATHs are printed in order. No FUSE is needed.
#[derive(Debug, Parser)]
pub struct Cat {
    /// What to read; none with --game
    #[arg(value_hint = ValueHint::AnyPath)]
    source: Option<OsString>,
    /// Paths of files as in a mount, ignoring case; they may lead into `X.d` and `X.meta`
    #[arg(value_name = "PATH", value_hint = ValueHint::Other)]
    paths: Vec<OsString>,
    /// Write to FILE, which must not exist, instead of to standard output
    ///
    /// FILE appears when it is complete. A shell that changes what it redirects, as PowerShell
    /// does, changes nothing in it.
    #[arg(short = 'O', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

/// Extract a source, or PATHs in it, to a folder
///
/// The files of SOURCE, or with PATHs these and everything below them, are written to the current
/// folder or to DIR, each with its time, and when it is complete. A damaged file is named on
/// standard error, and the others are written. No FUSE is needed.
///
/// The files are as they are packed. `--nested` and `--meta` add what a mount shows beside them,
/// and `--converted` writes the assets converted instead. Symbolic links in SOURCE are links in
/// DIR; below PATHs they are the files to which they lead.
#[derive(Debug, Parser)]
pub struct Extract {
    /// What to extract; none with --game
    #[arg(value_hint = ValueHint::AnyPath)]
    source: Option<OsString>,
    /// Paths of files or directories as in a mount, ignoring case
    #[arg(value_name = "PATH", value_hint = ValueHint::Other)]
    paths: Vec<OsString>,
    /// The folder to write to, which is made if it is missing [default: the current folder]
    #[arg(short = 'C', long = "directory", value_name = "DIR", value_hint = ValueHint::DirPath)]
    folder: Option<PathBuf>,
    /// Extract the contents of each archive X in the source too, as X.d
    #[arg(long, conflicts_with = "no_meta")]
    nested: bool,
    /// Extract the directory X.meta of each asset X too
    #[arg(long, conflicts_with_all = ["no_meta", "converted"])]
    meta: bool,
    /// Replace files that exist
    #[arg(short, long)]
    force: bool,
    /// Give files names that Windows can have, as it is done there
    ///
    /// What Windows does not allow in a name becomes `%XX`; names that differ in case alone get
    /// numbers. Links are left out.
    #[arg(long)]
    windows_names: bool,
    #[command(flatten)]
    bounds: Bounds,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

/// Read and check everything in sources
///
/// Each SOURCE and `--game` is checked, including nested archives, on all cores: everything is
/// decoded, checksums are compared, and assets are parsed. Each finding is a line with file, offset
/// and cause; a summary follows. For disc images and their tracks, CRC-32, MD5 and SHA-1 are
/// printed. `-o cachesize` and `-o threads` apply here too; with `-o meta=off` assets are not
/// parsed. No FUSE is needed.
#[derive(Debug, Parser)]
pub struct Check {
    /// What to check, each separately
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    sources: Vec<OsString>,
    /// Compare disc images with a list of Redump or No-Intro
    ///
    /// The list in FILE is Logiqx XML or clrmamepro's text. It is compared with disc images and
    /// their tracks. An image that is not in the list is reported as damaged. A patch of `--apply`
    /// that was made for another file is refused with the name of that file, if the list has it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    dat: Option<PathBuf>,
    /// Write JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    bounds: Bounds,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

/// Write a database of everything in sources
///
/// DB, for `sqlite3(1)`, has the entries of each SOURCE and `--game` with their checksums, the
/// facts of assets, references, and all names and texts for searches. An existing database is
/// updated: sources that are unchanged are skipped. A source that cannot be opened has its error in
/// the database. `-o cachesize` and `-o threads` apply here too. No FUSE is needed.
#[cfg(feature = "index")]
#[derive(Debug, Parser)]
pub struct Index {
    /// The file of the database
    #[arg(value_name = "DB", value_hint = ValueHint::FilePath)]
    database: PathBuf,
    /// What to index, each separately
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    sources: Vec<OsString>,
    #[command(flatten)]
    bounds: Bounds,
    /// Options for sources.
    #[command(flatten)]
    pub contents: Contents,
}

/// Unmount what is mounted at each MOUNTPOINT
///
/// Mounts of `hpimount` are unmounted as by `fusermount3 -u` and `umount(8)`. A mount that is in
/// use stays mounted.
#[derive(Debug, Parser)]
pub struct Unmount {
    /// Where they are mounted
    #[arg(required = true, value_name = "MOUNTPOINT", value_hint = ValueHint::DirPath)]
    pub mount_points: Vec<PathBuf>,
}

impl List {
    /// Returns the source, the paths in it, and how they are listed.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<(Sources, app::Inspection), String> {
        let contents = &self.contents;
        let (sources, paths) = contents.source_and_paths(self.source.as_ref(), &self.paths)?;
        let style = ListStyle {
            json: self.json,
            umask: contents.options()?.umask,
            sort: self.sort,
            only: self.only.as_ref().map(|only| only.to_ascii_lowercase()),
            sha256: self.hash.is_some(),
            null: self.null,
            expansion: self.bounds.expansion,
        };
        Ok((sources, app::Inspection::List(paths, style)))
    }
}

impl Cat {
    /// Returns the source, and the paths in it.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<(Sources, app::Inspection), String> {
        let contents = &self.contents;
        match contents.source_and_paths(self.source.as_ref(), &self.paths)? {
            (_, paths) if paths.is_empty() => Err("the PATH is missing".to_owned()),
            (sources, paths) => Ok((sources, app::Inspection::Cat(paths, self.output.clone()))),
        }
    }
}

impl Extract {
    /// Returns the source, what to extract, and where to.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<(Sources, app::Extract), String> {
        let contents = &self.contents;
        let (sources, paths) = contents.source_and_paths(self.source.as_ref(), &self.paths)?;
        let style = ExtractStyle {
            paths,
            nested: self.nested,
            meta: self.meta,
            expansion: self.bounds.expansion,
        };
        let extract = app::Extract {
            style,
            folder: self.folder.clone().unwrap_or_else(|| PathBuf::from(".")),
            force: self.force,
            windows_names: self.windows_names || WINDOWS_NAMES,
            progress: !contents.quiet,
        };
        Ok((sources, extract))
    }
}

impl Check {
    /// Returns what to check.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<app::Check, String> {
        Ok(app::Check {
            sources: self.contents.separate_sources(&self.sources)?,
            list: self.dat.clone(),
            expansion: self.bounds.expansion,
            json: self.json,
            progress: !self.contents.quiet,
            is_verbose: self.contents.verbose > 0,
        })
    }
}

#[cfg(feature = "index")]
impl Index {
    /// Returns what to index.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<app::Index, String> {
        Ok(app::Index {
            database: self.database.clone(),
            sources: self.contents.separate_sources(&self.sources)?,
            expansion: self.bounds.expansion,
            progress: !self.contents.quiet,
        })
    }
}

impl ValueEnum for SortKey {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Name, Self::Size, Self::Time, Self::Type]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let name = Self::NAMES.iter().find(|(_, key)| key == self)?.0;
        Some(PossibleValue::new(name).help(match self {
            Self::Name => "By path",
            Self::Size => "The largest first",
            Self::Time => "The newest first",
            Self::Type => "By the type of the asset, or by extension",
        }))
    }
}
