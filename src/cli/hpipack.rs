//! The command line of `hpipack`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::option::{NAMED_FILE, NO_DEFAULT};
use super::values::{choice, text};
use super::{Block, Choice, Common, Name, Operand, OptionSpec, Program, Section, Settings, Takes};
use crate::app::ExitReason;
use crate::pack::{Empty, Format, Replacement, SETTINGS};
use hpimount_containers::hip::FORMAT as HIP;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::text::has_extension;

/// The program, its options, and the texts about it.
pub const PROGRAM: Program<Args> = Program {
    name: "hpipack",
    manual_section: "1",
    summary: "pack a directory into an archive, and apply changes to archives and discs",
    usage: &[
        "[OPTIONS] DIR OUT",
        "[OPTIONS] --replace NAME=FILE ARCHIVE OUT",
        "[OPTIONS] --apply CHANGES SOURCE OUT",
    ],
    description: &[
        "`hpipack` packs everything in the directory DIR into the archive OUT: an HPI archive for \
         Total Annihilation or TA: Kingdoms, or a HIP archive for a game of Heavy Iron Studios. \
         OUT appears when it is complete, or not at all. Symbolic links are followed.",
        "An HPI archive contains everything in DIR. Names must be representable in \
         Windows-1252 and must not differ only in case, because the games do not distinguish \
         upper and lower case. If OUT is inside DIR, it is skipped. The archive ends with the \
         copyright line without which the games do not load it.",
        "A HIP archive is written if DIR has a file `Settings.ini`, or if the name of OUT ends in \
         `.hip` or `.hop`. DIR is a directory extracted by HipHopTool, or `types/` of a \
         mounted archive: `Settings.ini` lists the assets, layer by layer, and each asset is a \
         file in one of the folders, whose name begins with the id of the asset, as in \
         `[21641EA7] TIMER_01`. Files that `Settings.ini` does not list are skipped. Layout, alignment \
         and padding are those of HipHopTool; the checksums are those of the bytes, \
         except for assets that have none.",
        "IMG, PRE, WAD and zip archives are written if OUT has their extension. Files are stored as they \
         are; names that the format has no place for are refused, as are symbolic links.",
        "With `--replace`, OUT is a copy of the HPI or HIP archive ARCHIVE in which some files have \
         new contents. Everything else is copied unchanged. Plain text, PNG and WAV files for texts, \
         textures and sounds of HIP archives are converted.",
        "With `--apply`, OUT is the archive, disc or asset SOURCE with CHANGES: a patch, or a directory DIR, which \
         has the paths of a mount of SOURCE: a file there replaces or adds the file, an empty file \
         `.wh.NAME` deletes NAME, and `X.d/` has the changes inside the archive X. Edited files \
         of `converted/` become the assets that they show; `user.hpimount.editable` of a file in a \
         mount tells what can be edited in it. DIR may be the upper \
         directory of an overlay on a mount. Unchanged files stay where they are, and new data is \
         not compressed. The result of a compressed disc is a plain one.",
        "If OUT ends in `.xdelta`, `.bps`, `.ppf` or `.ips`, it is a patch instead of the result: from SOURCE, \
         or from the plain image of a compressed disc, to the result. It is made from the ranges that both \
         share, without a search, and is about as large as what changed. Programs for such patches apply it. \
         With a patch as CHANGES, this converts patches.",
        "If OUT ends in `.riivolution`, it is a folder, new or empty, with the changed files of a GameCube disc, an XML for \
         Riivolution and a game mod descriptor, `OUT/NAME.json`, with which Dolphin starts SOURCE with the mod.",
    ],
    operands: &[
        Operand {
            name: "DIR",
            help: "The directory to pack, or with --replace or --apply the archive to change",
            not_needed_with: &[],
            many: false,
        },
        Operand {
            name: "OUT",
            help: "The archive to write, such as mod.hpi, unit.ufo, map.kmp or bb01.HIP",
            not_needed_with: &["dry-run"],
            many: false,
        },
    ],
    options: &[OPTIONS],
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
    HeavyIron,
    Plain(Empty),
}

