//! The work of the reading threads, in the order in which it is done.
//!
//! What people wait for comes first: a listing or the first bytes of a file waits for the
//! work that has begun, and never for the rest of a thousand downloads. Pictures of
//! directories come last, and on half of the threads; the newest first, since those
//! that were asked for long ago have been scrolled away.
//!
//! A client asks for one thing at a time, and for the next piece of a file when it has the
//! last one. So clients take turns, and there is never more work than there are
//! connections.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::sync::{Condvar, Mutex, lock, wait};

/// How long work may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// Somebody waits for it.
    First,
    /// It continues what was begun.
    Further,
}

/// The work to be done.
pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    first: VecDeque<J>,
    further: VecDeque<J>,
    is_closed: bool,
}

impl<J> Queue<J> {
    /// Creates an empty queue.
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                first: VecDeque::new(),
                further: VecDeque::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds work. After the end it is dropped.
    pub(super) fn push(&self, urgency: Urgency, job: J) {
        let mut state = lock(&self.state);
        if state.is_closed {
            return;
        }
        match urgency {
            Urgency::First => state.first.push_back(job),
            Urgency::Further => state.further.push_back(job),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for work; `None` at the end.
    pub(super) fn next(&self) -> Option<J> {
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            let next = state.first.pop_front();
            if let Some(job) = next.or_else(|| state.further.pop_front()) {
                return Some(job);
            }
            state = wait(&self.changed, state);
        }
    }

    /// Drops all work, and ends the threads that wait for some.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        let dropped = (
            std::mem::take(&mut state.first),
            std::mem::take(&mut state.further),
        );
        drop(state);
        drop(dropped);
        self.changed.notify_all();
    }
}

/// Permits for pieces that are large and read ahead of their reader. They are counted in the
/// thread with the connections alone.
#[derive(Debug)]
pub(super) struct Permits(Cell<usize>);

/// A permit, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit(Rc<Permits>);

impl Permits {
    /// Creates this many.
    pub(super) fn new(count: usize) -> Self {
        Self(Cell::new(count))
    }

    /// Takes one, if there is one left.
    pub(super) fn take(permits: &Rc<Self>) -> Option<Permit> {
        let left = permits.0.get().checked_sub(1)?;
        permits.0.set(left);
        Some(Permit(permits.clone()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.0.set(self.0.0.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_waits_for_comes_before_the_rest_of_downloads() {
        let queue = Queue::new();
        for number in 0..1000 {
            queue.push(Urgency::Further, number);
        }
        queue.push(Urgency::First, 1000);
        queue.push(Urgency::First, 1001);
        let order: Vec<_> = (0..4).map(|_| queue.next().unwrap()).collect();
        assert_eq!(order, [1000, 1001, 0, 1]);
        queue.close();
        assert_eq!(queue.next(), None);
        queue.push(Urgency::First, 1);
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn there_are_no_more_permits_than_were_made() {
        let permits = Rc::new(Permits::new(2));
        let take = || Permits::take(&permits);
        let taken = (take().unwrap(), take().unwrap());
        assert!(take().is_none());
        drop(taken.0);
        let again = take().unwrap();
        assert!(take().is_none());
        drop((again, taken.1));
    }
}
