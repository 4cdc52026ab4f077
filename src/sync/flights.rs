//! Single flight: a value that several threads need at once is made by one of
//! them, and the others wait for it.
//!
//! `tests/locks.rs` includes this file to test it with the locks of a model
//! checker.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex, lock, wait_a_moment};

/// Values that are being made, by key. They are under the lock of whoever uses them.
pub struct Flights<K, V>(HashMap<K, Arc<Flight<V>>>);

/// A value that is being made.
pub struct Flight<V> {
    state: Mutex<State<V>>,
    ended: Condvar,
}

enum State<V> {
    Flying,
    Landed(V),
    Abandoned,
}

/// The result of [`Flights::claim`].
pub enum Claim<V> {
    /// The value exists.
    Found(V),
    /// Another thread is making it.
    Flying(Arc<Flight<V>>),
    /// The caller must make it, and must call [`Flights::end`] and then [`Flight::land`] or
    /// [`Flight::abandon`] in any case.
    Mine(Arc<Flight<V>>),
}

/// The result of [`Flight::wait`].
pub enum Waited<V> {
    /// The value.
    Landed(V),
    /// The value will not be made.
    Abandoned,
    /// The caller does not want it any more.
    Unwanted,
}

impl<K, V> Default for Flights<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq, V> Flights<K, V> {
    /// Returns the value from `find`, or the flight of the thread that makes it;
    /// if there is neither, the caller must make it.
    ///
    /// The thread that lands a value publishes it to `find` before it ends the flight, so
    /// that nothing is made twice.
    pub fn claim(&mut self, key: K, find: impl FnOnce() -> Option<V>) -> Claim<V> {
        if let Some(value) = find() {
            return Claim::Found(value);
        }
        match self.0.entry(key) {
            Entry::Occupied(flying) => Claim::Flying(flying.get().clone()),
            Entry::Vacant(vacant) => {
                let flight = Arc::new(Flight {
                    state: Mutex::new(State::Flying),
                    ended: Condvar::new(),
                });
                Claim::Mine(vacant.insert(flight).clone())
            }
        }
    }

    /// Removes a flight that the caller has claimed. It lands or is abandoned without the
    /// lock.
    pub fn end(&mut self, key: &K) -> Option<Arc<Flight<V>>> {
        self.0.remove(key)
    }
}

impl<V> Flight<V> {
    /// Passes the value to all waiting threads.
    pub fn land(&self, value: V) {
        self.change(State::Landed(value));
    }

    /// Tells all waiting threads that the value will not be made.
    pub fn abandon(&self) {
        self.change(State::Abandoned);
    }

    fn change(&self, state: State<V>) {
        *lock(&self.state) = state;
        self.ended.notify_all();
    }

    /// Waits for the value, while `is_wanted` returns true.
    pub fn wait(&self, is_wanted: &dyn Fn() -> bool) -> Waited<V>
    where
        V: Clone,
    {
        let mut state = lock(&self.state);
        loop {
            match &*state {
                State::Flying => {}
                State::Landed(value) => return Waited::Landed(value.clone()),
                State::Abandoned => return Waited::Abandoned,
            }
            if !is_wanted() {
                return Waited::Unwanted;
            }
            state = wait_a_moment(&self.ended, state);
        }
    }
}
