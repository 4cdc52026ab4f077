//! `hpi pack`, which is also `hpipack`, and `hpi apply`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, ValueEnum, ValueHint};
use clap_lex::OsStrExt;

use crate::app;
use crate::pack::{Empty, Format, Replacement, SETTINGS};
use crate::source::DiskNames;
use hpimount_containers::hip::FORMAT as HIP;
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::text::has_extension;

/// Pack a directory into an archive
///
/// Everything in DIR becomes an HPI archive for Total Annihilation or TA: Kingdoms, or a HIP
/// archive for a game of Heavy Iron Studios. OUT appears when it is complete, or not at all.
/// Symbolic links are followed.
///
/// An HPI archive contains everything in DIR. Names must be representable in Windows-1252 and must
/// not differ only in case, because the games do not distinguish upper and lower case. If OUT is
/// inside DIR, it is skipped. The archive ends with the copyright line without which the games do
/// not load it.
///
/// A HIP archive is written if DIR has a file `Settings.ini`, or if the name of OUT ends in `.hip`
/// or `.hop`. DIR is a directory extracted by HipHopTool, or `types/` of a mounted archive:
/// `Settings.ini` lists the assets, layer by layer, and each asset is a file in one of the folders,
/// whose name begins with the id of the asset, as in `[21641EA7] TIMER_01`. Files that
/// `Settings.ini` does not list are skipped. Layout, alignment and padding are those of HipHopTool;
/// the checksums are those of the bytes, except for assets that have none.
///
/// IMG, PRE, WAD and zip archives are written if OUT has their extension. Files are stored as they
/// are; names that the format has no place for are refused, as are symbolic links.
///
/// With `--replace`, OUT is a copy of the HPI or HIP archive DIR in which some files have new
/// contents. Everything else is copied unchanged. Plain text, PNG and WAV files for texts, textures
/// and sounds of HIP archives are converted.
#[derive(Debug, Parser)]
pub struct Pack {
    /// The directory to pack, or with --replace the archive to change
    #[arg(value_name = "DIR", value_hint = ValueHint::AnyPath)]
    dir: PathBuf,
    /// The archive to write, such as mod.hpi, unit.ufo, map.kmp or bb01.HIP
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    out: PathBuf,
    /// The game that loads the archive, or its format
    /// [default: by the extension of OUT; hip if DIR is for it; else ta]
    #[arg(long, value_name = "GAME")]
    format: Option<Game>,
    /// How files are compressed; only stored and zlib for Kingdoms [default: zlib]
    ///
    /// Archives for Kingdoms support only `stored` and `zlib`, and HIP archives
    /// are not compressed.
    #[arg(long, value_parser = methods())]
    method: Option<Method>,
    /// Encipher with this key, 1 to 254 or 0x01 to 0xFE; for ta only [default: 0]
    ///
    /// With 0 the archive is not enciphered. Archives for Kingdoms and HIP archives cannot be.
    #[arg(long, value_name = "N", value_parser = key, allow_negative_numbers = true)]
    key: Option<u8>,
    /// Replace the contents of NAME in an archive by FILE; may be repeated
    ///
    /// OUT is a copy of the archive DIR with the contents of FILE as those of the file NAME in it.
    /// NAME is the path of a file in the mounted archive, or the end of one, in any spelling of
    /// upper and lower case, or the id of an asset of a HIP archive, in eight hexadecimal digits or
    /// with `0x`. A name that several files have is an error that lists them. NAME ends at the
    /// first `=`. The new contents are compressed and enciphered like the old ones; nothing else is
    /// decoded or packed again.
    #[arg(long, value_name = "NAME=FILE", value_hint = ValueHint::Other)]
    #[arg(value_parser = OsStringValueParser::new().try_map(replacement))]
    #[arg(conflicts_with_all = ["format", "method", "key", "windows_names"])]
    replace: Vec<Replacement>,
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    output: Output,
}

