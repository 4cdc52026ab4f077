//! A double click mounts an archive once for the session, a second one shows
//! the same mount, and errors are shown to the user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use fixtures::assets::level;
use fixtures::hpi::{File, V1, file};
use fixtures::ta::pcx::Pcx;
use hpimount_containers::hpi::chunk::Method;
use rustix::mount::UnmountFlags;
use rustix::process::{Pid, Signal};
use tempfile::TempDir;
use testkit::fuse_test;
use testkit::mount::{Run, SMALL, eventually, has_programs, mounts_below, run, sample};
use testkit::mounted::mounted;
use testkit::sources::folder;

/// A session whose file manager and notifications are programs that log their
/// arguments.
struct Session {
    dir: TempDir,
}

impl Session {
    fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("hpimount-")
            .tempdir()
            .unwrap();
        let session = Self { dir };
        fs::create_dir(session.path("bin")).unwrap();
        fs::create_dir(session.path("run")).unwrap();
        for (program, log) in [("xdg-open", "opened"), ("notify-send", "notified")] {
            let log = session.path(log).display().to_string();
            session.program(program, &format!("echo \"$@\" >>'{log}'"));
        }
        session
    }

    /// Installs a program for this session that runs `script`.
    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Creates an archive in a directory of the session.
    fn archive(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, sample().bytes).unwrap();
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hpimount-open"));
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.path("bin").display().to_string();
        command
            .env("PATH", format!("{bin}:{path}"))
            .env("HOME", self.path("run"));
        command
    }

    fn open(&self, arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Run {
        let mut command = self.command();
        for argument in arguments {
            command.arg(argument);
        }
        run(&mut command)
    }

    /// Returns the arguments that a program was called with.
    fn lines(&self, log: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(log)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn mount_point(&self, name: &str) -> PathBuf {
        self.path("run/hpimount").join(name)
    }

    fn mounts(&self) -> Vec<PathBuf> {
        mounts_below(&self.path("run"))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for mount in self.mounts() {
            let _ = rustix::mount::unmount(&mount, UnmountFlags::DETACH);
        }
    }
}

fn can_open() -> bool {
    has_programs(&["fusermount3"])
}

/// Returns the process that has a text in its command line.
fn process_with(text: &str) -> Pid {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut pids = processes.filter_map(|process| {
        let line = fs::read_to_string(process.path().join("cmdline")).ok()?;
        let pid = process.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(pid).filter(|_| line.contains(text))
    });
    pids.next().unwrap()
}

#[track_caller]
fn succeeded(ran: &Run) {
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
}

#[fuse_test]
fn a_second_click_shows_the_same_mount() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let archive = session.archive("my mod.ufo");
    succeeded(&session.open(&[&archive]));
    let mount_point = session.mount_point("my mod.ufo");
    assert_eq!(fs::read(mount_point.join(SMALL)).unwrap(), b"hello\n");
    let uri = format!("file://{}", archive.display()).replace(' ', "%20");
    succeeded(&session.open(&[&uri]));
    assert_eq!(session.mounts(), std::slice::from_ref(&mount_point));
    let shown = mount_point.display().to_string();
    assert_eq!(session.lines("opened"), [shown.clone(), shown]);
    assert!(session.lines("notified").is_empty());
    let mode = fs::metadata(session.path("run/hpimount")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o700);
}

#[fuse_test]
fn an_archive_is_edited_by_a_click_and_refused_files_are_shown() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let archive = session.archive("my mod.ufo");
    let picture = Pcx::indexed(4, 3, (0..12).collect()).file();
    let hpi = V1::new(vec![file(b"logo.pcx", File::new(picture, Method::Stored))]);
    fs::write(&archive, hpi.build().bytes).unwrap();
    succeeded(&session.open(&[&archive]));
    let mount_point = session.mount_point("my mod.ufo");
    let new = mount_point.join("new.txt");
    assert!(fs::write(&new, "new").is_err());
    // The read-only mount is replaced, and the editable one is kept.
    succeeded(&session.open(&[&"--edit", &archive]));
    fs::write(&new, "new").unwrap();
    for options in [&["--edit"][..], &[]] {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = Vec::new();
        arguments.extend(
            options
                .iter()
                .map(|option| option as &dyn AsRef<std::ffi::OsStr>),
        );
        arguments.push(&archive);
        succeeded(&session.open(&arguments));
        assert_eq!(fs::read(&new).unwrap(), b"new");
        assert_eq!(session.mounts(), std::slice::from_ref(&mount_point));
    }
    let folder = session.path("my mod.ufo.mod");
    assert_eq!(fs::read(folder.join("new.txt")).unwrap(), b"new");
    assert!(session.lines("notified").is_empty());
    // Programs that ignore errors when closing a file report nothing.
    let _ = fs::write(mount_point.join("converted/logo.png"), "no picture");
    eventually("the refusal is shown", || {
        !session.lines("notified").is_empty()
    });
    let shown = session.lines("notified").join("\n");
    assert!(shown.contains("converted/logo.png is refused"), "{shown}");
    succeeded(&session.open(&[&"--unmount", &archive]));
    assert!(session.mounts().is_empty());
}

