//! Limits, so that a file manager never waits for one file.
//!
//! The work is done by a second process of the same program, with limits on
//! its memory and time. The first one waits for it, and no longer than it
//! should: a process that the kernel keeps in a read which hangs cannot even
//! be killed.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit};

use crate::daemon::shortened;

/// Set for the second process; the value means nothing.
const IS_WORKER: &str = "HPIMOUNT_THUMBNAIL_WORKER";

/// How long a contact sheet is filled.
pub const ENOUGH: Duration = Duration::from_secs(6);

/// How long the second process may run, and how long it may compute in
/// seconds.
const MAX_WAIT: Duration = Duration::from_secs(20);
const COMPUTING: u64 = 20;

/// Maximum number of bytes of address space; what is used of it is much less.
const ADDRESS_SPACE: u64 = 1 << 30;

/// Returns whether this is the second process.
pub fn is_worker() -> bool {
    std::env::var_os(IS_WORKER).is_some()
}

/// Runs this program once more with the same arguments, as the process that
/// does the work; `None` if it took too long and was killed.
///
/// # Errors
/// Returns an error if it cannot be started.
pub fn run_worker() -> io::Result<Option<ExitStatus>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(IS_WORKER, "1")
        .stdin(Stdio::null())
        .spawn()?;
    let pid = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || sender.send(child.wait()))?;
    receiver
        .recv_timeout(shortened("HPIMOUNT_TEST_PATIENCE", MAX_WAIT))
        .map_or_else(
            |_| {
                // It may have ended just now.
                let _ = rustix::process::kill_process(pid, Signal::KILL);
                Ok(None)
            },
            |ended| ended.map(Some),
        )
}

/// Sets the limits of the process that does the work, which also ends with the
/// first one.
///
/// # Errors
/// Returns an error if the operating system refuses.
pub fn limit_worker() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    for (resource, limit) in [
        (Resource::As, ADDRESS_SPACE),
        (Resource::Cpu, COMPUTING),
        (Resource::Core, 0),
    ] {
        let most = rustix::process::getrlimit(resource).maximum;
        let limit = most.map_or(limit, |most| most.min(limit));
        let limit = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}
