//! Going into the background: the process forks. The first process waits until
//! the mount of the second one is ready, and returns its exit code.

use std::env;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::process::ExitCode;

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use rustix::fs::{Mode, OFlags};

use super::signals;
use super::system_log::SystemLog;
use crate::app::{ExitReason, Failure};

/// Message on the pipe from the background process: the mount is ready.
const READY: [u8; 1] = *b"+";

/// One of the two processes after forking.
#[derive(Debug)]
pub enum Forked {
    /// The first one, which has waited for the other, and exits with its code.
    Waited(ExitCode),
    /// The second one, which mounts.
    Background(Background),
}

/// The process in the background.
#[derive(Debug)]
pub struct Background {
    /// To the first process, which waits.
    waiting: PipeWriter,
}

/// Forks, and waits in the first process until the mount of the second one is
/// ready or it fails. No thread may have been started before.
///
/// # Errors
/// Returns [`Failure::Other`] if the system refuses.
pub fn go_into_background() -> Result<Forked, Failure> {
    let cannot = |error| Failure::Other("cannot go into the background", error);
    signals::reset_sigchld().map_err(cannot)?;
    let (ready, waiting) = pipe().map_err(cannot)?;
    match fork_alone().map_err(cannot)? {
        ForkResult::Parent { child } => {
            drop(waiting);
            wait(child, ready).map(Forked::Waited)
        }
        ForkResult::Child => {
            let null = null().map_err(cannot)?;
            rustix::stdio::dup2_stdin(&null).map_err(|error| cannot(error.into()))?;
            Ok(Forked::Background(Background { waiting }))
        }
    }
}

/// Forks. This must be the only thread of the process.
#[expect(unsafe_code, reason = "a fork of threads would be unsound")]
pub(super) fn fork_alone() -> io::Result<ForkResult> {
    // SAFETY: this is the only thread of the process, so no lock is held that the
    // new process would wait for.
    Ok(unsafe { fork() }?)
}

/// Waits until a process is ready or ends.
fn wait(child: Pid, mut ready: PipeReader) -> Result<ExitCode, Failure> {
    let mut answer = [0];
    // Exactly one byte, since other processes may hold the pipe open.
    if ready.read_exact(&mut answer).is_ok() && answer == READY {
        return Ok(ExitCode::SUCCESS);
    }
    let how = match waitpid(child, None) {
        Ok(WaitStatus::Exited(_, code)) => {
            let code = u8::try_from(code).unwrap_or(ExitReason::OTHER.code);
            return Ok(ExitCode::from(code));
        }
        Ok(WaitStatus::Signaled(_, signal, _)) => signal.to_string(),
        Ok(status) => format!("{status:?}"),
        Err(error) => error.to_string(),
    };
    let how = io::Error::other(how);
    Err(Failure::Other("the background process ended", how))
}

impl Background {
    /// Leaves the terminal's session and the current directory, and opens what
    /// [`Detached::tell_ready`] needs, which restricted threads cannot open.
    pub(super) fn detach(self) -> Detached {
        // Not earlier: while the sources are opened, Ctrl-C applies to this process
        // too, and an automounter admits its own process group only. Fails only for a
        // process group leader, which this is not.
        let _ = rustix::process::setsid();
        let _ = env::set_current_dir("/");
        Detached {
            waiting: self.waiting,
            log: SystemLog::connect(),
            null: null().ok(),
        }
    }
}

/// The process in the background, without a terminal.
pub(super) struct Detached {
    waiting: PipeWriter,
    log: SystemLog,
    null: Option<OwnedFd>,
}

impl Detached {
    /// Releases the terminal's descriptors, and notifies the waiting process that the
    /// mount is ready.
    ///
    /// # Errors
    /// Returns an error if the waiting process is gone.
    pub(super) fn tell_ready(self) -> io::Result<()> {
        let Self {
            mut waiting,
            log,
            null,
        } = self;
        log.use_from_now_on();
        // Otherwise the descriptors stay open, which is harmless.
        if let Some(null) = null {
            let _ = rustix::stdio::dup2_stdout(&null);
            let _ = rustix::stdio::dup2_stderr(&null);
        }
        waiting.write_all(&READY)
    }
}

/// Opens `/dev/null`.
pub(super) fn null() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/null", flags, Mode::empty())?)
}
