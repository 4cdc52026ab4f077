//! The command line of `hpipack`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::values::{choice, text};
use super::{
    Block, Choice, Generated, Name, Operand, OptionSpec, Program, Rejected, Section, Takes,
};
use crate::daemon::ExitReason;
use crate::pack::Format;
use crate::volume::hpi::chunk::Method;

/// The program, all that is said about it, and its options.
pub const PROGRAM: Program<Args> = Program {
    name: "hpipack",
    manual_section: "1",
    summary: "pack a directory into an HPI archive",
    usage: &["[OPTIONS] DIR OUT"],
    description: &[
        "`hpipack` packs everything in the directory DIR into the HPI archive OUT, for Total \
         Annihilation or TA: Kingdoms. OUT appears when it is complete, or not at all.",
        "Symbolic links are followed. Names must be representable in Windows-1252 and must not \
         differ in case alone, because the games do not distinguish upper and lower case. \
         Where OUT is inside DIR, it is left out. The archive ends with the copyright line \
         without which the games do not load it.",
    ],
    operands: &[
        Operand {
            name: "DIR",
            help: "The directory to pack",
            many: false,
        },
        Operand {
            name: "OUT",
            help: "The archive to write, such as mod.hpi, unit.ufo or map.kmp",
            many: false,
        },
    ],
    options: OPTIONS,
    ignored_mount_options: &[],
    exit_reasons: EXIT_REASONS,
    sections: &[],
    last_sections: LAST_SECTIONS,
};

/// The games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Game {
    TotalAnnihilation,
    Kingdoms,
}

/// The games by their names on the command line.
const GAMES: [(&str, Game); 2] = [
    ("ta", Game::TotalAnnihilation),
    ("kingdoms", Game::Kingdoms),
];

/// The methods by their names on the command line.
const METHODS: [(&str, Method); 3] = [
    ("stored", Method::Stored),
    ("lz77", Method::Lz77),
    ("zlib", Method::Zlib),
];

/// The command line of `hpipack`, understood.
#[derive(Debug)]
pub struct Args {
    /// DIR and OUT.
    operands: Vec<OsString>,
    game: Game,
    method: Method,
    key: u8,
    /// Whether to replace OUT.
    pub force: bool,
    /// Whether to print errors only.
    pub quiet: bool,
    /// A text to print instead of packing anything.
    pub generate: Option<Generated>,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            operands: Vec::new(),
            game: Game::TotalAnnihilation,
            method: Method::Zlib,
            key: 0,
            force: false,
            quiet: false,
            generate: None,
        }
    }
}

impl Args {
    /// Reads a command line, program name first.
    ///
    /// # Errors
    /// The first thing that is not understood.
    pub fn parse(line: impl IntoIterator<Item = OsString>) -> Result<Self, Rejected> {
        let mut args = Self::default();
        args.operands = PROGRAM.parse(line, &mut args)?;
        Ok(args)
    }

    /// The directory to pack and the archive to write.
    ///
    /// # Errors
    /// A sentence about what is missing.
    pub fn paths(&self) -> Result<(PathBuf, PathBuf), String> {
        match self.operands.as_slice() {
            [dir, out] => Ok((dir.into(), out.into())),
            _ => Err("DIR and OUT are missing".to_owned()),
        }
    }

    /// The format of the archive.
    ///
    /// # Errors
    /// A sentence about options that contradict each other.
    pub fn format(&self) -> Result<Format, String> {
        let Self {
            game, method, key, ..
        } = *self;
        match (game, method) {
            (Game::TotalAnnihilation, _) => Ok(Format::TotalAnnihilation { method, key }),
            (Game::Kingdoms, _) if key != 0 => {
                Err("--key: archives for Kingdoms are not enciphered".to_owned())
            }
            (Game::Kingdoms, Method::Lz77) => {
                Err("--method lz77: archives for Kingdoms are stored or zlib".to_owned())
            }
            (Game::Kingdoms, _) => Ok(Format::Kingdoms {
                packed: method == Method::Zlib,
            }),
        }
    }
}

/// Reads a key, decimal or with `0x` before it.
fn key(value: &OsStr) -> Result<u8, String> {
    let text = text(value)?;
    let number = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    match number {
        Ok(255) => Err("the game would not decipher an archive with this key".to_owned()),
        Ok(key) => Ok(key),
        Err(_) => Err("must be from 0 to 254".to_owned()),
    }
}

