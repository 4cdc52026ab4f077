//! Reasons for rejecting a command line.

use clap::error::ErrorKind;

use super::HPI;
use crate::platform::keep_window_open;

/// Message in a window that is opened for the program alone.
const IN_A_TERMINAL: &str = "hpi is used in a terminal, such as PowerShell. A file or folder that is \
                             dropped on it is shown in the browser.";

/// The kind of a command line without a command, for which clap prints the help.
const HELP: ErrorKind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

/// The reason for rejecting a command line.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// A message of the parser, or the text of `--help` or `--version`.
    #[error(transparent)]
    Parser(#[from] clap::Error),
    /// An option that is a command by now: the option with its program, and the command.
    #[error("`{0}` is now `{HPI} {1}`")]
    Old(String, &'static str),
}

impl Rejected {
    /// Returns the message for the user, in one line. Prints the text of
    /// `--help` or `--version` instead and exits, if that was requested or nothing else was.
    pub fn into_message(self) -> String {
        match self {
            Self::Parser(error) if error.kind() == HELP => {
                // Without an output nobody reads it.
                let _ = error.print();
                keep_window_open(IN_A_TERMINAL);
                std::process::exit(error.exit_code())
            }
            Self::Parser(error) if !error.use_stderr() => error.exit(),
            Self::Parser(error) => format!("{}; see --help", first_paragraphs(&error.to_string())),
            Self::Old(..) => self.to_string(),
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
