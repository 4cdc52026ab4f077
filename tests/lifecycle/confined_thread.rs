//! Restrictions of a confined thread, seen from inside: operations that Landlock does
//! not cover are refused by the system call filter.

use std::fs::{self, Permissions};
use std::io::{self, IoSlice};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

use hpimount::app::Confinement;
use hpimount::source::remote::{Access, Task};
use landlock::ABI;
use nix::sched::CloneFlags;
use nix::sys::uio::{RemoteIoVec, process_vm_writev};
use rustix::net::{AddressFamily, Protocol, SocketType, netlink};
use rustix::process::Resource;

use crate::confinement::known;

type Attempt<'a> = (&'a str, Box<dyn Fn() -> io::Result<()> + Sync + 'a>);

fn system(outcome: Result<(), rustix::io::Errno>) -> io::Result<()> {
    Ok(outcome?)
}

#[test]
fn a_confined_thread_cannot_change_modes_open_sockets_or_start_programs() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    let socket = dir.path().join("socket");
    fs::write(&file, "inside").unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    let parent = rustix::process::getppid();
    let attempts: Vec<Attempt<'_>> = vec![
        (
            "chmod",
            Box::new(|| fs::set_permissions(&file, Permissions::from_mode(0o777))),
        ),
        (
            "chown",
            Box::new(|| std::os::unix::fs::chown(&file, Some(0), Some(0))),
        ),
        ("UDP", Box::new(|| UdpSocket::bind("127.0.0.1:0").map(drop))),
        (
            "a UNIX socket",
            Box::new(|| UnixStream::connect(&socket).map(drop)),
        ),
        (
            "a pair of sockets",
            Box::new(|| UnixStream::pair().map(drop)),
        ),
        (
            "a program",
            Box::new(|| std::process::Command::new("/bin/true").status().map(drop)),
        ),
        (
            "a signal",
            Box::new(|| {
                let own = rustix::process::getpid();
                system(rustix::process::kill_process(
                    own,
                    rustix::process::Signal::CONT,
                ))
            }),
        ),
        (
            "the priority of a process",
            Box::new(|| system(rustix::process::setpriority_process(parent, 5))),
        ),
        (
            "an attribute",
            Box::new(|| xattr::set(&file, "user.a", b"b")),
        ),
        ("tracing", Box::new(|| Ok(nix::sys::ptrace::traceme()?))),
        (
            "the memory of a process",
            Box::new(|| {
                let mut byte = [0];
                let there = RemoteIoVec {
                    base: byte.as_mut_ptr() as usize,
                    len: 1,
                };
                let pid = nix::unistd::getpid();
                process_vm_writev(pid, &[IoSlice::new(b"x")], &[there])?;
                Ok(())
            }),
        ),
        (
            "a namespace",
            Box::new(|| Ok(nix::sched::unshare(CloneFlags::CLONE_NEWUSER)?)),
        ),
        (
            "a file in memory, which could be executed",
            Box::new(|| {
                let made = rustix::fs::memfd_create("a", rustix::fs::MemfdFlags::empty());
                system(made.map(drop))
            }),
        ),
        (
            "a socket of the kernel's ciphers",
            Box::new(|| {
                let family = AddressFamily::from_raw(libc::AF_ALG as u16);
                let kind = SocketType::SEQPACKET;
                system(rustix::net::socket(family, kind, None).map(drop))
            }),
        ),
        (
            "a handle of a process",
            Box::new(|| {
                let own = rustix::process::getpid();
                let flags = rustix::process::PidfdFlags::empty();
                system(rustix::process::pidfd_open(own, flags).map(drop))
            }),
        ),
        (
            "the limits of a process",
            Box::new(|| {
                let limit = rustix::process::getrlimit(Resource::Core);
                system(rustix::process::prlimit(parent, Resource::Core, limit).map(drop))
            }),
        ),
        (
            "a mount",
            Box::new(|| {
                let flags = rustix::mount::UnmountFlags::DETACH;
                system(rustix::mount::unmount(dir.path(), flags))
            }),
        ),
    ];
    let confinement = Confinement::to(&[dir.path().to_owned()]);
    let try_all = || {
        assert_eq!(fs::read(&file).unwrap(), b"inside");
        for (what, attempt) in &attempts {
            let error = attempt().expect_err(what);
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{what}");
        }
        // Threads are not programs.
        std::thread::scope(|scope| scope.spawn(|| ()).join().unwrap());
    };
    confinement.run(try_all).unwrap();
    let later = || std::thread::scope(|scope| scope.spawn(try_all).join().unwrap());
    confinement.run(later).unwrap();
    UnixStream::connect(&socket).expect("the waiting thread is not confined");
}