/// The games by their names on the command line.
const GAMES: [(&str, Game); 7] = [
    ("ta", Game::TotalAnnihilation),
    ("kingdoms", Game::Kingdoms),
    ("hip", Game::HeavyIron),
    ("img", Game::Plain(Empty::Img)),
    ("pre", Game::Plain(Empty::Pre)),
    ("wad", Game::Plain(Empty::Wad)),
    ("zip", Game::Plain(Empty::Zip)),
];

/// The extensions of the archives of formats that store files as they are.
const EXTENSIONS: [(&str, Empty); 5] = [
    ("img", Empty::Img),
    ("pre", Empty::Pre),
    ("prx", Empty::Pre),
    ("wad", Empty::Wad),
    ("zip", Empty::Zip),
];

/// The methods by their names on the command line.
const METHODS: [(&str, Method); 3] = [
    ("stored", Method::Stored),
    ("lz77", Method::Lz77),
    ("zlib", Method::Zlib),
];

/// The parsed command line of `hpipack`.
#[derive(Debug, Default)]
pub struct Args {
    /// Operands, and the options of all programs.
    pub common: Common,
    game: Option<Game>,
    method: Option<Method>,
    key: Option<u8>,
    /// The files to replace in an archive; empty if a directory is packed.
    pub replacements: Vec<Replacement>,
    /// The folders of changes to apply to an archive or disc, the last one on top.
    pub folders: Vec<PathBuf>,
    /// Whether changes are refused that games may not find.
    pub is_strict: bool,
    /// Whether to print what would change, and to write nothing.
    pub is_dry: bool,
    /// Whether to overwrite OUT.
    pub force: bool,
    /// Whether to print errors only.
    pub quiet: bool,
    /// Whether to print what else may be of interest.
    pub is_verbose: bool,
}

impl Settings for Args {
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }
}

impl Args {
    /// Returns the directory to pack, or the archive to change, and the archive
    /// to write.
    ///
    /// # Errors
    /// Returns a message if one is missing.
    pub fn paths(&self) -> Result<(PathBuf, PathBuf), String> {
        match self.common.operands.as_slice() {
            [dir, out] => Ok((dir.into(), out.into())),
            [dir] if self.is_dry => Ok((dir.into(), PathBuf::new())),
            _ => Err("DIR and OUT are missing".to_owned()),
        }
    }

    /// Returns the format of the archive that is packed from the directory
    /// `dir` and written to `out`.
    ///
    /// # Errors
    /// Returns a message if options contradict each other.
    pub fn format(&self, dir: &Path, out: &Path) -> Result<Format, String> {
        let out = out.as_os_str().as_bytes();
        let is_hip = || {
            let mut extensions = HIP.extensions.iter();
            extensions.any(|extension| has_extension(out, extension)) || dir.join(SETTINGS).exists()
        };
        let game = match self.game {
            Some(game) => game,
            None if is_hip() => Game::HeavyIron,
            None => {
                let mut named = EXTENSIONS.iter();
                let named = named.find(|(extension, _)| has_extension(out, extension));
                named.map_or(Game::TotalAnnihilation, |&(_, empty)| Game::Plain(empty))
            }
        };
        let method = self.method.unwrap_or(Method::Zlib);
        let key = self.key.unwrap_or(0);
        match game {
            Game::TotalAnnihilation => Ok(Format::TotalAnnihilation { method, key }),
            Game::Kingdoms if key != 0 => {
                Err("--key: archives for Kingdoms are not enciphered".to_owned())
            }
            Game::Kingdoms if method == Method::Lz77 => {
                Err("--method lz77: archives for Kingdoms are stored or zlib".to_owned())
            }
            Game::Kingdoms => Ok(Format::Kingdoms {
                packed: method == Method::Zlib,
            }),
            Game::HeavyIron if self.method.is_some() => {
                Err("--method: HIP archives are not compressed".to_owned())
            }
            Game::HeavyIron if self.key.is_some() => {
                Err("--key: HIP archives are not enciphered".to_owned())
            }
            Game::HeavyIron => Ok(Format::Hip),
            Game::Plain(_) if self.method.is_some() || self.key.is_some() => {
                Err("--method and --key: only HPI archives are compressed or enciphered".to_owned())
            }
            Game::Plain(empty) => Ok(Format::Plain(empty)),
        }
    }
}

