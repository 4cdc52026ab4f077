//! The locks of the modules that `tests/locks.rs` tests. The test replaces them
//! by the locks of a model checker.
//!
//! The lock order of a mount is in the documentation of [`crate::mount`].

pub mod awaited;
pub mod flights;
pub mod tally;

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[cfg(test)]
thread_local! {
    /// Number of locks that this thread has taken with [`lock`].
    pub(crate) static LOCKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Locks, ignoring poisoning: every state that a panic can leave behind is
/// valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(test)]
    LOCKED.set(LOCKED.get() + 1);
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Time that a thread waits before it looks whether its reader was killed.
const MOMENT: std::time::Duration = std::time::Duration::from_millis(100);

/// Like [`wait`], but for a moment at most.
pub(crate) fn wait_a_moment<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
) -> MutexGuard<'a, T> {
    let waited = changed.wait_timeout(guard, MOMENT);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Waits for a change, ignoring poisoning as [`lock`] does.
pub(crate) fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
