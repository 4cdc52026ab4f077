//! The command line: every option once.
//!
//! `--help` and the `-o` parser both come from the tables here.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::daemon::MountOptions;
use crate::mount::{Meta, Order, Sources};

/// Mount game archives as read-only file systems.
///
/// SOURCE is an archive (HPI, UFO, CCX, GP3, KMP of Total Annihilation and TA:
/// Kingdoms; HIP, HOP of Heavy Iron's games), a folder, or a lone PSX, HGO or
/// IFP file. What it is is told by its content. Several HPI archives are
/// merged, the last one on top; others stand side by side. The command returns
/// when the mount answers; unmount with `fusermount3 -u MOUNTPOINT`.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    override_usage = USAGE,
    after_help = after_help()
)]
pub struct Args {
    /// What to mount, then the directory to mount it on.
    #[arg(required = true, num_args = 1.., value_name = "SOURCE... MOUNTPOINT")]
    paths: Vec<PathBuf>,

    /// Mount the archives and loose files of a game's folder, merged as the
    /// game does; no SOURCE is given then.
    #[arg(long, value_name = "FOLDER")]
    game: Option<PathBuf>,

    /// Which archive wins: as in Total Annihilation, in Kingdoms, in the RWE
    /// engine, or the last one on the command line.
    #[arg(long, value_parser = order_parser(), conflicts_with = "separate")]
    order: Option<Order>,

    /// Give each archive a directory of its own instead of merging them.
    #[arg(long, conflicts_with = "game")]
    separate: bool,

    /// Refuse to mount where one of several archives is damaged, instead of
    /// leaving it out.
    #[arg(long)]
    strict: bool,

    /// Show no `X.d` and `X.meta` directories beside archives and assets.
    #[arg(long)]
    no_meta: bool,

    /// Mount options, as of mount(8), separated by commas.
    #[arg(short = 'o', value_name = "OPTION,...", value_delimiter = ',')]
    options: Vec<String>,

    /// Stay in the foreground and log to standard error.
    #[arg(short, long)]
    pub foreground: bool,

    /// Log more; twice for everything.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,

    /// Log errors only.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

/// How the program is called.
const USAGE: &str = "hpimount [OPTIONS] SOURCE... MOUNTPOINT
       hpimount [OPTIONS] --game FOLDER MOUNTPOINT";

/// What one `-o` option does.
type Apply = fn(&mut MountOptions, &str) -> Result<(), String>;

/// An `-o` option.
struct MountOption {
    /// As it is written, with what stands for its value.
    usage: &'static str,
    help: &'static str,
    apply: Apply,
}

impl MountOption {
    fn name(&self) -> &'static str {
        self.usage.split('=').next().unwrap_or(self.usage)
    }

    fn takes_value(&self) -> bool {
        self.usage.contains('=')
    }
}

/// The `-o` options that mean something here.
const MOUNT_OPTIONS: &[MountOption] = &[
    MountOption {
        usage: "allow_other",
        help: "let other users in",
        apply: |options, _| {
            options.allow_other = true;
            Ok(())
        },
    },
    MountOption {
        usage: "uid=N",
        help: "owner of all files [the mounting user]",
        apply: |options, value| number(value).map(|uid| options.uid = Some(uid)),
    },
    MountOption {
        usage: "gid=N",
        help: "group of all files [the mounting user's]",
        apply: |options, value| number(value).map(|gid| options.gid = Some(gid)),
    },
    MountOption {
        usage: "umask=OOO",
        help: "permission bits to take away, octal [0]",
        apply: |options, value| {
            options.umask = u16::from_str_radix(value, 8)
                .ok()
                .filter(|umask| *umask <= 0o777)
                .ok_or("is not an octal mask")?;
            Ok(())
        },
    },
    MountOption {
        usage: "cachesize=SIZE",
        help: "memory for decoded blocks, with K, M or G [64M]",
        apply: |options, value| size(value).map(|size| options.vfs.cache_size = size),
    },
    MountOption {
        usage: "threads=N",
        help: "threads that answer [as many as cores]",
        apply: |options, value| {
            let threads: usize = number(value)?;
            if !(1..=MAX_THREADS).contains(&threads) {
                return Err(format!("must be from 1 to {MAX_THREADS}"));
            }
            options.threads = Some(threads);
            Ok(())
        },
    },
    MountOption {
        usage: "noprefetch",
        help: "decode nothing that nobody has asked for yet",
        apply: |options, _| {
            options.no_prefetch = true;
            Ok(())
        },
    },
    MountOption {
        usage: "case_sensitive",
        help: "find names in their exact spelling only",
        apply: |options, _| {
            options.vfs.case_sensitive = true;
            Ok(())
        },
    },
    MountOption {
        usage: "verify",
        help: "compute checksums for listings",
        apply: |options, _| {
            options.vfs.verify = true;
            Ok(())
        },
    },
    MountOption {
        usage: "force",
        help: "mount and read past damage as far as possible",
        apply: |options, _| {
            options.vfs.force = true;
            Ok(())
        },
    },
];

