//! WebDAV with clients that others wrote.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fixtures::noise;
use rustix::process::geteuid;
use tempfile::TempDir;
use testkit::mount::has_programs;
use testkit::skip::possible;
use testkit::trial;

use crate::kit::Server;

/// A directory with a name that URLs and XML must escape, and files in it.
const DIRECTORY: &str = "Sub & <dir>";
const NAMES: [&str; 5] = [
    "50%.txt",
    "a#b.txt",
    "ü é.txt",
    "a+b'\"?.txt",
    "plain.x.bin",
];

/// Size of the largest file.
const LARGE: usize = 300_000;

/// Returns a folder with these files, whose contents are their names, and a large one.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let sub = folder.path().join(DIRECTORY);
    fs::create_dir(&sub).unwrap();
    for name in NAMES {
        fs::write(sub.join(name), name).unwrap();
    }
    fs::write(folder.path().join("large.bin"), noise(2, LARGE)).unwrap();
    folder
}

/// A server of such a folder, and a folder for what a client writes.
struct Share {
    folder: TempDir,
    server: Server,
    work: TempDir,
}

impl Share {
    fn new() -> Self {
        Self::of(folder())
    }

    fn of(folder: TempDir) -> Self {
        let server = Server::start([folder.path()]);
        Self {
            folder,
            server,
            work: tempfile::tempdir().unwrap(),
        }
    }

    /// Returns the URL of the root with this scheme.
    fn url(&self, scheme: &str) -> String {
        let Server { address, token, .. } = &self.server;
        format!("{scheme}://{address}/t/{token}/dav/")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// Asserts that a file or directory equals the served one.
    fn assert_equal(&self, copy: &Path, name: &str) {
        let served = self.folder.path().join(name);
        let compared = run(
            "diff",
            ["-r".as_ref(), served.as_os_str(), copy.as_os_str()],
        );
        assert!(compared.status.success(), "{compared:?}");
    }
}

fn run<S: AsRef<OsStr>>(program: &str, words: impl IntoIterator<Item = S>) -> Output {
    Command::new(program).args(words).output().unwrap()
}

#[test]
fn cadaver_lists_and_gets() {
    if !has_programs(&["cadaver"]) {
        return;
    }
    let share = Share::new();
    fs::write(share.path("commands"), "ls\nget large.bin\nquit\n").unwrap();
    let mut cadaver = Command::new("cadaver");
    cadaver
        .arg(share.url("http"))
        .current_dir(share.work.path());
    cadaver.stdin(fs::File::open(share.path("commands")).unwrap());
    let said = cadaver.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(
        text.contains(DIRECTORY) && text.contains(&LARGE.to_string()),
        "{said:?}"
    );
    share.assert_equal(&share.path("large.bin"), "large.bin");
}

#[test]
fn rclone_copies_everything() {
    if !has_programs(&["rclone"]) {
        return;
    }
    let folder = folder();
    let many = folder.path().join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..trial::part(100, 3085) {
        fs::write(many.join(format!("{number} %23#.txt")), format!("{number}")).unwrap();
    }
    let share = Share::of(folder);
    let out = share.path("out");
    let copied = Command::new("rclone")
        .args(["copy", ":webdav:"])
        .arg(&out)
        .args(["--webdav-url", &share.url("http"), "--config", "/dev/null"])
        .output()
        .unwrap();
    assert!(copied.status.success(), "{copied:?}");
    share.assert_equal(&out, "");
}

/// A mount by davfs2, until it is dropped.
struct Davfs(PathBuf);

impl Davfs {
    fn mount(share: &Share) -> Self {
        let [point, cache, settings] = ["point", "cache", "settings"].map(|name| share.path(name));
        fs::create_dir(&point).unwrap();
        fs::create_dir(&cache).unwrap();
        // It writes as a user of its own.
        for (path, mode) in [(share.work.path(), 0o711), (&cache, 0o777)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        let lines = ["use_locks 0", "ask_auth 0"];
        let cache = format!("cache_dir {}", cache.display());
        fs::write(&settings, lines.join("\n") + "\n" + &cache + "\n").unwrap();
        let options = format!("ro,conf={}", settings.display());
        let mounted = Command::new("mount.davfs")
            .arg(share.url("http"))
            .arg(&point)
            .args(["-o", &options])
            .output()
            .unwrap();
        assert!(mounted.status.success(), "{mounted:?}");
        Self(point)
    }
}

impl Drop for Davfs {
    fn drop(&mut self) {
        let unmounted = run("umount", [&self.0]);
        if !std::thread::panicking() {
            assert!(unmounted.status.success(), "{unmounted:?}");
        }
    }
}

/// It does not list them: on recent kernels davfs2 fails to list a directory of any server.
#[test]
fn davfs2_reads_files() {
    let can_mount = geteuid().is_root() && Path::new("/dev/fuse").exists();
    if !has_programs(&["mount.davfs"]) || !possible(can_mount, "davfs2 is mounted by root") {
        return;
    }
    let share = Share::new();
    let mount = Davfs::mount(&share);
    share.assert_equal(&mount.0.join("large.bin"), "large.bin");
    for name in NAMES {
        let name = format!("{DIRECTORY}/{name}");
        share.assert_equal(&mount.0.join(&name), &name);
    }
}

/// gvfs lists and reads: `gio` in a session of its own.
#[test]
fn gio_lists_and_reads() {
    let gvfs = Path::new("/usr/libexec/gvfsd-dav").exists();
    if !has_programs(&["gio", "dbus-run-session"]) || !possible(gvfs, "needs gvfs-backends") {
        return;
    }
    let share = Share::new();
    let script = share.path("script");
    let lines = [
        "set -e",
        "gio mount \"$1\"",
        "gio list \"$1\"",
        "gio list \"$1$2\"",
        "gio copy \"$1large.bin\" \"$1$2/a%23b.txt\" \"$1$2/50%25.txt\" \"$3\"",
        "gio cat \"$1$2/%C3%BC%20%C3%A9.txt\" >\"$3/ü é.txt\"",
        "gio mount -u \"$1\"",
    ];
    fs::write(&script, lines.join("\n")).unwrap();
    let out = share.path("out");
    fs::create_dir(&out).unwrap();
    let said = Command::new("dbus-run-session")
        .args(["--", "sh"])
        .arg(&script)
        .args([&share.url("dav"), "Sub%20%26%20%3Cdir%3E"])
        .arg(&out)
        .env("XDG_RUNTIME_DIR", share.work.path())
        .env("HOME", share.work.path())
        .output()
        .unwrap();
    assert!(said.status.success(), "{said:?}");
    let listed = String::from_utf8_lossy(&said.stdout);
    let mut listed: Vec<_> = listed.lines().collect();
    let mut expected = [&NAMES[..], &[DIRECTORY, "large.bin"]].concat();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    share.assert_equal(&out.join("large.bin"), "large.bin");
    for name in ["50%.txt", "a#b.txt", "ü é.txt"] {
        share.assert_equal(&out.join(name), &format!("{DIRECTORY}/{name}"));
    }
}