/// Parses the name of a file to replace, and the path of its replacement.
fn replacement(value: &OsStr) -> Result<Replacement, String> {
    let bytes = value.as_bytes();
    let Some(sign) = bytes.iter().position(|&byte| byte == b'=') else {
        return Err("is not of the form NAME=FILE".to_owned());
    };
    let (name, file) = (&bytes[..sign], &bytes[sign + 1..]);
    Ok(Replacement {
        name: text(OsStr::from_bytes(name))?.to_owned(),
        file: OsStr::from_bytes(file).into(),
    })
}

/// Parses a key in decimal, or in hexadecimal with `0x`.
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
        help: "The game that loads the archive, or its format",
        long_help: "The game that loads the archive, or its format.",
        default: "by the extension of OUT; hip if DIR is for it; else ta",
        ..OptionSpec::new(
            Name::Long("format"),
            Takes::Choice("GAME", GAME_CHOICES, |args, value| {
                args.game = Some(choice(value, &GAMES)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "How files are compressed; only stored and zlib for Kingdoms",
        long_help: "How files are compressed. Archives for Kingdoms support only `stored` and `zlib`, \
            and HIP archives are not compressed.",
        default: "zlib",
        ..OptionSpec::new(
            Name::Long("method"),
            Takes::Choice("METHOD", METHOD_CHOICES, |args, value| {
                args.method = Some(choice(value, &METHODS)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Encipher with this key, 1 to 254 or 0x01 to 0xFE; for ta only",
        long_help: "Encipher the archive with this key, from 1 to 254, or with `0x`, from 0x01 to \
            0xFE. With 0 it is not enciphered. Archives for Kingdoms and HIP archives cannot be.",
        default: "0",
        ..OptionSpec::new(
            Name::Long("key"),
            Takes::Value("N", |args, value| {
                args.key = Some(key(value)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Replace the contents of NAME in an archive by FILE; may be repeated",
        long_help: "Copy the archive ARCHIVE to OUT, and replace the contents of the file NAME in it by \
            those of FILE. May be given several times. NAME is the path of a file in the mounted archive, or \
            the end of one, in any spelling of upper and lower case, or the id of an asset of a \
            HIP archive, in eight hexadecimal digits or with `0x`. A name that several files have \
            is an error that lists them. NAME ends at the first `=`. The new contents are \
            compressed and enciphered like the old ones; nothing else is decoded or packed again.",
        default: NO_DEFAULT,
        conflicts: &["format", "method", "key"],
        ..OptionSpec::new(
            Name::Long("replace"),
            Takes::File(NAMED_FILE, |args, value| {
                args.replacements.push(replacement(value)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Apply a directory of changes or a patch to SOURCE; may be repeated",
        long_help: "Write SOURCE with CHANGES to OUT: a directory DIR, or a patch (`.xdelta`, `.bps`, `.ups`, \
            `.ppf`, `.ips`), or a mod for Riivolution or Dolphin. Several are applied in the order given; of directories the last one wins. What SOURCE's format cannot hold is refused: everything that is refused is \
            listed, and nothing is written. DIR is described in docs/MODDING.md.",
        default: NO_DEFAULT,
        conflicts: &["format", "method", "key", "replace"],
        ..OptionSpec::new(
            Name::Long("apply"),
            Takes::Sources("CHANGES", |args, value| {
                args.folders.push(value.into());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --apply, refuse changes that the game may not find",
        long_help: "With `--apply`, refuse what is otherwise a warning: files on discs that move, because a game \
            that has their sectors compiled in reads the old ones.",
        default: "warnings",
        ..OptionSpec::new(
            Name::Long("apply-strict"),
            Takes::Nothing(|args| args.is_strict = true),
        )
    },
    OptionSpec {
        help: "With --apply, print what would change, and write nothing",
        long_help: "With `--apply`, print a table of what would change, separated by tabs: the action (replace, \
            add, delete), the path, the old and the new place of the data, as an offset in the archive or in \
            the user data of the disc, and the number of new bytes. Places are empty of data that is packed, and \
            inside archives in SOURCE. Nothing is written, and OUT is not needed.",
        default: "OUT is written",
        ..OptionSpec::new(
            Name::Long("dry-run"),
            Takes::Nothing(|args| args.is_dry = true),
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
        help: "Print more, such as how well encoded assets show their files",
        long_help: "Also print what is no warning: how much quality is lost where a picture or a sound is \
            encoded, and which files of DIR are skipped.",
        default: "warnings and errors",
        ..OptionSpec::new(
            Name::Both('v', "verbose"),
            Takes::Nothing(|args| args.is_verbose = true),
        )
    },
    OptionSpec {
        help: "Print errors only",
        long_help: "Print errors only, and show no progress.",
        default: "progress is shown on terminals",
        conflicts: &["verbose"],
        ..OptionSpec::new(
            Name::Both('q', "quiet"),
            Takes::Nothing(|args| args.quiet = true),
        )
    },
    OptionSpec::GENERATE,
];

/// The values of `--format`, as in [`GAMES`].
const GAME_CHOICES: &[Choice] = &[
    Choice {
        name: "ta",
        help: "Total Annihilation",
    },
    Choice {
        name: "kingdoms",
        help: "TA: Kingdoms",
    },
    Choice {
        name: "hip",
        help: "Any game of Heavy Iron Studios, according to Settings.ini",
    },
    Choice {
        name: "img",
        help: "Grand Theft Auto: San Andreas, version 2 of IMG",
    },
    Choice {
        name: "pre",
        help: "Tony Hawk's Pro Skater 4 and later, form 3 of PRE",
    },
    Choice {
        name: "wad",
        help: "Neversoft's games, a WAD with the HED beside it",
    },
    Choice {
        name: "zip",
        help: "zip, without compression",
    },
];

/// The values of `--method`, as in [`METHODS`].
const METHOD_CHOICES: &[Choice] = &[
    Choice {
        name: "stored",
        help: "Uncompressed",
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

/// The exit reasons of hpipack, by ascending code.
const EXIT_REASONS: &[ExitReason] = &[
    ExitReason {
        code: 0,
        meaning: "OUT is written",
    },
    ExitReason::OTHER,
    ExitReason::USAGE,
    ExitReason {
        code: 10,
        meaning: "DIR, ARCHIVE or FILE cannot be read, or contains something that cannot be packed",
    },
    ExitReason::NOT_APPLIED,
    ExitReason {
        code: 20,
        meaning: "OUT cannot be written, or exists",
    },
];

const LAST_SECTIONS: &[Section] = &[
    Section {
        heading: "SIGNALS",
        blocks: &[Block::Text(
            "SIGHUP, SIGINT and SIGTERM end the program and remove the unfinished archive or folder. A \
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
            Block::Text("Pack a mod for TA: Kingdoms, and overwrite the existing archive:"),
            Block::Code("hpipack --force --format kingdoms mymod mymod.hpi"),
            Block::Text("Change one file of a large archive, and nothing else:"),
            Block::Code("hpipack --replace units/armpw.fbi=armpw.fbi mymod.ufo changed.ufo"),
            Block::Text("Change two assets of a level of SpongeBob, one of them by its id:"),
            Block::Code(
                "hpipack --replace greeting.text=new.txt --replace 0x21641EA7=timer.bin \\\n\
                 \u{20}       bb01.HIP changed.HIP",
            ),
            Block::Text("Change the text of a level of SpongeBob in a copy of all its assets:"),
            Block::Code(
                "hpimount bb01.HIP /mnt\n\
                 cp -rL /mnt/types changed && chmod -R u+w changed\n\
                 \"$EDITOR\" changed/Text/*greeting*\n\
                 hpipack changed changed.HIP",
            ),
            Block::Text("Change a file of an archive of Total Annihilation:"),
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
    use std::ffi::OsString;

    use super::*;
    use crate::cli::Rejected;

    fn parse(line: &[&str]) -> Result<Args, Rejected> {
        let line = [&["hpipack"], line].concat();
        PROGRAM.parse(line.into_iter().map(OsString::from))
    }

    fn format(line: &[&str]) -> Result<Format, String> {
        match parse(&[line, &["dir", "out"]].concat()) {
            Ok(args) => args.format("dir".as_ref(), "out".as_ref()),
            Err(rejected) => Err(rejected.to_string()),
        }
    }

    #[test]
    fn the_command_line_is_valid() {
        PROGRAM.command().debug_assert();
        let args = parse(&["dir", "-f", "out", "--quiet"]).unwrap();
        assert!(args.force && args.quiet);
        assert_eq!(args.paths(), Ok(("dir".into(), "out".into())));
        assert!(parse(&["dir"]).is_err());
    }

    #[test]
    fn every_choice_of_the_table_is_accepted() {
        for option in PROGRAM.flags().filter(|option| !option.exclusive) {
            for choice in option.choices() {
                let flag = format!("--{}", option.id());
                format(&[&flag, choice.name]).unwrap_or_else(|problem| panic!("{problem}"));
            }
        }
    }

    #[test]
    fn the_defaults_match_the_table() {
        let mut line = Vec::new();
        for id in ["method", "key"] {
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
    fn a_hip_is_written_if_the_output_is_named_hip_or_hop_or_the_directory_has_its_settings() {
        let directory = tempfile::tempdir().unwrap();
        let plain = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(SETTINGS), "").unwrap();
        let is_hip = |options: &[&str], directory: &Path, out: &str| {
            let args = parse(&[options, &["dir", "out"]].concat()).unwrap();
            matches!(args.format(directory, out.as_ref()), Ok(Format::Hip))
        };
        assert!(is_hip(&[], plain.path(), "bb01.HIP"));
        assert!(is_hip(&[], plain.path(), "a/bb01.hop"));
        assert!(is_hip(&[], directory.path(), "out"));
        assert!(is_hip(&["--format=hip"], plain.path(), "out"));
        assert!(!is_hip(&[], plain.path(), "hip"));
        assert!(!is_hip(&["--format=ta"], directory.path(), "bb01.HIP"));
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
    fn the_name_to_replace_ends_at_the_first_equals_sign() {
        let line = ["--replace", "a b=c=d", "--replace=x=y", "in", "out"];
        let args = parse(&line).unwrap();
        let expected = [("a b", "c=d"), ("x", "y")].map(|(name, file)| Replacement {
            name: name.to_owned(),
            file: file.into(),
        });
        assert_eq!(args.replacements, expected);
        let rejected = parse(&["--replace", "name", "in", "out"]).unwrap_err();
        assert_eq!(
            rejected.to_string(),
            "--replace name: is not of the form NAME=FILE"
        );
        assert!(parse(&["--replace", "a=b", "--key=7", "in", "out"]).is_err());
    }

    #[test]
    fn an_unsupported_option_for_hip_is_reported() {
        let problem = |option| format(&["--format", "hip", option]).unwrap_err();
        assert!(problem("--key=0").starts_with("--key: HIP"));
        assert!(problem("--method=zlib").starts_with("--method: HIP"));
    }

    #[test]
    fn an_unsupported_option_for_kingdoms_is_reported() {
        let problem = |option| format(&["--format", "kingdoms", option]).unwrap_err();
        assert!(problem("--key=7").starts_with("--key: "));
        assert!(problem("--method=lz77").starts_with("--method lz77: "));
    }
}
