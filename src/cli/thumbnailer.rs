//! The command line of `hpimount-thumbnailer`.

use std::path::PathBuf;

use super::values::{local_file, number};
use super::{Block, Common, Name, Operand, OptionSpec, Program, Section, Settings, Takes};
use crate::app::ExitReason;

/// Maximum size.
const MAX_SIZE: u32 = 4096;

/// The program, its options, and the texts about it.
pub const PROGRAM: Program<Args> = Program {
    name: "hpimount-thumbnailer",
    manual_section: "1",
    summary: "render thumbnails of game archives and their files",
    usage: &["[OPTIONS] INPUT OUTPUT"],
    description: &[
        "`hpimount-thumbnailer` draws a picture of INPUT and writes it to OUTPUT as PNG. File \
         managers run it to show what is in a file. INPUT is a sprite, model, map, section or \
         picture of Total Annihilation (GAF, 3DO, TNT, SCT, PCX), a PSX or HGO model, a RWTX \
         texture, or an HPI or HIP archive, which becomes a contact sheet of what is in it.",
        "A file on a mount of `hpimount(8)` is shown as the mount shows it, with the textures \
         that belong to it. Elsewhere, only the contents of the file itself are drawn.",
        "If the kernel supports Landlock, the program can read INPUT and nothing else. It ends after \
         20 seconds at most, and uses at most 1 GiB of address space.",
    ],
    operands: &[
        Operand {
            name: "INPUT",
            help: "The file to render, as a path or a file:// URI",
            many: false,
            not_needed_with: &[],
        },
        Operand {
            name: "OUTPUT",
            help: "The PNG file to write",
            many: false,
            not_needed_with: &[],
        },
    ],
    options: &[OPTIONS],
    ignored_mount_options: &[],
    exit_reasons: EXIT_REASONS,
    sections: &[],
    last_sections: LAST_SECTIONS,
};

/// The parsed command line of `hpimount-thumbnailer`.
#[derive(Debug)]
pub struct Args {
    /// Operands, and the options of all programs.
    pub common: Common,
    /// Maximum width and height in pixels.
    pub size: u32,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            common: Common::default(),
            size: 128,
        }
    }
}

impl Settings for Args {
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }
}

impl Args {
    /// Returns the file to render and the picture to write.
    ///
    /// # Errors
    /// Returns a message if one is missing or is not a local file.
    pub fn paths(&self) -> Result<(PathBuf, PathBuf), String> {
        match self.common.operands.as_slice() {
            [input, output] => Ok((local_file(input)?, output.into())),
            _ => Err("INPUT and OUTPUT are missing".to_owned()),
        }
    }
}

const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "Maximum width and height in pixels",
        long_help: "Maximum width and height in pixels, from 1 to 4096. Smaller pictures are not \
            enlarged.",
        default: "128",
        ..OptionSpec::new(
            Name::Both('s', "size"),
            Takes::Value("SIZE", |args, value| {
                args.size = number(value)?;
                match args.size {
                    1..=MAX_SIZE => Ok(()),
                    _ => Err(format!("must be from 1 to {MAX_SIZE}")),
                }
            }),
        )
    },
    OptionSpec::GENERATE,
];

/// Nothing was rendered.
pub const FAILED: ExitReason = ExitReason {
    code: 1,
    meaning: "INPUT has no thumbnail or cannot be read, or OUTPUT cannot be written",
};

/// The exit reasons of the program, by ascending code.
const EXIT_REASONS: &[ExitReason] = &[
    ExitReason {
        code: 0,
        meaning: "OUTPUT is written",
    },
    FAILED,
    ExitReason::USAGE,
];

const LAST_SECTIONS: &[Section] = &[
    Section {
        heading: "FILES",
        blocks: &[Block::Item(
            "/usr/share/thumbnailers/hpimount.thumbnailer",
            "Tells file managers for which file types to run the program.",
        )],
    },
    Section {
        heading: "EXAMPLES",
        blocks: &[
            Block::Text("Render a contact sheet of an archive:"),
            Block::Code("hpimount-thumbnailer -s 256 mymod.ufo mymod.png"),
            Block::Text("Render a model with its textures, from a mount:"),
            Block::Code(
                "hpimount mymod.ufo ~/ta\n\
                 hpimount-thumbnailer ~/ta/objects3d/tank.3do tank.png",
            ),
        ],
    },
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text("`hpimount(8)`, `hpimount-open(1)`")],
    },
];

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::Rejected;

    fn parse(line: &[&str]) -> Result<Args, Rejected> {
        let line = [&["hpimount-thumbnailer"], line].concat();
        PROGRAM.parse(line.into_iter().map(OsString::from))
    }

    #[test]
    fn the_command_line_is_valid() {
        PROGRAM.command().debug_assert();
        let args = parse(&["-s", "64", "file:///a%20b.3do", "out.png"]).unwrap();
        assert_eq!(args.size, 64);
        assert_eq!(args.paths(), Ok(("/a b.3do".into(), "out.png".into())));
        assert!(parse(&["in"]).is_err());
        assert!(parse(&["-s", "0", "in", "out"]).is_err());
        assert!(parse(&["-s", "4097", "in", "out"]).is_err());
        assert_eq!(parse(&["in", "out"]).unwrap().size, 128);
    }
}
