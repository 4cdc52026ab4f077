//! Which signals end a mount in order, and which are left alone.

use std::ffi::c_int;
use std::fs;
use std::io;
use std::sync::Arc;

use nix::sys::signal::{SigSet, SigmaskHow};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;

/// All that would end the process and leave a dead mount, except for SIGKILL
/// and for those by which a fault of the process itself is reported.
const ENDING: &[c_int] = &[
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
];

/// Those that only Linux has.
#[cfg(target_os = "linux")]
fn more() -> impl Iterator<Item = c_int> {
    [libc::SIGPWR, libc::SIGSTKFLT]
        .into_iter()
        .chain(libc::SIGRTMIN()..=libc::SIGRTMAX())
}

#[cfg(not(target_os = "linux"))]
fn more() -> impl Iterator<Item = c_int> {
    std::iter::empty()
}

/// Catches the signals that end a mount. What was ignored when the program
/// was started, as SIGHUP is by nohup(1), stays so.
///
/// # Errors
/// Whatever the operating system reports.
pub(super) fn catch() -> io::Result<Signals> {
    let ignored = ignored();
    let heeded = |signal: &c_int| ignored >> (signal - 1) & 1 == 0;
    // One that came between setting a handler and noting down what it is to do
    // would be lost. This is the only thread now: they wait until both are.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let signals = Signals::new(ENDING.iter().copied().chain(more()).filter(heeded));
    mask.thread_set_mask()?;
    signals
}

/// Returns the signals that this process ignores, a bit for each from 1 on.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Makes sure that children can be waited for. Who ignores SIGCHLD, as a
/// program that starts this one may, never learns how they ended.
///
/// # Errors
/// Whatever the operating system reports.
pub(super) fn reset_sigchld() -> io::Result<()> {
    signal_hook::flag::register(SIGCHLD, Arc::default()).map(drop)
}