#[fuse_test]
fn a_stopped_mount_is_an_error_after_two_seconds_and_others_can_be_opened() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let [first, other] = ["mod.ufo", "other.ufo"].map(|name| session.archive(name));
    succeeded(&session.open(&[&first]));
    let point = session.mount_point("mod.ufo").display().to_string();
    let process = process_with(&point);
    let signal = |signal| rustix::process::kill_process(process, signal).unwrap();
    signal(Signal::STOP);
    // A thread that is stopped with a request in progress keeps the requester waiting
    // forever.
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    eventually("all threads are stopped", || {
        fs::read_dir(&tasks).unwrap().all(|task| {
            let status = fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
            status.rsplit_once(") ").unwrap().1.starts_with('T')
        })
    });
    let refused = session.open(&[&first]);
    let opened = session.open(&[&other]);
    signal(Signal::CONT);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("does not answer"), "{refused:?}");
    let [notice] = session.lines("notified").try_into().unwrap();
    assert!(notice.contains("does not answer"), "{notice}");
    succeeded(&opened);
    succeeded(&session.open(&[&first]));
}

#[fuse_test]
fn archives_of_the_same_name_have_their_own_mount_points() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let [first, second] = ["a/mod.ufo", "b/mod.ufo"].map(|name| session.archive(name));
    succeeded(&session.open(&[&first, &second]));
    let mount_points = ["mod.ufo", "mod (2).ufo"].map(|name| session.mount_point(name));
    assert_eq!(session.mounts(), mount_points);

    succeeded(&session.open(&[&"--unmount", &first]));
    assert_eq!(session.mounts(), mount_points[1..]);
    assert!(!mount_points[0].exists());
    succeeded(&session.open(&[&second]));
    assert_eq!(session.mounts(), mount_points[1..], "it is not moved");
    succeeded(&session.open(&[&"--unmount-all"]));
    assert!(session.mounts().is_empty());
}

#[fuse_test]
fn an_archive_that_has_changed_is_mounted_again() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let archive = session.archive("mod.ufo");
    succeeded(&session.open(&[&archive]));
    // Written and renamed, as `hpipack --force` does.
    let new = session.archive("new");
    let time = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options()
        .write(true)
        .open(&new)
        .unwrap()
        .set_modified(time)
        .unwrap();
    fs::rename(new, &archive).unwrap();
    succeeded(&session.open(&[&archive]));
    assert_eq!(session.mounts(), [session.mount_point("mod.ufo")]);
    let metadata = fs::metadata(session.mount_point("mod.ufo")).unwrap();
    let age = metadata.modified().unwrap().elapsed().unwrap();
    assert!(age >= Duration::from_secs(3600), "the old one is mounted");
}

#[fuse_test]
fn unused_mounts_are_unmounted() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let archive = session.archive("mod.ufo");
    let mut command = session.command();
    succeeded(&run(command.arg(&archive).env("HPIMOUNT_TEST_IDLE", "1")));
    eventually("it is unmounted", || session.mounts().is_empty());
    // The next click removes the empty directory.
    let other = session.archive("other.ufo");
    succeeded(&session.open(&[&other]));
    assert!(!session.mount_point("mod.ufo").exists());
}

#[fuse_test]
fn a_mount_in_use_is_not_unmounted_and_a_dead_one_is_replaced() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let archive = session.archive("mod.ufo");
    succeeded(&session.open(&[&archive]));
    let file = fs::File::open(session.mount_point("mod.ufo").join(SMALL)).unwrap();
    let ran = session.open(&[&"-u", &archive]);
    assert_eq!(ran.code, Some(1));
    let [notified] = &session.lines("notified")[..] else {
        panic!("{ran:?}")
    };
    assert!(
        notified.contains("Cannot unmount") && notified.contains("in use"),
        "{notified}"
    );
    drop(file);
    // A child that another test has just forked may briefly have the file open.
    eventually("it is unmounted", || {
        session.open(&[&"-u", &archive]).code == Some(0)
    });
    let ran = session.open(&[&"-u", &archive]);
    assert!(ran.stderr.ends_with("mod.ufo: is not open\n"), "{ran:?}");

    succeeded(&session.open(&[&archive]));
    let mount_point = session.mount_point("mod.ufo");
    kill_daemons_of(&mount_point);
    eventually("it is dead", || fs::metadata(&mount_point).is_err());
    succeeded(&session.open(&[&archive]));
    assert_eq!(fs::read(mount_point.join(SMALL)).unwrap(), b"hello\n");
}

