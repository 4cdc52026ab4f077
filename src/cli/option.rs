//! Entries of a table of options.

use std::ffi::OsStr;

use clap::{Arg, ArgAction, ValueHint, builder::OsStringValueParser};

use super::values::choice;
use super::{Generated, Settings};

/// A function that sets a value in the settings `S`, or returns a message.
pub type Apply<S> = fn(&mut S, &OsStr) -> Result<(), String>;

/// The default of an option that has no effect unless it is given.
pub(super) const NO_DEFAULT: &str = "none";

/// The placeholder of a file with a secret.
pub(super) const SECRET_FILE: &str = "@FILE";

/// The placeholder of a file that replaces one with a name.
pub(super) const NAMED_FILE: &str = "NAME=FILE";

/// One option of a program with the settings `S`, with its texts for help, man
/// page, completions and docs/OPTIONS.md.
#[derive(Debug)]
pub struct OptionSpec<S: 'static> {
    /// Its name.
    pub name: Name,
    /// Its value and its effect on the settings.
    pub takes: Takes<S>,
    /// One line without a full stop.
    pub help: &'static str,
    /// A paragraph for the man page; names are in backticks.
    pub long_help: &'static str,
    /// The behavior without the option: a value or a few words.
    pub default: &'static str,
    /// Identifiers of the options that conflict with it.
    pub conflicts: &'static [&'static str],
    /// Whether it must be the only argument.
    pub exclusive: bool,
    /// Whether it is omitted from `-h` and docs/OPTIONS.md.
    pub hidden: bool,
}