/// Write an archive, disc or asset with changes, or a patch
///
/// SOURCE with CHANGES is written to OUT: with a directory DIR, or a patch (`.xdelta`, `.bps`,
/// `.ups`, `.ppf`, `.ips`), or a mod for Riivolution or Dolphin. Several are applied in the order
/// given; of directories the last one wins. OUT appears when it is complete, or not at all. What
/// SOURCE's format cannot hold is refused: everything that is refused is listed, and nothing is
/// written.
///
/// DIR has the paths of a mount of SOURCE: a file there replaces or adds the file, an empty file
/// `.wh.NAME` deletes NAME, and `X.d/` has the changes inside the archive X. Edited files of
/// `converted/` become the assets that they show; `user.hpimount.editable` of a file in a mount
/// tells what can be edited in it. DIR may be the upper directory of an overlay on a mount, or that
/// of `hpimount --edit DIR`; docs/MODDING.md describes it. Unchanged files stay where they are, and
/// new data is not compressed. The result of a compressed disc is a plain one.
///
/// If OUT ends in `.xdelta`, `.bps`, `.ppf` or `.ips`, it is a patch instead of the result: from
/// SOURCE, or from the plain image of a compressed disc, to the result. It is made from the ranges
/// that both share, without a search, and is about as large as what changed. Programs for such
/// patches apply it. With a patch as CHANGES, this converts patches.
///
/// If OUT ends in `.riivolution`, it is a folder, new or empty, with the changed files of a
/// GameCube disc, an XML for Riivolution and a game mod descriptor, `OUT/NAME.json`, with which
/// Dolphin starts SOURCE with the mod.
#[derive(Debug, Parser)]
#[command(override_usage = "hpi apply [OPTIONS] CHANGES... SOURCE OUT\n       \
    hpi apply --dry-run [OPTIONS] CHANGES... SOURCE")]
pub struct Apply {
    /// The changes, what they change, and what to write
    #[arg(value_name = "CHANGES... SOURCE OUT", num_args = 2.., required = true)]
    #[arg(value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Refuse changes that the game may not find
    ///
    /// This refuses what is otherwise a warning: files on discs that move, because a game that has
    /// their sectors compiled in reads the old ones.
    #[arg(long)]
    strict: bool,
    /// Print what would change, and write nothing
    ///
    /// The table, separated by tabs, has the action (replace, add, delete), the path, the old and
    /// the new place of the data, as an offset in the archive or in the user data of the disc, and
    /// the number of new bytes. Places are empty of data that is packed, and inside archives in
    /// SOURCE. Nothing is written, and there is no OUT.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    output: Output,
}

/// What names of files stand for.
#[derive(Debug, Args)]
struct Names {
    /// Take names as `hpi extract --windows-names` has written them, as it is done on Windows
    ///
    /// `a%3Ab` becomes `a:b`. Names that were not escaped stay, and so do those that extracting
    /// has truncated or numbered.
    #[arg(long)]
    windows_names: bool,
}

impl Names {
    fn on_disk(&self) -> DiskNames {
        DiskNames::new(self.windows_names)
    }
}

/// How OUT is written.
#[derive(Debug, Args)]
struct Output {
    /// Replace OUT if it exists, when the new one is complete
    #[arg(short, long)]
    force: bool,
    /// Print more, such as how well encoded assets show their files
    ///
    /// This prints how much quality is lost where a picture or a sound is encoded, and which files
    /// of DIR are skipped.
    #[arg(short, long, action = ArgAction::SetTrue)]
    verbose: bool,
    /// Print errors only, and show no progress
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

impl Output {
    fn style(&self) -> app::PackStyle {
        app::PackStyle {
            force: self.force,
            is_verbose: self.verbose,
            is_quiet: self.quiet,
        }
    }
}

impl Pack {
    /// Returns what to pack, and how.
    ///
    /// # Errors
    /// Returns a message if options contradict each other.
    pub fn plan(self) -> Result<(app::Pack, app::PackStyle), String> {
        let style = self.output.style();
        let format = self.resolved_format()?;
        let (dir, names, out) = (self.dir, self.names.on_disk(), self.out);
        let pack = match self.replace {
            replacements if replacements.is_empty() => app::Pack::Directory {
                dir,
                names,
                out,
                format,
            },
            replacements => app::Pack::Replace {
                archive: dir,
                out,
                replacements,
            },
        };
        Ok((pack, style))
    }

