//! The values of `-o`.

use std::ffi::OsStr;
use std::time::Duration;

use crate::app::PasswordSource;
use crate::cli::hpimount::Args;
use crate::cli::values::{choice, encoding, number, permissions, size, text};
use crate::cli::{Choice, Name, OptionSpec, Takes};
use crate::mount::Meta;

/// Maximum value of `-o threads=`.
pub const MAX_THREADS: usize = 256;

/// Minimum value of `-o cachesize=` in bytes: with less, generated files and
/// large directories would fail with ENOMEM.
const MIN_CACHE: usize = 1 << 20;

/// Environment variable with which the tests set smaller budgets.
const TINY_CACHE: &str = "HPIMOUNT_TEST_TINY_CACHE";

/// Parses a memory budget.
fn cache_size(value: &OsStr) -> Result<usize, String> {
    let size = size(value)?;
    let is_tested = cfg!(debug_assertions) && std::env::var_os(TINY_CACHE).is_some();
    match size < MIN_CACHE && !is_tested {
        true => Err("must be at least 1M".to_owned()),
        false => Ok(size),
    }
}

/// The values of `-o meta=`.
const META: [(&str, Meta); 4] = [
    ("visible", Meta::Visible),
    ("converted", Meta::Converted),
    ("hidden", Meta::Hidden),
    ("off", Meta::Off),
];

