//! The man page of `hpimount`, except for the parts generated from tables.

use crate::cli::{Block, Section};

pub(super) const DESCRIPTION: &[&str] = &[
    "`hpimount` mounts game archives, folders and assets as file systems. A SOURCE is \
     an archive (HPI, UFO, CCX, GP3 and KMP of Total Annihilation and TA: Kingdoms; HIP and HOP \
     of Heavy Iron's games; IMG of Grand Theft Auto; WAD, PKR and PRE of Neversoft's games; zip, 7z), \
     a disc image (GameCube, ISO 9660, Xbox), a folder, or a single asset, such as a PSX or HGO \
     model. The type is detected from the content, except for formats without a signature, \
     which need their extension.",
    "A SOURCE can also be the URL of a file on a web server (`https://`, `http://`), of an object \
     in a bucket (`s3://BUCKET/KEY`) or of a folder there (`s3://BUCKET/PREFIX/`). Only what is \
     read is fetched. `@FILE` means the URL in the first line of FILE, which keeps it out of the \
     process list. A file name that begins with `@` is written `./@FILE`.",
    "A single SOURCE is the root of the mount. Several HPI archives are merged: the tree has the \
     files of all of them, and among files with the same name, the one of the last archive on \
     the command line wins. If one of several sources is not an HPI archive, each source has \
     its own directory.",
    "Every archive `X` in a folder or in another archive has a directory `X.d` beside it with \
     its contents. Every asset `X` of a known format has a directory `X.meta` with its contents \
     as text, tables, pictures, sounds and models; in HPI and HIP archives it can be entered \
     but is not listed. Files are decoded on demand.",
    "The directory `converted` in the root of an archive or game has the same directories with \
     the assets converted: one file for a picture, a sound or a text, and a preview and a \
     directory `X` with the parts for others. In the root of a mounted HIP archive it is \
     listed, and has a directory for each kind of asset; elsewhere it can be entered but is \
     not listed. `--converted` mounts it alone.",
    "The command returns when the file system is mounted and answers requests; a process in the \
     background serves it until it is unmounted with `hpimount --unmount` MOUNTPOINT, \
     `fusermount3 -u` MOUNTPOINT or `umount` MOUNTPOINT. Unless the command is \
     run by root, it mounts through `fusermount3(1)`.",
];

pub(super) const SECTIONS: &[Section] = &[Section {
    heading: "CONTROL DIRECTORY",
    blocks: &[
        Block::Text(
            "The directory `.hpimount` in the root of the mount describes the mount itself. It is \
             not listed, so that recursive copies and searches skip it, but can be entered.",
        ),
        Block::Item(
            ".hpimount/info.json",
            "The sources, their formats, warnings about them, skipped sources, the order in \
             which archives were merged, and the options.",
        ),
        Block::Item(
            ".hpimount/stats.json",
            "Counters of requests, of bytes read and decoded, of cache hits, memory and errors, \
             and the last errors.",
        ),
        Block::Item(
            ".hpimount/shadowed/ARCHIVE/",
            "The files of a merged archive that are hidden by those of archives above it.",
        ),
        Block::Item(
            ".hpimount/converted/",
            "The converted assets, even if the archive contains a directory `converted`.",
        ),
        Block::Text(
            "Extended attributes of files show where and how an archive stores them; \
             `getfattr -d` FILE shows them. In a merged tree, `user.hpimount.source` names the \
             archive that a file comes from.",
        ),
    ],
}];

