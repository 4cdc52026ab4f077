//! Confinement of the threads that parse sources and answer the kernel: by
//! Landlock (landlock(7)), by a filter of system calls (seccomp(2)), and by
//! giving up capabilities.
//!
//! All apply to the calling thread and those that it starts afterwards. The
//! threads that wait for signals and unmount are not confined in this way:
//! Landlock forbids to unmount, and `fusermount3` needs its privileges.

use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, NetPort, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use rustix::thread::CapabilitySet;

use super::syscalls::Work;
use super::{privileges, syscalls};
use crate::source::remote::{Access, Task};

/// The latest version of Landlock whose restrictions are requested; older
/// kernels enforce those that they know.
const VERSION: ABI = ABI::V9;

/// The port of DNS over TCP.
const DNS: u16 = 53;

/// The permissions of confined threads: to read certain files and directories,
/// and use open descriptors. They cannot write, execute or connect to anything,
/// nor signal other processes. What the kernel does not support is omitted; after
/// any other failure nothing runs.
#[derive(Debug)]
pub struct Confinement(Option<Rules>);

/// The permissions of threads, unless they have all (`-o nosandbox`).
#[derive(Debug)]
struct Rules {
    files: io::Result<RulesetCreated>,
    work: Work,
}

impl Confinement {
    /// Permits reading the files and directories `readable`, including
    /// everything below these. Paths that do not exist are skipped.
    pub fn to(readable: &[PathBuf]) -> Self {
        Self::new(rules(readable), Work::Parse)
    }

    /// Permits the access that threads need to communicate with servers, or to look up
    /// their names.
    pub fn to_network(task: Task, access: &Access) -> Self {
        match task {
            Task::Names => Self::new(resolver_rules(access), Work::Resolve),
            Task::Servers => Self::new(network_rules(access), Work::Network),
        }
    }

    /// Permits the access that threads need to change and watch the folder at `path`.
    pub(super) fn to_edit(path: &Path) -> Self {
        Self::new(edit_rules(path), Work::Edit)
    }

    /// Permits the access that a thread needs to watch the folder at `path`.
    #[cfg(all(edit, serve))]
    pub(super) fn to_watch(path: &Path) -> Self {
        Self::new(rules(&[path.to_owned()]), Work::Edit)
    }

    /// Permits to communicate with clients that connect, by sockets that are open.
    pub fn to_clients() -> Self {
        Self::new(nothing(), Work::Serve)
    }

    /// Permits everything.
    pub(in crate::app) fn none() -> Self {
        Self(None)
    }

    fn new(files: Result<RulesetCreated, RulesetError>, work: Work) -> Self {
        let files = files.map_err(unconfined);
        Self(Some(Rules { files, work }))
    }

    /// Runs `work` in a confined thread and waits for it. The threads that
    /// `work` starts are confined as well.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started or confined.
    ///
    /// # Panics
    /// Panics if `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let confined = || -> io::Result<T> {
                self.enter()?;
                Ok(work())
            };
            let worker = thread::Builder::new().name("confined".to_owned());
            let done = worker.spawn_scoped(scope, confined)?.join();
            done.unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Confines the current thread, and those that it starts.
    ///
    /// # Errors
    /// Returns an error if it cannot be confined.
    pub fn enter(&self) -> io::Result<()> {
        if let Some(rules) = &self.0 {
            restrict_to(rules.work)?;
        }
        self.restrict_files()
    }

    /// Restricts the current thread, and those that it starts, to the files and ports
    /// of the confinement, but not to the system calls.
    ///
    /// # Errors
    /// Returns an error if it cannot be restricted.
    pub(super) fn restrict_files(&self) -> io::Result<()> {
        let Some(rules) = &self.0 else {
            return Ok(());
        };
        let files = rules.files.as_ref().map_err(again)?;
        let files = files.try_clone().map_err(unconfined)?;
        match files.restrict_self().map_err(unconfined)?.ruleset {
            RulesetStatus::NotEnforced => log::debug!("not confined: Landlock is not available"),
            _ => log::debug!("confined to the sources"),
        }
        Ok(())
    }
}

/// Gives up what the current thread, and those that it starts, do not need for
/// their work: capabilities and system calls.
fn restrict_to(work: Work) -> io::Result<()> {
    let kept = match work {
        // They need no files that others may not read.
        Work::Resolve | Work::Network | Work::Edit | Work::Serve => CapabilitySet::empty(),
        _ => privileges::TO_READ,
    };
    privileges::keep(kept).map_err(unconfined)?;
    syscalls::restrict(work).map_err(unconfined)
}

