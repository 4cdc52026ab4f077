//! Confinement of the threads that parse sources and answer the kernel: by
//! Landlock (landlock(7)), by a filter of system calls (seccomp(2)), and by
//! giving up capabilities.
//!
//! All apply to the calling thread and those that it starts afterwards. The
//! threads that wait for signals and unmount are not confined in this way:
//! Landlock forbids to unmount, and `fusermount3` needs its privileges.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, NetPort, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::syscalls::Work;
use super::{privileges, syscalls};
use crate::source::remote::Access;

/// The latest version of Landlock whose restrictions are requested; older
/// kernels enforce those that they know.
const VERSION: ABI = ABI::V9;

/// The permissions of confined threads: to read certain files and directories,
/// and use open descriptors. They cannot write, execute or connect to anything,
/// nor signal other processes.
#[derive(Debug)]
pub struct Confinement {
    /// `None` if the kernel does not support it.
    rules: Option<RulesetCreated>,
    work: Work,
}

impl Confinement {
    /// Permits reading the files and directories `readable`, including
    /// everything below these. Paths that do not exist are skipped.
    pub fn to(readable: &[PathBuf]) -> Self {
        let rules = rules(readable)
            .inspect_err(|error| log::debug!("not confined: {error}"))
            .ok();
        let work = Work::Parse;
        Self { rules, work }
    }

    /// Permits the access that threads need to communicate with servers.
    pub fn to_network(access: &Access) -> Self {
        let rules = network_rules(access)
            .inspect_err(|error| log::debug!("not confined: {error}"))
            .ok();
        let work = Work::Network;
        Self { rules, work }
    }

    /// Runs `work` in a confined thread and waits for it. The threads that
    /// `work` starts are confined as well.
    ///
    /// What the kernel does not support is omitted.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    ///
    /// # Panics
    /// Panics if `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let confined = || {
                self.enter();
                work()
            };
            let worker = thread::Builder::new().name("confined".to_owned());
            let done = worker.spawn_scoped(scope, confined)?.join();
            Ok(done.unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Confines the current thread, and those that it starts.
    pub fn enter(&self) {
        restrict_to(self.work);
        self.restrict_files();
    }

    /// Restricts the current thread, and those that it starts, to the files and ports
    /// of the confinement, but not to the system calls.
    pub(super) fn restrict_files(&self) {
        let Some(rules) = &self.rules else {
            return;
        };
        let entered = rules
            .try_clone()
            .map_err(|error| error.to_string())
            .and_then(|rules| rules.restrict_self().map_err(|error| error.to_string()));
        match entered.map(|status| status.ruleset) {
            Ok(RulesetStatus::NotEnforced) => {
                log::debug!("not confined: Landlock is not available")
            }
            Ok(_) => log::debug!("confined to the sources"),
            Err(error) => log::debug!("not confined: {error}"),
        }
    }
}

/// Gives up what the current thread, and those that it starts, do not need for
/// their work: capabilities and system calls.
fn restrict_to(work: Work) {
    if let Err(error) = privileges::keep(privileges::TO_READ) {
        log::debug!("capabilities are kept: {error}");
    }
    if let Err(error) = syscalls::restrict(work) {
        log::debug!("system calls are not filtered: {error}");
    }
}

/// A part of the work of a confined thread.
type Part = Box<dyn FnOnce() + Send>;

/// A confined thread for work that comes in several parts. It ends when this is
/// dropped.
#[derive(Debug)]
pub(super) struct Confined {
    parts: Sender<Part>,
}

impl Confined {
    /// Starts the thread, which gives up what parsing does not need. The kernel
    /// takes a few tenths of a millisecond for that; the caller can find out
    /// meanwhile what the thread must read. The first part of its work restricts
    /// the thread to that.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started.
    pub(super) fn start() -> io::Result<Self> {
        let (parts, received) = channel::<Part>();
        let confined = move || {
            restrict_to(Work::Parse);
            received.into_iter().for_each(|part| part());
        };
        let worker = thread::Builder::new().name("confined".to_owned());
        worker.spawn(confined)?;
        Ok(Self { parts })
    }

    /// Runs `work` in the thread and waits for it. The threads that `work` starts
    /// are confined as well.
    ///
    /// # Panics
    /// Panics if `work` does.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.begin(work).wait()
    }

    /// Like [`run`](Self::run), but does not wait.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Begun<T> {
        let (sender, result) = channel();
        let part = move || {
            // The caller may have dropped `Begun`.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        };
        self.parts
            .send(Box::new(part))
            .expect("the thread runs while there is a sender");
        Begun { result }
    }
}

/// Work that a confined thread has begun.
#[derive(Debug)]
pub(super) struct Begun<T> {
    result: Receiver<thread::Result<T>>,
}

impl<T> Begun<T> {
    /// Waits for the end of the work, and returns its result.
    ///
    /// # Panics
    /// Panics if the work does.
    pub(super) fn wait(self) -> T {
        let done = self.result.recv().expect("each part sends its result");
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn rules(readable: &[PathBuf]) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    nothing()?.add_rules(path_beneath_rules(readable, read))
}

fn network_rules(access: &Access) -> Result<RulesetCreated, RulesetError> {
    // The system's resolver may use a socket in a readable directory.
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::ResolveUnix;
    let write = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
        | AccessFs::Truncate;
    let ports = access.ports.iter();
    let ports = ports.map(|&port| Ok(NetPort::new(port, AccessNet::ConnectTcp)));
    nothing()?
        .add_rules(path_beneath_rules(&access.readable, read))?
        .add_rules(path_beneath_rules(&access.writable, write))?
        .add_rules(ports)
}

/// Returns rules that permit nothing.
fn nothing() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()
}
