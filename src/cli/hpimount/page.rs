//! The man page of `hpimount`, without what comes from its tables.

use crate::cli::{Block, Section};

pub(super) const DESCRIPTION: &[&str] = &[
    "`hpimount` mounts game archives, folders and assets as read-only file systems. A SOURCE is \
     an archive (HPI, UFO, CCX, GP3 and KMP of Total Annihilation and TA: Kingdoms; HIP and HOP \
     of Heavy Iron's games; IMG of Grand Theft Auto; WAD, PKR and PRE of Neversoft's games; zip), \
     a disc image (GameCube, ISO 9660, Xbox), a folder, or a single PSX, HGO or IFP file. The \
     type is detected from the content, not from the name.",
    "A single SOURCE is the root of the mount. Several HPI archives are merged: the tree has the \
     files of all of them, and where files have the same name, the one of the last archive on \
     the command line is seen. Several sources of which one is not an HPI archive each have a \
     directory of their own.",
    "Beside every archive `X` in a folder or in another archive, a directory `X.d` shows what is \
     inside it. Beside an asset `X` of a format that `hpimount` knows, a directory `X.meta` shows \
     what it holds as text, tables, pictures, sounds and models; in archives it is not listed, \
     but found by name. Nothing is decoded before it is read.",
    "The command returns when the file system is mounted and answers requests; a process in the \
     background serves it until it is unmounted with `fusermount3 -u` MOUNTPOINT or `umount` \
     MOUNTPOINT. Unless the command is run by root, it mounts by `fusermount3(1)`.",
];

pub(super) const SECTIONS: &[Section] = &[Section {
    heading: "CONTROL DIRECTORY",
    blocks: &[
        Block::Text(
            "The directory `.hpimount` in the root of the mount describes the mount itself. It is \
             not listed, so that recursive copies and searches leave it out, but can be entered.",
        ),
        Block::Item(
            ".hpimount/info.json",
            "The sources, their formats, everything unusual about them, sources that were left \
             out, the order in which archives were merged, and the options.",
        ),
        Block::Item(
            ".hpimount/stats.json",
            "Counters of requests, of bytes read and decoded, of cache hits, memory and errors, \
             and the last errors.",
        ),
        Block::Item(
            ".hpimount/shadowed/ARCHIVE/",
            "Where archives were merged: the files of an archive that are hidden by those of \
             archives above it.",
        ),
        Block::Text(
            "Extended attributes of files tell where and how an archive stores them; \
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
                "Every signal that would end the process and can be caught unmounts the file \
                 system first, unless it was ignored when `hpimount` was started, as `nohup(1)` \
                 does with SIGHUP. Signals that report a fault of the process, such as SIGSEGV, \
                 are not caught.",
            ),
            Block::Text(
                "Where the file system is in use, it is detached from the directory tree, and \
                 the process ends when the last user has finished. A second signal ends the \
                 process at once; programs that still use the file system get errors. After \
                 SIGKILL the mount point does not answer; mounting there again replaces it.",
            ),
        ],
    },
    Section {
        heading: "ENVIRONMENT",
        blocks: &[
            Block::Item("PATH", "Where `fusermount3(1)` is looked for."),
            Block::Item(
                "NOTIFY_SOCKET",
                "The socket of a service manager, which is told with `-f` when the file system \
                 answers. See `sd_notify(3)` and `Type=notify` in `systemd.service(5)`.",
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
                "The device of FUSE, without which nothing can be mounted.",
            ),
            Block::Item(
                "/etc/fuse.conf",
                "Must contain the line `user_allow_other` where users other than root mount with \
                 `-o allow_other`.",
            ),
            Block::Item(
                "/etc/fstab",
                "File systems of the type `fuse.hpimount` are mounted by `mount(8)`, where root \
                 finds `hpimount` in its PATH.",
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
                 fusermount3 -u ~/ta",
            ),
            Block::Text("Mount several archives as one tree, the last one on top:"),
            Block::Code("hpimount totala1.hpi rev31.gp3 mymod.ufo ~/ta"),
            Block::Text("Mount a game as the game itself sees it, and find the archive of a file:"),
            Block::Code(
                "hpimount --game ~/TotalAnnihilation ~/ta\n\
                 getfattr -n user.hpimount.source ~/ta/units/armpw.fbi",
            ),
            Block::Text("Compare two versions of a mod:"),
            Block::Code(
                "hpimount --separate old.ufo new.ufo ~/mods\n\
                 diff -r --ignore-file-name-case ~/mods/old.ufo ~/mods/new.ufo",
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
            Block::Text("Copy what can be read of a damaged archive:"),
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