const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "The game that loads the archive",
        long_help: "The game that loads the archive.",
        default: "ta",
        ..OptionSpec::new(
            Name::Long("format"),
            Takes::Choice("GAME", GAME_CHOICES, |args, value| {
                args.game = choice(value, &GAMES)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "How files are compressed; Kingdoms has stored and zlib only",
        long_help: "How files are compressed. Archives for Kingdoms have `stored` and `zlib` only.",
        default: "zlib",
        ..OptionSpec::new(
            Name::Long("method"),
            Takes::Choice("METHOD", METHOD_CHOICES, |args, value| {
                args.method = choice(value, &METHODS)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Encipher with this key, 1 to 254 or 0x01 to 0xFE; not for kingdoms",
        long_help: "Encipher the archive with this key, from 1 to 254, or with `0x`, from 0x01 to \
            0xFE. With 0 it is not enciphered. Archives for Kingdoms cannot be.",
        default: "0",
        ..OptionSpec::new(
            Name::Long("key"),
            Takes::Value("N", |args, value| {
                args.key = key(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Replace OUT if it exists",
        long_help: "Replace OUT if it exists. It is replaced when the new archive is complete.",
        default: "an existing OUT is an error",
        ..OptionSpec::new(
            Name::Both('f', "force"),
            Takes::Nothing(|args| args.force = true),
        )
    },
    OptionSpec {
        help: "Print errors only",
        long_help: "Print errors only, and show no progress.",
        default: "progress is shown on terminals",
        ..OptionSpec::new(
            Name::Both('q', "quiet"),
            Takes::Nothing(|args| args.quiet = true),
        )
    },
    OptionSpec::generate(|args, value| {
        args.generate = Some(choice(value, &Generated::NAMES)?);
        Ok(())
    }),
];

/// The values of `--format`, which are those of [`GAMES`].
const GAME_CHOICES: &[Choice] = &[
    Choice {
        name: "ta",
        help: "Total Annihilation",
    },
    Choice {
        name: "kingdoms",
        help: "TA: Kingdoms",
    },
];

/// The values of `--method`, which are those of [`METHODS`].
const METHOD_CHOICES: &[Choice] = &[
    Choice {
        name: "stored",
        help: "Not at all",
    },
    Choice {
        name: "lz77",
        help: "With the game's own LZ77, like the archives that came with it",
    },
    Choice {
        name: "zlib",
        help: "With zlib, which is smaller",
    },
];

/// All ways in which hpipack ends, by ascending code.
const EXIT_REASONS: &[ExitReason] = &[
    ExitReason {
        code: 0,
        meaning: "OUT is written",
    },
    ExitReason {
        code: 1,
        meaning: "Any other error",
    },
    ExitReason {
        code: 2,
        meaning: "The command line is wrong",
    },
    ExitReason {
        code: 10,
        meaning: "DIR cannot be read, or contains something that cannot be packed",
    },
    ExitReason {
        code: 20,
        meaning: "OUT cannot be written, or exists",
    },
];

const LAST_SECTIONS: &[Section] = &[
    Section {
        heading: "SIGNALS",
        blocks: &[Block::Text(
            "SIGHUP, SIGINT and SIGTERM end the program and remove the unfinished archive. A \
             write beyond the limit of file sizes is an error, as on a full disk.",
        )],
    },
    Section {
        heading: "EXAMPLES",
        blocks: &[
            Block::Text("Pack a mod for Total Annihilation:"),
            Block::Code("hpipack mymod mymod.ufo"),
            Block::Text(
                "Pack it as the game's own archives are, compressed with LZ77 and enciphered:",
            ),
            Block::Code("hpipack --method lz77 --key 0x7D mymod mymod.ufo"),
            Block::Text("Pack a mod for TA: Kingdoms, and replace the archive that is there:"),
            Block::Code("hpipack --force --format kingdoms mymod mymod.hpi"),
            Block::Text("Change a file of an archive:"),
            Block::Code(
                "hpimount mymod.ufo /mnt\n\
                 cp -r /mnt changed && chmod -R u+w changed\n\
                 \"$EDITOR\" changed/units/armpw.fbi\n\
                 hpipack changed changed.ufo",
            ),
        ],
    },
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text("`hpimount(8)`")],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<Args, Rejected> {
        let line = [&["hpipack"], line].concat();
        Args::parse(line.into_iter().map(OsString::from))
    }

    fn format(line: &[&str]) -> Result<Format, String> {
        match parse(&[line, &["dir", "out"]].concat()) {
            Ok(args) => args.format(),
            Err(rejected) => Err(rejected.to_string()),
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        PROGRAM.command().debug_assert();
        let args = parse(&["dir", "-f", "out", "--quiet"]).unwrap();
        assert!(args.force && args.quiet);
        assert_eq!(args.paths(), Ok(("dir".into(), "out".into())));
        assert!(parse(&["dir"]).is_err());
    }

    #[test]
    fn every_choice_of_the_table_is_understood() {
        for option in PROGRAM.flags().filter(|option| !option.exclusive) {
            for choice in option.choices() {
                let flag = format!("--{}", option.id());
                format(&[&flag, choice.name]).unwrap_or_else(|problem| panic!("{problem}"));
            }
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_table() {
        let mut line = Vec::new();
        for id in ["format", "method", "key"] {
            let option = PROGRAM.flags().find(|option| option.id() == id).unwrap();
            line.push(format!("--{id}={}", option.default));
        }
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        for line in [&line[..], &[]] {
            let format = format(line).unwrap();
            assert!(matches!(
                format,
                Format::TotalAnnihilation {
                    method: Method::Zlib,
                    key: 0
                }
            ));
        }
    }

    #[test]
    fn keys_are_decimal_or_hexadecimal() {
        for (text, key) in [("0", 0), ("125", 125), ("0x7D", 125), ("0xFE", 254)] {
            let format = format(&["--key", text]).unwrap();
            let Format::TotalAnnihilation { key: parsed, .. } = format else {
                panic!("{format:?}");
            };
            assert_eq!(parsed, key);
        }
        for text in ["255", "0xFF", "256", "-1", "7D", ""] {
            let problem = format(&[&format!("--key={text}")]).unwrap_err();
            assert!(problem.starts_with(&format!("--key {text}: ")), "{problem}");
        }
    }

    #[test]
    fn what_kingdoms_cannot_have_is_named() {
        let problem = |option| format(&["--format", "kingdoms", option]).unwrap_err();
        assert!(problem("--key=7").starts_with("--key: "));
        assert!(problem("--method=lz77").starts_with("--method lz77: "));
    }
}