    /// Returns the format of the archive.
    fn resolved_format(&self) -> Result<Format, String> {
        let out = self.out.as_os_str().as_encoded_bytes();
        let is_hip = || {
            let mut extensions = HIP.extensions.iter();
            let is_named = extensions.any(|extension| has_extension(out, extension));
            is_named || self.dir.join(SETTINGS).exists()
        };
        let game = match self.format {
            Some(game) => game,
            None if is_hip() => Game::Hip,
            None => {
                let mut named = EXTENSIONS.iter();
                let named = named.find(|(extension, _)| has_extension(out, extension));
                named.map_or(Game::Ta, |&(_, game)| game)
            }
        };
        let method = self.method.unwrap_or(Method::Zlib);
        let key = self.key.unwrap_or(0);
        let (is_compressed, is_enciphered) = (self.method.is_some(), self.key.is_some());
        let plain = |empty| match is_compressed || is_enciphered {
            true => {
                Err("--method and --key: only HPI archives are compressed or enciphered".to_owned())
            }
            false => Ok(Format::Plain(empty)),
        };
        match game {
            Game::Ta => Ok(Format::TotalAnnihilation { method, key }),
            Game::Kingdoms if key != 0 => {
                Err("--key: archives for Kingdoms are not enciphered".to_owned())
            }
            Game::Kingdoms if method == Method::Lz77 => {
                Err("--method lz77: archives for Kingdoms are stored or zlib".to_owned())
            }
            Game::Kingdoms => Ok(Format::Kingdoms {
                packed: method == Method::Zlib,
            }),
            Game::Hip if is_compressed => {
                Err("--method: HIP archives are not compressed".to_owned())
            }
            Game::Hip if is_enciphered => Err("--key: HIP archives are not enciphered".to_owned()),
            Game::Hip => Ok(Format::Hip),
            Game::Img => plain(Empty::Img),
            Game::Pre => plain(Empty::Pre),
            Game::Wad => plain(Empty::Wad),
            Game::Zip => plain(Empty::Zip),
        }
    }
}

impl Apply {
    /// Returns what to write, and how.
    ///
    /// # Errors
    /// Returns a message if a path is missing.
    pub fn plan(mut self) -> Result<(app::Pack, app::PackStyle), String> {
        let style = self.output.style();
        let out = match self.dry_run {
            true => None,
            false => self.paths.pop(),
        };
        let source = self.paths.pop().ok_or("the SOURCE is missing")?;
        if self.paths.is_empty() {
            return Err(match out {
                Some(_) => "CHANGES, SOURCE and OUT are needed".to_owned(),
                None => "CHANGES and SOURCE are needed".to_owned(),
            });
        }
        let pack = app::Pack::Apply {
            changes: self.paths,
            source,
            out,
            is_strict: self.strict,
            names: self.names.on_disk(),
        };
        Ok((pack, style))
    }
}

/// The games and formats for which archives are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Game {
    /// Total Annihilation
    Ta,
    /// TA: Kingdoms
    Kingdoms,
    /// Any game of Heavy Iron Studios, according to Settings.ini
    Hip,
    /// Grand Theft Auto: San Andreas, version 2 of IMG
    Img,
    /// Tony Hawk's Pro Skater 4 and later, form 3 of PRE
    Pre,
    /// Neversoft's games, a WAD with the HED beside it
    Wad,
    /// zip, without compression
    Zip,
}

/// The extensions of the archives of formats that store files as they are.
const EXTENSIONS: [(&str, Game); 5] = [
    ("img", Game::Img),
    ("pre", Game::Pre),
    ("prx", Game::Pre),
    ("wad", Game::Wad),
    ("zip", Game::Zip),
];

/// Parses the name of a method.
fn methods() -> impl TypedValueParser<Value = Method> {
    let names = [
        ("stored", "Uncompressed"),
        (
            "lz77",
            "With the game's own LZ77, like the archives that came with it",
        ),
        ("zlib", "With zlib, which is smaller"),
    ];
    let names = names.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(|name| match &*name {
        "stored" => Method::Stored,
        "lz77" => Method::Lz77,
        _ => Method::Zlib,
    })
}

/// Parses the name of a file to replace, and the path of its replacement.
fn replacement(value: OsString) -> Result<Replacement, &'static str> {
    let (name, file) = value
        .split_once("=")
        .ok_or("is not of the form NAME=FILE")?;
    Ok(Replacement {
        name: name.to_str().ok_or("is not UTF-8")?.to_owned(),
        file: file.into(),
    })
}

