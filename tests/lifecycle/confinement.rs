//! The threads of the daemon can access the files and ports that they need, and
//! nothing else.

use std::fs::{self, Permissions};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use hpimount::app::Confinement;
use hpimount::source::remote::{Access, Task};
use landlock::{ABI, Access as _, AccessFs, LandlockStatus, Ruleset, RulesetAttr};
use rustix::process::Signal;

use testkit::mount::{Fixture, eventually, hpimount};
use testkit::skip::skip;

/// Returns the version of Landlock in this kernel; without it, the test is
/// skipped.
pub(crate) fn known() -> Option<ABI> {
    // It is returned only by the call that restricts a thread.
    let confined = std::thread::spawn(|| {
        let rules = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1));
        rules.unwrap().create().unwrap().restrict_self().unwrap()
    });
    match confined.join().unwrap().landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi),
        status => {
            skip(&format!("Landlock is {status:?}"));
            None
        }
    }
}

fn execute() -> io::Result<()> {
    Command::new("/bin/true").status().map(drop)
}

#[test]
fn a_confined_thread_reads_its_sources_and_does_nothing_else() {
    let Some(known) = known() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let (source, outside) = (dir.path().join("source"), dir.path().join("outside"));
    fs::create_dir(&source).unwrap();
    fs::write(source.join("file"), "inside").unwrap();
    fs::write(&outside, "secret").unwrap();
    symlink(&outside, source.join("link")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();

    type Attempt<'a> = Box<dyn Fn() -> io::Result<()> + Sync + 'a>;
    let attempts: Vec<(&str, ABI, Attempt<'_>)> = vec![
        ("read", ABI::V1, Box::new(|| fs::read(&outside).map(drop))),
        (
            "follow a link out",
            ABI::V1,
            Box::new(|| fs::read(source.join("link")).map(drop)),
        ),
        (
            "list",
            ABI::V1,
            Box::new(|| fs::read_dir(dir.path()).map(drop)),
        ),
        (
            "create",
            ABI::V1,
            Box::new(|| fs::write(source.join("new"), "")),
        ),
        (
            "write",
            ABI::V1,
            Box::new(|| fs::write(source.join("file"), "")),
        ),
        (
            "remove",
            ABI::V1,
            Box::new(|| fs::remove_file(source.join("file"))),
        ),
        ("execute", ABI::V1, Box::new(execute)),
        (
            "connect",
            ABI::V4,
            Box::new(|| TcpStream::connect(address).map(drop)),
        ),
        (
            "listen",
            ABI::V4,
            Box::new(|| TcpListener::bind("127.0.0.1:0").map(drop)),
        ),
    ];
    for (what, _, attempt) in &attempts {
        if !matches!(*what, "remove" | "write") {
            attempt().unwrap_or_else(|error| panic!("{what}: {error}"));
        }
    }
    fs::remove_file(source.join("new")).unwrap();

    let confinement = Confinement::to(&[source.clone(), dir.path().join("missing")]);
    let try_all = || {
        assert_eq!(fs::read(source.join("file")).unwrap(), b"inside");
        assert_eq!(fs::read_dir(&source).unwrap().count(), 2);
        for (what, since, attempt) in &attempts {
            if known >= *since {
                let error = attempt().expect_err(what);
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{what}");
            }
        }
    };
    confinement.run(try_all).unwrap();
    let later = || std::thread::scope(|scope| scope.spawn(try_all).join().unwrap());
    confinement.run(later).unwrap();
    execute().expect("the waiting thread is not confined");
}

#[test]
fn threads_for_the_network_connect_to_their_ports_and_read_what_they_need() {
    let Some(known) = known() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for name in ["roots", "blocks", "outside"] {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("file"), name).unwrap();
    }
    // Only its owner may read it, and root by a capability.
    let private = path("roots").join("private");
    fs::write(&private, "secret").unwrap();
    fs::set_permissions(&private, Permissions::from_mode(0o600)).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        chown(&private, Some(65534), Some(65534)).unwrap();
    }
    let [given, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let access = Access {
        ports: vec![port(&given)],
        hosts: Vec::new(),
        readable: vec![path("roots")],
        writable: vec![path("blocks")],
    };
    let connect = |listener: &TcpListener| TcpStream::connect(listener.local_addr().unwrap());
    let denied = |attempt: io::Result<()>, what: &str| {
        let error = attempt.expect_err(what);
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{what}");
    };
    let attempts = || {
        connect(&given).unwrap();
        assert_eq!(fs::read(path("roots").join("file")).unwrap(), b"roots");
        fs::create_dir(path("blocks").join("new")).unwrap();
        fs::write(path("blocks").join("new/file"), "x").unwrap();
        fs::rename(
            path("blocks").join("new/file"),
            path("blocks").join("new/other"),
        )
        .unwrap();
        fs::remove_file(path("blocks").join("new/other")).unwrap();
        fs::remove_dir(path("blocks").join("new")).unwrap();
        denied(fs::read(path("outside").join("file")).map(drop), "read");
        denied(fs::write(path("roots").join("file"), ""), "write");
        if is_root {
            denied(fs::read(&private).map(drop), "read what is private");
        }
        denied(execute(), "execute");
        if known >= ABI::V4 {
            denied(connect(&other).map(drop), "connect");
            denied(TcpListener::bind("127.0.0.1:0").map(drop), "listen");
        }
    };
    // Threads started by a confined thread are confined as well.
    std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            Confinement::to_network(Task::Servers, &access)
                .enter()
                .unwrap();
            std::thread::scope(|scope| scope.spawn(attempts).join().unwrap());
        });
        confined.join().unwrap();
    });
    connect(&other).unwrap();
}

