//! Names that file managers look for everywhere are not there, once and for
//! all.

mod support;

use std::io::ErrorKind;

use support::mount::{Fixture, can_mount};
use support::mounted::counter;

/// What pcmanfm, Thunar, Nautilus, Dolphin, GLib's trash and volume monitor,
/// Finder and Windows look for in directories, among them volumes' roots.
const ASKED: [&str; 22] = [
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

#[test]
fn names_that_file_managers_look_for_are_requested_once_and_not_logged() {
    if !can_mount() {
        return;
    }
    let mount = Fixture::new().mount_in_foreground(&[]);
    let ask = || {
        for directory in ["", "maps"] {
            for name in ASKED {
                let path = mount.file(directory).join(name);
                let error = path.symlink_metadata().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::NotFound, "{path:?}");
            }
        }
    };
    let lookups = || counter(&mount, "lookups");
    let before = lookups();
    ask();
    let asked = lookups() - before;
    assert!(asked >= 2 * ASKED.len() as u64, "{asked}");
    let before = lookups();
    (0..20).for_each(|_| ask());
    // The counters themselves are looked up, and the kernel may forget a name
    // when memory is short.
    let again = lookups() - before;
    assert!(again < 10, "{again} of what the kernel could have known");
    assert_eq!(counter(&mount, "errors"), 0);
    assert_eq!(mount.fixture.log(), "");
}