#[test]
fn a_thread_that_may_read_everything_cannot_write_through_proc() {
    let confinement = Confinement::to(&["/".into()]);
    let attempt = || {
        for file in ["mem", "comm", "oom_score_adj", "clear_refs"] {
            let path = format!("/proc/self/{file}");
            let opened = fs::File::options().write(true).open(&path);
            let error = opened.expect_err(&path);
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{path}");
        }
        fs::read("/proc/self/status").unwrap();
    };
    confinement.run(attempt).unwrap();
    fs::File::options()
        .write(true)
        .open("/proc/self/mem")
        .unwrap();
}

#[test]
fn a_confined_thread_of_root_can_read_and_has_no_other_capability() {
    let confinement = Confinement::to(&["/proc".into()]);
    let status = || fs::read_to_string("/proc/thread-self/status").unwrap();
    let inside = confinement.run(status).unwrap();
    let field = |name: &str| {
        let value = inside.lines().find_map(|line| line.strip_prefix(name));
        u64::from_str_radix(value.unwrap().trim(), 16).unwrap()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(field(set) & !(1 << 2), 0, "{set}");
    }
    assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), (1, 2));
}

#[test]
fn nothing_runs_unconfined_when_no_file_can_be_opened() {
    let dir = tempfile::tempdir().unwrap();
    let confinement = Confinement::to(&[dir.path().to_owned()]);
    let network = |task| {
        let access = Access {
            ports: vec![80],
            hosts: Vec::new(),
            readable: vec![dir.path().to_owned()],
            writable: Vec::new(),
        };
        Confinement::to_network(task, &access)
    };
    let all = [
        confinement,
        Confinement::to_clients(),
        network(Task::Names),
        network(Task::Servers),
    ];
    let without_files = || {
        // A table of its own, which is filled.
        nix::sched::unshare(CloneFlags::CLONE_FILES).unwrap();
        let mut held = vec![fs::File::open("/dev/null").unwrap()];
        while let Ok(another) = held[0].try_clone() {
            held.push(another);
        }
        for confinement in &all {
            let ran = confinement.run(|| unreachable!("runs unconfined"));
            let error: io::Error = ran.unwrap_err();
            assert!(error.to_string().contains("cannot be confined"), "{error}");
        }
    };
    std::thread::scope(|scope| scope.spawn(without_files).join().unwrap());
    for confinement in &all {
        confinement.run(|| ()).unwrap();
    }
}

/// Runs `work` in a thread that is confined to a task of the network, with one port to
/// connect to.
fn in_network(task: Task, port: u16, work: impl FnOnce() + Send) {
    let access = Access {
        ports: vec![port],
        hosts: Vec::new(),
        readable: ["/etc", "/lib", "/usr/lib"].map(Into::into).to_vec(),
        writable: Vec::new(),
    };
    let confinement = Confinement::to_network(task, &access);
    confinement.run(work).unwrap();
}

/// Sockets that neither task of the network needs.
fn useless_sockets() -> [(AddressFamily, SocketType, Option<Protocol>); 6] {
    let family = |number: i32| AddressFamily::from_raw(number as u16);
    [
        (
            AddressFamily::NETLINK,
            SocketType::RAW,
            Some(netlink::AUDIT),
        ),
        (family(libc::AF_VSOCK), SocketType::STREAM, None),
        (family(libc::AF_PACKET), SocketType::DGRAM, None),
        (family(libc::AF_ALG), SocketType::SEQPACKET, None),
        (family(libc::AF_BLUETOOTH), SocketType::STREAM, None),
        (AddressFamily::INET, SocketType::RAW, None),
    ]
}

fn denied(family: AddressFamily, kind: SocketType, protocol: Option<Protocol>) {
    let made = rustix::net::socket(family, kind, protocol);
    let error = made.expect_err("no socket");
    assert_eq!(error, rustix::io::Errno::PERM, "{family:?} {kind:?}");
}

#[test]
fn a_thread_that_talks_to_servers_has_no_sockets_but_tcp() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let service = UnixListener::bind(&path).unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    in_network(Task::Servers, address.port(), || {
        TcpStream::connect(address).unwrap();
        for (family, kind, protocol) in useless_sockets() {
            denied(family, kind, protocol);
        }
        denied(AddressFamily::INET, SocketType::DGRAM, None);
        denied(AddressFamily::INET6, SocketType::DGRAM, None);
        denied(AddressFamily::NETLINK, SocketType::RAW, None);
        let connected = UnixStream::connect(&path);
        assert_eq!(connected.unwrap_err().raw_os_error(), Some(libc::EPERM));
    });
    drop(service);
}

#[test]
fn a_thread_that_looks_up_names_cannot_connect_to_servers() {
    let Some(known) = known() else {
        return;
    };
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    in_network(Task::Names, address.port(), || {
        assert!(("localhost", 1).to_socket_addrs().unwrap().count() > 0);
        UdpSocket::bind("127.0.0.1:0").unwrap();
        for (family, kind, protocol) in useless_sockets() {
            denied(family, kind, protocol);
        }
        if known >= ABI::V4 {
            let error = TcpStream::connect(address).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        }
    });
}
