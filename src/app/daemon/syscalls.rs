//! The system calls of the daemon's threads, by a filter of seccomp(2).
//!
//! Other calls than the listed ones fail with EPERM: starting programs, creating sockets,
//! changing modes and owners, tracing processes, mounting, BPF, io_uring and
//! everything that a later kernel adds. Landlock restricts those that are
//! listed and have a path; it cannot restrict threads that unmount, which
//! therefore may open files only to read them.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter,
};

/// The task of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// It parses sources and answers the kernel.
    Parse,
    /// It looks up the names of servers, in the system's resolver.
    Resolve,
    /// It communicates with servers over TCP, and stores their data.
    Network,
    /// It changes or watches a folder of edits.
    Edit,
    /// It communicates with clients over sockets that are open, or waits for signals.
    Serve,
    /// It waits for signals or for the end of the mount, and unmounts.
    Unmount,
}

/// Calls of all threads, for: memory and threads; open files; files by path;
/// time; the process itself; and confining further.
const COMMON: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_get_robust_list,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_close,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getcwd,
    libc::SYS_newfstatat,
    libc::SYS_readlinkat,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_restrict_self,
];

/// Older forms of the calls above, which not every architecture has.
#[cfg(target_arch = "x86_64")]
const COMMON_OLDER: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_dup2,
    libc::SYS_lstat,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const COMMON_OLDER: &[c_long] = &[];

/// Calls of threads that look up names. The system's resolver loads libraries.
const RESOLVE: &[c_long] = &[
    libc::SYS_bind,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_mmap,
    libc::SYS_mprotect,
];

/// Calls of threads that connect, and wait for that.
const CONNECT: &[c_long] = &[
    libc::SYS_connect,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_socketpair,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_pipe2,
];

/// Calls of threads that store what servers send, in the directory of `-o blockcache=`.
const STORE: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_linkat,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
];

/// Older forms of the calls above, which not every architecture has.
#[cfg(target_arch = "x86_64")]
const CONNECT_OLDER: &[c_long] = &[libc::SYS_epoll_wait];
#[cfg(not(target_arch = "x86_64"))]
const CONNECT_OLDER: &[c_long] = &[];

/// Older forms of the calls above, which not every architecture has.
#[cfg(target_arch = "x86_64")]
const STORE_OLDER: &[c_long] = &[
    libc::SYS_link,
    libc::SYS_mkdir,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_unlink,
];
#[cfg(target_arch = "aarch64")]
const STORE_OLDER: &[c_long] = &[libc::SYS_renameat];
#[cfg(target_arch = "riscv64")]
const STORE_OLDER: &[c_long] = &[];

/// Calls of threads that unmount. The handlers of signals wake a thread through a
/// socket.
const UNMOUNT: &[c_long] = &[libc::SYS_recvfrom, libc::SYS_umount2];

/// Calls of threads that change or watch a folder of edits.
const EDIT: &[c_long] = &[
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_rm_watch,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
];

/// Calls of threads that communicate with clients, over open sockets.
const SERVE: &[c_long] = &[
    libc::SYS_accept4,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
];

/// An older form of the calls above, which not every architecture has.
#[cfg(target_arch = "x86_64")]
const SERVE_OLDER: &[c_long] = &[libc::SYS_epoll_wait];
#[cfg(not(target_arch = "x86_64"))]
const SERVE_OLDER: &[c_long] = &[];

/// Flags of open(2) that permit to change a file.
const CHANGING: u64 = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64;

/// Operations of fcntl(2) that concern a descriptor alone. F_SETOWN is not
/// among them: with it the kernel signals any process.
const FCNTLS: &[u64] = &[
    libc::F_DUPFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
    libc::F_GETFD as u64,
    libc::F_SETFD as u64,
    libc::F_GETFL as u64,
    libc::F_SETFL as u64,
];

/// Requests of ioctl(2): attributes and size of a terminal, closing at exec,
/// non-blocking sockets, and a FUSE device for another thread. Not TIOCSTI,
/// which types into a terminal.
const IOCTLS: &[u64] = &[
    libc::TCGETS as _,
    libc::TIOCGWINSZ as _,
    libc::FIOCLEX as _,
    libc::FIONBIO as _,
    // FUSE_DEV_IOC_CLONE of linux/fuse.h.
    0x8004_E500,
];

