//! What is mounted, and how it is shown.

use crate::cli::hpimount::Args;
use crate::cli::option::NO_DEFAULT;
use crate::cli::values::choice;
use crate::cli::{Choice, Name, OptionSpec, Takes};
use crate::mount::{Meta, Order};

/// The options, in the order of the man page.
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
            with the folder's loose files on top. No SOURCE is given then. The game is Grand Theft Auto \
            if the folder `data` has its lists of files, and else the one that most of the archives are \
            made for, unless `--order` names it. With `--check`, `--diff` and `--index` it can be \
            given several times.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Long("game"),
            Takes::Folders("FOLDER", |args, folder| {
                args.games.push(folder.to_owned());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "With --game, a folder of loose files on top; may be repeated",
        long_help: "With `--game`, a folder of loose files above those of the game, such as a mod. The option can be \
            given several times; the last one is on top. Files in the folder itself replace files of the same \
            name in the IMG archives of Grand Theft Auto.",
        default: NO_DEFAULT,
        ..OptionSpec::new(
            Name::Long("mod"),
            Takes::Folders("FOLDER", |args, folder| {
                args.mods.push(folder.to_owned());
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
        help: "Give each archive its own directory instead of merging them",
        long_help: "Give each archive its own directory in the root of the mount, named after the \
            archive's file, instead of merging them.",
        default: "HPI archives are merged",
        conflicts: &["game"],
        ..OptionSpec::new(
            Name::Long("separate"),
            Takes::Nothing(|args| args.separate = true),
        )
    },
    OptionSpec {
        help: "Mount SOURCE with changes: a directory or a patch; may be repeated",
        long_help: "Mount with CHANGES: a directory, or a patch. A directory DIR has the paths of \
            the mount, whatever that is made of: a file there replaces or adds the file, an empty file `.wh.NAME` deletes \
            NAME, and `X.d/` has the changes inside the archive X. Edited files of \
            `converted/` become the assets that they show; `user.hpimount.editable` of a file \
            tells what can be edited in it. DIR may be the upper directory of an \
            overlay. A patch (`.xdelta`, `.bps`, `.ups`, `.ppf`, `.ips`, by its content) is applied to a single \
            SOURCE while it is read: to the plain image of a disc, whatever that is compressed as, or to the file \
            itself. A patch that was made for another file is an error that names both; `-o verify` compares all its \
            checksums. An XML of Riivolution (`mod.xml#Section/Option=2` chooses) or a game mod descriptor of \
            Dolphin is applied to a GameCube disc. Several are applied in the order given; of directories the last one wins. Nothing is copied. A single archive \
            or disc with its changes is also a file in `.hpimount/image`; where archives are merged, DIR is above all of \
            them. With `--diff`, the changes are those of the second side, and a side alone is compared with itself as \
            changed; with `--check` and `--index`, all SOURCEs are one mount. What cannot be applied is listed, and nothing \
            is mounted. A file of DIR that is changed later cannot be read until the next mount.",
        default: NO_DEFAULT,
        conflicts: &["unmount"],
        ..OptionSpec::new(
            Name::Long("apply"),
            Takes::Sources("CHANGES", |args, folder| {
                let folder = std::path::absolute(folder);
                args.mount
                    .apply
                    .push(folder.map_err(|error| error.to_string())?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Mount SOURCE so that it can be edited; saved files go to DIR",
        long_help: "Mount so that it can be edited. Files that programs save into the mount go to DIR, which is made if it \
            is missing, in the layout of `--apply`; SOURCE is never written. The archive, the disc in \
            `.hpimount/image` and converted files change when a file is closed. Removing a file from DIR undoes the \
            edit. A file that the source cannot have is an error of closing it, and named in \
            `.hpimount/changes.tsv`. `hpipack --apply DIR SOURCE OUT` writes the result. With `--apply`, DIR is above \
            its CHANGES.",
        default: "the mount is read-only",
        conflicts: &[
            "converted",
            "unmount",
            "list",
            "cat",
            "check",
            "diff",
            "index",
        ],
        ..OptionSpec::new(
            Name::Long("edit"),
            Takes::Folders("DIR", |args, folder| {
                let folder = std::path::absolute(folder);
                let folder = folder.map_err(|error| error.to_string())?;
                match args.mount.edit.replace(folder) {
                    None => Ok(()),
                    Some(_) => Err("--edit can be given once".to_owned()),
                }
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
            Takes::Nothing(|args| args.mount.apply_strict = true),
        )
    },
    OptionSpec {
        help: "Mount nothing if one of several sources cannot be mounted",
        long_help: "Mount nothing if one of several sources is damaged, unreadable or of no \
            known format. The exit status is that of the first such source.",
        default: "such sources are skipped with a message",
        ..OptionSpec::new(
            Name::Long("strict"),
            Takes::Nothing(|args| args.mount.vfs.strict = true),
        )
    },
    OptionSpec {
        help: "Mount the assets converted to pictures, models, sounds, texts and tables",
        long_help: "Mount the converted tree instead of the files: the same directories with \
            the assets converted to pictures, models, sounds, texts and tables. Without this \
            option it is the directory `converted` in the root.",
        default: "the files are mounted",
        ..OptionSpec::new(
            Name::Long("converted"),
            Takes::Nothing(|args| args.mount.vfs.converted = true),
        )
    },
    OptionSpec {
        help: "Show no X.d and X.meta directories beside archives and assets",
        long_help: "Show neither directories `X.d` beside archives nor anything made from \
            assets. This is `-o meta=off`, and also hides `X.d`.",
        default: "they are shown",
        ..OptionSpec::new(
            Name::Long("no-meta"),
            Takes::Nothing(|args| {
                args.mount.vfs.meta = Meta::Off;
                args.mount.vfs.companions = false;
            }),
        )
    },
];

/// The values of `--order`, as in [`Order::NAMES`].
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
