//! Limits, so that a file manager never waits for one file.
//!
//! The work is done by a second process of the same program, with limits on its
//! memory and time. The first one waits for it with a timeout, because a
//! process that the kernel keeps in a hanging read cannot even be killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit};

use crate::app::shortened;

/// Environment variable that is set, to any value, for the second process.
const IS_WORKER: &str = "HPIMOUNT_THUMBNAIL_WORKER";

/// Time after which a contact sheet is returned without further pictures.
pub(in crate::app) const ENOUGH: Duration = Duration::from_secs(6);

/// Maximum time that the second process may run, and its CPU time limit in
/// seconds.
const MAX_WAIT: Duration = Duration::from_secs(20);
const COMPUTING: u64 = 20;

/// Maximum address space in bytes; the memory in use is much less.
const ADDRESS_SPACE: u64 = 1 << 30;

/// Returns whether this is the second process.
pub(in crate::app) fn is_worker() -> bool {
    std::env::var_os(IS_WORKER).is_some()
}

/// Starts this program again with the same arguments as the second process;
/// `None` if it was killed after a timeout.
pub(in crate::app) fn run_worker() -> io::Result<Option<ExitStatus>> {
    let mut words = std::env::args_os();
    let mut child = Command::new(std::env::current_exe()?)
        .arg0(words.next().unwrap_or_default())
        .args(words)
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
                // It may have ended by now.
                let _ = rustix::process::kill_process(pid, Signal::KILL);
                Ok(None)
            },
            |ended| ended.map(Some),
        )
}

/// Sets the limits of the second process, which also ends with the first one.
pub(in crate::app) fn limit_worker() -> io::Result<()> {
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
