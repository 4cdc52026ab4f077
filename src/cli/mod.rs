//! The command lines of the programs.
//!
//! Each program is a [`Program`]: one table of options and the texts about it.
//! The parser, `-h` and `--help`, the `-o` parser, the man page and the shell
//! completions are generated from it; tests check docs/OPTIONS.md against it. A
//! new option is one entry in the table of its program.

pub mod completions;
pub mod hpimount;
pub mod hpipack;
pub mod man;
pub mod open;
pub mod option;
mod parse;
pub mod program;
mod settings;
mod text;
pub mod thumbnailer;
mod values;

use std::io::{self, Write};

pub use self::option::{Choice, Name, OptionSpec, Takes};
pub use self::parse::Rejected;
pub use self::program::{Block, Operand, Program, Section};
pub use self::settings::{Common, Settings};

/// A text for packagers that a program generates from its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generated {
    /// The man page.
    Man,
    /// Completions for bash.
    Bash,
    /// Completions for zsh.
    Zsh,
    /// Completions for fish.
    Fish,
}

impl Generated {
    /// All texts, with their names on the command line.
    pub const NAMES: [(&str, Self); 4] = [
        ("man", Self::Man),
        ("complete-bash", Self::Bash),
        ("complete-zsh", Self::Zsh),
        ("complete-fish", Self::Fish),
    ];

    /// The names with descriptions, as an option's choices.
    pub(crate) const CHOICES: &[Choice] = &[
        Choice {
            name: "man",
            help: "The man page, in roff",
        },
        Choice {
            name: "complete-bash",
            help: "Completions for bash",
        },
        Choice {
            name: "complete-zsh",
            help: "Completions for zsh",
        },
        Choice {
            name: "complete-fish",
            help: "Completions for fish",
        },
    ];

    /// Returns the text for a program.
    pub fn text<S>(self, program: &Program<S>) -> String {
        match self {
            Self::Man => man::page(program),
            Self::Bash => completions::bash(program),
            Self::Zsh => completions::zsh(program),
            Self::Fish => completions::fish(program),
        }
    }

    /// Writes the text for a program to standard output.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn print<S>(self, program: &Program<S>) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(self.text(program).as_bytes())?;
        stdout.flush()
    }
}