/// The state of a thread, as `/proc` shows it.
struct Thread {
    name: String,
    /// True if executed programs get no privileges.
    no_new_privs: bool,
    /// True if its system calls are filtered.
    is_filtered: bool,
    /// Effective capabilities, a bit for each.
    capabilities: u64,
}

/// Returns the threads of a process, without those that end in the meantime.
fn threads(pid: i32) -> Vec<Thread> {
    let mut threads = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
        let task = task.unwrap().path();
        let read = |file| fs::read_to_string(task.join(file));
        let (Ok(name), Ok(status)) = (read("comm"), read("status")) else {
            continue;
        };
        let mut lines = status.lines();
        let capabilities = lines.find_map(|line| line.strip_prefix("CapEff:"));
        threads.push(Thread {
            name: name.trim().to_owned(),
            no_new_privs: status.contains("NoNewPrivs:\t1"),
            is_filtered: status.contains("Seccomp:\t2"),
            capabilities: u64::from_str_radix(capabilities.unwrap().trim(), 16).unwrap(),
        });
    }
    threads
}

/// Returns whether hpimount mounts by itself here, without `fusermount3`.
fn can_mount_directly() -> bool {
    rustix::process::geteuid().is_root()
}

#[fuse_test]
fn threads_that_answer_are_confined_and_threads_that_unmount_can_do_little_else() {
    if known().is_none() {
        return;
    }
    let mount = Fixture::new().mount_in_foreground(&["-vv"]);
    mount.assert_answers();
    assert!(mount.fixture.log().contains("confined to the sources"));
    let unmounts = |name: &str| ["hpimount", "signals", "end"].contains(&name);
    // The others execute `fusermount3`.
    let is_filtered = |thread: &Thread| !unmounts(&thread.name) || can_mount_directly();
    let mut threads = Vec::new();
    eventually("the threads are confined", || {
        threads = self::threads(mount.pid());
        threads
            .iter()
            .all(|thread| thread.is_filtered == is_filtered(thread))
    });
    const READ_SEARCH: u64 = 1 << 2;
    const ADMIN: u64 = 1 << 21;
    for thread in &threads {
        let name = &thread.name;
        assert_eq!(thread.no_new_privs, thread.is_filtered, "{name}");
        let allowed = match unmounts(name) {
            true => READ_SEARCH | ADMIN,
            false => READ_SEARCH,
        };
        let more = thread.capabilities & !allowed;
        assert_eq!(more, 0, "{name}: {more:#x}");
    }
    assert!(threads.iter().any(|thread| !unmounts(&thread.name)));
    mount.signal(Signal::TERM);
    mount.assert_ends();
}

#[fuse_test]
fn without_a_sandbox_no_thread_is_confined() {
    let mount = Fixture::new().mount_in_foreground(&["-o", "nosandbox"]);
    mount.assert_answers();
    for thread in threads(mount.pid()) {
        let is_confined = thread.no_new_privs || thread.is_filtered;
        assert!(!is_confined, "{}", thread.name);
    }
}

#[fuse_test]
fn a_directory_replaced_by_a_link_is_not_followed() {
    let fixture = Fixture::new();
    let outside = fixture.dir().join("outside");
    let source = fixture.dir().join("folder");
    let write = |root: &Path| {
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("sub/file"), "secret").unwrap();
    };
    write(&outside);
    write(&source);
    let mut command = hpimount();
    command.args([&source, &fixture.point]);
    let mount = fixture.mount_by(command);
    assert_eq!(fs::metadata(mount.file("sub/file")).unwrap().len(), 6);
    fs::rename(source.join("sub"), source.join("away")).unwrap();
    symlink(outside.join("sub"), source.join("sub")).unwrap();
    fs::read(mount.file("sub/file")).unwrap_err();
}
