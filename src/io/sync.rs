//! The locks of what `tests/locks.rs` tries with those of a model checker in
//! their place.
//!
//! The order in which the locks of a mount are taken is in the documentation
//! of [`crate::mount`].

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks, and goes on where another thread panicked: every state that a panic
/// can leave behind is a sound one.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a change, and goes on as [`lock`] does.
pub(super) fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
