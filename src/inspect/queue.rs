//! A bounded queue between a walk and its workers.
//!
//! The walk is quicker than the workers. When the queue is full, it waits until half
//! of the queue is empty: a thread that waited for each free place would be woken for
//! each job.

use std::collections::VecDeque;
use std::thread;

use crate::sync::{Condvar, Mutex, lock, wait};

/// A bounded queue with several takers.
pub(super) struct Queue<T> {
    limit: usize,
    state: Mutex<State<T>>,
    /// Signaled when takers need not wait any more, and when the adder need not.
    filled: Condvar,
    drained: Condvar,
}

struct State<T> {
    values: VecDeque<T>,
    /// True if nothing is added any more, or a taker has panicked.
    has_ended: bool,
    /// Number of takers that wait.
    takers: usize,
    /// True if the adder waits.
    is_full: bool,
}

impl<T> Queue<T> {
    /// Creates a queue of at most `limit` values.
    pub(super) fn new(limit: usize) -> Self {
        let state = State {
            values: VecDeque::new(),
            has_ended: false,
            takers: 0,
            is_full: false,
        };
        Self {
            limit,
            state: Mutex::new(state),
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    /// Returns the only end that adds values; the queue ends when it is dropped.
    pub(super) fn adder(&self) -> Adder<'_, T> {
        Adder(self)
    }

    /// Returns a guard that ends the queue and drops its values if the current thread
    /// panics: the adder must not wait for this thread.
    pub(super) fn ends_with_panic(&self) -> EndsWithPanic<'_, T> {
        EndsWithPanic(self)
    }

    /// Returns whether the adder waits.
    #[cfg(test)]
    pub(super) fn is_full(&self) -> bool {
        lock(&self.state).is_full
    }

    fn end(&self) {
        lock(&self.state).has_ended = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    /// Takes the oldest value, and waits for one; `None` after the last one.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(value) = state.values.pop_front() {
                let wakes = state.is_full && state.values.len() <= self.limit / 2;
                drop(state);
                if wakes {
                    self.drained.notify_one();
                }
                return Some(value);
            }
            if state.has_ended {
                return None;
            }
            state.takers += 1;
            state = wait(&self.filled, state);
            state.takers -= 1;
        }
    }
}

/// The end of a queue that adds values.
pub(super) struct Adder<'q, T>(&'q Queue<T>);

impl<T> Adder<'_, T> {
    /// Adds a value. If the queue is full, waits until half of it is empty; if a
    /// taker has panicked, drops the value.
    pub(super) fn add(&self, value: T) {
        let queue = self.0;
        let mut state = lock(&queue.state);
        if state.values.len() >= queue.limit {
            state.is_full = true;
            while state.values.len() > queue.limit / 2 && !state.has_ended {
                state = wait(&queue.drained, state);
            }
            state.is_full = false;
        }
        if state.has_ended {
            return;
        }
        state.values.push_back(value);
        let wakes = state.takers > 0;
        drop(state);
        if wakes {
            queue.filled.notify_one();
        }
    }
}

impl<T> Drop for Adder<'_, T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Ends a queue, and drops its values, if it is dropped by a panic.
pub(super) struct EndsWithPanic<'q, T>(&'q Queue<T>);

impl<T> Drop for EndsWithPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
            // The last worker may be gone, and threads may wait for results of these.
            let left = std::mem::take(&mut lock(&self.0.state).values);
            drop(left);
        }
    }
}