/// The name of an option. Its identifier is its long name, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// `-s`, and the identifier.
    Short(char, &'static str),
    /// `--long`.
    Long(&'static str),
    /// `-s` and `--long`.
    Both(char, &'static str),
    /// `-o name`.
    Mount(&'static str),
}

/// The value of an option, and its effect on the settings.
#[derive(Debug)]
pub enum Takes<S> {
    /// No value.
    Nothing(fn(&mut S)),
    /// No value; may be repeated, and each occurrence counts.
    Repeats(fn(&mut S)),
    /// A value with this placeholder.
    Value(&'static str, Apply<S>),
    /// A file. With the placeholder `@FILE`, its path follows an `@`; with
    /// `NAME=FILE`, it follows a name and the option may be repeated.
    File(&'static str, Apply<S>),
    /// A directory.
    Folder(&'static str, Apply<S>),
    /// A directory; may be repeated.
    Folders(&'static str, Apply<S>),
    /// A source; may be repeated.
    Sources(&'static str, Apply<S>),
    /// One of these.
    Choice(&'static str, &'static [Choice], Apply<S>),
    /// Mount options of the same table, separated by commas; may be repeated.
    MountOptions(&'static str),
}

/// A possible value of an option.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line without a full stop.
    pub help: &'static str,
}

impl<S: Settings> OptionSpec<S> {
    /// `--generate KIND`, which is for packagers.
    pub(super) const GENERATE: Self = Self {
        exclusive: true,
        hidden: true,
        help: "Print the man page or the completions for a shell",
        long_help: "Print the man page or the completions for a shell to standard output, and do \
            nothing else. Packages install these.",
        default: NO_DEFAULT,
        ..Self::new(
            Name::Long("generate"),
            Takes::Choice("KIND", Generated::CHOICES, |settings, value| {
                settings.common().generate = Some(choice(value, &Generated::NAMES)?);
                Ok(())
            }),
        )
    };
}

impl<S> OptionSpec<S> {
    /// Creates an option with just a name, for struct update syntax.
    pub(super) const fn new(name: Name, takes: Takes<S>) -> Self {
        Self {
            name,
            takes,
            help: "",
            long_help: "",
            default: "",
            conflicts: &[],
            exclusive: false,
            hidden: false,
        }
    }

    /// Returns its identifier, unique among the options of its kind.
    pub fn id(&self) -> &'static str {
        match self.name {
            Name::Short(_, id) | Name::Long(id) | Name::Both(_, id) | Name::Mount(id) => id,
        }
    }

    /// Returns whether it is a value of `-o`.
    pub fn is_mount_option(&self) -> bool {
        matches!(self.name, Name::Mount(_))
    }

    /// Returns the ways to write it without its value: `-f` and `--foreground`.
    pub fn spellings(&self) -> Vec<String> {
        match self.name {
            Name::Short(short, _) => vec![format!("-{short}")],
            Name::Long(long) => vec![format!("--{long}")],
            Name::Both(short, long) => vec![format!("-{short}"), format!("--{long}")],
            Name::Mount(name) => vec![name.to_owned()],
        }
    }

    /// Returns the placeholder for its value.
    pub fn value_name(&self) -> Option<String> {
        match &self.takes {
            Takes::Nothing(_) | Takes::Repeats(_) => None,
            Takes::Value(name, _)
            | Takes::File(name, _)
            | Takes::Folder(name, _)
            | Takes::Folders(name, _)
            | Takes::Sources(name, _)
            | Takes::MountOptions(name) => Some((*name).to_owned()),
            Takes::Choice(_, choices, _) if self.is_mount_option() => {
                let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
                Some(names.join("|"))
            }
            Takes::Choice(name, ..) => Some((*name).to_owned()),
        }
    }

    /// Returns its possible values, if they are a fixed set.
    pub fn choices(&self) -> &'static [Choice] {
        match self.takes {
            Takes::Choice(_, choices, _) => choices,
            _ => &[],
        }
    }

    /// Returns its usage with the value: `--game FOLDER`, `uid=N`.
    pub fn usage(&self) -> String {
        let between = if self.is_mount_option() { "=" } else { " " };
        let value = self.value_name();
        let value = value.map_or_else(String::new, |value| format!("{between}{value}"));
        format!("{}{value}", self.spellings().join(", "))
    }

    /// Returns its one-line help, with the default if that is a value.
    pub fn help_with_default(&self) -> String {
        match self.value_name() {
            Some(_) if self.default != NO_DEFAULT => {
                format!("{} [default: {}]", self.help, self.default)
            }
            _ => self.help.to_owned(),
        }
    }

    /// Returns its paragraph, with the default.
    pub fn long_help_with_default(&self) -> String {
        format!("{}\n\n[default: {}]", self.long_help, self.default)
    }

    /// Returns the option for the parser; `None` for a mount option.
    pub(super) fn arg(&self) -> Option<Arg> {
        let arg = Arg::new(self.id());
        let arg = match self.name {
            Name::Short(short, _) => arg.short(short),
            Name::Long(long) => arg.long(long),
            Name::Both(short, long) => arg.short(short).long(long),
            Name::Mount(_) => return None,
        };
        let arg = arg
            .help(self.help_with_default())
            .long_help(self.long_help_with_default())
            .conflicts_with_all(self.conflicts)
            .exclusive(self.exclusive)
            .hide_short_help(self.hidden);
        let text = |arg: Arg, name: &'static str, hint| {
            arg.value_name(name)
                .value_hint(hint)
                .value_parser(OsStringValueParser::new())
        };
        Some(match self.takes {
            Takes::Nothing(_) => arg.action(ArgAction::SetTrue),
            Takes::Repeats(_) => arg.action(ArgAction::Count),
            Takes::Value(name, _) => text(arg, name, ValueHint::Other),
            Takes::File(NAMED_FILE, _) => {
                text(arg, NAMED_FILE, ValueHint::Other).action(ArgAction::Append)
            }
            Takes::File(name, _) => text(arg, name, ValueHint::FilePath),
            Takes::Folder(name, _) => text(arg, name, ValueHint::DirPath),
            Takes::Folders(name, _) => {
                text(arg, name, ValueHint::DirPath).action(ArgAction::Append)
            }
            Takes::Sources(name, _) => {
                text(arg, name, ValueHint::AnyPath).action(ArgAction::Append)
            }
            Takes::Choice(name, choices, _) => arg
                .value_name(name)
                .value_parser(choices.iter().map(Choice::possible).collect::<Vec<_>>()),
            Takes::MountOptions(name) => {
                text(arg, name, ValueHint::Other).action(ArgAction::Append)
            }
        })
    }
}

impl Choice {
    fn possible(&self) -> clap::builder::PossibleValue {
        clap::builder::PossibleValue::new(self.name).help(self.help)
    }
}
