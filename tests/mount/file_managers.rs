//! Names that file managers look up everywhere do not exist, and the kernel
//! remembers that.

use std::io::ErrorKind;
use testkit::fuse_test;

use testkit::mount::Fixture;
use testkit::mounted::counter;

/// Names that pcmanfm, Thunar, Nautilus, Dolphin, GLib's trash and volume
/// monitor, Finder and Windows look up in directories or the roots of volumes.
const NAMES: [&str; 22] = [
    ".hidden",
    ".directory",
    ".Trash",
    ".Trash-0",
    ".Trash-1000",
    ".xdg-volume-info",
    ".autorun",
    "autorun",
    "autorun.sh",
    "autorun.inf",
    "AUTORUN.INF",
    "autoopen",
    ".autoopen",
    "desktop.ini",
    "Desktop.ini",
    "Thumbs.db",
    ".sh_thumbnails",
    ".DS_Store",
    ".localized",
    ".fseventsd",
    "lost+found",
    ".git",
];

#[fuse_test]
fn names_that_file_managers_look_up_are_requested_once_and_not_logged() {
    let mount = Fixture::new().mount_in_foreground(&[]);
    let look_up = || {
        for directory in ["", "maps"] {
            for name in NAMES {
                let path = mount.file(directory).join(name);
                let error = path.symlink_metadata().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound, "{path:?}");
            }
        }
    };
    let lookups = || counter(&mount, "lookups");
    let before = lookups();
    look_up();
    let first = lookups() - before;
    assert!(first >= 2 * NAMES.len() as u64, "{first}");
    let before = lookups();
    (0..20).for_each(|_| look_up());
    // The counters themselves are looked up, and the kernel may forget a name
    // when memory is short.
    let again = lookups() - before;
    assert!(again < 10, "{again} lookups of names that the kernel had");
    assert_eq!(counter(&mount, "errors"), 0);
    assert_eq!(mount.fixture.log(), "");
}
