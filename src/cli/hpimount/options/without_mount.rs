//! What is done instead of mounting.

use crate::cli::hpimount::{Args, Job};
use crate::cli::option::NO_DEFAULT;
use crate::cli::values::{choice, number, text};
use crate::cli::{Choice, Name, OptionSpec, Takes};
use crate::inspect::SortKey;

/// The options, in the order of the man page.
pub(super) const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "List what is in a source, or below a PATH in it, without mounting",
        long_help: "Mount nothing, and list the contents of SOURCE: mode, size, date (UTC), compression \
            method and path of each file and directory, one per line. With PATHs, list these and \
            everything below them. A PATH is the path of a file in the mount, ignoring case, such as \
            `boot.HIP.d/layers`; directories `X.d` and `X.meta` are listed only if a PATH leads into them. No FUSE is needed.",
        default: NO_DEFAULT,
        conflicts: &["cat", "unmount"],
        ..OptionSpec::new(
            Name::Both('l', "list"),
            Takes::Nothing(|args| args.job = Some(Job::List)),
        )
    },
    OptionSpec {
        help: "With --list, the order of the lines",
        long_help: "With `--list`: list everything in this order instead of that of the source. The \
            list is kept in memory, at most as much as `-o cachesize=`.",
        default: "directory by directory, as in the source",
        ..OptionSpec::new(
            Name::Long("sort"),
            Takes::Choice("KEY", SORT_KEYS, |args, value| {
                args.list.sort = Some(choice(value, &SortKey::NAMES)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --list, list only entries of this type",
        long_help: "With `--list`: list only entries of this type: `file`, `directory`, `link`, \
            `archive` (a file with an `X.d`), `asset` (a file with an `X.meta`), the type of an asset in a \
            HIP archive, such as `RWTX`, or an extension, such as `fbi`; case is ignored.",
        default: "all types",
        ..OptionSpec::new(
            Name::Long("type"),
            Takes::Value("TYPE", |args, value| {
                args.list.only = Some(text(value)?.to_ascii_lowercase());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --list, print a checksum of each file",
        long_help: "With `--list`: print a checksum and the path of each file, as `sha256sum` does, \
            which compares them with the files of a copy: `sha256sum -c`.",
        default: "no checksums",
        ..OptionSpec::new(
            Name::Long("hash"),
            Takes::Choice("HASH", HASHES, |args, _| {
                args.list.sha256 = true;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --list, print paths only, each with a NUL after it",
        long_help: "With `--list`: print paths only, or with `--hash` checksums and paths, each with a NUL after \
            it instead of a line break, for `xargs -0` and others.",
        default: "lines",
        conflicts: &["json"],
        ..OptionSpec::new(
            Name::Both('0', "null"),
            Takes::Nothing(|args| args.list.null = true),
        )
    },
    OptionSpec {
        help: "Print files of a source without mounting",
        long_help: "Mount nothing, and print the files at the PATHs in SOURCE, in order, \
            to standard output. A PATH is the path of a file in the mount, ignoring case; it may lead into `X.d` and `X.meta`. No FUSE is needed.",
        default: NO_DEFAULT,
        conflicts: &["unmount"],
        ..OptionSpec::new(
            Name::Long("cat"),
            Takes::Nothing(|args| args.job = Some(Job::Cat)),
        )
    },
    OptionSpec {
        help: "Read and check everything in sources without mounting",
        long_help: "Mount nothing, and check everything in each SOURCE and `--game`, including nested archives, \
            on all cores: everything is decoded, checksums are compared, and assets are parsed. Each finding is a line with file, offset and cause; a summary follows. \
            For disc images and their tracks, CRC-32, MD5 and SHA-1 are printed. \
            `-o cachesize` and `-o threads` apply here too; with `-o meta=off` assets are \
            not parsed. No FUSE is needed.",
        default: NO_DEFAULT,
        conflicts: &["list", "cat", "unmount"],
        ..OptionSpec::new(
            Name::Long("check"),
            Takes::Nothing(|args| args.job = Some(Job::Check)),
        )
    },
    OptionSpec {
        help: "With --check, compare disc images with a list of Redump or No-Intro",
        long_help: "With `--check`: compare disc images and their tracks with the list in FILE \
            (Logiqx XML or clrmamepro's text), as published by Redump and No-Intro. An image \
            that is not in the list is reported as damaged. A patch of `--apply` that was made \
            for another file is refused with the name of that file, if the list has it.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Long("dat"),
            Takes::File("FILE", |args, file| {
                args.dat = Some(file.to_owned());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Without a mount, how many bytes are read for each byte of a source",
        long_help: "With `--check`, `--index` and `--diff`: read at most N bytes for each byte of a source, or \
            N times 16 MiB of a smaller one, and enter at most N archives in archives for each MiB. \
            With `--list`: read no more for the checksums of `--hash`. A small \
            file can pretend to hold a million archives, or petabytes; what exceeds a limit is \
            reported as left out.",
        default: "1000",
        ..OptionSpec::new(
            Name::Long("expansion"),
            Takes::Value("N", |args, value| {
                args.expansion = Some(number(value)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Compare two sources without mounting",
        long_help: "Mount nothing, and print how two sources differ: files that were added, removed, moved or \
            changed, also in nested archives, and how assets have changed. `--diff A B` compares two \
            sources; `--diff A... --against B` compares several sources, merged as in a \
            mount, with those of `--against`. A game is compared with `--game`, which can be given twice. \
            `-o cachesize` and `-o threads` apply here too; with `-o meta=off` assets are not compared. \
            The exit status is that of `diff(1)`: 0 without differences, 1 with differences, 2 if \
            something could not be compared. No FUSE is needed.",
        default: NO_DEFAULT,
        conflicts: &["list", "cat", "check", "unmount"],
        ..OptionSpec::new(
            Name::Long("diff"),
            Takes::Nothing(|args| args.job = Some(Job::Diff)),
        )
    },
    OptionSpec {
        help: "With --diff, a source of the second side; may be repeated",
        long_help: "With `--diff`: a source of the second side. All other SOURCEs are of the first \
            side. It may be given several times; the last one wins where they are merged.",
        default: "the second of two SOURCEs",
        ..OptionSpec::new(
            Name::Long("against"),
            Takes::Sources("SOURCE", |args, source| {
                args.against.push(source.to_owned());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --diff, do not say how files have changed",
        long_help: "With `--diff`: print which files differ, and not how assets have changed.",
        default: "the differences of assets are printed",
        ..OptionSpec::new(
            Name::Long("brief"),
            Takes::Nothing(|args| args.brief = true),
        )
    },
    OptionSpec {
        help: "With --diff, write the differences as a folder of changes for --apply",
        long_help: "With `--diff`: also write the differences to DIR, which is new or empty, in the layout of \
            `--apply`: `--apply DIR` of the first side then has the files of the second one. Of an archive X only \
            the changes inside are written, as `X.d/`, if they suffice. With `--apply PATCH SOURCE`, a \
            patch becomes a folder that can be edited. What a folder of changes cannot express is listed, and \
            nothing is written. The exit status is 0 if everything was written.",
        default: "differences are only printed",
        ..OptionSpec::new(
            Name::Long("export"),
            Takes::File("DIR", |args, folder| {
                args.export = Some(folder.into());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --export, write archives in archives as a whole",
        long_help: "With `--export`: write archives in the sources as a whole instead of the changes inside.",
        default: "changes inside",
        ..OptionSpec::new(
            Name::Long("whole"),
            Takes::Nothing(|args| args.whole = true),
        )
    },
    OptionSpec {
        help: "Write a database of everything in sources, without mounting",
        long_help: "Mount nothing, and write a database of everything in each SOURCE and `--game` to FILE, \
            for `sqlite3(1)`: its entries with their checksums, the facts of its assets, references, and all \
            names and texts for searches. An existing database is updated: sources that are \
            unchanged are skipped. A source that cannot be opened has its error in the database. \
            `-o cachesize` and `-o threads` apply here too. No FUSE is needed.",
        default: NO_DEFAULT,
        conflicts: &["list", "cat", "check", "diff", "unmount"],
        ..OptionSpec::new(
            Name::Long("index"),
            Takes::File("FILE", |args, file| {
                args.job = Some(Job::Index);
                args.index = Some(file.into());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Write JSON, one object per line",
        long_help: "With `--check`, `--diff` and `--list`: write JSON, one object per line.",
        default: "plain text",
        conflicts: &["cat", "unmount"],
        ..OptionSpec::new(Name::Long("json"), Takes::Nothing(|args| args.json = true))
    },
    OptionSpec {
        help: "Unmount each MOUNTPOINT",
        long_help: "Unmount the mount of `hpimount` at each MOUNTPOINT, as `fusermount3 -u` and \
            `umount(8)` do. A mount that is in use stays mounted.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Long("unmount"),
            Takes::Nothing(|args| args.job = Some(Job::Unmount)),
        )
    },
];

/// The values of `--sort`, as in [`SortKey::NAMES`].
const SORT_KEYS: &[Choice] = &[
    Choice {
        name: "name",
        help: "By path",
    },
    Choice {
        name: "size",
        help: "The largest first",
    },
    Choice {
        name: "time",
        help: "The newest first",
    },
    Choice {
        name: "type",
        help: "By the type of the asset, or by extension",
    },
];

/// The values of `--hash`.
const HASHES: &[Choice] = &[Choice {
    name: "sha256",
    help: "SHA-256",
}];
