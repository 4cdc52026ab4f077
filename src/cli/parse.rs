//! Parsing of a command line into settings, by the table of options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::option::SECRET_FILE;
use super::{OptionSpec, Program, Settings, Takes};

/// Why a command line is rejected.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// A message of the parser, or the text of `--help` or `--version`.
    #[error(transparent)]
    Parser(#[from] clap::Error),
    /// A message about a value.
    #[error("{0}")]
    Value(String),
}

impl Rejected {
    /// Returns the message for the user, in one line. Prints the text of
    /// `--help` or `--version` instead and exits, if that was requested.
    pub fn into_message(self) -> String {
        match self {
            Self::Parser(error) if !error.use_stderr() => error.exit(),
            Self::Parser(error) => format!("{}; see --help", first_paragraphs(&error.to_string())),
            Self::Value(problem) => problem,
        }
    }
}

/// Returns what a message of the parser says before the usage, in one line.
fn first_paragraphs(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let lines = lines.take_while(|line| {
        !["Usage:", "For more"]
            .iter()
            .any(|end| line.starts_with(end))
    });
    let mut text = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        match line.strip_prefix("tip: ") {
            Some(tip) => text += &format!("; {tip}"),
            None if text.is_empty() => text += line,
            None => text += &format!(" {line}"),
        }
    }
    text
}

/// How similar a misspelt name must be to one that is suggested, by Jaro and
/// Winkler, from 0 to 1.
const SIMILAR: f64 = 0.85;

/// An option that was given.
struct Given<S: 'static> {
    /// Its position on the command line.
    index: usize,
    option: &'static OptionSpec<S>,
    value: OsString,
}

impl<S: Settings> Program<S> {
    /// Parses a command line, program name first. Options apply in the given
    /// order.
    ///
    /// # Errors
    /// Returns the first problem.
    pub fn parse(&self, line: impl IntoIterator<Item = OsString>) -> Result<S, Rejected> {
        let mut settings = S::default();
        let matches = self.command().try_get_matches_from(line)?;
        let mut given: Vec<Given<S>> = Vec::new();
        for option in self.flags() {
            given.extend(occurrences(option, &matches));
        }
        given.sort_by_key(|given| given.index);
        for Given { option, value, .. } in &given {
            self.apply(option, value, &mut settings)
                .map_err(Rejected::Value)?;
        }
        let operands = self.operands.iter();
        let operands = operands.filter_map(|operand| matches.get_raw(operand.name));
        settings.common().operands = operands.flatten().map(OsStr::to_owned).collect();
        Ok(settings)
    }
}

impl<S> Program<S> {
    fn apply(&self, option: &OptionSpec<S>, value: &OsStr, settings: &mut S) -> Result<(), String> {
        match option.takes {
            Takes::Nothing(apply) | Takes::Repeats(apply) => apply(settings),
            Takes::Value(_, apply)
            | Takes::File(_, apply)
            | Takes::Folder(_, apply)
            | Takes::Folders(_, apply)
            | Takes::Sources(_, apply)
            | Takes::Choice(_, _, apply) => {
                apply(settings, value).map_err(|problem| {
                    let name = option.spellings().pop().unwrap_or_default();
                    format!("{name} {}: {problem}", value.display())
                })?;
            }
            Takes::MountOptions(_) => self.apply_mount_options(value, settings)?,
        }
        Ok(())
    }

    /// Applies the value of one `-o`.
    fn apply_mount_options(&self, list: &OsStr, settings: &mut S) -> Result<(), String> {
        let texts = list.as_bytes().split(|byte| *byte == b',');
        for text in texts.filter(|text| !text.is_empty()) {
            self.apply_mount_option(OsStr::from_bytes(text), settings)?;
        }
        Ok(())
    }

    fn apply_mount_option(&self, text: &OsStr, settings: &mut S) -> Result<(), String> {
        let bytes = text.as_bytes();
        let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]))),
            None => (bytes, None),
        };
        if self.ignores_mount_option(name) {
            return Ok(());
        }
        let shown_name = String::from_utf8_lossy(name);
        let option = self
            .mount_options()
            .find(|option| option.id().as_bytes() == name)
            .ok_or_else(|| format!("-o {shown_name}: unknown option{}", self.suggestion(name)))?;
        let applied = match (&option.takes, value) {
            (Takes::Nothing(apply) | Takes::Repeats(apply), None) => {
                apply(settings);
                Ok(())
            }
            (
                Takes::Value(_, apply)
                | Takes::File(_, apply)
                | Takes::Folder(_, apply)
                | Takes::Folders(_, apply)
                | Takes::Sources(_, apply)
                | Takes::Choice(_, _, apply),
                Some(value),
            ) => apply(settings, value),
            _ => Err(format!("expected {}", option.usage())),
        };
        applied.map_err(|problem| match option.takes {
            // What was given instead of the file may be the secret itself.
            Takes::File(SECRET_FILE, _) => format!("-o {shown_name}: {problem}"),
            _ => format!("-o {}: {problem}", text.display()),
        })
    }

    /// Returns a hint at the mount option that is most similar to a misspelt
    /// name; empty if none is.
    fn suggestion(&self, name: &[u8]) -> String {
        let name = String::from_utf8_lossy(name);
        let known = self.mount_options().map(OptionSpec::id);
        let rated = known.map(|id| (strsim::jaro_winkler(&name, id), id));
        let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other));
        match best {
            Some((similarity, id)) if similarity >= SIMILAR => format!(", similar to {id}"),
            _ => String::new(),
        }
    }

    /// Returns whether an option is one of mount(8) and fstab(5) that is
    /// ignored here; those that begin with `x-` are for other programs.
    fn ignores_mount_option(&self, name: &[u8]) -> bool {
        let mut ignored = self.ignored_mount_options.iter();
        name.starts_with(b"x-") || ignored.any(|ignored| ignored.as_bytes() == name)
    }
}

/// Returns all occurrences of an option.
fn occurrences<S>(option: &'static OptionSpec<S>, matches: &ArgMatches) -> Vec<Given<S>> {
    let id = option.id();
    if matches.value_source(id) != Some(ValueSource::CommandLine) {
        return Vec::new();
    }
    let mut indices = matches.indices_of(id).into_iter().flatten();
    let given = |index, value| Given {
        index,
        option,
        value,
    };
    match option.takes {
        Takes::Nothing(_) | Takes::Repeats(_) => {
            let times = match option.takes {
                Takes::Repeats(_) => matches.get_count(id).into(),
                _ => 1,
            };
            let index = indices.next().unwrap_or_default();
            (0..times).map(|_| given(index, OsString::new())).collect()
        }
        _ => {
            let values = matches.get_raw(id).into_iter().flatten();
            let values = values.map(OsStr::to_owned);
            indices
                .zip(values)
                .map(|(at, value)| given(at, value))
                .collect()
        }
    }
}
