//! The queue of the reading threads.
//!
//! Work that people wait for comes first: a listing or the first bytes of a file waits for the
//! work that has begun, and never for the rest of a thousand downloads. Pictures of directories
//! come last, and on half of the threads; the newest first, since those that were asked for long
//! ago have been scrolled away.
//!
//! A client asks for one thing at a time, and for the next piece of a file when it has the
//! last one. So clients take turns, and there is never more work than there are
//! connections.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::sync::{Condvar, Mutex, lock, wait};

/// Priority of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// A client waits for the first bytes.
    First,
    /// A client waits for further bytes.
    Further,
    /// It is a picture of a directory.
    Picture,
}

/// Pictures that may wait.
const MAX_PICTURES: usize = 256;

/// The work to be done.
pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    max_painters: usize,
    changed: Condvar,
}

struct State<J> {
    first: VecDeque<J>,
    further: VecDeque<J>,
    pictures: Vec<J>,
    /// Threads that make pictures.
    painters: usize,
    is_closed: bool,
}

impl<J> Queue<J> {
    /// Creates an empty queue. At most `painters` threads make pictures.
    pub(super) fn new(painters: usize) -> Self {
        Self {
            state: Mutex::new(State {
                first: VecDeque::new(),
                further: VecDeque::new(),
                pictures: Vec::new(),
                painters: 0,
                is_closed: false,
            }),
            max_painters: painters,
            changed: Condvar::new(),
        }
    }

    /// Adds work. After the end it is dropped. Returns false, and drops it, if too many
    /// pictures wait.
    pub(super) fn push(&self, urgency: Urgency, job: J) -> bool {
        let mut state = lock(&self.state);
        if state.is_closed {
            return true;
        }
        match urgency {
            Urgency::First => state.first.push_back(job),
            Urgency::Further => state.further.push_back(job),
            Urgency::Picture if state.pictures.len() == MAX_PICTURES => return false,
            Urgency::Picture => state.pictures.push(job),
        }
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Waits for work and does it. Returns false at the end.
    pub(super) fn perform(&self, perform: impl FnOnce(J)) -> bool {
        let Some((job, urgency)) = self.next() else {
            return false;
        };
        let _done = Done {
            queue: self,
            urgency,
        };
        perform(job);
        true
    }

    fn next(&self) -> Option<(J, Urgency)> {
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.first.pop_front() {
                return Some((job, Urgency::First));
            }
            if let Some(job) = state.further.pop_front() {
                return Some((job, Urgency::Further));
            }
            if state.painters < self.max_painters
                && let Some(job) = state.pictures.pop()
            {
                state.painters += 1;
                return Some((job, Urgency::Picture));
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
            std::mem::take(&mut state.pictures),
        );
        drop(state);
        drop(dropped);
        self.changed.notify_all();
    }
}

/// Work that is being done, also if it panics.
struct Done<'q, J> {
    queue: &'q Queue<J>,
    urgency: Urgency,
}

impl<J> Drop for Done<'_, J> {
    fn drop(&mut self) {
        if self.urgency == Urgency::Picture {
            lock(&self.queue.state).painters -= 1;
            self.queue.changed.notify_one();
        }
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

    fn next(queue: &Queue<u32>) -> Option<u32> {
        queue.next().map(|(job, _)| job)
    }

    #[test]
    fn what_somebody_waits_for_comes_before_the_rest_of_downloads() {
        let queue = Queue::new(1);
        for number in 0..1000 {
            queue.push(Urgency::Further, number);
        }
        queue.push(Urgency::First, 1000);
        queue.push(Urgency::First, 1001);
        let order: Vec<_> = (0..4).map(|_| next(&queue).unwrap()).collect();
        assert_eq!(order, [1000, 1001, 0, 1]);
        queue.close();
        assert_eq!(next(&queue), None);
        queue.push(Urgency::First, 1);
        assert_eq!(next(&queue), None);
    }

    #[test]
    fn pictures_come_last_and_the_newest_first_on_some_of_the_threads() {
        let queue = Queue::new(1);
        for number in 0..MAX_PICTURES as u32 {
            assert!(queue.push(Urgency::Picture, number));
        }
        assert!(!queue.push(Urgency::Picture, 1000), "too many wait");
        queue.push(Urgency::Further, 2000);
        queue.push(Urgency::First, 3000);
        assert_eq!(next(&queue), Some(3000));
        assert_eq!(next(&queue), Some(2000));
        let mut order = Vec::new();
        for _ in 0..2 {
            queue.perform(|picture| {
                order.push(picture);
                assert_eq!(lock(&queue.state).painters, 1);
            });
        }
        assert_eq!(order, [255, 254]);
        assert_eq!(lock(&queue.state).painters, 0);
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