/// The values, in the order of the man page.
pub(super) const OPTIONS: &[OptionSpec<Args>] = &[
    OptionSpec {
        help: "Give other users access",
        long_help: "Give other users access, including root, as far as `umask` permits. \
            Users other than root need the line `user_allow_other` in `/etc/fuse.conf`. \
            Then all users can read what root mounts, even if they cannot read the source.",
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
            of 1024, at least 1M. Evicted data is decoded again on demand. One decoder at a time \
            may exceed it, if it needs a larger dictionary.",
        default: "64M",
        ..OptionSpec::new(
            Name::Mount("cachesize"),
            Takes::Value("SIZE", |args, value| {
                args.mount.vfs.cache_size = cache_size(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Limit of the temporary file for what exceeds the memory budget",
        long_help: "Maximum size of the temporary file, in bytes, or with `K`, `M` or `G` in \
            powers of 1024, for what does not fit in `cachesize`: generated files, such as \
            pictures and models, and decoded data of archives that decode only from their \
            start. With 0 there is no temporary file.",
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
        long_help: "Number of threads that answer requests, from 1 to 256. More threads help if sources are slow.",
        default: "as many as cores; 16 if a source is on a server",
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
        help: "Unmount after this many seconds without use",
        long_help: "Unmount when the mount has not been used for this number of seconds, at least \
            1: no lookups, listings or reads, no open files, no current directory of a program, and no \
            program that waits for changes, such as a file manager with an open window. \
            It may take up to a fifth longer.",
        default: "it stays mounted",
        ..OptionSpec::new(
            Name::Mount("idle"),
            Takes::Value("SECONDS", |args, value| {
                let seconds = number::<u32>(value)?;
                if seconds == 0 {
                    return Err("must be at least 1".to_owned());
                }
                args.mount.idle = Some(Duration::from_secs(seconds.into()));
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Limit of read-ahead from a server",
        long_help: "Maximum number of bytes that are fetched from a server ahead of sequential reads, \
            or with `K`, `M` or `G` in powers of 1024, but no more than a quarter of \
            `cachesize`. With 0 there is no read-ahead.",
        default: "8M",
        ..OptionSpec::new(
            Name::Mount("readahead"),
            Takes::Value("SIZE", |args, value| {
                args.mount.remote.read_ahead = size(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "How long a server may be silent",
        long_help: "Seconds without a byte from a server, from 1 to 3600, after which a read \
            fails with EIO. Until then failed requests are retried.",
        default: "10",
        ..OptionSpec::new(
            Name::Mount("timeout"),
            Takes::Value("SECONDS", |args, value| {
                let seconds: u64 = number(value)?;
                if !(1..=3600).contains(&seconds) {
                    return Err("must be from 1 to 3600".to_owned());
                }
                args.mount.remote.timeout = Duration::from_secs(seconds);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Cache data from servers in a directory",
        long_help: "Keep blocks of objects on servers in a directory, for concurrent and later \
            mounts. It is created if needed, and refused if anyone but its owner can write to it. Only objects with a strong ETag are kept.",
        default: "blocks are kept in memory only",
        ..OptionSpec::new(
            Name::Mount("blockcache"),
            Takes::Folder("DIR", |args, directory| {
                let directory = std::path::absolute(directory);
                let directory = directory.map_err(|error| error.to_string())?;
                args.mount.remote.block_cache = Some(directory);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Size limit of the directory of blockcache=",
        long_help: "Maximum size of the directory of `blockcache=` in bytes, or with `K`, `M` or \
            `G` in powers of 1024. The least recently used blocks are removed.",
        default: "1G",
        ..OptionSpec::new(
            Name::Mount("blockcachesize"),
            Takes::Value("SIZE", |args, value| {
                args.mount.remote.block_cache_size = size(value)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "File with an Authorization header for web servers",
        long_help: "A file whose first line is the value of an Authorization header for \
            requests to web servers, such as `Bearer TOKEN`. It is sent to the servers that \
            SOURCEs name, and not to those that they redirect to.",
        default: "none is sent",
        ..OptionSpec::new(
            Name::Mount("header"),
            Takes::File("@FILE", |args, value| {
                let file = text(value)?.strip_prefix('@');
                let file = file.ok_or("expected header=@FILE")?;
                args.mount.remote.header = Some(file.into());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Follow redirects of public servers to this computer and its link",
        long_help: "Follow redirects of public servers to loopback and link-local addresses, \
            where services may trust everyone on this computer.",
        default: "they are refused",
        ..OptionSpec::new(
            Name::Mount("allowlocal"),
            Takes::Nothing(|args| args.mount.remote.allow_local = true),
        )
    },
    OptionSpec {
        help: "Do not decode files before they are read",
        long_help: "Do not decode files before they are read.",
        default: "files that are read in order are prefetched",
        ..OptionSpec::new(
            Name::Mount("noprefetch"),
            Takes::Nothing(|args| args.mount.no_prefetch = true),
        )
    },
    OptionSpec {
        help: "Find names in their exact spelling only",
        long_help: "Find names in their exact spelling only.",
        default: "lookups ignore case, as in the games",
        ..OptionSpec::new(
            Name::Mount("case_sensitive"),
            Takes::Nothing(|args| args.mount.vfs.case_sensitive = true),
        )
    },
    OptionSpec {
        help: "Whether X.meta and converted directories are listed",
        long_help: "Whether the directories `X.meta`, which show the contents of an asset `X`, and \
            `converted`, which shows all assets converted, are listed. The default depends on \
            the kind of source, so that recursive copies and searches of an archive see only its \
            own files. Directories that are not listed can still be entered.",
        default: "depends on the kind of source",
        ..OptionSpec::new(
            Name::Mount("meta"),
            Takes::Choice("META", METAS, |args, value| {
                args.mount.vfs.meta = choice(value, &META)?;
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Palette of pictures of Total Annihilation that have none of their own",
        long_help: "Palette of pictures, models and maps of Total Annihilation and TA: Kingdoms \
            that have none of their own: a `.pal` file of the games, 768 bytes of red, green \
            and blue, a `.pcx` picture with the palette, or a palette of GIMP (`.gpl`).",
        default: "that of the mount, else that of Total Annihilation",
        ..OptionSpec::new(
            Name::Mount("palette"),
            Takes::File("FILE", |args, file| {
                args.mount.palette = Some(file.into());
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "File with the password of encrypted zip and 7z archives, or `ask`",
        long_help: "A file whose first line is the password of encrypted files in zip and 7z \
            archives, and of 7z archives with encrypted names; with `password=ask`, it is asked for on \
            the terminal.",
        default: "encrypted files are listed and not read",
        ..OptionSpec::new(
            Name::Mount("password"),
            Takes::File("@FILE", |args, value| {
                args.mount.password = Some(match (text(value)?, text(value)?.strip_prefix('@')) {
                    ("ask", _) => PasswordSource::Terminal,
                    (_, Some(file)) => PasswordSource::File(file.into()),
                    _ => return Err("expected password=@FILE or password=ask".to_owned()),
                });
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Character set of names in zip and tar archives that do not say theirs",
        long_help: "Character set of names in zip and tar archives that do not say theirs, such as \
            `shift_jis`, `gbk`, `big5`, `euc-kr`, `windows-1251` or `ibm866`: a label of the Encoding \
            Standard.",
        default: "UTF-8, else code page 437 or Windows-1252",
        ..OptionSpec::new(
            Name::Mount("encoding"),
            Takes::Value("NAME", |args, value| {
                args.mount.vfs.encoding = Some(encoding(value)?);
                Ok(())
            }),
        )
    },
    OptionSpec {
        help: "Mount and read damaged archives as far as possible",
        long_help: "Mount and read damaged archives as far as possible: wrong checksums are \
            only logged, data that cannot be decoded is read as zeros, damaged directories are \
            skipped, and the files of a zip archive without its directory are found by their headers. \
            Intended for rescuing data.",
        default: "damage is an error",
        ..OptionSpec::new(
            Name::Mount("force"),
            Takes::Nothing(|args| args.mount.vfs.force = true),
        )
    },
    OptionSpec {
        help: "Compare all checksums: of HIP assets, Kingdoms files, CD sectors and stored files",
        long_help: "Compare checksums that are otherwise compared only when an extended attribute \
            is read, or not at all, because it takes another pass over the data: those of all assets of \
            a HIP archive, for `assets.tsv`, which reads the whole archive; that of a file of TA: Kingdoms, \
            before its first read; the EDC of each sector of a raw CD image; and those of files that \
            are stored without compression in zip, 7z and PKR archives. A wrong one is EIO, except in \
            `assets.tsv`.",
        default: "only checksums that cost no further pass are compared",
        ..OptionSpec::new(
            Name::Mount("verify"),
            Takes::Nothing(|args| args.mount.vfs.verify = true),
        )
    },
    OptionSpec {
        help: "Mount read-only",
        long_help: "Mount read-only. Contradicts `--edit`, without which every mount is read-only.",
        default: "read-only, unless --edit is given",
        ..OptionSpec::new(
            Name::Mount("ro"),
            Takes::Nothing(|args| args.is_read_only = true),
        )
    },
    OptionSpec {
        help: "Do not confine the threads that read archives",
        long_help: "Do not confine the threads that read archives to their sources. For systems \
            where that fails, which is an error otherwise; only for archives that you trust.",
        default: "they can read the sources and nothing else",
        ..OptionSpec::new(
            Name::Mount("nosandbox"),
            Takes::Nothing(|args| args.mount.no_sandbox = true),
        )
    },
];

/// Options of mount(8) and fstab(5) that are accepted and ignored: the mount is
/// `nosuid` and `nodev` in any case, and read-only without `--edit`.
pub(in crate::cli::hpimount) const IGNORED: &[&str] = &[
    "async",
    "atime",
    "auto",
    "comment",
    "defaults",
    "dev",
    "diratime",
    "dirsync",
    "exec",
    "group",
    "iversion",
    "lazytime",
    "loud",
    "mand",
    "nofail",
    "noatime",
    "noauto",
    "nodev",
    "nodiratime",
    "noexec",
    "noiversion",
    "nolazytime",
    "nomand",
    "norelatime",
    "nostrictatime",
    "nosuid",
    "nosymfollow",
    "nouser",
    "owner",
    "relatime",
    "rw",
    "silent",
    "strictatime",
    "suid",
    "sync",
    "user",
    "users",
    "_netdev",
];

/// The values of `-o meta=`, as in [`META`].
const METAS: &[Choice] = &[
    Choice {
        name: "visible",
        help: "They are listed everywhere",
    },
    Choice {
        name: "converted",
        help: "As by default, and converted is listed in every archive",
    },
    Choice {
        name: "hidden",
        help: "They are never listed, but can be entered",
    },
    Choice {
        name: "off",
        help: "They do not exist",
    },
];