/// Returns the error of a thread that cannot be confined.
pub(super) fn unconfined(error: impl Display) -> io::Error {
    io::Error::other(format!("it cannot be confined: {error}"))
}

/// Returns the same error.
fn again(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// A part of the work of a confined thread. It is called with the outcome of
/// confining the thread.
type Part = Box<dyn FnOnce(&io::Result<()>) + Send>;

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
    pub(super) fn start(is_sandboxed: bool) -> io::Result<Self> {
        Self::start_by(move || match is_sandboxed {
            true => restrict_to(Work::Parse),
            false => Ok(()),
        })
    }

    /// Like [`start`](Self::start), with a function that confines the thread.
    fn start_by(confine: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (parts, received) = channel::<Part>();
        let confined = move || {
            let confined = confine();
            received.into_iter().for_each(|part| part(&confined));
        };
        let worker = thread::Builder::new().name("confined".to_owned());
        worker.spawn(confined)?;
        Ok(Self { parts })
    }

    /// Runs `work` in the thread and waits for it. The threads that `work` starts
    /// are confined as well.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be confined; then `work` is not run.
    ///
    /// # Panics
    /// Panics if `work` does.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        self.begin(work).wait()
    }

    /// Like [`run`](Self::run), but does not wait.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Begun<T> {
        let (sender, result) = channel();
        let part = move |confined: &io::Result<()>| {
            let done = match confined {
                Ok(()) => catch_unwind(AssertUnwindSafe(work)).map(Ok),
                Err(error) => Ok(Err(again(error))),
            };
            // The caller may have dropped `Begun`.
            let _ = sender.send(done);
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
    result: Receiver<thread::Result<io::Result<T>>>,
}

impl<T> Begun<T> {
    /// Waits for the end of the work, and returns its result.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be confined.
    ///
    /// # Panics
    /// Panics if the work does.
    pub(super) fn wait(self) -> io::Result<T> {
        let done = self.result.recv().expect("each part sends its result");
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn rules(readable: &[PathBuf]) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    nothing()?.add_rules(path_beneath_rules(readable, read))
}

fn network_rules(access: &Access) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    nothing()?
        .add_rules(path_beneath_rules(&access.readable, read))?
        .add_rules(path_beneath_rules(&access.writable, writing()))?
        .add_rules(connecting(&access.ports))
}

fn resolver_rules(access: &Access) -> Result<RulesetCreated, RulesetError> {
    // The system's resolver may use a socket in a readable directory.
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::ResolveUnix;
    nothing()?
        .add_rules(path_beneath_rules(&access.readable, read))?
        .add_rules(connecting(&[DNS]))
}

/// Returns rules that permit to connect to these ports.
fn connecting(ports: &[u16]) -> impl Iterator<Item = Result<NetPort, RulesetError>> {
    let ports = ports.iter();
    ports.map(|&port| Ok(NetPort::new(port, AccessNet::ConnectTcp)))
}

fn edit_rules(folder: &Path) -> Result<RulesetCreated, RulesetError> {
    nothing()?.add_rules(path_beneath_rules([folder], writing()))
}

/// Returns the access rights for changing the contents of a directory.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
        | AccessFs::Truncate
}

/// Returns rules that permit nothing.
fn nothing() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_in_a_thread_that_cannot_be_confined() {
        let failed = || unconfined("too many open files");
        let confinement = Confinement(Some(Rules {
            files: Err(failed()),
            work: Work::Parse,
        }));
        let ran = confinement.run(|| unreachable!("runs unconfined"));
        let error: io::Error = ran.unwrap_err();
        assert_eq!(error.to_string(), failed().to_string());

        let confined = Confined::start_by(move || Err(failed())).unwrap();
        for _ in 0..2 {
            confined
                .run(|| unreachable!("runs unconfined"))
                .unwrap_err();
        }
    }

    #[test]
    fn without_a_sandbox_everything_is_permitted() {
        let mode = || rustix::thread::no_new_privs().unwrap();
        let before = mode();
        assert_eq!(Confinement::none().run(mode).unwrap(), before);
        assert_eq!(Confined::start(false).unwrap().run(mode).unwrap(), before);
    }
}
