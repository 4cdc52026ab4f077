//! Permissions to read a mount, depending on who mounted it and how. No option and no
//! file of a source grants more.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use rustix::fs::{CWD, FileType, Mode, makedev};
use rustix::process::Signal;

use testkit::mount::namespace::{Namespace, OTHER_USER, USER};
use testkit::mount::{Fixture, SMALL, assert_guarded, has_programs, run};
use testkit::skip::skip;

/// The access of a user to a mount.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Access {
    Reads,
    Denied,
    /// There is no mount to read.
    None,
}

use Access::{Denied, None as Nothing, Reads};

/// A way to mount, and the resulting access.
struct Row {
    by: u32,
    options: &'static str,
    /// The contents of `/etc/fuse.conf`.
    conf: &'static str,
    /// For each of [`READERS`].
    access: [Access; READERS.len()],
}

const READERS: [u32; 3] = [0, USER, OTHER_USER];

const ALLOWED: &str = "user_allow_other\n";

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { by: 0, options: "ro", conf: "", access: [Reads, Denied, Denied] },
    Row { by: 0, options: "ro", conf: ALLOWED, access: [Reads, Denied, Denied] },
    Row { by: 0, options: "allow_other", conf: "", access: [Reads, Reads, Reads] },
    Row { by: 0, options: "allow_other,umask=077", conf: "", access: [Reads, Denied, Denied] },
    Row { by: 0, options: "allow_other,umask=077,uid=65534", conf: "", access: [Reads, Reads, Denied] },
    Row { by: 0, options: "uid=65534", conf: "", access: [Reads, Denied, Denied] },
    Row { by: USER, options: "ro", conf: "", access: [Denied, Reads, Denied] },
    Row { by: USER, options: "ro", conf: ALLOWED, access: [Denied, Reads, Denied] },
    Row { by: USER, options: "uid=0", conf: "", access: [Denied, Reads, Denied] },
    Row { by: USER, options: "allow_other", conf: "", access: [Nothing, Nothing, Nothing] },
    Row { by: USER, options: "allow_other", conf: "# user_allow_other\n", access: [Nothing, Nothing, Nothing] },
    Row { by: USER, options: "allow_other", conf: ALLOWED, access: [Reads, Reads, Reads] },
    Row { by: USER, options: "allow_other,umask=077", conf: ALLOWED, access: [Reads, Reads, Denied] },
];

/// Options that would weaken the restrictions of every mount.
const LOOSER: &str = "rw,suid,dev,exec";

fn namespace() -> Option<Namespace> {
    let programs = ["unshare", "setpriv", "nsenter", "fusermount3"];
    has_programs(&programs).then(Namespace::new)
}

/// Returns a command that mounts the archive as `user`.
fn command(namespace: &Namespace, user: u32, options: &str) -> Command {
    let mut command = namespace.user(user, &namespace.program);
    let fixture = &namespace.fixture;
    command.args([&fixture.archive, &fixture.point]);
    command.args(["-o", options]);
    command
}

/// Returns the access of `user`, which must be the same for files and
/// directories of the archive and for generated files.
fn access(namespace: &Namespace, user: u32) -> Access {
    let point = &namespace.fixture.point;
    let ways = [
        ("cat", point.join(SMALL)),
        ("ls", point.join("maps")),
        ("cat", point.join(".hpimount/info.json")),
    ];
    let got = ways.map(|(program, path)| {
        let ran = run(namespace.user(user, program).arg(path));
        let complains = |of: &str| ran.stderr.contains(of) && ran.stdout.is_empty();
        match ran.code {
            Some(0) if !ran.stdout.is_empty() => Reads,
            Some(_) if complains("Permission denied") => Denied,
            Some(_) if complains("No such file or directory") => Nothing,
            _ => panic!("{user}: {program}: {ran:?}"),
        }
    });
    assert!(got.iter().all(|one| *one == got[0]), "{user}: {got:?}");
    got[0]
}

