//! The parts of man pages that do not follow from the command line.

/// The description of the program.
pub(super) const DESCRIPTION: &str = "`hpi` reads archives, disc images and assets of old games: those of \
    Total Annihilation and TA: Kingdoms, of Heavy Iron's and Neversoft's games, of Grand Theft Auto, and the \
    containers in which they are found. It mounts them as file systems, shows, extracts and checks what is in \
    them without mounting, and writes them, with or without changes.\n\n\
    `hpimount(8)`, which is `hpi mount`, describes what a SOURCE is, and what is shown of it. `hpipack` is \
    `hpi pack`; desktops run `hpi open` and `hpi thumbnail` as `hpimount-open` and `hpimount-thumbnailer`.";

/// A section of a man page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// Its heading, in capitals.
    pub(super) heading: &'static str,
    /// Its contents.
    pub(super) blocks: &'static [Block],
}

/// A part of a section. In texts, names are in backticks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Block {
    /// A paragraph.
    Text(&'static str),
    /// Preformatted lines.
    Code(&'static str),
    /// A term and a paragraph about it.
    Item(&'static str, &'static str),
}

/// Returns the sections of the page of a command before EXIT STATUS, and after it.
pub(super) fn sections(command: &str) -> (&'static [Section], &'static [Section]) {
    match command {
        "mount" => (MOUNT_BEFORE, MOUNT),
        "list" | "cat" => (&[], LIST),
        "extract" => (&[], EXTRACT),
        "serve" => (&[], SERVE),
        "check" => (&[], CHECK),
        "diff" => (&[], DIFF),
        "index" => (&[], INDEX),
        "pack" => (&[], PACK),
        "apply" => (&[], APPLY),
        "open" => (&[], OPEN),
        "thumbnail" => (&[], THUMBNAIL),
        _ => (&[], OTHERS),
    }
}

/// Returns a section of examples.
const fn examples(blocks: &'static [Block]) -> Section {
    Section {
        heading: "EXAMPLES",
        blocks,
    }
}

/// The usual references.
const SEE_ALSO: Section = Section {
    heading: "SEE ALSO",
    blocks: &[Block::Text("`hpi(1)`, `hpimount(8)`")],
};

const OTHERS: &[Section] = &[SEE_ALSO];

/// The sections of `hpimount(8)` before EXIT STATUS.
const MOUNT_BEFORE: &[Section] = &[Section {
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

/// The sections of `hpimount(8)` after EXIT STATUS.
const MOUNT: &[Section] = &[
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
    examples(&[
        Block::Text("Mount an archive, search it, and unmount it:"),
        Block::Code(
            "hpimount totala1.hpi ~/ta\n\
             grep -ri \"name=gun\" ~/ta/weapons\n\
             hpi unmount ~/ta",
        ),
        Block::Text("Mount several archives as one tree, the last one on top:"),
        Block::Code("hpimount totala1.hpi rev31.gp3 mymod.ufo ~/ta"),
        Block::Text("Mount a game as the game itself sees it, and find the archive of a file:"),
        Block::Code(
            "hpimount --game ~/TotalAnnihilation ~/ta\n\
             getfattr -n user.hpimount.source ~/ta/units/armpw.fbi",
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
        Block::Text("Look at the pictures, models and maps of a whole game in a file manager:"),
        Block::Code("hpimount --converted --game ~/TotalAnnihilation ~/look"),
        Block::Text("Mount an archive on a web server, and those in a bucket:"),
        Block::Code(
            "hpimount https://example.org/mods/my.ufo ~/mod\n\
             hpimount -o blockcache=$HOME/.cache/hpimount s3://bucket/mods/ ~/mods",
        ),
        Block::Text("Copy everything that can be read from a damaged archive:"),
        Block::Code("hpimount -o force broken.hpi ~/ta && cp -r ~/ta rescued"),
        Block::Text("Lines of `/etc/fstab`: at boot for all users, and on first access:"),
        Block::Code(
            "/games/totala1.hpi  /mnt/ta  fuse.hpimount  allow_other,nofail  0  0\n\
             /games/bb01.HIP  /mnt/bb  fuse.hpimount  allow_other,noauto,x-systemd.automount  0  0",
        ),
    ]),
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text(
            "`hpi(1)`, `fusermount3(1)`, `getfattr(1)`, `fuse(4)`, `fstab(5)`, `mount(8)`, \
             `mount.fuse3(8)`, `umount(8)`",
        )],
    },
];

const LIST: &[Section] = &[
    examples(&[
        Block::Text("List a directory of an archive and print one of its files:"),
        Block::Code("hpi list totala1.hpi units\nhpi cat totala1.hpi units/armcom.fbi"),
        Block::Text("Compare the files of a copy with those of an archive:"),
        Block::Code("hpi list --hash sha256 mymod.ufo >sums && cd copy && sha256sum -c ../sums"),
    ]),
    SEE_ALSO,
];

const EXTRACT: &[Section] = &[
    Section {
        heading: "SIGNALS",
        blocks: &[Block::Text(
            "SIGHUP, SIGINT and SIGTERM end the program and remove the unfinished files; complete \
             ones stay. A write beyond the limit of file sizes is an error, as on a full disk.",
        )],
    },
    examples(&[
        Block::Text("Extract an archive, and a directory of another one:"),
        Block::Code("hpi extract mymod.ufo -C mymod\nhpi extract totala1.hpi units -C base"),
        Block::Text("Extract the pictures, models and sounds of a game in usual formats:"),
        Block::Code("hpi extract --converted --game ~/TotalAnnihilation -C look"),
        Block::Text("Extract everything that can be read from a damaged archive:"),
        Block::Code("hpi extract -o force broken.hpi -C rescued"),
    ]),
    SEE_ALSO,
];

const SERVE: &[Section] = &[
    Section {
        heading: "OUTPUT",
        blocks: &[
            Block::Text(
                "The first line of standard output is the URL for the browser, the second one that of \
                 WebDAV. On a terminal, commands follow that make it a drive. Messages go to \
                 standard error.",
            ),
            Block::Text(
                "`http://127.0.0.1:8417/files/PATH` is a file, and \
                 `http://127.0.0.1:8417/converted/PATH` one of the converted tree; \
                 `docs/SERVING.md` describes all URLs. Programs send the token as the header \
                 `Authorization: Bearer TOKEN`, as the password of any user, at the end of a URL \
                 as `?token=TOKEN`, or in front of its path as `/t/TOKEN/files/PATH`.",
            ),
        ],
    },
    Section {
        heading: "SIGNALS",
        blocks: &[Block::Text(
            "SIGINT and SIGTERM end the server: no more clients are accepted, and answers that \
             were begun have two seconds to end.",
        )],
    },
    examples(&[
        Block::Text("Look at a game in the browser:"),
        Block::Code("hpi serve --open --game ~/TotalAnnihilation"),
        Block::Text("Serve a disc to a home network:"),
        Block::Code(
            "hpi serve --allow 192.168.1.0/24 --host 192.168.1.5 192.168.1.5:8417 disc.rvz",
        ),
    ]),
    SEE_ALSO,
];

const CHECK: &[Section] = &[
    examples(&[
        Block::Text(
            "Check all archives of a folder, and compare a disc image with a list of Redump:",
        ),
        Block::Code("hpi check ~/TotalAnnihilation\nhpi check --dat gamecube.dat game.rvz"),
    ]),
    SEE_ALSO,
];

const DIFF: &[Section] = &[
    examples(&[
        Block::Text(
            "Compare two versions of a mod, two installations of a game, and an archive with \
             two others that are merged:",
        ),
        Block::Code(
            "hpi diff old.ufo new.ufo\n\
             hpi diff --brief --game ~/ta --game ~/ta-patched\n\
             hpi diff all.hpi --against base.hpi --against patch.gp3",
        ),
    ]),
    SEE_ALSO,
];

const INDEX: &[Section] = &[
    examples(&[
        Block::Text("Write a database of all archives of a folder, and find a text in them:"),
        Block::Code(
            "hpi index games.sqlite ~/games/*.hpi\n\
             sqlite3 games.sqlite \"SELECT source, path FROM files \\\n\
             \\    JOIN texts ON texts.rowid = files.id WHERE texts MATCH 'jellyfish'\"",
        ),
    ]),
    SEE_ALSO,
];

/// Section on the signals that end programs that write.
const SIGNALS: Section = Section {
    heading: "SIGNALS",
    blocks: &[Block::Text(
        "SIGHUP, SIGINT and SIGTERM end the program and remove the unfinished archive or folder. A \
             write beyond the limit of file sizes is an error, as on a full disk.",
    )],
};

const PACK: &[Section] = &[
    SIGNALS,
    examples(&[
        Block::Text("Pack a mod for Total Annihilation:"),
        Block::Code("hpi pack mymod mymod.ufo"),
        Block::Text("Pack it as the game's own archives are, compressed with LZ77 and enciphered:"),
        Block::Code("hpi pack --method lz77 --key 0x7D mymod mymod.ufo"),
        Block::Text("Pack a mod for TA: Kingdoms, and overwrite the existing archive:"),
        Block::Code("hpi pack --force --format kingdoms mymod mymod.hpi"),
        Block::Text("Change one file of a large archive, and nothing else:"),
        Block::Code("hpi pack --replace units/armpw.fbi=armpw.fbi mymod.ufo changed.ufo"),
        Block::Text("Change two assets of a level of SpongeBob, one of them by its id:"),
        Block::Code(
            "hpi pack --replace greeting.text=new.txt --replace 0x21641EA7=timer.bin \\\n\
             \u{20}        bb01.HIP changed.HIP",
        ),
        Block::Text("Change the text of a level of SpongeBob in a copy of all its assets:"),
        Block::Code(
            "hpimount bb01.HIP /mnt\n\
             cp -rL /mnt/types changed && chmod -R u+w changed\n\
             \"$EDITOR\" changed/Text/*greeting*\n\
             hpi pack changed changed.HIP",
        ),
        Block::Text("Change a file of an archive of Total Annihilation:"),
        Block::Code(
            "hpimount mymod.ufo /mnt\n\
             cp -r /mnt changed && chmod -R u+w changed\n\
             \"$EDITOR\" changed/units/armpw.fbi\n\
             hpi pack changed changed.ufo",
        ),
    ]),
    SEE_ALSO,
];

const APPLY: &[Section] = &[
    SIGNALS,
    examples(&[
        Block::Text("Edit a mounted disc, and write the result and a patch for others:"),
        Block::Code(
            "hpimount --edit changes game.iso /mnt\n\
             \"$EDITOR\" /mnt/data/config.ini && hpi unmount /mnt\n\
             hpi apply changes game.iso changed.iso\n\
             hpi apply changes game.iso changed.xdelta",
        ),
        Block::Text("See what a patch changes:"),
        Block::Code("hpi apply --dry-run game.xdelta game.iso"),
    ]),
    SEE_ALSO,
];

const OPEN: &[Section] = &[
    Section {
        heading: "ENVIRONMENT",
        blocks: &[
            Block::Item(
                "HOME",
                "The home directory. The mounts are in `hpimount` in it, each named after its \
                 file; there, file managers show them as volumes.",
            ),
            Block::Item(
                "PATH",
                "Directories that are searched for `xdg-open(1)` or else `gio(1)`, to show the \
                 mount, and for `notify-send(1)` or else `gdbus(1)`, to show errors.",
            ),
        ],
    },
    Section {
        heading: "FILES",
        blocks: &[
            Block::Item(
                "/usr/share/applications/hpimount-open.desktop",
                "Offers the program for archives; its action unmounts them all.",
            ),
            Block::Item(
                "/usr/share/applications/hpimount-unmount.desktop",
                "Offers to unmount an archive.",
            ),
            Block::Item(
                "/usr/share/applications/zzz-hpimount-edit.desktop",
                "Offers to edit an archive.",
            ),
        ],
    },
    examples(&[
        Block::Text("Open an archive, and unmount it:"),
        Block::Code("hpi open mymod.ufo\nhpi open --unmount mymod.ufo"),
    ]),
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text(
            "`hpi(1)`, `hpimount(8)`, `hpi-thumbnail(1)`, `xdg-open(1)`, `xdg-mime(1)`",
        )],
    },
];

const THUMBNAIL: &[Section] = &[
    Section {
        heading: "FILES",
        blocks: &[Block::Item(
            "/usr/share/thumbnailers/hpimount.thumbnailer",
            "Tells file managers for which file types to run the program.",
        )],
    },
    examples(&[
        Block::Text("Render a contact sheet of an archive:"),
        Block::Code("hpi thumbnail -s 256 mymod.ufo mymod.png"),
        Block::Text("Render a model with its textures, from a mount:"),
        Block::Code(
            "hpimount mymod.ufo ~/ta\n\
             hpimount-thumbnailer ~/ta/objects3d/tank.3do tank.png",
        ),
    ]),
    Section {
        heading: "SEE ALSO",
        blocks: &[Block::Text("`hpimount(8)`, `hpi-open(1)`")],
    },
];
