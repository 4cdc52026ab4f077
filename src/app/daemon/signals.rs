//! The signals that unmount, and those that are not caught.

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

/// The signals that would terminate the process and leave a dead mount, except
/// for SIGKILL and those that report a fault of the process itself.
const ENDING: &[c_int] = &[
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
];

/// Returns the signals that only Linux has.
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

/// Catches the signals that unmount. Signals that are ignored at program start,
/// such as SIGHUP by nohup(1), stay ignored.
///
/// # Errors
/// Returns an error if the operating system does.
pub(super) fn catch() -> io::Result<Signals> {
    let ignored = ignored();
    let handled = |signal: &c_int| ignored >> (signal - 1) & 1 == 0;
    // A signal that arrives after its handler is set and before its action is
    // registered would be lost. This is the only thread now, so signals are
    // blocked until both are done.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let signals = Signals::new(ENDING.iter().copied().chain(more()).filter(handled));
    mask.thread_set_mask()?;
    signals
}

/// Returns the ignored signals of this process, one bit for each from 1 on.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Waits for a signal of [`catch`]. The next one ends the process at once.
#[cfg(serve)]
pub(super) fn wait(mut signals: Signals) {
    if let Some(signal) = signals.forever().next() {
        log::info!("signal {signal}");
    }
}

/// Makes sure that child processes can be waited for. If SIGCHLD is ignored,
/// which is inherited from the parent process, exit statuses are discarded.
///
/// # Errors
/// Returns an error if the operating system does.
pub(super) fn reset_sigchld() -> io::Result<()> {
    signal_hook::flag::register(SIGCHLD, Arc::default()).map(drop)
}
