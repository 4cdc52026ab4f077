//! Single flight: a value that several threads need at once is made by one of
//! them, and the others wait for it.
//!
//! `tests/locks.rs` includes this file to test it with the locks of a model
//! checker.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex, lock, wait_a_moment};

/// Values that are being made, by key.
pub struct Flights<K, V>(Mutex<HashMap<K, Arc<Flight<V>>>>);

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
    /// The caller must make it, and must call [`Flights::land`] or
    /// [`Flights::abandon`] in any case.
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
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Hash + Eq, V: Clone> Flights<K, V> {
    /// Returns the value from `find`, or the flight of the thread that makes it;
    /// if there is neither, the caller must make it.
    ///
    /// `find` is called with a lock held. The thread that lands a value
    /// publishes it to `find` first, so that nothing is made twice.
    pub fn claim(&self, key: K, find: impl FnOnce() -> Option<V>) -> Claim<V> {
        let mut flights = lock(&self.0);
        if let Some(flight) = flights.get(&key) {
            return Claim::Flying(flight.clone());
        }
        if let Some(value) = find() {
            return Claim::Found(value);
        }
        let flight = Arc::new(Flight {
            state: Mutex::new(State::Flying),
            ended: Condvar::new(),
        });
        flights.insert(key, flight.clone());
        Claim::Mine(flight)
    }

    /// Passes a value to all waiting threads.
    pub fn land(&self, key: &K, value: V) {
        self.end(key, State::Landed(value));
    }

    /// Tells all waiting threads that the value will not be made.
    pub fn abandon(&self, key: &K) {
        self.end(key, State::Abandoned);
    }

    fn end(&self, key: &K, state: State<V>) {
        let flight = lock(&self.0).remove(key);
        if let Some(flight) = flight {
            *lock(&flight.state) = state;
            flight.ended.notify_all();
        }
    }
}

impl<V: Clone> Flight<V> {
    /// Waits for the value, while `is_wanted` returns true.
    pub fn wait(&self, is_wanted: &dyn Fn() -> bool) -> Waited<V> {
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