#[fuse_test]
fn only_the_mounting_user_has_access_unless_others_are_allowed() {
    let Some(namespace) = namespace() else { return };
    for row in TABLE {
        fs::write(namespace.see(Path::new("/etc/fuse.conf")), row.conf).unwrap();
        for options in [row.options.to_owned(), format!("{LOOSER},{}", row.options)] {
            let cell = format!("by {} with {options}, {:?}", row.by, row.conf);
            let mut command = command(&namespace, row.by, &options);
            let refused = row.access == [Nothing; READERS.len()];
            let mount = if refused {
                let ran = run(&mut command);
                assert_eq!(ran.code, Some(22), "{cell}: {ran:?}");
                assert!(ran.stderr.contains("user_allow_other"), "{cell}: {ran:?}");
                None
            } else {
                Some(namespace.mount_by(command))
            };
            let lines = namespace.mounts();
            assert_eq!(lines.len(), usize::from(!refused), "{cell}: {lines:?}");
            for line in &lines {
                let (_, flags) = assert_guarded(line);
                let has = |flag: &str| flags.split(',').any(|one| one == flag);
                assert_eq!(
                    has("allow_other"),
                    options.contains("allow_other"),
                    "{line}"
                );
                assert!(has(&format!("user_id={}", row.by)), "{cell}: {line}");
                assert!(has("default_permissions"), "{cell}: {line}");
            }
            let got = READERS.map(|reader| access(&namespace, reader));
            assert_eq!(got, row.access, "{cell}");
            drop(mount);
            assert!(namespace.mounts().is_empty(), "{cell}");
        }
    }
}

/// The kernel's `nosuid` and `nodev` would make them harmless as well.
#[fuse_test]
fn set_id_bits_and_devices_of_a_folder_are_not_shown() {
    let mut fixture = Fixture::new();
    let folder = fixture.dir().join("folder");
    fs::create_dir(&folder).unwrap();
    for (name, mode) in [("suid", 0o4755), ("sgid", 0o2755), ("sticky", 0o1755)] {
        fs::write(folder.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let null = folder.join("null");
    let mode = Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(CWD, &null, FileType::CharacterDevice, mode, makedev(1, 3)).unwrap();
    symlink("suid", folder.join("link")).unwrap();
    fixture.archive = folder;
    let mount = fixture.mount(&["-o", LOOSER]);
    let mut names: Vec<_> = fs::read_dir(mount.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["link", "sgid", "sticky", "suid"]);
    for name in names {
        let metadata = fs::metadata(mount.path().join(&name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o444, "{name:?}");
    }
    assert!(!mount.path().join("null").exists());
}

/// Other processes of the user cannot read the memory of one that has a password, and it
/// leaves no dump.
#[fuse_test]
fn a_process_with_a_password_is_closed_to_others_of_its_user() {
    let Some(namespace) = namespace() else { return };
    let password = namespace.fixture.dir().join("password");
    fs::write(&password, "secret\n").unwrap();
    let with_password = format!("password=@{}", password.display());
    for (options, is_closed) in [("ro", false), (with_password.as_str(), true)] {
        let mount = namespace.mount_by(command(&namespace, USER, options));
        for file in ["environ", "mem"] {
            let path = format!("/proc/{}/{file}", mount.0.pid());
            let read = run(namespace.user(USER, "head").args(["-c", "0", &path]));
            let denied = read.stderr.contains("Permission denied");
            assert_eq!(denied, is_closed, "{options}: {file}: {read:?}");
        }
    }
}

/// A crash writes the memory to the current directory, unless it has a password. A mount
/// without one shows that this system writes it.
#[fuse_test]
fn a_crash_writes_no_password() {
    const SECRET: &str = "correct horse battery staple";

    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    if pattern.starts_with('|') || pattern.contains('/') {
        return skip("a program of the system takes core dumps");
    }
    for (options, dumps) in [("ro", true), ("password=@password", false)] {
        let fixture = Fixture::new();
        let directory = fixture.dir().to_owned();
        fs::write(directory.join("password"), format!("{SECRET}\n")).unwrap();
        let mut command = Command::new("sh");
        command
            .current_dir(&directory)
            .args(["-c", "ulimit -c unlimited && exec \"$@\"", "sh"])
            .arg(env!("CARGO_BIN_EXE_hpimount"))
            .args([&fixture.archive, &fixture.point])
            // Threads in the sandbox create no files.
            .args(["-o", "nosandbox", "-o", options]);
        let mount = fixture.mount_in_foreground_by(command);
        mount.assert_answers();
        // The runtime takes the first SIGSEGV for a full stack.
        mount.signal(Signal::ILL);
        assert_eq!(mount.daemon().wait(), None);
        let written = fs::read_dir(&directory).unwrap();
        let written = written.map(|entry| entry.unwrap().file_name());
        let dumped: Vec<_> = written
            .filter(|name| name.to_string_lossy().starts_with("core"))
            .collect();
        if dumps && dumped.is_empty() {
            return skip("core dumps are not written");
        }
        assert_eq!(!dumped.is_empty(), dumps, "{options}: {dumped:?}");
        for name in dumped {
            let memory = fs::read(directory.join(name)).unwrap();
            let has = |text: &str| {
                memory
                    .windows(text.len())
                    .any(|bytes| bytes == text.as_bytes())
            };
            assert!(has("hello.txt") && !has(SECRET), "{options}");
        }
    }
}