/// Options of mount(8) and fstab(5) that are accepted and change nothing: the
/// mount is read-only, `nosuid` and `nodev` whatever they say.
const IGNORED_OPTIONS: &[&str] = &[
    "async",
    "atime",
    "auto",
    "defaults",
    "dev",
    "diratime",
    "exec",
    "group",
    "nofail",
    "noatime",
    "noauto",
    "nodev",
    "nodiratime",
    "noexec",
    "norelatime",
    "nosuid",
    "nouser",
    "owner",
    "relatime",
    "ro",
    "rw",
    "suid",
    "sync",
    "user",
    "users",
    "_netdev",
];

/// Most threads that `-o threads=` takes.
const MAX_THREADS: usize = 256;

impl Args {
    /// What to mount, and the directory to mount it on.
    ///
    /// # Errors
    /// A sentence about what is missing or too much.
    pub fn sources(&self) -> Result<(Sources, &PathBuf), String> {
        let (mount_point, paths) = self.paths.split_last().ok_or("nothing to mount")?;
        let sources = match (&self.game, paths) {
            (Some(_), [_, ..]) => {
                return Err("--game takes all archives of its folder and no SOURCE".to_owned());
            }
            (Some(_), []) if self.order == Some(Order::Cli) => {
                return Err("--order cli orders SOURCEs, and --game has none".to_owned());
            }
            (Some(folder), []) => Sources::Game {
                folder: folder.clone(),
                order: self.order,
            },
            (None, []) => return Err("the mount point is missing".to_owned()),
            (None, paths) => Sources::Given {
                paths: paths.to_vec(),
                order: self.order,
                separate: self.separate,
            },
        };
        Ok((sources, mount_point))
    }

    /// The `-o` options.
    ///
    /// # Errors
    /// A sentence about the first option that is not understood.
    pub fn mount_options(&self) -> Result<MountOptions, String> {
        let mut options = MountOptions::default();
        if self.no_meta {
            options.vfs.meta = Meta::Off;
            options.vfs.companions = false;
        }
        options.vfs.strict = self.strict;
        for text in self.options.iter().filter(|text| !text.is_empty()) {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text.as_str(), None),
            };
            if IGNORED_OPTIONS.contains(&name) || name.starts_with("x-") || name == "comment" {
                continue;
            }
            let known = MOUNT_OPTIONS.iter().find(|option| option.name() == name);
            let option = known.ok_or_else(|| format!("-o {text}: there is no such option"))?;
            if option.takes_value() != value.is_some() {
                return Err(format!("-o {text}: is written {}", option.usage));
            }
            (option.apply)(&mut options, value.unwrap_or_default())
                .map_err(|problem| format!("-o {text}: {problem}"))?;
        }
        Ok(options)
    }

    /// How much is logged.
    pub fn log_level(&self) -> log::LevelFilter {
        match (self.quiet, self.verbose) {
            (true, _) => log::LevelFilter::Error,
            (_, 0) => log::LevelFilter::Warn,
            (_, 1) => log::LevelFilter::Info,
            _ => log::LevelFilter::Debug,
        }
    }
}

