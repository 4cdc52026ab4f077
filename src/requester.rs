//! Detection of a killed requester: the process whose request this thread answers.
//!
//! A killed process ends only when the kernel has the answer to its request, and FUSE's
//! own message about it does not reach the program. So long work calls [`check`] from time to
//! time, to end if the process has a SIGKILL pending. A thread of its own reads that from
//! `/proc`, because those that read archives are confined.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::sync::awaited::Awaited;
use hpimount_containers::io::{Error, Result, read_error};

/// Directory with the state of processes.
pub const PROCESSES: &str = "/proc";

/// Time after which the requester of an answer is watched.
const PATIENCE: Duration = Duration::from_millis(200);

/// Pause between two looks at the watched processes.
const INTERVAL: Duration = Duration::from_millis(100);

/// The bit of SIGKILL, which has the number 9, in a set of signals.
const SIGKILL: u64 = 1 << 8;

/// The requesters of answers that take long.
static WATCHED: LazyLock<Awaited<Vec<Weak<Requester>>>> = LazyLock::new(Awaited::default);

thread_local! {
    static CURRENT: RefCell<Option<Request>> = const { RefCell::new(None) };
}

/// The request that this thread answers.
struct Request {
    thread: u32,
    since: Instant,
    /// Set once it takes long.
    watched: Option<Arc<Requester>>,
}

/// A thread that waits for an answer.
struct Requester {
    thread: u32,
    is_killed: AtomicBool,
}

/// The process that wanted the result was killed.
#[derive(Debug, thiserror::Error)]
#[error("the process that waited for it was killed")]
struct Killed;

/// A result that work for a killed process can have.
pub trait Outcome {
    /// Returns the result.
    fn killed() -> Self;

    /// Returns whether it is this result.
    fn is_killed(&self) -> bool;
}

impl Outcome for Error {
    fn killed() -> Self {
        read_error(0, 0, io::Error::other(Killed))
    }

    fn is_killed(&self) -> bool {
        let Self::Read { cause, .. } = self else {
            return false;
        };
        let Some(cause) = cause.get_ref() else {
            return false;
        };
        // The source may be a file in an archive.
        let around = cause.downcast_ref::<Self>();
        cause.is::<Killed>() || around.is_some_and(Self::is_killed)
    }
}

/// Starts the thread that looks at the processes, which first calls `enter` to be
/// confined: it reads nothing but [`PROCESSES`].
///
/// # Errors
/// Returns an error if it cannot be started.
pub fn start(enter: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let work = || {
        if let Err(error) = enter() {
            log::warn!("killed readers will wait for their answers: {error}");
            return;
        }
        while let Some(watched) = WATCHED.wait_for(|all| {
            forget_answered(all);
            (!all.is_empty()).then(|| all.clone())
        }) {
            for requester in watched.iter().filter_map(Weak::upgrade) {
                if has_kill_pending(requester.thread) {
                    requester.is_killed.store(true, Ordering::Relaxed);
                }
            }
            thread::sleep(INTERVAL);
        }
    };
    let watcher = thread::Builder::new().name("requesters".to_owned());
    watcher.spawn(work).map(drop)
}

/// Answers a request of a thread of another process.
pub fn serve(thread: u32, answer: impl FnOnce()) {
    let request = Request {
        thread,
        since: Instant::now(),
        watched: None,
    };
    CURRENT.set(Some(request));
    answer();
    CURRENT.set(None);
}

/// Returns an error if this thread answers the request of a process that was killed.
///
/// # Errors
/// Returns [`Outcome::killed`].
pub fn check() -> Result<()> {
    match is_killed() {
        true => Err(Error::killed()),
        false => Ok(()),
    }
}

/// Returns whether this thread answers the request of a process that was killed.
pub fn is_killed() -> bool {
    CURRENT.with_borrow_mut(|current| {
        let Some(request) = current else {
            return false;
        };
        if request.since.elapsed() < PATIENCE {
            return false;
        }
        let watched = request.watched.get_or_insert_with(|| watch(request.thread));
        watched.is_killed.load(Ordering::Relaxed)
    })
}

fn watch(thread: u32) -> Arc<Requester> {
    let requester = Arc::new(Requester {
        thread,
        is_killed: AtomicBool::new(false),
    });
    let weak = Arc::downgrade(&requester);
    WATCHED.change(|all| {
        forget_answered(all);
        all.push(weak);
        true
    });
    requester
}

fn forget_answered(all: &mut Vec<Weak<Requester>>) {
    all.retain(|requester| requester.strong_count() > 0);
}

/// Returns whether a thread will end by SIGKILL; false if that cannot be known.
fn has_kill_pending(thread: u32) -> bool {
    let status = fs::read_to_string(format!("{PROCESSES}/{thread}/status")).unwrap_or_default();
    let mut sets = status.lines().filter_map(|line| {
        let (name, set) = line.split_once(':')?;
        let is_pending = matches!(name, "SigPnd" | "ShdPnd");
        is_pending.then(|| u64::from_str_radix(set.trim(), 16).ok())?
    });
    sets.any(|set| set & SIGKILL != 0)
}

/// Answers a request of a process that was killed long ago.
#[cfg(test)]
pub(crate) fn serve_killed(answer: impl FnOnce()) {
    let requester = Requester {
        thread: 0,
        is_killed: AtomicBool::new(true),
    };
    CURRENT.set(Some(Request {
        thread: 0,
        since: Instant::now() - PATIENCE,
        watched: Some(Arc::new(requester)),
    }));
    answer();
    CURRENT.set(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_requester_is_known_through_all_layers() {
        let inner = Error::killed();
        let outer = read_error(7, 8, io::Error::other(inner));
        assert!(outer.is_killed() && outer.is_fault());
        assert!(!read_error(7, 8, io::ErrorKind::NotFound.into()).is_killed());
        assert!(check().is_ok());
    }

    #[test]
    fn a_running_process_has_no_kill_pending() {
        assert!(!has_kill_pending(std::process::id()));
        assert!(!has_kill_pending(u32::MAX));
    }
}