/// Kills the processes that have this mount point as an argument.
fn kill_daemons_of(mount_point: &Path) {
    let mount_point = mount_point.as_os_str().as_encoded_bytes();
    // A guard is younger than its mount, which would be gone otherwise.
    let mut processes = Vec::from_iter(fs::read_dir("/proc").unwrap().flatten());
    processes.reverse();
    for entry in processes {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw)
            && line
                .split(|byte| *byte == 0)
                .any(|part| part == mount_point)
        {
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
}

#[test]
fn errors_are_shown_to_the_user() {
    let session = Session::new();
    let text = session.path("notes & <b>.hpi");
    fs::write(&text, "no archive").unwrap();
    let ran = session.open(&[&text]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("notes & <b>.hpi: "), "{ran:?}");
    let [notified] = &session.lines("notified")[..] else {
        panic!("{ran:?}")
    };
    assert!(notified.contains("Cannot open"), "{notified}");
    assert!(
        notified.contains("notes &amp; &lt;b&gt;.hpi: "),
        "{notified}"
    );
    assert!(session.lines("opened").is_empty());
    assert!(!session.mount_point("notes & <b>.hpi").exists());

    let missing = session.path("missing.hpi");
    assert_eq!(session.open(&[&missing]).code, Some(1));
    assert_eq!(session.lines("notified").len(), 2);

    let ran = run(session.command().arg(&text).env_remove("HOME"));
    assert!(ran.stderr.contains("HOME is not set"), "{ran:?}");
}

#[fuse_test]
fn a_mount_that_no_file_manager_shows_is_reported() {
    if !can_open() {
        return;
    }
    let session = Session::new();
    let archive = session.archive("mod.ufo");
    let mount_point = session.mount_point("mod.ufo");
    let expect_error = |reason: &str| {
        let lines = session.lines("notified");
        let last = lines.last().map_or("", String::as_str);
        let mount_point = mount_point.display();
        let text = format!("{mount_point}: is mounted, but cannot be shown: {reason}");
        assert!(
            last.contains("Cannot open") && last.contains(&text),
            "{last}"
        );
        assert_eq!(
            fs::read(session.mount_point("mod.ufo").join(SMALL)).unwrap(),
            b"hello\n"
        );
    };
    let tries = "echo one: not found >&2; echo no method available >&2; exit 3";
    session.program("xdg-open", tries);
    assert_eq!(session.open(&[&archive]).code, Some(1));
    expect_error("no method available");
    session.program("xdg-open", "exit 4");
    assert_eq!(session.open(&[&archive]).code, Some(1));
    expect_error("xdg-open: exit status: 4");

    // Without any program that opens directories.
    fs::remove_file(session.path("bin/xdg-open")).unwrap();
    let ran = run(session
        .command()
        .arg(&archive)
        .env("PATH", session.path("bin")));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    expect_error("xdg-open is not installed");
}

#[fuse_test]
fn a_click_on_an_asset_of_a_mount_opens_its_preview_or_its_model() {
    let picture = Pcx::indexed(2, 1, vec![1, 2]).file();
    let entries = vec![file(b"a.pcx", File::new(picture, Method::Stored))];
    let mount = mounted(&V1::new(entries).build().bytes, "");
    let session = Session::new();
    session.program("xdg-mime", "");
    succeeded(&session.open(&[&mount.file("a.pcx")]));
    let model = folder(|source| fs::write(source.join("a.psx"), level(4)).unwrap());
    let model = model.mount(&[]);
    succeeded(&session.open(&[&model.file("a.psx")]));
    session.program("xdg-mime", "echo viewer.desktop");
    succeeded(&session.open(&[&model.file("a.psx")]));
    let opened = [
        mount.file("a.pcx.meta/picture.png"),
        model.file("a.psx.meta/preview.png"),
        model.file("a.psx.meta/model.glb"),
    ];
    assert_eq!(
        session.lines("opened"),
        opened.map(|path| path.display().to_string())
    );
    assert!(session.mounts().is_empty());
}

#[fuse_test]
fn an_opened_archive_is_a_volume_that_can_be_ejected() {
    if !can_open() || !has_programs(&["gio"]) {
        return;
    }
    let session = Session::new();
    succeeded(&session.open(&[&session.archive("my mod.ufo")]));
    let gio = |arguments: &[&str]| {
        let mut command = Command::new("gio");
        command.args(arguments).env("HOME", session.path("run"));
        run(&mut command)
    };
    let point = session.mount_point("my mod.ufo");
    let volumes = gio(&["mount", "--list"]).stdout;
    assert!(volumes.contains("my mod.ufo -> file://"), "{volumes}");
    let ejected = gio(&["mount", "--unmount", &point.display().to_string()]);
    assert_eq!(ejected.code, Some(0), "{}", ejected.stderr);
    assert!(session.mounts().is_empty());
}