/// Operations of prctl(2): names of threads and of memory, the auxiliary vector
/// with the size of a page, and those of confining further.
const PRCTLS: &[u64] = &[
    libc::PR_SET_NAME as u64,
    libc::PR_GET_NAME as u64,
    libc::PR_SET_VMA as u64,
    libc::PR_SET_NO_NEW_PRIVS as u64,
    // PR_GET_AUXV of linux/prctl.h.
    0x4155_5856,
];

/// Restricts the current thread, and those that it starts, to the calls that
/// its work needs.
///
/// # Errors
/// Returns an error if the kernel has no filters, or if the architecture is not
/// known.
pub(super) fn restrict(work: Work) -> Result<(), seccompiler::Error> {
    apply_filter(&without_clone3()?)?;
    apply_filter(&allowed(work)?)
}

/// Returns a filter by which clone3(2) does not exist, so that clone(2) is
/// called, whose flags a filter can see.
fn without_clone3() -> Result<BpfProgram, BackendError> {
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, missing, ARCH.try_into()?)?.try_into()
}

/// Calls with their rules. One rule of a call must hold; a call without rules is
/// always allowed.
type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Returns the filter that allows the calls of this work only.
fn allowed(work: Work) -> Result<BpfProgram, BackendError> {
    let more: &[&[c_long]] = match work {
        Work::Parse => &[],
        Work::Resolve => &[RESOLVE, CONNECT, CONNECT_OLDER],
        Work::Network => &[CONNECT, CONNECT_OLDER, STORE, STORE_OLDER],
        Work::Edit => &[EDIT],
        Work::Serve => &[SERVE, SERVE_OLDER],
        Work::Unmount => &[UNMOUNT],
    };
    let common = [COMMON, COMMON_OLDER, &[libc::SYS_clone3]];
    let calls = common.iter().chain(more).copied().flatten();
    let mut rules: Rules = calls.map(|&call| (call, Vec::new())).collect();
    rules.extend(restricted()?);
    rules.extend(opening(work)?);
    rules.extend(sockets(work)?);
    if work != Work::Resolve {
        // Parsers need no memory that is executable.
        let executable = libc::PROT_EXEC as u64;
        rules.insert(libc::SYS_mmap, without(2, executable)?);
        rules.insert(libc::SYS_mprotect, without(2, executable)?);
        // Only through a connected socket, such as the one of the system log: the
        // pointer to an address must be null.
        let nowhere = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
        let sendto = vec![SeccompRule::new(vec![nowhere])?];
        rules.insert(libc::SYS_sendto, sendto);
    }
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, denied, SeccompAction::Allow, ARCH.try_into()?)?.try_into()
}

/// Returns the rules of the call that creates a socket. The system's resolver may use
/// datagrams, a service of this computer, and the kernel's tables of addresses.
fn sockets(work: Work) -> Result<Rules, BackendError> {
    let (stream, datagram) = (libc::SOCK_STREAM, libc::SOCK_DGRAM);
    let kinds: &[(i32, i32)] = match work {
        Work::Network => &[(libc::AF_INET, stream), (libc::AF_INET6, stream)],
        Work::Resolve => &[
            (libc::AF_INET, stream),
            (libc::AF_INET, datagram),
            (libc::AF_INET6, stream),
            (libc::AF_INET6, datagram),
            (libc::AF_UNIX, stream),
            (libc::AF_UNIX, datagram),
            (libc::AF_NETLINK, libc::SOCK_RAW),
        ],
        Work::Parse | Work::Edit | Work::Serve | Work::Unmount => return Ok(Rules::new()),
    };
    // The flags are in the same number.
    let of_type = SeccompCmpOp::MaskedEq(0xF);
    let rules = kinds.iter().map(|&(family, kind)| {
        let mut conditions = vec![
            condition(0, SeccompCmpOp::Eq, family as u64)?,
            condition(1, of_type.clone(), kind as u64)?,
        ];
        if family == libc::AF_NETLINK {
            conditions.push(condition(2, SeccompCmpOp::Eq, libc::NETLINK_ROUTE as u64)?);
        }
        SeccompRule::new(conditions)
    });
    Ok(Rules::from([(
        libc::SYS_socket,
        rules.collect::<Result<_, _>>()?,
    )]))
}

