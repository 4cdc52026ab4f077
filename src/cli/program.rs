//! Description of a program for its help, man page and completions.

use clap::builder::OsStringValueParser;
use clap::{Arg, ArgAction, Command, ValueHint};

use super::OptionSpec;
use super::text::wrap;
use crate::app::ExitReason;

/// Column of the descriptions of mount options in `-h`.
const HELP_COLUMN: usize = 27;
const HELP_WIDTH: usize = 80;

/// A program, its options, and the texts about it.
#[derive(Debug)]
pub struct Program<S: 'static> {
    /// The name of its executable file.
    pub name: &'static str,
    /// Section of the manual.
    pub manual_section: &'static str,
    /// What it does, in a few words, for the NAME section of the man page.
    pub summary: &'static str,
    /// Its synopses, without its name.
    pub usage: &'static [&'static str],
    /// Paragraphs about it; the first is in `-h` too. Names are in backticks.
    pub description: &'static [&'static str],
    /// Its operands.
    pub operands: &'static [Operand],
    /// All options, including mount options, in one or several tables.
    pub options: &'static [&'static [OptionSpec<S>]],
    /// Mount options that are accepted and ignored.
    pub ignored_mount_options: &'static [&'static str],
    /// Its exit reasons.
    pub exit_reasons: &'static [ExitReason],
    /// Sections of the man page between those about options and EXIT STATUS.
    pub sections: &'static [Section],
    /// Sections of the man page after EXIT STATUS.
    pub last_sections: &'static [Section],
}

/// An operand on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    /// Its placeholder.
    pub name: &'static str,
    /// One line without a full stop.
    pub help: &'static str,
    /// Whether there may be more than one.
    pub many: bool,
    /// Identifiers of the options that make it optional.
    pub not_needed_with: &'static [&'static str],
}

/// A section of a man page.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its heading, in capitals.
    pub heading: &'static str,
    /// Its contents.
    pub blocks: &'static [Block],
}

/// A part of a section. In texts, names are in backticks.
#[derive(Debug, Clone, Copy)]
pub enum Block {
    /// A paragraph.
    Text(&'static str),
    /// Preformatted lines.
    Code(&'static str),
    /// A term and a paragraph about it.
    Item(&'static str, &'static str),
}

impl<S> Program<S> {
    /// Returns all options.
    pub fn options(&self) -> impl Iterator<Item = &'static OptionSpec<S>> {
        self.options.iter().copied().flatten()
    }

    /// Returns the options of the command line, without the values of `-o`.
    pub fn flags(&self) -> impl Iterator<Item = &'static OptionSpec<S>> {
        self.options().filter(|option| !option.is_mount_option())
    }

    /// Returns the values of `-o`.
    pub fn mount_options(&self) -> impl Iterator<Item = &'static OptionSpec<S>> {
        self.options().filter(|option| option.is_mount_option())
    }

    /// Returns the program for the parser and the generators.
    pub fn command(&self) -> Command {
        let usage: Vec<String> = self
            .usage
            .iter()
            .map(|usage| format!("{} {usage}", self.name))
            .collect();
        let mut command = Command::new(self.name)
            .bin_name(self.name)
            .version(env!("CARGO_PKG_VERSION"))
            .about(self.description.first().copied().unwrap_or_default())
            .long_about(self.description.join("\n\n"))
            .override_usage(usage.join("\n       "))
            .after_help(self.after_help())
            .after_long_help(self.after_long_help())
            .max_term_width(100);
        for operand in self.operands {
            command = command.arg(operand.arg());
        }
        command.args(self.flags().filter_map(OptionSpec::arg))
    }

    /// Returns mount options and exit codes, one per line.
    fn after_help(&self) -> String {
        let mut text = String::new();
        if self.mount_options().next().is_some() {
            text += "Mount options (values of -o):\n";
            for option in self.mount_options() {
                let help = wrap(&option.help_with_default(), HELP_WIDTH - HELP_COLUMN);
                let help = help.join(&format!("\n{:HELP_COLUMN$}", ""));
                text += &format!("  {:<1$}", option.usage(), HELP_COLUMN - 2);
                text += &format!("{help}\n");
            }
            text += "\n";
        }
        text + &self.exit_codes()
    }

    /// Returns mount options with their paragraphs, and exit codes.
    fn after_long_help(&self) -> String {
        let mut text = String::new();
        if self.mount_options().next().is_some() {
            text += "Mount options (values of -o):\n";
            for option in self.mount_options() {
                text += &format!("  {}\n          {}\n", option.usage(), option.long_help);
                for choice in option.choices() {
                    text += &format!("          - {}: {}\n", choice.name, choice.help);
                }
                text += &format!("          [default: {}]\n\n", option.default);
            }
        }
        text + &self.exit_codes()
    }

    fn exit_codes(&self) -> String {
        let lines = self.exit_reasons.iter();
        let lines = lines.map(|reason| format!("  {:>2}  {}", reason.code, reason.meaning));
        let lines: Vec<String> = lines.collect();
        format!("Exit codes:\n{}", lines.join("\n"))
    }
}

impl Operand {
    fn arg(self) -> Arg {
        let arg = Arg::new(self.name)
            .value_name(self.name)
            .help(self.help)
            .required(self.not_needed_with.is_empty())
            .required_unless_present_any(self.not_needed_with)
            .value_hint(ValueHint::AnyPath)
            .value_parser(OsStringValueParser::new());
        match self.many {
            true => arg.num_args(1..).action(ArgAction::Append),
            false => arg,
        }
    }
}
