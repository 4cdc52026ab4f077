//! A state that some threads change and others wait for.
//!
//! `tests/locks.rs` includes this file to test it with the locks of a model
//! checker.

use crate::sync::{Condvar, Mutex, lock, wait};

/// A state, and the threads that wait for something in it until it is closed.
#[derive(Default)]
pub struct Awaited<S> {
    inner: Mutex<Inner<S>>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner<S> {
    state: S,
    closed: bool,
    /// Threads that wait.
    waiting: usize,
}

impl<S> Awaited<S> {
    /// Calls `access` with the state; wakes no thread.
    pub fn with<T>(&self, access: impl FnOnce(&mut S) -> T) -> T {
        access(&mut lock(&self.inner).state)
    }

    /// Changes the state by `change`, which returns whether to wake a waiting
    /// thread.
    pub fn change(&self, change: impl FnOnce(&mut S) -> bool) {
        let mut inner = lock(&self.inner);
        let wakes = change(&mut inner.state) && inner.waiting > 0;
        drop(inner);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// Waits until `take` finds something; `None` once the state is closed.
    pub fn wait_for<T>(&self, mut take: impl FnMut(&mut S) -> Option<T>) -> Option<T> {
        let mut inner = lock(&self.inner);
        loop {
            if inner.closed {
                return None;
            }
            if let Some(taken) = take(&mut inner.state) {
                return Some(taken);
            }
            inner.waiting += 1;
            inner = wait(&self.changed, inner);
            inner.waiting -= 1;
        }
    }

    /// Ends all waiting, now and later.
    pub fn close(&self) {
        lock(&self.inner).closed = true;
        self.changed.notify_all();
    }
}