/// Returns the rules of calls that all threads may make with certain arguments.
fn restricted() -> Result<Rules, BackendError> {
    let threads_only = libc::CLONE_THREAD as u64;
    let is_thread = SeccompCmpOp::MaskedEq(threads_only);
    // Of the calling thread alone: a flag applies a filter to all threads.
    let filter = vec![
        condition(0, SeccompCmpOp::Eq, libc::SECCOMP_SET_MODE_FILTER.into())?,
        condition(1, SeccompCmpOp::Eq, 0)?,
    ];
    let own_priority = vec![
        condition(0, SeccompCmpOp::Eq, libc::PRIO_PROCESS.into())?,
        condition(1, SeccompCmpOp::Eq, 0)?,
    ];
    Ok(BTreeMap::from([
        (
            libc::SYS_clone,
            vec![SeccompRule::new(vec![condition(
                0,
                is_thread,
                threads_only,
            )?])?],
        ),
        (libc::SYS_seccomp, vec![SeccompRule::new(filter)?]),
        (libc::SYS_ioctl, equal(1, IOCTLS)?),
        (libc::SYS_prctl, equal(0, PRCTLS)?),
        (libc::SYS_fcntl, equal(1, FCNTLS)?),
        // To abort; threads of this process only.
        (libc::SYS_tgkill, equal(0, &[std::process::id().into()])?),
        // The limits of this process only.
        (libc::SYS_prlimit64, equal(0, &[0])?),
        (libc::SYS_setpriority, vec![SeccompRule::new(own_priority)?]),
    ]))
}

/// Returns the rules of the calls that open files.
fn opening(work: Work) -> Result<Rules, BackendError> {
    let with_flags_at = |argument| match work {
        Work::Unmount => without(argument, CHANGING),
        _ => Ok(Vec::new()),
    };
    let mut rules = BTreeMap::from([(libc::SYS_openat, with_flags_at(2)?)]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, with_flags_at(1)?);
    // Its flags are in memory, which a filter cannot see.
    if work != Work::Unmount {
        rules.insert(libc::SYS_openat2, Vec::new());
    }
    Ok(rules)
}

/// Returns a condition for the lower 32 bits of an argument of a call.
fn condition(
    argument: u8,
    operation: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, value)
}

/// Returns the rules that allow a call if an argument has none of these bits.
fn without(argument: u8, bits: u64) -> Result<Vec<SeccompRule>, BackendError> {
    let none = condition(argument, SeccompCmpOp::MaskedEq(bits), 0)?;
    Ok(vec![SeccompRule::new(vec![none])?])
}

/// Returns the rules by which an argument has one of these values.
fn equal(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let values = values.iter();
    values
        .map(|&value| SeccompRule::new(vec![condition(argument, SeccompCmpOp::Eq, value)?]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_filter_for_every_kind_of_work() {
        without_clone3().unwrap();
        let all = [
            Work::Parse,
            Work::Resolve,
            Work::Network,
            Work::Edit,
            Work::Serve,
            Work::Unmount,
        ];
        for work in all {
            allowed(work).unwrap();
        }
    }

    #[test]
    fn a_thread_that_unmounts_only_reads_and_unmounts() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "kept").unwrap();
        let missing = dir.path().join("missing");
        let attempts = || {
            restrict(Work::Unmount).unwrap();
            assert_eq!(std::fs::read(&file).unwrap(), b"kept");
            let flags = rustix::mount::UnmountFlags::DETACH;
            let unmounted = rustix::mount::unmount(&missing, flags).unwrap_err();
            let is_root = rustix::process::geteuid().is_root();
            assert_eq!(unmounted == rustix::io::Errno::NOENT, is_root);
            let empty = std::fs::File::options().append(true).open(&file);
            let attempts = [
                std::fs::write(&file, ""),
                std::fs::write(&missing, ""),
                empty.map(drop),
                std::fs::remove_file(&file),
                std::process::Command::new("/bin/true").status().map(drop),
                std::net::UdpSocket::bind("127.0.0.1:0").map(drop),
            ];
            for attempt in attempts {
                let error = attempt.unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EPERM), "{error}");
            }
        };
        std::thread::scope(|scope| scope.spawn(attempts).join().unwrap());
        assert_eq!(std::fs::read(&file).unwrap(), b"kept");
    }

    #[test]
    fn a_thread_that_looks_up_names_sends_single_datagrams() {
        let resolver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = resolver.local_addr().unwrap();
        let ask = || {
            rustix::thread::set_no_new_privs(true).unwrap();
            restrict(Work::Resolve).unwrap();
            let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.send_to(b"a query", address).unwrap();
        };
        std::thread::scope(|scope| scope.spawn(ask).join().unwrap());
        let mut query = [0; 16];
        let (length, _) = resolver.recv_from(&mut query).unwrap();
        assert_eq!(&query[..length], b"a query");
    }
}