fn order_parser() -> impl TypedValueParser<Value = Order> {
    PossibleValuesParser::new(Order::NAMES.map(|(name, _)| name)).map(|chosen| {
        let known = Order::NAMES.iter().find(|(name, _)| *name == chosen);
        known.map_or(Order::Cli, |&(_, order)| order)
    })
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "is not a number".to_owned())
}

/// A number of bytes, with K, M or G for the powers of 1024.
fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 10),
        None => match text.strip_suffix(['M', 'm']) {
            Some(digits) => (digits, 20),
            None => match text.strip_suffix(['G', 'g']) {
                Some(digits) => (digits, 30),
                None => (text, 0),
            },
        },
    };
    number::<usize>(digits)?
        .checked_mul(1 << unit)
        .ok_or_else(|| "is too large".to_owned())
}

fn after_help() -> String {
    let mut text = "Mount options:\n".to_owned();
    for option in MOUNT_OPTIONS {
        text += &format!("  {:<16} {}\n", option.usage, option.help);
    }
    text + "\nExit codes:\n\
        \x20 0 mounted and answering   1 anything else   2 usage\n\
        \x20 10 source cannot be opened   11 of no known format   12 damaged   13 not supported\n\
        \x20 20 mount point unusable   21 FUSE not available   22 mount refused"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn options(text: &str) -> Result<MountOptions, String> {
        Args::parse_from(["hpimount", "a.hpi", "mnt", "-o", text]).mount_options()
    }

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_last_path_is_the_mount_point() {
        let args = Args::parse_from(["hpimount", "a", "b", "mnt", "-o", "ro"]);
        let (sources, mount_point) = args.sources().unwrap();
        let Sources::Given { paths, .. } = sources else {
            panic!("{sources:?}");
        };
        assert_eq!(paths, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(mount_point, &PathBuf::from("mnt"));
    }

    #[test]
    fn a_game_has_a_mount_point_and_no_sources() {
        let sources = |line: &[&str]| {
            let args = Args::parse_from([&["hpimount", "--game", "ta"], line].concat());
            args.sources().map(|(sources, _)| sources)
        };
        assert!(matches!(
            sources(&["--order", "rwe", "mnt"]),
            Ok(Sources::Game {
                order: Some(Order::Rwe),
                ..
            })
        ));
        assert!(sources(&["a.hpi", "mnt"]).is_err());
        assert!(sources(&["--order", "cli", "mnt"]).is_err());
        let alone = Args::parse_from(["hpimount", "mnt"]);
        assert_eq!(alone.sources().unwrap_err(), "the mount point is missing");
    }

    #[test]
    fn every_documented_option_is_understood() {
        let all = "allow_other,uid=5,gid=6,umask=027,cachesize=3M,threads=2,noprefetch,\
            case_sensitive,verify,force";
        let parsed = options(all).unwrap();
        assert!(parsed.allow_other && parsed.vfs.case_sensitive && parsed.vfs.force);
        assert!(parsed.no_prefetch);
        assert_eq!(
            (parsed.uid, parsed.gid, parsed.umask),
            (Some(5), Some(6), 0o027)
        );
        assert_eq!((parsed.vfs.cache_size, parsed.threads), (3 << 20, Some(2)));
        assert_eq!(all.split(',').count(), MOUNT_OPTIONS.len());
    }

    #[test]
    fn what_mount_and_fstab_add_is_accepted() {
        options("rw,nosuid,nodev,noatime,nofail,x-systemd.automount,_netdev,comment=ta").unwrap();
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("cahcesize=1M", "-o cahcesize=1M: there is no such option"),
            ("umask", "-o umask: is written umask=OOO"),
            ("force=1", "-o force=1: is written force"),
            ("umask=9", "-o umask=9: is not an octal mask"),
            ("threads=0", "-o threads=0: must be from 1 to 256"),
            ("uid=root", "-o uid=root: is not a number"),
        ] {
            assert_eq!(options(text).unwrap_err(), message);
        }
    }
}