/// Parses a key in decimal, or in hexadecimal with `0x`.
fn key(text: &str) -> Result<u8, &'static str> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    match number {
        Ok(255) => Err("the game would not decipher an archive with this key"),
        Ok(key) => Ok(key),
        Err(_) => Err("must be from 0 to 254"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::{Command, parse};

    fn parsed(line: &[&str]) -> Result<Pack, String> {
        let line = [&["hpipack"], line].concat();
        match parse("hpipack", line.into_iter().map(OsString::from)) {
            Ok(Command::Pack(pack)) => Ok(pack),
            Ok(command) => panic!("{command:?}"),
            Err(rejected) => Err(rejected.into_message()),
        }
    }

    fn format(line: &[&str]) -> Result<Format, String> {
        parsed(&[line, &["dir", "out"]].concat())?.resolved_format()
    }

    #[test]
    fn a_directory_is_packed_with_zlib_and_no_key_by_default() {
        for line in [&["--method=zlib", "--key=0"][..], &[]] {
            assert!(matches!(
                format(line),
                Ok(Format::TotalAnnihilation {
                    method: Method::Zlib,
                    key: 0
                })
            ));
        }
        let (pack, style) = parsed(&["dir", "-f", "out", "--quiet"])
            .unwrap()
            .plan()
            .unwrap();
        assert!(style.force && style.is_quiet && !style.is_verbose);
        assert!(matches!(pack, app::Pack::Directory { .. }));
        assert!(parsed(&["dir"]).is_err());
    }

    #[test]
    fn a_hip_is_written_if_the_output_is_named_hip_or_hop_or_the_directory_has_its_settings() {
        let directory = tempfile::tempdir().unwrap();
        let plain = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(SETTINGS), "").unwrap();
        let is_hip = |options: &[&str], directory: &Path, out: &str| {
            let operands = [directory.to_str().unwrap(), out];
            let pack = parsed(&[options, &operands].concat()).unwrap();
            matches!(pack.resolved_format(), Ok(Format::Hip))
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
            format(&[&format!("--key={text}")]).unwrap_err();
        }
    }

    #[test]
    fn the_name_to_replace_ends_at_the_first_equals_sign() {
        let line = ["--replace", "a b=c=d", "--replace=x=y", "in", "out"];
        let expected = [("a b", "c=d"), ("x", "y")].map(|(name, file)| Replacement {
            name: name.to_owned(),
            file: file.into(),
        });
        assert_eq!(parsed(&line).unwrap().replace, expected);
        let problem = parsed(&["--replace", "name", "in", "out"]).unwrap_err();
        assert!(
            problem.contains("is not of the form NAME=FILE"),
            "{problem}"
        );
        assert!(parsed(&["--replace", "a=b", "--key=7", "in", "out"]).is_err());
    }

    #[test]
    fn an_option_that_the_format_does_not_support_is_reported() {
        for (line, start) in [
            (["--format=hip", "--key=0"], "--key: HIP"),
            (["--format=hip", "--method=zlib"], "--method: HIP"),
            (["--format=kingdoms", "--key=7"], "--key: "),
            (["--format=kingdoms", "--method=lz77"], "--method lz77: "),
            (["--format=zip", "--method=zlib"], "--method and --key: "),
        ] {
            let problem = format(&line).unwrap_err();
            assert!(problem.starts_with(start), "{problem}");
        }
    }

    #[test]
    fn changes_are_followed_by_what_they_change_and_what_to_write() {
        let plan = |line: &[&str]| {
            let line = [&["hpi", "apply"], line].concat();
            match parse("hpi", line.into_iter().map(OsString::from)) {
                Ok(Command::Apply(apply)) => apply.plan(),
                Ok(command) => panic!("{command:?}"),
                Err(rejected) => Err(rejected.into_message()),
            }
        };
        for (line, counted) in [
            (&["a", "b", "s.hpi", "o.hpi"][..], 2),
            (&["--dry-run", "a", "s.hpi"], 1),
        ] {
            let Ok((
                app::Pack::Apply {
                    changes,
                    source,
                    out,
                    ..
                },
                _,
            )) = plan(line)
            else {
                panic!("{line:?}");
            };
            assert_eq!((changes.len(), source), (counted, "s.hpi".into()));
            assert_eq!(out.is_some(), counted == 2);
        }
        assert!(plan(&["a", "s.hpi"]).unwrap_err().contains("OUT"));
        assert!(plan(&["a"]).is_err());
    }
}
