//! The command line of `hpi`, which is also that of its other names.
//!
//! clap parses it, and makes help, man pages and completions from the same types. Only
//! the values of `-o` are a table of our own ([`mount_options`]).

mod completions;
mod contents;
mod desktop;
mod diff;
mod man;
mod mount;
pub mod mount_options;
mod old;
mod pack;
mod pages;
mod rejected;
#[cfg(serve)]
mod serve;
mod values;
mod without_mount;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub use self::completions::completions;
pub use self::contents::Contents;
pub use self::desktop::{Open, Thumbnail};
pub use self::diff::Diff;
pub use self::man::{man, man_pages};
pub use self::mount::Mount;
#[cfg(edit)]
pub use self::mount::Revert;
pub use self::pack::{Apply, Pack};
pub use self::rejected::Rejected;
#[cfg(serve)]
pub use self::serve::Serve;
#[cfg(feature = "index")]
pub use self::without_mount::Index;
pub use self::without_mount::{Cat, Check, Extract, List, Unmount};
use crate::app::EXIT_REASONS;

/// The name of the program.
const HPI: &str = "hpi";

/// Mount, list, extract, serve, check, compare, pack and change old game archives
#[derive(Debug, Parser)]
#[command(
    name = HPI,
    version,
    disable_help_subcommand = true,
    // Two lines less than usual, so that it fits on a screen.
    help_template = "{about-with-newline}{usage-heading} {usage}\n{all-args}",
    max_term_width = 100
)]
pub struct Hpi {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the types have the texts")]
pub enum Command {
    Mount(Mount),
    List(List),
    Cat(Cat),
    Extract(Extract),
    #[cfg(serve)]
    Serve(Serve),
    Check(Check),
    Diff(Diff),
    #[cfg(feature = "index")]
    Index(Index),
    Pack(Pack),
    Apply(Apply),
    #[cfg(edit)]
    Revert(Revert),
    Unmount(Unmount),
    /// Offer hpi for archives in Explorer, for this user
    ///
    /// "Open with" in the menu of an archive has hpi then. No program loses its files.
    #[cfg(explorer)]
    Register,
    /// Take `hpi register` back
    #[cfg(explorer)]
    Unregister,
    Open(Open),
    Thumbnail(Thumbnail),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
        /// The program, which is `hpi` or another name of one of its commands
        #[arg(default_value = HPI, value_parser = name_parser())]
        program: String,
    },
    /// Print the man page of a command, or write all pages
    Man {
        /// The command, or none for the page of `hpi`
        command: Option<String>,
        /// Write the pages of hpi and of all commands to `man1` and `man8` in FOLDER
        #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        #[arg(conflicts_with = "command")]
        to: Option<PathBuf>,
    },
}

/// The name under which desktops open archives.
pub const DESKTOP: &str = "hpimount-open";

/// The names under which the program is one of its commands.
pub const NAMES: [(&str, &str); 4] = [
    ("hpimount", "mount"),
    ("hpipack", "pack"),
    (DESKTOP, "open"),
    ("hpimount-thumbnailer", "thumbnail"),
];

fn name_parser() -> clap::builder::PossibleValuesParser {
    let names = NAMES.iter().map(|(name, _)| *name);
    std::iter::once(HPI).chain(names).collect::<Vec<_>>().into()
}

/// Returns the name of the program by the path that it was started with.
pub fn name(path: Option<&OsStr>) -> &'static str {
    let name = path.and_then(|path| Path::new(path).file_name());
    let mut names = NAMES.iter().map(|(name, _)| *name);
    names
        .find(|known| name == Some(known.as_ref()))
        .unwrap_or(HPI)
}

/// Parses the command line of the program with a [`name`].
///
/// # Errors
/// Returns the first problem, or the text of `--help` or `--version`.
pub fn parse(name: &str, line: impl IntoIterator<Item = OsString>) -> Result<Command, Rejected> {
    let line: Vec<OsString> = line.into_iter().collect();
    old::check(name, &line)?;
    Ok(match name {
        "hpimount" => Command::Mount(parse_as(name, line)?),
        "hpipack" => Command::Pack(parse_as(name, line)?),
        DESKTOP => Command::Open(parse_as(name, line)?),
        "hpimount-thumbnailer" => Command::Thumbnail(parse_as(name, line)?),
        _ => parse_as::<Hpi>(name, opening(line))?.command,
    })
}

/// Returns the line that opens files in the browser if a line has nothing but full paths:
/// desktops start a program with them when files are dropped on it.
fn opening(mut line: Vec<OsString>) -> Vec<OsString> {
    let is_full = |word: &OsString| Path::new(word).is_absolute();
    if cfg!(serve) && line.len() > 1 && line.iter().skip(1).all(is_full) {
        line.splice(1..1, ["serve".into(), "--open".into()]);
    }
    line
}

/// Parses the command line of a program.
fn parse_as<A: Parser>(name: &str, line: Vec<OsString>) -> Result<A, clap::Error> {
    // Without the other commands, whose texts a mount would keep in its heap.
    let mut command = named(A::command(), name);
    let matches = command.try_get_matches_from_mut(line)?;
    A::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Returns a program for the parser and the generators: `hpi`, or the one with another
/// name.
pub fn command(name: &str) -> clap::Command {
    let hpi = Hpi::command();
    let other = NAMES.iter().find(|(known, _)| *known == name);
    let command = other.and_then(|(_, command)| hpi.find_subcommand(command).cloned());
    named(command.unwrap_or(hpi), name)
}

/// Returns a command with the name of a program, and with exit codes in its long help and
/// those of its commands.
fn named(command: clap::Command, name: &str) -> clap::Command {
    let command = command
        .name(name.to_owned())
        .bin_name(name)
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100);
    match command.has_subcommands() {
        true => command.mut_subcommands(with_exit_codes),
        false => with_exit_codes(command),
    }
}

fn with_exit_codes(command: clap::Command) -> clap::Command {
    let before = command.get_after_long_help().map(ToString::to_string);
    command.after_long_help(before.unwrap_or_default() + &exit_codes())
}

/// Returns the exit codes, one per line.
fn exit_codes() -> String {
    let lines = EXIT_REASONS.iter();
    let lines = lines.map(|reason| format!("\n  {:>2}  {}", reason.code, reason.meaning));
    format!("Exit codes:{}", lines.collect::<String>())
}