pub(super) const LAST_SECTIONS: &[Section] = &[
    Section {
        heading: "SIGNALS",
        blocks: &[
            Block::Text(
                "Every signal that would terminate the process and can be caught unmounts the file \
                 system first, unless it was ignored when `hpimount` was started, as SIGHUP is \
                 by `nohup(1)`. Signals that report a fault of the process, such as SIGSEGV, \
                 are not caught.",
            ),
            Block::Text(
                "If the file system is in use, it is detached from the directory tree, and \
                 the process ends when the last user has finished. A second signal ends the \
                 process at once; programs that still use the file system get errors. After \
                 SIGKILL the mount point does not answer; mounting there again replaces it.",
            ),
        ],
    },
    Section {
        heading: "ENVIRONMENT",
        blocks: &[
            Block::Item(
                "PATH",
                "Directories that are searched for `fusermount3(1)`.",
            ),
            Block::Item(
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE",
                "Keys for `s3://`, or the profile of `~/.aws/credentials` that has them. Without \
                 any, requests are not signed, which is enough for public buckets.",
            ),
            Block::Item(
                "AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_ALLOW_HTTP",
                "The region of a bucket, the address of a server other than Amazon's, and `true` \
                 to allow requests without encryption.",
            ),
            Block::Item(
                "SSL_CERT_FILE, SSL_CERT_DIR",
                "Trusted certificates for `https://` instead of those of the system.",
            ),
            Block::Item(
                "HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY",
                "Proxies for requests, and hosts that are contacted without one.",
            ),
            Block::Item(
                "NOTIFY_SOCKET",
                "The socket of a service manager, which with `-f` is notified when the mount is \
                 ready. See `sd_notify(3)` and `Type=notify` in `systemd.service(5)`.",
            ),
            Block::Item(
                "MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_",
                "Settings of the allocator of the GNU C library. `hpimount` sets those that are \
                 not set. See `mallopt(3)`.",
            ),
        ],
    },
    Section {
        heading: "FILES",
        blocks: &[
            Block::Item(
                "/dev/fuse",
                "The FUSE device, without which nothing can be mounted.",
            ),
            Block::Item(
                "/etc/fuse.conf",
                "Must contain the line `user_allow_other` for users other than root to mount with \
                 `-o allow_other`.",
            ),
            Block::Item(
                "/etc/fstab",
                "File systems of the type `fuse.hpimount` are mounted by `mount(8)`; `hpimount` \
                 must be in root's PATH.",
            ),
        ],
    },
    Section {
        heading: "EXAMPLES",
        blocks: &[
            Block::Text("Mount an archive, search it, and unmount it:"),
            Block::Code(
                "hpimount totala1.hpi ~/ta\n\
                 grep -ri \"name=gun\" ~/ta/weapons\n\
                 hpimount --unmount ~/ta",
            ),
            Block::Text("Mount several archives as one tree, the last one on top:"),
            Block::Code("hpimount totala1.hpi rev31.gp3 mymod.ufo ~/ta"),
            Block::Text("Mount a game as the game itself sees it, and find the archive of a file:"),
            Block::Code(
                "hpimount --game ~/TotalAnnihilation ~/ta\n\
                 getfattr -n user.hpimount.source ~/ta/units/armpw.fbi",
            ),
            Block::Text(
                "Compare two versions of a mod, two installations of a game, and an archive with \
                 two others that are merged:",
            ),
            Block::Code(
                "hpimount --diff old.ufo new.ufo\n\
                 hpimount --diff --brief --game ~/ta --game ~/ta-patched\n\
                 hpimount --diff all.hpi --against base.hpi --against patch.gp3",
            ),
            Block::Text("Write a database of all archives of a folder, and find a text in them:"),
            Block::Code(
                "hpimount --index games.sqlite ~/games/*.hpi\n\
                 sqlite3 games.sqlite \"SELECT source, path FROM files \\\n\
                 \\    JOIN texts ON texts.rowid = files.id WHERE texts MATCH 'jellyfish'\"",
            ),
            Block::Text(
                "Look into all archives and assets of a folder, with 256 MiB of memory for \
                 decoded data:",
            ),
            Block::Code(
                "hpimount -o cachesize=256M ~/dumps ~/look\n\
                 ls ~/look/boot.HIP.d/layers\n\
                 cat ~/look/level.psx.meta/info.txt",
            ),
            Block::Text("List an archive and print one of its files without mounting it:"),
            Block::Code(
                "hpimount --list totala1.hpi units\n\
                 hpimount --cat totala1.hpi units/armcom.fbi",
            ),
            Block::Text("Look at the pictures, models and maps of a whole game in a file manager:"),
            Block::Code("hpimount --converted --game ~/TotalAnnihilation ~/look"),
            Block::Text("Mount an archive on a web server, and those in a bucket:"),
            Block::Code(
                "hpimount https://example.org/mods/my.ufo ~/mod\n\
                 hpimount -o blockcache=$HOME/.cache/hpimount s3://bucket/mods/ ~/mods",
            ),
            Block::Text(
                "Check all archives of a folder, and compare a disc image with a list of Redump:",
            ),
            Block::Code(
                "hpimount --check ~/TotalAnnihilation\n\
                 hpimount --check --dat gamecube.dat game.rvz",
            ),
            Block::Text("Copy everything that can be read from a damaged archive:"),
            Block::Code("hpimount -o force broken.hpi ~/ta && cp -r ~/ta rescued"),
            Block::Text("Lines of `/etc/fstab`: at boot for all users, and on first access:"),
            Block::Code(
                "/games/totala1.hpi  /mnt/ta  fuse.hpimount  allow_other,nofail  0  0\n\
                 /games/bb01.HIP  /mnt/bb  fuse.hpimount  allow_other,noauto,x-systemd.automount  0  0",
            ),
            Block::Text("Write the man page and the completions for bash to files, for a package:"),
            Block::Code(
                "hpimount --generate man >hpimount.8\n\
                 hpimount --generate complete-bash >hpimount",
            ),
        ],
    },
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text(
            "`hpipack(1)`, `fusermount3(1)`, `getfattr(1)`, `fuse(4)`, `fstab(5)`, `mount(8)`, \
             `mount.fuse3(8)`, `umount(8)`",
        )],
    },
];
