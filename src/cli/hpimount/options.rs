//! The options of `hpimount`, those of `-o` too.

use super::Args;
use crate::cli::option::NO_DEFAULT;
use crate::cli::values::{choice, number, permissions, size};
use crate::cli::{Choice, Generated, Name, OptionSpec, Takes};
use crate::mount::{Meta, Order};

/// Most threads that `-o threads=` takes.
pub const MAX_THREADS: usize = 256;

/// The values of `-o meta=`.
const META: [(&str, Meta); 3] = [
    ("visible", Meta::Visible),
    ("hidden", Meta::Hidden),
    ("off", Meta::Off),
];

/// All options, in the order of the man page.
pub(super) const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "Mount options, separated by commas",
        long_help: "Mount options, separated by commas, as in `mount(8)`; see MOUNT OPTIONS. \
            The option can be given several times. Of options that contradict each other, \
            the last one counts.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Short('o', "options"),
            Takes::MountOptions("OPTION,..."),
        )
    },
    OptionSpec {
        help: "Mount a game's folder: its archives and loose files, merged as the game does",
        long_help: "Mount a game's folder: its archives, in the order of the game's own loader, \
            with the folder's loose files on top. No SOURCE is given then. The game is the one \
            that most of the archives are made for, unless `--order` names it.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Long("game"),
            Takes::Folder("FOLDER", |args, folder| {
                args.game = Some(folder.to_owned());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Which of several merged HPI archives wins",
        long_help: "Which of several merged HPI archives wins where they have files of the same \
            name. The rules of the games go by the archives' extensions, names and dates; \
            `cli` goes by the command line and cannot be used with `--game`.",
        default: "cli; with --game: the rule of the game",
        conflicts: &["separate"],
        ..OptionSpec::new(
            Name::Long("order"),
            Takes::Choice("ORDER", ORDERS, |args, value| {
                args.order = Some(choice(value, &Order::NAMES)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Give each archive a directory of its own instead of merging them",
        long_help: "Give each archive a directory of its own in the root of the mount, named \
            after the archive's file, instead of merging them.",
        default: "HPI archives are merged",
        conflicts: &["game"],
        ..OptionSpec::new(
            Name::Long("separate"),
            Takes::Nothing(|args| args.separate = true),
        )
    },
    OptionSpec {
        help: "Mount nothing if one of several sources cannot be mounted",
        long_help: "Mount nothing if one of several sources is damaged, unreadable or of no \
            known format. The exit status is that of the first such source.",
        default: "such sources are left out, with a message",
        ..OptionSpec::new(
            Name::Long("strict"),
            Takes::Nothing(|args| args.mount.vfs.strict = true),
        )
    },
    OptionSpec {
        help: "Show no X.d and X.meta directories beside archives and assets",
        long_help: "Show neither directories `X.d` beside archives nor anything made from \
            assets. This is `-o meta=off`, and also leaves out `X.d`.",
        default: "they are shown",
        ..OptionSpec::new(
            Name::Long("no-meta"),
            Takes::Nothing(|args| {
                args.mount.vfs.meta = Meta::Off;
                args.mount.vfs.companions = false;
            }),
        )
    },
    OptionSpec {
        help: "Stay in the foreground and log to standard error",
        long_help: "Stay in the foreground until the file system is unmounted, and log to \
            standard error.",
        default: "run in the background and log to the system log",
        ..OptionSpec::new(
            Name::Both('f', "foreground"),
            Takes::Nothing(|args| args.foreground = true),
        )
    },
    OptionSpec {
        help: "Log more; twice for everything",
        long_help: "Log what the mount does as well; given twice, log details for debugging.",
        default: "log warnings and errors",
        ..OptionSpec::new(
            Name::Both('v', "verbose"),
            Takes::Repeats(|args| args.verbosity = args.verbosity.saturating_add(1)),
        )
    },
    OptionSpec {
        help: "Log errors only",
        long_help: "Log errors only.",
        default: "log warnings and errors",
        conflicts: &["verbose"],
        ..OptionSpec::new(
            Name::Both('q', "quiet"),
            Takes::Nothing(|args| args.quiet = true),
        )
    },
    OptionSpec::generate(|args, value| {
        args.generate = Some(choice(value, &Generated::NAMES)?);
        Ok(())
    }),
    OptionSpec {
        help: "Give other users access",
        long_help: "Give other users access, root included, as far as `umask` lets them. \
            Users other than root need the line `user_allow_other` in `/etc/fuse.conf`. \
            What root mounts so is open to all users, whoever can read the source.",
        default: "only the mounting user has access",
        ..OptionSpec::new(
            Name::Mount("allow_other"),
            Takes::Nothing(|args| args.mount.allow_other = true),
        )
    },
    OptionSpec {
        help: "Owner of all files",
        long_help: "Numeric user ID of the owner of all files and directories.",
        default: "the mounting user",
        ..OptionSpec::new(
            Name::Mount("uid"),
            Takes::Value("N", |args, value| {
                args.mount.uid = Some(number(value)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Group of all files",
        long_help: "Numeric group ID of all files and directories.",
        default: "the mounting user's group",
        ..OptionSpec::new(
            Name::Mount("gid"),
            Takes::Value("N", |args, value| {
                args.mount.gid = Some(number(value)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Permission bits to remove, in octal",
        long_help: "Permission bits to remove from the modes of all files and directories, in \
            octal, at most 777. Without it, files have mode 0444 and directories 0555.",
        default: "0",
        ..OptionSpec::new(
            Name::Mount("umask"),
            Takes::Value("OOO", |args, value| {
                args.mount.umask = permissions(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Memory budget for decoded data",
        long_help: "Memory budget for decoded data, in bytes, or with `K`, `M` or `G` in powers \
            of 1024. Data that was evicted is decoded again when it is read again.",
        default: "64M",
        ..OptionSpec::new(
            Name::Mount("cachesize"),
            Takes::Value("SIZE", |args, value| {
                args.mount.vfs.cache_size = size(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Limit of temporary files for generated files beyond the memory budget",
        long_help: "Most bytes of temporary file, in bytes, or with `K`, `M` or `G` in powers of \
            1024, that hold generated files, such as pictures and models, for which \
            `cachesize` is too small. With 0 there is no temporary file.",
        default: "1G",
        ..OptionSpec::new(
            Name::Mount("spoolsize"),
            Takes::Value("SIZE", |args, value| {
                args.mount.vfs.spool_size = size(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Threads that answer requests",
        long_help: "Number of threads that answer requests, from 1 to 256. More of them help \
            where sources are slow.",
        default: "as many as cores",
        ..OptionSpec::new(
            Name::Mount("threads"),
            Takes::Value("N", |args, value| {
                let threads: usize = number(value)?;
                if !(1..=MAX_THREADS).contains(&threads) {
                    return Err(format!("must be from 1 to {MAX_THREADS}"));
                }
                args.mount.threads = Some(threads);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Do not decode files before they are read",
        long_help: "Do not decode files before they are read.",
        default: "where files of a directory are read one after the other, the next ones are \
            decoded ahead",
        ..OptionSpec::new(
            Name::Mount("noprefetch"),
            Takes::Nothing(|args| args.mount.no_prefetch = true),
        )
    },
    OptionSpec {
        help: "Find names in their exact spelling only",
        long_help: "Find names in their exact spelling only.",
        default: "upper and lower case are the same in lookups, as in the games",
        ..OptionSpec::new(
            Name::Mount("case_sensitive"),
            Takes::Nothing(|args| args.mount.vfs.case_sensitive = true),
        )
    },
    OptionSpec {
        help: "Whether X.meta directories are listed",
        long_help: "Whether the directories `X.meta`, which show what an asset `X` holds, are \
            listed. Without the option that depends on where they are, so that recursive copies \
            and searches of an archive see its own files only. Directories that are not listed \
            can be entered by name.",
        default: "by the kind of source",
        ..OptionSpec::new(
            Name::Mount("meta"),
            Takes::Choice("META", METAS, |args, value| {
                args.mount.vfs.meta = choice(value, &META)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Mount and read damaged archives as far as possible",
        long_help: "Mount and read damaged archives as far as possible: wrong checksums are \
            only logged, what cannot be decoded is read as zeros, and damaged directories are \
            left out. For rescuing data.",
        default: "damage is an error",
        ..OptionSpec::new(
            Name::Mount("force"),
            Takes::Nothing(|args| args.mount.vfs.force = true),
        )
    },
    OptionSpec {
        help: "Compute checksums for the listings of HIP archives",
        long_help: "Compute the checksums of all assets for `assets.tsv` of HIP archives, which \
            reads the whole archive.",
        default: "a checksum is computed only when its extended attribute is read",
        ..OptionSpec::new(
            Name::Mount("verify"),
            Takes::Nothing(|args| args.mount.vfs.verify = true),
        )
    },
];

/// Options of mount(8) and fstab(5) that are accepted and change nothing: the
/// mount is read-only, `nosuid` and `nodev` in any case.
pub(super) const IGNORED: &[&str] = &[
    "async",
    "atime",
    "auto",
    "comment",
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

/// The values of `--order`, which are those of [`Order::NAMES`].
const ORDERS: &[Choice] = &[
    Choice {
        name: "ta",
        help: "As in Total Annihilation",
    },
    Choice {
        name: "kingdoms",
        help: "As in TA: Kingdoms",
    },
    Choice {
        name: "rwe",
        help: "As in the RWE engine",
    },
    Choice {
        name: "cli",
        help: "The last one on the command line wins",
    },
];

/// The values of `-o meta=`, which are those of [`META`].
const METAS: &[Choice] = &[
    Choice {
        name: "visible",
        help: "They are listed everywhere",
    },
    Choice {
        name: "hidden",
        help: "They are listed nowhere, and can be entered by name",
    },
    Choice {
        name: "off",
        help: "There are none",
    },
];
