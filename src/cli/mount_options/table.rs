//! The table of mount options.

use std::ffi::OsStr;
use std::time::Duration;

use super::{MountOption, Set};
use crate::app::PasswordSource;
use crate::cli::values::{choice, encoding, number, permissions, size, text};
use crate::mount::Meta;

/// Maximum value of `-o threads=`.
pub(super) const MAX_THREADS: usize = 256;

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

/// All options, in the order of the man page.
pub const MOUNT_OPTIONS: &[MountOption] = &[
    MountOption {
        name: "allow_other",
        value: "",
        help: "Give other users access",
        details: "Give other users access, including root, as far as `umask` permits. \
            Users other than root need the line `user_allow_other` in `/etc/fuse.conf`. \
            Then all users can read what root mounts, even if they cannot read the source.",
        default: "only the mounting user has access",
        set: Set::On(|settings| settings.mount.allow_other = true),
    },
    MountOption {
        name: "uid",
        value: "N",
        help: "Owner of all files",
        details: "Numeric user ID of the owner of all files and directories.",
        default: "the mounting user",
        set: Set::To(|settings, value| {
            settings.mount.uid = Some(number(value)?);
            Ok(())
        }),
    },
    MountOption {
        name: "gid",
        value: "N",
        help: "Group of all files",
        details: "Numeric group ID of all files and directories.",
        default: "the mounting user's group",
        set: Set::To(|settings, value| {
            settings.mount.gid = Some(number(value)?);
            Ok(())
        }),
    },
    MountOption {
        name: "umask",
        value: "OOO",
        help: "Permission bits to remove, in octal",
        details: "Permission bits to remove from the modes of all files and directories, in \
            octal, at most 777. Without it, files have mode 0444 and directories 0555.",
        default: "0",
        set: Set::To(|settings, value| {
            settings.mount.umask = permissions(value)?;
            Ok(())
        }),
    },
    MountOption {
        name: "cachesize",
        value: "SIZE",
        help: "Memory budget for decoded data",
        details: "Memory budget for decoded data, in bytes, or with `K`, `M` or `G` in powers \
            of 1024, at least 1M. Evicted data is decoded again on demand. One decoder at a time \
            may exceed it, if it needs a larger dictionary.",
        default: "64M",
        set: Set::To(|settings, value| {
            settings.mount.vfs.cache_size = cache_size(value)?;
            Ok(())
        }),
    },
    MountOption {
        name: "spoolsize",
        value: "SIZE",
        help: "Limit of the temporary file for what exceeds the memory budget",
        details: "Maximum size of the temporary file, in bytes, or with `K`, `M` or `G` in \
            powers of 1024, for what does not fit in `cachesize`: generated files, such as \
            pictures and models, and decoded data of archives that decode only from their \
            start. With 0 there is no temporary file.",
        default: "1G",
        set: Set::To(|settings, value| {
            settings.mount.vfs.spool_size = size(value)?;
            Ok(())
        }),
    },
    MountOption {
        name: "threads",
        value: "N",
        help: "Threads that answer requests",
        details: "Number of threads that answer requests, from 1 to 256. More threads help if sources are slow.",
        default: "as many as cores; 16 if a source is on a server",
        set: Set::To(|settings, value| {
            let threads: usize = number(value)?;
            if !(1..=MAX_THREADS).contains(&threads) {
                return Err(format!("must be from 1 to {MAX_THREADS}"));
            }
            settings.mount.threads = Some(threads);
            Ok(())
        }),
    },
    MountOption {
        name: "idle",
        value: "SECONDS",
        help: "Unmount after this many seconds without use",
        details: "Unmount when the mount has not been used for this number of seconds, at least \
            1: no lookups, listings or reads, no open files, no current directory of a program, and no \
            program that waits for changes, such as a file manager with an open window. \
            It may take up to a fifth longer.",
        default: "it stays mounted",
        set: Set::To(|settings, value| {
            let seconds = number::<u32>(value)?;
            if seconds == 0 {
                return Err("must be at least 1".to_owned());
            }
            settings.mount.idle = Some(Duration::from_secs(seconds.into()));
            Ok(())
        }),
    },
    MountOption {
        name: "readahead",
        value: "SIZE",
        help: "Limit of read-ahead from a server",
        details: "Maximum number of bytes that are fetched from a server ahead of sequential reads, \
            or with `K`, `M` or `G` in powers of 1024, but no more than a quarter of \
            `cachesize`. With 0 there is no read-ahead.",
        default: "8M",
        set: Set::To(|settings, value| {
            settings.mount.remote.read_ahead = size(value)?;
            Ok(())
        }),
    },
    MountOption {
        name: "timeout",
        value: "SECONDS",
        help: "How long a server may be silent",
        details: "Seconds without a byte from a server, from 1 to 3600, after which a read \
            fails with EIO. Until then failed requests are retried.",
        default: "10",
        set: Set::To(|settings, value| {
            let seconds: u64 = number(value)?;
            if !(1..=3600).contains(&seconds) {
                return Err("must be from 1 to 3600".to_owned());
            }
            settings.mount.remote.timeout = Duration::from_secs(seconds);
            Ok(())
        }),
    },
    MountOption {
        name: "blockcache",
        value: "DIR",
        help: "Cache data from servers in a directory",
        details: "Keep blocks of objects on servers in a directory, for concurrent and later \
            mounts. It is created if needed, and refused if anyone but its owner can write to it. Only objects with a strong ETag are kept.",
        default: "blocks are kept in memory only",
        set: Set::To(|settings, directory| {
            let directory = std::path::absolute(directory);
            let directory = directory.map_err(|error| error.to_string())?;
            settings.mount.remote.block_cache = Some(directory);
            Ok(())
        }),
    },
    MountOption {
        name: "blockcachesize",
        value: "SIZE",
        help: "Size limit of the directory of blockcache=",
        details: "Maximum size of the directory of `blockcache=` in bytes, or with `K`, `M` or \
            `G` in powers of 1024. The least recently used blocks are removed.",
        default: "1G",
        set: Set::To(|settings, value| {
            settings.mount.remote.block_cache_size = size(value)?;
            Ok(())
        }),
    },
    MountOption {
        name: "header",
        value: "@FILE",
        help: "File with an Authorization header for web servers",
        details: "A file whose first line is the value of an Authorization header for \
            requests to web servers, such as `Bearer TOKEN`. It is sent to the servers that \
            SOURCEs name, and not to those that they redirect to.",
        default: "none is sent",
        set: Set::To(|settings, value| {
            let file = text(value)?.strip_prefix('@');
            let file = file.ok_or("expected header=@FILE")?;
            settings.mount.remote.header = Some(file.into());
            Ok(())
        }),
    },
    MountOption {
        name: "allowlocal",
        value: "",
        help: "Follow redirects of public servers to this computer and its link",
        details: "Follow redirects of public servers to loopback and link-local addresses, \
            where services may trust everyone on this computer.",
        default: "they are refused",
        set: Set::On(|settings| settings.mount.remote.allow_local = true),
    },
    MountOption {
        name: "noprefetch",
        value: "",
        help: "Do not decode files before they are read",
        details: "Do not decode files before they are read.",
        default: "files that are read in order are prefetched",
        set: Set::On(|settings| settings.mount.no_prefetch = true),
    },
    MountOption {
        name: "case_sensitive",
        value: "",
        help: "Find names in their exact spelling only",
        details: "Find names in their exact spelling only.",
        default: "lookups ignore case, as in the games",
        set: Set::On(|settings| settings.mount.vfs.case_sensitive = true),
    },
    MountOption {
        name: "meta",
        value: "visible|converted|hidden|off",
        help: "Whether X.meta and converted directories are listed",
        details: "Whether the directories `X.meta`, which show the contents of an asset `X`, and \
            `converted`, which shows all assets converted, are listed. The default depends on \
            the kind of source, so that recursive copies and searches of an archive see only its \
            own files: with `visible` everywhere, with `converted` as by default and `converted` in every \
            archive, with `hidden` nowhere. Directories that are not listed can still be entered; with `off` \
            they do not exist.",
        default: "depends on the kind of source",
        set: Set::To(|settings, value| {
            settings.mount.vfs.meta = choice(value, &META)?;
            Ok(())
        }),
    },
    MountOption {
        name: "palette",
        value: "FILE",
        help: "Palette of pictures of Total Annihilation that have none of their own",
        details: "Palette of pictures, models and maps of Total Annihilation and TA: Kingdoms \
            that have none of their own: a `.pal` file of the games, 768 bytes of red, green \
            and blue, a `.pcx` picture with the palette, or a palette of GIMP (`.gpl`).",
        default: "that of the mount, else that of Total Annihilation",
        set: Set::To(|settings, file| {
            settings.mount.palette = Some(file.into());
            Ok(())
        }),
    },
    MountOption {
        name: "password",
        value: "@FILE",
        help: "File with the password of encrypted zip and 7z archives, or `ask`",
        details: "A file whose first line is the password of encrypted files in zip and 7z \
            archives, and of 7z archives with encrypted names; with `password=ask`, it is asked for on \
            the terminal.",
        default: "encrypted files are listed and not read",
        set: Set::To(|settings, value| {
            settings.mount.password = Some(match (text(value)?, text(value)?.strip_prefix('@')) {
                ("ask", _) => PasswordSource::Terminal,
                (_, Some(file)) => PasswordSource::File(file.into()),
                _ => return Err("expected password=@FILE or password=ask".to_owned()),
            });
            Ok(())
        }),
    },
    MountOption {
        name: "encoding",
        value: "NAME",
        help: "Character set of names in zip and tar archives that do not say theirs",
        details: "Character set of names in zip and tar archives that do not say theirs, such as \
            `shift_jis`, `gbk`, `big5`, `euc-kr`, `windows-1251` or `ibm866`: a label of the Encoding \
            Standard.",
        default: "UTF-8, else code page 437 or Windows-1252",
        set: Set::To(|settings, value| {
            settings.mount.vfs.encoding = Some(encoding(value)?);
            Ok(())
        }),
    },
    MountOption {
        name: "force",
        value: "",
        help: "Mount and read damaged archives as far as possible",
        details: "Mount and read damaged archives as far as possible: wrong checksums are \
            only logged, data that cannot be decoded is read as zeros, damaged directories are \
            skipped, and the files of a zip archive without its directory are found by their headers. \
            Intended for rescuing data.",
        default: "damage is an error",
        set: Set::On(|settings| settings.mount.vfs.force = true),
    },
    MountOption {
        name: "verify",
        value: "",
        help: "Compare all checksums: of HIP assets, Kingdoms files, CD sectors and stored files",
        details: "Compare checksums that are otherwise compared only when an extended attribute \
            is read, or not at all, because it takes another pass over the data: those of all assets of \
            a HIP archive, for `assets.tsv`, which reads the whole archive; that of a file of TA: Kingdoms, \
            before its first read; the EDC of each sector of a raw CD image; and those of files that \
            are stored without compression in zip, 7z and PKR archives. A wrong one is EIO, except in \
            `assets.tsv`.",
        default: "only checksums that cost no further pass are compared",
        set: Set::On(|settings| settings.mount.vfs.verify = true),
    },
    MountOption {
        name: "ro",
        value: "",
        help: "Mount read-only",
        details: "Mount read-only. Contradicts `--edit`, without which every mount is read-only.",
        default: "read-only, unless --edit is given",
        set: Set::On(|settings| settings.is_read_only = true),
    },
    MountOption {
        name: "nosandbox",
        value: "",
        help: "Do not confine the threads that read archives",
        details: "Do not confine the threads that read archives to their sources. For systems \
            where that fails, which is an error otherwise; only for archives that you trust.",
        default: "they can read the sources and nothing else",
        set: Set::On(|settings| settings.mount.no_sandbox = true),
    },
];

/// Options of mount(8) and fstab(5) that are accepted and ignored: the mount is
/// `nosuid` and `nodev` in any case, and read-only without `--edit`.
pub(in crate::cli) const IGNORED: &[&str] = &[
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
